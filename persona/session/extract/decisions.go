package extract

import (
	"regexp"
	"slices"
	"strings"
)

// numbered is what an index puts in front of a decision's title: "ADR 012: ", "12. ".
var numbered = regexp.MustCompile(`^(?i:(?:adr|decision|rfc|decision record|architecture decision record)?[ -]*#?\d{1,5} ?[:.–—-] *|adr[ -]*\d+ +|architecture decision record: *)`)

// recordsDecision reports whether d records a decision: a document in a folder of decisions, or
// one with the sections of an ADR.
func (d *document) recordsDecision() bool {
	if in("readme template index", strings.ToLower(d.stem())) || strings.Contains(strings.ToLower(d.stem()), "template") {
		return false
	}
	return d.place == decisions && topicOf(d.stem()) != decisions || d.decision() != nil && d.frame()
}

// frame reports whether d has a section of an ADR besides the decision.
func (d *document) frame() bool {
	for _, s := range d.sections {
		switch strings.ToLower(s.title) {
		case "context", "status", "consequences", "context and problem statement", "considered options", "decision drivers":
			return true
		}
	}
	return false
}

// decision is the section that states what was decided, nil without one.
func (d *document) decision() *section {
	for _, s := range d.sections {
		switch title := strings.ToLower(strings.TrimLeft(s.title, "0123456789. ")); title {
		case "proposal":
			if d.place == decisions {
				return s
			}
		case "decision", "decisions", "decision outcome", "the decision", "chosen option", "outcome", "resolution":
			return s
		}
	}
	return nil
}

// status is what d says of how far its decision is, in lower case: a field of its front
// matter, a section, or a line "Status: …".
func (d *document) status() string {
	if d.state != "" {
		return strings.ToLower(d.state)
	}
	for _, s := range d.sections {
		if strings.EqualFold(s.title, "status") && len(s.blocks) > 0 {
			if ts := s.blocks[0].texts(); len(ts) > 0 {
				return strings.ToLower(ts[len(ts)-1].run.text)
			}
		}
	}
	for _, s := range d.sections[:min(2, len(d.sections))] {
		for _, b := range s.blocks {
			for _, t := range b.texts() {
				lower := strings.ToLower(t.run.text)
				if rest, ok := strings.CutPrefix(lower, "status"); ok {
					return strings.Trim(rest, " :")
				}
			}
		}
	}
	return ""
}

// decided reads the decision of a document that records one. One that is not made yet, or
// was given up, is none.
func (s *section) decided() []candidate {
	d := s.doc
	if !s.first() || !d.decides || d.title == "" {
		return nil
	}
	state := d.status()
	for _, w := range words(state) {
		if in("rejected superseded deprecated withdrawn abandoned obsolete replaced", w) {
			return nil
		}
	}
	title := strings.TrimSpace(numbered.ReplaceAllString(d.title, ""))
	if title == "" || len(title) > 120 {
		return nil
	}
	if ws := words(state); len(ws) > 0 && in("proposed draft pending wip", ws[0]) {
		title += " (" + ws[0] + ")" // merged as it is, and nobody came back to say accepted
	}
	c := candidate{kind: decision, title: capital(title), score: scoreDecision}
	if x := d.decision(); x != nil {
		e, ok := x.stating()
		if c.about = e.choice(); !ok || c.about == "" {
			return nil
		}
		c.evidence = append([]evidence{e}, d.reasons(x, e.to)...)
		return []candidate{c}
	}
	if cs := d.labelled(); len(cs) > 0 {
		return cs
	}
	for _, x := range d.sections {
		if b, ok := x.opening(); ok && len(words(b.run.text)) >= 6 && !strings.HasSuffix(b.run.text, ":") {
			e := evidence{doc: d, from: b.from, to: b.to, quote: []string{b.run.text}}
			if x == s {
				e.from = s.line
			}
			c.score -= 6
			c.about, c.evidence = firstSentence(b.run.text), []evidence{e}
			return []candidate{c}
		}
	}
	return nil
}

// labelled are the paragraphs "**Decision:** …" of d, each a decision on what its heading names.
func (d *document) labelled() []candidate {
	var out []candidate
	for _, s := range d.sections {
		for _, b := range s.blocks {
			lead, rest, ok := b.run.lead()
			if ok && b.kind == paragraph && strings.EqualFold(lead.text, "decision") && len(words(rest)) >= 2 && ruleTitle(s.subject()) {
				out = append(out, candidate{kind: decision, title: capital(s.placed(s.subject())), about: clip(rest, maxDescription), score: scoreDecision,
					evidence: []evidence{{doc: d, from: b.from, to: b.to, quote: []string{b.run.text}}}})
			}
		}
	}
	return out
}

// choice is the sentence that says what was chosen: the last that speaks of choosing, as a
// record that was revised ends with what holds, else the first. "" where none says a choice.
func (e evidence) choice() string {
	first, last := "", ""
	for i, q := range e.quote {
		if i == 0 && strings.Contains(strings.ToLower(q), "recommendations") || strings.Contains(q, "no decision") {
			return "" // advice, for somebody to decide on
		}
		for _, s := range sentences(q) {
			ws := words(s)
			if len(ws) < 5 || strings.HasSuffix(s, ":") || strings.HasSuffix(s, "?") || in("following below described", ws[len(ws)-1]) {
				continue
			}
			if slices.ContainsFunc(ws, func(w string) bool { return in("recommend recommends recommendation recommendations todo tbd", w) }) {
				continue
			}
			if first == "" {
				first = s
			}
			if slices.ContainsFunc(ws, func(w string) bool {
				return in("decided decision chose chosen choose opted selected adopted agreed", w)
			}) && !in("these this if when", ws[0]) {
				last = s
			}
		}
	}
	if last != "" {
		first = last
	}
	if first == "" && len(e.quote) > 0 && len(words(e.quote[0])) >= 3 && imperative(words(e.quote[0])[0]) {
		first = firstOf(e.quote[0])
	}
	return clip(strings.TrimRight(first, ":;, "), maxDescription)
}

// reasons is what d says below a heading of its own of why x was chosen.
func (d *document) reasons(x *section, after int) []evidence {
	for _, s := range d.sections {
		if s != x && s.line > after && in("rationale justification reasoning why reasons reason", strings.ToLower(strings.TrimPrefix(s.title, "Decision "))) {
			if e, ok := s.stating(); ok {
				return []evidence{e}
			}
		}
	}
	return nil
}

// stating is what a section that states a decision says, up to maxRules lines; what stands
// below its sub-headings follows where the section itself says little.
func (s *section) stating() (evidence, bool) {
	e := evidence{doc: s.doc}
	for _, x := range s.doc.sections {
		if x != s && !x.below(s) || x != s && e.from > 0 {
			continue
		}
		for _, b := range outermost(x.blocks) {
			lines := b.render()
			if len(lines) == 0 || e.from > 0 && b.last()-e.from >= maxRules {
				break
			}
			if e.from == 0 {
				if ts := b.texts(); len(ts) == 0 || len(words(ts[0].run.text)) < 4 {
					continue
				}
				e.from = b.from
			} else {
				e.passage = append(e.passage, "")
			}
			e.to, e.passage = b.last(), append(e.passage, lines...)
			for _, t := range b.texts() {
				e.quote = append(e.quote, t.run.text)
			}
		}
	}
	return e, e.from > 0 && len(e.quote) > 0 && !in("todo tbd tba", words(e.quote[0])[0])
}

func (s *section) below(top *section) bool {
	for p := s.parent; p != nil; p = p.parent {
		if p == top {
			return true
		}
	}
	return false
}
