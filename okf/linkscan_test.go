package okf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sameAsMarkdown fails when scanLinks accepts a body that the parser reads
// differently.
func sameAsMarkdown(t interface{ Fatalf(string, ...any) }, body string) bool {
	got, ok := scanLinks("d/x.md", body, 4, nil)
	if !ok {
		return false
	}
	want := parseLinks("d/x.md", []byte(body), 4)
	if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 {
		t.Fatalf("%q\n-parser +scan\n%s", body, d)
	}
	return true
}

// The common shapes must not fall through to the parser.
func TestScanLinksAccepts(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "\n\n", "plain\n", "[a](b.md)", "# The [a](b.md)\n\nText, [b](../c.md#d), and [c](/e/f.md?g=1&amp;h).\r\n",
		"* [a](b.md) - one\n* [c](d.md) - two\n  more [e](f.md)\n\n  - [g](h.md)\n1. [i](j.md)\n\n> [k](l.md)\n> - [m](n.md)\n",
		"| a | b |\n| --- | --- |\n| [c](d.md) | `e` |\n", "`x[0](y)` and [`z`](w.md) and ``a`b`` [*em* __st__](q.md)\n",
		"```go\n[no](no.md)\n~~~\n ``\n```\n[a](b.md)\n", "~~~ a `b\n```\n~~~~\n[a](b.md)\n", "![i](j.png) [a](b.md)\n", "- [ ] todo [a](b.md)\n- [x] done\n[^1] and [a]\n",
		"a < b, \\[no\\] \\`no\\` 5\\% [a](b.md)\n", "a\n\n    indented\n\n[a](b.md)\n", "[über](café.md) 日本\n", "[a](https://example.org/x_y#z) [m](mailto:a@b.c)\n", "a\n===\n[b](c.md)\n---\n***\n",
	} {
		if !sameAsMarkdown(t, body) {
			t.Errorf("%q is left to the parser", body)
		}
	}
}

// What scanLinks must not decide.
func TestScanLinksLeaves(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"[a][b]\n\n[b]: c\n", "a[^1]\n\n[^1]: [b](c.md)\n", "[a](b.md \"t\")", "[a](<b c.md>)", "[a](b(c).md)", "[a](b\\_c.md)", "[a]()", "[a]( b.md )", "[a\nb](c.md)", "[a](b\n.md)",
		"[a [b](c.md)](d.md)", "[![i](j.png)](k.md)", "[a]b](c.md)", "[a [b] c](d.md)", "[a][b](c.md)", "`a\n[b](c.md)`", "`[a](b.md)", "``[a](b.md)`", "<!-- [a](b.md) -->", "<b>[a](c.md)</b>", "<https://e.org>",
		"    [a](b.md)", "\t[a](b.md)", "-     [a](b.md)", "-\t[a](b.md)", ">     [a](b.md)", "- ```\n  [a](b.md)\n  ```", "  ```\n[a](b.md)\n  ```", "> ```\n> [a](b.md)", "```\n[a](b.md)", "```\n[a](b.md)\n  ```\n", "``` `a`\n[a](b.md)\n", "~~~\n [a](b.md)\n ~~~ \n",
		"a\\\n[b](c.md)", "[a\\]b](c.md)", "[a `b` c](d.md)", "a\rb [c](d.md)", "a\fb", "[a](b.md", "[a", "a](b.md)", strings.Repeat("> ", 9) + "[a](b.md)", "[a](b.md)" + strings.Repeat("\n", wholeText),
	} {
		if got, ok := scanLinks("d/x.md", body, 4, nil); ok {
			t.Errorf("scanLinks(%q) = %v", body, got)
		}
	}
}

func drawBody(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{"a", "b c", " ", "  ", "\t", "[a](b.md)", "[*c* d](../e.md#f)", "[`g`](h.md)", "![i](j.png)", "[k", "]", "](l.md)", "[", "!", "(", ")", "`", "``", "```", "~~~", "`m`", "\\", "\\\\", "\\[", "\\`", "<", "< ", ">", "<b>", "<!--", "-->", "<https://e.org>",
		"&amp;", "#", "# ", "---", "===", "- ", "* ", "1. ", "2) ", "10. ", "> ", ">", "    ", "   ", "+", "|", "[x]", "[^1]", "[n][o]", "[p]:", "[q](r \"s\")", "[t](<u v>)", "[](w.md)", "[x]()", "_", "*", "é", "\"", "'", "<b", "</b>", "[y](z&amp;.md)", "[a  b ](c%20d.md)"})
	start := rapid.SampledFrom([]string{"", "", "", " ", "  ", "   ", "    ", "      ", "\t", "- ", "* ", "-    ", "-     ", "1. ", "1.   ", "10) ", "> ", ">", ">     ", "> - ", "- - ", "# ", "## ", "```", "```go", "~~~", "  ```", "- ```", "> ```", "<div>", "<!--", "-->"})
	end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\n\n", "\r\n", "  \n", "\\\n", " #\n", ""})
	var sb strings.Builder
	for range rapid.IntRange(0, 8).Draw(t, "lines") {
		sb.WriteString(start.Draw(t, "start"))
		for range rapid.IntRange(0, 4).Draw(t, "pieces") {
			sb.WriteString(piece.Draw(t, "piece"))
		}
		sb.WriteString(end.Draw(t, "end"))
	}
	return sb.String()
}

func TestScanLinksIsMarkdown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { sameAsMarkdown(t, drawBody(t)) })
}

func FuzzScanLinks(f *testing.F) {
	for _, s := range []string{"[a](b.md)\n", "- [a](b)\n  [c](d)\n", "```\n[a](b)\n```\n`c` [d](e)\n", "> # [`a`](b) #\n\n1. ![c](d)\n", "a \\[ [x](y)\\\n< z\n", "    [a](b)\n\n\t- x\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if strings.ToValidUTF8(body, "") == body && strings.IndexByte(body, 0) < 0 {
			sameAsMarkdown(t, body)
		}
	})
}
