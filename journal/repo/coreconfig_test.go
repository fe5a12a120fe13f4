package repo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// The work tree is where git has it, or the repository is refused by the line that
// says otherwise.
func TestCoreConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lay  string // a script in a folder with a repository "r"; it ends where odd is run
		root string // of the work tree, "" for none
		pre  string
		want string // of the error
	}{
		"its own":             {`git -C r config core.worktree ..; cd r; mkdir -p a/b; cd a`, "r", "a", ""},
		"a remnant":           {`git -C r config core.worktree ../../gone; cd r`, "", "", "r/.git/config: core.worktree names "},
		"elsewhere":           {`mkdir w; git -C r config core.worktree ../../w; cd r`, "", "", "which does not lead back to it; write \"gitdir: "},
		"of another":          {`git init -q w; git -C r config core.worktree ../../w; cd r`, "", "", "which does not lead back to it"},
		"elsewhere, and back": {`mkdir -p w/d; git -C r config core.worktree ../../w; echo "gitdir: $PWD/r/.git" > w/.git; cd r`, "w", "", ""},
		"from there":          {`mkdir -p w/d; git -C r config core.worktree ../../w; echo "gitdir: $PWD/r/.git" > w/.git; cd w/d`, "w", "d", ""},
		"a submodule's git":   {`git init -q s; git -C s commit -q --allow-empty -m s; cd r; git -c protocol.file.allow=always submodule --quiet add ../s m; cd .git/modules/m`, "r/m", "", ""},
		"bare by its config":  {`mv r/.git b; git -C b config core.bare true; mkdir t; echo "gitdir: ../b" > t/.git; cd t`, "", "", ""},
		"one of a bare one":   {`mv r/.git b; git -C b config core.bare true; git -C b worktree add -q ../t main; cd t`, "t", "", ""},
		"one of its own":      {`cd r; git config extensions.worktreeConfig true; git worktree add -q ../t -b t; git config --worktree core.worktree ../../gone; cd ../t`, "t", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := real(t, t.TempDir())
			at := repotest.Must[string](t)(repotest.Shell(dir, `set -e; git init -q r; git -C r commit -q --allow-empty -m base; `+c.lay+`; pwd`))
			r, err := Open(strings.TrimSpace(at), os.Environ())
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want an error with %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			root := c.root
			if root != "" {
				root = filepath.Join(dir, root)
			}
			repotest.Eq(t, "root", r.Root(), root)
			repotest.Eq(t, "prefix", r.prefix, c.pre)
			if top, err := repotest.TryGit(strings.TrimSpace(at), "rev-parse", "--show-toplevel"); err == nil {
				repotest.Eq(t, "git's own answer", top, root)
			}
			if _, err := r.Resolve(t.Context(), "HEAD"); err != nil {
				t.Error(err)
			}
		})
	}
}

// The environment of a hook leads here; one that leads to another repository is refused.
func TestMisled(t *testing.T) {
	r, _ := fresh(t, "a", "1\n")
	other, _ := fresh(t, "b", "1\n")
	for _, c := range []struct{ name, value, want string }{
		{"GIT_DIR", filepath.Join(r.Root(), ".git"), ""},
		{"GIT_DIR", ".git", ""}, // of another folder than this test's
		{"GIT_DIR", filepath.Join(r.Root(), "gone"), ""},
		{"GIT_DIR", filepath.Join(other.Root(), ".git"), "GIT_DIR is set to "},
		{"GIT_WORK_TREE", ".", ""},
		{"GIT_WORK_TREE", r.Root(), ""},
		{"GIT_WORK_TREE", other.Root(), "GIT_WORK_TREE is set to "},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			_, err := Open(r.Root(), os.Environ())
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// The repository of another user is git's to refuse, and safe.directory's to allow.
func TestTrusted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a repository away")
	}
	r, _ := fresh(t, "a", "1\n")
	if err := os.Chown(filepath.Join(r.Root(), ".git"), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(r.Root(), os.Environ()); err == nil || !strings.Contains(err.Error(), "dubious ownership") {
		t.Errorf("got %v, want git's refusal", err)
	}
	conf := filepath.Join(t.TempDir(), "gitconfig")
	t.Setenv("GIT_CONFIG_GLOBAL", conf)
	repotest.Write(t, filepath.Dir(conf), "gitconfig", "[safe]\n\tdirectory = *\n")
	if _, err := Open(r.Root(), os.Environ()); err != nil {
		t.Errorf("allowed by the person, and refused: %v", err)
	}
	repotest.Write(t, filepath.Dir(conf), "gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.org\n")
	t.Run("by the environment", func(t *testing.T) {
		for k, v := range map[string]string{"COUNT": "2", "KEY_0": "user.name", "VALUE_0": "Eve", "KEY_1": "Safe.Directory", "VALUE_1": "*"} {
			t.Setenv("GIT_CONFIG_"+k, v)
		}
		allowed := open(t, r.Root())
		repotest.Eq(t, "who", repotest.Must[Signature](t)(allowed.Identity(t.Context())).Name, "Ann")
		base := repotest.Must[OID](t)(allowed.Ref("HEAD"))
		hook(t, r.Root()+"/.git/hooks", "pre-commit", "exit 0\n")
		tree := repotest.Must[OID](t)(allowed.TreeOID(base, ""))
		repotest.Must[OID](t)(allowed.PersonCommit(t.Context(), []OID{base}, tree, changes("a", "2\n"), "in a work tree\n"))
	})
	t.Run("by sudo", func(t *testing.T) {
		t.Setenv("SUDO_UID", "12345")
		open(t, r.Root())
	})
}

// A HEAD that is a symbolic link is refused with the command that mends it.
func TestLinkedHEAD(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a", "1\n")
	head := filepath.Join(r.Root(), ".git", "HEAD")
	if err := errors.Join(os.Remove(head), os.Symlink("refs/heads/main", head)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(r.Root(), os.Environ())
	_, way, ok := strings.Cut(fmt.Sprint(err), "; run git ")
	if !ok {
		t.Fatal(err)
	}
	repotest.Git(t, r.Root(), strings.Fields(way)...)
	repotest.Eq(t, "HEAD", repotest.Must[OID](t)(open(t, r.Root()).Ref("HEAD")), base)
}

// A bare repository that git must be pointed to is, and no repository is found above a ceiling.
func TestPointedTo(t *testing.T) {
	r, base := fresh(t, "a/b/c", "1\n")
	dir := real(t, t.TempDir())
	repotest.Git(t, dir, "clone", "-q", "--bare", r.Root(), "b.git")
	repotest.Write(t, dir, "gitconfig", "[safe]\n\tbareRepository = explicit\n")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "gitconfig"))
	bare := open(t, filepath.Join(dir, "b.git", "refs"))
	repotest.Eq(t, "HEAD", repotest.Must[OID](t)(bare.Resolve(t.Context(), "HEAD")), base)
	repotest.Must[string](t)(bare.HooksDir(t.Context()))

	below := filepath.Join(real(t, r.Root()), "a", "b")
	for _, c := range []struct {
		ceiling string
		found   bool
	}{{"", true}, {below, true}, {filepath.Dir(below), false}, {r.Root(), false}, {filepath.Dir(r.Root()), true}, {"/nowhere:" + filepath.Dir(below), false}} {
		t.Setenv("GIT_CEILING_DIRECTORIES", c.ceiling)
		if _, err := Open(below, os.Environ()); c.found != (err == nil) || !c.found && !errors.Is(err, ErrNotRepo) {
			t.Errorf("below ceiling %q: %v", c.ceiling, err)
		}
		if _, err := repotest.TryGit(below, "rev-parse"); c.found != (err == nil) {
			t.Errorf("git below ceiling %q: %v", c.ceiling, err)
		}
	}
}

func real(t testing.TB, dir string) string {
	return repotest.Must[string](t)(filepath.EvalSymlinks(dir))
}
