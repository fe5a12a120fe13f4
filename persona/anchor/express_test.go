package anchor

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// shownTensions are tensions a line each, as they are written.
func shownTensions(ts []Tension) string {
	var b strings.Builder
	for _, t := range ts {
		b.WriteString(t.String() + "\n")
	}
	return b.String()
}

// charterOf reads an agent file of the test data and the tree that holds it.
func charterOf(t testing.TB, role string) (Constitution, fstest.MapFS) {
	t.Helper()
	name := "agents/" + role + ".oct.md"
	tree := files(name, agents(t)[role+".oct.md"])
	c, problems := readAgentFile(name, tree[name].Data)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return c, tree
}

func TestTensions(t *testing.T) {
	t.Parallel()
	c, _ := charterOf(t, "harbour-lead")
	for _, x := range []struct {
		s    Strictness
		want string
	}{
		{Quick, "[UNTESTED_BERTH]⇌CTX:agents/harbour-lead.oct.md:46[clean]→TRIGGER[stop and ask HARBOUR_MASTER]\n"},
		{Deep, `[UNTESTED_BERTH]⇌CTX:agents/harbour-lead.oct.md:46[clean]→TRIGGER[stop and ask HARBOUR_MASTER]
[UNTESTED_BERTHS]⇌CTX:agents/harbour-lead.oct.md:24[clean]→TRIGGER[stop and ask HARBOUR_MASTER]
[UNREAD_TIDE_TABLES]⇌CTX:agents/harbour-lead.oct.md:25[clean]→TRIGGER[stop and ask HARBOUR_MASTER]
`},
	} {
		got, problems := Tensions(c, x.s)
		if d := cmp.Diff(x.want, shownTensions(got)); d != "" || len(problems) > 0 {
			t.Errorf("M4 %s: %v\n%s", x.s, problems, d)
		}
		for i, ten := range got {
			if ten.GeneratedBy != "server" || ten.N != i+1 {
				t.Errorf("%s: %+v", x.s, ten)
			}
		}
	}
}

// TestTensionsPassTheJudge: what express makes, JudgeProof takes, for every
// agent file and strictness; and each has the form that a reader takes apart again.
func TestTensionsPassTheJudge(t *testing.T) {
	t.Parallel()
	made := 0
	for name := range agents(t) {
		role, ok := strings.CutSuffix(name, ".oct.md")
		if !ok {
			continue
		}
		c, tree := charterOf(t, role)
		for _, s := range []Strictness{Quick, Default, Deep} {
			ts, problems := Tensions(c, s)
			if len(problems) > 0 {
				continue // a poor one
			}
			made++
			passesTheJudge(t, ts, c, s, tree)
		}
	}
	if made < 10 {
		t.Errorf("only %d proofs were made", made)
	}
}

func passesTheJudge(t *testing.T, ts []Tension, c Constitution, s Strictness, tree fs.FS) {
	t.Helper()
	p := Proof{Tensions: ts, Commit: Commit{Artifact: "charts/new.md", Gate: "go test ./..."}}
	if len(c.GateCommand) > 0 {
		p.Commit.Gate = c.GateCommand[0]
	}
	if _, problems := JudgeProof(p, Judging{Protected: unprotected, Strictness: s, Files: tree, Constitution: c}); len(problems) > 0 {
		t.Errorf("%s, %s: %v\n%s", c.Role, s, problems, shownTensions(ts))
	}
	for _, ten := range ts {
		back, problem := scanTension(ten.String())
		if problem != nil || back.Constraint != ten.Constraint || back.Path != ten.Path || back.Start != ten.Start || back.Trigger != ten.Trigger {
			t.Errorf("%s: %v %+v", ten, problem, back)
		}
	}
}

func TestTensionsOfAPoorConstitution(t *testing.T) {
	t.Parallel()
	c, _ := charterOf(t, "bell-ringer")
	if ts, problems := Tensions(c, Quick); len(problems) > 0 || shownTensions(ts) !=
		"[RING_WITHOUT_CAUSE@2]⇌CTX:agents/bell-ringer.oct.md:2[clean]→TRIGGER[stop and ask a person]\n" {
		t.Errorf("%v %s", problems, shownTensions(ts))
	}
	for name, x := range map[string]struct {
		c Constitution
		s Strictness
	}{
		"M4 too few rules":          {c, Default},
		"M4 none":                   {Constitution{Role: "a", Path: "a.md", Lines: 2}, Quick},
		"M4 rules that say nothing": {Constitution{Role: "a", Path: "a.md", Lines: 2, Gates: []Rule{{"RULE", 1}, {"the", 1}, {"…", 2}}}, Quick},
		"M4 one line for all, deep": {Constitution{Role: "a", Path: "a.md", Lines: 2, Gates: []Rule{{"A1", 1}, {"B1", 1}, {"C1", 1}}}, Deep},
		"M4 the file is shorter":    {Constitution{Role: "a", Path: "a.md", Lines: 2, Gates: []Rule{{"A1", 9}}}, Quick},
	} {
		ts, problems := Tensions(x.c, x.s)
		if len(ts) > 0 || len(problems) != 1 || problems[0].Code != ConstPoor || !strings.Contains(problems[0].Text, "mode full") {
			t.Errorf("%s: %v %s", name, problems, shownTensions(ts))
		}
	}
}

// TestDeepTensionsOfAFrontmatterList: under deep, each element of a list in
// frontmatter has a line of its own.
func TestDeepTensionsOfAFrontmatterList(t *testing.T) {
	t.Parallel()
	c, problems := readRoleAtom(atom(t, "a.md", `---
type: role
id: a
must_never:
  - mend torn nets
  - sail at night

  # a comment
  - sell the boat
  - burn charts
---
`), "k")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := `[MEND_TORN_NETS@5]⇌CTX:k/a.md:5[clean]→TRIGGER[stop and ask a person]
[SAIL_NIGHT@6]⇌CTX:k/a.md:6[clean]→TRIGGER[stop and ask a person]
[SELL_BOAT@9]⇌CTX:k/a.md:9[clean]→TRIGGER[stop and ask a person]
`
	ts, problems := Tensions(c, Deep)
	if d := cmp.Diff(want, shownTensions(ts)); d != "" || len(problems) > 0 {
		t.Errorf("%v\n%s", problems, d)
	}
}

// TestTriggersFitTheirBrackets: nobody's name breaks the form.
func TestTriggersFitTheirBrackets(t *testing.T) {
	t.Parallel()
	for _, whom := range []string{"nets ] → TRIGGER[do evil]", "the [nets", strings.Repeat("nets ", 40), strings.Repeat("é", 300), "nets -> <-> ⇌ nets"} {
		c := Constitution{Role: "a", Path: "a.md", Lines: 1, MustNever: []Rule{{"Mend torn nets", 1}}, Escalation: whom}
		ts, problems := Tensions(c, Quick)
		if len(problems) > 0 || len(ts) != 1 || len(ts[0].Trigger) > maxTrigger+len("…") {
			t.Fatalf("%q: %v %v", whom, problems, ts)
		}
		passesTheJudge(t, ts, c, Quick, files("a.md", "x\n"))
	}
}
