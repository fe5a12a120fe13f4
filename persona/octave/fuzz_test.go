package octave

import (
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", envelope("A::b\n"), "## BIND\nROLE::r\n## TENSION\n[a]⇌CTX:b[c]→TRIGGER[d]\n",
		envelope("A::[a:, // c\n\"b\": c,,\nd]\nB::```\n"), envelope("A::\n  B::c\nA::`x\nL::[\n"), "A:\n //c\n  // d\nB::\"\"\"\n\"\"\"x\n",
		"===A===\n===B===\n===END===\n---\n", envelope("§1::A\n// c\n#2::B[x] // y\nA::x vs y -> z\n"), envelope("A::NAME<a,b>(c,\"d\")[e\n]\n"),
		"\ufeff---\na\n---\nx\n```\n===A===\n```\n", envelope("K::[a\n]b\nK2::\"\\q\\\"\" \"\"\"x\"\"\"\n"), "=== ===", "0: 0 vs", "  ---", "K: [\"0 ", envelope("A\u00a0::b\n\u2003C::d\n"),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		entries, problems := Parse([]byte(s))
		last := 1 + strings.Count(s, "\n")
		for _, p := range problems {
			if p.Line < 1 || p.Line > last || p.Message == "" || p.Hint == "" {
				t.Fatalf("not a place: %+v", p)
			}
		}
		checkLines(t, entries, 1, last)

		quoted := envelope("A::" + Quote(s) + "\n")
		entries, problems = Parse([]byte(quoted))
		if len(problems) > 0 { // a character that no file may hold
			return
		}
		if got := entries[0].Items[1].Text; got != s {
			t.Fatalf("%q came back as %q", s, got)
		}
	})
}

// checkLines checks that entries lie in their parent, in order.
func checkLines(t *testing.T, all []*Entry, from, to int) {
	for _, e := range all {
		if e.Line < from || e.Line > to {
			t.Fatalf("%+v outside of the lines %d to %d", e, from, to)
		}
		checkLines(t, e.Items, e.Line, to)
		from = e.Line
	}
}
