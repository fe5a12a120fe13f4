package scratch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/repotest"
)

// TestMain gives every test, and every git it starts, a home of its own.
func TestMain(m *testing.M) {
	// What a test starts to kill has that test's home, and could not remove its own.
	if parent := os.Getenv("ODD_TEST_SCRATCH"); parent != "" {
		os.Exit(scratchInChild(os.Getenv("ODD_TEST_REPO"), parent, os.Getenv("ODD_TEST_BASE")))
	}
	os.Exit(repotest.Run(m))
}

var agent = repo.Signature{Name: "odd-agent", Email: "odd@localhost", When: time.Unix(1_800_000_000, 0).UTC()}

// fresh makes a repository with one commit of the files on main.
func fresh(t testing.TB, files ...string) (*repo.Repo, repo.OID) {
	t.Helper()
	dir := repotest.Fresh(t, nil, files...)
	return open(t, dir), repo.OID(repotest.Git(t, dir, "rev-parse", "HEAD"))
}

func open(t testing.TB, dir string) *repo.Repo {
	t.Helper()
	return repotest.Must[*repo.Repo](t)(repo.Open(dir, os.Environ()))
}

// scratch makes a scratch repository at base and removes it at the end.
func scratch(t testing.TB, r *repo.Repo, base repo.OID) *Clone {
	t.Helper()
	s := repotest.Must[*Clone](t)(New(context.Background(), r, t.TempDir(), base, agent))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sh is the agent at work in the scratch tree.
func sh(t testing.TB, s *Clone, script string) {
	t.Helper()
	if out, err := repotest.Shell(s.Tree(), script); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// told is one line an edit: how it changed, and its path.
func told(es Edits) []string {
	out := []string{}
	for _, e := range es.Files {
		how := "M"
		switch {
		case e.Before == nil:
			how = "A"
		case e.After == nil:
			how = "D"
		case e.OldMode != e.NewMode:
			how = e.NewMode
		}
		out = append(out, how+" "+e.Path)
	}
	return out
}

func TestScratchIsTheBase(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a.txt", "one\r\ntwo\n$Id$\n", ".gitattributes", "* text=auto ident\n*.bin filter=evil\n", "x.bin", "\x00\r\n", "d/run", "#!/bin/sh\n")
	repotest.Git(t, r.Root(), "config", "core.autocrlf", "true")
	repotest.Git(t, r.Root(), "config", "filter.evil.smudge", "touch /tmp/smudged; cat")
	if err := os.Chmod(r.Root()+"/d/run", 0o755); err != nil {
		t.Fatal(err)
	}
	repotest.Git(t, r.Root(), "add", "-A")
	repotest.Git(t, r.Root(), "commit", "-qm", "run")
	base := repo.OID(repotest.Git(t, r.Root(), "rev-parse", "HEAD"))
	s := scratch(t, r, base)
	repotest.Eq(t, "nothing done", told(repotest.Must[Edits](t)(s.Edits(context.Background(), DefaultLimits()))), []string{})
	repotest.Eq(t, "status", repotest.Git(t, s.Tree(), "status", "--porcelain"), "")
	repotest.Eq(t, "branch", repotest.Git(t, s.Tree(), "symbolic-ref", "HEAD"), "refs/heads/work")
	repotest.Eq(t, "head", repotest.Git(t, s.Tree(), "rev-parse", "HEAD"), string(base))
	repotest.Eq(t, "identity", repotest.Git(t, s.Tree(), "config", "user.email"), agent.Email)
	b, err := os.ReadFile(s.Tree() + "/a.txt")
	repotest.Eq(t, "bytes", string(b), repotest.Git(t, r.Root(), "cat-file", "blob", string(base)+":a.txt")+"\n")
	if err != nil {
		t.Error(err)
	}
	for _, dir := range []string{s.dir, s.Home(), s.Temp()} {
		if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", dir, st, err)
		}
	}
	if hooks, _ := filepath.Glob(s.Tree() + "/.git/hooks/*"); len(hooks) > 0 {
		t.Errorf("hooks: %v", hooks)
	}
}

func TestScratchEdits(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a.txt", "one\n", "gone.txt", "x\n", "dir/b.txt", "b\n", "becomes", "a file\n", "tool", "#!\n", "empty", "",
		".gitignore", "build/\n*.log\n", ":odd", "x")
	repotest.Write(t, r.Root(), "kept.log", "tracked though ignored\n")
	repotest.Git(t, r.Root(), "add", "-f", "kept.log")
	repotest.Git(t, r.Root(), "commit", "-qm", "a log")
	base := repo.OID(repotest.Git(t, r.Root(), "rev-parse", "HEAD"))
	s := scratch(t, r, base)
	sh(t, s, `echo two >> a.txt; rm gone.txt; rm -r dir; echo now a file > dir; rm becomes; mkdir -p becomes/deep; echo in > becomes/deep/f
chmod +x tool; echo more >> kept.log; echo log > new.log; mkdir build; echo o > build/o; ln -s /etc/passwd build/link; mkfifo build/pipe; git init -q build/dep
echo '*' > .git/info/exclude; : > empty2; echo 'hidden.txt' > hide; mkdir sub; echo '*' > sub/.gitignore; echo seen > sub/seen; git add -A; git commit -qm mine; git checkout -q --orphan other; rm -f .git/index; rm empty; echo y > :new`)
	es := repotest.Must[Edits](t)(s.Edits(context.Background(), DefaultLimits()))
	want := []string{"A :new", "M a.txt", "D becomes", "A becomes/deep/f", "A dir", "D dir/b.txt", "D empty", "A empty2", "D gone.txt", "A hide", "M kept.log", "A sub/.gitignore", "A sub/seen", "100755 tool"}
	repotest.Eq(t, "edits", told(es), want)
	repotest.Eq(t, "base", es.Base, base)
	if es.Ignored < 4 {
		t.Errorf("ignored: %d", es.Ignored)
	}
	for _, e := range es.Files {
		if (e.Before == nil) != (e.OldMode == "") || (e.After == nil) != (e.NewMode == "") {
			t.Errorf("%+v: nil and modes disagree", e)
		}
		if e.Path == "a.txt" && (string(e.Before) != "one\n" || string(e.After) != "one\ntwo\n") {
			t.Errorf("%q %q", e.Before, e.After)
		}
	}
	next := repotest.Must[repo.OID](t)(r.MakeEdits(context.Background(), []repo.OID{base}, es.Files, agent, "m"))
	repotest.Eq(t, "the commit has what the tree has", repotest.Git(t, r.Root(), "ls-tree", "-r", "--name-only", string(next)),
		".gitignore\n:new\n:odd\na.txt\nbecomes/deep/f\ndir\nempty2\nhide\nkept.log\nsub/.gitignore\nsub/seen\ntool")
	repotest.Eq(t, "mode", repotest.Git(t, r.Root(), "ls-tree", "--format=%(objectmode)", string(next), "tool"), "100755")
}

// What a build leaves is no part of a change, and named, unless the base has such files.
func TestScratchProducts(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "rust/Cargo.toml", "[package]\n", "kept/node_modules/a.js", "a\n", "old.pyc", "text\n", "dist/target/a", "a\n")
	s := scratch(t, r, base)
	sh(t, s, `mkdir -p tool/__pycache__ .pytest_cache/v node_modules/x/.bin rust/target/debug plain/target; printf '\0' > tool/__pycache__/a.cpython-311.pyc; echo v > .pytest_cache/v/x
ln -s /etc/passwd node_modules/x/.bin/y; git init -q node_modules/x; mkfifo rust/target/debug/p; printf '\0' > loose.pyc; echo new > kept/node_modules/b.js; echo t > plain/target/t; echo more >> old.pyc; echo x > node_modules.txt; echo x > pyc`)
	es := repotest.Must[Edits](t)(s.Edits(context.Background(), DefaultLimits()))
	repotest.Eq(t, "edits", told(es), []string{"A kept/node_modules/b.js", "A node_modules.txt", "M old.pyc", "A plain/target/t", "A pyc"})
	repotest.Eq(t, "products", es.Products, []string{".pytest_cache", "loose.pyc", "node_modules", "rust/target", "tool/__pycache__"})
}

// Each way in which something cannot be part of a change has its own code and names its path.
func TestScratchUnfit(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a.txt", "one\n", "Case.txt", "c\n", "deep/x", "x\n", "straße", "s\n")
	if err := os.Symlink("a.txt", r.Root()+"/link"); err != nil {
		t.Fatal(err)
	}
	repotest.Git(t, r.Root(), "update-index", "--add", "--cacheinfo", "160000,"+repotest.Git(t, r.Root(), "rev-parse", "HEAD")+",module")
	repotest.Git(t, r.Root(), "add", "link")
	repotest.Git(t, r.Root(), "commit", "-qm", "link and module")
	base := repo.OID(repotest.Git(t, r.Root(), "rev-parse", "HEAD"))
	for name, tc := range map[string]struct{ do, code, path string }{
		"link out":              {"ln -s /etc/passwd out", UnfitLink, "out"},
		"link in":               {"ln -s a.txt in", UnfitLink, "in"},
		"file becomes link":     {"rm a.txt; ln -s deep/x a.txt", UnfitLink, "a.txt"},
		"folder becomes link":   {"mv deep d; ln -s d deep", UnfitLink, "deep"},
		"link changed":          {"rm link; ln -s deep/x link", UnfitLink, "link"},
		"link becomes file":     {"rm link; cp a.txt link", UnfitLink, "link"},
		"link deleted":          {"rm link", UnfitLink, "link"},
		"nested":                {"git init -q sub", UnfitRepository, "sub/.git"},
		"nested file":           {"mkdir sub; echo 'gitdir: /' > sub/.git", UnfitRepository, "sub/.git"},
		"nested in capitals":    {"mkdir sub; echo x > sub/.GIT", UnfitRepository, "sub/.GIT"},
		"nested short":          {"mkdir GIT~1", UnfitRepository, "GIT~1"},
		"nested bare":           {"git init -q --bare sub", UnfitRepository, "sub"},
		"submodule filled":      {"echo x > module/x", UnfitSubmodule, "module"},
		"submodule file":        {"rmdir module; echo x > module", UnfitSubmodule, "module"},
		"submodule linked":      {"rmdir module; ln -s deep module", UnfitSubmodule, "module"},
		"pipe":                  {"mkfifo p", UnfitKind, "p"},
		"file becomes pipe":     {"rm a.txt; mkfifo a.txt", UnfitKind, "a.txt"},
		"case":                  {"echo x > cASE.TXT", UnfitCase, "cASE.TXT"},
		"case of a folder":      {"mkdir DEEP; echo x > DEEP/y", UnfitCase, "DEEP/y"},
		"two new":               {"echo x > new; echo x > NEW", UnfitCase, "new"},
		"folded":                {"echo x > STRASSE", UnfitCase, "STRASSE"},
		"composed otherwise":    {`printf x > "$(printf 'e\314\201')"; printf x > "$(printf '\303\251')"`, UnfitCase, "\u00e9"},
		"line break":            {"printf x > 'a\nb'", UnfitName, "a\nb"},
		"escape":                {`printf x > "$(printf 'a\033b')"`, UnfitName, "a\x1bb"},
		"not utf-8":             {`printf x > "$(printf 'a\377')"`, UnfitName, "a\xff"},
		"many":                  {"for i in 1 2 3 4 5 6; do echo x > f$i; done", UnfitCount, ""},
		"large":                 {": > big", UnfitSize, "big"},
		"large in place":        {": > a.txt", UnfitSize, "a.txt"},
		"large together":        {"head -c 600 /dev/zero > one; head -c 601 /dev/zero > two", UnfitSize, "two"},
		"deep":                  {"d=x; for i in $(seq 210); do d=$d/x; done; mkdir -p $d; echo x > $d/f", UnfitDepth, strings.Repeat("x/", 200) + "x"},
		"tree gone":             {"rm -rf ../tree", UnfitGone, ""},
		"tree is a link":        {"mv ../tree ../other; ln -s other ../tree", UnfitGone, ""},
		"tree is another's":     {"mv ../tree ../other; mkdir ../tree", UnfitGone, ""},
		"too many left out":     {"for i in $(seq 60); do mkdir m$i; done", UnfitCount, ""},
		"link and pipe at once": {"ln -s a.txt l; mkfifo p", UnfitLink, "l"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scratch(t, r, base)
			if only[tc.code] && !exact(t) {
				t.Skip("this file system takes no two such names")
			}
			sh(t, s, tc.do)
			if tc.code == UnfitSize && tc.path != "two" {
				if err := os.Truncate(filepath.Join(s.Tree(), tc.path), 1<<40); err != nil {
					t.Fatal(err)
				}
			}
			lim := Limits{Files: 5, Bytes: 1200, Entries: 220}
			if name == "too many left out" {
				lim.Entries = 50
			}
			es, err := s.Edits(context.Background(), lim)
			var bad Unfits
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, %v; want %s", told(es), err, tc.code)
			}
			repotest.Eq(t, "code and path of "+err.Error(), [2]string{bad[0].Code, bad[0].Path}, [2]string{tc.code, tc.path})
			repotest.Eq(t, "reason code", bad.Refused(), tc.code)
			if len(es.Files) > 0 {
				t.Errorf("something was kept: %v", told(es))
			}
		})
	}
}

// only are the codes that need a file system which keeps any name apart from any other.
var only = map[string]bool{UnfitCase: true, UnfitName: true}

// exact reports whether the temporary directory's file system is one.
func exact(t testing.TB) bool {
	dir := t.TempDir()
	repotest.Write(t, dir, "a", "", "A", "")
	des, err := os.ReadDir(dir)
	return err == nil && len(des) == 2
}

func TestScratchListsEverythingUnfit(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a", "a")
	s := scratch(t, r, base)
	sh(t, s, "ln -s a l; mkfifo p; git init -q n; for i in $(seq 12); do mkfifo z$i; done")
	_, err := s.Edits(context.Background(), DefaultLimits())
	for _, want := range []string{`"l": a symbolic link`, `"n/.git": a repository`, `"p": a named pipe`, "and 5 more"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in %v", want, err)
		}
	}
}

func TestScratchShallowAndLinked(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a", "1")
	repotest.Write(t, r.Root(), "a", "2")
	repotest.Git(t, r.Root(), "commit", "-qam", "two")
	shallow := t.TempDir()
	repotest.Git(t, shallow, "clone", "-q", "--depth=1", "file://"+r.Root(), "c")
	linked := filepath.Join(t.TempDir(), "w")
	repotest.Git(t, r.Root(), "worktree", "add", "-q", "--detach", linked)
	borrowed := t.TempDir()
	repotest.Git(t, borrowed, "clone", "-q", "--shared", r.Root(), "c")
	for name, at := range map[string]string{"shallow": shallow + "/c", "linked": linked, "borrows itself": borrowed + "/c"} {
		in := open(t, at)
		s := scratch(t, in, repotest.Must[repo.OID](t)(in.Ref("HEAD")))
		repotest.Eq(t, name+": log", repotest.Git(t, s.Tree(), "log", "--format=%s"), repotest.Git(t, at, "log", "--format=%s"))
		sh(t, s, "echo 3 > a; git commit -qam three")
		repotest.Eq(t, name, told(repotest.Must[Edits](t)(s.Edits(context.Background(), DefaultLimits()))), []string{"M a"})
	}
}

func TestScratchOfAPartialClone(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a", "1")
	repotest.Git(t, r.Root(), "config", "uploadpack.allowFilter", "true")
	dir := t.TempDir() + "/c"
	repotest.Git(t, r.Root(), "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+r.Root(), dir)
	if _, err := New(context.Background(), open(t, dir), t.TempDir(), base, agent); err == nil || !strings.Contains(err.Error(), "git fetch --refetch --no-filter origin") {
		t.Errorf("want the way out: %v", err)
	}
	repotest.Git(t, dir, "fetch", "-q", "--refetch", "--no-filter", "origin")
	scratch(t, open(t, dir), base)
}

func TestScratchRefusesItsOwnRepository(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a", "1")
	linked := filepath.Join(t.TempDir(), "w")
	repotest.Git(t, r.Root(), "worktree", "add", "-q", "--detach", linked)
	for _, at := range []string{r.Root(), r.Root() + "/.git", linked} {
		dir := filepath.Join(at, "tmp")
		repotest.Write(t, dir, "x", "x")
		if _, err := New(context.Background(), r, dir, base, agent); err == nil || !strings.Contains(err.Error(), "inside the repository") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	shared := t.TempDir()
	if err := os.Mkdir(fmt.Sprintf("%s/odd-%d", shared, os.Getuid()), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := New(context.Background(), r, shared, base, agent); err == nil || !strings.Contains(err.Error(), "yours alone") {
		t.Error(err)
	}
	parent := t.TempDir()
	if _, err := New(context.Background(), r, parent, repo.OID(strings.Repeat("1", 40)), agent); err == nil {
		t.Error("a base that is not there")
	}
	if left, _ := filepath.Glob(filepath.Join(parent, "odd-*", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestScratchTime(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a", "1")
	s := scratch(t, r, base)
	ctx, cancel := context.WithTimeout(context.Background(), -time.Second)
	defer cancel()
	if _, err := s.Edits(ctx, DefaultLimits()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := New(ctx, r, t.TempDir(), base, agent); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// Whatever an agent makes of its repository: nothing of it runs, nothing waits, and the repository it was made from is as it was.
func TestScratchHostile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		do   string
		want []string
	}{
		"config": {`cat >> .git/config <<X
[core]
	fsmonitor = touch $PWD/../ran
	hooksPath = $PWD/hooks
	sshCommand = touch $PWD/../ran
	pager = touch $PWD/../ran
	editor = touch $PWD/../ran
	worktree = /
	excludesFile = $PWD/ex
[diff]
	external = touch $PWD/../ran
[alias]
	check-ignore = !touch $PWD/../ran
[filter "x"]
	clean = touch $PWD/../ran
	smudge = touch $PWD/../ran
	process = touch $PWD/../ran
[include]
	path = /dev/zero
X
echo '* filter=x diff=x' > .gitattributes; echo '* filter=x' > .git/info/attributes; echo two > a`, []string{"A .gitattributes", "M a"}},
		"hooks": {`mkdir -p .git/hooks; for h in pre-commit post-checkout post-index-change reference-transaction fsmonitor-watchman; do
printf '#!/bin/sh\ntouch %s/../ran\n' "$PWD" > .git/hooks/$h; chmod +x .git/hooks/$h; done; echo two > a`, []string{"M a"}},
		"alternates":     {`echo /nowhere > .git/objects/info/alternates; rm -rf .git/refs; echo two > a`, []string{"M a"}},
		"no .git":        {`rm -rf .git; echo two > a`, []string{"M a"}},
		".git is a file": {`rm -rf .git; echo "gitdir: $REAL/.git" > .git; echo two > a`, []string{"M a"}},
		".git is a link": {`rm -rf .git; ln -s "$REAL/.git" .git; echo two > a`, []string{"M a"}},
		".git is a pipe": {`rm -rf .git; mkfifo .git; echo two > a`, []string{"M a"}},
		"no rights":      {`echo two > a; chmod 000 a; mkdir -p d/e; echo x > d/e/f; chmod 000 d/e d; chmod 000 .git .`, []string{"M a", "A d/e/f"}},
		"read-only":      {`mkdir -p d/e; echo x > d/e/f; chmod 500 d/e d .`, []string{"A d/e/f"}},
		"many ignored":   {`mkdir build; cd build; for i in $(seq 300); do : > f$i; mkfifo p$i; done`, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, base := fresh(t, "a", "one\n", ".gitignore", "build/\n")
			repotest.Git(t, r.Root(), "update-ref", "refs/odd/base/run", string(base))
			before := repotest.Everything(t, r.Root())
			s := repotest.Must[*Clone](t)(New(context.Background(), r, t.TempDir(), base, agent))
			out, err := repotest.Shell(s.Tree(), "REAL="+r.Root()+"\n"+tc.do)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			repotest.Eq(t, "edits", told(repotest.Must[Edits](t)(s.Edits(ctx, DefaultLimits()))), tc.want)
			if _, err := os.Lstat(s.dir + "/ran"); err == nil {
				t.Error("something of the agent's ran")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(filepath.Dir(s.dir)); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			repotest.Eq(t, "the real repository", repotest.Everything(t, r.Root()), before)
		})
	}
}

// A process that is killed leaves a scratch repository, and a sweep takes it; that of a living one stays.
func TestSweep(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a", "1")
	parent := t.TempDir()
	s := repotest.Must[*Clone](t)(New(context.Background(), r, parent, base, agent))
	defer s.Close()
	home := filepath.Dir(s.dir)
	dead := filepath.Join(home, "scratch-999999999-dead")
	repotest.Write(t, dead, "tree/ro/f", "x", "tree/x", "x")
	repotest.Write(t, home, "scratch-999999999-dead.lock", "", "scratch-999999998-only.lock", "", "not-ours", "x")
	repotest.Write(t, filepath.Join(home, "scratch-999999999-nolock"), "tree/f", "x")
	repotest.Write(t, filepath.Join(home, fmt.Sprintf("scratch-%d-alive", os.Getpid())), "tree/f", "x")
	if err := os.Chmod(dead+"/tree/ro", 0o500); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "swept", repotest.Must[int](t)(Sweep(parent)), 2)
	left := []string{}
	des, _ := os.ReadDir(home)
	for _, d := range des {
		left = append(left, strings.NewReplacer(filepath.Base(s.dir), "SELF", fmt.Sprint(os.Getpid()), "PID").Replace(d.Name()))
	}
	slices.Sort(left)
	repotest.Eq(t, "left", left, []string{"SELF", "SELF.lock", "not-ours", "scratch-PID-alive"})
	repotest.Eq(t, "again", repotest.Must[int](t)(Sweep(parent)), 0)
	repotest.Eq(t, "nowhere", repotest.Must[int](t)(Sweep(parent+"/nowhere")), 0)
}

func TestScratchSIGKILL(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a", "1")
	parent := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ODD_TEST_REPO="+r.Root(), "ODD_TEST_SCRATCH="+parent, "ODD_TEST_BASE="+string(base))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4096)
	n, _ := out.Read(line)
	dir := strings.TrimSpace(string(line[:n]))
	if _, err := os.Stat(dir + "/a"); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "while it lives", repotest.Must[int](t)(Sweep(parent)), 0)
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	repotest.Eq(t, "when it is dead", repotest.Must[int](t)(Sweep(parent)), 1)
	if _, err := os.Stat(dir); err == nil {
		t.Error("it is still there")
	}
}

// scratchInChild is the test binary as a process that makes a scratch repository, tells where, and waits to be killed.
func scratchInChild(dir, parent, base string) int {
	r, err := repo.Open(dir, os.Environ())
	if err != nil {
		return 2
	}
	s, err := New(context.Background(), r, parent, repo.OID(base), agent)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(s.Tree())
	io.Copy(io.Discard, os.Stdin)
	return 0
}

// A bench is at one place a repository, whoever was killed there; who finds it
// taken works elsewhere, and nothing of either is left.
func TestBench(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a.txt", "one\n")
	other, _ := fresh(t, "a.txt", "one\n")
	parent := t.TempDir()
	bench := func(r *repo.Repo) *Clone {
		t.Helper()
		return repotest.Must[*Clone](t)(Bench(context.Background(), r, parent, base, agent))
	}
	first := bench(r)
	if second := bench(r); second.dir == first.dir {
		t.Error("two at one place")
	} else if err := second.Close(); err != nil {
		t.Error(err)
	}
	place := first.dir
	if err := errors.Join(first.Close(), os.MkdirAll(place+"/tree/old", 0o700), os.WriteFile(place+lockSuffix, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	third := bench(r)
	repotest.Eq(t, "the same place", third.dir, place)
	if _, err := os.Stat(third.Tree() + "/old"); err == nil {
		t.Error("what a killed process left is still there")
	}
	if s := repotest.Must[*Clone](t)(Bench(context.Background(), other, parent, repotest.Must[repo.OID](t)(other.Ref("refs/heads/main")), agent)); s.dir == place {
		t.Error("another repository's place")
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n, err := Sweep(parent); n != 0 || err != nil {
		t.Errorf("swept %d that live, %v", n, err)
	}
	third.lock.Unlock() // as a kill does
	if n, err := Sweep(parent); n != 1 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	if left, _ := filepath.Glob(parent + "/odd-*/*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
