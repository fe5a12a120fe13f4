package extract

import (
	"slices"
	"strings"
)

// maxBelow bounds the lines of a rule that is quoted with the sections below its heading.
const maxBelow = 100

// takeBelow returns candidates with the rules that go on below another heading: what a section says is quoted with the
// sections below it that hold rules and of which nothing else was read, or for agents only steps that oblige, up to
// the last one; and a heading that says nothing alone, as Guidelines, is quoted from the heading above it. A rule that
// would be too long is left out where the sections below it hold the rules, by their headings.
func (d *document) takeBelow(cs []candidate) []candidate {
	if !d.isForRules() {
		return cs
	}
	for i, c := range cs {
		if s := d.sectionAt(c.evidence[0].from); c.kind == policyAtom && len(c.evidence) == 1 && s.isHeadless() {
			cs[i].title, cs[i].evidence[0].from = s.parent.qualifyTitle(s.parent.title), s.parent.blocks[0].from
			cs[i].evidence[0].passage = append(append(s.parent.passageBetween(s.parent.line, s.line), s.headingBlock()), s.passageBetween(s.line, s.endLine())...)
			cs[i].evidence[0].to, s.parent.gave = s.endLine(), true
		}
	}
	ruled := map[*section]bool{}
	for _, c := range cs {
		ruled[d.sectionAt(c.evidence[0].from)] = c.kind == policyAtom
	}
	cs = slices.DeleteFunc(cs, func(c candidate) bool {
		return c.kind == policyAtom && len(c.evidence) == 1 && !d.sectionAt(c.evidence[0].from).reach(&c.evidence[0], ruled)
	})
	return slices.DeleteFunc(slices.Clone(cs), func(c candidate) bool {
		return c.kind == process && slices.ContainsFunc(cs, func(o candidate) bool {
			return o.kind == policyAtom && o.evidence[0].from < c.evidence[0].from && c.evidence[0].to <= o.evidence[0].to
		})
	})
}

// sectionAt is the section that a line stands in.
func (d *document) sectionAt(line int) *section {
	i := 0
	for i+1 < len(d.sections) && d.sections[i+1].line <= line {
		i++
	}
	return d.sections[i]
}

// isHeadless reports whether s says by its heading that it holds the rules of the section above, which opens it.
func (s *section) isHeadless() bool {
	p := s.parent
	return p != nil && p.level > 1 && !p.gave && len(p.blocks) > 0 && countTelling(s.title) == 0 && saysRules().MatchString(s.title) &&
		ruleTitle(p.title) && !p.isAside() && s.doc.sectionsBelow(p)[0] == s && s.endLine()-p.line < maxBelow
}

// reach takes to e, which begins in s, what holds rules below s, but for those that are rules of their own. It reports
// whether e is a rule then.
func (s *section) reach(e *evidence, ruled map[*section]bool) bool {
	if s.level < 2 || e.to < s.endLine() {
		return true
	}
	last, named := (*section)(nil), false
	parts := s.doc.sectionsBelow(s)
	for i, x := range parts {
		if x.gave && (ruled[x] || !s.doc.isForAgents() || x.hardest() < minPlain-2) || strings.Contains(strings.ToLower(x.title), "example") {
			parts = parts[:i]
			break
		}
		if rules := saysRules().MatchString(x.title); rules || x.hardest() >= plainDuty {
			last, named = x, named || rules
		}
	}
	if last == nil {
		return true
	}
	if last.endLine()-e.from >= maxBelow {
		return !named || slices.ContainsFunc(e.passage, func(b block) bool { return len(b.items) > 1 })
	}
	for _, x := range parts[:1+slices.Index(parts, last)] {
		e.to, x.gave = x.endLine(), true
		e.passage = append(append(e.passage, x.headingBlock()), x.passageBetween(x.line, e.to)...)
	}
	return true
}

// hardest is the weight of what s obliges to most.
func (s *section) hardest() (weight int) {
	for _, p := range s.listPieces(false) {
		if !p.course && !s.isAside() {
			weight = max(weight, p.weight)
		}
	}
	return weight
}

// gates is a heading of what is done before a change is handed in, and reported one of what others hand in.
var gates, reported = lazy(`(?i)^(?:checks? |checklist )?before (?:(?:you|we) |(?:every|each|any|a) )?(?:submit|commit|push|merg|open|finali[sz]|send|land|rais|mak)\w*`), lazy(`(?i)\b(?:issues?|bugs?|reports?|questions?)\b`)

// readGate reads a policy of a heading that says before what all that stands below it is done, in a document for those
// who do it.
func (s *section) readGate() []candidate {
	bs := slices.DeleteFunc(outermostOf(s.blocks), block.isEmpty)
	if !gates().MatchString(s.title) || reported().MatchString(s.title) || !s.doc.isRulebook() || !slices.ContainsFunc(bs, func(b block) bool { return len(b.items) > 1 || len(shellCommands(b)) > 0 }) {
		return nil
	}
	e := evidence{doc: s.doc, from: bs[0].from, to: s.endLine(), quote: []string{s.title}, passage: bs}
	if e.to-e.from >= maxRules {
		return nil
	}
	return []candidate{{kind: policyAtom, title: s.qualifyTitle(s.title), about: s.describeRule(nil, e, true), score: scoreSigns + 8, owners: s.readOwners(), evidence: []evidence{e}}}
}

// restates reports whether a description says nothing that the title does not.
func restates(title, about string) bool {
	return !slices.ContainsFunc(words(about), func(w string) bool {
		return countTelling(w) > 0 && !sharesWord(w, title) && !slices.Contains(words(title), w)
	})
}
