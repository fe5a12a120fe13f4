package extract

import (
	"strings"
)

// rules reads a policy: a section or document that is called one and says
// something, or a list most items of which oblige.
func (s *section) rules() []candidate {
	whole := s.first() && s.doc.place == policies
	named := s.own == policies && !boilerplate(s.title)
	e, must, all := s.obligations(whole || named)
	score := scorePolicy
	switch {
	case whole:
		if len(e.quote) == 0 {
			e = s.saying(e)
		}
	case named && must > 0:
	case must >= 3 && 3*must >= 2*all && s.titled():
		score -= 12
	default:
		return nil
	}
	if !whole && !nameable(s.subject()) {
		return nil
	}
	return s.policy(e, score, whole || named)
}

// policy is the one candidate that rests on e, and nothing where e says nothing;
// what is called a policy opens with what it says.
func (s *section) policy(e evidence, score int, called bool) []candidate {
	if len(e.quote) == 0 {
		return nil
	}
	if called {
		e = s.saying(e)
	}
	return []candidate{{kind: policy, title: capital(s.qualified(s.subject())), about: firstSentence(e.quote[0]), score: score,
		evidence: []evidence{e}, owners: s.owners()}}
}

// titled reports whether the heading may name a policy that is not called one: a
// name, and not a symbol of a program.
func (s *section) titled() bool {
	return nameable(s.title) && !s.code && !identifier(s.title) && !strings.Contains(s.title, "_")
}

// obligations gathers the sentences of s, and deep of the sections below it,
// that oblige or forbid.
func (s *section) obligations(deep bool) (e evidence, must, all int) {
	e = evidence{doc: s.doc, from: s.line}
	for _, t := range s.body(deep) {
		for _, q := range sentences(t.run.text) {
			if all++; normative(q) {
				must++
				e.quote = append(e.quote, q)
			}
		}
		e.to = max(e.to, t.to)
	}
	return e, must, all
}

// saying puts the sentence a policy opens with before its obligations, unless
// it only leads up to them.
func (s *section) saying(e evidence) evidence {
	b, ok := s.opening()
	if !ok {
		return e
	}
	first := firstOf(b.run.text)
	if first != "" && !strings.HasSuffix(first, ":") && (len(e.quote) == 0 || e.quote[0] != first) {
		e.quote = append([]string{first}, e.quote...)
	}
	return e
}

func (s *section) first() bool {
	for _, x := range s.doc.sections {
		if x.title != "" || len(x.blocks) > 0 {
			return x == s
		}
	}
	return false
}

func (s *section) body(deep bool) []item {
	var out []item
	for _, x := range s.doc.sections {
		if x != s && !(deep && x.below(s)) {
			continue
		}
		for _, b := range x.blocks {
			for _, t := range b.texts() {
				if len(words(t.run.text)) >= 3 {
					out = append(out, t)
				}
			}
		}
	}
	return out
}

func (s *section) below(top *section) bool {
	for p := s.parent; p != nil; p = p.parent {
		if p == top {
			return true
		}
	}
	return false
}
