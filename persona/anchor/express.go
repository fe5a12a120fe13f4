package anchor

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Express makes an agent's tensions for it, out of the role's own rules and the
// place it stands in, so that the same session gets the same ones again:
//
//	CONSTRAINT  what may never pass, then what the role may stop, then what it
//	            must never do, as a name of up to three words; the last with
//	            "@" and its line
//	CTX         the first changed file, then the second, and so on, with the
//	            lines that changed; where they are used up the rule's own line in
//	            its constitution
//	STATE       git's two letters for that file, "clean" for none
//	TRIGGER     for what the role may stop, who is asked; else the duty that
//	            shares the most words with the rule; else to stop and ask
//
// They prove no thought, and say so: GeneratedBy is "server".

// Tensions makes as many as the strictness asks for; under deep each has lines
// of its own. changed tells the first and last changed line of a file, 0 where
// it does not know; nil knows of none. A constitution that yields too few is
// ConstPoor.
func Tensions(c Constitution, a Arm, s Strictness, files fs.FS, changed func(path string) (start, end int)) ([]Tension, []Problem) {
	need := s.Least()
	e := express{c: c, arm: a, deep: s == Deep, files: files, changed: changed}
	e.findPlaces()
	for _, cand := range candidates(c) {
		if len(e.out) == need {
			break
		}
		e.add(cand)
	}
	if len(e.out) < need {
		return nil, []Problem{{Code: ConstPoor, At: c.Path, Found: strconv.Itoa(len(e.out)), Want: strconv.Itoa(need),
			Text: fmt.Sprintf("express makes %d tensions out of gates, blocking and must_never, and %s yields %d; bind with mode full, or write more of them there", need, c.Role, len(e.out))}}
	}
	return e.out, nil
}

// candidate is a rule that may become a tension.
type candidate struct {
	name     string
	rule     Rule
	blocking bool
}

// candidates are the rules of c in their order, each name once.
func candidates(c Constitution) (out []candidate) {
	seen := map[string]bool{}
	add := func(rules []Rule, blocking, lined bool) {
		for _, r := range rules {
			name := slug(r.Text)
			if generic(name) {
				continue
			}
			if lined && r.Line > 0 {
				name += "@" + strconv.Itoa(r.Line)
			}
			if !seen[name] {
				seen[name] = true
				out = append(out, candidate{name, r, blocking})
			}
		}
	}
	add(c.Gates, false, false)
	add(c.Blocking, true, false)
	add(c.MustNever, false, true)
	return out
}

// slug is a rule as a name: a single word as it is, else its first three words
// that carry meaning, in upper case and joined by "_".
func slug(text string) string {
	words := meaning(text)
	if !strings.Contains(text, " ") {
		return strings.ToUpper(strings.Join(words, "_"))
	}
	return strings.ToUpper(strings.Join(words[:min(len(words), 3)], "_"))
}

// meaning are the words of a text in lower case, without those that only join.
func meaning(text string) (out []string) {
	joining := strings.Fields("a an and any are as at be by for from has have in is it its of on or that the their this to with you your")
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		if !slices.Contains(joining, w) {
			out = append(out, w)
		}
	}
	return out
}

// place is where a tension may stand.
type place struct {
	path, state string
	start, end  int
}

// express is one making of tensions.
type express struct {
	c       Constitution
	arm     Arm
	deep    bool
	files   fs.FS
	changed func(string) (start, end int)
	places  []place // the changed files that can be cited, not used yet
	used    []place
	out     []Tension
}

// findPlaces keeps the changed files that are there to be cited, as many as
// tensions can be asked for.
func (e *express) findPlaces() {
	for _, f := range e.arm.Files {
		if len(e.places) == 3 {
			return
		}
		if lines, ok := e.lines(f.Path); ok && f.Path != e.c.Path {
			p := place{f.Path, f.state(), 1, lines}
			if e.changed != nil {
				if from, to := e.changed(f.Path); from > 0 && from <= to && to <= lines {
					p.start, p.end = from, to
				}
			}
			e.places = append(e.places, p)
		}
	}
}

// lines counts those of a file that can be cited: a regular one with any.
func (e *express) lines(name string) (int, bool) {
	if local(name) != "" || hasHiddenText(name) {
		return 0, false
	}
	st, err := fs.Lstat(e.files, name)
	if err != nil || !st.Mode().IsRegular() {
		return 0, false
	}
	b, err := fs.ReadFile(e.files, name)
	if err != nil || bytes.IndexByte(b, 0) >= 0 {
		return 0, false
	}
	n := lineCount(b)
	return n, n > 0
}

// state is git's two letters, in a word where they are none.
func (c Change) state() string {
	if c.XY == "??" {
		return "untracked"
	}
	return c.XY
}

// add makes a tension of a candidate, unless its place is taken.
func (e *express) add(c candidate) {
	p, ok := e.place(c.rule)
	if !ok {
		return
	}
	e.used = append(e.used, p)
	e.out = append(e.out, Tension{
		N: len(e.out) + 1, Constraint: c.name, Path: p.path, Start: p.start, End: p.end, State: p.state,
		Trigger: e.trigger(c), GeneratedBy: "server",
	})
}

// place is the next changed file, or the rule's own line.
func (e *express) place(r Rule) (place, bool) {
	if len(e.places) > 0 {
		p := e.places[0]
		e.places = e.places[1:]
		return p, true
	}
	lines, ok := e.lines(e.c.Path)
	p := place{path: e.c.Path, state: "clean", start: r.Line, end: r.Line}
	if r.Line == 0 {
		p.start, p.end = 1, lines
	}
	for _, f := range e.arm.Files {
		if f.Path == p.path {
			p.state = f.state()
		}
	}
	taken := e.deep && slices.Contains(e.used, p)
	return p, ok && p.end <= lines && !taken
}

// trigger is what a tension makes the agent do.
func (e *express) trigger(c candidate) string {
	if c.blocking && e.c.Escalation != "" {
		return "stop and ask " + bracketSentence(e.c.Escalation)
	}
	best, most := "", 0
	for _, duty := range e.c.MustAlways {
		if n := countSharedWords(c.rule.Text, duty.Text); n > most {
			best, most = duty.Text, n
		}
	}
	switch {
	case !generic(best) && fold(best) != fold(c.name):
		return bracketSentence(best)
	case e.c.Escalation != "":
		return "stop and ask " + bracketSentence(e.c.Escalation)
	}
	return "stop and ask a person"
}

// countSharedWords counts the words of a that b has too.
func countSharedWords(a, b string) (n int) {
	in := meaning(b)
	for _, w := range meaning(a) {
		if len(w) > 2 && slices.Contains(in, w) {
			n++
		}
	}
	return n
}

// triggerBytes is how long a trigger may be before it is cut at a word.
const triggerBytes = 160

// bracketSentence returns a sentence that fits in the brackets of a tension.
func bracketSentence(s string) string {
	s = strings.NewReplacer("[", "(", "]", ")", "⇌", "/", "→", ">", "<->", "/", "->", ">").Replace(s)
	s = sentence(s)
	if len(s) <= triggerBytes {
		return s
	}
	cut := strings.LastIndexByte(s[:triggerBytes], ' ')
	if cut <= 0 {
		return strings.ToValidUTF8(s[:triggerBytes], "") + "…"
	}
	return s[:cut] + "…"
}

// ChangedLines are the first and last line of now that differ from old, found
// from both ends; of lines that were only taken out, the one that follows them.
// Both are 0 where nothing differs or now is empty.
func ChangedLines(old, now []byte) (start, end int) {
	a, b := bytes.SplitAfter(old, []byte("\n")), bytes.SplitAfter(now, []byte("\n"))
	before := 0
	for before < len(a) && before < len(b) && bytes.Equal(a[before], b[before]) {
		before++
	}
	behind := 0
	for behind < len(a)-before && behind < len(b)-before && bytes.Equal(a[len(a)-1-behind], b[len(b)-1-behind]) {
		behind++
	}
	lines := lineCount(now)
	if lines == 0 || before == len(a) && before == len(b) {
		return 0, 0
	}
	start = min(before+1, lines)
	return start, max(start, min(len(b)-behind, lines))
}
