package risk

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/policy"
)

const toolA = "package tool\n\n// F is one.\nfunc F() int { return 1 }\n\n// G is two.\nfunc G() int { return 2 }\n"

// committed is a repository with these files in one commit of a person, whose message
// is given.
func committed(t *testing.T, message string, files map[string]string) (*repo.Repo, repo.OID) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", message}} {
		c := exec.Command("git", args...)
		c.Dir = dir
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	r, err := repo.Open(dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	tip, err := r.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	return r, tip
}

func task(paths ...string) board.Task {
	return board.Task{Row: board.Row{ID: "t", Path: "tasks/t.md"}, Paths: paths}
}

// ground is that of a task with these paths, on a commit of a person that has files.
func ground(t *testing.T, files map[string]string, paths ...string) *Ground {
	t.Helper()
	files["odd.toml"], files["knowledge/tasks/t.md"], files["go.mod"] = "", "---\ntype: task\nid: t\npaths: [tool/**]\n---\n", "module example.org/x\n\ngo 1.26\n"
	r, tip := committed(t, "begin", files)
	g, err := Survey(context.Background(), r, Site{Base: tip, Board: tip, Law: config.Default(), Task: task(paths...)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func edit(name, before, after string) []pipeline.Edit {
	return []pipeline.Edit{{Path: name, Before: []byte(before), After: []byte(after), OldMode: "100644", NewMode: "100644"}}
}

// TestAtomsThatNameAFileCount: atoms depend on the files that they name, and many of them
// need a person.
func TestAtomsThatNameAFileCount(t *testing.T) {
	t.Parallel()
	text := strings.Replace(toolA, "return 2", "return 3", 1)
	for n, want := range map[int]bool{0: false, 9: true} {
		files := map[string]string{"tool/a.go": toolA}
		for i := range n {
			files[fmt.Sprintf("knowledge/terms/x%d.md", i)] = "---\ntype: term\nresource: tool/a.go\n---\n"
		}
		j, err := ground(t, files, "tool/**").Judge(edit("tool/a.go", toolA, text), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), "replay", pipeline.Made{Seen: true})
		if err != nil {
			t.Fatal(err)
		}
		got := slices.ContainsFunc(j.Risk.Ladder, func(r pipeline.Ruling) bool { return r.Code == "blast_radius_exceeded" && r.Matched })
		if got != want {
			t.Errorf("%d atoms: %v", n, j.Risk.Text())
		}
	}
}

// TestFilesBesideTheChangeAreRead: what is gone from one file and used in another is found.
func TestFilesBesideTheChangeAreRead(t *testing.T) {
	t.Parallel()
	g := ground(t, map[string]string{"tool/a.go": toolA, "tool/b.go": "package tool\n\n// H is F.\nfunc H() int { return F() }\n"}, "tool/**")
	v, err := g.Gate(edit("tool/a.go", toolA, "package tool\n\n// G is two.\nfunc G() int { return 2 }\n"))
	if err != nil || !slices.ContainsFunc(v.Findings, func(f policy.Finding) bool { return f.Code == "symbol_removed_still_used" }) {
		t.Errorf("%v, %v", v.Findings, err)
	}
}

// TestWhoFiled: a run's commit is a machine's, whoever wrote it, and a history that cannot
// be read is an error.
func TestWhoFiled(t *testing.T) {
	t.Parallel()
	files := map[string]string{"odd.toml": "", "knowledge/tasks/t.md": "---\ntype: task\nid: t\npaths: [tool/**]\n---\n"}
	for message, want := range map[string]pipeline.Filed{
		"a task":                     pipeline.FiledByPerson,
		"a task\n\nOdd-Run: run-1\n": pipeline.FiledByMachine,
		"a task\n\nOdd-Run: run-1\nOdd-Approved-By: human:ann@example.org\n": pipeline.FiledByPerson,
	} {
		r, tip := committed(t, message, files)
		gone := repo.OID(strings.Repeat("1", 40))
		for what, c := range map[string]struct {
			base, board repo.OID
			ok          bool
		}{"as it is": {tip, tip, true}, "a base that is not there": {gone, tip, false}, "a board that is not there": {tip, gone, false}} {
			g, err := Survey(context.Background(), r, Site{Base: c.base, Board: c.board, Law: config.Default(), Task: task("tool/**"), Bundle: okf.NewGraph(nil)})
			if _, no := bytesAt(r, c.base, "odd.toml"); (no == nil) != (c.base == tip) {
				t.Errorf("%s: %v", what, no)
			}
			if (err == nil) != c.ok || c.ok && g.all.Filed != want {
				t.Errorf("%q, %s: %v; want %s", message, what, err, want)
			}
		}
	}
}
