package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/object"
)

// PersonCommit makes a commit by the person with `git commit`, in a temporary work tree: with their identity,
// signing, and pre-commit and commit-msg hooks. If there is no hook and no signing, odd makes the same commit
// itself.
//
// The tree is tree with the changes applied. parents[0] is the base; parents[1:] are recorded as merge parents. No
// ref of the person moves.
//
// The temporary work tree holds only the files that differ from the base. The rest is in its index only, as in a
// sparse checkout. A commit without any difference is allowed. Hooks run where they can see those files; a relative
// core.hooksPath is resolved in the person's own work tree. If a hook or the signing fails, the error shows its
// output. A hook that changes the committed files is an error, because a person approved exact bytes. A hook that
// removes a parent or a trailer is an error too, because history is read by them.
func (r *Repo) PersonCommit(ctx context.Context, parents []OID, tree OID, ch Changes, message string) (OID, error) {
	if len(parents) == 0 {
		return "", errors.New("person's commit: no parent given")
	}
	if err := errors.Join(object.CheckIDs(parents...), checkMessage(message)); err != nil {
		return "", err
	}
	base, _, err := r.RootTree(tree)
	if err != nil {
		return "", err
	}
	s, settingsErr := r.askSettings(ctx)
	if err := r.checkConverted(ctx, base, ch); err != nil {
		return "", err
	}
	want, err := r.WriteTree(ctx, base, ch)
	if err != nil {
		return "", err
	}
	if settingsErr == nil && r.isPlain(s) && r.hasNoLeftovers() {
		return r.plainCommit(s, parents, want, message)
	}
	return r.commitInWorktree(ctx, parents, want, message)
}

// hasNoLeftovers reports whether no killed commit left a work tree to remove.
func (r *Repo) hasNoLeftovers() bool {
	return len(local.Glob(r.OddPath("tmp"), "commit-*")) == 0
}

// commitInWorktree runs git commit in a temporary work tree, one at a time.
func (r *Repo) commitInWorktree(ctx context.Context, parents []OID, want OID, message string) (OID, error) {
	lock, err := r.TryLock("commit.lock")
	if err != nil {
		return "", err
	}
	defer lock.Unlock()
	if err := r.sweepCommits(); err != nil {
		return "", err
	}
	d := &commitWorktree{r: r, dir: r.OddPath("tmp", "commit-"+local.Nonce())}
	oid, err := d.commit(ctx, parents, want, message)
	return oid, errors.Join(err, d.cleanUp(ctx))
}

// commitWorktree is the temporary work tree of one commit.
type commitWorktree struct {
	r     *Repo
	dir   string // holds "tree-…", the work tree
	admin string // its git directory, $GIT_COMMON_DIR/worktrees/NAME
}

// workDir returns the work tree; git names it by its last segment.
func (d *commitWorktree) workDir() string { return filepath.Join(d.dir, filepath.Base(d.dir)) }

// trySweepCommits is sweepCommits unless a commit is under way. The next PersonCommit reports what it cannot
// remove.
func (r *Repo) trySweepCommits() {
	if r.hasNoLeftovers() {
		return
	}
	lock, err := r.TryLock("commit.lock")
	if err != nil {
		return
	}
	defer lock.Unlock()
	_ = r.sweepCommits()
}

// sweepCommits removes what killed commits left. The commit lock must be held.
func (r *Repo) sweepCommits() error {
	var err error
	for _, p := range local.Glob(r.OddPath("tmp"), "commit-*") {
		err = errors.Join(err, (&commitWorktree{r: r, dir: p}).cleanUp(context.Background()))
	}
	return err
}

// cleanUp removes the work tree and its git directory. It never removes a git directory that is not directly below
// worktrees/.
func (d *commitWorktree) cleanUp(ctx context.Context) error {
	trees := filepath.Join(d.r.common, "worktrees")
	if d.admin == "" { // git was cancelled or killed while it made the work tree
		if d.admin, _ = gitDirOf(d.workDir()); d.admin == "" { // and before it wrote .git
			d.admin = filepath.Join(trees, filepath.Base(d.dir))
		}
	}
	var err error
	if filepath.Dir(d.admin) == trees {
		lock, lockErr := d.r.lockWorkTrees(context.WithoutCancel(ctx))
		if lockErr != nil {
			return lockErr
		}
		err = os.RemoveAll(d.admin)
		os.Remove(trees) // as git does, when it was the last
		err = errors.Join(err, lock.Unlock())
	}
	return errors.Join(err, os.RemoveAll(d.dir))
}

// lockWorkTrees is held while the list of work trees changes or is read, because git fails on a half-made one.
func (r *Repo) lockWorkTrees(ctx context.Context) (*flock.Flock, error) {
	return r.WaitLock(ctx, "trees.lock", moveWait)
}

// commit makes the work tree and runs git commit there.
func (d *commitWorktree) commit(ctx context.Context, parents []OID, want OID, message string) (OID, error) {
	if err := d.checkOut(ctx, parents, want); err != nil {
		return "", err
	}
	own, err := d.personEnv(ctx)
	if err != nil {
		return "", err
	}
	args := []string{"-c", "gc.auto=0", "-c", "maintenance.auto=false", "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", "-"}
	_, err = d.r.git.Run(ctx, gitcmd.Call{Args: args, Dir: d.workDir(), Self: true, Env: own, Stdin: strings.NewReader(strings.TrimRight(message, "\n") + "\n")})
	if gitcmd.Faulty(err) {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("the commit was refused, by a hook or by signing, and nothing is changed: %w", err)
	}
	out, err := d.r.git.Run(ctx, gitcmd.Call{Args: []string{"rev-parse", "--verify", "HEAD"}, Dir: d.workDir(), Read: true})
	if err != nil {
		return "", err
	}
	oid := OID(strings.TrimSpace(string(out)))
	return oid, errors.Join(d.checkTree(ctx, oid, want), d.r.checkTrailers(oid, parents, message))
}

// checkOut makes the work tree: detached at the base, the wanted tree in its index, and only the files that differ.
func (d *commitWorktree) checkOut(ctx context.Context, parents []OID, want OID) error {
	if err := d.r.MakeOddDir("tmp"); err != nil {
		return err
	}
	if err := os.MkdirAll(d.dir, 0o777); err != nil {
		return err
	}
	if err := d.addWorktree(ctx, parents[0]); err != nil {
		return err
	}
	var err error
	if d.admin, err = gitDirOf(d.workDir()); err != nil {
		return err
	}
	if err := d.recordMerge(parents[1:]); err != nil {
		return err
	}
	ch, err := d.r.Diff(ctx, parents[0], want)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(d.admin, "info"), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.admin, "info", "sparse-checkout"), []byte(sparsePatterns(ch)), 0o666); err != nil {
		return err
	}
	_, err = d.r.git.Run(ctx, gitcmd.Call{Dir: d.workDir(), Args: []string{
		"-c", "core.sparseCheckout=true", "-c", "core.sparseCheckoutCone=false", "-c", "core.fsmonitor=false",
		"read-tree", "-m", "-u", string(want)}})
	return err
}

func (d *commitWorktree) addWorktree(ctx context.Context, base OID) error {
	lock, err := d.r.lockWorkTrees(ctx)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	_, err = d.r.git.Run(ctx, gitcmd.Call{Args: []string{"worktree", "add", "-q", "--no-checkout", "--detach", d.workDir(), string(base)}})
	return err
}

// recordMerge writes what git merge writes for git commit. no-ff keeps every parent, even one that is an ancestor
// of another.
func (d *commitWorktree) recordMerge(others []OID) error {
	if len(others) == 0 {
		return nil
	}
	var heads strings.Builder
	for _, o := range others {
		heads.WriteString(string(o) + "\n")
	}
	return errors.Join(
		os.WriteFile(filepath.Join(d.admin, "MERGE_HEAD"), []byte(heads.String()), 0o666),
		os.WriteFile(filepath.Join(d.admin, "MERGE_MODE"), []byte("no-ff"), 0o666))
}

// maxPatterns bounds the pairs of path and pattern that git has to match; a larger change is checked out in full.
const maxPatterns = 1000

// sparsePatterns selects exactly the changed paths, in the syntax of .gitignore.
func sparsePatterns(ch []Change) string {
	if len(ch) > maxPatterns {
		return "/*\n"
	}
	escape := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `)
	var b strings.Builder
	for _, c := range ch {
		if c.NewMode != "" && !strings.Contains(c.Path, "\n") {
			b.WriteString("/" + escape.Replace(c.Path) + "\n")
		}
	}
	return b.String()
}

// personEnv returns environment settings that make git commit as in the person's own work tree. Identity and
// signing come from the configuration there, because parts of it may not apply in the temporary work tree
// (includeIf onbranch, gitdir). Relative paths start there too.
func (d *commitWorktree) personEnv(ctx context.Context) ([]string, error) {
	out, err := d.r.git.Run(ctx, gitcmd.Call{Args: []string{"config", "-z", "--list"}, Read: true, Self: true})
	if err != nil {
		return nil, err
	}
	var env []string
	for _, f := range gitcmd.SplitNUL(out) {
		key, value, ok := strings.Cut(f, "\n")
		if !ok {
			value = "true" // a key alone
		}
		section, _, _ := strings.Cut(key, ".")
		switch {
		case key == "core.hookspath", key == "user.signingkey":
			value = d.r.absFromRoot(value)
		case section == "hook": // as newer gits have hooks
			if program, rest, _ := strings.Cut(value, " "); strings.HasSuffix(key, ".command") && strings.Contains(program, "/") {
				value = strings.TrimSpace(quoteShellWord(d.r.absFromRoot(program)) + " " + rest)
			}
		case key == "commit.gpgsign", section == "gpg", section == "user", section == "author", section == "committer", section == "safe":
		default:
			continue
		}
		n := len(env) / 2
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(env)/2)), nil
}

func quoteShellWord(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// absFromRoot makes a relative path to an existing file of the person's work tree absolute; it returns any other
// value unchanged.
func (r *Repo) absFromRoot(p string) string {
	if p == "" || filepath.IsAbs(p) || strings.HasPrefix(p, "~") || r.root == "" {
		return p
	}
	abs := filepath.Join(r.root, p)
	if _, err := os.Stat(abs); err != nil {
		return p
	}
	return abs
}

// checkTree refuses a commit whose files a hook changed.
func (d *commitWorktree) checkTree(ctx context.Context, oid, want OID) error {
	ch, err := d.r.Diff(ctx, want, oid)
	if err != nil || len(ch) == 0 {
		return err
	}
	return fmt.Errorf("%s: changed by a hook during the commit; what was approved must be committed as it was seen: run the hook's fix on the proposal first", ch[0].Path)
}

// checkTrailers refuses a commit from which a hook removed a parent or a trailer.
func (r *Repo) checkTrailers(oid OID, parents []OID, message string) error {
	c, err := r.Commit(oid)
	if err != nil {
		return err
	}
	if !slices.Equal(c.Parents, parents) {
		return errors.New("the commit's parents: changed by a hook during the commit; history tells by them what was merged: let the hook leave them")
	}
	for _, line := range (Commit{Message: message}).TrailerLines() {
		name, value, ok := strings.Cut(line, ":")
		if ok && !slices.Contains(c.Trailer(name), strings.TrimSpace(value)) {
			return fmt.Errorf("the commit's message: %q is not in its last paragraph any more, changed by a hook during the commit; history tells by it what was done: let the hook leave that paragraph, or add lines to it", line)
		}
	}
	return nil
}
