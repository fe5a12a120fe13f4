package extract

import (
	"fmt"
	"slices"
	"strings"
)

// procedures reads what s says is done in steps: a heading that names an activity above
// an ordered list, a list of instructions or fenced commands; what a runbook says under
// Diagnosis, Mitigation and the like; and the prose of a governing document under the
// name of something people do. A procedure is all that the section says.
func (s *section) procedures() []candidate {
	title, how := howTo(s.activity())
	bare, _, _ := strings.Cut(title, " (")
	plain := how || s.topic() == processes || s.remedy() || !listing(bare) && (activity(bare) || s.aims()) // the heading or the text says so
	if title == "" || s.topic() == praise || s.topic() == glossary || s.doc.decides || s.aside() || s.doc.duties() || !plain && (listing(title) || !s.ordered()) ||
		!ruleTitle(title) || (s.code || identifier(bare)) && !how {
		return nil
	}
	if n := s.speech(); !s.commands() && !how && 2*n.duties > n.orders {
		s.torn = plain
		return nil
	}
	e, score := s.course(bare, plain)
	if score == 0 {
		return nil
	}
	e.passage = s.passage(e.from, e.to)
	c := candidate{kind: process, title: s.qualified(capital(strings.TrimRight(title, "?: "))), score: score, programs: s.programs(), owners: s.owners()}
	if s.remedy() && !activity(title) {
		c.title = capital(title) + " (" + clip(s.doc.called(), 60) + ")"
	}
	c.about, c.evidence = e.summary(), []evidence{e}
	return []candidate{c}
}

// course is how s says that its activity goes on, and how plainly: 0 for not at all.
func (s *section) course(title string, plain bool) (evidence, int) {
	e := s.whole(s.blocks)
	n := s.speech()
	orders := n.plain
	if !s.remedy() {
		orders += n.duties
	}
	opening := func() {
		e.quote, e.steps, e.lists = nil, nil, 0
		if b, ok := s.opening(); ok {
			e.quote = []string{b.run.text}
		}
	}
	switch steps, lists := s.steps(); {
	case len(steps) >= 2:
		opening()
		e.steps, e.lists = steps, lists
		return e, scoreProcess
	case !plain:
	case s.bulleted() && !listing(title) || s.remedy() && orders > 0:
		return e, scoreRunbook + 6
	case s.commands():
		opening()
		i := slices.IndexFunc(s.blocks, func(b block) bool { return len(shell(b)) > 0 })
		if e.commands = shell(s.blocks[i]); i > 0 && s.blocks[i-1].kind == paragraph && !slices.Contains(e.quote, s.blocks[i-1].run.text) {
			e.quote = append(e.quote, s.blocks[i-1].run.text)
		}
		return e, scoreRunbook
	case !s.shows() && s.level != 1 && (s.doc.governs && affair(title) && orders >= 1 || activity(title) && !listing(title) && orders >= 2):
		return e, scoreRunbook
	}
	return e, 0
}

// remedy reports whether s stands below a heading that runbooks have for what to do.
func (s *section) remedy() bool {
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

// affair reports whether a heading names something people do with each other in steps:
// who joins, who leaves, how is decided.
func affair(title string) bool {
	ws := words(title)
	return len(ws) > 0 && (in("adding removing stepping leaving becoming electing nominating onboarding offboarding changing requesting retiring voting archiving "+
		"graduating appealing escalating returning adopting accepting", ws[0]) || in("process procedure removal nomination election", ws[len(ws)-1]))
}

// aims reports whether a paragraph of s says what the commands below it are for, as in
// "To run the tests, use:".
func (s *section) aims() bool {
	for i, b := range s.blocks {
		if i == 0 || b.nested || len(shell(b)) == 0 || s.blocks[i-1].kind != paragraph {
			continue
		}
		if ws := words(s.blocks[i-1].run.text); len(ws) > 3 && (in("to first", ws[0]) && imperative(ws[1]) || imperative(ws[0]) && !in("see note consider", ws[0]) && strings.HasSuffix(s.blocks[i-1].run.text, ":")) {
			return true
		}
	}
	return false
}

// bulleted reports whether s holds a list of instructions without numbers.
func (s *section) bulleted() bool {
	return slices.ContainsFunc(s.blocks, func(b block) bool { return b.kind == bullets && !b.nested && len(b.items) >= 3 && tells(b.items) })
}

// shows reports whether s holds code or a table.
func (s *section) shows() bool {
	return slices.ContainsFunc(s.blocks, func(b block) bool { return b.kind == code || b.kind == table })
}

// whole is all that the first blocks of s say.
func (s *section) whole(bs []block) evidence {
	e := evidence{doc: s.doc}
	for i, b := range outermost(bs) {
		if i == 0 {
			e.from = b.from
		}
		e.to = b.last()
		for _, t := range b.texts() {
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

// summary is one sentence of what is quoted: prose before steps before commands.
func (e evidence) summary() string {
	next := ""
	switch {
	case len(e.steps) > 0:
		next = firstOf(e.steps[0])
	case len(e.commands) > 0:
		next = squeeze(e.commands[0])
	}
	for _, q := range e.quote {
		if first := unlabelled(firstOf(q)); !strings.HasSuffix(first, ":") && len(words(first)) >= 4 {
			return clip(first, maxDescription)
		}
	}
	if n := len(e.steps); n > 1 && len(e.quote) == 0 && e.lists == 1 {
		ends := func(s string) string {
			return clip(strings.TrimLeft(strings.TrimRight(firstOf(s), ".:;, "), "[] "), maxDescription/2-10)
		}
		return fmt.Sprintf("%d steps: %s … %s", n, ends(e.steps[0]), ends(e.steps[n-1]))
	}
	switch {
	case len(e.quote) > 0 && next != "":
		return clip(strings.TrimRight(unlabelled(firstOf(e.quote[0])), ":. ")+": "+next, maxDescription)
	case len(e.quote) > 0:
		return firstSentence(e.quote[0])
	case len(e.steps) == 0 && next != "":
		return clip("Run "+next, maxDescription)
	}
	return clip(strings.TrimRight(next, ":;, "), maxDescription)
}

// activity is the title a procedure in s would have: the heading's without its
// number, the document's for a procedure right below its first heading.
func (s *section) activity() string {
	t := s.title
	if strings.IndexAny(t, "0123456789") == 0 {
		t = sectionNumber.ReplaceAllString(t, "")
	}
	if s.title == "" && s.doc.title != "" && len(s.doc.sections) == 1 {
		t = s.doc.title
	}
	if first, rest, ok := strings.Cut(t, " "); ok && in("step part phase", strings.ToLower(first)) && strings.ContainsAny(rest[:1], "0123456789IVX") {
		return "" // a step of the heading above
	}
	return t
}

// listing reports whether a heading promises a list and not a procedure.
func listing(title string) bool {
	ws := words(title)
	return in("pull-request-checklist pull-requests pull-request pull-request-reviews commit-messages commit-message", strings.Join(ws, "-")) || len(ws) > 0 && in("guidelines options practices considerations notes principles features types examples arguments parameters "+
		"rules tips goals criteria values flags fields columns questions conventions standards expectations requirements policy policies dos etiquette charter responsibilities mission duties scope objectives mandate purpose complexity", ws[len(ws)-1]) ||
		len(ws) > 0 && ws[0] == "reporting" && !affair(title) && !strings.Contains(strings.ToLower(title), "vulnerabilit") || len(ws) > 0 && in("contributing filing submitting writing reviewing naming formatting choosing designing commenting styling", ws[0])
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
	if _, ok := gerund(ws[0]); ok {
		return true
	}
	if listing(title) {
		return false
	}
	if nounToo(ws[0]) && (len(ws) < 2 || !in("a an the your all new and to it this", ws[1])) {
		return procedural(singular(ws[len(ws)-1])) || len(ws) == 1 && procedural(ws[0])
	}
	return imperative(ws[0]) && len(ws) > 1 || procedural(ws[0]) || procedural(ws[len(ws)-1]) || procedural(singular(ws[len(ws)-1]))
}

// qualified tells a title that any document may have by its document.
func (s *section) qualified(title string) string {
	if !generic(title) {
		return title
	}
	d := firstPart(s.doc.called())
	if same(d, title) {
		return title
	}
	return title + " (" + clip(d, 50) + ")"
}

// ordered reports whether s holds an ordered list whose items are instructions.
func (s *section) ordered() bool {
	return slices.ContainsFunc(s.blocks, func(b block) bool {
		return b.kind == steps && !b.nested && len(b.items) >= 3 && 3*told(b.items) >= 2*len(b.items) && 2*ordering(b.items) >= len(b.items)
	})
}

// count counts the items of which is says so.
func count(items []item, is func(it item) bool) int {
	n := 0
	for _, it := range items {
		if is(it) {
			n++
		}
	}
	return n
}

// told counts the items that tell somebody to do something.
func told(items []item) int {
	return count(items, func(it item) bool { return instruction(it.run.text) })
}

// ordering counts the items that begin with an imperative.
func ordering(items []item) int {
	return count(items, func(it item) bool {
		ws := words(it.run.text)
		return len(ws) > 0 && instruction(it.run.text) && (imperative(ws[0]) || len(ws) > 1 && imperative(ws[1]))
	})
}

func instruction(text string) bool {
	ws := words(text)
	if len(ws) == 0 || strings.HasSuffix(text, "?") {
		return false
	}
	w := ws[0]
	if head, _, ok := strings.Cut(text, ":"); ok && len(strings.Fields(head)) <= 3 {
		return len(strings.Fields(head)) > 1 && imperative(w) // else a label
	}
	if in("then now next finally first second optionally please also always never let", w) && len(ws) > 1 {
		return w == "let" || w == "never" || imperative(ws[1])
	}
	return imperative(w) || in("if once when after before in on from to using with for", w) && strings.ContainsAny(text, ",:")
}

// steps are the texts of the ordered lists of s, and how many lists; one of links is a
// table of contents.
func (s *section) steps() (out []string, lists int) {
	for _, b := range s.blocks {
		if b.kind != steps || b.nested || linked(b.items) || wished(b.items) || 3*ordering(b.items) < len(b.items) {
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

// wished reports whether most items are stories of users, who say what they want and not
// what is done.
func wished(items []item) bool {
	return len(items) <= 2*count(items, func(it item) bool {
		t := strings.ToLower(it.run.text)
		return strings.Contains(t, "as a") && strings.Contains(t, "i want")
	})
}

// linked reports whether most items are nothing but a link.
func linked(items []item) bool {
	return len(items) < 2*count(items, func(it item) bool {
		return len(it.run.spans) > 0 && it.run.spans[0].kind == link && len(it.run.spans[0].text) >= len(it.run.text)-1
	})
}

// speech counts the sentences of a section: those that say what to do, of which some begin
// with it, and those that say what must be.
type speech struct{ orders, plain, duties int }

func (s *section) speech() speech {
	var n speech
	count := func(r run) {
		for _, q := range sentences(r.text) {
			ws := words(q)
			switch order := instruction(q); {
			case len(ws) == 0:
			case obligation(q, true) >= 3:
				n.duties++
			case order && imperative(ws[0]), s.remedy() && ifThen(q):
				n.orders, n.plain = n.orders+1, n.plain+1
			case order:
				n.orders++
			}
		}
	}
	var read func(b block)
	read = func(b block) {
		count(b.run)
		if len(shell(b)) > 0 {
			n.orders, n.plain = n.orders+1, n.plain+1
		}
		for _, it := range b.items {
			count(it.run)
			for _, x := range it.below {
				read(x)
			}
		}
	}
	for _, b := range outermost(s.blocks) {
		read(b)
	}
	return n
}

// commands reports whether s holds commands of a shell.
func (s *section) commands() bool {
	return slices.ContainsFunc(s.blocks, func(b block) bool { return len(shell(b)) > 0 })
}

// ifThen reports whether a sentence says what to do in a case.
func ifThen(q string) bool {
	head, then, ok := strings.Cut(q, ", ")
	ws, at := words(then), words(head)
	if !ok || len(at) == 0 || len(ws) == 0 || !in("if when once after to for in", at[0]) {
		return false
	}
	for _, w := range ws[:min(2, len(ws))] {
		if imperative(w) {
			return true
		}
	}
	return false
}
