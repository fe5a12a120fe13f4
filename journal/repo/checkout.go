package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/object"
)

// checkout moves one work tree from the commit Old to New.
//
// Before the ref moves, the new index and the new files are written to scratch files while the work tree's
// index.lock is held. Git's two-tree merge carries over every staged, intent-to-add, removed and sparse entry, and
// git's filters write the bytes. A full disk therefore shows before anything has changed. Afterwards files and
// index are only renamed into place.
//
// If few entries change and no filter applies, odd does the same without git (stageHere). It makes as few files as
// possible, because ext4 does not reuse an inode freed in the last minute, which makes later files slower to
// create.
type checkout struct {
	r       *Repo
	m       marker
	changes []Change          // the paths that differ between Old and New
	scratch string            // prefix of the scratch files' names; also the directory that git fills
	made    []byte            // the new index, if it was made without git
	files   map[string]string // by path, the files that were staged without git
}

func (r *Repo) newCheckout(ctx context.Context, m marker) (*checkout, error) {
	c := r.checkoutOf(r.fillMarker(m))
	return c, c.findChanges(ctx)
}

// fillMarker adds this process's id and a new nonce to a marker.
func (r *Repo) fillMarker(m marker) marker {
	m.Version, m.PID, m.Nonce, m.Home = 1, os.Getpid(), local.Nonce(), r.gitDir
	return m
}

// checkoutOf returns the checkout of a marker, before its changes are known. Its scratch files have new names: a
// git that outlived a killed odd may still be writing to the old ones.
func (r *Repo) checkoutOf(m marker) *checkout {
	return &checkout{r: r, m: m, scratch: r.OddPath("tmp", "sync-"+local.Nonce())}
}

func (c *checkout) findChanges(ctx context.Context) (err error) {
	c.changes, err = c.r.Diff(ctx, c.m.Old, c.m.New)
	return err
}

// lockIndex takes index.lock unless this marker holds it already.
func (c *checkout) lockIndex() error {
	if ours, err := c.m.ownsLock(); ours || err != nil {
		return err
	}
	return c.r.takeLock(c.m, c.scratch+".lock")
}

// writeScratch writes the new index and the new files to scratch files.
func (c *checkout) writeScratch(ctx context.Context) error {
	if done, err := c.stageHere(ctx); done || err != nil {
		return err
	}
	if err := os.Mkdir(c.scratch, 0o777); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(c.m.GitDir, "index"), c.indexFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := c.copyAttributes(); err != nil {
		return err
	}
	old, err := c.r.TreeOrEmpty(c.m.Old)
	if err != nil {
		return err
	}
	_, err = c.r.git.Run(ctx, gitcmd.Call{
		Args: []string{"-c", "core.fsmonitor=false", "read-tree", "-m", "-u", string(old), string(c.m.New)},
		Dir:  c.scratch,
		Env:  append(c.indexEnv(), "GIT_WORK_TREE="+c.scratch),
	})
	if gitcmd.ExitCode(err) < 0 || gitcmd.Faulty(err) {
		return err
	}
	if half := c.r.Unmerged(ctx); len(half) > 0 {
		return fmt.Errorf("%s: %w: a merge is not finished; mend the conflict, git add it and git commit; git status says how to undo it instead", filepath.Join(c.m.Root, half[0]), ErrInTheWay)
	}
	return fmt.Errorf("%s: %w: the index does not take the change: %s; commit or unstage it first", c.m.Root, ErrInTheWay, gitComplaint(err))
}

// copyAttributes copies the work tree's .gitattributes to where git writes the new files. Git reads one there even
// if it is not in the index.
func (c *checkout) copyAttributes() error {
	changed := map[string]bool{}
	for _, ch := range c.changes {
		changed[ch.Path] = true
	}
	for dir, text := range c.readAttributes() {
		name := path.Join(dir, attributesFile)
		if changed[name] {
			continue // git lays it out
		}
		at := filepath.Join(c.scratch, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, text, 0o666)); err != nil {
			return err
		}
	}
	return nil
}

// readAttributes returns the work tree's .gitattributes above the files to be written.
func (c *checkout) readAttributes() map[string][]byte {
	ch := Changes{}
	for _, one := range c.changes {
		if one.NewMode != "" {
			ch[one.Path] = []byte{}
		}
	}
	return readAttributesIn(c.m.Root, ch)
}

// gitComplaint returns git's error output on one line.
func gitComplaint(err error) string {
	ge := (*gitcmd.Error)(nil)
	if !errors.As(err, &ge) {
		return err.Error()
	}
	var out []string
	for l := range strings.SplitSeq(strings.TrimSpace(ge.Stderr), "\n") {
		l = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(l), "error: "), "fatal: ")
		if l != "" {
			out = append(out, strings.TrimSuffix(l, "."))
		}
	}
	return strings.Join(out, ", ")
}

func (c *checkout) indexFile() string { return c.scratch + ".index" }

// indexEnv points git at the work tree's repository and at the scratch index.
func (c *checkout) indexEnv() []string {
	return []string{"GIT_DIR=" + c.m.GitDir, "GIT_INDEX_FILE=" + c.indexFile()}
}

// stagedFile returns the scratch file with a path's new bytes. It is "" if the path is deleted, is outside a sparse
// checkout, or was in the index already.
func (c *checkout) stagedFile(path string) string {
	p := filepath.Join(c.scratch, filepath.FromSlash(path))
	if c.made != nil {
		p = c.files[path]
	}
	if st, err := os.Lstat(p); err != nil || st.IsDir() {
		return ""
	}
	return p
}

// checkObstacles runs before the ref moves and refuses every file that placeFiles would have to keep.
func (c *checkout) checkObstacles(ctx context.Context) error {
	states, err := c.readStates(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for i, ch := range c.changes {
		if why := c.whyBlocked(ch, states[i]); why != "" {
			errs = append(errs, fmt.Errorf("%s: %w: %s first", filepath.Join(c.m.Root, ch.Path), ErrInTheWay, why))
		}
	}
	if len(errs) > maxNamed {
		errs = append(errs[:maxNamed], fmt.Errorf("and %d more: %w", len(errs)-maxNamed, ErrInTheWay))
	}
	return errors.Join(errs...)
}

// maxNamed is how many files in the way one error names.
const maxNamed = 10

// whyBlocked says why a path cannot be updated and what to do, "" if it can.
func (c *checkout) whyBlocked(ch Change, s pathState) string {
	switch {
	case c.stagedFile(ch.Path) == "" && ch.NewMode != "":
		return "" // its file is not touched
	case s == stateOther && ch.OldMode == "":
		return "the commit adds it, and another file has its place; commit, stash or move it"
	case s == stateOther:
		return "the commit changes it, and it has edits that are not committed; commit, stash or move it"
	case s == stateAbsent && ch.OldMode != "" && ch.NewMode != "":
		return "the commit changes it, and it was deleted by hand; commit that or bring it back"
	case s != stateNew && !c.isWritable(ch.Path):
		return "its folder cannot be written; let your user write there"
	}
	return ""
}

// placeFiles updates the files: a path that is absent or has the old bytes gets the new ones. A path with other
// bytes is kept and reported, one line each. Deletions go first, because a folder may take the place of a file. It
// may be repeated.
func (c *checkout) placeFiles(ctx context.Context) (kept []string, err error) {
	states, err := c.readStates(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range []func(Change, pathState) (string, error){c.placeDeletion, c.placeChange} {
		for i, ch := range c.changes {
			why, err := one(ch, states[i])
			if errors.Is(err, errStopped) || gitcmd.Faulty(err) {
				return nil, err // the marker stays, and Recover goes on
			}
			if err != nil {
				why += ": " + err.Error()
			}
			if why != "" {
				kept = append(kept, filepath.Join(c.m.Root, ch.Path)+": "+why)
			}
		}
	}
	return kept, c.r.testStep("placed")
}

// placeDeletion removes a file that the commit deletes; why says what was kept instead.
func (c *checkout) placeDeletion(ch Change, s pathState) (why string, err error) {
	if ch.NewMode != "" || s == stateAbsent {
		return "", nil
	}
	if s != stateOld {
		return "kept; " + shortRef(c.m.Ref) + " deleted it", nil
	}
	if err := c.removeFile(ch.Path); err != nil {
		return "could not be deleted", err
	}
	return "", nil
}

// placeChange moves a file that the commit adds or changes into place; why says what was kept instead.
func (c *checkout) placeChange(ch Change, s pathState) (why string, err error) {
	if ch.NewMode == object.ModeRepo && s == stateAbsent { // a submodule nobody has fetched is an empty folder
		return "", os.MkdirAll(filepath.Join(c.m.Root, ch.Path), 0o777)
	}
	src := c.stagedFile(ch.Path)
	if ch.NewMode == "" || s == stateNew || src == "" {
		return "", nil
	}
	if s == stateOther {
		return "kept as it is; git diff shows how it differs from " + shortRef(c.m.Ref), nil
	}
	if err := c.moveIntoPlace(src, ch.Path); err != nil {
		return "could not be written (git checkout -- PATH gets it)", err
	}
	return "", nil
}

func shortRef(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// removeFile deletes a file and the folders it leaves empty, except the one that odd was started in.
func (c *checkout) removeFile(path string) error {
	if err := c.r.testStep("remove " + path); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(c.m.Root, path)); err != nil {
		return err
	}
	here := filepath.Join(c.r.root, filepath.FromSlash(c.r.prefix))
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		abs := filepath.Join(c.m.Root, dir)
		if abs == here || os.Remove(abs) != nil {
			break
		}
	}
	return nil
}

// moveIntoPlace renames a staged file into the work tree. On another file system it copies the file to a temporary
// name there first.
func (c *checkout) moveIntoPlace(src, path string) error {
	if err := c.r.testStep("put " + path); err != nil {
		return err
	}
	dst := filepath.Join(c.m.Root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(dst), 0o777); err != nil {
		return err
	}
	removeEmpty(dst)
	if err := os.Rename(src, dst); err == nil {
		return nil
	}
	st, err := os.Lstat(src)
	if err != nil {
		return err
	}
	if st.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(src)
		if err != nil {
			return err
		}
		return renameio.Symlink(to, dst)
	}
	b, err := os.ReadFile(src)
	if err != nil {
		return err
	}
	return renameio.WriteFile(dst, b, st.Mode().Perm())
}

// removeEmpty removes dir if it holds nothing but empty folders.
func removeEmpty(dir string) {
	if st, err := os.Lstat(dir); err != nil || !st.IsDir() {
		return
	}
	des, _ := os.ReadDir(dir)
	for _, d := range des {
		removeEmpty(filepath.Join(dir, d.Name()))
	}
	os.Remove(dir) // fails, and should, when something is left
}

// installIndex renames the new index into place and releases index.lock.
func (c *checkout) installIndex(ctx context.Context) error {
	if err := c.refreshStats(ctx); err != nil {
		return err
	}
	if err := os.Rename(c.indexFile(), filepath.Join(c.m.GitDir, "index")); err != nil {
		return err
	}
	if err := c.r.testStep("indexed"); err != nil {
		return err
	}
	return c.m.dropIndexLock()
}

// refreshStats records the new files' stat data in the scratch index, so that the next git status need not read
// them. This only saves time, so an error of git is ignored.
func (c *checkout) refreshStats(ctx context.Context) error {
	if done, err := c.refreshCtimes(); done || err != nil {
		return err
	}
	var paths strings.Builder
	for _, ch := range c.changes {
		if ch.NewMode != "" && ch.NewMode != object.ModeRepo {
			paths.WriteString(ch.Path + "\x00")
		}
	}
	if paths.Len() == 0 {
		return nil
	}
	c.r.git.Run(ctx, gitcmd.Call{
		Args:  []string{"-c", "core.fsmonitor=false", "add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul"},
		Dir:   c.m.Root,
		Env:   append(c.indexEnv(), "GIT_WORK_TREE="+c.m.Root, "GIT_LITERAL_PATHSPECS=1"),
		Stdin: strings.NewReader(paths.String()),
	})
	return nil
}

// cleanUp removes the marker and the scratch files. If lines are still to be reported, the marker stays and holds
// them.
func (c *checkout) cleanUp(kept []string) error {
	if c.made == nil {
		os.RemoveAll(c.scratch) // sweepSync removes what is left
	}
	for _, p := range append(slices.Collect(maps.Values(c.files)), c.indexFile()) {
		os.Remove(p) // most were renamed into place
	}
	if len(kept) > 0 {
		c.m.Kept = kept
		return c.r.writeMarker(c.m)
	}
	return local.RemoveIfExists(c.r.markerPath(c.m))
}

// undo releases index.lock and cleans up before the ref moved.
func (c *checkout) undo() error { return errors.Join(c.m.dropIndexLock(), c.cleanUp(nil)) }

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
