package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/repotest"
)

// board is a repository a person works in: one file of every state git knows beside the path that moves.
func board(t testing.TB) (r *Repo, base OID) {
	r, _ = fresh(t, "k/task.md", "state: ready\n", "k/old.md", "old\n", "staged", "1\n", "half", "1\n", "unstaged", "1\n",
		"uncached", "1\n", "gone", "1\n", ".gitignore", "*.log\n", "touched", "1\n")
	d := r.Root()
	repotest.Write(t, d, "staged", "2\n", "half", "2\n")
	repotest.Git(t, d, "add", "staged", "half")
	repotest.Write(t, d, "half", "3\n", "unstaged", "2\n", "untracked", "u\n", "k/x.log", "ignored\n", "intent", "i\n", "newstaged", "n\n")
	repotest.Git(t, d, "add", "-N", "intent")
	repotest.Git(t, d, "add", "newstaged")
	repotest.Git(t, d, "rm", "-q", "--cached", "uncached")
	if err := os.Remove(filepath.Join(d, "gone")); err != nil {
		t.Fatal(err)
	}
	repotest.Write(t, d, "touched", "1\n")
	return r, repotest.Must[OID](t)(r.Ref("HEAD"))
}

// claim makes the commit the tests move to: one file changed, one added in a new folder, one deleted.
func claim(t testing.TB, r *Repo, base OID) OID {
	return repotest.Must[OID](t)(r.Make(context.Background(), []OID{base},
		Changes{"k/task.md": []byte("state: in_progress\n"), "k/new/n.md": []byte("new\n"), "k/old.md": nil}, agent, "claim"))
}

// person is what a person sees of their own work: status, index and bytes.
func person(t testing.TB, d string) string {
	return repotest.Git(t, d, "status", "--porcelain", "--ignored") + "\n" + repotest.Git(t, d, "diff") + "\n" + repotest.Git(t, d, "diff", "--cached")
}

func quiet(t testing.TB, r *Repo) {
	t.Helper()
	for _, p := range []string{"odd/sync/*", "odd/tmp/*", "*.lock", "refs/heads/*.lock", "worktrees/*/index.lock"} {
		left, _ := filepath.Glob(filepath.Join(r.CommonDir(), p))
		if len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestMoveKeepsEdits(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	before := person(t, r.Root())
	next := claim(t, r, base)
	if err := r.Move(context.Background(), RefUpdate{Name: "refs/heads/main", Old: base, New: next}); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "the person's own work", person(t, r.Root()), before)
	repotest.Eq(t, "head", repotest.Git(t, r.Root(), "rev-parse", "HEAD"), string(next))
	repotest.Eq(t, "new file", string(repotest.Must[[]byte](t)(os.ReadFile(filepath.Join(r.Root(), "k/new/n.md")))), "new\n")
	// Without a refresh: the stat data of what moved must be right already.
	repotest.Eq(t, "stat data", repotest.Git(t, r.Root(), "diff-files", "--name-only", "k"), "")
	repotest.Git(t, r.Root(), "fsck", "--strict")
	quiet(t, r)
}

func TestMoveInTheWay(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		do   func(t *testing.T, d string)
		want string
	}{
		"unstaged edit": {func(t *testing.T, d string) { repotest.Write(t, d, "k/task.md", "mine\n") }, "k/task.md"},
		"staged edit": {func(t *testing.T, d string) {
			repotest.Write(t, d, "k/task.md", "mine\n")
			repotest.Git(t, d, "add", "k/task.md")
		}, "k/task.md"},
		"untracked": {func(t *testing.T, d string) { repotest.Write(t, d, "k/new/n.md", "mine\n") }, "k/new/n.md"},
		"ignored": {func(t *testing.T, d string) {
			repotest.Write(t, d, ".git/info/exclude", "*.md\n", "k/new/n.md", "mine\n")
		}, "k/new/n.md"},
		"folder in the place of a file": {func(t *testing.T, d string) { repotest.Write(t, d, "k/new/n.md/x.log", "mine\n") }, "k/new/n.md"},
		"file in the place of a folder": {func(t *testing.T, d string) { repotest.Write(t, d, "k/new", "mine\n") }, "k/new/n.md"},
		"link in the place of a folder": {func(t *testing.T, d string) {
			if err := os.Symlink(t.TempDir(), filepath.Join(d, "k/new")); err != nil {
				t.Fatal(err)
			}
		}, "k/new/n.md"},
		"deleted by hand":         {func(t *testing.T, d string) { os.Remove(filepath.Join(d, "k/task.md")) }, "deleted by hand"},
		"edit of what it deletes": {func(t *testing.T, d string) { repotest.Write(t, d, "k/old.md", "mine\n") }, "k/old.md"},
		"rm --cached":             {func(t *testing.T, d string) { repotest.Git(t, d, "rm", "-q", "--cached", "k/task.md") }, "k/task.md"},
		"add -N": {func(t *testing.T, d string) {
			repotest.Write(t, d, "k/new/n.md", "mine\n")
			repotest.Git(t, d, "add", "-N", "k/new/n.md")
		}, "k/new/n.md"},
		"chmod": {func(t *testing.T, d string) { os.Chmod(filepath.Join(d, "k/task.md"), 0o755) }, "k/task.md"},
		"unmerged": {func(t *testing.T, d string) {
			repotest.Git(t, d, "checkout", "-q", "-b", "side")
			repotest.Write(t, d, "z", "side\n")
			repotest.Git(t, d, "add", "z")
			repotest.Git(t, d, "commit", "-q", "-m", "side")
			repotest.Git(t, d, "checkout", "-q", "main")
			repotest.Write(t, d, "z", "main\n")
			repotest.Git(t, d, "add", "z")
			repotest.Git(t, d, "commit", "-q", "-m", "main")
			repotest.TryGit(d, "merge", "side")
		}, "z: a file is in the way: a merge is not finished"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := fresh(t, "k/task.md", "state: ready\n", "k/old.md", "old\n")
			tc.do(t, r.Root())
			base := repotest.Must[OID](t)(r.Ref("refs/heads/main"))
			before := person(t, r.Root())
			err := r.Move(context.Background(), RefUpdate{Name: "refs/heads/main", Old: base, New: claim(t, r, base)})
			if !errors.Is(err, ErrInTheWay) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q in the way", err, tc.want)
			}
			repotest.Eq(t, "ref", repotest.Must[OID](t)(r.Ref("refs/heads/main")), base)
			repotest.Eq(t, "work", person(t, r.Root()), before)
			quiet(t, r)
		})
	}
}

func TestMoveBusyAndMoved(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := board(t)
	next := claim(t, r, base)
	repotest.Write(t, r.Root(), ".git/index.lock", "")
	if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: next}); !errors.Is(err, ErrBusy) {
		t.Errorf("foreign index.lock: %v", err)
	}
	if _, err := os.Stat(filepath.Join(r.Root(), ".git/index.lock")); err != nil {
		t.Errorf("a lock that is not ours: %v", err)
	}
	os.Remove(filepath.Join(r.Root(), ".git/index.lock"))
	before := person(t, r.Root())
	other := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, nil, agent, "other"))
	if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: other, New: next}); !errors.Is(err, ErrMoved) {
		t.Errorf("stale old: %v", err)
	}
	repotest.Eq(t, "work", person(t, r.Root()), before)
	quiet(t, r)
}

func TestMoveElsewhere(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := fresh(t, "k/task.md", "state: ready\n", "k/old.md", "old\n")
	repotest.Git(t, r.Root(), "checkout", "-q", "-b", "feature")
	wt := t.TempDir()
	repotest.Git(t, r.Root(), "worktree", "add", "-q", wt+"/board", "main")
	repotest.Git(t, r.Root(), "worktree", "add", "-q", "--detach", wt+"/detached", "main")
	repotest.Git(t, r.Root(), "worktree", "add", "-q", "-f", wt+"/again", "main")
	repotest.Git(t, r.Root(), "worktree", "add", "-q", "-f", wt+"/removed", "main")
	os.RemoveAll(wt + "/removed")
	repotest.Write(t, wt+"/board", "k/note", "mine\n")
	next := claim(t, r, base)
	if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: next}, RefUpdate{Name: "refs/odd/run/x", Old: "", New: base}); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "board", repotest.Git(t, wt+"/board", "status", "--porcelain"), "?? k/note")
	repotest.Eq(t, "again", repotest.Git(t, wt+"/again", "status", "--porcelain"), "")
	repotest.Eq(t, "detached", repotest.Git(t, wt+"/detached", "rev-parse", "HEAD"), string(base))
	repotest.Eq(t, "feature", repotest.Git(t, r.Root(), "status", "--porcelain"), "")
	quiet(t, r)
	// One checkout in the way stops all of them.
	repotest.Write(t, wt+"/again", "k/task.md", "mine\n")
	third := repotest.Must[OID](t)(r.Make(ctx, []OID{next}, changes("k/task.md", "done"), agent, "m"))
	if err := open(t, wt+"/board").Move(ctx, RefUpdate{Name: "refs/heads/main", Old: next, New: third}); !errors.Is(err, ErrInTheWay) {
		t.Errorf("second checkout dirty: %v", err)
	}
	repotest.Eq(t, "board stays", repotest.Git(t, wt+"/board", "status", "--porcelain"), "?? k/note")
	if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: next, New: ""}); !errors.Is(err, ErrInTheWay) {
		t.Errorf("delete of a checked out branch: %v", err)
	}
}

func TestMoveOddRepositories(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("bare", func(t *testing.T) {
		t.Parallel()
		src, base := fresh(t, "k/task.md", "x", "k/old.md", "y")
		bare := t.TempDir()
		repotest.Git(t, bare, "clone", "-q", "--bare", src.Root(), ".")
		r := open(t, bare)
		if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: claim(t, r, base)}); err != nil {
			t.Error(err)
		}
	})
	t.Run("unborn", func(t *testing.T) {
		t.Parallel()
		r := repotest.Must[*Repo](t)(Init(ctx, t.TempDir(), os.Environ()))
		repotest.Write(t, r.Root(), "mine", "m\n")
		first := repotest.Must[OID](t)(r.Make(ctx, nil, changes("a/b.md", "b\n"), agent, "first"))
		if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: "", New: first}); err != nil {
			t.Fatal(err)
		}
		repotest.Eq(t, "status", repotest.Git(t, r.Root(), "status", "--porcelain"), "?? mine")
	})
	t.Run("sparse", func(t *testing.T) {
		t.Parallel()
		r, base := fresh(t, "k/task.md", "x\n", "k/old.md", "y\n", "in/a", "a\n")
		repotest.Git(t, r.Root(), "sparse-checkout", "set", "--cone", "in")
		r = open(t, r.Root())
		next := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, Changes{"k/task.md": []byte("z\n"), "k/old.md": nil, "in/b": []byte("b\n")}, agent, "m"))
		if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: next}); err != nil {
			t.Fatal(err)
		}
		repotest.Eq(t, "status", repotest.Git(t, r.Root(), "status", "--porcelain"), "")
		if _, err := os.Stat(filepath.Join(r.Root(), "k")); err == nil {
			t.Error("a file outside the sparse checkout was written")
		}
	})
	t.Run("crlf", func(t *testing.T) {
		t.Parallel()
		r, _ := fresh(t, ".gitattributes", "*.md text eol=crlf\n", "k/task.md", "a\nb\n", "k/old.md", "y\n")
		repotest.Git(t, r.Root(), "rm", "-q", "--cached", "-r", ".")
		repotest.Git(t, r.Root(), "reset", "-q", "--hard")
		base := repotest.Must[OID](t)(r.Ref("HEAD"))
		if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: claim(t, r, base)}); err != nil {
			t.Fatal(err)
		}
		repotest.Eq(t, "bytes", string(repotest.Must[[]byte](t)(os.ReadFile(filepath.Join(r.Root(), "k/task.md")))), "state: in_progress\r\n")
		now := repotest.Must[OID](t)(r.Ref("HEAD"))
		repotest.Write(t, r.Root(), "k/task.md", "mine\r\n")
		err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: now, New: repotest.Must[OID](t)(r.Make(ctx, []OID{now}, changes("k/task.md", "z\n"), agent, "m"))})
		if !errors.Is(err, ErrInTheWay) {
			t.Errorf("an edit behind a filter: %v", err)
		}
		repotest.Git(t, r.Root(), "checkout", "-q", "k/task.md")
		repotest.Eq(t, "status", repotest.Git(t, r.Root(), "status", "--porcelain"), "")
	})
	t.Run("untracked attributes", func(t *testing.T) { // git heeds them when it writes files
		t.Parallel()
		r, base := fresh(t, "k/task.md", "a\nb\n", "k/old.md", "y\n", "k/n.txt", "1\n")
		repotest.Write(t, r.Root(), "k/.gitattributes", "*.md eol=crlf\n", ".gitattributes", "*.txt eol=crlf\n")
		next := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, changes("k/task.md", "z\n", "k/n.txt", "2\n"), agent, "m"))
		if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: next}); err != nil {
			t.Fatal(err)
		}
		repotest.Eq(t, "nearest", string(repotest.Must[[]byte](t)(os.ReadFile(filepath.Join(r.Root(), "k/task.md")))), "z\r\n")
		repotest.Eq(t, "top", string(repotest.Must[[]byte](t)(os.ReadFile(filepath.Join(r.Root(), "k/n.txt")))), "2\r\n")
		repotest.Eq(t, "status", repotest.Git(t, r.Root(), "status", "--porcelain"), "?? .gitattributes\n?? k/.gitattributes")
	})
	t.Run("links, modes and submodules", func(t *testing.T) {
		t.Parallel()
		r, base := fresh(t, "x", "1\n", "run", "#!/bin/sh\n", "gone", "1\n")
		repotest.Git(t, r.Root(), "checkout", "-q", "-b", "side")
		for _, l := range []string{"x", "link"} {
			os.Remove(filepath.Join(r.Root(), l))
			if err := os.Symlink("run", filepath.Join(r.Root(), l)); err != nil {
				t.Fatal(err)
			}
		}
		os.Chmod(filepath.Join(r.Root(), "run"), 0o755)
		repotest.Git(t, r.Root(), "add", "-A")
		repotest.Git(t, r.Root(), "update-index", "--add", "--cacheinfo", "160000,"+string(base)+",sub")
		repotest.Git(t, r.Root(), "commit", "-q", "-m", "side")
		next := repotest.Must[OID](t)(r.Ref("HEAD"))
		repotest.Git(t, r.Root(), "checkout", "-q", "main")
		if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: next}); err != nil {
			t.Fatal(err)
		}
		repotest.Eq(t, "status", repotest.Git(t, r.Root(), "status", "--porcelain"), "")
		if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: next, New: base}); err != nil {
			t.Fatal(err)
		}
		repotest.Eq(t, "status after the way back", repotest.Git(t, r.Root(), "status", "--porcelain"), "")
	})
	t.Run("file and folder swap", func(t *testing.T) {
		t.Parallel()
		r, base := fresh(t, "a/x", "1\n", "a/y", "2\n", "b", "3\n")
		next := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, Changes{"a/x": nil, "a/y": nil, "b": nil, "b/z": []byte("4\n")}, agent, "m"))
		next = repotest.Must[OID](t)(r.Make(ctx, []OID{next}, changes("a", "5\n"), agent, "m"))
		if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: next}); err != nil {
			t.Fatal(err)
		}
		repotest.Eq(t, "status", repotest.Git(t, r.Root(), "status", "--porcelain"), "")
	})
	t.Run("split index", func(t *testing.T) {
		t.Parallel()
		r, base := fresh(t, "k/task.md", "x\n", "k/old.md", "y\n")
		repotest.Git(t, r.Root(), "update-index", "--split-index")
		if err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: claim(t, r, base)}); err != nil {
			t.Fatal(err)
		}
		repotest.Eq(t, "status", repotest.Git(t, r.Root(), "status", "--porcelain"), "")
	})
}

// steps are the places a Move can be killed at; the person's state is board's.
var steps = []string{"marked", "locked", "staged", "checked", "moved", "remove k/old.md", "put k/task.md", "put k/new/n.md", "placed", "indexed", "unlocked"}

func TestMoveKilledBetweenSteps(t *testing.T) {
	t.Parallel()
	for _, step := range steps {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			killedAt(t, step)
		})
	}
}

func killedAt(t *testing.T, step string) {
	ctx := context.Background()
	r, base := board(t)
	before := person(t, r.Root())
	next := claim(t, r, base)
	reached := false
	r.step = func(s string) error {
		if s == step {
			reached = true
			return errStopped
		}
		return nil
	}
	err := r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: next})
	if !errors.Is(err, errStopped) || !reached {
		t.Fatalf("step %q: %v", step, err)
	}
	again := open(t, r.Root())
	kept := repotest.Must[[]string](t)(again.Recover(ctx))
	repotest.Eq(t, "kept", len(kept), 0)
	repotest.Eq(t, "the person's own work", person(t, r.Root()), before)
	quiet(t, again)
	repotest.Git(t, r.Root(), "fsck", "--strict")
	// Whatever the outcome, the next Move is an ordinary one.
	now := repotest.Must[OID](t)(again.Ref("HEAD"))
	if now == base {
		if err := again.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: next}); err != nil {
			t.Error(err)
		}
	}
	repotest.Eq(t, "after all", person(t, r.Root()), before)
}

func TestRecoverKeepsWhatAPersonWrote(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := board(t)
	next := claim(t, r, base)
	r.step = func(s string) error {
		if s == "moved" {
			return errStopped
		}
		return nil
	}
	r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: next})
	// git cannot commit now, by our lock, but an editor can write.
	repotest.Write(t, r.Root(), "k/task.md", "mine\n", "k/old.md", "mine too\n")
	if out, err := repotest.TryGit(r.Root(), "commit", "-qam", "x"); err == nil || !strings.Contains(out, "index.lock") {
		t.Errorf("a commit between ref and checkout: %s", out)
	}
	kept := repotest.Must[[]string](t)(open(t, r.Root()).Recover(ctx))
	repotest.Eq(t, "kept lines", fmt.Sprint(len(kept), strings.Contains(kept[0], "k/old.md"), strings.Contains(kept[1], "k/task.md")), "2 true true")
	repotest.Eq(t, "bytes", string(repotest.Must[[]byte](t)(os.ReadFile(filepath.Join(r.Root(), "k/task.md")))), "mine\n")
	repotest.Eq(t, "status", repotest.Git(t, r.Root(), "status", "--porcelain", "k"), " M k/task.md\n?? k/old.md")
	repotest.Eq(t, "told once", len(repotest.Must[[]string](t)(r.Recover(ctx))), 0)
	quiet(t, r)
}

func TestRecoverLeavesForeignLocks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := board(t)
	r.step = func(s string) error {
		if s == "moved" {
			return errStopped
		}
		return nil
	}
	r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: claim(t, r, base)})
	// A person followed git's advice, removed our lock, and works.
	repotest.Write(t, r.Root(), ".git/index.lock", "")
	if _, err := open(t, r.Root()).Recover(ctx); !errors.Is(err, ErrBusy) {
		t.Errorf("foreign lock: %v", err)
	}
	os.Remove(filepath.Join(r.Root(), ".git/index.lock"))
	repotest.Must[[]string](t)(open(t, r.Root()).Recover(ctx))
	repotest.Eq(t, "task", repotest.Git(t, r.Root(), "status", "--porcelain", "k/task.md"), "")
	quiet(t, r)
}

func TestRecoverRefLocks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := board(t)
	next := claim(t, r, base)
	r.step = func(s string) error {
		if s == "checked" {
			return errStopped
		}
		return nil
	}
	r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: base, New: next})
	repotest.Write(t, r.Root(), ".git/refs/heads/main.lock", string(next)+"\n", ".git/HEAD.lock", "", ".git/refs/heads/other.lock", "", ".git/reftable/tables.list.lock", "")
	repotest.Must[[]string](t)(open(t, r.Root()).Recover(ctx))
	if _, err := os.Stat(filepath.Join(r.CommonDir(), "reftable/tables.list.lock")); err == nil {
		t.Error("the lock of reftables is left")
	}
	if _, err := os.Stat(filepath.Join(r.CommonDir(), "refs/heads/other.lock")); err != nil {
		t.Error("a lock of another ref was removed")
	}
	os.Remove(filepath.Join(r.CommonDir(), "refs/heads/other.lock"))
	quiet(t, r)
	repotest.Eq(t, "ref", repotest.Must[OID](t)(r.Ref("refs/heads/main")), base)
}

func TestMoveRefusedByAHook(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	before := person(t, r.Root())
	hook(t, r.Root()+"/.git/hooks", "reference-transaction", "test $1 != prepared || { echo not today >&2; exit 1; }\n")
	err := r.Move(context.Background(), RefUpdate{Name: "refs/heads/main", Old: base, New: claim(t, r, base)})
	if err == nil || !strings.Contains(err.Error(), "hook") {
		t.Errorf("hook: %v", err)
	}
	repotest.Eq(t, "work", person(t, r.Root()), before)
	quiet(t, r)
}

func TestMoveIntoReadOnly(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	r, base := fresh(t, "k/task.md", "x\n", "k/old.md", "y\n")
	k := filepath.Join(r.Root(), "k")
	os.Chmod(k, 0o555)
	defer os.Chmod(k, 0o755)
	err := r.Move(context.Background(), RefUpdate{Name: "refs/heads/main", Old: base, New: claim(t, r, base)})
	if !errors.Is(err, ErrInTheWay) || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("read-only folder: %v", err)
	}
	if err := r.CheckWritable(); err != nil {
		t.Error(err)
	}
	objects := filepath.Join(r.CommonDir(), "objects")
	os.Chmod(objects, 0o555)
	defer os.Chmod(objects, 0o755)
	if err := r.CheckWritable(); err == nil || !strings.Contains(err.Error(), "your user may not write there") {
		t.Errorf("read-only .git: %v", err)
	}
	own := filepath.Join(r.CommonDir(), "odd")
	os.RemoveAll(own)
	os.Mkdir(own, 0o555)
	if _, err := r.LockDrain(); err == nil || !strings.Contains(err.Error(), "your user may not write there") {
		t.Errorf("the lock of a drain there: %v", err)
	}
}

func TestRecoverUnreadableMarker(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t)
	repotest.Write(t, r.CommonDir(), "odd/sync/x.json", "{")
	_, err := r.Recover(context.Background())
	if err == nil || !strings.Contains(err.Error(), "sync/x.json") || !strings.Contains(err.Error(), "remove the file") {
		t.Error(err)
	}
}

// A transaction that was killed leaves no lock of any of its refs, and no packed
// refs half written, whether a work tree shows one of them or none does. Locks of
// others stay.
func TestRecoverLocksOfATransaction(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, shown := range []bool{true, false} {
		r, base := board(t)
		repotest.Git(t, r.Root(), "branch", "gone", string(base))
		repotest.Git(t, r.Root(), "pack-refs", "--all")
		us := []RefUpdate{{Name: "refs/odd/base/run-1", Old: "", New: base}, {Name: "refs/heads/gone", Old: base, New: ""}}
		if shown {
			us = append(us, RefUpdate{Name: "refs/heads/main", Old: base, New: claim(t, r, base)})
		}
		r.step = func(s string) error {
			if s == "marked" {
				return errStopped
			}
			return nil
		}
		move := map[bool]func(context.Context, ...RefUpdate) error{true: r.Move, false: r.Update}[shown]
		if err := move(ctx, us...); !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		repotest.Write(t, r.CommonDir(), "refs/odd/base/run-1.lock", string(base)+"\n", "refs/heads/gone.lock", "", "packed-refs.lock", "", "packed-refs.new", "# pack-refs with",
			"refs/odd/base/run-2.lock", string(base)+"\n", "refs/heads/foreign.lock", "")
		if err := move(ctx, us[1]); err == nil || !strings.Contains(err.Error(), "stopped") {
			t.Errorf("the next one: %v", err)
		}
		r.step = nil
		repotest.Must[[]string](t)(open(t, r.Root()).Recover(ctx))
		for name, there := range map[string]bool{"refs/odd/base/run-1.lock": false, "refs/heads/gone.lock": false, "packed-refs.lock": false, "packed-refs.new": false, "refs/odd/base/run-2.lock": true, "refs/heads/foreign.lock": true} {
			p := filepath.Join(r.CommonDir(), name)
			if _, err := os.Stat(p); (err == nil) != there {
				t.Errorf("shown %t: %s: %v, want it there: %t", shown, name, err, there)
			}
			os.Remove(p)
		}
		if err := move(ctx, us...); err != nil {
			t.Errorf("shown %t: afterwards: %v", shown, err)
		}
		quiet(t, r)
	}
}

// Packed refs that somebody is writing are theirs: they hold the lock since a
// moment at which nobody was killed, or nothing was to be deleted.
func TestRecoverLeavesPackedRefsOfOthers(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	repotest.Git(t, r.Root(), "branch", "gone", string(base))
	for what, c := range map[string]struct {
		u     RefUpdate
		later time.Duration
	}{
		"another moment":    {RefUpdate{Name: "refs/heads/gone", Old: base, New: ""}, time.Hour},
		"nothing to delete": {RefUpdate{Name: "refs/odd/base/run-1", Old: "", New: base}, 0},
	} {
		r.step = func(string) error { return errStopped }
		r.Update(t.Context(), c.u)
		r.step = nil
		repotest.Write(t, r.CommonDir(), "packed-refs.lock", "", "packed-refs.new", "# pack-refs with")
		at := time.Now().Add(c.later)
		if err := os.Chtimes(filepath.Join(r.CommonDir(), "packed-refs.lock"), at, at); err != nil {
			t.Fatal(err)
		}
		repotest.Must[[]string](t)(open(t, r.Root()).Recover(t.Context()))
		for _, name := range []string{"packed-refs.lock", "packed-refs.new"} {
			if err := os.Remove(filepath.Join(r.CommonDir(), name)); err != nil {
				t.Error(what, err)
			}
		}
		quiet(t, r)
	}
}

// Who calls an Update off takes away git's locks, by git's own hand, and nobody else's.
func TestUpdateCalledOff(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	up := filepath.Join(t.TempDir(), "up")
	if out, err := exec.Command("mkfifo", up, up+"2").CombinedOutput(); err != nil {
		t.Skipf("no fifo: %s", out)
	}
	hook(t, r.Root()+"/.git/hooks", "reference-transaction", "test $1 = prepared || exit 0\necho >"+up+"\nread x <"+up+"2\n")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Update(ctx, RefUpdate{Name: "refs/odd/base/run-1", Old: "", New: base}) }()
	repotest.Must[[]byte](t)(os.ReadFile(up))
	if _, err := os.Stat(filepath.Join(r.CommonDir(), "refs/odd/base/run-1.lock")); err != nil {
		t.Fatal("git holds no lock: ", err)
	}
	others := []string{"packed-refs.lock", "packed-refs.new", "HEAD.lock"}
	for _, name := range others {
		repotest.Write(t, r.CommonDir(), name, "")
	}
	stop()
	if err := <-ended; err == nil {
		t.Error("it moved all the same")
	}
	for _, name := range others {
		if err := os.Remove(filepath.Join(r.CommonDir(), name)); err != nil {
			t.Error(err)
		}
	}
	quiet(t, r)
}

// In a shared repository others can read what a killed command left, and so take it away.
func TestMarkersAreReadByOthers(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	if err := os.Chmod(r.CommonDir(), 0o770); err != nil {
		t.Fatal(err)
	}
	r.step = func(s string) error {
		if s == "marked" {
			return errStopped
		}
		return nil
	}
	r.Update(t.Context(), RefUpdate{Name: "refs/odd/base/run-1", Old: "", New: base})
	for _, name := range local.Glob(r.OddPath("sync"), "*") {
		if st := repotest.Must[os.FileInfo](t)(os.Stat(name)); st.Mode().Perm()&0o060 != 0o060 {
			t.Errorf("%s: %s", name, st.Mode())
		}
	}
	r.step = nil
	repotest.Must[[]string](t)(r.Recover(t.Context()))
	quiet(t, r)
}

// An index.lock that cannot be read may be a killed command's own: what says so stays.
func TestRecoverBeforeAnUnreadableLock(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	r.step = func(s string) error {
		if s == "marked" {
			return errStopped
		}
		return nil
	}
	r.Move(t.Context(), RefUpdate{Name: "refs/heads/main", Old: base, New: claim(t, r, base)})
	r.step = nil
	lock := filepath.Join(r.CommonDir(), "index.lock")
	if err := os.Mkdir(lock, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Recover(t.Context()); err == nil || !strings.Contains(err.Error(), "index.lock") {
		t.Errorf("a lock nobody can read: %v", err)
	}
	os.Remove(lock)
	repotest.Must[[]string](t)(r.Recover(t.Context()))
	quiet(t, r)
}

// A work tree that a killed PersonCommit left is gone after the next command, and not while one is at work.
func TestRecoverRemovesCommitWorktrees(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := board(t)
	tree := r.OddPath("tmp", "commit-x", "commit-x")
	repotest.Git(t, r.Root(), "worktree", "add", "-q", "--no-checkout", "--detach", tree, string(base))
	lock := repotest.Must[*flock.Flock](t)(r.TryLock("commit.lock"))
	repotest.Must[[]string](t)(r.Recover(ctx))
	if _, err := os.Stat(tree); err != nil {
		t.Errorf("a work tree in use was removed: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	repotest.Must[[]string](t)(r.Recover(ctx))
	if out := repotest.Git(t, r.Root(), "worktree", "list"); strings.Contains(out, "commit-x") {
		t.Errorf("git still lists it\n%s", out)
	}
	if _, err := os.Stat(r.OddPath("tmp", "commit-x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the work tree is still there: %v", err)
	}
}

// A marker whose writer was killed before it had its name is swept by the next command.
func TestRecoverSweepsDrafts(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a", "1\n")
	repotest.Write(t, r.CommonDir(), "odd/sync/.x.json12", "{")
	if kept, err := r.Recover(t.Context()); err != nil || len(kept) > 0 {
		t.Fatal(kept, err)
	}
	repotest.Eq(t, "left", len(r.listDrafts()), 0)
}
