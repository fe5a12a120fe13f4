package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// TestMain gives every test, and every git it starts, a home of its own.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		// What a test starts to kill has that test's home, and could not remove its own.
		if os.Getenv("ODD_TEST_APPLY") != "" {
			return applyInChild(os.Getenv("ODD_TEST_MOVE"))
		}
		if dir := os.Getenv("ODD_TEST_MOVE"); dir != "" {
			return moveInChild(dir)
		}
		return repotest.Run(m)
	}())
}

var agent = Signature{Name: "odd-agent", Email: "odd@localhost", When: time.Unix(1_800_000_000, 0).UTC()}

// fresh makes a repository with one commit of the files on main.
func fresh(t testing.TB, files ...string) (*Repo, OID) {
	t.Helper()
	return freshAs(t, nil, files...)
}

// freshAs is fresh with more arguments for git init.
func freshAs(t testing.TB, initArgs []string, files ...string) (*Repo, OID) {
	t.Helper()
	dir := repotest.Fresh(t, initArgs, files...)
	return open(t, dir), OID(repotest.Git(t, dir, "rev-parse", "HEAD"))
}

func open(t testing.TB, dir string) *Repo {
	t.Helper()
	r, err := Open(dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func changes(kv ...string) Changes {
	ch := Changes{}
	for i := 0; i < len(kv); i += 2 {
		ch[kv[i]] = []byte(kv[i+1])
	}
	return ch
}

func TestReadsOnBothStores(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		init, then []string // arguments of git init; a git command afterwards
		slow       bool     // go-git declines it
	}{
		"plain":          {},
		"packed":         {then: []string{"gc", "-q"}},
		"worktreeConfig": {then: []string{"sparse-checkout", "set", "--cone", "d"}, slow: true},
		"shared":         {init: []string{"--shared=group"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, base := freshAs(t, tc.init, "a.md", "one\n", "d/b.md", "two\n", "d/e/c.sh", "three\n")
			if tc.then != nil {
				repotest.Git(t, r.Root(), tc.then...)
				r = open(t, r.Root())
			}
			repotest.Eq(t, "git reads", !r.InProcess(), tc.slow)
			readAll(t, r, base)
		})
	}
}

// A repository of a newer git, whose format go-git does not know, is git's to read and write.
func TestUnknownFormats(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"refStorage = reftable", "relativeWorktrees = true", "compatObjectFormat = sha256", "anythingNew = 1"} {
		r, _ := fresh(t, "a", "1\n")
		conf := filepath.Join(r.CommonDir(), "config")
		b := repotest.Must[[]byte](t)(os.ReadFile(conf))
		text := strings.Replace(string(b), "repositoryformatversion = 0", "repositoryformatversion = 1", 1) + "[extensions]\n\t" + key + "\n"
		if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r = open(t, r.Root())
		repotest.Eq(t, key+": odd reads refs", r.InProcess(), false)
	}
}

func readAll(t *testing.T, r *Repo, base OID) {
	ctx := context.Background()
	repotest.Eq(t, "branch", repotest.Must[string](t)(r.Branch()), "main")
	repotest.Eq(t, "ref", repotest.Must[OID](t)(r.Ref("refs/heads/main")), base)
	if _, err := r.Ref("refs/heads/none"); !errors.Is(err, ErrNoRef) {
		t.Errorf("missing ref: %v", err)
	}
	f := repotest.Must[fs.FS](t)(r.Tree(base))
	if err := fstest.TestFS(f, "a.md", "d/b.md", "d/e/c.sh"); err != nil {
		t.Error(err)
	}
	var all []string
	for range 257 {
		all = append(all, "a.md")
	}
	n := 0
	if err := f.(TreeFS).ReadMany(all, func(_ string, b []byte) error { n += len(b); return nil }); err != nil || n != 4*len(all) {
		t.Errorf("a stream of %d: %d bytes, %v", len(all), n, err)
	}
	var many []string
	err := f.(TreeFS).ReadMany([]string{"d/e/c.sh", "a.md"}, func(n string, b []byte) error {
		many = append(many, n+"="+string(b))
		return nil
	})
	repotest.Eq(t, "many", many, []string{"d/e/c.sh=three\n", "a.md=one\n"})
	if err != nil {
		t.Error(err)
	}
	next := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, Changes{"a.md": []byte("uno\n"), "d/b.md": nil, "n/x.md": []byte{}}, agent, "x: y\n\nOdd-Run: r1\nodd-task: t"))
	repotest.Eq(t, "diff", diffText(t, r, base, next), "M a.md|D d/b.md|A n/x.md")
	c := repotest.Must[Commit](t)(r.Commit(next))
	repotest.Eq(t, "author", c.Author, agent)
	repotest.Eq(t, "parents", c.Parents, []OID{base})
	repotest.Eq(t, "trailer", c.Trailer("Odd-Task"), []string{"t"})
	if out, err := repotest.TryGit(r.Root(), "fsck", "--strict"); err != nil {
		t.Errorf("fsck: %s", out)
	}
	if err := r.Move(ctx, RefUpdate{Name: "refs/odd/x", Old: "", New: next}, RefUpdate{Name: "refs/heads/main", Old: base, New: next}); err != nil {
		t.Error(err)
	}
	repotest.Eq(t, "status", repotest.Git(t, r.Root(), "status", "--porcelain"), "")
	var log []OID
	for c, err := range r.Log(ctx, "", next) {
		if err != nil {
			t.Error(err)
		}
		log = append(log, c.OID)
	}
	repotest.Eq(t, "log", log, []OID{next, base})
	repotest.Eq(t, "merge base", repotest.Must[OID](t)(r.MergeBase(ctx, base, next)), base)
	repotest.Eq(t, "tree of d", repotest.Must[OID](t)(r.TreeOID(base, "d")), OID(repotest.Git(t, r.Root(), "rev-parse", string(base)+":d")))
}

func diffText(t *testing.T, r *Repo, a, b OID) string {
	t.Helper()
	var out []string
	for _, c := range repotest.Must[[]Change](t)(r.Diff(context.Background(), a, b)) {
		k := "M"
		if c.OldMode == "" {
			k = "A"
		} else if c.NewMode == "" {
			k = "D"
		}
		out = append(out, k+" "+c.Path)
	}
	return strings.Join(out, "|")
}

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Open(dir, os.Environ()); !errors.Is(err, ErrNotRepo) {
		t.Errorf("outside: %v", err)
	}
	r := repotest.Must[*Repo](t)(Init(context.Background(), dir, os.Environ()))
	if _, err := r.Resolve(context.Background(), "HEAD"); !errors.Is(err, ErrNoCommit) {
		t.Errorf("unborn HEAD: %v", err)
	}
	repotest.Eq(t, "unborn branch", repotest.Must[string](t)(r.Branch()), "main")
	repotest.Write(t, dir, "a/b/f", "x")
	repotest.Eq(t, "prefix", open(t, filepath.Join(dir, "a", "b")).prefix, "a/b")
	repotest.Git(t, dir, "add", "-A")
	repotest.Git(t, dir, "commit", "-q", "-m", "x")
	repotest.Git(t, dir, "worktree", "add", "-q", "../"+filepath.Base(dir)+"-wt", "-b", "side")
	w := open(t, dir+"-wt")
	repotest.Eq(t, "common of a linked tree", w.CommonDir(), r.CommonDir())
	repotest.Eq(t, "branch of a linked tree", repotest.Must[string](t)(w.Branch()), "side")
	repotest.Eq(t, "ref from a linked tree", repotest.Must[OID](t)(w.Ref("refs/heads/main")), repotest.Must[OID](t)(r.Ref("refs/heads/main")))
	repotest.Git(t, dir, "checkout", "-q", "--detach")
	repotest.Eq(t, "detached", repotest.Must[string](t)(r.Branch()), "")
	bare := t.TempDir()
	repotest.Git(t, bare, "clone", "-q", "--bare", dir, ".")
	repotest.Eq(t, "bare root", open(t, bare).Root(), "")
}

func TestMakeKeepsModes(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "run.sh", "#!/bin/sh\n", "a.md", "a", "z/y.md", "y")
	repotest.Must[string](t)(repotest.TryGit(r.Root(), "update-index", "--chmod=+x", "run.sh"))
	repotest.Git(t, r.Root(), "commit", "-q", "-m", "x")
	base := repotest.Must[OID](t)(r.Ref("HEAD"))
	next := repotest.Must[OID](t)(r.Make(context.Background(), []OID{base}, changes("run.sh", "new", "z.md", "z", "z/a/b", "c"), agent, "m"))
	repotest.Eq(t, "tree", repotest.Git(t, r.Root(), "ls-tree", "-r", "--format=%(objectmode) %(path)", string(next)),
		"100644 a.md\n100755 run.sh\n100644 z.md\n100644 z/a/b\n100644 z/y.md")
	repotest.Git(t, r.Root(), "fsck", "--strict")
}

func TestMakeRefuses(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "f", "x", "d/g", "y")
	if err := os.Symlink("f", filepath.Join(r.Root(), "l")); err != nil {
		t.Fatal(err)
	}
	repotest.Git(t, r.Root(), "add", "-A")
	repotest.Git(t, r.Root(), "commit", "-q", "-m", "link")
	base := repotest.Must[OID](t)(r.Ref("HEAD"))
	bad := agent
	bad.Name = "a\nb"
	for name, tc := range map[string]struct {
		ch   Changes
		who  Signature
		msg  string
		want string
	}{
		"dot dot":      {changes("../x", ""), agent, "m", "inside the repository"},
		"absolute":     {changes("/x", ""), agent, "m", "inside the repository"},
		"empty":        {changes("", ""), agent, "m", "inside the repository"},
		"git dir":      {changes("a/.GIT/hooks/x", ""), agent, "m", "git's own directory"},
		"windows git":  {changes("GIT~1/config", ""), agent, "m", "git's own directory"},
		"newline":      {changes("a\nb", ""), agent, "m", "line breaks"},
		"file is dir":  {changes("d", ""), agent, "m", "is a folder"},
		"dir is file":  {changes("f/x", ""), agent, "m", "is a file"},
		"both":         {changes("n", "", "n/x", ""), agent, "m", "cannot be a file"},
		"link":         {changes("l", ""), agent, "m", "symbolic link"},
		"identity":     {changes("n", ""), bad, "m", "line breaks"},
		"nul message":  {changes("n", ""), agent, "m\x00", "NUL"},
		"empty commit": {changes("n", ""), agent, " \n", "empty"},
	} {
		_, err := r.Make(context.Background(), []OID{base}, tc.ch, tc.who, tc.msg)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	next := repotest.Must[OID](t)(r.Make(context.Background(), []OID{base}, Changes{"f": nil, "f/x": []byte("1"), "gone": nil}, agent, "m"))
	repotest.Eq(t, "file to folder", diffText(t, r, base, next), "D f|A f/x")
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := fresh(t, "f", "x")
	next := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, changes("f", "y"), agent, "m"))
	set := func(us ...RefUpdate) error { return r.Update(ctx, us...) }
	if err := set(RefUpdate{Name: "refs/odd/a", Old: "", New: base}, RefUpdate{Name: "refs/odd/b", Old: "", New: base}); err != nil {
		t.Fatal(err)
	}
	if err := set(RefUpdate{Name: "refs/odd/c", Old: "", New: base}, RefUpdate{Name: "refs/odd/a", Old: "", New: next}); !errors.Is(err, ErrMoved) {
		t.Errorf("create over: %v", err)
	}
	if _, err := r.Ref("refs/odd/c"); !errors.Is(err, ErrNoRef) {
		t.Errorf("half a transaction: %v", err)
	}
	if err := set(RefUpdate{Name: "refs/odd/a", Old: next, New: base}); !errors.Is(err, ErrMoved) {
		t.Errorf("wrong old: %v", err)
	}
	if err := set(RefUpdate{Name: "refs/odd/none", Old: next, New: base}); !errors.Is(err, ErrMoved) {
		t.Errorf("old of an absent ref: %v", err)
	}
	if err := set(RefUpdate{Name: "refs/odd/a/b", Old: "", New: base}); err == nil || !strings.Contains(err.Error(), "refs/odd/a exists") {
		t.Errorf("folder under a ref: %v", err)
	}
	if err := set(RefUpdate{Name: "refs/odd", Old: "", New: base}); err == nil || !strings.Contains(err.Error(), "refs/odd/a exists") {
		t.Errorf("ref over a folder: %v", err)
	}
	if err := set(RefUpdate{Name: "refs/odd/a", Old: base, New: ""}, RefUpdate{Name: "refs/odd/b", Old: base, New: next}); err != nil {
		t.Error(err)
	}
	repotest.Eq(t, "refs", repotest.Must[[]RefUpdate](t)(r.Refs("refs/odd/")), []RefUpdate{{Name: "refs/odd/b", New: next}})
	for _, n := range []string{"main", "refs/heads/..", "refs/heads/a b", "refs/heads/x.lock", "refs/heads/-\n"} {
		if err := set(RefUpdate{Name: n, Old: "", New: base}); err == nil || errors.Is(err, ErrMoved) {
			t.Errorf("%q: %v", n, err)
		}
	}
}

func TestUpdateRace(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := fresh(t, "f", "x")
	errs := make(chan error)
	for i := range 8 {
		go func() {
			next, err := r.Make(ctx, []OID{base}, changes("f", fmt.Sprint(i)), agent, "m")
			if err == nil {
				err = r.Update(ctx, RefUpdate{Name: "refs/odd/x", Old: "", New: next})
			}
			errs <- err
		}()
	}
	won := 0
	for range 8 {
		err := <-errs
		if err == nil {
			won++
		} else if !errors.Is(err, ErrMoved) && !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
	}
	repotest.Eq(t, "winners", won, 1)
}

func TestDirty(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "k/a.md", "a", "k/b.md", "b", "o/c.md", "c", ".gitignore", "*.log\n")
	repotest.Write(t, r.Root(), "k/a.md", "A", "k/new ü.md", "n", "k/x.log", "l", "o/c.md", "C")
	repotest.Git(t, r.Root(), "rm", "-q", "--cached", "k/b.md")
	repotest.Eq(t, "below k", repotest.Must[[]string](t)(r.Dirty(context.Background(), "k")), []string{"k/a.md", "k/b.md", "k/new ü.md"})
	repotest.Eq(t, "all", len(repotest.Must[[]string](t)(r.Dirty(context.Background()))), 4)
	repotest.Eq(t, "below a file that is not there", len(repotest.Must[[]string](t)(r.Dirty(context.Background(), "none/"))), 0)
}

func TestWriteAndStage(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a/b.md", "x", "run", "x")
	if err := os.Chmod(filepath.Join(r.Root(), "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(r.Root(), "out")); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(Changes{"a/b.md": nil, "n/m/o.md": []byte("o"), "run": []byte("y")}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.Root(), "a")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty folder stays: %v", err)
	}
	st := repotest.Must[os.FileInfo](t)(os.Stat(filepath.Join(r.Root(), "run")))
	repotest.Eq(t, "mode", st.Mode().Perm(), 0o755)
	for _, p := range []string{"out/x", "out", "../x", ".git/config"} {
		if err := r.Write(changes(p, "bad")); err == nil {
			t.Errorf("%s: written", p)
		}
	}
	if err := r.Stage(context.Background(), "a/b.md", "n/m/o.md"); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "staged", repotest.Git(t, r.Root(), "diff", "--cached", "--name-status"), "D\ta/b.md\nA\tn/m/o.md")
}

// Many files are written as one is: whole, in the order of their paths up to the
// first that fails, with nothing left beside them.
func TestWriteManyStopsAtTheFirstError(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "d/005", "old", "d/100", "old", "e", "old")
	if err := os.Mkdir(filepath.Join(r.Root(), "d", "299"), 0o755); err != nil {
		t.Fatal(err)
	}
	name := func(i int) string { return fmt.Sprintf("d/%03d", i) }
	ch := Changes{"e": nil}
	for i := range 400 {
		ch[name(i)] = fmt.Append(nil, i)
	}
	ch[name(100)] = nil
	ch["d/100/x"] = []byte("a folder in the place of a file")
	err := r.Write(ch)
	if err == nil || !strings.HasPrefix(err.Error(), "d/299: is not a regular file") {
		t.Fatalf("%v, want that d/299 is a folder", err)
	}
	for i := range 400 {
		want := ""
		if i < 299 && i != 100 {
			want = fmt.Sprint(i)
		}
		if b, err := os.ReadFile(filepath.Join(r.Root(), name(i))); string(b) != want {
			t.Errorf("%s holds %q, want %q: %v", name(i), b, want, err)
		}
	}
	repotest.Eq(t, "below", string(repotest.Must[[]byte](t)(os.ReadFile(filepath.Join(r.Root(), "d/100/x")))), "a folder in the place of a file")
	repotest.Eq(t, "after it", string(repotest.Must[[]byte](t)(os.ReadFile(filepath.Join(r.Root(), "e")))), "old")
	left, _ := filepath.Glob(filepath.Join(r.Root(), "d", ".*"))
	repotest.Eq(t, "left aside", len(left), 0)
}

func TestLockDrain(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t)
	unlock := repotest.Must[func() error](t)(r.LockDrainFor("run-1"))
	_, err := open(t, r.Root()).LockDrain()
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), fmt.Sprintf("(pid %d run-1)", os.Getpid())) {
		t.Errorf("second lock: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "a drain where this process lives on without the lock", r.Draining(), false)
	repotest.Must[func() error](t)(r.LockDrain())
	repotest.Eq(t, "a drain", r.Draining(), true)
}

// A run is killed that keeps a base, holds no lock of its own and is of no living drain.
func TestKilledRuns(t *testing.T) {
	t.Parallel()
	r, base := fresh(t)
	repotest.Eq(t, "none", repotest.Must[[]string](t)(r.KilledRuns()), nil)
	for _, run := range []string{"run-1", "run-2"} {
		repotest.Git(t, r.Root(), "update-ref", "refs/odd/base/"+run, string(base))
	}
	defer repotest.Must[func()](t)(r.LockRun("run-1"))()
	unlock := repotest.Must[func() error](t)(r.LockDrainFor("run-2"))
	repotest.Eq(t, "a drain at work", repotest.Must[[]string](t)(r.KilledRuns()), nil)
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "killed", repotest.Must[[]string](t)(r.KilledRuns()), []string{"run-2"})
}

// A run that works beside others lives as long as its lock is held: not before, and not
// when its process was killed.
func TestLockRun(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t)
	repotest.Eq(t, "never", r.RunLives("run-1"), false)
	unlock := repotest.Must[func()](t)(r.LockRun("run-1"))
	repotest.Eq(t, "at work", []bool{r.RunLives("run-1"), open(t, r.Root()).RunLives("run-1"), r.RunLives("run-2")}, []bool{true, true, false})
	if _, err := open(t, r.Root()).LockRun("run-1"); !errors.Is(err, ErrBusy) {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	repotest.Eq(t, "ended", r.RunLives("run-1"), false)
	repotest.Write(t, r.CommonDir(), "odd/run-3.lock", "")
	repotest.Eq(t, "killed", r.RunLives("run-3"), false)
	left, _ := filepath.Glob(filepath.Join(r.CommonDir(), "odd", "run-*"))
	repotest.Eq(t, "left", len(left), 0)
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t)
	repotest.Git(t, r.Root(), "config", "user.email", "bo@example.org")
	id := repotest.Must[Signature](t)(r.Identity(context.Background()))
	repotest.Eq(t, "identity", id.Name+" "+id.Email, "Ann bo@example.org")
	repotest.Git(t, r.Root(), "config", "user.email", "")
	r.settings.last = nil
	if _, err := r.Identity(context.Background()); err == nil || !strings.Contains(err.Error(), "git config user.email") {
		t.Errorf("no email: %v", err)
	}
}

func TestSurvivesRepack(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "f", "x")
	repotest.Must[Commit](t)(r.Commit(base))
	repotest.Write(t, r.Root(), "g", "y")
	repotest.Git(t, r.Root(), "add", "-A")
	repotest.Git(t, r.Root(), "commit", "-q", "-m", "two")
	repotest.Git(t, r.Root(), "gc", "-q")
	two := repotest.Must[OID](t)(r.Ref("HEAD"))
	f := repotest.Must[fs.FS](t)(r.Tree(two))
	repotest.Eq(t, "after gc", string(repotest.Must[[]byte](t)(fs.ReadFile(f, "g"))), "y")
	if _, err := r.Blob(OID(strings.Repeat("1", 40))); err == nil {
		t.Errorf("missing blob: %v", err)
	}
}

func TestLogAndPatch(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := fresh(t, "a ü.md", "one\n", "b.md", "one\n")
	tips := []OID{base}
	for i := range 3 {
		tips = append(tips, repotest.Must[OID](t)(r.Make(ctx, tips[i:], changes("a ü.md", fmt.Sprint(i, "\n"), "b.md", fmt.Sprint(i, "\n")), agent, "m")))
	}
	var got []OID
	for c, err := range r.Log(ctx, tips[1], tips[3]) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.OID)
	}
	repotest.Eq(t, "range", got, []OID{tips[3], tips[2]})
	merge := repotest.Must[OID](t)(r.Make(ctx, []OID{tips[3], base}, nil, agent, "m"))
	for _, c := range []struct {
		from, to OID
		want     []OID
	}{{tips[2], tips[3], []OID{tips[3]}}, {tips[3], tips[3], nil}, {base, merge, []OID{merge, tips[3], tips[2], tips[1]}}} {
		var got []OID
		for c, err := range r.Log(ctx, c.from, c.to) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c.OID)
		}
		repotest.Eq(t, "short range", got, c.want)
	}
	for c := range r.Log(ctx, "", tips[3]) {
		repotest.Eq(t, "first of a loop that stops", c.OID, tips[3])
		break
	}
	for _, err := range r.Log(ctx, "--all", tips[3]) {
		if err == nil {
			t.Error("an option for an id was accepted")
		}
	}
	patch := string(repotest.Must[[]byte](t)(r.Patch(ctx, base, tips[1], "a ü.md")))
	if !strings.Contains(patch, "+++ b/a ü.md") || strings.Contains(patch, "b/b.md") || strings.Contains(patch, "\x1b") {
		t.Errorf("patch of one path:\n%s", patch)
	}
	lines := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, changes("a ü.md", "one\ntwo\n", "raw", "\x00\x01"), agent, "m"))
	repotest.Eq(t, "changed lines", repotest.Must[[]Lines](t)(r.ChangedLines(ctx, base, lines)), []Lines{{Path: "a ü.md", Added: 1}, {Path: "raw", Added: -1, Removed: -1}})
	if ok := repotest.Must[bool](t)(r.Ancestor(ctx, tips[1], tips[0])); ok {
		t.Error("a child is no ancestor")
	}
	repotest.Eq(t, "refs by the start of their name", repotest.Must[[]RefUpdate](t)(r.Refs("refs/heads/ma")), []RefUpdate{{Name: "refs/heads/main", New: base}})
}

// A change's own .gitattributes, checked out and in the index, hides none of its files.
func TestPatchHeedsNoAttributes(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "tool.sh", "true\n")
	repotest.Write(t, r.Root(), "tool.sh", "rm -rf /\n", ".gitattributes", "*.sh -diff\n.gitattributes binary\n")
	repotest.Git(t, r.Root(), "add", "-A")
	repotest.Git(t, r.Root(), "commit", "-q", "-m", "quiet")
	patch := string(repotest.Must[[]byte](t)(r.Patch(context.Background(), base, repotest.Must[OID](t)(r.Ref("HEAD")))))
	for _, want := range []string{"+rm -rf /", "+*.sh -diff"} {
		if !strings.Contains(patch, want) {
			t.Errorf("the patch does not show %q:\n%s", want, patch)
		}
	}
}

func TestOpenFromWithinGit(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "k/task.md", "x\n", "k/old.md", "y\n")
	in := open(t, filepath.Join(r.Root(), ".git", "refs"))
	repotest.Eq(t, "root", in.Root(), r.Root())
	if err := in.Move(context.Background(), RefUpdate{Name: "refs/heads/main", Old: base, New: claim(t, in, base)}); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "the checkout came along", repotest.Git(t, r.Root(), "status", "--porcelain"), "")
}

func TestShallow(t *testing.T) {
	t.Parallel()
	a, _, _, bare := clones(t)
	dir := t.TempDir()
	repotest.Git(t, dir, "clone", "-q", "--depth=1", "file://"+bare, ".")
	repotest.Eq(t, "shallow", fmt.Sprint(open(t, dir).Shallow(), a.Shallow()), "true false")
}
