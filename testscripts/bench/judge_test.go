package bench

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// span is a run of lines of a document, both ends counted from 1 and included.
type span struct {
	path     string
	from, to int
}

func (s span) String() string { return fmt.Sprintf("%s:%d-%d", s.path, s.from, s.to) }

func (s span) holds(l textLine) bool { return s.path == l.path && s.from <= l.n && l.n <= s.to }

// textLine is one line of a document.
type textLine struct {
	path string
	n    int
}

// label is a passage that is worth an atom of a type or, as a trap, one that must not
// become an atom of that type.
type label struct {
	span
	typ  string
	core bool // a team would miss it; only these count for recall
}

// cited is an emitted atom with the lines that it names as its source.
type cited struct {
	typ, title string
	at         []span
	quotes     []string // the lines of its block quotes
}

// String is the atom on one line: its type, its title and where it was read.
func (c cited) String() string {
	return c.typ + "\t" + c.title + "\t" + strings.Trim(fmt.Sprint(c.at), "[]")
}

// answers are the documents of a tree by path, as lines, and their labels.
type answers struct {
	docs          map[string][]string
	labels, traps []label
}

// lines are the lines of spans that are not blank, each once.
func (a answers) lines(spans []span) (all []textLine) {
	seen := map[textLine]bool{}
	for _, s := range spans {
		for n := max(s.from, 1); n <= min(s.to, len(a.docs[s.path])); n++ {
			l := textLine{s.path, n}
			if !seen[l] && strings.TrimSpace(a.docs[s.path][n-1]) != "" {
				seen[l] = true
				all = append(all, l)
			}
		}
	}
	return all
}

const (
	useful = "useful"
	wrong  = "wrong"
	noise  = "noise"
)

// judge says whether an atom is useful, wrong or noise. It is useful when at least
// half of its lines lie within labels of its type; for a decision, when one does,
// because a decision may cite its whole document. It is wrong when at least half lie
// within labels of other types or traps of its own.
func (a answers) judge(c cited) string {
	own, other := 0, 0
	lines := a.lines(c.at)
	for _, l := range lines {
		if slices.ContainsFunc(a.labels, func(b label) bool { return b.typ == c.typ && b.holds(l) }) {
			own++
		}
		if slices.ContainsFunc(a.labels, func(b label) bool { return b.typ != c.typ && b.holds(l) }) ||
			slices.ContainsFunc(a.traps, func(b label) bool { return b.typ == c.typ && b.holds(l) }) {
			other++
		}
	}
	switch {
	case own > 0 && (2*own >= len(lines) || c.typ == "decision"):
		return useful
	case other > 0 && 2*other >= len(lines):
		return wrong
	}
	return noise
}

// manyLines is how many lines of a long label one atom must cite to have found it.
const manyLines = 5

// finds reports whether useful atoms of a label's type cite at least half of its
// lines together, or one of them cites manyLines.
func (a answers) finds(b label, atoms []cited) bool {
	all := a.lines([]span{b.span})
	together := map[textLine]bool{}
	for _, c := range atoms {
		if c.typ != b.typ || a.judge(c) != useful {
			continue
		}
		one := 0
		for _, l := range a.lines(c.at) {
			if b.holds(l) {
				one++
				together[l] = true
			}
		}
		if one >= manyLines {
			return true
		}
	}
	return len(together) > 0 && 2*len(together) >= len(all)
}

// altered are the quoted lines whose letters and digits do not occur, in their order
// and with none left out, in the lines that the atom cites.
func (a answers) altered(c cited) (all []string) {
	var text strings.Builder
	for _, l := range a.lines(c.at) {
		text.WriteString(a.docs[l.path][l.n-1] + "\n")
	}
	plain, raw := letters(bare(text.String())), letters(text.String())
	for _, q := range c.quotes {
		if t := strings.TrimSpace(q); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			continue // a fence may name a language that the document leaves out
		}
		if !strings.Contains(plain, letters(bare(q))) && !strings.Contains(raw, letters(q)) {
			all = append(all, q)
		}
	}
	return all
}

var (
	ordinal = regexp.MustCompile(`(?m)^[\s>]*\d+\\?[.)]\s`)
	markup  = regexp.MustCompile(`(?s)<!--.*?-->|</?[A-Za-z][^<>]*>|\[\^[^\]]*\]|\{[A-Za-z][\w:+.-]*\}\x60`)
	code    = regexp.MustCompile("`[^`\n]+`")
	linkTo  = regexp.MustCompile(`(?s)\]\([^()]*(?:\([^()]*\)[^()]*)*\)|\]\[[^\]]*\]`)
	escaped = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
)

// bare is text without what markdown adds to letters: the numbers of lists, tags, MyST's roles,
// footnotes and the targets of links. A tag that is escaped or in a code span is text.
func bare(s string) string {
	s = code.ReplaceAllStringFunc(strings.ReplaceAll(s, `\<`, " "), func(c string) string { return strings.NewReplacer("<", " ", "[", " ").Replace(c) })
	for _, re := range []*regexp.Regexp{ordinal, markup, linkTo} {
		s = re.ReplaceAllString(s, " ")
	}
	return html.UnescapeString(escaped.ReplaceAllString(s, "$1"))
}

// letters are the letters and digits of s in lower case: a label such as Note is a mark in another case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// TestJudge holds the rules by which the reader is judged against made-up documents.
func TestJudge(t *testing.T) {
	a := answers{docs: map[string][]string{
		"a.md": {"# Rules", "", "* You must [wear](https://example.org/boots) boots.", "* You must not run.", "", "1. Open", "1. the <b>gate</b> with `key <name>`.", "", "Problems:", "- rust", "- rot"},
		"d.md": {"# Paper", "We use", "a pen.", "Ink", "runs.", "It", "is", "wet."},
	}}
	a.labels = []label{
		{span{"a.md", 3, 4}, "policy", true}, {span{"a.md", 6, 7}, "process", true},
		{span{"d.md", 2, 3}, "decision", true}, {span{"d.md", 1, 8}, "artifact", true},
	}
	a.traps = []label{{span: span{"a.md", 9, 11}, typ: "process"}}
	at := func(typ, path string, from, to int, quotes ...string) cited {
		return cited{typ: typ, at: []span{{path, from, to}}, quotes: quotes}
	}
	for _, c := range []struct {
		atom cited
		want string
	}{
		{at("policy", "a.md", 3, 4), useful},
		{at("policy", "a.md", 1, 4), useful},   // two of three lines that are not blank
		{at("policy", "a.md", 4, 7), wrong},    // one of three, two are a process
		{at("policy", "a.md", 9, 11), noise},   // a trap, but of another type
		{at("process", "a.md", 9, 11), wrong},  // the trap's own type
		{at("term", "a.md", 3, 4), wrong},      // a policy
		{at("decision", "d.md", 1, 8), useful}, // the whole document
		{at("decision", "a.md", 9, 11), noise}, // no decision in that file
		{at("policy", "a.md", 40, 50), noise},  // beyond the end
		{at("policy", "gone.md", 1, 2), noise}, // no such document
	} {
		if got := a.judge(c.atom); got != c.want {
			t.Errorf("%s is %s, want %s", c.atom, got, c.want)
		}
	}
	for _, c := range []struct {
		label int
		atom  cited
		want  bool
	}{
		{0, at("policy", "a.md", 3, 3), true},    // half of it
		{0, at("process", "a.md", 3, 4), false},  // another type
		{1, at("process", "a.md", 7, 11), false}, // not useful
		{3, at("artifact", "d.md", 1, 3), false}, // three of eight
		{3, at("artifact", "d.md", 1, 5), true},
	} {
		if got := a.finds(a.labels[c.label], []cited{c.atom}); got != c.want {
			t.Errorf("%s finds %s: %v, want %v", c.atom, a.labels[c.label].span, got, c.want)
		}
	}
	long := answers{docs: map[string][]string{"l.md": strings.Split(strings.Repeat("step\n", 20), "\n")}, labels: []label{{span{"l.md", 1, 20}, "process", true}}}
	if !long.finds(long.labels[0], []cited{at("process", "l.md", 3, 7)}) || long.finds(long.labels[0], []cited{at("process", "l.md", 3, 6)}) {
		t.Error("five lines of a long label find it, four do not")
	}
	c := at("policy", "a.md", 3, 7, "- You must wear boots.", "You must run.", "1. Open the gate with key \\<name>.", "```sh", "You must \\[wear\\] boots", "wear boots You")
	if got := a.altered(c); !slices.Equal(got, []string{"You must run."}) {
		t.Errorf("altered: %q", got)
	}
}
