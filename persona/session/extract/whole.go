package extract

import (
	"slices"
	"strings"
)

// shortRules is the lines up to which a section with a rule is quoted whole, however little of it obliges; one of
// which a third does is up to maxRules lines.
const shortRules = 24

// maxOpening is how far in front of a section's first rule its opening may begin to be quoted with it.
const maxOpening = 9

// joinEvidence returns the evidence of pieces: all of a section of bearable length that nothing else cites, which
// alone tells, and where most of it obliges; else all that stands from the first to the last piece, with what limits
// them before and behind, and the opening. A section of more than maxRules lines is quoted place by place.
func (s *section) joinEvidence(ps []piece, alone bool) []evidence {
	bs := outermostOf(s.blocks)
	for n := len(bs) - 1; n > 0 && bs[n].kind == paragraph && strings.HasSuffix(bs[n].run.text, ":") && ps[len(ps)-1].to < bs[n].from; n-- {
		bs = bs[:n] // it only announces what stands below another heading
	}
	first, last := bs[0].from, bs[len(bs)-1].lastLine()
	cited, all, coded := 0, 0, 0
	for _, b := range bs {
		n := b.lastLine() - b.from + 1
		all += n
		if b.kind == code {
			coded += n
		}
		if slices.ContainsFunc(ps, func(p piece) bool { return p.from <= b.from && b.from <= p.to }) {
			cited += n
		}
	}
	if lines := last - first; (2*coded < all || lines < maxOpening) && (alone && (lines < shortRules || lines < maxRules && 3*cited >= all) || lines < shortRules && 2*cited >= all) {
		return []evidence{{doc: s.doc, from: first, to: last, quote: []string{ps[0].says}, passage: s.passageBetween(first, last)}}
	}
	var out []evidence
	for _, p := range ps {
		if n := len(out); n > 0 && p.to-out[n-1].from < maxRules {
			out[n-1].to = p.to
		} else {
			out = append(out, evidence{doc: s.doc, from: p.from, to: p.to, quote: []string{p.says}})
		}
	}
	if opens := bs[0]; alone && opens.kind == paragraph && out[0].from-opens.from < maxOpening {
		out[0].from = opens.from // the sentence that the rest speaks of
	}
	for i := range out {
		e := &out[i]
		for _, b := range bs {
			if b.from > e.to && b.kind == paragraph && isRestriction(b.run.text) && b.lastLine()-e.from < maxRules {
				e.to = b.lastLine()
			}
		}
		for k := slices.IndexFunc(bs, func(b block) bool { return b.from == e.from }); k > 0 && bs[k].refersTo(bs[k-1]) && e.to-bs[k-1].from < maxRules; k-- {
			e.from = bs[k-1].from
		}
		if k := slices.IndexFunc(bs, func(b block) bool { return b.from == e.from }); k > 0 && i == 0 {
			if len(bs[k].items) > 0 && bs[k-1].kind == paragraph && e.to-bs[k-1].from < maxRules {
				k-- // what a list goes on from
			}
			if e.from = bs[k].from; conditions().MatchString(firstOf(bs[k].run.text)) && e.to-bs[0].from < maxRules {
				e.from = bs[0].from
			}
		}
		if k := slices.IndexFunc(bs, func(b block) bool { return b.lastLine() == e.to }); k >= 0 && k+1 < len(bs) && bs[k].kind == paragraph && bs[k+1].kind != paragraph &&
			(strings.HasSuffix(bs[k].run.text, ":") || stepsBelow().MatchString(bs[k].run.text) || bs[k+1].kind == table && ahead().MatchString(bs[k].run.text)) && bs[k+1].lastLine()-e.from < maxRules {
			e.to = bs[k+1].lastLine() // what it announces
		}
		e.passage = s.passageBetween(e.from, e.to)
	}
	return out
}

// conditions are the words of a sentence that holds only for whom all that stands above it does.
var conditions = lazy(`(?i)\b(?:these|those|the above) (?:requirements|criteria|conditions)\b`)

// ahead are the words of a text that a table behind it may go on.
var ahead = lazy(`(?i)\b(?:these|following|below)\b`)

// refersTo reports whether b begins with what the block before it names: with a pronoun, with what
// stands above it, or with "the" and a word of it; or is the list that it leads up to.
func (b block) refersTo(before block) bool {
	if b.kind != paragraph {
		return len(b.items) > 0 && before.kind == paragraph && leadsUp(before)
	}
	first := firstOf(b.run.text)
	ws := words(first)
	return !leadsUp(b) && (pronounFirst(first) || pointing().MatchString(first) || ws[0] == "the" && len(ws) > 1 && strings.Contains(strings.ToLower(before.run.text), ws[1][:min(7, len(ws[1]))]))
}
