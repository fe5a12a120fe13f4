package okf

import (
	"fmt"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// atom parses a body under a minimal block of three lines.
func atom(t *testing.T, file, body string) Atom {
	t.Helper()
	a, err := Parse(file, []byte("---\ntype: x\n---\n"+body))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestLinks(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, want string }{
		{"relative", "see [Y](../y.md)", "4 y.md Y"},
		{"beside", "see [Y](y.md)", "4 d/y.md Y"},
		{"absolute", "see [Y](/a/y.md)", "4 a/y.md Y"},
		{"fragment and title", "see [Y](/y.md#part \"t\")", "4 y.md#part Y"},
		{"own fragment", "see [Y](#part)", "4 #part Y"},
		{"query", "see [Y](/y.md?v=1)", "4 y.md Y"},
		{"dots", "see [Y](/a/./b/../y.md)", "4 a/y.md Y"},
		{"folder", "see [Y](/a/)", "4 a Y"},
		{"root", "see [Y](/)", "4 . Y"},
		{"percent", "see [Y](a%20b.md)", "4 d/a b.md Y"},
		{"bad percent", "see [Y](a%2.md)", "4 d/a%2.md Y"},
		{"pointed brackets", "see [Y](<a b.md>)", "4 d/a b.md Y"},
		{"escapes", `see [Y](a\_b&amp;c.md)`, "4 d/a_b&c.md Y"},
		{"scheme", "see [Y](https://example.org/y.md#z)", "4 #z Y"},
		{"mail", "see [Y](mailto:ann@example.org)", "4  Y"},
		{"host", "see [Y](//example.org/y.md)", "4  Y"},
		{"climbs out", "see [Y](../../y.md)", "4  Y"},
		{"climbs out of the root", "see [Y](/../y.md)", "4  Y"},
		{"markup in the text", "see [the *big* `code` y\nand more](y.md)", "4 d/y.md the big code y and more"},
		{"by reference", "\nsee [Y][r], [r][] and [r]\n\n[r]: y.md", "5 d/y.md Y|5 d/y.md r|5 d/y.md r"},
		{"undefined reference", "see [Y][r] ](", ""},
		{"lines", "a\n\n[A](a.md)\n* [B](b.md)\n\n> [C](c.md)\r\n> [D](d.md)", "6 d/a.md A|7 d/b.md B|9 d/c.md C|10 d/d.md D"},
		{"footnote", "a[^1]\n\n[^1]: [A](a.md)\n[^u]: /terms/u.md and [U](u.md)\n\n[B](b.md)", "6 d/a.md A|7 d/u.md U|9 d/b.md B"},
		{"heading", "# [A](a.md)\n\n[B](b.md)\n===\n", "4 d/a.md A|6 d/b.md B"},
		{"nested text", "[a [b] c](a.md)", "4 d/a.md a [b] c"},
		{"code span", "`[A](a.md)`", ""},
		{"fence", "```\n[A](a.md)\n```", ""},
		{"indented code", "x\n\n    [A](a.md)", ""},
		{"comment", "<!-- [A](a.md) -->", ""},
		{"block comment", "<!--\n[A](a.md)\n\n[B](b.md)\n-->", ""},
		{"image", "![A](a.png)", ""},
		{"autolink", "<https://example.org> ](", ""},
		{"wiki", "[[a]] ](", ""},
		{"escaped", `\[A](a.md)`, ""},
		{"nothing", "plain", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := atom(t, "d/x.md", tt.body)
			var got []string
			for _, l := range a.Links() {
				to := l.Target
				if l.Fragment != "" {
					to += "#" + l.Fragment
				}
				got = append(got, fmt.Sprintf("%d %s %s", l.Line, to, l.Text))
			}
			if d := cmp.Diff(tt.want, strings.Join(got, "|")); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

func TestBeside(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{".", "a", "a/b", "a/b/c", "..", "../a", "a/..b", "/", "/a"} {
		for _, to := range []string{"", "x", "../x", "../../x", "../../../x", "../../../../x", "..//x", "..", "../", "./../x", "../a/../x", "/x", "../..", ".././x", "..x/y"} {
			if got, want := joinPath(dir, to), path.Join(dir, to); got != want {
				t.Errorf("beside(%q, %q) = %q, want %q", dir, to, got, want)
			}
		}
	}
}

func TestLinkURL(t *testing.T) {
	t.Parallel()
	a := atom(t, "x.md", `[A](a\_b%20c.md#d)`)
	want := []Linked{{Target: "a_b c.md", Fragment: "d", URL: `a\_b%20c.md#d`, Text: "A", Line: 4}}
	if d := cmp.Diff(want, a.Links()); d != "" {
		t.Error(d)
	}
}

func TestHeadings(t *testing.T) {
	t.Parallel()
	a := atom(t, "x.md", "# The `odd` [way](w.md)\n\nBrand Guide — Emoji Discipline\n---\n### Ünï_code 2.0!\n## Again\n## Again\n## Again-1\n```\n# no\n```\n#\n")
	want := []Heading{
		{1, "The odd way", "the-odd-way", 4},
		{2, "Brand Guide — Emoji Discipline", "brand-guide--emoji-discipline", 6},
		{3, "Ünï_code 2.0!", "ünï_code-20", 8},
		{2, "Again", "again", 9},
		{2, "Again", "again-1", 10},
		{2, "Again-1", "again-1-1", 11},
		{1, "", "", 15},
	}
	if d := cmp.Diff(want, a.Headings()); d != "" {
		t.Error(d)
	}
}

func TestSections(t *testing.T) {
	t.Parallel()
	a := atom(t, "x.md", "before\n# One\npara\ngraph\n\n- a\n  1. b\n\n  c\n- d\n\n<!-- no -->\nend[^n]\n```\n- no\n```\nTwo\n---\n[^n]: no\n")
	got := a.Sections()
	want := []Section{
		{Heading: Heading{1, "One", "one", 5}, Items: []Passage{{"a b c", 9}, {"d", 13}}, Paragraphs: []Passage{{"para graph", 6}, {"end[^n]", 16}}},
		{Heading: Heading{2, "Two", "two", 20}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// One parser serves everybody: the same body read at once reads the same.
func TestLinksAtOnce(t *testing.T) {
	t.Parallel()
	a := atom(t, "x.md", strings.Repeat("[A][r] and [^n] `x` [B](b.md)\n\n", 50)+"\n[r]: a.md\n[^n]: [C](c.md)\n")
	want := a.Links()
	if len(want) != 101 {
		t.Fatalf("%d links, want 101", len(want))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if d := cmp.Diff(want, a.Links()); d != "" {
				t.Error(d)
			}
		})
	}
	wg.Wait()
}

func FuzzLinks(f *testing.F) {
	for _, s := range []string{
		"[a](b.md)", "[a][b]\n\n[b]: c", "[^1]: [a](b)", "> [^1]: x\n[a](b)", "* [a](b\n\n[^x]", "# [a]( )\n===", "[a](%2e%2e/b)", "![^1](x)[^1]:\n\n[^1]:",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		a := Atom{Path: "d/x.md", BodyLine: 4, src: []byte(body)}
		last := 4 + strings.Count(body, "\n")
		from := 4
		for _, l := range a.Links() {
			if l.Line < from || l.Line > last {
				t.Errorf("line %d, want %d to %d", l.Line, from, last)
			}
			from = l.Line
			if l.Target == ".." || strings.HasPrefix(l.Target, "../") || strings.HasPrefix(l.Target, "/") {
				t.Errorf("target %q leaves the bundle", l.Target)
			}
		}
		for _, h := range a.Headings() {
			if h.Line < 4 || h.Line > last || strings.ContainsAny(h.Slug, " #\n") {
				t.Errorf("heading %+v", h)
			}
		}
	})
}

// TestLinkTo: what LinkTo writes leads back to the file, from everywhere.
func TestLinkTo(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"terms/a.md", "terms/b.md", "b.md"},
		{"terms/a.md", "systems/cms.md", "../systems/cms.md"},
		{"a.md", "systems/cms.md", "systems/cms.md"},
		{"terms/deep/a.md", "terms/b.md", "../b.md"},
		{"terms/a.md", "terms", "../terms"},
		{"terms/a.md", "terms/x (1): y.md", "x%20%281%29%3A%20y.md"},
	} {
		got := LinkTo(c[0], c[1])
		if got != c[2] {
			t.Errorf("LinkTo(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
		if back, _ := resolveURL(c[0], got); back != c[1] {
			t.Errorf("%s from %s leads to %q", got, c[0], back)
		}
	}
}

// A fenced block within an HTML comment is no block: no page shows it.
func TestCodeBlocksInComments(t *testing.T) {
	t.Parallel()
	a, err := Parse("a.md", []byte("---\ntype: term\nid: a\n---\n\n<!-- a template:\n```json\n{}\n```\n-->\n\n```sh\n<!-- kept -->\n```\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := a.CodeBlocks()
	if len(got) != 1 || got[0].Info != "sh" || got[0].Text != "<!-- kept -->\n" || got[0].Open {
		t.Errorf("got %+v, want the block that runs sh", got)
	}
}
