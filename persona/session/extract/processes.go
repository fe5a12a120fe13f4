package extract

import (
	"fmt"
	"slices"
	"strings"
)

// readProcedure reads what s says is done in steps, in commands or in prose, where its signs
// tell a process. A procedure is all that the section says.
func (s *section) readProcedure() []candidate {
	title, how := howTo(s.activity())
	if title == "" || s.isStage() || s.isIntroduction() && len(s.doc.sections) > 3 || s.nearestTopic() == glossary || s.doc.decides || s.doc.isOfDuties() || s.isAside() || !ruleTitle(title) || s.code && !how {
		return nil
	}
	named := how || activity(title) || namesAffair(title) || s.ordersSteps()
	if !named && isBoilerplate(title) && !s.isRemedy() {
		return nil
	}
	if !named && promisesList(title) {
		return nil
	}
	if !named && s.level <= 1 && len(s.doc.sections) > 2 {
		return nil // the name of a product
	}
	if in("usage configuration config api options examples features commands", strings.ToLower(s.title[strings.LastIndexByte(s.title, ' ')+1:])) && !named || !named && !s.isRemedy() && len(s.listPrograms()) > 0 && !slices.ContainsFunc(s.listPrograms(), func(p string) bool { return !in("curl http wget grpcurl", p) }) {
		return nil // how a program or an interface is called
	}
	t := s.readTraits(nil)
	if !s.isRemedy() && !t.stepped && !s.ordersSteps() && t.acts < 3 && t.commands == 0 && (!named || t.countBeginning("to if when once then next finally first after afterwards before now lastly second") == 0 && !t.haveWord("then afterwards")) {
		return nil // what is there, and how one sees it
	}
	if other, margin := t.weighSigns(); t.all+t.code < 2 && !s.isRemedy() || t.deeds+t.code-t.commands < 2 && !(t.deeds > 0 && named) && !s.ordersSteps() && t.acts < 3 && !t.stepped && !(s.isRemedy() && t.orders > 0) || !s.ordersSteps() && (margin < 0 || margin-other < plainly+2) {
		s.torn = s.torn || t.orders > 0 && margin > -doubt
		return nil
	} else {
		e := s.readCourse()
		c := candidate{kind: process, title: s.qualifyTitle(strings.TrimRight(title, "?: ")), score: scoreSigns + margin/2, programs: s.listPrograms(), owners: s.readOwners()}
		if s.ordersSteps() {
			c.score = scoreProcess
		}
		if s.isRemedy() && !activity(title) {
			c.title = capitalize(title) + " (" + s.doc.shortName() + ")"
		}
		c.about, c.evidence = e.summarize(), []evidence{e}
		return []candidate{c}
	}
}

// stepsOrdered finds what says that the steps below it have to be taken.
var stepsOrdered = lazy(`(?i)\b(?:the )?(?:following|below|these) steps (?:must|have to|need to|should|are to) be (?:executed|completed|performed|taken|followed|done)\b|\b(?:follow|take|perform|complete) (?:these|the following|the) steps(?: below)?:$|\bthese are the steps\b[^.]*:$`)

// ordersSteps reports whether s says that the steps that it lists have to be taken, or draws those of an affair of the team.
func (s *section) ordersSteps() bool {
	return slices.ContainsFunc(s.blocks, func(b block) bool {
		return b.kind == paragraph && stepsOrdered().MatchString(b.run.text) || b.kind == code && in("mermaid plantuml", b.lang) && namesTeamAffair(s.title)
	})
}

// readCourse is all that s says, with what names it: its opening, its steps, its commands.
func (s *section) readCourse() evidence {
	e := s.wholeOf(s.blocks)
	e.passage = s.passageBetween(e.from, e.to)
	steps, lists := s.listSteps()
	at := slices.IndexFunc(s.blocks, func(b block) bool { return len(shellCommands(b)) > 0 })
	if len(steps) < 2 && at < 0 {
		return e
	}
	e.quote = nil
	if b, ok := s.firstProse(); ok {
		e.quote = []string{b.run.text}
	}
	if len(steps) > 1 {
		e.steps, e.lists = steps, lists
		return e
	}
	e.steps, e.lists, e.commands = nil, 0, shellCommands(s.blocks[at])
	if at > 0 && s.blocks[at-1].kind == paragraph && s.blocks[at-1].run.text != "" && !slices.Contains(e.quote, s.blocks[at-1].run.text) {
		e.quote = append(e.quote, s.blocks[at-1].run.text)
	}
	return e
}

// isRemedy reports whether s stands below a heading that runbooks have for what to do.
func (s *section) isRemedy() bool {
	for p := s; p != nil; p = p.parent {
		if p.level < 2 {
			continue
		}
		switch strings.ToLower(strings.TrimRight(p.title, ": ")) {
		case "diagnosis", "mitigation", "remediation", "how to fix", "initial response", "immediate actions":
			return true
		case "fix", "recovery", "response", "verification", "resolution", "troubleshooting", "investigation", "escalation", "rollback":
			return s.doc.place == processes
		}
	}
	return false
}

// namesAffair reports whether a heading names something people do with each other in steps:
// who joins, who leaves, how is decided.
func namesAffair(title string) bool {
	ws := words(title)
	return len(ws) > 0 && (in("adding removing stepping leaving becoming electing nominating onboarding offboarding changing requesting retiring voting archiving "+
		"graduating appealing escalating returning adopting accepting", ws[0]) || in("process procedure removal nomination election", ws[len(ws)-1]))
}

// showsCode reports whether s holds code or a table.
func (s *section) showsCode() bool {
	return slices.ContainsFunc(s.blocks, func(b block) bool { return b.kind == code || b.kind == table })
}

// wholeOf is all that the first blocks of s say.
func (s *section) wholeOf(bs []block) evidence {
	e := evidence{doc: s.doc}
	for i, b := range outermostOf(bs) {
		if i == 0 {
			e.from = b.from
		}
		e.to = b.lastLine()
		for _, t := range b.listTexts() {
			if b.kind == paragraph {
				e.quote = append(e.quote, t.run.text)
			} else {
				e.steps = append(e.steps, t.run.text)
			}
		}
		if b.kind == bullets || b.kind == steps {
			e.lists++
		}
	}
	return e
}

var sentenceEnd = lazy(`[.!)”"]$`)

// summarize is the first sentence of a paragraph that stands alone and is no step, but for a procedure of
// nothing else, else the ends of its steps, else what leads up to them; "" where there is none of them.
func (e evidence) summarize() string {
	n := len(e.steps)
	only := n == 0 && len(e.commands) == 0 && len(e.quote) == 1
	for _, q := range e.quote {
		if first := stripLabel(firstOf(q)); len(words(first)) >= 3 && standsAlone(first) && !pointsElsewhere().MatchString(first) && sentenceEnd().MatchString(first) && (!isImperative(words(first)[0]) || only && len(splitSentences(q)) == 1) {
			return clip(first, maxDescription)
		}
	}
	if n > 1 && e.lists == 1 {
		ends := func(s string) string {
			return clip(strings.TrimLeft(strings.TrimRight(firstOf(sectionNumber().ReplaceAllString(s, "")), ".:;, "), "[] "), maxDescription/2-10)
		}
		if first, last := ends(e.steps[0]), ends(e.steps[n-1]); !strings.Contains(first+last, "…") {
			return fmt.Sprintf("%d steps: %s … %s", n, first, last)
		}
	}
	for _, q := range e.quote {
		if about := aboutOfLead(q); about != "" && !isImperative(words(about)[0]) {
			return about
		}
	}
	return ""
}

// activity is the title a procedure in s would have: the heading's without its
// number, the document's for a procedure right below its first heading.
func (s *section) activity() string {
	t := sectionNumber().ReplaceAllString(s.title, "")
	if s.title == "" && s.doc.title != "" && len(s.doc.sections) == 1 {
		t = s.doc.title
	}
	if first, rest, ok := strings.Cut(t, " "); ok && in("step part phase", strings.ToLower(first)) && strings.ContainsAny(rest[:1], "0123456789IVX") {
		return "" // a step of the heading above
	}
	return t
}

// promisesList reports whether a heading promises a list and not a procedure.
func promisesList(title string) bool {
	ws := words(title)
	return in("pull-request-checklist pull-requests pull-request pull-request-reviews commit-messages commit-message", strings.Join(ws, "-")) || len(ws) > 0 && in("guidelines options practices considerations notes principles features types examples arguments parameters "+
		"rules tips goals criteria values flags fields columns questions conventions standards expectations requirements policy policies dos etiquette charter responsibilities mission duties scope objectives mandate purpose complexity", ws[len(ws)-1]) ||
		len(ws) > 0 && ws[0] == "reporting" && !namesAffair(title) && !strings.Contains(strings.ToLower(title), "vulnerabilit") || len(ws) > 0 && in("contributing filing submitting writing reviewing naming formatting choosing designing commenting styling", ws[0])
}

// howTo takes "How to" off a title.
func howTo(title string) (string, bool) {
	lower := strings.ToLower(title)
	for _, p := range []string{"how to ", "how do i ", "how do you ", "how can i ", "how-to: ", "howto: ", "runbook: ", "playbook: "} {
		if strings.HasPrefix(lower, p) {
			return strings.TrimRight(title[len(p):], "? "), true
		}
	}
	return title, false
}

// activity reports whether a title names something one does.
func activity(title string) bool {
	ws := words(title)
	if len(ws) == 0 {
		return false
	}
	if _, ok := stemGerund(ws[0]); ok {
		return true
	}
	if promisesList(title) {
		return false
	}
	if nounToo(ws[0]) && (len(ws) < 2 || !in("a an the your all new and to it this", ws[1])) {
		return isProcedural(singular(ws[len(ws)-1])) || len(ws) == 1 && isProcedural(ws[0])
	}
	return isImperative(ws[0]) && len(ws) > 1 || isProcedural(ws[0]) || isProcedural(ws[len(ws)-1]) || isProcedural(singular(ws[len(ws)-1]))
}

// count counts the elements of which is says so.
func count[T any](items []T, is func(it T) bool) int {
	n := 0
	for _, it := range items {
		if is(it) {
			n++
		}
	}
	return n
}

// countOrders counts the items that begin with an imperative.
func countOrders(items []item) int {
	return count(items, func(it item) bool {
		ws := words(it.run.text)
		return len(ws) > 0 && isInstruction(it.run.text) && (isImperative(ws[0]) || len(ws) > 1 && isImperative(ws[1]))
	})
}

func isInstruction(text string) bool {
	ws := words(text)
	if len(ws) == 0 || strings.HasSuffix(text, "?") {
		return false
	}
	w := ws[0]
	if head, _, ok := strings.Cut(text, ":"); ok && len(strings.Fields(head)) <= 3 {
		return len(strings.Fields(head)) > 1 && isImperative(w) // else a label
	}
	if in("then now next finally first second optionally please also always never let", w) && len(ws) > 1 {
		return w == "let" || w == "never" || isImperative(ws[1])
	}
	return isImperative(w) || in("if once when after before in on from to using with for", w) && strings.ContainsAny(text, ",:")
}

// listSteps are the texts of the ordered lists of s, and how many lists; one of links is a
// table of contents.
func (s *section) listSteps() (out []string, lists int) {
	for i, b := range s.blocks {
		if b.nested || !s.isCourse(s.blocks, i) {
			continue
		}
		lists++
		for _, it := range b.items {
			if it.run.text != "" {
				out = append(out, it.run.text)
			}
		}
	}
	return out, lists
}

// isCourse reports whether a block of s is a list of what is done in turn: an ordered list that
// instructs, or where the heading or the lead says that steps follow, what people do.
func (s *section) isCourse(bs []block, i int) bool {
	b := bs[i]
	if b.kind != steps && b.kind != bullets || areLinksOnly(b.items) || beginWithLinks(b.items) || i > 0 && leadsUp(bs[i-1]) && itself().MatchString(bs[i-1].run.text) {
		return false
	}
	if 4*count(b.items, func(it item) bool { return beginsWith(it.run.text, "avoid prefer never always don't don’t") }) >= len(b.items) {
		return false // rules
	}
	if b.kind == steps && 3*countOrders(b.items) >= len(b.items) {
		return true
	}
	ahead := i > 0 && bs[i-1].kind == paragraph && leadsUp(bs[i-1]) && stepsAhead().MatchString(bs[i-1].run.text)
	if b.kind == steps {
		ahead = ahead || namesAffair(s.title) || stepsAhead().MatchString(s.title)
	}
	return ahead && len(b.items) > 2 && 2*count(b.items, func(it item) bool {
		ws := words(it.run.text)
		return len(ws) > 3 && (isInstruction(it.run.text) || speaksOfPeople(ws[:min(8, len(ws))]))
	}) >= len(b.items)
}

// itself are the words of a lead to what happens without anybody.
var itself = lazy(`(?i)\bautomatic(?:ally)?\b|\btriggers?\b`)

// beginsWith reports whether a text begins with one of these words.
func beginsWith(text, list string) bool {
	ws := words(text)
	return len(ws) > 0 && in(list, ws[0])
}

// stepsAhead are the words of a heading or a lead below which the steps stand.
var stepsAhead = lazy(`(?i)\b(?:steps|process|procedure|workflow|lifecycle)\b`)

// areLinksOnly reports whether most items are nothing but a link.
func areLinksOnly(items []item) bool {
	return len(items) < 2*count(items, func(it item) bool {
		return len(it.run.spans) > 0 && it.run.spans[0].kind == link && len(it.run.spans[0].text) >= len(it.run.text)-1
	})
}

// beginWithLinks reports whether most items begin with a link: they say what to read.
func beginWithLinks(items []item) bool {
	return len(items) < 2*count(items, func(it item) bool {
		return slices.ContainsFunc(it.run.spans, func(sp span) bool { return sp.kind == link && sp.at == 0 })
	})
}

// ifThen reports whether a sentence says what to do in a case.
func ifThen(q string) bool {
	head, then, ok := strings.Cut(q, ", ")
	ws, at := words(then), words(head)
	if !ok || len(at) == 0 || len(ws) == 0 || !in("if when once after to for in", at[0]) {
		return false
	}
	for _, w := range ws[:min(2, len(ws))] {
		if isImperative(w) {
			return true
		}
	}
	return false
}

// countLeading counts the items that begin with a label that instructs, as "Assign a reviewer: …".
func countLeading(items []item) int {
	return count(items, func(it item) bool {
		lead, _, ok := it.run.splitLead()
		ws := words(lead.text)
		return ok && lead.kind == strong && len(ws) > 1 && isImperative(ws[0])
	})
}
