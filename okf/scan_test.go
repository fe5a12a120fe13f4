package okf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sameAsYAML fails when scan accepts a block that decode reads differently.
func sameAsYAML(t interface{ Fatalf(string, ...any) }, blk string) bool {
	got, ok := scanBlock(blk)
	if !ok {
		return false
	}
	want, p := decodeYAML([]byte(blk))
	if p != nil {
		t.Fatalf("scan accepts what decode refuses\n%s\n%v", blk, p)
	}
	if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 {
		t.Fatalf("%q\n-yaml +scan\n%s", blk, d)
	}
	return true
}

// The common shapes must not fall through to the slow parser.
func TestScanAccepts(t *testing.T) {
	t.Parallel()
	for _, blk := range []string{
		"",
		"type: x\n",
		"type: x\r\nid: a-b\r\n",
		"type: BigQuery Table # note\n\n# c\nuri: klappy://canon/a#b\n",
		"a: 1\nb: -2\nc: 1.5\nd: true\ne: null\nf: ~\ng: 2026-01-02\nh: 2026-06-30T14:00:00Z\ni: 'it''s'\nj: \"q: #\"\n",
		"tags: [a, 'b c', \"d\", 2]\nempty: []\nmap: {}\n",
		"generated: {by: odd/0.1.0, at: 2026-06-20T22:53:05Z}\n",
		"uses:\n- a\n- b\nowner: x\n",
		"uses:\n  - a\n\n  # c\n  - b\nowner:\n  # none\n",
		"generated:\n  by: odd/0.1.0\n  at: '2026-07-10T21:15:20+00:00'\n",
		"sources:\n- title: 'A: b'\n  id: x\n  resource: https://example.org/a_b?c=d\n- title: B\n",
		"verified:\n  - { by: human:a, at: 2026-06-25T09:00:00Z }\n",
		"sources: [{id: s1, resource: https://example.org}]\n",
		"title: Über café 日本 🙂\n",
		"a: >-\n  b c\n  d\ntype: x\n", "a: >\n # b\n\n\n", "a: |\n  - b: c  \n  'd\n# c\nb: |-\n    e\n", "a: |-\n x\n", "a: >-\n  b#: *c\n\n\nb: x # c # d\n",
	} {
		if !sameAsYAML(t, blk) {
			t.Errorf("%q is left to the slow parser", blk)
		}
	}
}

// What scan must not decide.
func TestScanLeaves(t *testing.T) {
	t.Parallel()
	for _, blk := range []string{
		"a: b\n  c\n", "a: |+\n  b\n", "a: >2\n  b\n", "a: > # c\n  b\n", "a: >\n", "a: >\nb: c\n", "a: >\n  b", "a: >\n\n  b\n", "a: >\n  b\n\n  c\n", "a: |\n  b\n   c\n", "a: |\n  b\n c\n", "a: >\n  b\n# c\n  d\n", "a: >\r\n  b\r\n", "a: >\n  b\n   \n",
		"a:\n  b: >\n    c\n", "- >\n  b\n", "type: >-\n  on\n", "a: &x b\n", "a: *x\n", "a: !!str b\n", "a: \"\\n\"\n", "a: [b,\n  c]\n",
		"a: b: c\n", "a: 'b\n", "a: @b\n", "a:\tb\n", "a: b\n\n  c\n", "a: 1\na: 2\n", "'a': b\n", "? a\n: b\n", "- a\n", "{a: b}\n",
		"a: 0x1F\n", "a: 010\n", "a: 1_000\n", "a: 1e3\n", "a: .inf\n", "a: +1\n", "a: -0\n", "a: 12:30\n", "a: 99999999999999999999\n",
		"a:\n    b: 1\n  c: 2\n", "a:\n  - b\n c: 1\n", "a:\n  b:\n    c: 1\n", "a:\n  b:\n  - c\n", "type: off\n", "id: Y\n", "a: x\u2028y\n", "a: [b, c # d\n",
		"a: [b # c]\n", "a: {b}\n", "a: {b: }\n", "a: [a: b]\n", "a:b\n", "a : b\n", "<<: {a: 1}\n",
	} {
		if fields, ok := scanBlock(blk); ok {
			t.Errorf("scan(%q) = %v", blk, fields)
		}
	}
}

func drawBlock(t *rapid.T) string {
	scalar := rapid.SampledFrom([]string{"x", "a b", "1", "-1", "1.50", "007", "true", "No", "null", "~", "'q'", "'it''s'", "\"d\"", "\"d\" # c", "x # c", "x#c", "a:b", "https://e.org/x?y#z",
		"2026-01-02", "2026-01-02T03:04:05Z", "2026-1-2 3:4:5", "é", "-x", "- x", "[a, b]", "[a, [b]]", "{a: 1, b: x}", "{a: [b, {c: d}]}", "[]", "", "|", "a: b", "x:", "'", "\"\\n\"", "&a b", "*a", "[a", "..", "1e3", "0x1f", "v1.2", "+x", "<x", "=", "%x", "?x", "? x", ":x", "|-", ">", ">-", ">-", "|+", ">2", "> # c", "x: # y", "x #", "# x", "#x", "a # b # c", "--- x", "- - a", "- a: b", "a,b", "}", "[a,]", "{a: b,}", "{a: b, }", "[a: b]", "['a' , b]", "['a'b]", ".5", ".x"})
	pad := rapid.SampledFrom([]string{"", " ", "  ", "   ", "    "})
	key := rapid.SampledFrom([]string{"type", "id", "a", "b", "c_d", "e-f", "1", "x y", "true"})
	var sb strings.Builder
	for range rapid.IntRange(0, 7).Draw(t, "lines") {
		indent := pad.Draw(t, "indent")
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			fmt.Fprintf(&sb, "%s- %s\n", indent, scalar.Draw(t, "item"))
		case 1:
			fmt.Fprintf(&sb, "%s- %s: %s\n", indent, key.Draw(t, "key"), scalar.Draw(t, "value"))
		case 2:
			fmt.Fprintf(&sb, "%s%s:\n", indent, key.Draw(t, "key"))
		case 3:
			sb.WriteString(rapid.SampledFrom([]string{"\n", "\n", "# c\n", "   \n", "  # c\n", " text\n", "  text\n", "  two  words  \n", "   - x: 'y\n", "  t\r\n"}).Draw(t, "blank"))
		default:
			fmt.Fprintf(&sb, "%s%s:%s%s\n", indent, key.Draw(t, "key"), rapid.SampledFrom([]string{" ", "  ", ""}).Draw(t, "gap"), scalar.Draw(t, "value"))
		}
	}
	return sb.String()
}

func TestScanIsYAML(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { sameAsYAML(t, drawBlock(t)) })
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"type: x\n", "a:\n- b: 1\n  c: 2\n", "a: [b, {c: d}]\n", "a:\n  b: 'c'\n", "a: -1.50\n", "\xff: x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, blk string) {
		if strings.ToValidUTF8(blk, "") == blk {
			sameAsYAML(t, blk)
		}
	})
}
