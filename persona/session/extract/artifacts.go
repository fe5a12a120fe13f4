package extract

import (
	"slices"
	"strings"
)

func (s *section) makers() []candidate {
	var out []candidate
	for _, b := range s.blocks {
		for _, t := range b.texts() {
			for _, sp := range t.run.spans {
				if sp.kind != codeSpan || !filename(sp.text) {
					continue
				}
				if sentence := sentenceAt(t.run.text, sp.at); produces(sentence, sp.text) {
					out = append(out, candidate{kind: artifact, title: sp.text, about: clip(sentence, maxDescription), score: scoreMaker,
						evidence: []evidence{{doc: s.doc, from: t.from, to: t.to, quote: []string{sentence}}}})
				}
			}
		}
	}
	return out
}

func sentenceAt(text string, off int) string {
	at := 0
	for _, s := range sentences(text) {
		at = strings.Index(text[at:], s) + at + len(s)
		if off < at {
			return s
		}
	}
	return ""
}

func produces(sentence, file string) bool {
	before, _, ok := strings.Cut(sentence, file)
	ws := words(before)
	if !ok || len(ws) < 2 {
		return false
	}
	for _, w := range ws[max(0, len(ws)-5):] {
		if in("produces generates creates writes outputs emits produce generate", w) {
			return !in("if when unless that this it which then and", ws[0])
		}
	}
	return false
}

func (s *section) filesHeaded() []candidate {
	title := strings.TrimPrefix(s.title, "The ")
	if !filename(title) || s.topic() == closed {
		return nil
	}
	b, ok := s.opening()
	if !ok || !definable(b.run.text) {
		return nil
	}
	return []candidate{{kind: artifact, title: title, about: firstSentence(b.run.text), score: scoreFile,
		evidence: []evidence{{doc: s.doc, from: s.line, to: b.to, quote: []string{b.run.text}}}}}
}

func (s *section) itself() []candidate {
	b, ok := s.opening()
	if !ok || !s.first() && s.level != 1 || s.doc.title == "" || !nameable(s.doc.title) || generic(s.doc.title) || in("readme", strings.ToLower(s.doc.title)) {
		return nil
	}
	ws := words(b.run.text)
	if len(ws) < 6 || !in("this these", ws[0]) || !in("document guide page specification spec report handbook manual reference proposal runbook "+
		"playbook checklist template tutorial section chapter article readme rfc paper plan", ws[1]) {
		return nil
	}
	if !(ws[2] == "is" && articleFirst(ws[3])) && !slices.ContainsFunc(ws[:min(len(ws), 8)], func(w string) bool {
		return in("describes explains covers shows documents specifies outlines provides contains lists walks helps help defines details "+
			"summarises summarizes collects records gives tells introduces sets", w)
	}) {
		return nil
	}
	return []candidate{{kind: artifact, title: s.doc.title, about: firstSentence(b.run.text), score: scoreDocument,
		evidence: []evidence{{doc: s.doc, from: b.from, to: b.to, quote: []string{b.run.text}}}}}
}
