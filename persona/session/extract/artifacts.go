package extract

import "strings"

func (s *section) filesHeaded() []candidate {
	title := strings.TrimPrefix(s.title, "The ")
	if !filename(title) || s.first() {
		return nil
	}
	b, ok := s.opening()
	if !ok || !definable(b.run.text) || in("if when this to for", words(b.run.text)[0]) {
		return nil
	}
	return []candidate{{kind: artifact, title: title, about: firstSentence(b.run.text), score: scoreFile,
		evidence: []evidence{{doc: s.doc, from: s.line, to: b.to, quote: []string{b.run.text}}}}}
}
