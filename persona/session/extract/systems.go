package extract

import (
	"strings"
)

func (s *section) headedSystem() []candidate {
	if s.parent == nil || s.parent.own != systems || s.own != none || activity(s.title) {
		return nil
	}
	b, ok := s.opening()
	if !ok || !name(s.title, s.code) || !strings.Contains(firstSentence(b.run.text), s.title) || !isTitled(s.title) {
		return nil
	}
	return []candidate{{kind: system, title: s.title, about: described(b.run.text), score: scoreSystem,
		evidence: []evidence{{doc: s.doc, from: s.line, to: b.to, quote: []string{b.run.text}, passage: []block{b}}}}}
}

func isTitled(s string) bool {
	ws := strings.Fields(s)
	for _, w := range ws {
		if !proper(w) && len(ws) > 1 && !in("of for and the", w) {
			return false
		}
	}
	return len(ws) <= 4
}
