package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/reconcile/policy"
)

// listed writes a verdict's findings in one line, soft ones with a ~.
func listed(v Verdict) string {
	var out []string
	for _, f := range v.Findings {
		mark := ""
		if f.Severity == policy.Soft {
			mark = "~"
		}
		out = append(out, mark+f.Code)
	}
	return strings.Join(out, " ")
}

func TestJudgeListsAllOnce(t *testing.T) {
	t.Parallel()
	files := []File{
		{Path: "b.go", Before: []byte("package b\n"), After: []byte("package b\n\nfunc f() {\n")},
		{Path: ".git/config", After: []byte("[core]\n")},
		{Path: "a.txt", Before: []byte("x\n"), After: []byte("x\n")},
	}
	want := "protected_git ~file_unchanged parse_failed"
	for range 2 {
		v := Judge(files, Options{})
		if got := listed(v); !slices.Equal(slices.Sorted(slices.Values(strings.Fields(got))), slices.Sorted(slices.Values(strings.Fields(want)))) {
			t.Errorf("got %q, want %q", got, want)
		}
		if v.Hard != 2 || v.Soft != 1 || !v.Refused() {
			t.Errorf("hard %d, soft %d", v.Hard, v.Soft)
		}
		files[0], files[2] = files[2], files[0]
	}
}

func TestGuardFault(t *testing.T) {
	t.Parallel()
	bad := []step{
		{name: "all", whole: func(*change) []policy.Finding { panic("broken") }},
		{name: "each", file: func(_ *change, d *delta) []policy.Finding {
			if d.Path == "a.txt" {
				panic("broken too")
			}
			return d.oneFinding("file_unchanged", policy.ByBytes, 0, "seen")
		}},
	}
	v := judgeFiles([]File{{Path: "a.txt", After: []byte("a")}, {Path: "b.txt", After: []byte("b")}}, Options{}, bad)
	if got, want := listed(v), "guard_fault guard_fault ~file_unchanged"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	if !v.Refused() || !strings.Contains(v.Findings[1].Error(), "a.txt: guard_fault: the rule each failed: broken too") {
		t.Error(v.Findings)
	}
}

func TestRulesHash(t *testing.T) {
	t.Parallel()
	plain := RulesHash(Options{})
	if len(plain) != 64 || plain != RulesHash(Options{Beside: []File{{Path: "a"}}, Then: map[string]string{"a": "b"}}) {
		t.Errorf("the hash is %q, or depends on what lies around the change", plain)
	}
	for _, p := range []Options{{Paths: []string{"a"}}, {Targets: []string{"a"}}, {Protect: []string{"a"}}, {Limits: Limits{Files: 1}}} {
		if RulesHash(p) == plain {
			t.Errorf("%+v does not show in the hash", p)
		}
	}
}

func TestRulesAreWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.Code] || r.Meaning == "" || r.Fix == "" || r.Severity != policy.Hard && r.Severity != policy.Soft {
			t.Errorf("%+v: twice, or not whole", r)
		}
		seen[r.Code] = true
	}
}

func TestJudgeCutsShort(t *testing.T) {
	t.Parallel()
	v := Judge([]File{{Path: "a.js", After: []byte(strings.Repeat("// ...\n", 1000))}}, Options{})
	if v.Hard != maxAlike || !strings.Contains(v.Findings[maxAlike-1].Text, "and 950 more") {
		t.Errorf("%d findings, the last %v", v.Hard, v.Findings[len(v.Findings)-1])
	}
}

// TestPatternsAreLinear gives what looks like the beginning of a comment, of a text or of a
// joint as often as ten kilobytes hold.
func TestPatternsAreLinear(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"/* \"+\" ", "\"\\\"'a'", "`'a'\"", "/*\n", "# 'a' + 'b'\n", "\"ghp_ab\" + \"cdefghijklmnopqrstuvwxyz0123456789AB\";\n", "f({ // '\n"} {
		src := strings.Repeat(part, 10<<10/len(part))
		v := Judge([]File{{Path: "a.js", Before: []byte("f();\n"), After: []byte(src)}, {Path: "a.py", After: []byte(src)}}, Options{})
		if slices.ContainsFunc(v.Findings, func(f policy.Finding) bool { return f.Code == "guard_fault" }) {
			t.Error(part, v.Findings)
		}
	}
}

// TestJoinedSecrets holds that a credential in pieces is told where it stands, and that no
// more are listed than a person reads, of a file that holds hundreds.
func TestJoinedSecrets(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("x = 'a' +\n\t'b';\n")
	for i := range 500 {
		fmt.Fprintf(&src, "a = \"gh\" + \"p_abcdefghijklmnopqrstuvwxyz%010d\";\n", i)
	}
	d := newDelta(File{Path: "a.js", After: []byte(src.String())})
	fs := joinedSecrets(nil, d)
	if len(fs) != maxAlike || fs[0].Line != 3 || fs[maxAlike-1].Line != 2+maxAlike {
		t.Fatalf("%d findings, the first %v", len(fs), fs[0])
	}
	joined, line := joinLiterals([]byte("'a'\n+\n'b'\nc\n'd' +\n'e'\nf\n"))
	if string(joined) != "'ab'\nc\n'de'\nf\n" {
		t.Errorf("%q", joined)
	}
	for at, want := range []int{1, 4, 5, 7} {
		if got := line(at + 1); got != want {
			t.Errorf("line %d was line %d, not %d", at+1, want, got)
		}
	}
}

// TestJudgeIsLinear gives Judge files that are made to be slow to read: what is
// nested, chained or repeated as often as forty kilobytes hold.
func TestJudgeIsLinear(t *testing.T) {
	t.Parallel()
	const most = 40 << 10
	many := func(s string) string { return strings.Repeat(s, most/len(s)) }
	for name, src := range map[string]string{
		"if":       "package a\n\nfunc f() {\n" + strings.Repeat("if func() bool {\n", 4000) + "}",
		"chain":    "package a\n\nvar x = a" + many(".b") + "()\n",
		"sum":      "package a\n\nvar x = y" + many(" + \"a\"") + "\n",
		"not":      "package a\n\nfunc f() {\n\tif " + strings.Repeat("!", 30000) + "x {\n\t}\n}\n",
		"calls":    "package a\n\nfunc f() {\n\tx" + many(".y()") + "\n}\n",
		"and":      "package a\n\nfunc f() {\n\tif x" + many(" && x") + " {\n\t}\n}\n",
		"vars":     "package a\n\nimport \"os\"\n\n" + many("var _ = os.Args\n"),
		"literals": "package a\n\nvar (\n" + many("\ta = \"ghp_ab\" + \"cdef\" // x\n") + ")\n",
		"brackets": "package a\n\nvar x = " + strings.Repeat("[]int{", 9000),
	} {
		v := Judge([]File{{Path: "a.go", Before: []byte("package a\n"), After: []byte(src)}, {Path: "a_test.go", Before: []byte(src), After: []byte("package a\n")}}, Options{})
		if len(v.RulesHash) != 64 {
			t.Error(name)
		}
	}
}

func TestEmptyTestGone(t *testing.T) {
	t.Parallel()
	v := Judge([]File{{Path: "src/test_a.py", Before: []byte("class T:\n    def test_a(self):\n        pass\n")}}, Options{})
	if len(v.Findings) != 1 || !strings.HasSuffix(v.Findings[0].Text, "the test test_a is gone; it called nothing and checked nothing") {
		t.Errorf("got %+v", v.Findings)
	}
}
