package extract

import (
	"slices"
	"strings"
)

// joinParts returns candidates with one rule for each heading that lays one down in parts: below it, in maxRules
// lines, stand other headings, and what was read of them are rules of which one says little without the others. It is
// quoted with all its parts. Below a heading of a process, steps and rules together are the process.
func (d *document) joinParts(cs []candidate) []candidate {
	for _, s := range d.sections {
		if s.own != policies && !namesCourse(s.title) && (s.level == 1 || !d.isForRules()) || !ruleTitle(s.title) || s.isAside() {
			continue
		}
		parts := d.sectionsBelow(s)
		if len(parts) < 2 {
			continue
		}
		e := evidence{doc: d, passage: s.passageBetween(s.line, s.endLine())}
		for _, x := range parts {
			e.to = x.endLine()
			e.passage = append(append(e.passage, x.headingBlock()), x.passageBetween(x.line, e.to)...)
		}
		e.from = e.passage[0].from
		var of []candidate
		rest := slices.DeleteFunc(slices.Clone(cs), func(c candidate) bool {
			in := s.line <= c.evidence[0].from && c.evidence[0].from <= e.to
			if in {
				of = append(of, c)
				e.quote = slices.Concat(e.quote, c.evidence[0].quote, c.evidence[0].steps, c.evidence[0].commands)
			}
			return in
		})
		if e.to-e.from >= maxRules || slices.ContainsFunc(parts, (*section).isSelfContained) || !s.isInParts(of) {
			continue
		}
		whole := of[0]
		if whole.kind = policyAtom; slices.ContainsFunc(of, func(c candidate) bool { return c.kind == process }) {
			whole.kind = process
		}
		if whole.evidence[0].from >= parts[0].line {
			whole.about = ""
		}
		whole.title, whole.heads, whole.evidence = s.qualifyTitle(sectionNumber().ReplaceAllString(s.title, "")), nil, []evidence{e}
		for _, x := range append(parts, s) {
			x.gave = true
		}
		cs = append(rest, s.soundOf([]candidate{whole})...)
	}
	return cs
}

// sectionsBelow are the sections below s, in order.
func (d *document) sectionsBelow(s *section) (out []*section) {
	for _, x := range d.sections {
		if x.isBelow(s) {
			out = append(out, x)
		}
	}
	return out
}

// isSelfContained reports whether s is something else than a part of a rule: an example, or what is shown.
func (s *section) isSelfContained() bool {
	return strings.Contains(strings.ToLower(s.title), "example") || slices.ContainsFunc(s.blocks, func(b block) bool { return b.kind == code && len(b.lines) > 3 })
}

// namesCourse reports whether a heading names a process.
func namesCourse(title string) bool {
	ws := words(title)
	return len(ws) > 1 && in("process procedure workflow lifecycle", ws[len(ws)-1])
}

// isInParts reports whether what was read of s and below it is one rule in parts. All of it must be rules; below a
// heading of a process, steps count as well. And one of these must hold:
//
//   - the heading names a process, and two parts were read
//   - s is a heading alone, above sections of a few rules each, most of which say little alone
//   - two parts have the heading in their titles, because their own say nothing
//   - a part is a fragment: it stands below a heading that says nothing alone, or it is the opening of s, and says
//     little or leads on to what stands below
func (s *section) isInParts(of []candidate) bool {
	heading := sectionNumber().ReplaceAllString(s.title, "")
	course := namesCourse(s.title)
	toldByIt := func(c candidate) bool { return strings.HasSuffix(c.title, " ("+heading+")") }
	isFragment := func(c candidate) bool {
		title, e := bracketed().ReplaceAllString(c.title, ""), c.evidence[0]
		if e.from < s.line+maxOpening && sameName(title, heading) {
			return e.isTrifling() || slices.ContainsFunc(e.quote, leadsOn().MatchString)
		}
		return countTelling(title) == 0
	}
	switch {
	case slices.ContainsFunc(of, func(c candidate) bool { return c.kind != policyAtom && !(c.kind == process && course) }):
		return false
	case course && len(of) > 1, countTelling(s.title) > 0 && count(of, toldByIt) > 1:
		return true
	case len(of) > 0 && s.holdsShortRules(count(of, func(c candidate) bool { return !c.isTrifle() })):
		return true
	}
	return slices.ContainsFunc(of, isFragment)
}

// holdsShortRules reports whether s is nothing but a heading above sections of a few rules each, most of which do not
// tell alone: told is how many do.
func (s *section) holdsShortRules(told int) bool {
	parts := s.doc.sectionsBelow(s)
	return s.doc.isRulebook() && len(s.blocks) == 0 && !slices.ContainsFunc(parts, func(x *section) bool { return x.parent != s }) && 2*told <= count(parts, (*section).isShort)
}

// isShort reports whether s is a few rules.
func (s *section) isShort() bool {
	return len(s.blocks) > 0 && s.endLine()-s.line < maxOpening && (s.blocks[0].kind == bullets || len(s.listPieces(true)) > 0)
}

// leadsOn are the words of a text that leaves it to what stands below it.
var leadsOn = lazy(`(?i)\b(?:these|following|below|each of)\b`)
