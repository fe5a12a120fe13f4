package okf

import (
	"fmt"
	"strings"
	"testing"
)

// A text that is cut gives the links of the whole, each on its line.
func TestLinksOfALargeText(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	var want []string
	line := 4
	write := func(s string) {
		b.WriteString(s)
		line += strings.Count(s, "\n")
	}
	for i := range 2000 {
		if i%5 == 0 {
			write("```\n[no](code.md)\n\n[no](code.md)\n```\n\n")
		}
		want = append(want, fmt.Sprintf("%d n%d.md", line, i), fmt.Sprintf("%d ref.md", line+1))
		write(fmt.Sprintf("A [link](n%d.md) and\na [reference][r] %s\n\n", i, strings.Repeat("word ", 20)))
	}
	write("[r]: ref.md\n")
	a := atom(t, "x.md", b.String())
	var got []string
	for _, l := range a.Links() {
		got = append(got, fmt.Sprintf("%d %s", l.Line, l.Target))
	}
	if len(got) != len(want) {
		t.Fatalf("%d links, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("link %d is %s, want %s", i, got[i], want[i])
		}
	}
}

// Texts that would keep a markdown parser for minutes are read at once.
func TestLinksOfHostileTexts(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"* ", "> ", "_a*", "[a](", "[a](<b ", "[^1]: "} {
		for _, text := range []string{strings.Repeat(s, 1<<18/len(s)), strings.Repeat(strings.Repeat(s, 500)+"\n", 1<<18/len(s)/500)} {
			a := atom(t, "x.md", text+"\n\nSee [b](b.md).\n")
			if got := a.Links(); len(got) != 1 || got[0].Target != "b.md" {
				t.Errorf("%q: %d links", s, len(got))
			}
		}
	}
}

func TestContainers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{
		"": 0, "text > text": 0, "> a": 1, ">>> a": 3, "- a": 1, "-a": 0, "- - -": 3, "-----": 0, "1. a": 1, "12) > a": 2, "1.a": 0, "2026 - a": 0, "  * > + a": 3, "**a**": 0, "7": 0,
	} {
		if got := countContainers([]byte(in)); got != want {
			t.Errorf("containers(%q) = %d, want %d", in, got, want)
		}
	}
	a := atom(t, "x.md", strings.Repeat("> ", deepLine)+"[a](a.md)\n\n"+strings.Repeat("> ", deepLine+1)+"[b](b.md)\n\n[c](c.md)\n")
	if got := a.Links(); len(got) != 2 || got[0].Target != "a.md" || got[1].Target != "c.md" || got[1].Line != 8 {
		t.Errorf("links %v", got)
	}
}

func TestUnmarked(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain": "plain", "*a* **b** _c_ __d__": "a b c d", "posts_questions": "posts_questions", "_a_b_": "a_b", "2 * 3 _ 4": "2 * 3 _ 4", `\*a\* \\ \x`: `*a* \ \x`, "é_ü": "é_ü", "*": "*", `\`: `\`,
	} {
		if got := stripMarkup(in); got != want {
			t.Errorf("unmarked(%q) = %q, want %q", in, got, want)
		}
	}
}
