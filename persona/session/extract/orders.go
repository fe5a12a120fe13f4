package extract

import "strings"

// saysRules are the words of a heading or a lead below which a list says what holds, and ruleWords those that an
// item of one begins with, besides the verbs of instructions.
var saysRules = lazy(`(?i)\b(?:rules|guidelines|conventions|required|requirements|style|standards|principles|practices)\b`)

const ruleWords = "never no not only don't don’t do always must all every each suggest inline scope filter prefix suffix aim lock sort separate split cover mock stub preserve expose declare group indent capitalize spell align"

// listsOrders reports whether a block is a list of what to do and not to do, at any time: nearly all of its
// items order something, and its heading, its lead, its document or its words say that these are rules.
func (s *section) listsOrders(bs []block, i int) bool {
	b, n := bs[i], len(bs[i].items)
	if n < 2 || b.kind != bullets && b.kind != steps || areLinksOnly(b.items) || b.listsFiles() {
		return false
	}
	said := sectionNumber().ReplaceAllString(s.title, "")
	_, how := howTo(said)
	acts := b.kind == steps || how || activity(said) || namesAffair(said)
	if i > 0 && leadsUp(bs[i-1]) {
		said += " " + bs[i-1].run.text
	}
	hard := count(b.items, func(it item) bool {
		return beginsWith(it.ordered(), "avoid prefer never always don't don’t do only no")
	})
	orders := count(b.items, func(it item) bool {
		return beginsWith(it.ordered(), ruleWords) || isInstruction(it.ordered()) && !beginsWith(it.ordered(), "if when once after before")
	})
	if saysRules().MatchString(said) && (s.doc.isForRules() || s.doc.hasWord("guide guides handbook playbook")) {
		return 5*orders >= 3*n
	}
	return 4*orders >= 3*n && (4*hard >= n && n > 2 || !acts && (s.doc.isForAgents() || s.doc.isRulebook() && hard > 0))
}

// forbids reports whether what stands below a verdict says it by itself: each item of its lists forbids something.
func (s *section) forbids() bool {
	n := 0
	for _, b := range s.blocks {
		for _, it := range b.items {
			if n++; !b.nested && !beginsWith(it.ordered(), "avoid never don't don’t do no not") {
				return false
			}
		}
	}
	return n > 0
}

// ordered is the text of an item behind its label, if any, and "" where it begins with code.
func (it item) ordered() string {
	lead, rest, ok := it.run.splitLead()
	if lead.kind == codeSpan {
		return ""
	} else if ok && lead.kind == strong && rest != "" {
		return rest
	}
	return it.run.text
}

// listsFiles reports whether most items of a list begin with a path and say what is there.
func (b block) listsFiles() bool {
	return 2*count(b.items, func(it item) bool {
		lead, _, ok := it.run.splitLead()
		return ok && lead.kind == codeSpan && (strings.Contains(lead.text, "/") || isFilename(lead.text))
	}) > len(b.items)
}
