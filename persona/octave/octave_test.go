package octave

import (
	"fmt"
	"strings"
	"testing"
)

// envelope puts lines into an envelope. Its body begins on line 5.
func envelope(body string) string {
	return "===T===\nMETA:\n  TYPE::T\n  VERSION::\"1\"\n" + body + "===END===\n"
}

// outline writes entries in one line: KEY=text for a pair, KEY{…} for what has entries.
func outline(all []*Entry) string {
	var parts []string
	for _, e := range all {
		switch key := e.Key + "="; {
		case e.Kind == Envelope || e.Kind == Block && e.Key == "META":
			if s := outline(e.Items); e.Kind == Envelope {
				parts = append(parts, s)
			}
		case e.Kind == Loose:
			parts = append(parts, "~"+e.Text)
		case e.Kind == Block, e.Kind == Section:
			parts = append(parts, e.Key+"{"+outline(e.Items)+"}")
		case e.Kind == List:
			parts = append(parts, e.Key+"["+outline(e.Items)+"]")
		default:
			parts = append(parts, strings.TrimPrefix(key, "=")+e.Text)
		}
	}
	return strings.Join(parts, " ; ")
}

func TestWhatIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ src, want string }{
		"pairs":            {envelope("A::b\nB:\n  C::[x,y]\n  D::e\nF::g\n"), "A=b ; B{C[x ; y] ; D=e} ; F=g"},
		"sections":         {envelope("§1::ONE\n  A::b\n§2a::TWO-B[note] // c\nA::b\n#3::X\nB::c\n"), "ONE{A=b} ; TWO-B{A=b} ; X{B=c}"},
		"no section":       {envelope("§1b2::ONE\n§::A\n§1::A x\n"), "~§1b2::ONE ; ~§::A ; ~§1::A x"},
		"comments":         {envelope("// one\nA::b // two\nU::https://x.org//y\nL::[ // three\n  a, // four\n  // five\n  b\n] // six\n"), "A=b ; U=https://x.org//y ; L[a ; b]"},
		"words":            {envelope("A::NAME[a,b]\nB::007\nC::NAME<two,words>\nL::[NAME<a,b>,NAME[c,d],a < b, -> c]\n"), "A=NAME[a,b] ; B=007 ; C=NAME<two,words> ; L[NAME<a,b> ; NAME[c,d] ; a < b ; -> c]"},
		"strings":          {envelope("A::\"\"\nB::\"a\\n\\t\\\"\\\\\\q\"\nC::\"\"\"one\n===END===\n\"\"\"\n"), "A= ; B=a\n\t\"\\\\q ; C=one\n===END===\n"},
		"fences":           {envelope("A:: // c\n  ````md x\n```\n===END===\n```\n  ````\nB::c\n```\nD::e\n```\n"), "A=```\n===END===\n```\n ; B=c ; ~```\nD::e\n"},
		"bare list commas": {envelope("L::[a,,b,]\nM::[\n  a\n  b c\n]\nN::[]\n"), "L[a ; b] ; M[a ; b c] ; N[]"},
		"pairs in lists":   {envelope("L::[\n  \"a b\": \"x\",\n  a::[b :: c, d: e]\n]\n"), "L[a b=x ; a[b=c ; d=e]]"},
		"frontmatter":      {"---\na:\t- b\n---\n\n" + envelope("A::b\n"), "A=b"},
		"no envelope":      {"A::b\nB: c\n===END===\n", "A=b ; B=c"},
		"text outside":     {"hello\n" + envelope("A::b\n") + "bye\n===U===\nC::d\n", "A=b ; C=d"},
		"no end, another":  {"===A===\nA::b\n===B===\nC::d\n", "A=b ; C=d"},
		"fenced envelope":  {"A::\n```\n===X===\n```\nB::c\n", "A====X===\n ; B=c"},
		"bom and crlf":     {"\ufeff" + strings.ReplaceAll(envelope("A::b\nB:\n\tC::d\n"), "\n", "\r\n"), "A=b ; B{C=d}"},
		"one colon":        {envelope("A: b\nC :: d\n\"e f\":g\nh:i\nj: \"k\"\n"), "A=b ; C=d ; e f=g ; ~h:i ; j=k"},
		"colons of blocks": {envelope("A::\n\n  B::c\nC::\n\nD:: // x\n"), "A{B=c} ; C= ; D="},
		"loose lines":      {envelope("T:\n  [a]⇌CTX:b[c]→TRIGGER[d]\n  and\n"), "T{~[a]⇌CTX:b[c]→TRIGGER[d] ; ~and}"},
		"words in one":     {envelope("A::\"x\" y\nB::[a]⇌c\nC::`anchor(a=\"b\")`\n"), "A=\"x\" y ; B=[a]⇌c ; C=`anchor(a=\"b\")`"},
		"headings":         {"## BIND\nROLE::x\n\n## TENSION\n[B]⇌CTX:b.go[c]→TRIGGER[d]\n## two words\n", "BIND{ROLE=x} ; TENSION{~[B]⇌CTX:b.go[c]→TRIGGER[d] ; ~## two words}"},
		"twice":            {envelope("A::b\nA::c\n"), "A=b ; A=c"},
		"nothing":          {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries, problems := Parse([]byte(c.src))
			if got := outline(entries); got != c.want || len(problems) > 0 {
				t.Errorf("read  %s\nwant  %s\nproblems %v", got, c.want, problems)
			}
		})
	}
}

func TestWhatLeavesTheStructureInDoubt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ src, want string }{
		"control":          {envelope("A::\"\x1b[1m\"\n"), "5: a control"},
		"bidi":             {envelope("A::\"\u202e\"\n"), "5: a control"},
		"lone return":      {envelope("A::b\rB::c\n"), "5: a control"},
		"not utf-8":        {envelope("A::\xff\n"), "5: the file is not UTF-8"},
		"too big":          {strings.Repeat("A::b\n", MaxBytes/5+1), "1: the file is over"},
		"unclosed list":    {envelope("L::[a,\n  b\n\n"), "5: a [ is opened"},
		"unclosed string":  {envelope("A::\"b\nC::d\n"), "5: a \" is opened"},
		"unclosed triple":  {envelope("A::\"\"\"b\n"), "5: \"\"\" is opened"},
		"unclosed tick":    {envelope("A::`b\n"), "5: a ` is opened"},
		"unclosed fence":   {envelope("A::\n```\nb\n````go\n"), "6: the fence is not closed"},
		"unbalanced":       {envelope("A::b]\nB::NAME[c\n"), "5: a bracket, 6: a bracket"},
		"unopened column":  {envelope("A:\n    B::c\n  D::e\n"), "7: the line stands at a column"},
		"deeper, unopened": {envelope("A::b\n  C::d\n  C::d\n"), "6: the line stands, 7: the line stands"},
		"frontmatter open": {"---\na: b\n" + envelope(""), "1: the frontmatter"},
		"too deep a list":  {envelope("A::" + strings.Repeat("[", 40) + "\n"), "5: more than 32 lists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := Parse([]byte(c.src))
			want := strings.Split(c.want, ", ")
			if len(problems) != len(want) {
				t.Fatalf("%v, want %v", problems, want)
			}
			for i, p := range problems {
				if got := fmt.Sprintf("%d: %s", p.Line, p.Message); !strings.HasPrefix(got, want[i]) || p.Hint == "" {
					t.Errorf("told %s (%s), want %s", got, p.Hint, want[i])
				}
			}
		})
	}
	if _, ps := Parse([]byte(envelope(strings.Repeat("A::b]\n", 200)))); len(ps) != maxProblems {
		t.Errorf("%d problems are told", len(ps))
	}
}

// TestSpecification reads the shapes of the real specification of the protocol: bare
// dates, parentheses, back-ticks, JSON pairs, and lists of lines without commas.
func TestSpecification(t *testing.T) {
	t.Parallel()
	entries, problems := Parse([]byte("===PROTOCOL===\nMETA:\n  DATE::2026-01-05\n\nFLOW::[\n  MACHINE::[LOBBY → IDENTITY → BOUND],\n\n  STAGE::[\n" +
		"    ACTOR::Agent (or a person)\n    ACTION::`anchor(stage=\"identity\", role=\"{role}\")`\n    LOGIC::[\n      \"first\",\n      \"second\"\n    ]\n" +
		"    NEXT::LOBBY → IDENTITY\n  ]\n]\n\nHINTS::[\n  \"Self-Guiding\": \"says what is next\"\n]\n\n===END===\n"))
	want := "FLOW[MACHINE[LOBBY → IDENTITY → BOUND] ; STAGE[ACTOR=Agent (or a person) ; ACTION=`anchor(stage=\"identity\", role=\"{role}\")` ; LOGIC[first ; second]" +
		" ; NEXT=LOBBY → IDENTITY]] ; HINTS[Self-Guiding=says what is next]"
	if got := outline(entries); got != want || len(problems) > 0 {
		t.Errorf("read %s\nwant %s\n%v", got, want, problems)
	}
}

// TestLongLines would take minutes if a byte of a line were looked at once for each element.
func TestLongLines(t *testing.T) {
	t.Parallel()
	for _, one := range []string{"a,", "\"a\",", "a::b,", "NAME<a>,", "[a],", "a ", "`a` ", "a // b ", "(a)"} {
		src := "L::[" + strings.Repeat(one, MaxBytes/4/len(one)) + "]\n"
		if _, problems := Parse([]byte(src)); len(problems) > 1 {
			t.Errorf("%s: %v", one, problems)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"builder": "builder", "a.b-c_2": "a.b-c_2", "": `""`, "true": `"true"`, "vs": `"vs"`, "a-": `"a-"`, ".a": `".a"`, "2a": `"2a"`, "a b": `"a b"`, "ä": `"ä"`,
	} {
		if got := Plain(text); got != want {
			t.Errorf("Plain(%q) = %s, want %s", text, got, want)
		}
	}
}
