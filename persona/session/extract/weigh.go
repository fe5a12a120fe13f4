package extract

import (
	"slices"
	"strings"
)

// A sign is evidence of what a section is, with what it counts for a policy and for a
// process. The weights were fitted to the labelled documents of the benchmark, in quarters
// of a logit, and tried on documents that had no part in the fit.
type sign struct {
	policy, process int
	shown           func(t *traits) bool
}

// minPolicy and minProcess are what the signs of a section must add up to. One with less
// is left out as doubtful: a wrong atom costs a reviewer more than a missing one.
const (
	minPolicy  = 7
	minProcess = 10
	plainly    = 5 // by how much what tells for the one must be above what tells for the other
	doubt      = 6 // how much below that a section is told as left out
)

var signs = []sign{
	// what its heading says
	{-2, 3, func(t *traits) bool { _, is := stemGerund(t.firstWord()); return is }},
	{0, 2, func(t *traits) bool {
		return isImperative(t.firstWord()) && len(t.title) > 1 && !nounToo(t.firstWord())
	}},
	{-2, 2, func(t *traits) bool {
		return isProcedural(t.firstWord()) || isProcedural(t.lastWord()) || isProcedural(singular(t.lastWord()))
	}},
	{3, -2, func(t *traits) bool { return promisesList(strings.Join(t.title, " ")) }},
	{0, 4, func(t *traits) bool { return namesAffair(strings.Join(t.title, " ")) }},
	{-1, 7, func(t *traits) bool {
		return namesAffair(strings.Join(t.title, " ")) && t.acts > 2 && 2*t.acts >= t.all
	}},
	{0, 2, func(t *traits) bool { return t.s.parent != nil && activity(t.s.parent.title) }},
	{0, -3, func(t *traits) bool { return t.s.level <= 1 && len(t.s.doc.sections) > 2 }},
	{0, -4, func(t *traits) bool {
		title := strings.Join(t.title, " ")
		return !t.how && !activity(title) && !namesAffair(title) && !t.s.isRemedy()
	}},
	// where it stands
	{5, -3, func(t *traits) bool { return t.s.doc.isRulebook() }},
	{0, -8, func(t *traits) bool {
		return t.commands == 0 && t.s.doc.hasWord("style styleguide codestyle conventions standards guidance guidelines practice practices principles")
	}},
	{2, 1, func(t *traits) bool { return t.s.doc.hasWord(affairs) }},
	{-1, 3, func(t *traits) bool { return t.s.doc.coded }},
	{-1, 7, func(t *traits) bool { return t.s.isRemedy() }},
	{-1, 2, func(t *traits) bool { return t.s.doc.governs }},
	// how it is laid out
	{1, -3, func(t *traits) bool { return !t.stepped && !t.bulleted && t.commands == 0 }},
	{-2, -2, func(t *traits) bool { return t.links }},
	{0, 3, func(t *traits) bool { return 2*t.coded >= t.all }},
	{0, 4, func(t *traits) bool { return t.commands > 0 }},
	{0, 6, func(t *traits) bool { return t.commands > 0 && t.deeds > 3 }},
	{-5, 0, func(t *traits) bool { return t.code > 0 && t.commands == 0 }},
	{0, -16, func(t *traits) bool { return t.program }}, // how an interface is called
	{-3, 5, func(t *traits) bool { return t.stepped }},
	{2, -5, func(t *traits) bool { return t.bulleted }},
	{-2, 0, func(t *traits) bool { return t.paragraphs > 3 }},
	{0, -3, func(t *traits) bool { return t.lines < 3 }},
	// what its sentences say
	{2, -1, func(t *traits) bool { return 3*t.duties >= t.all }},
	{2, 0, func(t *traits) bool { return 3*t.duties >= 2*t.all }},
	{4, 0, func(t *traits) bool { return t.strongest >= 5 }},
	{2, -3, func(t *traits) bool { return t.obliged > 1 }},
	{3, 0, func(t *traits) bool {
		return t.countBeginning("never don't don’t avoid no always only prefer keep be not") > 0
	}},
	{5, 0, func(t *traits) bool { return t.says != nil && forbids().MatchString(t.says[0]) }},
	{2, -2, func(t *traits) bool { return t.countBeginning("we") > 0 }},
	{2, 1, func(t *traits) bool { return t.countBeginning("if when") > 0 }},
	{-1, 3, func(t *traits) bool { return t.orders > t.duties }},
	{2, 4, func(t *traits) bool { return 2*t.orders >= t.all }},
	{-3, 2, func(t *traits) bool { return 3*t.orders >= 2*t.all && t.all > 1 }},
	{0, -4, func(t *traits) bool { return t.orders == 0 }},
	{3, -6, func(t *traits) bool { return slices.ContainsFunc(t.says, guides().MatchString) }},
	{0, 4, func(t *traits) bool { return t.aims > 0 }},
	{2, 0, func(t *traits) bool { return 4*t.denials >= t.all }},
	{2, 0, func(t *traits) bool { return 3*t.actors >= t.all }},
	{-1, 2, func(t *traits) bool {
		return t.countBeginning("then next finally first afterwards once after now lastly second") > 0 || t.haveWord("then afterwards")
	}},
	{1, 2, func(t *traits) bool {
		return t.says != nil && isInstruction(t.says[0]) && isImperative(words(t.says[0])[0])
	}},
	{-2, 2, func(t *traits) bool { return t.says != nil && pronounFirst(t.says[0]) }},
	{0, -5, func(t *traits) bool {
		return t.says != nil && in("prefer avoid never don't don’t always only", words(t.says[0])[0])
	}},
}

// forbids are the words of an opening that forbids something, and guides those of a lead to rules.
var forbids, guides = lazy(`(?i)^please (?:do not|don['’]t|never|avoid) `), lazy(`(?i)\b(?:these|the following|some|following) (?:\w+ )?(?:guidelines|rules|tips|conventions|best practices|principles|points|considerations)\b`)

// traits are what the signs of a section look at.
type traits struct {
	s                                        *section
	title                                    []string // the words of its heading, without "how to"
	how                                      bool     // the heading begins with it
	says                                     []string // its sentences, those of code and tables left out
	all, orders, duties, obliged             int      // sentences: all, that say what to do, that oblige, people
	deeds                                    int      // sentences that say what to do, and commands
	acts                                     int      // sentences that say what people do or may, in a document that governs
	aims, denials, actors                    int      // sentences that begin with what for, that deny, that begin with somebody
	strongest                                int      // of its pieces that oblige
	commands, code, coded, paragraphs, lines int      // coded: texts with code in them
	stepped, bulleted, links, program        bool
}

func (s *section) readTraits(ps []piece) *traits {
	t := &traits{s: s}
	bare, how := howTo(sectionNumber().ReplaceAllString(s.subject(), ""))
	bare, _, _ = strings.Cut(bare, " (")
	t.title, t.how = words(bare), how
	for _, p := range ps {
		t.strongest = max(t.strongest, p.weight)
	}
	bs := outermostOf(s.blocks)
	if n := len(bs); n > 0 {
		t.lines = bs[n-1].lastLine() - bs[0].from + 1
	}
	for i, b := range bs {
		switch {
		case b.kind == paragraph:
			t.paragraphs++
		case len(b.items) > 1 && s.isCourse(bs, i):
			t.stepped = true
		case b.kind == bullets && areLinksOnly(b.items):
			t.links = true
		case b.kind == bullets && len(b.items) > 1:
			t.bulleted = true
		}
		t.countBlock(b)
	}
	t.all = max(1, len(t.says))
	for _, q := range t.says {
		ws := words(q)
		at, weight := findDuty(ws)
		if weight >= 2 {
			t.duties++
			if slices.ContainsFunc(ws[max(0, at-9):at], func(w string) bool { return personNoun(singular(strings.Trim(w, ".'’"))) }) {
				t.obliged++
			}
		}
		if _, w := strongestOf(customs, ws); s.doc.isCharter() && (w > 0 || weight >= 2) && speaksOfPeople(ws) {
			t.acts++
		}
		if ws[0] == "to" && len(ws) > 1 && isImperative(ws[1]) {
			t.aims++
		}
		if slices.ContainsFunc(ws, func(w string) bool { return in("not never no don't don’t shouldn't cannot can't avoid", w) }) {
			t.denials++
		}
		if slices.ContainsFunc(ws[:min(4, len(ws))], func(w string) bool { return !in("you we i they who one", w) && personNoun(singular(w)) }) {
			t.actors++
		}
		if isInstruction(q) && isImperative(ws[0]) || ifThen(q) {
			t.orders++
			t.deeds++
		}
	}
	return t
}

func speaksOfPeople(ws []string) bool {
	return slices.ContainsFunc(ws, func(w string) bool { return personNoun(singular(strings.Trim(w, ".'’"))) })
}

// isProgram reports whether a block of code is of a program: by its language or, where it names
// none, by how a line of it begins.
func (b block) isProgram() bool {
	if b.lang != "" {
		return in("python py python3 pycon js javascript jsx ts typescript tsx go golang java kotlin rust ruby rb php c cpp c++ csharp cs swift scala elixir dart", strings.ToLower(b.lang))
	}
	return slices.ContainsFunc(b.lines, program().MatchString)
}

var program = lazy(`^\s*(?:>>> |import \w|from [\w.]+ import |def \w|class \w|@\w|const \w+ =|func \w|(?:GET|POST|PUT|PATCH|DELETE) /)`)

// countBlock counts what stands in a block, and in its items.
func (t *traits) countBlock(b block) {
	if b.kind == code {
		t.code++
		t.program = t.program || b.isProgram()
		if n := len(shellCommands(b)); n > 0 {
			t.commands++
			t.orders++
			t.deeds += n
		}
	}
	if b.kind == raw || b.kind == table {
		return
	}
	if slices.ContainsFunc(b.run.spans, func(sp span) bool { return sp.kind == codeSpan }) {
		t.coded++
	}
	for _, q := range splitSentences(b.run.text) {
		if len(words(q)) > 0 {
			t.says = append(t.says, q)
		}
	}
	if areLinksOnly(b.items) {
		return
	}
	for _, it := range b.items {
		t.countBlock(block{kind: paragraph, run: it.run})
		for _, x := range it.below {
			t.countBlock(x)
		}
	}
}

// weighSigns is what the signs of t count for a policy and for a process, above what they must.
func (t *traits) weighSigns() (asPolicy, asProcess int) {
	asPolicy, asProcess = -minPolicy, -minProcess
	for _, s := range signs {
		if s.shown(t) {
			asPolicy, asProcess = asPolicy+s.policy, asProcess+s.process
		}
	}
	return asPolicy, asProcess
}

// leastMargin is by how much what tells for a rule must be above what tells for a procedure: in a document that is there for
// rules less, where there are no steps.
func (t *traits) leastMargin() int {
	if t.s.doc.isForRules() && !t.stepped && t.commands == 0 {
		return 2
	}
	return plainly
}

func (t *traits) firstWord() string { return t.wordAt(0) }
func (t *traits) lastWord() string  { return t.wordAt(len(t.title) - 1) }

func (t *traits) wordAt(i int) string {
	if i < 0 || i >= len(t.title) {
		return ""
	}
	return t.title[i]
}

// countBeginning counts the sentences that begin with one of these words.
func (t *traits) countBeginning(list string) (n int) {
	for _, q := range t.says {
		if in(list, words(q)[0]) {
			n++
		}
	}
	return n
}

// haveWord reports whether a sentence has one of these words.
func (t *traits) haveWord(list string) bool {
	return slices.ContainsFunc(t.says, func(q string) bool {
		return slices.ContainsFunc(words(q), func(w string) bool { return in(list, w) })
	})
}
