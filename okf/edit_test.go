package okf

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		sets     []Set
		want     string
	}{
		{"scalar", "a: 1\ntitle: Old\nb: 2\n", []Set{{"title", "New"}}, "a: 1\ntitle: New\nb: 2\n"},
		{"comment on the line", "state: ready   # by hand\n", []Set{{"state", "done"}}, "state: done   # by hand\n"},
		{"spacing", "state:    ready\nlonger:   x\n", []Set{{"state", "done"}}, "state:    done\nlonger:   x\n"},
		{"single quotes", "t: 'it''s' # c\n", []Set{{"t", "that's"}}, "t: 'that''s' # c\n"},
		{"double quotes", "t: \"a # b\" # c\n", []Set{{"t", "x"}}, "t: \"x\" # c\n"},
		{"same value", "t:   'x'   \n", []Set{{"t", "x"}}, "t:   'x'   \n"},
		{"append", "# head\na: 1\n# tail\n", []Set{{"b", 2}}, "# head\na: 1\n# tail\nb: 2\n"},
		{"append to CRLF", "a: 1\r\n", []Set{{"b", "x"}}, "a: 1\r\nb: x\r\n"},
		{"replace in CRLF", "a: 1 # c\r\nb:\r\n  - x\r\nc: 3\r\n", []Set{{"a", 2}, {"b", []string{"w", "z"}}}, "a: 2 # c\r\nb:\r\n  - w\r\n  - z\r\nc: 3\r\n"},
		{"remove", "a: 1\n# about b\nb:\n  - x\n  - w\n\n# about c\nc: 3\n", []Set{{"b", nil}}, "a: 1\n# about b\n\n# about c\nc: 3\n"},
		{"remove absent", "a: 1\n", []Set{{"b", nil}}, "a: 1\n"},
		{"block list keeps its indent", "b:\n- x\nc: 3\n", []Set{{"b", []string{"w", "z: q"}}}, "b:\n- w\n- \"z: q\"\nc: 3\n"},
		{"flow list", "b: [x] # c\n", []Set{{"b", []string{"w", "a, b"}}}, "b: [w, \"a, b\"] # c\n"},
		{"empty list", "b:\n  - x\n", []Set{{"b", []string{}}}, "b: []\n"},
		{"list to scalar", "b:\n  - x\n  # inner\nc: 1\n", []Set{{"b", "w"}}, "b: w\nc: 1\n"},
		{"literal to scalar", "b: |\n  x\n  # no comment\n\n# c\nc: 1\n", []Set{{"b", "w"}}, "b: w\n\n# c\nc: 1\n"},
		{"folded plain", "b: x\n  y\n  z\nc: 1\n", []Set{{"b", "w"}}, "b: w\nc: 1\n"},
		{"empty value", "b:   # why\nc: 1\n", []Set{{"b", "w"}}, "b: w   # why\nc: 1\n"},
		{"no blank behind the colon", "b:\nc: 1\n", []Set{{"b", "w"}}, "b: w\nc: 1\n"},
		{"quoted key", "\"b\" : x\n", []Set{{"b", "w"}}, "\"b\" : w\n"},
		{"indented block", "  b: x\n  c: 1\n", []Set{{"b", "w"}, {"d", []Stamp{{By: "human:a"}}}}, "  b: w\n  c: 1\n  d:\n    - {by: human:a}\n"},
		{"neighbour untouched", "x: [ 1,2 ]  # odd\nb: 1\ny:   |\n  a\n   b\n", []Set{{"b", 2}}, "x: [ 1,2 ]  # odd\nb: 2\ny:   |\n  a\n   b\n"},
		{"stamp", "b: 1\n", []Set{{"verified", []Stamp{{"human:a@b.c", "2026-01-01T00:00:00Z"}}}}, "b: 1\nverified:\n  - {by: human:a@b.c, at: 2026-01-01T00:00:00Z}\n"},
		{"block map", "g:\n    by: x\n    at: w\nb: 1\n", []Set{{"g", Stamp{"z", "t"}}}, "g:\n    by: z\n    at: t\nb: 1\n"},
		{"block list to map", "g:\n- a\nb: 1\n", []Set{{"g", Stamp{"z", "t"}}}, "g:\n  by: z\n  at: t\nb: 1\n"},
		{"emoji before", "\"🙂\": \"é 🙂\"\nb: 'é' # 🙂\n", []Set{{"b", "ü"}}, "\"🙂\": \"é 🙂\"\nb: 'ü' # 🙂\n"},
		{"hash in flow quote", "b: ['a # b', c] # d\n", []Set{{"b", []string{"c"}}}, "b: [c] # d\n"},
		{"apostrophe in plain", "b: it's # d\n", []Set{{"b", "c"}}, "b: c # d\n"},
		{"text that YAML would type", "b: x\n", []Set{{"b", "010"}, {"c", "yes"}, {"d", "Y"}, {"e", "null"}, {"f", "12:30"}, {"g", "1.0"}, {"h", ""}, {"i", "- x"}, {"j", "2026-01-01"}},
			"b: \"010\"\nc: \"yes\"\nd: \"Y\"\ne: \"null\"\nf: \"12:30\"\ng: \"1.0\"\nh: \"\"\ni: \"- x\"\nj: 2026-01-01\n"},
		{"types", "b: x\n", []Set{{"b", true}, {"i", int64(-3)}, {"f", 2.0}, {"g", 1e21}, {"c", Verified}, {"id", ID("a-b")}}, "b: true\ni: -3\nf: 2.0\ng: 1e+21\nc: verified\nid: a-b\n"},
		{"line breaks", "b: x\n", []Set{{"b", "one\ntwo\t\"three\""}}, "b: \"one\\ntwo\\t\\\"three\\\"\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			eol := "\n"
			if strings.Contains(tt.in, "\r") {
				eol = "\r\n"
			}
			indent := tt.in[:len(tt.in)-len(strings.TrimLeft(tt.in, " "))]
			wrap := func(s string) string {
				return "---" + eol + indent + "type: x" + eol + s + "---" + eol + "body\r\n---\n"
			}
			got, err := Edit([]byte(wrap(tt.in)), tt.sets...)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(wrap(tt.want), string(got)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

func TestEditRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		set      Set
		want     string
	}{
		{"no frontmatter", "x\n", Set{"a", "b"}, "no frontmatter"},
		{"broken frontmatter", "---\ntype: [x\n---\n", Set{"a", "b"}, "flow sequence"},
		{"flow block", "---\n{type: x}\n---\n", Set{"a", "b"}, "flow mapping"},
		{"type removed", "---\ntype: x\n---\n", Set{"type", nil}, "no type"},
		{"bad id", "---\ntype: x\n---\n", Set{"id", "../x"}, "not a name"},
		{"anchor that is used", "---\ntype: x\na: &a [1]\nb: *a\n---\n", Set{"a", "c"}, "anchor"},
		{"anchor that is reused", "---\ntype: x\nz: &a 1\na: &a 2\nb: *a\n---\n", Set{"a", "c"}, "would change b too"},
		{"compound key", "---\ntype: x\n? a\n: b\n---\n", Set{"a", "c"}, "by hand"},
		{"behind a document end", "---\ntype: x\n...\n---\n", Set{"a", "c"}, ""},
		{"channel", "---\ntype: x\n---\n", Set{"a", make(chan int)}, "cannot be written"},
		{"invalid text", "---\ntype: x\n---\n", Set{"a", "\xff"}, "not UTF-8"},
		{"UTF-16", "\xff\xfe", Set{"a", "x"}, "UTF-16"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Edit([]byte(tt.in), tt.set)
			if err == nil || got != nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "edit ") {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// A file that Parse refuses for its type can be mended.
func TestEditMends(t *testing.T) {
	t.Parallel()
	got, err := Edit([]byte("---\ntype: Y\nid: 007 # agent\n---\n"), Set{"type", "role"})
	var p Problem
	if err == nil || !errors.As(err, &p) {
		t.Fatalf("%q, %v; want the located problem of the id", got, err)
	}
	if got, err = Edit([]byte("---\ntitle: x\n---\n"), Set{"type", "role"}); err != nil || string(got) != "---\ntitle: x\ntype: role\n---\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReplaceBody(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"---\ntype: x # c\n---\nold\n": "---\ntype: x # c\n---\nnew\n",
		"---\r\ntype: x\r\n---\r\nold": "---\r\ntype: x\r\n---\r\nnew\n",
		"---\ntype: x\n---":            "---\ntype: x\n---\nnew\n",
		"no block":                     "no block",
	} {
		if got := string(ReplaceBody([]byte(in), []byte("new\n"))); got != want {
			t.Errorf("ReplaceBody(%q) = %q, want %q", in, got, want)
		}
	}
}

// awkward is a file in which the lines around the edited key are hard to keep.
const awkward = "---\n# head\ntype: x   # kind\n\na:   'one' # first\nb:\n- x\n# between\n- y: 1\n  z: [2, 3]\n\n# about c\nc: |\n  # text\n\n  more\n\n'd' : {p: q, r: \"s\"} # flow\ne: long\n  plain text\nf: &f [1]\ng:\n    by: me\n# tail\n---\n\nbody --- \r\n"

func drawValue(t *rapid.T, depth int) any {
	switch n := rapid.IntRange(0, 9).Draw(t, "shape"); {
	case n < 5 || depth == 0:
		return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "yes", "0", "1e3", "a: b", "a #b", "x:", "'", "\"", "\\", "---", "- a", "[", "{}", "~", "null", " x", "x ", "\u0085", "\u2028", "\ufeff", "\x00", "é", "🙂", "2026-01-02", "2026-01-02T03:04:05Z", "!x", "&x", "*x", "%x", "@x", "<<", "=", "?", ","})).Draw(t, "text")
	case n == 5:
		return rapid.Int().Draw(t, "int")
	case n == 6:
		return rapid.Float64Range(-1e300, 1e300).Draw(t, "float")
	case n == 7:
		return rapid.Bool().Draw(t, "bool")
	case n == 8:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			out = append(out, drawValue(t, depth-1))
		}
		return out
	}
	out := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "len") {
		out[rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"by", "at", "a b", "", "1", "a: b", "on"})).Draw(t, "key")] = drawValue(t, depth-1)
	}
	return out
}

// Any value can be set on any key of an awkward file, is read back, and leaves
// every line that is not the key's own.
func TestEditAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "new", "on", "key: odd"}).Draw(t, "key")
		v := drawValue(t, 3)
		out, err := Edit([]byte(awkward), Set{key, v})
		if err != nil {
			t.Fatalf("%s = %#v: %v", key, v, err)
		}
		a, err := Parse("x.md", out)
		if err != nil {
			t.Fatal(err)
		}
		if f, _ := a.Field(key); !reflect.DeepEqual(f.Value, v) {
			t.Fatalf("%s = %#v, want %#v\n%s", key, f.Value, v, out)
		}
		for _, keep := range []string{"# head\n", "type: x   # kind\n", "# about c\n", "# tail\n---\n", "\n\nbody --- \r\n"} {
			if key != "b" && key != "new" && key != "on" && key != "key: odd" && !bytes.Contains(out, []byte(keep)) {
				t.Fatalf("lost %q\n%s", keep, out)
			}
		}
		again, err := Edit(out, Set{key, v})
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("second edit differs: %v\n%s", err, again)
		}
		gone, err := Edit(out, Set{key, nil})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := Parse("x.md", gone); err != nil || len(b.Fields) != len(a.Fields)-1 {
			t.Fatalf("not removed: %v\n%s", err, gone)
		}
	})
}

func FuzzEdit(f *testing.F) {
	f.Add([]byte(awkward), "a", "v")
	f.Add([]byte(awkward), "b", "x: y")
	f.Add([]byte("---\ntype: x\r\n---\n"), "type", "no")
	f.Fuzz(func(t *testing.T, b []byte, key, v string) {
		before, err := Parse("x.md", b)
		if err != nil {
			return
		}
		out, err := Edit(b, Set{key, v})
		if err != nil {
			return
		}
		after, err := Parse("x.md", out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if !bytes.Equal(after.Body(), before.Body()) {
			t.Fatalf("body changed\n%s", out)
		}
		if got := after.Text(key); got != v {
			t.Fatalf("%q, want %q\n%s", got, v, out)
		}
	})
}
