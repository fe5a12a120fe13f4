package extract

import (
	"strings"
)

func (s *section) headedSystem() []candidate {
	if s.parent == nil || s.parent.own != systems || s.own != none || activity(s.title) {
		return nil
	}
	b, ok := s.opening()
	if !ok || !name(s.title, s.code) || !strings.Contains(firstSentence(b.run.text), s.title) || !titled(s.title) {
		return nil
	}
	return []candidate{{kind: system, title: s.title, about: firstSentence(b.run.text), score: scoreSystem,
		evidence: []evidence{{doc: s.doc, from: s.line, to: b.to, quote: []string{b.run.text}}}}}
}

func titled(s string) bool {
	ws := strings.Fields(s)
	for _, w := range ws {
		if !proper(w) && len(ws) > 1 && !in("of for and the", w) {
			return false
		}
	}
	return len(ws) <= 4
}

type usage struct {
	line string
	at   evidence
}

func programs(docs []*document) []candidate {
	uses := map[string][]usage{}
	var order []string
	for _, d := range docs {
		for _, s := range d.sections {
			for i, b := range s.blocks {
				for _, l := range shell(b) {
					w := argv0(l)
					if w == "" {
						continue
					}
					u := usage{l, evidence{doc: d, from: b.from, to: b.to, commands: []string{l}}}
					if i > 0 && s.blocks[i-1].kind == paragraph {
						u.at.from, u.at.quote = s.blocks[i-1].from, []string{s.blocks[i-1].run.text}
					}
					if uses[w] == nil {
						order = append(order, w)
					}
					uses[w] = append(uses[w], u)
				}
			}
		}
	}
	var out []candidate
	for _, w := range order {
		if c, ok := program(w, uses[w]); ok {
			out = append(out, c)
		}
	}
	return out
}

func program(w string, uses []usage) (candidate, bool) {
	places := map[string]bool{}
	for _, u := range uses {
		places[u.at.doc.path] = true
	}
	if len(uses) < 3 || len(places) < 2 {
		return candidate{}, false
	}
	c := candidate{kind: system, title: w, score: scoreCommand, evidence: []evidence{uses[0].at}}
	c.about = clip("A command, used as in: "+uses[0].line, maxDescription)
	for _, u := range uses {
		if len(u.at.quote) > 0 && says(u.at.quote[0], w) {
			c.about, c.evidence[0] = firstSentence(u.at.quote[0]), u.at
			break
		}
	}
	return c, true
}

func says(text, w string) bool {
	first := " " + strings.Join(words(firstSentence(text)), " ") + " "
	for _, form := range []string{" " + w + " is a", " " + w + " is the ", " " + w + " can ", " use " + w + " to ", " uses " + w + " to ", " using " + w + " to "} {
		if strings.Contains(first, form) {
			return true
		}
	}
	return false
}
