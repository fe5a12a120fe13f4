package octave

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", rough, specification, canonical, envelope("A::b\n"), "## BIND\nROLE::r\n## TENSION\n[a]⇌CTX:b[c]→TRIGGER[d]\n",
		envelope("A::[a:, // c\n\"b\": c,,\nd]\nB::```\n"), envelope("A::\n  B::c\nA::`x\nL::[\n"), "A:\n //c\n  // d\nB::\"\"\"\n\"\"\"x\n",
		"===A===\n===B===\n===END===\n---\n", envelope("§1::A\n// c\n#2::B[x] // y\nA::x vs y -> z\n"), envelope("A::NAME<a,b>(c,\"d\")[e\n]\n"),
		"\ufeff---\na\n---\nx\n```\n===A===\n```\n", envelope("K::[a\n]b\nK2::\"\\q\\\"\" \"\"\"x\"\"\"\n"), "=== ===", "0: 0 vs", "  ---", "K: [\"0 ", envelope("A\u00a0::b\n\u2003C::d\n"),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, ps := Parse("f", []byte(s), Lenient)
		if string(d.Bytes()) != s {
			t.Fatal("reading changed the bytes")
		}
		_, strict := Parse("f", []byte(s), Strict)
		if len(strict) != len(ps) || len(Errors(strict)) != len(strict) {
			t.Fatalf("strict: %v\nlenient: %v", strict, ps)
		}
		for _, p := range ps {
			if p.Line < 1 || p.Col < 1 || p.Line > 1+strings.Count(s, "\n") || p.Code == "" {
				t.Fatalf("not a place: %+v", p)
			}
		}
		if len(s) <= MaxBytes {
			if _, p := parse("f", []byte(s)); p.ops > perByte*(len(s)+10) {
				t.Fatalf("%d bytes looked at for %d", p.ops, len(s))
			}
		}
		spans(t, d, d.Entries, 0, len(s))
		if len(Errors(ps)) > 0 {
			return
		}
		formats(t, d)
		sets(t, d, d.Entries)
	})
}

// perByte bounds how often a byte is looked at, whatever the file.
const perByte = 40

// spans checks that entries lie in their parent, in order and apart, and that
// raw text is what stands there.
func spans(t *testing.T, d *Doc, all []*Entry, from, to int) {
	for _, e := range all {
		if e.from < from || e.to < e.from || e.to > to {
			t.Fatalf("span %d:%d of %+v outside of %d:%d", e.from, e.to, e, from, to)
		}
		v := e.Value
		if e.Kind == Pair || e.Kind == Item {
			if v.from < e.from || v.to > e.to || d.err == nil && v.Raw != d.src[v.from:v.to] {
				t.Fatalf("value %d:%d %q of %+v", v.from, v.to, v.Raw, e)
			}
			spans(t, d, v.Items, v.from, max(v.to, e.to))
		}
		spans(t, d, e.Entries, e.from, e.to)
		from = e.to
	}
}

// formats checks that fmt loses nothing, is done at once and ends what it says it ends.
func formats(t *testing.T, d *Doc) {
	out := Format(d)
	again, ps := Parse("f", out, Lenient)
	for _, p := range ps {
		switch p.Code {
		case "octave-bom", "octave-crlf", "octave-indent", "octave-end", "octave-colon", "octave-words", "octave-quote", "octave-backtick", "octave-date", "octave-comma", "octave-escape":
			t.Fatalf("after fmt: %v\n%s", p, out)
		}
		if p.Severity == Error && len(out) <= MaxBytes {
			t.Fatalf("after fmt: %v\n%s", p, out)
		}
	}
	if was, is := tree(d.Entries), tree(again.Entries); was != is {
		t.Fatalf("fmt changed what is said:\n%s\nto:\n%s\n%s", was, is, out)
	}
	if twice := Format(again); !bytes.Equal(out, twice) {
		t.Fatalf("fmt:\n%s\nand then:\n%s", out, twice)
	}
	left := out
	for _, r := range strings.ReplaceAll(d.src, "vs", "") {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		i := bytes.IndexRune(left, r)
		if i < 0 {
			t.Fatalf("fmt lost %q\n%s", r, out)
		}
		left = left[i:]
		left = left[len(string(r)):]
	}
}

// tree is what entries say, without how.
func tree(all []*Entry) string {
	var b strings.Builder
	for _, e := range all {
		v := e.Value
		text := v.Text
		if x, ok := formatExpression(v.Text); ok && v.Kind == Word {
			text = x
		}
		note := e.Text
		if e.Kind == Comment {
			note = formatComment(note)
		}
		if e.Kind == Loose {
			note = strings.Join(strings.Fields(note), " ")
		}
		fmt.Fprintf(&b, "%d %q %q %q %q %q %v(%s)(%s)\n", e.Kind, e.Key, strings.TrimPrefix(e.Mark, "§"), note, formatComment(e.Comment), text, v.Kind == List, tree(v.Items), tree(e.Entries))
	}
	return b.String()
}

// sets replaces a few values and checks that the rest is as it was.
func sets(t *testing.T, d *Doc, all []*Entry) {
	tried := 0
	for _, e := range all {
		in := e.Entries
		if e.Kind != Envelope {
			in = []*Entry{e}
		}
		for _, e := range in {
			if tried++; tried > 3 || e.Key == "" {
				return
			}
			path := formatPath([]step{{e.Key, -1}})
			for _, text := range []string{"plain", "a, \"b\"] // c\n"} {
				v, err := d.Get(path)
				got, err2 := d.Set(path, text)
				if err != nil || err2 != nil {
					continue
				}
				from, to := v.from, v.to
				if v.Kind == Fence {
					from, to = v.bodyFrom, v.bodyTo
				}
				if !bytes.HasPrefix(got, []byte(d.src[:from])) || !bytes.HasSuffix(got, []byte(d.src[to:])) {
					t.Fatalf("set %s changed more than its span:\n%s\n%s", path, d.src, got)
				}
				next, _ := Parse("f", got, Lenient)
				if n, err := next.Get(path); err != nil || strings.TrimSuffix(n.Text, "\n") != strings.TrimSuffix(text, "\n") {
					t.Fatalf("set %s: %q, %v", path, n.Text, err)
				}
			}
		}
	}
}

// TestLinear reads what makes readers slow, half and whole: the bytes that are
// looked at are bounded for each, and twice the file is not much more than twice the work.
func TestLinear(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]string{
		"brackets open":    "[\n",
		"brackets":         "[]",
		"brackets closed":  "]\n",
		"deep lists":       strings.Repeat("[", 30) + strings.Repeat("]", 30) + ",\n",
		"deep, then words": strings.Repeat("[", 30) + strings.Repeat("]x", 30) + ",\n",
		"braces":           "({[a]})\n",
		"quotes":           "\"\n",
		"quotes in a line": "\"a\" ",
		"triples":          "\"\"\"\n",
		"back-ticks":       "`\n",
		"fences":           "```\nx\n",
		"fences open":      "K::\n```\n````x\n",
		"angles":           "A<a,",
		"escapes":          "\\\"",
		"keys":             "a",
		"pairs":            "K::v\n",
		"one colon":        "K:\n",
		"two colons":       "K::\n\n",
		"words":            "a -> b c ",
		"commas":           ",",
		"comments":         "  // c\n",
		"comments, blocks": "K:\n    // c\n",
		"blank lines":      "\n",
		"blanks":           "   \n",
		"stairs":           "A:\n  B:\n    C:\n      D::e\n",
		"envelopes":        "===A===\n",
		"ends":             "===A===\n===END===\n",
		"almost envelopes": "===A=== x\n",
		"rules":            "---\n",
		"comments, rules":  "// c\n---\n",
		"sections":         "§1::A\n",
		"headings":         "# A\n",
		"tabs":             "\t\n",
		"returns":          "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := MaxBytes / 16
			if strings.HasPrefix(name, "brackets") {
				size = MaxBytes
			}
			for _, head := range []string{"", "===T===\nL::[\n", "A::"} {
				half, whole := work(head, unit, size/2), work(head, unit, size)
				if whole > perByte*size || float64(whole) > 2.2*float64(half)+1000 {
					t.Errorf("%q: %d bytes looked at for half a file, %d for a whole one", head, half, whole)
				}
			}
		})
	}
}

// work is how many bytes are looked at in a file of n bytes of units, in lines
// as long as a line may be.
func work(head, unit string, n int) int {
	line := unit
	if !strings.Contains(unit, "\n") {
		line = strings.Repeat(unit, min(n/4, MaxLine-10)/len(unit)) + "\n"
	}
	src := head + strings.Repeat(line, n/len(line)+1)
	_, p := parse("f", []byte(strings.ToValidUTF8(src[:n], "")))
	return p.ops
}
