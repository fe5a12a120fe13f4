package repo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo/object"
	"github.com/odd-cli/odd/journal/repo/repotest"
)

// theChange is a change of several files of board, of which one is made executable.
func theChange() []FileEdit {
	return []FileEdit{
		{Path: "k/task.md", Before: []byte("state: ready\n"), After: []byte("state: done\n"), OldMode: object.ModeFile, NewMode: object.ModeFile},
		{Path: "k/old.md", Before: []byte("old\n"), OldMode: object.ModeFile},
		{Path: "k/old.md/now/a/folder", After: []byte("x\n"), NewMode: object.ModeFile},
		{Path: "tools/run", After: []byte("#!/bin/sh\n"), NewMode: object.ModeExec},
		{Path: "staged", Before: []byte("1\n"), After: []byte("1\n"), OldMode: object.ModeFile, NewMode: object.ModeExec},
		{Path: "empty", After: []byte{}, NewMode: object.ModeFile},
	}
}

// change is made by MakeEdits and lands by Move, as the board's changes of files do.
type change struct {
	Ref     string
	Old     OID
	Parents []OID
	Files   []FileEdit
	Message string
}

func (l change) apply(ctx context.Context, r *Repo) (OID, error) {
	next, err := r.MakeEdits(ctx, l.Parents, l.Files, agent, l.Message)
	if err == nil {
		err = r.testStep("made")
	}
	if err == nil {
		err = r.Move(ctx, RefUpdate{Name: l.Ref, Old: l.Old, New: next})
	}
	return next, err
}

func landing(base OID) change {
	return change{Ref: "refs/heads/odd/review/t.1", Parents: []OID{base}, Files: theChange(), Message: "propose: t\n\nOdd-Task: t\n"}
}

func TestApply(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	before, files, index := person(t, r.Root()), work(t, r), stat(t, r)
	next := repotest.Must[OID](t)(landing(base).apply(context.Background(), r))
	repotest.Eq(t, "ref", repotest.Must[OID](t)(r.Ref("refs/heads/odd/review/t.1")), next)
	repotest.Eq(t, "raw", repotest.Git(t, r.Root(), "diff-tree", "--no-commit-id", "-r", "--format=", "--abbrev=4", "--name-status", string(next)),
		"A\tempty\nD\tk/old.md\nA\tk/old.md/now/a/folder\nM\tk/task.md\nM\tstaged\nA\ttools/run")
	repotest.Eq(t, "executable", repotest.Git(t, r.Root(), "ls-tree", "-r", "--format=%(objectmode) %(path)", string(next), "staged", "tools/run", "empty"),
		"100644 empty\n100755 staged\n100755 tools/run")
	repotest.Eq(t, "trailer", repotest.Git(t, r.Root(), "log", "-1", "--format=%an %cn %(trailers:key=Odd-Task,valueonly,separator=)", string(next)), "odd-agent odd-agent t")
	repotest.Eq(t, "the person's edits", person(t, r.Root()), before)
	repotest.Eq(t, "work tree", work(t, r), files)
	repotest.Eq(t, "index and HEAD", stat(t, r), index)
	repotest.Git(t, r.Root(), "fsck", "--strict")
}

// work is every file outside .git.
func work(t testing.TB, r *Repo) map[string]string {
	out := repotest.Everything(t, r.Root())
	for p := range out {
		if strings.HasPrefix(p, "/.git/") {
			delete(out, p)
		}
	}
	return out
}

// stat is the bytes of the index, of HEAD and of the configuration.
func stat(t testing.TB, r *Repo) map[string]string {
	out := repotest.Everything(t, r.Root())
	return map[string]string{"index": out["/.git/index"], "HEAD": out["/.git/HEAD"], "config": out["/.git/config"]}
}

func TestApplyLosesARace(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	l := landing(base)
	first := repotest.Must[OID](t)(l.apply(context.Background(), r))
	_, err := l.apply(context.Background(), r)
	if !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), string(first[:12])) {
		t.Errorf("created meanwhile: %v", err)
	}
	l.Old, l.Message = base, "another"
	_, err = l.apply(context.Background(), r)
	if !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), string(first[:12])) || !strings.Contains(err.Error(), string(base[:12])) {
		t.Errorf("moved meanwhile, want both commits named: %v", err)
	}
	repotest.Eq(t, "ref", repotest.Must[OID](t)(r.Ref(l.Ref)), first)
}

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	ctx := context.Background()
	moved := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, changes("k/task.md", "state: blocked\n", "tools/run", "theirs"), agent, "m"))
	same := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, changes("other", "x"), agent, "m"))
	if _, err := r.MakeEdits(ctx, []OID{same}, theChange(), agent, "m"); err != nil {
		t.Errorf("a neighbour moved: %v", err)
	}
	file := func(p, before, after, from, to string) FileEdit {
		e := FileEdit{Path: p, OldMode: from, NewMode: to}
		if from != "" {
			e.Before = []byte(before)
		}
		if to != "" {
			e.After = []byte(after)
		}
		return e
	}
	for name, tc := range map[string]struct {
		on    OID
		files []FileEdit
		want  string
	}{
		"stale":          {moved, theChange(), "k/task.md: changed since"},
		"every stale":    {moved, theChange(), "tools/run: changed since"},
		"gone":           {base, []FileEdit{file("nowhere", "x", "y", object.ModeFile, object.ModeFile)}, "nowhere: changed since"},
		"mode moved":     {base, []FileEdit{file("staged", "1\n", "2\n", object.ModeExec, object.ModeExec)}, "staged: changed since"},
		"twice":          {base, []FileEdit{file("a", "", "x", "", object.ModeFile), file("a", "", "y", "", object.ModeFile)}, "a: changed twice"},
		"link":           {base, []FileEdit{file("a", "", "x", "", object.ModeLink)}, "does not go with"},
		"no mode":        {base, []FileEdit{{Path: "a", After: []byte("x")}}, "does not go with"},
		"mode of none":   {base, []FileEdit{{Path: "a", NewMode: object.ModeFile}}, "does not go with"},
		"path":           {base, []FileEdit{file("../a", "", "x", "", object.ModeFile)}, "inside the repository"},
		"git":            {base, []FileEdit{file(".git/hooks/pre-commit", "", "x", "", object.ModeExec)}, "git's own directory"},
		"over a folder":  {base, []FileEdit{file("k", "", "x", "", object.ModeFile)}, "is a folder"},
		"below a file":   {base, []FileEdit{file("staged/x", "", "x", "", object.ModeFile)}, "is a file"},
		"no such parent": {OID(strings.Repeat("1", 40)), theChange(), "1111"},
	} {
		l := landing(tc.on)
		l.Files = tc.files
		_, err := l.apply(ctx, r)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
		if strings.Contains(tc.want, "changed since") && !errors.Is(err, ErrStale) {
			t.Errorf("%s: %v is not ErrStale", name, err)
		}
	}
	if _, err := r.Ref("refs/heads/odd/review/t.1"); !errors.Is(err, ErrNoRef) {
		t.Errorf("a refused change moved the ref: %v", err)
	}
}

// A file in the place of the folder it empties, and the other way round.
func TestMakeSwapsFileAndFolder(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a/b", "1", "c", "2")
	next := repotest.Must[OID](t)(r.Make(context.Background(), []OID{base}, Changes{"a/b": nil, "a": []byte("file"), "c": nil, "c/d": []byte("3")}, agent, "m"))
	repotest.Eq(t, "tree", repotest.Git(t, r.Root(), "ls-tree", "-r", "--name-only", string(next)), "a\nc/d")
}

// applyInChild applies the change in dir and tells its steps.
func applyInChild(dir string) int {
	r, err := Open(dir, os.Environ())
	if err != nil {
		return 2
	}
	r.step = func(s string) error { fmt.Println("step", s); return nil }
	base, err := r.Ref("refs/heads/main")
	if err != nil {
		return 2
	}
	l := landing(base)
	if os.Getenv("ODD_TEST_APPLY") == "main" { // a branch that is checked out
		l.Ref, l.Old = "refs/heads/main", base
		l.Files = l.Files[:3]
	}
	fmt.Println("step begin")
	if _, err := l.apply(context.Background(), r); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// Killed at any step and between any two, the ref is at one commit or at the other and nothing of a person's is lost.
func TestApplySIGKILL(t *testing.T) {
	t.Parallel()
	for k := range 14 {
		for _, at := range []string{"branch", "main"} {
			if at == "branch" && k > 2 {
				continue // its steps are few: begin, made, and the end
			}
			r, base := board(t)
			before := person(t, r.Root())
			cmd := child(t, r.Root(), "ODD_TEST_APPLY="+at)
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			sc := bufio.NewScanner(out)
			for i := 0; i <= k && sc.Scan(); i++ {
			}
			cmd.Process.Kill()
			cmd.Wait()
			repotest.Eq(t, fmt.Sprintf("kept at %d", k), repotest.Must[[]string](t)(r.Recover(context.Background())), nil)
			repotest.Git(t, r.Root(), "fsck", "--strict")
			name := "refs/heads/odd/review/t.1"
			if at == "main" {
				name = "refs/heads/main"
			} else {
				repotest.Eq(t, fmt.Sprintf("%s, step %d", at, k), person(t, r.Root()), before)
			}
			now, err := r.Ref(name)
			if at == "branch" && errors.Is(err, ErrNoRef) || at == "main" && now == base {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			repotest.Eq(t, "the whole change", len(repotest.Must[[]Change](t)(r.Diff(context.Background(), base, now))) >= 3, true)
			repotest.Eq(t, "its parent", repotest.Must[Commit](t)(r.Commit(now)).Parents, []OID{base})
		}
	}
}
