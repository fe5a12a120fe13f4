// Package scratch makes throw-away clones, in which sessions and checks work, and reads what they left there.
package scratch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/object"
)

// Clone is a throw-away repository in which a session may change anything:
//
//	PARENT/odd-UID/scratch-PID-NONCE.lock    flock of the process that owns it
//	PARENT/odd-UID/scratch-PID-NONCE/tree/   the work tree, with its own .git
//	                                 home/   an empty home
//	                                 temp/   an empty directory for temporary files
//
// The work tree is the base commit byte for byte, on a branch named work: no line ending, keyword or filter
// attribute is applied. Its .git has no hooks and no configuration but the agent's identity. It borrows objects
// from the repository, but does not know its refs, index or configuration. Symbolic links stay links; submodules
// are empty folders.
//
// Once a session has begun, nothing in it is trusted, and git never runs in it again. Edits reads what was left
// without git, and Close removes it.
//
// Git keeps a commit only while something refers to it. So the caller keeps a ref on the base, refs/odd/base/RUN,
// as long as the scratch repository exists.
type Clone struct {
	r    *repo.Repo
	base repo.OID
	dir  string      // absolute, free of symbolic links
	made fs.FileInfo // of tree/, from when it was made
	lock *flock.Flock
}

// Tree returns the absolute path of the work tree.
func (s *Clone) Tree() string { return filepath.Join(s.dir, "tree") }

// Home returns the session's home directory, empty at first.
func (s *Clone) Home() string { return filepath.Join(s.dir, "home") }

// Borrows returns the directories outside that its repository reads objects from.
func (s *Clone) Borrows() ([]string, error) {
	dirs, err := object.Dirs(s.r.CommonDir())
	for i, dir := range dirs {
		if path, no := strconv.Unquote(dir); no == nil {
			dirs[i] = path
		}
	}
	return dirs, err
}

// Temp returns the directory for temporary files.
func (s *Clone) Temp() string { return filepath.Join(s.dir, "temp") }

// Room makes a directory beside the work tree, with an empty tree, home and temp of its own, for a program that
// must not share the session's. Close removes it too.
func (s *Clone) Room(name string) (string, error) {
	if name == "" || !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("room %q: not a plain name", name)
	}
	dir := filepath.Join(s.dir, name)
	for _, d := range []string{dir, filepath.Join(dir, "tree"), filepath.Join(dir, "home"), filepath.Join(dir, "temp")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// Empty returns a Clone with an empty tree and no repository, for running programs.
func Empty(r *repo.Repo, parent string) (*Clone, error) {
	home, err := Home(r, parent)
	if err != nil {
		return nil, err
	}
	s, err := claimDir(r, home)
	if err != nil {
		return nil, fmt.Errorf("scratch directory: %w", err)
	}
	return s, nil
}

// New makes a Clone of a repository at a commit, below parent, which must be outside the repository. who is the
// identity under which an agent may commit there.
func New(ctx context.Context, r *repo.Repo, parent string, base repo.OID, who repo.Signature) (*Clone, error) {
	return checkOutIn(ctx, r, parent, base, who, claimDir)
}

// Bench is New for checking a commit. Its path is always the same for a repository, scratch-bench-HASH,
// because compilers cache what they build by its path; the next check then reuses it. If another process uses that
// path, it is an ordinary Clone.
func Bench(ctx context.Context, r *repo.Repo, parent string, commit repo.OID, who repo.Signature) (*Clone, error) {
	return checkOutIn(ctx, r, parent, commit, who, claimBench)
}

func checkOutIn(ctx context.Context, r *repo.Repo, parent string, base repo.OID, who repo.Signature, claim func(r *repo.Repo, home string) (*Clone, error)) (*Clone, error) {
	if err := errors.Join(base.Check(), who.Check()); err != nil {
		return nil, fmt.Errorf("scratch repository: %w", err)
	}
	home, err := Home(r, parent)
	if err != nil {
		return nil, err
	}
	s, err := claim(r, home)
	if err != nil {
		return nil, fmt.Errorf("scratch repository: %w", err)
	}
	s.base = base
	if err := s.checkOut(ctx, who); err != nil {
		return nil, errors.Join(fmt.Errorf("scratch repository: %w", err), s.Close())
	}
	return s, nil
}

// Home returns the directory of this user's scratch clones below parent, and makes it if it is missing. It
// refuses a directory inside the repository, where git would find the repository, and one that other users can access.
func Home(r *repo.Repo, parent string) (home string, err error) {
	abs, err := filepath.Abs(parent)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err == nil && r.Contains(abs) {
		err = fmt.Errorf("%s lies inside the repository; set TMPDIR to a directory outside it", abs)
	}
	home = filepath.Join(abs, fmt.Sprintf("odd-%d", os.Getuid()))
	if err == nil {
		err = os.Mkdir(home, 0o700)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = local.CheckPrivate(home)
	}
	if err != nil {
		return "", fmt.Errorf("scratch repository: %w", err)
	}
	return home, nil
}

// claimDir makes an empty scratch directory and locks it.
func claimDir(r *repo.Repo, home string) (*Clone, error) {
	for {
		s, err := claimAt(r, filepath.Join(home, fmt.Sprintf("%s%d-%s", scratchName, os.Getpid(), local.Nonce())))
		if s != nil || err != nil {
			return s, err
		}
	}
}

// claimBench makes the repository's own scratch directory, or any other if that is locked.
func claimBench(r *repo.Repo, home string) (*Clone, error) {
	name := sha256.Sum256([]byte(r.CommonDir()))
	s, err := claimAt(r, filepath.Join(home, scratchName+"bench-"+hex.EncodeToString(name[:6])))
	if s != nil || err != nil {
		return s, err
	}
	return claimDir(r, home)
}

// claimAt makes the empty scratch directory dir. It returns nil if another process holds its lock, or swept it
// before it was locked.
func claimAt(r *repo.Repo, dir string) (*Clone, error) {
	lock := flock.New(dir+lockSuffix, flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !got || !isInPlace(lock) {
		return nil, lock.Unlock()
	}
	s := &Clone{r: r, dir: dir, lock: lock}
	if err := local.RemoveAll(dir); err != nil { // left by a killed process
		return nil, errors.Join(err, lock.Unlock())
	}
	for _, d := range []string{dir, s.Tree(), s.Home(), s.Temp()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if s.made, err = os.Lstat(s.Tree()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// isInPlace reports whether a held lock's file still has its name.
func isInPlace(lock *flock.Flock) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	st, err := os.Lstat(lock.Path())
	return err == nil && os.SameFile(held, st)
}

// checkOut makes the work tree's repository and checks out the base.
func (s *Clone) checkOut(ctx context.Context, who repo.Signature) error {
	g := s.r.Hardened(s.Tree())
	if _, err := g.Run(ctx, gitcmd.Call{Args: []string{"init", "-q", "--template=", "--object-format=sha1", "-b", "work"}}); err != nil {
		return err
	}
	if err := s.writeGitFiles(who); err != nil {
		return err
	}
	_, err := g.Run(ctx, gitcmd.Call{Args: []string{"-c", "checkout.workers=0", "-c", "core.hooksPath=" + os.DevNull,
		"reset", "-q", "--hard", "--no-recurse-submodules", string(s.base)}})
	if gitcmd.ExitCode(err) > 0 {
		if from := s.r.Promisor(ctx); from != "" {
			return fmt.Errorf("%w; this clone is partial and lacks files of the base: run git fetch --refetch --no-filter %s", err, from)
		}
	}
	return err
}

// rawAttributes are the attributes that check out blobs unchanged.
const rawAttributes = "* -text -ident !filter !working-tree-encoding\n"

// writeGitFiles writes the files that odd adds to the scratch repository's .git.
func (s *Clone) writeGitFiles(who repo.Signature) error {
	git := filepath.Join(s.Tree(), ".git")
	objects, err := object.Dirs(s.r.CommonDir())
	if err != nil {
		return err
	}
	files := map[string]string{
		"objects/info/alternates": strings.Join(objects, "\n") + "\n",
		"info/attributes":         rawAttributes,
	}
	shallow, err := os.ReadFile(filepath.Join(s.r.CommonDir(), "shallow"))
	if err == nil {
		files["shallow"] = string(shallow)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	config, err := os.ReadFile(filepath.Join(git, "config"))
	if err != nil {
		return err
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	files["config"] = fmt.Sprintf("%s[user]\n\tname = \"%s\"\n\temail = \"%s\"\n[core]\n\tautocrlf = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n",
		config, quote.Replace(who.Name), quote.Replace(who.Email))
	for name, text := range files {
		p := filepath.Join(git, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the scratch repository. It may be called again.
func (s *Clone) Close() error {
	if err := local.RemoveAll(s.dir); err != nil {
		return errors.Join(fmt.Errorf("%s: left behind, the next odd drain tries again: %w", s.dir, err), s.lock.Unlock())
	}
	if s.lock.Locked() {
		os.Remove(s.lock.Path()) // before the unlock, as a sweep expects
	}
	return s.lock.Unlock()
}
