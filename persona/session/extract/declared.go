package extract

func (s *section) readDeclaredRole() []candidate {
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

// declaredKinds are the kinds by the last word of a type in front matter; any other is an
// artifact's.
var declaredKinds = map[string]string{
	"term": term, "metric": term, "concept": term, "definition": term, "glossary": term,
	"process": process, "runbook": process, "playbook": process, "procedure": process, "howto": process, "guide-to": process,
	"system": system, "service": system, "tool": system, "application": system, "platform": system, "api": system, "database": system,
	"policy": policyAtom, "rule": policyAtom, "standard": policyAtom, "guideline": policyAtom,
	"decision": decision, "adr": decision, "role": role,
}

func declaredKind(typ string) string {
	if ws := words(typ); len(ws) > 0 && declaredKinds[singular(ws[len(ws)-1])] != "" {
		return declaredKinds[singular(ws[len(ws)-1])]
	}
	return artifact
}
