package extract

import (
	"strings"
)

func (s *section) decided() []candidate {
	if !s.first() || s.doc.place != decisions || s.doc.title == "" || topicOf(s.doc.stem()) == decisions || in("readme template index", strings.ToLower(s.doc.stem())) {
		return nil
	}
	e := evidence{doc: s.doc, from: s.line}
	for _, x := range s.doc.sections {
		if b, ok := x.opening(); ok && len(words(b.run.text)) >= 6 {
			e.to, e.quote = b.to, []string{b.run.text}
			if x != s {
				e.from = b.from
			}
			return []candidate{{kind: decision, title: s.doc.title, about: firstSentence(b.run.text), score: scoreDecision, evidence: []evidence{e}}}
		}
	}
	return nil
}

func (s *section) declared() []candidate {
	d := s.doc
	if s != d.sections[0] || d.fields[0] == 0 || len(words(d.about)) < 4 || d.typ == "" && !filename(d.title) || !nameable(d.title) {
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
