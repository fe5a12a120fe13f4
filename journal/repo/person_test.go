package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// hook installs a shell hook.
func hook(t testing.TB, dir, name, body string) {
	t.Helper()
	p := filepath.Join(dir, name)
	repotest.Write(t, dir, name, "#!/bin/sh\n"+body)
	if err := os.Chmod(p, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestPersonCommit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := board(t)
	hook(t, r.Root()+"/.git/hooks", "pre-commit", "ls k > $GIT_DIR/../../hook-saw 2>&1; git diff --name-only >> $GIT_DIR/../../hook-saw; git diff --cached --name-only >> $GIT_DIR/../../hook-saw\n")
	hook(t, r.Root()+"/.git/hooks", "commit-msg", "echo 'Checked: yes' >> $1\n")
	before := person(t, r.Root())
	theirs := claim(t, r, base)
	tree := repotest.Must[Commit](t)(r.Commit(theirs)).Tree
	oid := repotest.Must[OID](t)(r.PersonCommit(ctx, []OID{base, theirs}, tree, changes("k/task.md", "state: done\n", "k/a [b]*.md", "x\n"), "approve\n\n# kept\n\nOdd-Task: t\n"))
	c := repotest.Must[Commit](t)(r.Commit(oid))
	repotest.Eq(t, "parents", c.Parents, []OID{base, theirs})
	repotest.Eq(t, "author", c.Author.Name+" "+c.Committer.Email, "Ann ann@example.org")
	repotest.Eq(t, "message", c.Message, "approve\n\n# kept\n\nOdd-Task: t\nChecked: yes\n")
	repotest.Eq(t, "changes", diffText(t, r, base, oid), "A k/a [b]*.md|A k/new/n.md|D k/old.md|M k/task.md")
	saw := string(repotest.Must[[]byte](t)(os.ReadFile(filepath.Join(r.CommonDir(), "hook-saw"))))
	repotest.Eq(t, "what the hook saw", saw, "a [b]*.md\nnew\ntask.md\nk/a [b]*.md\nk/new/n.md\nk/old.md\nk/task.md\n")
	os.Remove(filepath.Join(r.CommonDir(), "hook-saw"))
	repotest.Eq(t, "the person's own work", person(t, r.Root()), before)
	repotest.Eq(t, "main", repotest.Must[OID](t)(r.Ref("refs/heads/main")), base)
	quiet(t, r)
	noWorktreeLeft(t, r)
	// An empty commit is one too, on an ancestor of its other parent.
	empty := repotest.Must[OID](t)(r.PersonCommit(ctx, []OID{theirs, base}, tree, nil, "approve"))
	repotest.Eq(t, "empty", repotest.Must[Commit](t)(r.Commit(empty)).Parents, []OID{theirs, base})
}

// What a person's configuration says on their branch holds for a commit of theirs
// with hooks too, which is made elsewhere; a relative path in it is one of theirs.
func TestPersonCommitIsTheirsOnTheirBranch(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	hook(t, r.Root()+"/.git/hooks", "commit-msg", "exit 0\n")
	repotest.Write(t, r.Root()+"/.git", "on-main", "[user]\n\temail = work@example.org\n\tsigningkey = keys/mine\n[commit]\n\tgpgsign\n[gpg]\n\tformat = ssh\n[gpg \"ssh\"]\n\tprogram = signer\n")
	repotest.Git(t, r.Root(), "config", "includeIf.onbranch:main.path", "on-main")
	repotest.Write(t, r.Root(), "keys/mine", "")
	commit := func() (OID, error) {
		return r.PersonCommit(t.Context(), []OID{base}, repotest.Must[Commit](t)(r.Commit(base)).Tree, nil, "approve")
	}
	_, err := commit()
	repotest.Eq(t, "refused without the program that signs", err != nil && strings.Contains(err.Error(), "signer"), true)

	bin := t.TempDir()
	hook(t, bin, "signer", `for file; do :; done; test "$6" = '`+r.Root()+`/keys/mine' && echo SIGNED >"$file.sig"`+"\n")
	repotest.Git(t, r.Root(), "config", "--file", r.Root()+"/.git/on-main", "gpg.ssh.program", filepath.Join(bin, "signer"))
	c := repotest.Must[Commit](t)(r.Commit(repotest.Must[OID](t)(commit())))
	repotest.Eq(t, "signed", c.Signed, true)
	repotest.Eq(t, "author", c.Author.Email, "work@example.org")
}

func noWorktreeLeft(t testing.TB, r *Repo) {
	t.Helper()
	if des, err := os.ReadDir(filepath.Join(r.CommonDir(), "worktrees")); err == nil {
		t.Errorf("worktrees left: %v", des)
	}
}

func TestPersonCommitRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		hook, body, want string
	}{
		"pre-commit":  {"pre-commit", "echo no tabs please; exit 1\n", "no tabs please"},
		"commit-msg":  {"commit-msg", "echo say more >&2; exit 1\n", "say more"},
		"formatter":   {"pre-commit", "echo formatted > k/task.md; git add k/task.md\n", "k/task.md: changed by a hook"},
		"message":     {"commit-msg", "echo mine > $1\n", `"Odd-Task: t" is not in its last paragraph any more`},
		"paragraph":   {"commit-msg", "printf '\\nSee: x\\n' >> $1\n", `"Odd-Task: t" is not in its last paragraph any more`},
		"parents":     {"pre-commit", ": > \"$(git rev-parse --git-dir)/MERGE_HEAD\"\n", "the commit's parents: changed by a hook"},
		"signing":     {"", "", "refused, by a hook or by signing"},
		"no identity": {"", "", "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, base := fresh(t, "k/task.md", "x\n")
			switch name {
			case "signing":
				repotest.Git(t, r.Root(), "config", "commit.gpgSign", "true")
				repotest.Git(t, r.Root(), "config", "gpg.program", "/bin/false")
			case "no identity":
				repotest.Git(t, r.Root(), "config", "user.name", "")
				repotest.Git(t, r.Root(), "config", "user.email", "")
			default:
				hook(t, r.Root()+"/.git/hooks", tc.hook, tc.body)
			}
			other := repotest.Must[OID](t)(r.Make(context.Background(), []OID{base}, nil, agent, "other\n"))
			_, err := r.PersonCommit(context.Background(), []OID{base, other}, base, changes("k/task.md", "y\n"), "m\n\nOdd-Task: t\n")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			quiet(t, r)
			noWorktreeLeft(t, r)
		})
	}
}

func TestPersonCommitElsewhere(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := fresh(t, "k/task.md", "x\n", "in/a", "a\n")
	repotest.Git(t, r.Root(), "config", "core.hooksPath", ".hooks")
	hook(t, r.Root()+"/.hooks", "commit-msg", "echo 'Hook: yes' >> $1\n")
	repotest.Git(t, r.Root(), "sparse-checkout", "set", "--cone", "in")
	r = open(t, r.Root())
	oid := repotest.Must[OID](t)(r.PersonCommit(ctx, []OID{base}, base, changes("k/task.md", "y\n", "in/a", "b\n"), "m\n"))
	repotest.Eq(t, "message", repotest.Must[Commit](t)(r.Commit(oid)).Message, "m\nHook: yes\n")
	repotest.Eq(t, "changes", diffText(t, r, base, oid), "M in/a|M k/task.md")
	noWorktreeLeft(t, r)
	// What a killed one left goes with the next.
	repotest.Write(t, r.CommonDir(), "odd/tmp/commit-dead/x", "")
	repotest.Must[OID](t)(r.PersonCommit(ctx, []OID{base}, base, nil, "m\n"))
	quiet(t, r)
}

func TestVerifySigned(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := fresh(t, "f", "x")
	if ok, who, err := r.Verify(ctx, base); ok || who != "" || err != nil {
		t.Errorf("unsigned: %v %q %v", ok, who, err)
	}
	dir := t.TempDir()
	if out, err := sshKeygen(dir); err != nil {
		t.Skipf("ssh-keygen: %v %s", err, out)
	}
	pub := string(repotest.Must[[]byte](t)(os.ReadFile(dir + "/key.pub")))
	repotest.Write(t, dir, "signers", "ann@example.org "+pub)
	for k, v := range map[string]string{"gpg.format": "ssh", "user.signingKey": dir + "/key", "commit.gpgSign": "true", "gpg.ssh.allowedSignersFile": dir + "/signers"} {
		repotest.Git(t, r.Root(), "config", k, v)
	}
	oid := repotest.Must[OID](t)(r.PersonCommit(ctx, []OID{base}, base, changes("f", "y"), "m"))
	ok, who, err := r.Verify(ctx, oid)
	if !ok || who != "ann@example.org" || err != nil {
		t.Errorf("signed: %v %q %v", ok, who, err)
	}
}

func TestVerifyByTheFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := fresh(t, "f", "x")
	dir, other := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, other} {
		if out, err := sshKeygen(d); err != nil {
			t.Skipf("ssh-keygen: %v %s", err, out)
		}
	}
	pub, theirs := string(repotest.Must[[]byte](t)(os.ReadFile(dir+"/key.pub"))), string(repotest.Must[[]byte](t)(os.ReadFile(other+"/key.pub")))
	for k, v := range map[string]string{"gpg.format": "ssh", "user.signingKey": dir + "/key", "commit.gpgSign": "true"} {
		repotest.Git(t, r.Root(), "config", k, v)
	}
	oid := repotest.Must[OID](t)(r.PersonCommit(ctx, []OID{base}, base, changes("f", "y"), "m"))
	repotest.Eq(t, "signed", repotest.Must[Commit](t)(r.Commit(oid)).Signed, true)
	for _, c := range []struct{ name, signers, want string }{
		{"her key", "# people\nann@example.org " + pub, ""},
		{"among others", "bob@example.org " + theirs + "\n\"x,*@example.org\" namespaces=\"git\" " + pub, ""},
		{"another's key", "ann@example.org " + theirs, "is not signed by a key of ann@example.org"},
		{"her key, another's name", "bob@example.org " + pub, "is signed, and no key is given to ann@example.org"},
		{"not her", "*@example.org,!ann@* " + pub, "is signed, and no key is given to ann@example.org"},
		{"for files only", "ann@example.org namespaces=\"file\" " + pub, "is not signed by a key of ann@example.org"},
		{"no longer", "ann@example.org valid-before=\"20000101\" " + pub, "is not signed by a key of ann@example.org"},
		{"nobody", "", "is signed, and no key is given to ann@example.org"},
	} {
		if why, err := r.VerifyBy(ctx, oid, []byte(c.signers)); why != c.want || err != nil {
			t.Errorf("%s: %q %v, want %q", c.name, why, err, c.want)
		}
	}
	if why, err := r.VerifyBy(ctx, base, []byte("ann@example.org "+pub)); why != "is not signed" || err != nil {
		t.Errorf("unsigned: %q %v", why, err)
	}
}

func TestMergeTree(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, base := fresh(t, "a", "1\n", "b", "1\n")
	ours := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, changes("a", "2\n"), agent, "m"))
	theirs := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, changes("b", "2\n"), agent, "m"))
	tree, conflicts, err := r.MergeTree(ctx, ours, theirs)
	if err != nil || len(conflicts) > 0 {
		t.Fatal(conflicts, err)
	}
	repotest.Eq(t, "merged", diffText(t, r, base, tree), "M a|M b")
	against := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, changes("a", "3\n"), agent, "m"))
	_, conflicts, err = r.MergeTree(ctx, ours, against)
	repotest.Eq(t, "conflicts", conflicts, []string{"a"})
	if !errors.Is(err, ErrConflict) {
		t.Error(err)
	}
}

// A commit killed while git was making its work tree leaves half of one, on
// which git worktree list fails; the next Move sweeps it.
func TestHalfMadeWorktreeIsSwept(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	for _, dir := range []string{filepath.Join(r.CommonDir(), "worktrees", "commit-dead"), filepath.Join(r.CommonDir(), "odd", "tmp", "commit-dead")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.CommonDir(), "worktrees", "commit-dead", "gitdir"), []byte("/nowhere/.git\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.CommonDir(), "worktrees", "commit-dead", "commondir"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.git.Read(context.Background(), "worktree", "list", "--porcelain", "-z"); err == nil {
		t.Skip("this git lists a half-made work tree")
	}
	next := claim(t, r, base)
	if err := r.Move(context.Background(), RefUpdate{Name: "refs/heads/main", Old: base, New: next}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.CommonDir(), "worktrees")); err == nil {
		t.Error("the half-made work tree is still there")
	}
}
