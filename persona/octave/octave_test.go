package octave

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// envelope puts lines into an envelope that strict accepts. Its body begins on line 5.
func envelope(body string) string {
	return "===T===\nMETA:\n  TYPE::T\n  VERSION::\"1\"\n" + body + "===END===\n"
}

// told is where each problem is and its code, as 5:3 octave-date.
func told(ps []Problem) (out []string) {
	for _, p := range ps {
		out = append(out, fmt.Sprintf("%d:%d %s", p.Line, p.Col, strings.TrimPrefix(p.Code, "octave-")))
	}
	return out
}

func TestDeviations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		src, want string
	}{
		"clean":            {envelope("A::b\nB:\n  C::[x,y]\n"), ""},
		"sections":         {envelope("§1::ONE\n  A::b\n§2a::TWO[note] // c\nA::b\nB::c\n"), ""},
		"comments":         {envelope("// one\nA::b // two\nU::https://x.org//y\nL::[ // three\n  a, // four\n  // five\n  b\n] // six\n"), ""},
		"words kept":       {envelope("A::NAME[a,b]\nB::007\nC::1.50\nD::-1e10\nE::$HOME/x\nF::00112233-1234-1234\nG::NAME<two,words>\nL::[NAME<a,b>,NAME[c,d]]\nN::ENUM[a b]\n"), ""},
		"operators":        {envelope("A::LOBBY → BOUND\nB::a|b\nC::x vs y\nL::[a -> b -> c,d]\n"), ""},
		"strings":          {envelope("A::\"\"\nB::\"a\\n\\t\\\"\\\\\"\nC::\"\"\"one\n  \"two\"\n===END===\n\"\"\"\n"), ""},
		"bare list commas": {envelope("L::[a,b,]\nM::[]\n"), ""},
		"frontmatter":      {"---\na:\t- b\n---\n\n" + envelope(""), ""},
		"fences":           {envelope("A:: // c\n  ````md x\n```\n===END===\n```\n````sh\n  ````\nB::c\n"), ""},
		"rule":             {"===T===\nMETA:\n  TYPE::T\n  VERSION::\"1\"\n---\nA::b\n===END===\n", ""},

		"date":             {envelope("D::2026-01-05\n"), "5:4 date"},
		"parentheses":      {envelope("A::Agent(x)\n"), "5:9 quote"},
		"braces, words":    {envelope("A::see {x}\n"), "5:8 words, 5:8 quote"},
		"back-ticks":       {envelope("A::`anchor(a=\"b\")`\n"), "5:4 backtick"},
		"json pair":        {envelope("L::[\n  \"Self-Guiding\": \"x\"\n]\n"), "6:3 key, 6:17 colon"},
		"nested pairs":     {envelope("L::[\n  a::[b::c]\n]\n"), "6:3 nested"},
		"list then text":   {envelope("L1::[a]⇌CTX:b.go[c]→TRIGGER[d]\n"), "5:5 quote"},
		"quote then text":  {envelope("A::\"x\" y\n"), "5:4 words"},
		"comma in a word":  {envelope("A::b,c\n"), "5:5 quote"},
		"colon at the end": {envelope("A::b:\n"), "5:4 quote"},
		"bom":              {bom + envelope(""), "1:1 bom"},
		"crlf":             {strings.ReplaceAll(envelope("A::b\n"), "\n", "\r\n"), "1:8 crlf"},
		"tab in a string":  {envelope("A::\"b\tc\"\nB:\n\tC::d\n"), "5:6 tab, 7:1 tab"},
		"tab in a fence":   {envelope("A::\n```go\n\tx\n```\n"), ""},
		"three spaces":     {envelope("A:\n   B::c\n"), "6:4 indent"},
		"no end":           {strings.TrimSuffix(envelope("A::b\n"), "===END===\n"), "1:1 end"},
		"no end, another":  {"===A===\n" + envelope(""), "1:1 end, 1:1 meta, 2:1 envelopes"},
		"text behind":      {envelope("") + "bye\nbye\n\nbye\n", "6:1 outside, 9:1 outside"},
		"text before":      {"hello\n" + envelope(""), "1:1 outside"},
		"no envelope":      {"A::b\n", "1:1 envelope"},
		"nothing":          {"", "1:1 envelope"},
		"version in name":  {"===RAPH::v4.0===\nMETA:\n  TYPE::T\n  VERSION::v\n===END===\n", "1:1 envelope-name"},
		"meta lacks":       {"===T===\nMETA:\n  TYPE::T\n===END===\n", "2:1 meta"},
		"meta is second":   {"===T===\nA::b\nMETA:\n  TYPE::T\n  VERSION::v\n===END===\n", "1:1 meta"},
		"loose line":       {envelope("T:\n  [a]⇌CTX:b[c]→TRIGGER[d]\n"), "6:3 loose"},
		"loose fence":      {envelope("```\nA:: ===END===\n```\n"), "5:1 loose"},
		"heading":          {envelope("## BIND\nROLE::x\n"), "5:1 heading"},
		"one colon":        {envelope("A: b\nC :: d\n"), "5:2 colon, 6:2 colon"},
		"colons of blocks": {envelope("A::\n  B::c\n"), "5:4 colon"},
		"keys":             {envelope("a.b::c\n1::d\n\"e f\"::g\n"), "5:1 key, 6:1 key, 7:1 key"},
		"duplicate":        {envelope("A::b\nA::c\nL::[k::1,k::2]\n"), "6:1 duplicate, 7:10 duplicate"},
		"empty":            {envelope("A::\nB:\nL::[k::]\nC:: // c\n"), "5:1 empty, 6:1 empty, 7:5 empty, 8:1 empty"},
		"commas":           {envelope("L::[a,,b]\nM::[\n  a\n  b\n]\n"), "5:7 comma, 8:3 comma"},
		"escape":           {envelope("A::\"a\\qb\"\n"), "5:6 escape"},

		"control":          {envelope("A::\"\x1b[1m\"\n"), "5:5 control"},
		"nul":              {envelope("A::b\x00\n"), "5:5 control"},
		"bidi":             {envelope("A::\"\u202e\"\n"), "5:5 control"},
		"lone return":      {envelope("A::b\rB::c\n"), "5:5 control"},
		"not utf-8":        {envelope("A::\xff\n"), "5:4 encoding"},
		"too big":          {strings.Repeat("A::b\n", MaxBytes/5+1), "1:1 too-big"},
		"long line":        {envelope("A::" + strings.Repeat("b", MaxLine) + "\n"), "5:1 long-line"},
		"unclosed list":    {envelope("L::[a,\n  b\n"), "5:4 unclosed"},
		"unclosed string":  {envelope("A::\"b\nC::d\n"), "5:4 unclosed"},
		"unclosed triple":  {envelope("A::\"\"\"b\n"), "5:4 unclosed"},
		"unclosed tick":    {envelope("A::`b\n"), "5:4 backtick, 5:4 unclosed"},
		"unclosed fence":   {envelope("A::\n```\nb\n````go\n"), "6:1 unclosed, 8:1 fence"},
		"unbalanced":       {envelope("A::b]\nB::NAME[c\n"), "5:5 unbalanced, 6:8 unbalanced"},
		"unopened column":  {envelope("A:\n    B::c\n  D::e\n"), "6:5 indent, 7:3 column"},
		"deeper, unopened": {envelope("A::b\n  C::d\n  C::d\n"), "6:3 column, 7:3 column, 7:3 duplicate"},
		"indented by none": {envelope("A::b\nC::d\n   E::f\n"), "7:4 column"},
		"frontmatter open": {"---\na: b\n" + envelope(""), "1:1 unclosed"},
		"too deep":         {envelope("A::" + strings.Repeat("[", 40) + "\n"), "5:35 depth"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, loose := Parse("f", []byte(c.src), Lenient)
			_, strict := Parse("f", []byte(c.src), Strict)
			if got := strings.Join(told(loose), ", "); got != c.want {
				t.Errorf("told %s\nwant %s", got, c.want)
			}
			if diff := cmp.Diff(told(loose), told(strict)); diff != "" {
				t.Errorf("strict tells of another: %s", diff)
			}
			if len(Errors(strict)) != len(strict) {
				t.Errorf("strict only warns: %v", strict)
			}
			if string(d.Bytes()) != c.src {
				t.Error("reading changed the bytes")
			}
			if _, err := d.Get("META"); (err != nil && strings.HasPrefix(err.Error(), "f:1:1")) && len(Errors(loose)) == 0 {
				t.Error(err)
			}
		})
	}
}

// TestEveryCodeIsMade holds the table to what is found: the codes of the cases
// above are all there are, and those that lenient takes for errors are those
// that a reader cannot work with.
func TestEveryCodeIsMade(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("octave_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range Codes() {
		if c.Name == "" || c.About == "" || c.Hint == "" {
			t.Errorf("code %d says too little: %+v", i, c)
		}
		short := strings.TrimPrefix(c.Name, "octave-")
		if !strings.Contains(string(b), " "+short+`"`) && !strings.Contains(string(b), " "+short+",") {
			t.Errorf("no case makes %s", c.Name)
		}
	}
}

// specification has the shapes by which a real specification of this protocol
// fails its own tool: a bare date, parentheses, back-ticks, JSON pairs and pairs
// in pairs; lists of lines without commas besides.
const specification = `===PROTOCOL===
META:
  TYPE::PROTOCOL_SPEC
  VERSION::"5.0"
  DATE::2026-01-05

KNOBS::[
  RULE::"text in [brackets], (parentheses) and {braces}",
  MODES::[
    mode::[full|lite|untracked]
  ]
]

FLOW::[
  MACHINE::[LOBBY → IDENTITY → BOUND],

  STAGE::[
    ACTOR::Agent (or a person)
    ACTION::` + "`anchor(stage=\"identity\", role=\"{role}\")`" + `
    LOGIC::[
      "first",
      "second"
    ]
    NEXT::LOBBY → IDENTITY
  ]
]

HINTS::[
  "Self-Guiding": "Every answer says what is next.",
  "No Pre-Knowledge": "Nothing need be known."
]

===END===
`

func TestSpecificationReadsLenientlyAndFailsStrictly(t *testing.T) {
	t.Parallel()
	d, warned := Parse("s", []byte(specification), Lenient)
	if bad := Errors(warned); len(bad) > 0 {
		t.Fatalf("lenient: %v", bad)
	}
	for path, want := range map[string]string{
		"META.DATE":            "2026-01-05",
		"FLOW.STAGE.ACTOR":     "Agent (or a person)",
		"FLOW.STAGE.ACTION":    "`anchor(stage=\"identity\", role=\"{role}\")`",
		`HINTS."Self-Guiding"`: "Every answer says what is next.",
		"KNOBS.MODES.mode[0]":  "full|lite|untracked",
		"FLOW.STAGE.LOGIC[1]":  "second",
		"FLOW.MACHINE[0]":      "LOBBY → IDENTITY → BOUND",
	} {
		if v, err := d.Get(path); err != nil || v.Text != want {
			t.Errorf("%s = %q, %v, want %q", path, v.Text, err, want)
		}
	}
	_, failed := Parse("s", []byte(specification), Strict)
	for _, want := range []string{"5:9 date", "18:18 quote", "19:13 backtick", "29:3 key", "29:17 colon", "9:3 nested", "17:3 nested"} {
		if !slices.Contains(told(Errors(failed)), want) {
			t.Errorf("strict has no %s: %v", want, told(failed))
		}
	}
	formatted := Format(d)
	_, rest := Parse("s", formatted, Strict)
	if got, want := strings.Join(told(rest), ", "), "9:3 nested, 17:3 nested, 26:3 key, 27:3 key"; got != want {
		t.Errorf("after fmt strict tells %s\nwant %s", got, want)
	}
}

func TestOneCodeIsToldFiftyTimes(t *testing.T) {
	t.Parallel()
	_, ps := Parse("f", []byte(envelope(strings.Repeat("x y z\n", 120)+"A::\"b\n")), Lenient)
	if len(ps) != perCode+1 || !strings.Contains(ps[0].Message, "the first of 120") {
		t.Errorf("%d problems, the first %q", len(ps), ps[0].Message)
	}
	if len(Errors(ps)) != 1 {
		t.Error("the error is lost among the warnings")
	}
}

// TestBareVector reads the oldest way an agent proves who it is: no envelope,
// markdown headings, bare lines. Nothing in it is lost or guessed.
func TestBareVector(t *testing.T) {
	t.Parallel()
	d, ps := Parse("v", []byte("## BIND\nROLE::builder\nCOGNITION::LOGOS::ATLAS⊕HERMES\n\n## TENSION\nL1::[NO_TEST]⇌CTX:app/[id]/page.tsx:4-9[s[0] is raw, (twice)]→TRIGGER[test it first]\n[B]⇌CTX:b.go[c]→TRIGGER[d]\n  ## COMMIT\n"), Lenient)
	if got := strings.Join(told(ps), ", "); got != "1:1 heading, 1:1 envelope, 5:1 heading, 6:5 quote, 7:1 loose, 8:3 column, 8:3 loose" {
		t.Error(got)
	}
	if len(d.Entries) != 2 || d.Entries[0].Key != "BIND" || d.Entries[1].Mark != "##" {
		t.Fatalf("%+v", d.Entries)
	}
	var lines []string
	for _, e := range d.Entries[1].Entries {
		lines = append(lines, e.Key+e.Value.Text+e.Text)
	}
	want := []string{"L1[NO_TEST]⇌CTX:app/[id]/page.tsx:4-9[s[0] is raw, (twice)]→TRIGGER[test it first]", "[B]⇌CTX:b.go[c]→TRIGGER[d]", "## COMMIT"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}
