package extract

func (s *section) declared() []candidate {
	d := s.doc
	if s != d.sections[0] || d.fields[0] == 0 || len(words(d.about)) < 4 || d.typ == "" && !filename(d.title) || !ruleTitle(d.title) {
		return nil
	}
	c := candidate{kind: declaredKind(d.typ), title: d.title, about: firstSentence(d.about), score: scoreDeclared,
		evidence: []evidence{{doc: d, from: d.fields[0], to: d.fields[1], quote: []string{d.title + ": " + d.about}}}}
	if d.owner != "" {
		c.owners = []string{d.owner}
	}
	return []candidate{c}
}

func declaredKind(typ string) string {
	ws := words(typ)
	if len(ws) == 0 {
		return artifact
	}
	last := singular(ws[len(ws)-1])
	switch {
	case in("term process role system policy decision", last):
		return last
	case in("metric concept definition glossary", last):
		return term
	case in("runbook playbook procedure howto guide-to", last):
		return process
	case in("service tool application platform api database", last):
		return system
	case in("rule standard guideline", last):
		return policy
	case last == "adr":
		return decision
	}
	return artifact
}
