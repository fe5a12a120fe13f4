package repo

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/repotest"
)

// Where core.sharedRepository holds, also by the person's own configuration, objects
// and the index have the modes that git gives them, and odd's own directory is as
// open to the group as git's.
func TestSharedRepository(t *testing.T) {
	for _, c := range []struct {
		name, init, global string
		want               fs.FileMode
	}{
		{"here", "--shared=group", "", 0o775 | fs.ModeSetgid},
		{"everywhere", "--shared=group", "group", 0o775 | fs.ModeSetgid}, // the key here is taken away
		{"nowhere", "--shared=umask", "", 0o755},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := "[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n"
			if c.global != "" {
				conf += "[core]\n\tsharedRepository = " + c.global + "\n"
			}
			home := t.TempDir()
			repotest.Write(t, home, "gitconfig", conf)
			t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "gitconfig"))
			r, base := freshAs(t, []string{c.init}, "k/task.md", "state: ready\n")
			if c.global != "" {
				repotest.Git(t, r.Root(), "config", "--unset", "core.sharedRepository")
			}
			r = open(t, r.Root())
			oid := repotest.Must[OID](t)(r.WriteBlob([]byte("a blob in a folder that was not there\n")))
			next := claim(t, r, base)
			if err := r.Move(t.Context(), RefUpdate{Name: "refs/heads/main", Old: base, New: next}); err != nil {
				t.Fatal(err)
			}
			if err := r.Keep("x", []byte("y")); err != nil {
				t.Fatal(err)
			}
			mode := func(elem ...string) fs.FileMode {
				return repotest.Must[fs.FileInfo](t)(os.Stat(filepath.Join(append([]string{r.common}, elem...)...))).Mode() &^ fs.ModeDir
			}
			repotest.Eq(t, "objects", mode("objects", string(oid[:2])), c.want)
			for _, dir := range []string{"", "tmp", "sync", "cache"} {
				repotest.Eq(t, "odd/"+dir, mode("odd", dir), c.want)
			}
			repotest.Eq(t, "index", mode("index"), c.want.Perm()&0o666)
			repotest.Eq(t, "sync.lock", mode("odd", "sync.lock"), c.want.Perm()&0o666)
			repotest.Eq(t, "status", repotest.Git(t, r.Root(), "status", "--porcelain"), "")
		})
	}
}

// A room that is another user's is left to them.
func TestRoomOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	t.Parallel()
	r, _ := fresh(t, "a", "1\n")
	first := repotest.Must[string](t)(r.Room("build"))
	repotest.Eq(t, "again", repotest.Must[string](t)(r.Room("build")), first)
	if err := os.Chown(first, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if second := repotest.Must[string](t)(r.Room("build")); second == first || local.CheckPrivate(second) != nil {
		t.Errorf("another user's room is %s, %v", second, local.CheckPrivate(second))
	}
}

// The key of another user's permits is left to them.
func TestPermitKeyOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	t.Parallel()
	r, _ := fresh(t, "a", "1\n")
	repotest.Write(t, r.OddPath(), "anchor.key", "")
	repotest.Eq(t, "one's own", r.PermitKey(), r.OddPath("anchor.key"))
	if err := os.Chown(r.OddPath("anchor.key"), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "beside another's", r.PermitKey(), r.OddPath("anchor-0.key"))
}

// Whoever has git sync its loose objects has odd sync them.
func TestSyncedObjects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key, value string
		want       bool
	}{
		{"core.fsync", "loose-object", true}, {"core.fsync", "reference, objects", true}, {"core.fsync", "all", true},
		{"core.fsync", "committed", true}, {"core.fsync", "added", true}, {"core.fsyncObjectFiles", "true", true},
		{"core.fsync", "none", false}, {"core.fsync", "-loose-object", false}, {"core.fsync", "reference", false},
		{"core.fsyncObjectFiles", "false", false}, {"core.fsyncMethod", "batch", false},
	} {
		t.Run(c.key+"="+c.value, func(t *testing.T) {
			t.Parallel()
			r, _ := fresh(t, "a", "1\n")
			repotest.Git(t, r.Root(), "config", c.key, c.value)
			r = open(t, r.Root())
			_, sync := r.mayWriteObjects()
			repotest.Eq(t, "synced", sync, c.want)
		})
	}
}

// Hooks of the configuration that hold in the person's work tree hold in the work tree of
// their commit, where the configuration of its branch does not.
func TestConfiguredHooksInTheCommitWorktree(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a", "1\n")
	repotest.Git(t, r.Root(), "config", "includeIf.onbranch:main.path", "main.conf")
	for _, kv := range [][2]string{{"hook.lint.event", "pre-commit"}, {"hook.lint.command", "tools/lint --all"}, {"hook.log.command", "logger -t git"}, {"hook.log.event", "post-commit"}} {
		repotest.Git(t, r.Root(), "config", "-f", ".git/main.conf", kv[0], kv[1])
	}
	repotest.Write(t, r.Root(), "tools/lint", "exit 0\n")
	r = open(t, r.Root())
	d := &commitWorktree{r: r, dir: r.OddPath("tmp", "commit-x")}
	if err := d.checkOut(t.Context(), []OID{base}, repotest.Must[OID](t)(r.TreeOID(base, ""))); err != nil {
		t.Fatal(err)
	}
	env := repotest.Must[[]string](t)(d.personEnv(t.Context()))
	out := repotest.Must[[]byte](t)(r.git.Run(t.Context(), gitcmd.Call{Args: []string{"config", "--get-regexp", "^hook"}, Dir: d.workDir(), Env: env}))
	repotest.Eq(t, "hooks", strings.TrimSpace(string(out)), strings.Join([]string{"hook.lint.event pre-commit",
		"hook.lint.command '" + filepath.Join(r.Root(), "tools/lint") + "' --all", "hook.log.command logger -t git", "hook.log.event post-commit"}, "\n"))
	if err := d.cleanUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := repotest.Must[*settings](t)(r.askSettings(t.Context()))
	repotest.Eq(t, "plain", r.isPlain(s), false)
}
