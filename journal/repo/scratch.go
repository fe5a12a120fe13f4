package repo

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

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/object"
)

// Scratch is a throw-away repository in which a session may change anything:
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
type Scratch struct {
	r    *Repo
	base OID
	dir  string      // absolute, free of symbolic links
	made fs.FileInfo // of tree/, from when it was made
	lock *flock.Flock
}

// Tree returns the absolute path of the work tree.
func (s *Scratch) Tree() string { return filepath.Join(s.dir, "tree") }

// Home returns the session's home directory, empty at first.
func (s *Scratch) Home() string { return filepath.Join(s.dir, "home") }

// Borrows returns the directories outside that its repository reads objects from.
func (s *Scratch) Borrows() ([]string, error) {
	dirs, err := object.Dirs(s.r.common)
	for i, dir := range dirs {
		if path, no := strconv.Unquote(dir); no == nil {
			dirs[i] = path
		}
	}
	return dirs, err
}

// Temp returns the directory for temporary files.
func (s *Scratch) Temp() string { return filepath.Join(s.dir, "temp") }

// Room makes a directory beside the work tree, with an empty tree, home and temp of its own, for a program that
// must not share the session's. Close removes it too.
func (s *Scratch) Room(name string) (string, error) {
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

// Hollow returns a Scratch with an empty tree and no repository, for running programs.
func (r *Repo) Hollow(parent string) (*Scratch, error) {
	home, err := r.ScratchRoom(parent)
	if err != nil {
		return nil, err
	}
	s, err := r.claimScratch(home)
	if err != nil {
		return nil, fmt.Errorf("scratch directory: %w", err)
	}
	return s, nil
}

// Scratch makes a scratch repository at a commit, below parent, which must be outside the repository. who is the
// identity under which an agent may commit there.
func (r *Repo) Scratch(ctx context.Context, parent string, base OID, who Signature) (*Scratch, error) {
	return r.newScratch(ctx, parent, base, who, r.claimScratch)
}

// Bench is a Scratch for checking a commit. Its path is always the same for a repository, scratch-bench-HASH,
// because compilers cache what they build by its path; the next check then reuses it. If another process uses that
// path, Bench is an ordinary Scratch.
func (r *Repo) Bench(ctx context.Context, parent string, commit OID, who Signature) (*Scratch, error) {
	return r.newScratch(ctx, parent, commit, who, r.claimBench)
}

func (r *Repo) newScratch(ctx context.Context, parent string, base OID, who Signature, claim func(home string) (*Scratch, error)) (*Scratch, error) {
	if err := errors.Join(base.Check(), who.Check()); err != nil {
		return nil, fmt.Errorf("scratch repository: %w", err)
	}
	home, err := r.ScratchRoom(parent)
	if err != nil {
		return nil, err
	}
	s, err := claim(home)
	if err != nil {
		return nil, fmt.Errorf("scratch repository: %w", err)
	}
	s.base = base
	if err := s.checkOut(ctx, who); err != nil {
		return nil, errors.Join(fmt.Errorf("scratch repository: %w", err), s.Close())
	}
	return s, nil
}

// ScratchRoom returns the directory of this user's scratch repositories below parent, and makes it if it is
// missing. It refuses a directory inside the repository, where git would find the repository, and one that other
// users can access.
func (r *Repo) ScratchRoom(parent string) (home string, err error) {
	if home, err = r.makeScratchHome(parent); err != nil {
		return "", fmt.Errorf("scratch repository: %w", err)
	}
	return home, nil
}

func (r *Repo) makeScratchHome(parent string) (string, error) {
	abs, err := filepath.Abs(parent)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", err
	}
	if in, err := discoverRepo(abs, nil); err == nil && in.common == r.common {
		return "", fmt.Errorf("%s lies inside the repository; set TMPDIR to a directory outside it", abs)
	}
	home := filepath.Join(abs, fmt.Sprintf("odd-%d", os.Getuid()))
	if err := os.Mkdir(home, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return home, local.CheckPrivate(home)
}

// claimScratch makes an empty scratch directory and locks it.
func (r *Repo) claimScratch(home string) (*Scratch, error) {
	for {
		s, err := r.claimAt(filepath.Join(home, fmt.Sprintf("%s%d-%s", scratchName, os.Getpid(), local.Nonce())))
		if s != nil || err != nil {
			return s, err
		}
	}
}

// claimBench makes the repository's own scratch directory, or any other if that is locked.
func (r *Repo) claimBench(home string) (*Scratch, error) {
	name := sha256.Sum256([]byte(r.common))
	s, err := r.claimAt(filepath.Join(home, scratchName+"bench-"+hex.EncodeToString(name[:6])))
	if s != nil || err != nil {
		return s, err
	}
	return r.claimScratch(home)
}

// claimAt makes the empty scratch directory dir. It returns nil if another process holds its lock, or swept it
// before it was locked.
func (r *Repo) claimAt(dir string) (*Scratch, error) {
	lock := flock.New(dir+lockSuffix, flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !got || !isInPlace(lock) {
		return nil, lock.Unlock()
	}
	s := &Scratch{r: r, dir: dir, lock: lock}
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
func (s *Scratch) checkOut(ctx context.Context, who Signature) error {
	g := s.r.git.Hardened(s.Tree())
	format := "--object-format=sha1"
	if len(s.base) == 64 {
		format = "--object-format=sha256"
	}
	if _, err := g.Run(ctx, gitcmd.Call{Args: []string{"init", "-q", "--template=", format, "-b", "work"}}); err != nil {
		return err
	}
	if err := s.writeGitFiles(who); err != nil {
		return err
	}
	_, err := g.Run(ctx, gitcmd.Call{Args: []string{"-c", "checkout.workers=0", "-c", "core.hooksPath=" + os.DevNull,
		"reset", "-q", "--hard", "--no-recurse-submodules", string(s.base)}})
	if gitcmd.ExitCode(err) > 0 {
		if from := s.r.findPromisor(ctx); from != "" {
			return fmt.Errorf("%w; this clone is partial and lacks files of the base: run git fetch --refetch --no-filter %s", err, from)
		}
	}
	return err
}

// findPromisor returns the remote from which a partial clone gets missing objects, "" for a full clone.
func (r *Repo) findPromisor(ctx context.Context) string {
	out, _ := r.git.ReadLine(ctx, "config", "--name-only", "--get-regexp", `^remote\..*\.promisor$`)
	name, _, _ := strings.Cut(out, "\n")
	return strings.TrimSuffix(strings.TrimPrefix(name, "remote."), ".promisor")
}

// rawAttributes are the attributes that check out blobs unchanged.
const rawAttributes = "* -text -ident !filter !working-tree-encoding\n"

// writeGitFiles writes the files that odd adds to the scratch repository's .git.
func (s *Scratch) writeGitFiles(who Signature) error {
	git := filepath.Join(s.Tree(), ".git")
	objects, err := object.Dirs(s.r.common)
	if err != nil {
		return err
	}
	files := map[string]string{
		"objects/info/alternates": strings.Join(objects, "\n") + "\n",
		"info/attributes":         rawAttributes,
	}
	shallow, err := os.ReadFile(filepath.Join(s.r.common, "shallow"))
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
func (s *Scratch) Close() error {
	if err := local.RemoveAll(s.dir); err != nil {
		return errors.Join(fmt.Errorf("%s: left behind, the next odd drain tries again: %w", s.dir, err), s.lock.Unlock())
	}
	if s.lock.Locked() {
		os.Remove(s.lock.Path()) // before the unlock, as a sweep expects
	}
	return s.lock.Unlock()
}
