package risk

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// then adds a commit of somebody to a repository and returns it; an empty text takes the
// file away.
func then(t *testing.T, r *repo.Repo, who, committer, message string, files map[string]string) repo.OID {
	t.Helper()
	for name, text := range files {
		if text == "" && name != "odd.toml" {
			if err := os.Remove(filepath.Join(r.Root(), name)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(filepath.Join(r.Root(), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "--allow-empty", "-m", message}} {
		c := exec.Command("git", args...)
		c.Dir = r.Root()
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.Root(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=X", "GIT_AUTHOR_EMAIL=" + who, "GIT_COMMITTER_NAME=X", "GIT_COMMITTER_EMAIL=" + committer}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	tip, err := r.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	return tip
}

const (
	ann = "ann@example.org"
	bot = "odd@localhost"
)

// TestWhoseHistory: who filed a task is read from every version of its file, by the
// agent's address under the rules before and after each.
func TestWhoseHistory(t *testing.T) {
	t.Parallel()
	const own, wider, named = "---\ntype: task\nid: t\npaths: [tool/**]\n---\n", "---\ntype: task\nid: t\npaths: [\"**\"]\n---\n", "---\ntype: task\nid: t\npaths: [tool/**]\ntitle: T\n---\n"
	at := "knowledge/tasks/t.md"
	type step struct {
		who, committer string
		files          map[string]string
	}
	for name, c := range map[string]struct {
		steps []step
		want  pipeline.Filed
	}{
		"a person, then the agent's words":              {[]step{{ann, ann, map[string]string{at: own}}, {bot, bot, map[string]string{at: named}}}, pipeline.FiledByPerson},
		"a person, then the agent's paths":              {[]step{{ann, ann, map[string]string{at: own}}, {bot, bot, map[string]string{at: wider}}}, pipeline.FiledByMachine},
		"the agent":                                     {[]step{{bot, bot, map[string]string{at: own}}}, pipeline.FiledByMachine},
		"the agent, in other letters":                   {[]step{{"ODD@localhost", ann, map[string]string{at: own}}}, pipeline.FiledByMachine},
		"the agent commits for a person":                {[]step{{ann, bot, map[string]string{at: own}}}, pipeline.FiledByMachine},
		"the agent, then a person's paths":              {[]step{{bot, bot, map[string]string{at: own}}, {ann, ann, map[string]string{at: wider}}}, pipeline.FiledByMachine},
		"the agent, then a person's words":              {[]step{{bot, bot, map[string]string{at: own}}, {ann, ann, map[string]string{at: named}}}, pipeline.FiledByMachine},
		"the agent of the rules before":                 {[]step{{ann, ann, map[string]string{"odd.toml": "[agent]\nemail = \"b@x.org\"\n"}}, {"b@x.org", "b@x.org", map[string]string{"odd.toml": "", at: own}}}, pipeline.FiledByMachine},
		"the agent of the rules after":                  {[]step{{"b@x.org", "b@x.org", map[string]string{"odd.toml": "[agent]\nemail = \"b@x.org\"\n", at: own}}}, pipeline.FiledByMachine},
		"the usual agent, under rules that do not read": {[]step{{bot, bot, map[string]string{"odd.toml": "[", at: own}}}, pipeline.FiledByMachine},
		"a person, after the agent deleted it":          {[]step{{ann, ann, map[string]string{at: own}}, {bot, bot, map[string]string{at: ""}}, {ann, ann, map[string]string{at: own}}}, pipeline.FiledByPerson},
		"a text that does not read, then the agent":     {[]step{{ann, ann, map[string]string{at: "---\n["}}, {bot, bot, map[string]string{at: own}}}, pipeline.FiledByMachine},
		"nobody": {[]step{{ann, ann, map[string]string{"x": "x"}}}, pipeline.FiledByNobody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, tip := committed(t, "begin", map[string]string{"odd.toml": "", "knowledge/tasks/other.md": own})
			for _, s := range c.steps {
				tip = then(t, r, s.who, s.committer, "step", s.files)
			}
			by, err := whoFiled(t.Context(), r, tip, at)
			if err != nil || by != c.want {
				t.Errorf("%s, %v; want %s", by, err, c.want)
			}
			if err := os.WriteFile(filepath.Join(r.CommonDir(), "shallow"), []byte(tip+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if by, err := whoFiled(t.Context(), r, tip, at); err != nil || by != pipeline.FiledByNobody {
				t.Errorf("in a shallow clone %s, %v", by, err)
			}
		})
	}
}

// TestALackingStoreAnswersNothingElse: whichever object is gone, a change is judged as it
// was before or not at all.
func TestALackingStoreAnswersNothingElse(t *testing.T) {
	t.Parallel()
	const page = "one\ntwo\nthree\nfour\nfive\nsix\n"
	r, base := committed(t, "begin", map[string]string{
		"odd.toml": "[agent]\nemail = \"b@x.org\"\n", "go.mod": "module example.org/x\n\ngo 1.26\n", "tool/a.go": toolA, "tool/b.go": "package tool\n\n// H is F.\nfunc H() int { return F() }\n", "tool/c.go": "package tool\n", "doc/x.md": "x\n", "doc/y.md": page,
		"knowledge/tasks/t.md": "---\ntype: task\nid: t\npaths: [tool/**]\n---\n", "knowledge/terms/x.md": "---\ntype: term\nresource: tool/a.go\n---\n",
	})
	claim := then(t, r, "b@x.org", "b@x.org", "claim", map[string]string{"knowledge/tasks/t.md": "---\ntype: task\nid: t\npaths: [tool/**, x]\nstate: ready\n---\n"})
	judge := func() (string, error) {
		r, err := repo.Open(r.Root(), os.Environ())
		if err != nil {
			t.Fatal(err)
		}
		if by, err := whoFiled(t.Context(), r, claim, "knowledge/tasks/t.md"); err == nil && by != pipeline.FiledByMachine {
			t.Errorf("filed by %s", by)
		}
		g, err := Survey(t.Context(), r, Site{Base: base, Board: claim, Law: config.Default(), Task: task("tool/**")})
		if err != nil {
			return "", err
		}
		files := append(edit("tool/a.go", toolA, "package tool\n\n// G is two.\nfunc G() int { return 2 }\n"), edit("doc/x.md", "x\n", page)...)
		now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		j, err := g.Judge(files, now, "replay", pipeline.Made{Seen: true})
		if v, no := g.Gate(files); (no == nil) != (err == nil) || len(v.Findings) != len(j.Gate.Findings) {
			t.Errorf("the gate says %v, %v; the judgement %v, %v", v.Findings, no, j.Gate.Findings, err)
		}
		if err != nil {
			return "", err
		}
		if own := Rules(r, base, g.Task, g.Law); own != j.Rules {
			t.Errorf("judged by the rules %s, and an approval is bound to %s", j.Rules, own)
		}
		v, meant := g.Foresee(now, "replay")
		b, err := json.Marshal([]any{j, v, meant})
		if err != nil {
			t.Fatal(err)
		}
		return string(b), nil
	}
	want, err := judge()
	if err != nil || !strings.Contains(want, "symbol_removed_still_used") {
		t.Fatalf("%v: %s", err, want)
	}
	objects, _ := filepath.Glob(filepath.Join(r.CommonDir(), "objects", "??", "*"))
	failed := 0
	for _, at := range objects {
		if err := os.Rename(at, at+"~"); err != nil {
			t.Fatal(err)
		}
		got, err := judge()
		if err != nil {
			failed++
		} else if got != want {
			t.Errorf("without %s: %s", at, cmp.Diff(want, got))
		}
		if err := os.Rename(at+"~", at); err != nil {
			t.Fatal(err)
		}
	}
	if failed < len(objects)/2 {
		t.Errorf("only %d of %d objects are missed", failed, len(objects))
	}
}

// TestJudged: what is only said to change is not judged, but a file that gets another mode
// is; what lies beside is what a change may be copied from, but for what is long.
func TestJudged(t *testing.T) {
	t.Parallel()
	const cut = "package tool\n\nfunc F() int {\n\t// ... rest of the code ...\n}\n"
	for name, c := range map[string]struct {
		edit pipeline.Edit
		hard bool
	}{
		"no content":   {pipeline.Edit{Path: "tool/a.go"}, true},
		"the same":     {pipeline.Edit{Path: ".git/config", Before: []byte(cut), After: []byte(cut), OldMode: "100644", NewMode: "100644"}, false},
		"protected":    {pipeline.Edit{Path: ".git/config", Before: []byte(cut), After: []byte(cut), OldMode: "100644", NewMode: "100755"}, true},
		"another text": {edit("tool/a.go", toolA, cut)[0], true},
		"added":        {pipeline.Edit{Path: "tool/a.go", After: []byte(cut), NewMode: "100644"}, true},
		"removed":      {pipeline.Edit{Path: ".git/config", Before: []byte(cut), OldMode: "100644"}, true},
	} {
		g := &Ground{Site: Site{Law: config.Default(), Task: task("**")}}
		if v := g.gateVerdict([]pipeline.Edit{c.edit}, nil); hard(v.Findings) != c.hard {
			t.Errorf("%s: %v", name, v.Findings)
		}
	}
	r, base := committed(t, "begin", map[string]string{"tool/a.go": toolA, "tool/long.go": strings.Repeat("x", maxText+1), "tool/edge.go": strings.Repeat("x", maxText), "tool/x.md": "x", "b.go": "x"})
	g, err := Survey(t.Context(), r, Site{Base: base, Board: base, Law: config.Default(), Bundle: okf.NewGraph(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if beside, err := g.filesBeside(edit("tool/a.go", toolA, "x")); err != nil || len(beside) != 1 || beside[0].Path != "tool/edge.go" {
		t.Errorf("%d files, %v", len(beside), err)
	}
}

// TestMeant: a glob means the files of the base outside the bundle, and a plain path also
// one that is not there.
func TestMeant(t *testing.T) {
	t.Parallel()
	got := []string{}
	for _, d := range meantFiles([]string{"a.go", "doc/x.md", "knowledge/terms/x.md", "z"}, []string{"z", "**/*.md", "knowledge/new.md", "new.go", "tool/*.go"}, "knowledge") {
		got = append(got, d.Path+" "+d.OldMode)
	}
	if want := "doc/x.md 100644|z 100644|new.go "; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
	v := pipeline.Verdict{Tier: "BLOCKED", Code: "c", Meaning: "it rains", Way: "wait"}
	if got := Describe(v); got != "it rains; wait [BLOCKED, c]" {
		t.Error(got)
	}
	if v.Because = []string{"a"}; Describe(v) != "it rains: a; wait [BLOCKED, c]" {
		t.Error(Describe(v))
	}
	if v.Because = []string{"a", "b"}; Describe(v) != "it rains: a; b; wait [BLOCKED, c]" {
		t.Error(Describe(v))
	}
	for autonomy, want := range map[string]bool{"observe": true, "act": false} {
		law := config.Default()
		if law.Pipeline.Autonomy = autonomy; riskPolicy(law).Observe != want {
			t.Errorf("%s: observe is not %v", autonomy, want)
		}
	}
}
