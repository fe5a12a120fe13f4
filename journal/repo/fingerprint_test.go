package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// What makes git run something, or read something else, is told from what a person
// does who works in the repository at the same time.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a.txt", "one\n")
	repotest.Git(t, r.Root(), "remote", "add", "origin", "../nowhere")
	for _, tt := range []struct{ name, do, ground, stand string }{
		{"a look", "touch a.txt; git status; git log", "", ""},
		{"a commit, staged and not", "echo x >> a.txt; git commit -qam x; echo y >> a.txt; git add a.txt", "", "refs/heads/main"},
		{"a branch that follows another", "git checkout -q -b side --track main; git config branch.side.rebase true; git config branch.side.vscode-merge-base origin/main", "", "HEAD refs/heads/side"},
		{"it is deleted again", "git checkout -q main; git branch -q -D side", "", "HEAD packed-refs refs/heads/side"},
		{"packed refs", "git pack-refs --all", "", "packed-refs refs/heads/main"},
		{"what odd keeps", "git update-ref refs/odd/base/x HEAD; mkdir -p .git/odd; echo x > .git/odd/live", "", ""},
		{"a gc that goes on", "echo x > .git/info/refs_gWjHPk; echo x > .git/objects/info/packs_a1B2c3", "", ""},
		{"what only looks like it", "echo x > .git/info/attributes_gWjHPk", "info/attributes_gWjHPk", ""},
		{"a sample", "echo x > .git/hooks/pre-push.sample", "", ""},
		{"a hook", "echo 'curl x' > .git/hooks/pre-push", "hooks/pre-push", ""},
		{"it may run", "chmod +x .git/hooks/pre-push", "hooks/pre-push", ""},
		{"a link for a hook", "ln -s /bin/true .git/hooks/post-merge", "hooks/post-merge", ""},
		{"hooks elsewhere", "git config core.hooksPath /tmp/x", "config", ""},
		{"a filter", "git config filter.x.smudge evil; echo '* filter=x' > .git/info/attributes", "config info/attributes", ""},
		{"a branch that follows a program", "git config branch.main.remote 'ext::sh -c x'", "config", ""},
		{"a program for a branch", "git config branch.main.mergeOptions -s=x", "config", ""},
		{"objects from elsewhere", "echo /tmp/o > .git/objects/info/alternates", "objects/info/alternates", ""},
		{"the remote", "git remote set-url origin ../elsewhere", "config", ""},
		{"for one work tree", "echo '[core]' > .git/config.worktree", "config.worktree", ""},
	} {
		was := repotest.Must[Fingerprint](t)(r.Fingerprint())
		if out, err := repotest.Shell(r.Root(), strings.ReplaceAll(tt.do, "git ", "git -c user.name=a -c user.email=a@b ")); err != nil {
			t.Fatalf("%s: %v\n%s", tt.name, err, out)
		}
		ground, stand := repotest.Must[Fingerprint](t)(r.Fingerprint()).Since(was)
		repotest.Eq(t, tt.name+": ground", strings.Join(ground, " "), tt.ground)
		repotest.Eq(t, tt.name+": stand", strings.Join(stand, " "), tt.stand)
	}
}

// A write shows that is as long as what was there and puts the file's times back.
func TestFingerprintShowsARefWithItsTimesPutBack(t *testing.T) {
	t.Parallel()
	r, tip := fresh(t, "a.txt", "one\n")
	const name = "refs/heads/side"
	repotest.Git(t, r.Root(), "branch", "side")
	first := repotest.Must[Fingerprint](t)(r.Fingerprint())
	file := filepath.Join(r.CommonDir(), name)
	st := repotest.Must[os.FileInfo](t)(os.Stat(file))
	time.Sleep(20 * time.Millisecond) // the clock of files is coarse
	if err := os.WriteFile(file, []byte(strings.Repeat("0", len(tip))+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	if _, stand := repotest.Must[Fingerprint](t)(r.Fingerprint()).Since(first); strings.Join(stand, " ") != name {
		t.Errorf("%q moved, want %s", stand, name)
	}
}
