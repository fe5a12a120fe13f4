package anchor

import (
	"encoding/json"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func sampleArm() Arm {
	return NewArm(Facts{Head: "0123", Branch: "fix/issue-12", Upstream: "origin/main", Ahead: 1, Behind: 2,
		Files: []Change{{".M", "b.go", ""}, {"R.", "a.go", "old.go"}, {"??", "c&<d>.go", ""}}}, "B1", "issue-12", FocusIssue, "ab")
}

// TestArmSum: the hash is of canonical JSON that anybody can write again.
func TestArmSum(t *testing.T) {
	t.Parallel()
	a := sampleArm()
	canonical := `{"ahead":1,"behind":2,"branch":"fix/issue-12","constitution_sha256":"ab","files":[["R.","a.go","old.go"],[".M","b.go",""],["??","c&<d>.go",""]],` +
		`"focus":"issue-12","focus_source":"issue","head_oid":"0123","phase":"B1","upstream":"origin/main","v":1}`
	if want := "sha256:" + hexSum([]byte(canonical)); a.Hash != want || a.Sum() != want {
		t.Errorf("%s, want %s", a.Hash, want)
	}
	var record Arm
	b, err := json.Marshal(a)
	if err == nil {
		err = json.Unmarshal(b, &record)
	}
	if err != nil || record.Sum() != a.Hash || len(compareArms(record, a, "then")) > 0 {
		t.Errorf("from its record: %v %s", err, cmp.Diff(a, record))
	}
	if empty := NewArm(Facts{}, "", "", "", ""); empty.Files == nil || len(compareArms(empty, empty, "then")) > 0 {
		t.Errorf("%+v", empty)
	}
}

// TestArmKeepsOddNames: a name that is not UTF-8 survives its record.
func TestArmKeepsOddNames(t *testing.T) {
	t.Parallel()
	a := NewArm(Facts{Files: []Change{{"??", "a\xff", ""}, {"??", "a\xfe", ""}}}, "", "", "", "")
	b, err := json.Marshal(a)
	var record Arm
	if err == nil {
		err = json.Unmarshal(b, &record)
	}
	if err != nil || len(compareArms(record, a, "then")) > 0 || a.Files[0].Path == a.Files[1].Path {
		t.Errorf("%v %+v", err, a.Files)
	}
}

// TestDriftCoversEveryMember changes each field of an ARM in turn: the hash
// moves, and the drift names that member and no other.
func TestDriftCoversEveryMember(t *testing.T) {
	t.Parallel()
	for i := range reflect.TypeFor[Arm]().NumField() {
		f := reflect.TypeFor[Arm]().Field(i)
		seen, now := sampleArm(), sampleArm()
		v := reflect.ValueOf(&now).Elem().Field(i)
		switch {
		case f.Name == "Hash":
			continue
		case f.Name == "Files":
			now.Files = append(now.Files[:1:1], Change{"M.", "b.go", ""})
		case v.Kind() == reflect.Int:
			v.SetInt(v.Int() + 1)
		default:
			v.SetString(v.String() + "x")
		}
		now.Hash = now.Sum()
		got := compareArms(seen, now, "then")
		name := strings.Split(f.Tag.Get("json"), ",")[0]
		if len(got) != 1 || got[0].At != "ARM."+name || got[0].Want == got[0].Found || now.Hash == seen.Hash {
			t.Errorf("%s: %+v", f.Name, got)
		}
		if name == "files" && (got[0].Want != ".M b.go, ?? c&<d>.go" || got[0].Found != "M. b.go") {
			t.Errorf("files: %+v", got[0])
		}
	}
}

func TestDriftOfAForgedRecord(t *testing.T) {
	t.Parallel()
	seen, now := sampleArm(), sampleArm()
	seen.Branch = "main"
	got := compareArms(seen, now, "then")
	if len(got) != 2 || got[0].At != "ARM.context_hash" || got[1].Want != "main" || got[1].Found != "fix/issue-12" {
		t.Errorf("%+v", got)
	}
	now.Files = nil
	for _, n := range strings.Fields("a b c d e f g") {
		now.Files = append(now.Files, Change{"??", n, ""})
	}
	if got := compareArms(sampleArm(), now, "then"); got[0].Found != "?? a, ?? b, ?? c, ?? d, ?? e, and 2 more" {
		t.Errorf("%+v", got)
	}
}

// TestDriftAgreesWithTheHash: there is a drift exactly where hashes differ.
func TestDriftAgreesWithTheHash(t *testing.T) {
	t.Parallel()
	arm := rapid.Custom(func(t *rapid.T) Arm {
		word := rapid.SampledFrom([]string{"", "a", "b"})
		var f Facts
		f.Head, f.Branch, f.Ahead = word.Draw(t, "head"), word.Draw(t, "branch"), rapid.IntRange(0, 1).Draw(t, "ahead")
		for _, p := range []string{"x", "y", "z"} {
			if xy := word.Draw(t, p); xy != "" {
				f.Files = append(f.Files, Change{XY: xy, Path: p, From: word.Draw(t, "from")})
			}
		}
		return NewArm(f, word.Draw(t, "phase"), word.Draw(t, "focus"), word.Draw(t, "source"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := arm.Draw(t, "a"), arm.Draw(t, "b")
		if (len(compareArms(a, b, "then")) == 0) != (a.Hash == b.Hash) {
			t.Errorf("%+v\n%+v\n%+v", a, b, compareArms(a, b, "then"))
		}
	})
}

func TestFocus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ topic, branch, focus, source string }{
		{" the\nlock ", "fix/issue-12", "the lock", FocusTopic},
		{"", "fix/issue-12", "issue-12", FocusIssue},
		{"", "Issues-7-and-8", "issue-7", FocusIssue},
		{"", "feat/#31-lock", "issue-31", FocusIssue},
		{"", "x#9", "issue-9", FocusIssue},
		{"", "feat/tissue-12", "feat: tissue-12", FocusBranch},
		{"", "feat/issue-", "feat: issue-", FocusBranch},
		{"", "docs/a/b", "docs: a/b", FocusBranch},
		{"", "feat/", "general", FocusGeneral},
		{"", "main", "general", FocusGeneral},
		{"", "detached[01234567]", "general", FocusGeneral},
		{"", "", "general", FocusGeneral},
		{"\u202e \u200b", "main", "general", FocusGeneral},
	} {
		if f, s := Focus(c.topic, c.branch); f != c.focus || s != c.source {
			t.Errorf("%q on %q: %q from %s", c.topic, c.branch, f, s)
		}
	}
}

func TestPhase(t *testing.T) {
	t.Parallel()
	const context = ".hestai/context/PROJECT-CONTEXT.oct.md"
	page := func(meta string) string {
		return "===P===\nMETA:\n  TYPE::\"P\"\n  VERSION::\"1\"\n" + meta + "===END===\n"
	}
	for _, c := range []struct {
		name  string
		tree  fstest.MapFS
		phase string
		want  string // begins the problem
	}{
		{"a project without phases", files("README.md", ""), "", ""},
		{"context", files(context, page("  PHASE::B1_FOUNDATION_COMPLETE\n")), "B1_FOUNDATION_COMPLETE", ""},
		{"quoted, in a section", files(context, page("§1::NOW\n  PHASE::\"D2\"\n")), "D2", ""},
		{"with a note", files(context, page("  PHASE::B2[since May]\n")), "B2", ""},
		{"R11 missing", files(context, page("")), "", context + ": it says no phase"},
		{"R11 only in a comment or a list", files(context, page("// PHASE::B1\nSTEPS::[PHASE::B1]\n")), "", context + ": it says no phase"},
		{"R12 placeholder", files(context, page("  PHASE::TB"+"D\n")), "", context + ":5: PHASE::TB" + "D says nothing yet"},
		{"R12 unknown", files(context, page("  PHASE::unknown\n")), "", context + ":5: PHASE::unknown says nothing"},
		{"R12 empty", files(context, page("  PHASE::\"\"\n")), "", context + ":5: PHASE:: says nothing"},
		{"R12 a place to fill", files(context, page("  PHASE::\"<phase>\"\n")), "", context + ":5: PHASE::<phase> says nothing"},
		{"R12 a sentence", files(context, page("  PHASE::\"soon, we hope\"\n")), "", context + ":5: the phase is no word"},
		{"R12 two phases", files(context, page("  PHASE::B1\n§1::X\n  PHASE::B2\n")), "", context + ":7: a second phase"},
		{"R13 not OCTAVE", files(context, "===P===\nX::[\n"), "", context + ":2:"},
		{"R13 not text", files(context, "\xff\xfe"), "", context + ":1:"},
		{"R13 too big", files(context, strings.Repeat("x", 1<<20+1)), "", context + ": it is over 1 MiB"},
		{"R13 a directory", files(context+"/x", ""), "", context + ": it is no regular file"},
		{"R13 a link", fstest.MapFS{context: {Data: []byte("../x"), Mode: fs.ModeSymlink}, ".hestai/x": {Data: []byte("PHASE::B1")}}, "", context + ": it is no regular file"},
	} {
		phase, problem := Phase(c.tree)
		if phase != c.phase || !strings.HasPrefix(problem, c.want) || (c.want == "") != (problem == "") {
			t.Errorf("%s: %q %q", c.name, phase, problem)
		}
	}
	if phase, problem := Phase(unreadable{}); phase != "" || problem == "" {
		t.Errorf("R13 nothing can be read: %q %q", phase, problem)
	}
}

// unreadable is a tree that refuses everything.
type unreadable struct{}

func (unreadable) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}
