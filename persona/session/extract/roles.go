package extract

import (
	"strings"
)

func (s *section) responsible() []candidate {
	var out []candidate
	for _, b := range s.blocks {
		for _, t := range b.texts() {
			for _, sentence := range sentences(t.run.text) {
				who, what, ok := cutAny(sentence, " is responsible for ", " are responsible for ", " is accountable for ")
				ws := words(who)
				if !ok || len(ws) == 0 || len(ws) > 5 || !roleNoun(ws[len(ws)-1]) || len(words(what)) < 2 {
					continue
				}
				title := withoutArticle(who)
				if !name(title, false) {
					continue
				}
				out = append(out, candidate{kind: role, title: capital(title), about: clip(sentence, maxDescription), score: scoreRole - 10,
					evidence: []evidence{{doc: s.doc, from: t.from, to: t.to, quote: []string{sentence}}}})
			}
		}
	}
	return out
}

func (s *section) headedRole() []candidate {
	below := s.parent != nil && s.parent.own == roles && s.own == none
	if !below && !s.officers() {
		return nil
	}
	e, ok := s.lede()
	if !ok || !name(s.title, s.code) || person(span{text: s.title, kind: strong}) {
		return nil
	}
	c := candidate{kind: role, title: capital(s.title), about: firstSentence(e.quote[0]), score: scoreRole, evidence: []evidence{e}}
	if !below {
		c.score = scoreDefinition
	}
	for _, q := range e.quote {
		if _, head, ok := cutAny(q, "eports to the ", "eports to "); ok {
			c.heads = append(c.heads, strings.TrimRight(firstSentence(head), "."))
		}
	}
	return []candidate{c}
}

func (s *section) officers() bool {
	ws := words(s.title)
	b, ok := s.opening()
	if !ok || len(ws) == 0 || len(ws) > 4 || s.topic() == glossary {
		return false
	}
	last := singular(ws[len(ws)-1])
	if !roleNoun(last) || in("guide desk head master chair writer author publisher editor manager engineer", last) {
		return false
	}
	first := words(firstSentence(b.run.text))
	for i, w := range first[:min(6, len(first))] {
		if singular(w) == last && i+1 < len(first) {
			return true
		}
	}
	return false
}

// person reports whether a name in a section about roles is somebody's and not
// a role's.
func person(l span) bool {
	if strings.HasPrefix(l.text, "@") || l.kind == link {
		return true
	}
	ws := strings.Fields(l.text)
	return len(ws) >= 2 && len(ws) <= 3 && proper(ws[0]) && proper(ws[1]) && !roleNoun(strings.ToLower(ws[len(ws)-1]))
}
