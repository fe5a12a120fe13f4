package octave

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ src, want string }{
		"rough": {rough, `---
name: x
---
said before
===T===
META:
  TYPE::T // kind
  VERSION::"1"

B:
  E::""
  ROLE::"two words" // why
  L::[
    a,
    "b, c",
    k::v,
    // note
    [x,y]
  ]
F::
` + "```sh\n\tls\n```" + `
T::"""one
two"""
===END===
said after
`},
		"operators": {
			envelope("A::LOBBY -> BOUND\nB::a vs b\nC::[full|lite, a <-> b+c~d&e]\nD::\"a -> b | c\"\n"),
			envelope("A::LOBBY→BOUND\nB::a⇌b\nC::[full∨lite,a⇌b⊕c⧺d∧e]\nD::\"a -> b | c\"\n"),
		},
		"not operators": {
			envelope("A::feat/x+y\nB::a.b|c\nC::C++\nD::1+2\nE::a||b\nF::x->\nG::R[a|b]\nH::https://a+b\nI::1e+5\nJ::a-b\n"),
			envelope("A::feat/x+y\nB::a.b|c\nC::C++\nD::1+2\nE::a||b\nF::x->\nG::R[a|b]\nH::https://a+b\nI::1e+5\nJ::a-b\n"),
		},
		"paths with spaces stay": {envelope("A::a/b -> c.d\n"), envelope("A::a/b -> c.d\n")},
		"lossless words":         {envelope("A::007\nB::1.50\nC::1e5\nD::NAME[two words]\nE::ENUM[a,b]\n"), envelope("A::007\nB::1.50\nC::1e5\nD::NAME[two words]\nE::ENUM[a,b]\n")},
		"lists":                  {envelope("A::[ ]\nB::[a , b,]\nC::[a,b,c]\nD::[k::v]\n"), envelope("A::[]\nB::[a,b]\nC::[\n  a,\n  b,\n  c\n]\nD::[\n  k::v\n]\n")},
		"missing end":            {"===T===\nA::b\n", "===T===\nA::b\n===END===\n"},
		"sections":               {envelope("#1::A\n   K::v\n§2::B[x y]\nK::v\n"), envelope("§1::A\n  K::v\n§2::B[x y]\nK::v\n")},
		"headings":               {"## BIND\nROLE::r\n## COMMIT\nGATE::g (x)\n", "## BIND\nROLE::r\n## COMMIT\nGATE::\"g (x)\"\n"},
		"comments keep scope":    {envelope("A:\n    // one\n    B::c\n    // two\n// three\nD::e\n"), envelope("A:\n  // one\n  B::c\n  // two\n// three\nD::e\n")},
		"tabs":                   {envelope("A::\"a\tb\"\nB::a\tb // c\td\nC::\"\"\"x\ty\"\"\"\n"), envelope("A::\"a\\tb\"\nB::\"a\\tb\" // c d\nC::\"x\\ty\"\n")},
		"escapes":                {envelope("A::\"a\\qb\"\n"), envelope("A::\"a\\\\qb\"\n")},
		"empty lines":            {envelope("\n\nA::b\n\n\n\nB:\n\n  C::d\n\n"), envelope("\nA::b\n\nB:\n  C::d\n\n")},
		"keys":                   {envelope("\"A\": \"b\"\n\"c d\"::e\nf.g::h\n"), envelope("A::\"b\"\n\"c d\"::e\nf.g::h\n")},
		"colon at the end":       {envelope("L::[a:, // c\n b, \"d\" \"e\"]\n"), envelope("L::[\n  \"a:\", // c\n  b,\n  \"\\\"d\\\" \\\"e\\\"\"\n]\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, ps := Parse("f", []byte(c.src), Lenient)
			if bad := Errors(ps); len(bad) > 0 {
				t.Fatal(bad)
			}
			if diff := cmp.Diff(c.want, string(Format(d))); diff != "" {
				t.Error(diff)
			}
			again, _ := Parse("f", []byte(c.want), Lenient)
			if got := string(Format(again)); got != c.want {
				t.Errorf("the second time it is another: %s", cmp.Diff(c.want, got))
			}
		})
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"builder": "builder", "a.go": "a.go", "oa-7f": "oa-7f", "_x": "_x",
		"": `""`, "true": `"true"`, "vs": `"vs"`, "5.0": `"5.0"`, "a-": `"a-"`, "a b": `"a b"`, "a/b": `"a/b"`,
		"[x]⇌y": `"[x]⇌y"`, "a\\b\"\n\t": `"a\\b\"\n\t"`, "é": `"é"`, "//x": `"//x"`,
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

const canonical = `===IDENTITY===
META:
  TYPE::IDENTITY
  VERSION::"5.0"
BIND:
  ROLE::implementation-lead
  COGNITION::LOGOS
  ARCHETYPES::[
    HEPHAESTUS,
    ATLAS,
    HERMES
  ]
  AUTHORITY::"RESPONSIBLE[fix drain lock]"
ARM:
  PHASE::B1
  BRANCH::"feat/x[1↑0↓]"
  FILES::3
  TOP_FILES::["a.go","b.go"]
  FOCUS::issue-12
  CONTEXT_HASH::"sha256:00ff"
TENSIONS:
  L1::"[UNTESTED]⇌CTX:app/[id]/page.tsx:40-58[s[0] is \"raw\"]→TRIGGER[test it first]"
  L2::"[A]⇌CTX:b.go[c]→TRIGGER[d]"
COMMIT:
  ARTIFACT::"cmd/drain_test.go"
  GATE::"go test ./cmd/ -run Drain"
===END===
`

func TestCanonicalPayload(t *testing.T) {
	t.Parallel()
	d, ps := Parse("p", []byte(canonical), Strict)
	if len(ps) > 0 {
		t.Errorf("strict refuses it: %v", ps)
	}
	if again := Format(d); string(again) != canonical {
		t.Errorf("fmt changes it: %s", cmp.Diff(canonical, string(again)))
	}
}

// TestValuesSayWhatTheyWereGiven takes any text: what Plain and Quote write reads
// strictly, and every value is the text that went in.
func TestValuesSayWhatTheyWereGiven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab01_-. /\\\"'`[](){}<>:,=#§→⇌+|~&@\n\té")), 0, 20, -1)
		role, gate, one, two := text.Draw(t, "role"), text.Draw(t, "gate"), text.Draw(t, "one"), text.Draw(t, "two")
		src := []byte("===IDENTITY===\nMETA:\n  TYPE::IDENTITY\n  VERSION::\"5.0\"\nBIND:\n  ROLE::" + Plain(role) + "\n  ARCHETYPES::[" + Plain(one) + "," + Quote(two) +
			"]\nCOMMIT:\n  GATE::" + Quote(gate) + "\n===END===\n")
		d, ps := Parse("p", src, Strict)
		if len(ps) > 0 || string(Format(d)) != string(src) {
			t.Fatalf("%v\n%s", ps, src)
		}
		for path, want := range map[string]string{
			"BIND.ROLE": role, "BIND.ARCHETYPES[0]": one, "BIND.ARCHETYPES[1]": two, "COMMIT.GATE": gate,
		} {
			if v, err := d.Get(path); err != nil || v.Text != want {
				t.Fatalf("%s = %q, %v, want %q", path, v.Text, err, want)
			}
		}
		changed, err := d.Set("COMMIT.GATE", strings.ToUpper(role))
		if err != nil {
			t.Fatal(err)
		}
		d, _ = Parse("p", changed, Strict)
		if v, err := d.Get("COMMIT.GATE"); err != nil || v.Text != strings.ToUpper(role) {
			t.Fatalf("after set %q, %v", v.Text, err)
		}
	})
}
