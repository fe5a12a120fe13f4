package journal

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goodReview is a review without findings; tests change one thing of it.
const goodReview = `---
title: The review
reviewer: a fresh session
reviews: "the change at 0123abc"
date: 2026-03-02
---

# A review

## Decisions

**[D] SAFE TO MERGE verdict**
All that was asked for is there.

## Observations (closed)

**[O] It builds — PASS**
Seen at src/a.go:3.
Evidence: ` + "`src/b.go` lines 1–2" + `

**[O] It sings — FAIL**
At src/a.go:1-2, see below.

## Learnings

none

## Constraints

### One platform only
It is permanent.

### No sound
A v+1 revisit candidate.

## Handoff

## Opens

1. Who sings?
2. Who listens?
   - and why
`

func review(t testing.TB, doc string) []string {
	t.Helper()
	sizes := map[string]int{"src/a.go": 3, "src/b.go": 2, "Makefile": 1}
	var out []string
	for _, p := range LintReview([]byte(doc), func(commit, file string) (int, error) {
		if commit != "0123abc" {
			return 0, errors.New("no such commit")
		}
		n, ok := sizes[file]
		if !ok {
			return 0, errors.New("no such file")
		}
		return n, nil
	}) {
		out = append(out, fmt.Sprintf("%d: %s", p.Line, p.Message))
	}
	return out
}

func TestLintReview(t *testing.T) {
	t.Parallel()
	if got := review(t, goodReview); got != nil {
		t.Fatal(got)
	}
	verdictAt := func(s string) string {
		return "10: the verdict is exactly SAFE TO MERGE or NOT SAFE, and only one of them, not " + s
	}
	for _, c := range []struct {
		name, old, new string
		want           []string
	}{
		{"CRLF", "\n", "\r\n", nil},
		{"NOT SAFE", "SAFE TO MERGE", "NOT SAFE", nil},
		{"lower case", "SAFE TO MERGE", "safe to merge", []string{verdictAt(`"safe to merge"`)}},
		{"a verdict that is none", "SAFE TO MERGE", "NOT SAFE TO MERGE", []string{verdictAt(`"NOT SAFE TO MERGE"`)}},
		{"both verdicts", "All that", "It was NOT SAFE. All that", []string{verdictAt(`"NOT SAFE" and "SAFE TO MERGE"`)}},
		{"no verdict", "SAFE TO MERGE", "LGTM", []string{verdictAt("nothing")}},
		{"not safe in prose", "All that", "A map is not safe for two. All that", nil},
		{"no reason", "All that was asked for is there.", "Yes.", []string{"10: the verdict has no reason; say why in a sentence"}},
		{"no frontmatter", "---\ntitle", "title", []string{"1: no frontmatter; it names the reviewer, what it reviews, and the date"}},
		{"no reviewer", "reviewer:", "author:", []string{"1: no reviewer in the frontmatter"}},
		{"nothing reviewed", "reviews: \"the change at 0123abc\"\n", "", []string{"1: no reviews in the frontmatter"}},
		{"no commit", "0123abc", "30", []string{`1: reviews "the change at 30" names no commit, so no evidence can be looked up; add its id`}},
		{"a word that is no commit", "at 0123abc", "defaced", []string{`1: reviews "the change defaced" names no commit, so no evidence can be looked up; add its id`}},
		{"another commit", "0123abc", "0123abd", []string{"18: evidence src/a.go: no such commit", "19: evidence src/b.go: no such commit", "22: evidence src/a.go: no such commit"}},
		{"no date", "date: 2026-03-02\n", "", []string{"1: no date in the frontmatter"}},
		{"a date in words", "2026-03-02", "yesterday", []string{`1: date "yesterday"; want YYYY-MM-DD`}},
		{"broken YAML", "title: The", "title: [The", []string{"1: the frontmatter is not YAML"}},
		{"a section that was forgotten", "## Learnings\n\nnone\n", "", []string{"1: no section Learnings; write it and say none, if there are none"}},
		{"a section twice", "## Handoff\n", "## Handoff\n\n## Handoffs\n", []string{"38: a second section Handoff; the first is on line 36"}},
		{"sections in another order", "## Handoff\n\n## Opens", "## Opens\n\n## Handoff", []string{"36: Opens stands before Handoff"}},
		{"neither PASS nor FAIL", "— PASS", "", []string{"17: an observation says PASS or FAIL, and one of them only"}},
		{"PASS and FAIL", "— PASS", "— PASS, was FAIL", []string{"17: an observation says PASS or FAIL, and one of them only"}},
		{"pass in lower case", "— PASS", "— pass", []string{"17: an observation says PASS or FAIL, and one of them only"}},
		{"no evidence", "At src/a.go:1-2, see", "See", []string{"21: an observation without evidence; name the place, as file:line"}},
		{"a time is no evidence", "At src/a.go:1-2, see", "At 10:30, see", []string{"21: an observation without evidence; name the place, as file:line"}},
		{"a file without an ending", "At src/a.go:1-2, see", "At Makefile:1, see", nil},
		{"a line that is not there", "src/a.go:3", "src/a.go:4", []string{"18: evidence src/a.go:4: the file has 3 lines in 0123abc"}},
		{"line nought", "src/a.go:3", "src/a.go:0", []string{"18: evidence src/a.go:0: the file has 3 lines in 0123abc"}},
		{"a range beyond the end", "lines 1–2", "lines 1–9", []string{"19: evidence src/b.go:9: the file has 2 lines in 0123abc"}},
		{"a file that is not there", "src/a.go:3", "src/c.go:3", []string{"18: evidence src/c.go: no such file"}},
		{"no observation", "**[O] It builds — PASS**\nSeen at src/a.go:3.\nEvidence: `src/b.go` lines 1–2\n\n**[O] It sings — FAIL**\nAt src/a.go:1-2, see below.\n", "none\n", []string{"15: no observation; every item that was checked is one"}},
		{"no horizon", "It is permanent.", "Acceptable for now.", []string{`30: a constraint is "permanent" or a "v+1 revisit candidate", and says which`}},
		{"two horizons", "It is permanent.", "It is permanent, or a v+1 revisit candidate.", []string{`30: a constraint is "permanent" or a "v+1 revisit candidate", and says which`}},
		{"no number", "2. Who", "- Who", []string{"41: an open question without a number; others must be able to name it"}},
		{"a number twice", "2. Who", "1. Who", []string{"41: number 1 is taken by line 40"}},
		{"a letter too many", "# A review", "# A DOLCHEO+H review", []string{`8: "DOLCHEO+H": the letter is in the name already; write DOLCHEO`}},
		{"a heading in a code block", "## Handoff\n", "## Handoff\n```\n## Learnings\n```\n", nil},
	} {
		n := 1
		if c.name == "CRLF" || c.name == "another commit" {
			n = -1
		}
		got := review(t, strings.Replace(goodReview, c.old, c.new, n))
		ok := len(got) == len(c.want)
		for i := range c.want {
			ok = ok && strings.HasPrefix(got[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s:\n%s", c.name, cmp.Diff(c.want, got))
		}
	}
}

// The styles in which items of a section are written.
func TestItems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0}, {"None.", 0}, {"- none", 0}, {"_(none)_", 0}, {"---", 0},
		{"- a\n- b\n  - c", 2}, {"1. a\n2) b", 2}, {"### a\n- b\n- c\n### d", 2}, {"**[O] a**\n- b\n\n**[O] c**", 2},
		{"a\nb\n\nc", 2}, {"- a\n\n```\n- b\n```", 1}, {"- nonesuch", 1},
	} {
		if got := splitItems(splitLines(c.text, 1)); len(got) != c.want {
			t.Errorf("%q: %d items, want %d", c.text, len(got), c.want)
		}
	}
}

// Ways to number an open question.
func TestOpensAreNumbered(t *testing.T) {
	t.Parallel()
	for open, ok := range map[string]bool{
		"1. Who?": true, "- 1: Who?": true, "- #1: Who?": true, "**[O-open P1] NIT-1: Who?**": true, "**NIT-2:** Who?": true, "- O3. Who?": true, "### 4. Who?": true,
		"- Who?": false, "**[O-open P1] Who?**": false, "- Retry 3 times": false,
	} {
		got := review(t, strings.Replace(goodReview, "1. Who sings?\n2. Who listens?\n   - and why\n", open+"\n", 1))
		if (got == nil) != ok {
			t.Errorf("%q: %v", open, got)
		}
	}
}

func FuzzLintReview(f *testing.F) {
	f.Add([]byte(goodReview))
	f.Add([]byte("---\ndate: !!binary x\nreviews: [1]\n---\n## Opens\n\n~~~\n# x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		lines := 1 + strings.Count(string(b), "\n")
		for _, p := range LintReview(b, func(_, file string) (int, error) { return len(file), nil }) {
			if p.Line < 1 || p.Line > lines || p.Message == "" {
				t.Fatalf("%v of %d lines", p, lines)
			}
		}
	})
}
