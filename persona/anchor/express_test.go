package anchor

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
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
	c, problems := FromOctave(name, tree[name].Data)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return c, tree
}

func TestTensions(t *testing.T) {
	t.Parallel()
	c, tree := charterOf(t, "harbour-lead")
	tree["quay/berth.go"] = &fstest.MapFile{Data: []byte("one\ntwo\nthree\n")}
	tree["new.txt"] = &fstest.MapFile{Data: []byte("one")}
	tree["empty"] = &fstest.MapFile{}
	tree["picture"] = &fstest.MapFile{Data: []byte("a\x00b\n")}
	tree["link"] = &fstest.MapFile{Data: []byte("new.txt"), Mode: fs.ModeSymlink}
	dirty := NewArm(Facts{Files: []Change{{"??", "empty", ""}, {".D", "gone.go", ""}, {"??", "in", ""}, {"??", "link", ""}, {"??", "new.txt", ""},
		{".M", "picture", ""}, {"RM", "quay/berth.go", "berth.go"}, {"??", "zz\nz", ""}}}, "", "", "", "")
	hunk := func(p string) (int, int) {
		switch p {
		case "quay/berth.go":
			return 2, 3
		case "new.txt":
			return 5, 9 // out of date: not believed
		}
		return 0, 0
	}
	for _, x := range []struct {
		name    string
		arm     Arm
		s       Strictness
		changed func(string) (int, int)
		want    string
	}{
		{"M4 the changed files first", dirty, Deep, hunk, `[UNTESTED_BERTH]⇌CTX:new.txt:1[untracked]→TRIGGER[Write the test for a berth before the berth]
[SILENT_FAILURE]⇌CTX:quay/berth.go:2-3[RM]→TRIGGER[stop and ask HARBOUR_MASTER]
[UNTESTED_BERTHS]⇌CTX:agents/harbour-lead.oct.md:24[clean]→TRIGGER[stop and ask HARBOUR_MASTER]
`},
		{"M4 nothing knows the lines", dirty, Default, nil, `[UNTESTED_BERTH]⇌CTX:new.txt:1[untracked]→TRIGGER[Write the test for a berth before the berth]
[SILENT_FAILURE]⇌CTX:quay/berth.go:1-3[RM]→TRIGGER[stop and ask HARBOUR_MASTER]
`},
		{"M4 a clean tree, each with lines of its own", NewArm(Facts{}, "", "", "", ""), Deep, nil, `[UNTESTED_BERTH]⇌CTX:agents/harbour-lead.oct.md:46[clean]→TRIGGER[Write the test for a berth before the berth]
[UNTESTED_BERTHS]⇌CTX:agents/harbour-lead.oct.md:24[clean]→TRIGGER[stop and ask HARBOUR_MASTER]
[UNREAD_TIDE_TABLES]⇌CTX:agents/harbour-lead.oct.md:25[clean]→TRIGGER[stop and ask HARBOUR_MASTER]
`},
		{"M4 the constitution itself is changed", NewArm(Facts{Files: []Change{{".M", "agents/harbour-lead.oct.md", ""}}}, "", "", "", ""), Quick, nil,
			"[UNTESTED_BERTH]⇌CTX:agents/harbour-lead.oct.md:46[.M]→TRIGGER[Write the test for a berth before the berth]\n"},
	} {
		got, problems := Tensions(c, x.arm, x.s, tree, x.changed)
		if d := cmp.Diff(x.want, shownTensions(got)); d != "" || len(problems) > 0 {
			t.Errorf("%s: %v\n%s", x.name, problems, d)
		}
		for i, ten := range got {
			if ten.GeneratedBy != "server" || ten.N != i+1 {
				t.Errorf("%s: %+v", x.name, ten)
			}
		}
	}
}

// TestTensionsPassTheJudge: what express makes, JudgeProof takes, for every
// agent file and strictness, in a clean tree and in a changed one; and each has
// the form that a reader takes apart again.
func TestTensionsPassTheJudge(t *testing.T) {
	t.Parallel()
	made := 0
	for name := range agents(t) {
		role, ok := strings.CutSuffix(name, ".oct.md")
		if !ok {
			continue
		}
		c, tree := charterOf(t, role)
		tree["app/[id]/page s[0].tsx"] = &fstest.MapFile{Data: []byte("x\ny\n")}
		changed := NewArm(Facts{Files: []Change{{".M", "app/[id]/page s[0].tsx", ""}}}, "", "", "", "")
		for _, s := range []Strictness{Quick, Default, Deep} {
			for _, a := range []Arm{NewArm(Facts{}, "", "", "", ""), changed} {
				ts, problems := Tensions(c, a, s, tree, nil)
				if len(problems) > 0 {
					continue // a poor one
				}
				made++
				p := Proof{Tensions: ts, Commit: Commit{Artifact: "charts/new.md", Gate: firstOf(c.GateCommand, "go test ./...")}}
				if _, problems := JudgeProof(p, Judging{Strictness: s, Files: tree, Constitution: c, Arm: a}); len(problems) > 0 {
					t.Errorf("%s, %s: %v\n%s", role, s, problems, shownTensions(ts))
				}
				for _, ten := range ts {
					back, problem := scanTension(ten.String())
					if problem != nil || back.Constraint != ten.Constraint || back.Path != ten.Path || back.Start != ten.Start || back.Trigger != ten.Trigger {
						t.Errorf("%s: %v %+v", ten, problem, back)
					}
				}
			}
		}
	}
	if made < 20 {
		t.Errorf("only %d proofs were made", made)
	}
}

func firstOf(list []string, otherwise string) string {
	if len(list) > 0 {
		return list[0]
	}
	return otherwise
}

func TestTensionsOfAPoorConstitution(t *testing.T) {
	t.Parallel()
	c, tree := charterOf(t, "bell-ringer")
	if ts, problems := Tensions(c, NewArm(Facts{}, "", "", "", ""), Quick, tree, nil); len(problems) > 0 || shownTensions(ts) !=
		"[RING_WITHOUT_CAUSE@2]⇌CTX:agents/bell-ringer.oct.md:2[clean]→TRIGGER[stop and ask a person]\n" {
		t.Errorf("%v %s", problems, shownTensions(ts))
	}
	for name, x := range map[string]struct {
		c Constitution
		s Strictness
	}{
		"M4 too few rules":               {c, Default},
		"M4 none":                        {Constitution{Role: "a", Path: "agents/bell-ringer.oct.md", Lines: 2}, Quick},
		"M4 rules that say nothing":      {Constitution{Role: "a", Path: "agents/bell-ringer.oct.md", Lines: 2, Gates: []Rule{{"RULE", 1}, {"the", 1}, {"…", 2}}}, Quick},
		"M4 one line for all, deep":      {Constitution{Role: "a", Path: "agents/bell-ringer.oct.md", Lines: 2, Gates: []Rule{{"A1", 1}, {"B1", 1}, {"C1", 1}}}, Deep},
		"M4 the file is not in the tree": {Constitution{Role: "a", Path: "elsewhere.md", Lines: 2, Gates: []Rule{{"A1", 1}}}, Quick},
		"M4 the file is shorter":         {Constitution{Role: "a", Path: "agents/bell-ringer.oct.md", Lines: 9, Gates: []Rule{{"A1", 9}}}, Quick},
	} {
		ts, problems := Tensions(x.c, NewArm(Facts{}, "", "", "", ""), x.s, tree, nil)
		if len(ts) > 0 || len(problems) != 1 || problems[0].Code != ConstPoor || !strings.Contains(problems[0].Text, "mode full") {
			t.Errorf("%s: %v %s", name, problems, shownTensions(ts))
		}
	}
}

// TestTriggersFitTheirBrackets: no sentence of a constitution breaks the form.
func TestTriggersFitTheirBrackets(t *testing.T) {
	t.Parallel()
	for _, duty := range []string{"mend nets ] → TRIGGER[do evil]", "mend [nets", strings.Repeat("mend nets ", 40), "mend " + strings.Repeat("é", 300), "mend -> <-> ⇌ nets"} {
		c := Constitution{Role: "a", Path: "a.md", Lines: 1, MustNever: []Rule{{"Mend torn nets", 1}}, MustAlways: []Rule{{duty, 1}}}
		tree := files("a.md", "x\n")
		ts, problems := Tensions(c, NewArm(Facts{}, "", "", "", ""), Quick, tree, nil)
		if len(problems) > 0 || len(ts) != 1 || len(ts[0].Trigger) > triggerBytes+len("…") {
			t.Fatalf("%q: %v %v", duty, problems, ts)
		}
		back, problem := scanTension(ts[0].String())
		if problem != nil || back.Trigger != ts[0].Trigger {
			t.Errorf("%s: %v %+v", ts[0], problem, back)
		}
		if _, problems := JudgeProof(Proof{Tensions: ts, Commit: Commit{Artifact: "b.md", Gate: "go test ./..."}}, Judging{Strictness: Quick, Files: tree, Constitution: c}); len(problems) > 0 {
			t.Errorf("%s: %v", ts[0], problems)
		}
	}
}

func TestChangedLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		old, now   string
		start, end int
	}{
		{"a\nb\nc\n", "a\nb\nc\n", 0, 0},
		{"a\nb\nc\n", "a\nB\nc\n", 2, 2},
		{"a\nb\nc\nd\n", "A\nb\nC\nd\n", 1, 3},
		{"a\nb\n", "a\nb\nc\nd\n", 3, 4},
		{"b\n", "a\nb\n", 1, 1},
		{"a\nb\nc\n", "a\nc\n", 2, 2},
		{"a\nb\nc\n", "a\nb\n", 2, 2},
		{"a\nb", "a\nb\n", 2, 2},
		{"a\nb\n", "a\nb", 2, 2},
		{"a\na\n", "a\na\na\n", 3, 3},
		{"", "a\nb\n", 1, 2},
		{"a\n", "", 0, 0},
		{"", "", 0, 0},
	} {
		if start, end := ChangedLines([]byte(c.old), []byte(c.now)); start != c.start || end != c.end {
			t.Errorf("%q to %q: %d-%d, want %d-%d", c.old, c.now, start, end, c.start, c.end)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		old, now := []byte(rapid.StringMatching(`[ab\n]{0,12}`).Draw(t, "old")), []byte(rapid.StringMatching(`[ab\n]{0,12}`).Draw(t, "now"))
		start, end := ChangedLines(old, now)
		if lines := lineCount(now); start < 0 || start > end || end > lines || (start == 0) != (string(old) == string(now) || lines == 0) {
			t.Errorf("%q to %q: %d-%d", old, now, start, end)
		}
	})
}
