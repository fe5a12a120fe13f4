package extract

import (
	"strings"
)

// procedures reads what s says is done in steps: a heading that names an
// activity, above an ordered list or fenced commands.
func (s *section) procedures() []candidate {
	title, how := howTo(s.activity())
	plain := how || activity(title) || s.topic() == processes // the heading alone says so
	if title == "" || s.topic() == praise || s.topic() == glossary || !plain && (listing(title) || !s.ordered()) ||
		!nameable(title) || identifier(title) && !how {
		return nil
	}
	e := s.steps()
	c := candidate{kind: process, title: s.qualified(capital(title)), score: scoreProcess, programs: s.programs(), owners: s.owners()}
	if len(e.steps) < 2 {
		if len(c.programs) == 0 || !plain {
			return nil
		}
		c.score, e = scoreRunbook, s.runbook()
	} else {
		e = s.withCommands(e)
	}
	e = s.withOpening(e)
	if first := s.start(); first > 0 && e.to-first < maxPassage {
		e.from = first
	}
	e.passage = s.passage(e.from, e.to)
	c.about, c.evidence = e.summary(), []evidence{e}
	return []candidate{c}
}

// start is the first line of what stands below the heading of s, 0 for nothing.
func (s *section) start() int {
	if len(s.blocks) == 0 {
		return 0
	}
	return s.blocks[0].from
}

// withCommands adds the commands that stand among or behind the steps.
func (s *section) withCommands(e evidence) evidence {
	for _, b := range s.blocks {
		if l := shell(b); len(l) > 0 && b.from >= e.from {
			e.commands, e.to = append(e.commands, l...), max(e.to, b.to)
		}
	}
	return e
}

// withOpening adds the paragraph the section opens with.
func (s *section) withOpening(e evidence) evidence {
	b, ok := s.opening()
	if !ok || b.from >= e.from {
		return e
	}
	e.from = b.from
	if b.run.text == "" {
		return e
	}
	if len(e.quote) == 0 || e.quote[0] != b.run.text {
		e.quote = append([]string{b.run.text}, e.quote...)
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
	switch {
	case len(e.quote) > 0 && next != "":
		return clip(strings.TrimRight(unlabelled(firstOf(e.quote[0])), ":. ")+": "+next, maxDescription)
	case len(e.quote) > 0:
		return firstSentence(e.quote[0])
	case len(e.steps) == 0:
		return clip("Run "+next, maxDescription)
	}
	return clip(strings.TrimRight(next, ":;, "), maxDescription)
}

// activity is the title a procedure in s would have: the heading's without its
// number, the document's for a procedure right below its first heading.
func (s *section) activity() string {
	t := strings.TrimLeft(s.title, "0123456789.) ")
	if s.title == "" && s.doc.title != "" && len(s.doc.sections) == 1 {
		t = s.doc.title
	}
	if first, _, ok := strings.Cut(t, " "); ok && in("step part phase", strings.ToLower(first)) {
		return "" // a step of the heading above
	}
	return t
}

// listing reports whether a heading promises a list and not a procedure.
func listing(title string) bool {
	ws := words(title)
	return len(ws) > 0 && in("guidelines options practices considerations notes principles features types examples arguments parameters "+
		"rules tips goals criteria values flags fields columns questions", ws[len(ws)-1])
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

// nameable is name for the longer titles activities have.
func nameable(title string) bool {
	ws := strings.Fields(title)
	return len(ws) <= 9 && len(title) <= 80 && !strings.ContainsAny(title, "?!;{}<>=[]|\\") && !strings.Contains(title, "://") &&
		!boilerplate(title) && !label(title) && balanced(title) && strings.ContainsAny(strings.ToLower(title), "abcdefghijklmnopqrstuvwxyz")
}

// qualified tells a title that any document may have by its document.
func (s *section) qualified(title string) string {
	if !generic(title) && strings.Contains(title, " ") {
		return title
	}
	d, _, _ := strings.Cut(s.doc.called(), " -- ")
	if same(d, title) {
		return title
	}
	return title + " (" + clip(d, 50) + ")"
}

// ordered reports whether s holds an ordered list whose items are instructions.
func (s *section) ordered() bool {
	for _, b := range s.blocks {
		if b.kind != steps || b.nested {
			continue
		}
		if len(b.items) >= 3 && 3*told(b.items) >= 2*len(b.items) {
			return true
		}
	}
	return false
}

// told counts the items that tell somebody to do something.
func told(items []item) int {
	n := 0
	for _, it := range items {
		if instruction(it.run.text) {
			n++
		}
	}
	return n
}

func instruction(text string) bool {
	ws := words(text)
	if len(ws) == 0 {
		return false
	}
	if head, _, ok := strings.Cut(text, ":"); ok && len(strings.Fields(head)) <= 3 {
		return false // a label
	}
	w := ws[0]
	if in("then now next finally first second optionally please also always never let", w) && len(ws) > 1 {
		return w == "let" || w == "never" || imperative(ws[1])
	}
	return imperative(w) || in("if once when after before in on from to using with for", w) && strings.ContainsAny(text, ",:")
}

// steps gathers the ordered lists of s; a list of links is a table of contents.
func (s *section) steps() evidence {
	e := evidence{doc: s.doc}
	for _, b := range s.blocks {
		if b.kind != steps || b.nested || linked(b.items) || 3*told(b.items) < len(b.items) {
			continue
		}
		if e.from == 0 {
			e.from = b.from
		}
		e.to = b.to
		for _, it := range b.items {
			if it.run.text != "" {
				e.steps = append(e.steps, it.run.text)
			}
		}
	}
	return e
}

// linked reports whether most items are nothing but a link.
func linked(items []item) bool {
	n := 0
	for _, it := range items {
		if len(it.run.spans) > 0 && it.run.spans[0].kind == link && len(it.run.spans[0].text) >= len(it.run.text)-1 {
			n++
		}
	}
	return 2*n > len(items)
}

// runbook is what stands around the commands of s: its shell blocks and the
// paragraph before the first.
func (s *section) runbook() evidence {
	for i, b := range s.blocks {
		if b.kind != code || len(shell(b)) == 0 {
			continue
		}
		e := evidence{doc: s.doc, from: b.from, to: b.to}
		if i > 0 && s.blocks[i-1].kind == paragraph {
			e.from = s.blocks[i-1].from
			if text := s.blocks[i-1].run.text; text != "" {
				e.quote = []string{text}
			}
		}
		return s.withCommands(e)
	}
	return evidence{}
}

// programs is the first word of every fenced shell command of s, in order,
// each once.
func (s *section) programs() []string {
	var out []string
	seen := map[string]bool{}
	for _, b := range s.blocks {
		for _, l := range shell(b) {
			if w := argv0(l); w != "" && !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	return out
}

// shell returns the command lines of a fenced block that is a shell's: by its
// language, or by the prompts in it. Output and comments are left out.
func shell(b block) []string {
	if b.kind != code {
		return nil
	}
	named := in("sh bash shell zsh console terminal shell-session shellsession", strings.ToLower(b.lang))
	prompted := false
	for _, l := range b.lines {
		prompted = prompted || strings.HasPrefix(l, "$ ")
	}
	if !named && !(prompted && b.lang == "") {
		return nil
	}
	var out []string
	continued := false
	for _, l := range b.lines {
		cmd, isPrompt := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(l), "% "), "$ ")
		cmd, more := strings.CutSuffix(cmd, "\\")
		switch {
		case continued:
			out[len(out)-1] += " " + strings.TrimPrefix(cmd, "> ")
			continued = more
		case cmd == "" || strings.HasPrefix(cmd, "#") || prompted && !isPrompt:
		default:
			out, continued = append(out, cmd), more
		}
	}
	return out
}

// argv0 is the program a command line runs, "" when that says nothing: shell
// words, paths, variables.
func argv0(line string) string {
	for _, w := range strings.Fields(line) {
		if w == "sudo" || strings.Contains(w, "=") && !strings.HasPrefix(w, "-") {
			continue
		}
		if shellWord(w) || len(w) < 2 || !plainWord(w) {
			return ""
		}
		return w
	}
	return ""
}

// plainWord accepts the names programs have.
func plainWord(w string) bool {
	for i, r := range w {
		if r >= 'a' && r <= 'z' || i > 0 && (r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.') {
			continue
		}
		return false
	}
	return true
}

// owners are the roles the section or its front matter names as owner: "Owner: X",
// "Owned by X", "X is responsible for this", "The X does this".
func (s *section) owners() []string {
	var out []string
	if s.doc.owner != "" {
		out = append(out, s.doc.owner)
	}
	for _, b := range s.blocks {
		if b.kind != paragraph && b.kind != bullets {
			continue
		}
		texts := []string{b.run.text}
		for _, it := range b.items {
			texts = append(texts, it.run.text)
		}
		for _, t := range texts {
			if o := owner(t); o != "" {
				out = append(out, o)
			}
		}
	}
	return out
}

// owner reads one sentence that names an owner.
func owner(text string) string {
	first := strings.TrimRight(firstSentence(text), ".")
	lower := strings.ToLower(first)
	for _, p := range []string{"owner: ", "owned by ", "responsible: ", "owner — ", "process owner: "} {
		if strings.HasPrefix(lower, p) && len(strings.Fields(first)) <= 7 {
			return withoutArticle(first[len(p):])
		}
	}
	for _, p := range []string{" does this", " is responsible for this", " owns this", " runs this"} {
		if who, _, ok := strings.Cut(first, p); ok && len(strings.Fields(who)) <= 4 {
			return withoutArticle(who)
		}
	}
	return ""
}
