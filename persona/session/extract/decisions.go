package extract

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// numbered is what an index puts in front of a decision's title: "ADR 012: ", "12. ".
var numbered = lazy(`^(?i:(?:adr|decision|rfc|decision record|architecture decision record)?[ -]*#?\d{1,5}(?:[:.] +| [–—-] +)|adr[ -]*\d+ +|adr(?::| -) +|architecture decision record: *)`)

// recordsDecision reports whether d records a decision: a document in a folder of decisions, or
// one with the sections of an ADR. The README of a folder with a number is its record.
func (d *document) recordsDecision() bool {
	if d.isGuide() && strings.IndexAny(path.Base(path.Dir(d.path)), "0123456789") != 0 || d.isSample() || d.isForm() || d.foreign {
		return false
	}
	return d.place == decisions && topicOf(d.stem()) != decisions || (d.findDecisions() != nil || d.hasHeading("status")) && d.hasHeading(frame...)
}

// frame are the headings of an ADR besides the decision.
var frame = []string{"context", "consequences", "context and problem statement", "considered options", "decision drivers"}

func (d *document) hasHeading(titles ...string) bool {
	return slices.ContainsFunc(d.sections, func(s *section) bool { return slices.Contains(titles, strings.ToLower(s.title)) })
}

// findDecisions are the sections that state what was decided: the first one, and in a log, where each has a context
// of its own, all.
func (d *document) findDecisions() (out []*section) {
	for _, s := range d.sections {
		switch title := strings.ToLower(strings.TrimLeft(s.title, "0123456789. ")); title {
		case "proposal", "solution":
			if d.place != decisions || d.hasHeading("decision", "decisions", "decision outcome") {
				continue
			}
		case "decision", "decisions", "decision outcome", "the decision", "chosen option", "outcome", "resolution":
		default:
			continue
		}
		if out = append(out, s); !s.isLogged() {
			return out[:1]
		}
	}
	return out
}

// isOfFuture reports whether s stands below a heading of what may be later.
func (s *section) isOfFuture() bool {
	return s != nil && (strings.HasPrefix(strings.ToLower(s.title), "future") || s.parent.isOfFuture())
}

// isLogged reports whether s states a decision of a log: a heading below that of the document has it, with a context.
func (s *section) isLogged() bool {
	return s.parent != nil && s.parent.level > 1 && slices.ContainsFunc(s.doc.sections, func(x *section) bool {
		return x.parent == s.parent && slices.Contains(frame, strings.ToLower(x.title))
	})
}

// readStatus is what d says of how far its decision is, in lower case: a field of its front
// matter, a section, or a line or row "Status: …".
func (d *document) readStatus() string {
	if d.state != "" {
		return strings.ToLower(d.state)
	}
	if m := rstStatus().FindSubmatch(d.raw); m != nil && isRST(d.path) {
		return strings.ToLower(string(m[1]))
	}
	said := func(s *section) (out []string) {
		for _, b := range s.blocks {
			for _, t := range b.listTexts() {
				out = append(out, t.run.text)
			}
			for _, it := range append([]item{{cells: b.columns}}, b.items...) {
				if len(it.cells) > 1 {
					out = append(out, it.cells[0].text+": "+it.cells[1].text)
				}
			}
		}
		return out
	}
	for _, s := range d.sections {
		if strings.EqualFold(s.title, "status") {
			return strings.ToLower(strings.Join(said(s), " "))
		}
	}
	for _, s := range d.sections[:min(2, len(d.sections))] {
		for _, t := range said(s) {
			if gone := superseded().FindString(t); gone != "" {
				return strings.ToLower(gone)
			}
			if m := statusField().FindStringSubmatch(t); m != nil {
				return strings.ToLower(m[1])
			}
		}
	}
	return ""
}

// statusField is a line "Status: …", which may stand among others of a paragraph, and rstStatus one of a list
// of fields or of a table.
var statusField, rstStatus = lazy(`(?i)(?:^|\s)status: *(\S.*)$`), lazy(`(?mi)^(?::status:|status {2,}|\s*\* - status\n +-|\| *` + "`?status`?" + ` *\|) *(\S.*?) *\|?\r?$`)

// readDecision reads the decision of a document that records one. One that was given up or refused, and one
// that is no more than a stop-gap or a list of work, is none; one that is not accepted yet has its status in the title.
func (s *section) readDecision() []candidate {
	if !s.isFirst() || !s.doc.decides || s.doc.isRefused() {
		return nil
	}
	return slices.DeleteFunc(s.readDecided(), func(c candidate) bool { return c.evidence[0].isPassing() })
}

// states are the words of the status of d.
func (d *document) states() []string {
	ws := words(d.readStatus())
	for i, w := range ws {
		ws[i] = strings.TrimRight(w, ".,;!")
	}
	return ws
}

func (d *document) isRefused() bool {
	return slices.ContainsFunc(d.states(), func(w string) bool { return in(refused+" longer", w) })
}

// pending is the status of a decision that is not accepted yet, in brackets; "" for one that is, or has no status.
func (d *document) pending() string {
	state := d.states()
	if len(state) == 0 || slices.ContainsFunc(state, func(w string) bool {
		return in("accepted approved adopted implemented agreed done final active decided", w)
	}) {
		return ""
	}
	return " (" + clip(strings.Join(state[:min(len(state), 3)], " "), 30) + ")" // merged as it is, and nobody came back to say accepted
}

// readDecided reads what s and the sections behind it decide.
func (s *section) readDecided() []candidate {
	d := s.doc
	title, proposed, score := d.title, d.pending(), scoreDecision
	if title == "" {
		title = strings.NewReplacer("-", " ", "_", " ").Replace(strings.TrimLeft(d.stem(), "0123456789-_ "))
	}
	title = strings.TrimSpace(numbered().ReplaceAllString(title, ""))
	if proposed != "" {
		score -= 8
	}
	c := candidate{kind: decision, title: capitalize(title) + proposed, score: score}
	if xs := d.findDecisions(); xs != nil {
		var out []candidate
		for _, x := range xs {
			e, ok := x.statedBelow()
			about, chosen := e.findChoice()
			if !ok || !chosen {
				continue
			}
			c.about, c.evidence = about, []evidence{e}
			if x.isLogged() {
				c.title = capitalize(numbered().ReplaceAllString(x.parent.title, "")) + proposed
			}
			out = append(out, c)
		}
		return out
	}
	if cs := d.readLabelledDecisions(); len(cs) > 0 {
		return cs
	}
	for _, x := range d.sections {
		if topic := strings.ToLower(x.title); x.isOfFuture() || strings.Contains(topic, "context") || strings.Contains(topic, "option") || in("problem background status motivation introduction", topic) {
			continue
		}
		if b, ok := x.firstProse(); ok && len(words(b.run.text)) >= 6 && slices.ContainsFunc(splitSentences(b.run.text), func(q string) bool { return tellsChoice(words(q)) }) {
			e := evidence{doc: d, from: b.from, to: b.to, quote: []string{b.run.text}, passage: []block{b}}
			if x == s {
				e.from = s.line
			}
			c.score -= 6
			c.about, _ = e.findChoice()
			c.evidence = []evidence{e}
			return []candidate{c}
		}
	}
	return nil
}

// readLabelledDecisions returns the paragraphs "**Decision:** …" of d, each a decision on what its heading names.
func (d *document) readLabelledDecisions() []candidate {
	var out []candidate
	for _, s := range d.sections {
		for _, b := range s.blocks {
			lead, rest, ok := b.run.splitLead()
			subject := s.subject()
			if strings.HasPrefix(strings.ToLower(subject), "option ") {
				subject = d.title // what it is about, and not the option
			}
			if ok && b.kind == paragraph && strings.HasSuffix(strings.ToLower(lead.text), "decision") && len(words(rest)) >= 2 && ruleTitle(subject) {
				out = append(out, candidate{kind: decision, title: s.qualifyTitle(subject), about: clip(rest, maxDescription), score: scoreDecision,
					evidence: []evidence{{doc: d, from: b.from, to: b.to, quote: []string{b.run.text}, passage: []block{b}}}})
			}
		}
	}
	return out
}

// refused are the states of a decision that does not hold.
const refused = "superseded superceded deprecated withdrawn abandoned obsolete replaced cancelled canceled rejected declined archived reverted"

// superseded are the words of a record that says which other one holds now.
var superseded = lazy(`(?i)\b(?:superseded|replaced) by\b`)

// findChoice is the sentence that says what was chosen: what stands below "Decision:", else the last in
// which somebody chose, as a record that was revised ends with what holds, else the first that says
// what is to be; "" where none of them stands alone. Of a list below a lead no item is the first. The
// second result is false where none says a choice, or only by its number.
func (e evidence) findChoice() (about string, ok bool) {
	var first, last, below string
	numbered, away := false, false
	for i, b := range e.passage {
		lead := ""
		if i > 0 && leadsUp(e.passage[i-1]) && (b.kind != paragraph || e.passage[i-1].kind == paragraph) {
			lead = strings.ToLower(e.passage[i-1].run.text)
		}
		label := in("decision: outcome: decided:", lead)
		for _, t := range b.listTexts() {
			q := t.run.text
			numbered = numbered || byNumber().MatchString(q)
			if strings.HasSuffix(q, ":") {
				continue
			}
			for _, s := range splitSentences(q) {
				ws := words(s)
				if elsewhere().MatchString(s) {
					away = true
				}
				if len(ws) == 0 || len(ws) < 3 && lead == "" || strings.HasSuffix(s, "?") || in("following below described", ws[len(ws)-1]) || len(ws) < 12 && elsewhere().MatchString(s) ||
					slices.ContainsFunc(ws, func(w string) bool { return in("recommend recommends recommendation todo tbd", w) }) {
					continue
				}
				ok = ok || standsAlone(s) || len(e.passage) > 1 || len(words(q)) > 6
				if !standsAlone(s) || byNumber().MatchString(s) {
					continue
				}
				said, _ := withLimits(q, s)
				said = strings.TrimSuffix(said, ", because")
				switch {
				case label && below == "":
					below = said
				case tellsChoice(ws) && (lead == "" || isCapitalized(s)):
					last = said
				case first == "" && lead == "" && i < 2 && (isInstruction(s) || ws[0] == "we" && !in("did tried considered had looked", ws[1]) ||
					slices.ContainsFunc(ws, func(w string) bool { return in("will shall should must", w) })):
					first = said
				}
			}
		}
	}
	about = cmp.Or(below, last, first)
	return about, ok && (about != "" || !numbered && !away)
}

// elsewhere are the words of a short sentence that leaves what is decided to another or to later, or says that it was done.
// byNumber is the end of one that names what is decided by its number alone.
var elsewhere, byNumber = lazy(`(?i)^(?:this (?:is|was) |already )?(?:implemented|merged)\b|\bto be (?:determined|decided|defined)\b|\bas (?:described|designed|proposed|outlined) above\b|\bthe (?:proposed|described|suggested) (?:solution|option|approach|design)\b`), lazy(`(?i)\boptions?:? ["“]?(?:[0-9]+|[a-d])["”.!,]*(?: because)?:?$`)

// tellsChoice reports whether a sentence says that somebody chose.
func tellsChoice(ws []string) bool {
	at := slices.IndexFunc(ws, func(w string) bool {
		return in("decided chose chosen choose opted selected adopted agreed", w)
	})
	return at >= 0 && !in("these this if when", ws[0]) && slices.ContainsFunc(ws, func(w string) bool { return in("we team option decision decided", w) }) &&
		!slices.ContainsFunc(ws[:at], func(w string) bool { return in("not had yet never", w) })
}

// statedBelow is what a section that states a decision says, with what stands below its
// sub-headings, up to maxRules lines; what one weighs or expects of it is left out.
func (s *section) statedBelow() (evidence, bool) {
	e := evidence{doc: s.doc}
	for _, x := range s.doc.sections {
		if x != s && !x.isBelow(s) {
			continue
		}
		if x != s && e.from > 0 && (isKnownHeading(x.title, weighed) || strings.Contains(strings.ToLower(x.title), "consequences") || x.endLine()-e.from >= maxRules) {
			break
		}
		if x != s && x.level > s.level && x.title != "" && len(x.blocks) > 0 {
			if e.from == 0 {
				e.from = x.line
			}
			e.passage = append(e.passage, x.headingBlock())
		}
		for _, b := range outermostOf(x.blocks) {
			if b.isEmpty() {
				continue
			}
			if e.from > 0 && b.lastLine()-e.from >= maxRules {
				e.breaksOff = true
				return e, true
			}
			if e.from == 0 {
				e.from = b.from
			}
			e.to, e.passage = b.lastLine(), append(e.passage, b)
			for _, t := range b.listTexts() {
				e.quote = append(e.quote, t.run.text)
			}
		}
	}
	return e, len(e.quote) > 0 && len(words(e.quote[0])) > 0 && !in("todo tbd tba", words(e.quote[0])[0])
}

// endLine is the last line of what s says.
func (s *section) endLine() int {
	end := s.line
	for _, b := range s.blocks {
		end = max(end, b.lastLine())
	}
	return end
}

func (s *section) isBelow(top *section) bool {
	for p := s.parent; p != nil; p = p.parent {
		if p == top {
			return true
		}
	}
	return false
}
