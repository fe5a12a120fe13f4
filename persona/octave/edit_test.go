package octave

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rough is a file with all that a careless editor leaves behind.
const rough = bom + "---\r\nname: x\r\n---\r\nsaid before\r\n===T===  \r\nMETA:\r\n   TYPE::T \t// kind\r\n   VERSION::\"1\"\r\n\r\n\r\nB:\r\n\tE::\r\n\tROLE :: two words   // why\r\n  L::[ a ,\"b, c\", k: v,\r\n // note\r\n [x,y] ]\r\nF::\r\n```sh\r\n\tls\r\n```\r\nT::\"\"\"one\r\ntwo\"\"\"\r\n===END===\r\nsaid after\t"

func TestSetChangesOneSpan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, text, old, new string }{
		{"META.VERSION", "1.1", `"1"`, `"1.1"`},
		{"META.TYPE", "U", "T \t//", "U \t//"},
		{"META.TYPE", "a b", "T \t//", `"a b" ` + "\t//"},
		{"META.TYPE", "", "T \t//", `"" ` + "\t//"},
		{"B.E", "7", "E::\r", "E::7\r"},
		{"B.E", "x: \"y\"\n", "E::\r", `E::"x: \"y\"\n"` + "\r"},
		{"B.ROLE", "builder", "two words", "builder"},
		{"B.L[0]", "2026-01-05", "[ a", `[ "2026-01-05"`},
		{"B.L[0]", "a::b", "[ a", `[ "a::b"`},
		{"B.L[1]", "b", `"b, c"`, `"b"`},
		{"B.L[2]", "w", "k: v", "k: w"},
		{"B.L.k", "w", "k: v", "k: w"},
		{"B.L[3][1]", "z", "[x,y]", "[x,z]"},
		{"F", "cat\nrm", "\tls\r\n", "cat\r\nrm\r\n"},
		{"F", "", "\tls\r\n", ""},
		{"T", "x", "\"\"\"one\r\ntwo\"\"\"", `"x"`},
		{"B.ROLE", "`x`", "two words", "\"`x`\""},
	} {
		d, ps := Parse("f", []byte(rough), Lenient)
		if bad := Errors(ps); len(bad) > 0 {
			t.Fatal(bad)
		}
		got, err := d.Set(c.path, c.text)
		if err != nil {
			t.Errorf("set %s %q: %v", c.path, c.text, err)
			continue
		}
		if strings.Count(rough, c.old) != 1 {
			t.Fatalf("%q is not there once", c.old)
		}
		if diff := cmp.Diff(strings.Replace(rough, c.old, c.new, 1), string(got)); diff != "" {
			t.Errorf("set %s %q: %s", c.path, c.text, diff)
		}
		if string(d.Bytes()) != rough {
			t.Error("set changed the document it was read from")
		}
	}
}

func TestSetRaw(t *testing.T) {
	t.Parallel()
	src := envelope("A::b // c\nL::[x,y]\nF::\n```\n```\n")
	d, _ := Parse("f", []byte(src), Lenient)
	for _, c := range []struct{ path, raw, want string }{
		{"A", "[p,\n  q]", "A::[p,\n  q] // c"},
		{"A", `"""p"""`, `A::"""p""" // c`},
		{"L", "[]", "L::[]"},
		{"L[0]", "[a]", "L::[[a],y]"},
	} {
		got, err := d.SetRaw(c.path, c.raw)
		if err != nil || !strings.Contains(string(got), c.want) {
			t.Errorf("%s %q: %v, %s", c.path, c.raw, err, got)
		}
	}
	for _, c := range [][2]string{{"A", "x // y"}, {"A", "x\nB::y"}, {"A", "[x"}, {"A", ""}, {"A", " x"}, {"L[0]", "a,b"}, {"L[0]", "k::b"}, {"L[0]", "a]"}, {"F", "x"}, {"META", "x"}, {"A", "\x1b"}} {
		if got, err := d.SetRaw(c[0], c[1]); err == nil {
			t.Errorf("%s %q was taken: %s", c[0], c[1], got)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	d, _ := Parse("f", []byte(envelope("A::b\nA::c\nB:\n  NAME::y\nL::[x]\nF::\n````\nx\n````\n")), Lenient)
	for path, want := range map[string]string{
		"B":            "a block",
		"L":            "a list",
		"L[1]":         "1 elements",
		"A[0]":         "ambiguous",
		"B[0]":         "not a list",
		"B.NAMES":      "did you mean B.NAME?",
		"META.VERSOIN": "did you mean META.VERSION?",
		"Q":            "there is META, A, B, L, F",
		"U/A":          "not a path",
		"":             "not a path",
		"B..X":         "not a path",
		"B.X.":         "not a path",
		"L[x]":         "not a path",
		"L[0":          "not a path",
		`"B`:           "not a path",
	} {
		if _, err := d.Set(path, "v"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	for path, text := range map[string]string{"F": "````", "B.NAME": "a\rb", "L[0]": "\u202e"} {
		if got, err := d.Set(path, text); err == nil {
			t.Errorf("%s = %q was written: %s", path, text, got)
		}
	}
	var two *Ambiguous
	if _, err := d.Get("A"); !errors.As(err, &two) || !cmp.Equal(two.Lines, []int{5, 6}) || two.Refused() != "octave-ambiguous" {
		t.Errorf("A: %v", err)
	}
	broken, _ := Parse("f", []byte(envelope("A::b\nL::[\n")), Lenient)
	if _, err := broken.Get("A"); err == nil || !strings.Contains(err.Error(), "octave-unclosed") {
		t.Errorf("a broken document answered: %v", err)
	}
	if got := Format(broken); string(got) != string(broken.Bytes()) {
		t.Errorf("a broken document was formatted: %s", got)
	}
}

func TestPathsOfSeveralEnvelopes(t *testing.T) {
	t.Parallel()
	d, _ := Parse("f", []byte("===A===\n§1::S\nK::one\n===END===\n===B===\nS:\n  K::two\n===END===\n"), Lenient)
	if _, err := d.Get("S.K"); err == nil || !strings.Contains(err.Error(), "ambiguous") {
		t.Error(err)
	}
	if v, err := d.Get("§1.K"); err != nil || v.Text != "one" {
		t.Errorf("%q, %v", v.Text, err)
	}
}
