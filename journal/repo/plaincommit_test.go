package repo

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// A commit without a work tree is the one that git commit makes in one.
func TestPlainCommitIsTheSame(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := board(t)
	theirs := claim(t, r, base)
	want := repotest.Must[OID](t)(r.WriteTree(ctx, repotest.Must[Commit](t)(r.Commit(theirs)).Tree, changes("k/task.md", "state: done\n")))
	const msg = "approve\n\n# kept\n\nOdd-Task: t\n\n"
	a := repotest.Must[Commit](t)(r.Commit(repotest.Must[OID](t)(r.plainCommit(repotest.Must[*settings](t)(r.loadSettings(ctx)), []OID{base, theirs}, want, msg))))
	b := repotest.Must[Commit](t)(r.Commit(repotest.Must[OID](t)(r.commitInWorktree(ctx, []OID{base, theirs}, want, msg))))
	a.OID, b.OID = "", ""
	a.Author.When, a.Committer.When = b.Author.When, b.Committer.When
	repotest.Eq(t, "plain", a, b)
	repotest.Eq(t, "tree", a.Tree, want)
	noWorktreeLeft(t, r)
}

// Only a repository in which nothing takes part in a commit is plain.
func TestPlain(t *testing.T) {
	t.Parallel()
	hooksAt := func(dir, name string) func(testing.TB, *Repo) {
		return func(t testing.TB, r *Repo) { hook(t, filepath.Join(r.Root(), dir), name, "exit 0\n") }
	}
	set := func(key, value string) func(testing.TB, *Repo) {
		return func(t testing.TB, r *Repo) { repotest.Git(t, r.Root(), "config", key, value) }
	}
	for name, tc := range map[string]struct {
		with []func(testing.TB, *Repo)
		want bool
	}{
		"nothing":               {nil, true},
		"signing off":           {[]func(testing.TB, *Repo){set("commit.gpgSign", "no")}, true},
		"signing":               {[]func(testing.TB, *Repo){set("commit.gpgSign", "true")}, false},
		"a configured hook":     {[]func(testing.TB, *Repo){set("hook.lint.command", "true")}, false},
		"pre-commit":            {[]func(testing.TB, *Repo){hooksAt(".git/hooks", "pre-commit")}, false},
		"commit-msg":            {[]func(testing.TB, *Repo){hooksAt(".git/hooks", "commit-msg")}, false},
		"another hook":          {[]func(testing.TB, *Repo){hooksAt(".git/hooks", "pre-push")}, true},
		"hooks elsewhere":       {[]func(testing.TB, *Repo){hooksAt("tools", "post-commit"), set("core.hooksPath", "tools")}, false},
		"no hooks elsewhere":    {[]func(testing.TB, *Repo){hooksAt(".git/hooks", "pre-commit"), set("core.hooksPath", "tools")}, true},
		"another encoding":      {[]func(testing.TB, *Repo){set("i18n.commitEncoding", "latin1")}, false},
		"UTF-8 said":            {[]func(testing.TB, *Repo){set("i18n.commitEncoding", "UTF-8")}, true},
		"signing in two values": {[]func(testing.TB, *Repo){set("alias.x", "a\ncommit.gpgsign=false"), set("commit.gpgSign", "1")}, false},
		"hooks who knows where": {[]func(testing.TB, *Repo){set("core.hooksPath", "~/hooks")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := board(t)
			os.RemoveAll(filepath.Join(r.Root(), ".git", "hooks"))
			for _, with := range tc.with {
				with(t, r)
			}
			repotest.Eq(t, "plain", r.isPlain(repotest.Must[*settings](t)(r.loadSettings(context.Background()))), tc.want)
		})
	}
}

// What a killed commit left is swept by the next one, also by one that needs no work tree itself.
func TestPlainCommitSweeps(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	left := filepath.Join(r.CommonDir(), "odd", "tmp", "commit-dead")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	repotest.Must[OID](t)(r.PersonCommit(context.Background(), []OID{base}, repotest.Must[Commit](t)(r.Commit(base)).Tree, changes("k/a.md", "x\n"), "add"))
	if _, err := os.Stat(left); !isMissing(err) {
		t.Errorf("%s is still there: %v", left, err)
	}
	noWorktreeLeft(t, r)
}
