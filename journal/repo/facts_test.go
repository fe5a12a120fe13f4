package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// TestFacts walks the places a work tree can be in, each made by git itself.
func TestFacts(t *testing.T) {
	t.Parallel()
	base := []string{"a.txt", "a\n", "b.txt", "b\n", "dir/c.txt", strings.Repeat("c\n", 20)}
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
		want []Altered
	}{
		{"R1 clean", func(*testing.T, string) {}, nil},
		{"R2 dirty", func(t *testing.T, dir string) {
			repotest.Write(t, dir, "a.txt", "A\n", "b.txt", "B\n", "new/x", "x")
			repotest.Git(t, dir, "add", "b.txt")
			repotest.Git(t, dir, "rm", "-q", "dir/c.txt")
		}, []Altered{{".M", "a.txt", ""}, {"M.", "b.txt", ""}, {"D.", "dir/c.txt", ""}, {"??", "new/x", ""}}},
		{"R2 the first name keeps its first letter", func(t *testing.T, dir string) {
			repotest.Write(t, dir, "a.txt", "A\n")
		}, []Altered{{".M", "a.txt", ""}}},
		{"R2 ignored is not dirty", func(t *testing.T, dir string) {
			repotest.Write(t, dir, ".git/info/exclude", "*.log\n", "x.log", "")
		}, nil},
		{"R2 a repository inside", func(t *testing.T, dir string) {
			repotest.Write(t, dir, "in/y", "y")
			repotest.Git(t, filepath.Join(dir, "in"), "init", "-q")
			repotest.Git(t, filepath.Join(dir, "in"), "add", "-A")
			repotest.Git(t, filepath.Join(dir, "in"), "commit", "-q", "-m", "in")
		}, []Altered{{"??", "in", ""}}},
		{"R3 staged rename", func(t *testing.T, dir string) {
			repotest.Git(t, dir, "mv", "dir/c.txt", "z c.txt")
		}, []Altered{{"R.", "z c.txt", "dir/c.txt"}}},
		{"R3 renamed and edited", func(t *testing.T, dir string) {
			repotest.Git(t, dir, "mv", "dir/c.txt", "c.txt")
			repotest.Write(t, dir, "c.txt", strings.Repeat("c\n", 20)+"d\n")
		}, []Altered{{"RM", "c.txt", "dir/c.txt"}}},
		{"R4 UTF-8 name", func(t *testing.T, dir string) {
			repotest.Write(t, dir, "ü.txt", "", "雪/“x”.txt", "")
		}, []Altered{{"??", "ü.txt", ""}, {"??", "雪/“x”.txt", ""}}},
		{"R5 name with space, quote and line feed", func(t *testing.T, dir string) {
			repotest.Write(t, dir, "to do list.txt", "", "q\"t\n# branch.oid x", "")
		}, []Altered{{"??", "q\"t\n# branch.oid x", ""}, {"??", "to do list.txt", ""}}},
		{"R5 unmerged", func(t *testing.T, dir string) {
			repotest.Git(t, dir, "checkout", "-q", "-b", "other")
			repotest.Write(t, dir, "a.txt", "other\n")
			repotest.Git(t, dir, "commit", "-qam", "other")
			repotest.Git(t, dir, "checkout", "-q", "main")
			repotest.Write(t, dir, "a.txt", "main\n")
			repotest.Git(t, dir, "commit", "-qam", "main")
			if _, err := repotest.TryGit(dir, "merge", "-q", "other"); err == nil {
				t.Fatal("no conflict")
			}
		}, []Altered{{"UU", "a.txt", ""}}},
		{"R5 state left out", func(t *testing.T, dir string) {
			repotest.Write(t, dir, ".hestai/sessions/pending/x/handshake.json", "{}", ".hestai/sessionsx", "", "one", "")
		}, []Altered{{"??", ".hestai/sessionsx", ""}, {"??", "one", ""}}},
		{"R5 renamed into what is left out", func(t *testing.T, dir string) {
			repotest.Write(t, dir, ".hestai/sessions/.gitkeep", "")
			repotest.Git(t, dir, "mv", "dir/c.txt", ".hestai/sessions/c.txt")
		}, []Altered{{"D.", "dir/c.txt", ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, head := fresh(t, base...)
			c.make(t, r.Root())
			if c.name == "R5 unmerged" {
				head = OID(repotest.Git(t, r.Root(), "rev-parse", "HEAD"))
			}
			got := repotest.Must[Facts](t)(r.Facts(context.Background(), ".hestai/sessions/", ""))
			repotest.Eq(t, "facts", got, Facts{OK: true, Head: string(head), Branch: "main", Files: c.want})
		})
	}
}

// TestFactsBranch is where HEAD can be.
func TestFactsBranch(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("R6 unborn", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		repotest.Git(t, dir, "init", "-q", "-b", "trunk")
		repotest.Write(t, dir, "x", "")
		repotest.Eq(t, "facts", repotest.Must[Facts](t)(open(t, dir).Facts(ctx)), Facts{OK: true, Head: "(initial)", Branch: "trunk", Files: []Altered{{"??", "x", ""}}})
	})
	t.Run("R7 detached", func(t *testing.T) {
		t.Parallel()
		r, head := fresh(t, "a", "")
		repotest.Git(t, r.Root(), "checkout", "-q", "--detach")
		repotest.Eq(t, "facts", repotest.Must[Facts](t)(r.Facts(ctx)), Facts{OK: true, Head: string(head), Branch: "detached[" + string(head[:8]) + "]"})
	})
	t.Run("R8 no git", func(t *testing.T) {
		t.Parallel()
		if _, err := Open(t.TempDir(), os.Environ()); !errors.Is(err, ErrNotRepo) {
			t.Error(err)
		}
	})
	t.Run("R8 bare", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		repotest.Git(t, dir, "init", "-q", "--bare")
		if f, err := repotest.Must[*Repo](t)(Open(dir, os.Environ())).Facts(ctx); err != nil || f.OK {
			t.Errorf("%+v, %v", f, err)
		}
	})
	t.Run("R8 the repository went away", func(t *testing.T) {
		t.Parallel()
		r, _ := fresh(t, "a", "")
		if err := os.RemoveAll(filepath.Join(r.Root(), ".git")); err != nil {
			t.Fatal(err)
		}
		if f, err := r.Facts(ctx); err == nil {
			t.Errorf("facts of nothing: %+v", f)
		}
	})
	t.Run("R9 no upstream", func(t *testing.T) {
		t.Parallel()
		r, _ := fresh(t, "a", "")
		repotest.Git(t, r.Root(), "checkout", "-q", "-b", "feat/x-y")
		if f := repotest.Must[Facts](t)(r.Facts(ctx)); f.Upstream != "" || f.Branch != "feat/x-y" {
			t.Errorf("%+v", f)
		}
	})
	t.Run("R10 ahead and behind", func(t *testing.T) {
		t.Parallel()
		a, b, _, _ := clones(t)
		repotest.Git(t, b.Root(), "commit", "-q", "--allow-empty", "-m", "theirs")
		repotest.Git(t, b.Root(), "push", "-q", "origin", "HEAD")
		repotest.Git(t, a.Root(), "fetch", "-q")
		repotest.Git(t, a.Root(), "commit", "-q", "--allow-empty", "-m", "mine")
		repotest.Git(t, a.Root(), "commit", "-q", "--allow-empty", "-m", "mine too")
		repotest.Git(t, a.Root(), "config", "status.aheadBehind", "false")
		f := repotest.Must[Facts](t)(a.Facts(ctx))
		repotest.Eq(t, "upstream", f.Upstream, "origin/main")
		repotest.Eq(t, "ahead, behind", []int{f.Ahead, f.Behind}, []int{2, 1})
		repotest.Git(t, a.Root(), "update-ref", "-d", "refs/remotes/origin/main")
		f = repotest.Must[Facts](t)(a.Facts(ctx))
		repotest.Eq(t, "gone upstream", []any{f.Upstream, f.Ahead, f.Behind}, []any{"origin/main", 0, 0})
	})
}

// TestFactsRunsNothing has a repository name a monitor, and a configuration that would change the answer.
func TestFactsRunsNothing(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a", strings.Repeat("a\n", 20))
	ran := filepath.Join(t.TempDir(), "ran")
	repotest.Write(t, r.Root(), ".git/monitor", "#!/bin/sh\n: >"+ran+"\n")
	if err := os.Chmod(filepath.Join(r.Root(), ".git/monitor"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, kv := range []string{"core.fsmonitor=.git/monitor", "status.renames=false", "status.showUntrackedFiles=no", "status.branch=false",
		"status.showStash=true", "core.quotePath=true", "status.relativePaths=true", "color.status=always"} {
		k, v, _ := strings.Cut(kv, "=")
		repotest.Git(t, r.Root(), "config", k, v)
	}
	repotest.Git(t, r.Root(), "-c", "core.fsmonitor=false", "mv", "a", "z")
	repotest.Write(t, r.Root(), "ü", "")
	index := repotest.Must[[]byte](t)(os.ReadFile(filepath.Join(r.Root(), ".git/index")))
	f := repotest.Must[Facts](t)(r.Facts(context.Background()))
	repotest.Eq(t, "files", f.Files, []Altered{{"R.", "z", "a"}, {"??", "ü", ""}})
	if _, err := os.Stat(ran); err == nil {
		t.Error("the repository's monitor ran")
	}
	repotest.Eq(t, "index", repotest.Must[[]byte](t)(os.ReadFile(filepath.Join(r.Root(), ".git/index"))), index)
}

func TestDescends(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, first := fresh(t, "a", "")
	repotest.Git(t, r.Root(), "commit", "-q", "--allow-empty", "-m", "next")
	next := repotest.Git(t, r.Root(), "rev-parse", "HEAD")
	repotest.Git(t, r.Root(), "commit", "-q", "--allow-empty", "--amend", "-m", "rewritten")
	other := repotest.Git(t, r.Root(), "rev-parse", "HEAD")
	for _, c := range []struct {
		name, head, from string
		want             bool
	}{
		{"same", next, next, true},
		{"child", next, string(first), true},
		{"parent", string(first), next, false},
		{"rewritten", other, next, false},
		{"first commit", next, Initial, true},
		{"still unborn", Initial, Initial, true},
		{"unborn again", Initial, next, false},
	} {
		if got := repotest.Must[bool](t)(r.Descends(ctx, c.head, c.from)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for _, bad := range []string{strings.Repeat("0", 39) + "1", "", "--help", "main"} {
		if ok, err := r.Descends(ctx, next, bad); err == nil || ok {
			t.Errorf("from %q: %v, %v", bad, ok, err)
		}
	}
}

func TestFactsRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, out := range []string{
		"", "# branch.oid abc\x00", "# branch.head main\x00",
		"# branch.oid abc\x00# branch.head main\x00# branch.ab +? -?\x00",
		"# branch.oid abc\x00# branch.head main\x003 what\x00",
		"# branch.oid abc\x00# branch.head main\x001 .M N... 100644 100644 100644 1 2\x00",
		"# branch.oid abc\x00# branch.head main\x002 R. N... 100644 100644 100644 1 2 R100 new\x00",
		"# branch.oid abc\x00# branch.head main\x00? \x00",
	} {
		if f, err := parseFacts([]byte(out), nil); err == nil {
			t.Errorf("%q: %+v", out, f)
		}
	}
}

// FuzzFacts holds the reader to its order and to what is left out, whatever git says.
func FuzzFacts(f *testing.F) {
	f.Add([]byte("# branch.oid (initial)\x00# branch.head main\x00? a\x00"), "s")
	f.Add([]byte("# branch.oid 0123456789\x00# branch.head (detached)\x002 R. N... 1 1 1 a b R100 x y\x00s/old\x00u UU N... 1 1 1 1 a b c s/x\x00"), "s/")
	f.Fuzz(func(t *testing.T, out []byte, leave string) {
		got, err := parseFacts(out, []string{leave})
		if err != nil {
			return
		}
		if !got.OK || got.Head == "" || got.Branch == "" || got.Branch == "(detached)" {
			t.Errorf("%+v", got)
		}
		if !slices.IsSortedFunc(got.Files, func(a, b Altered) int { return strings.Compare(a.Path, b.Path) }) {
			t.Errorf("not sorted: %v", got.Files)
		}
		for _, a := range got.Files {
			if a.Path == "" || len(a.XY) != 2 || isWithin(a.Path, []string{leave}) {
				t.Errorf("%q", a)
			}
		}
	})
}
