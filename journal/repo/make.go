package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Make writes a commit object whose tree is parents[0]'s tree with the changes applied, and moves no ref.
//
// who is author and committer (the agent), at who.When. It runs no hook and signs nothing. Files that exist keep
// their modes; new ones are 100644. Deleting a missing file is no error. Without parents the tree is the changes
// alone. If git would store a file with other bytes, Make refuses and writes nothing. Nothing is reachable until a
// ref names the commit, so a failure leaves only loose objects.
func (r *Repo) Make(ctx context.Context, parents []OID, ch Changes, who Signature, message string) (OID, error) {
	base, err := r.checkCommit(parents, who, message)
	if err != nil {
		return "", err
	}
	return r.MakeOn(ctx, parents, base, ch, who, message)
}

// checkCommit returns the tree of the first parent, "" without one, and refuses what git would refuse of a commit.
func (r *Repo) checkCommit(parents []OID, who Signature, message string) (base OID, err error) {
	if err := errors.Join(who.check(), checkMessage(message)); err != nil {
		return "", err
	}
	for i, p := range parents {
		c, err := r.Commit(p)
		if err != nil {
			return "", err
		}
		if i == 0 {
			base = c.Tree
		}
	}
	return base, nil
}

// MakeOn is Make for a commit whose tree starts from tree, such as a merged one, instead of from its first
// parent's.
func (r *Repo) MakeOn(ctx context.Context, parents []OID, tree OID, ch Changes, who Signature, message string) (OID, error) {
	if _, err := r.checkCommit(nil, who, message); err != nil {
		return "", err
	}
	if err := r.checkConverted(ctx, tree, ch); err != nil {
		return "", err
	}
	tree, err := r.WriteTree(ctx, tree, ch)
	if err != nil {
		return "", err
	}
	return r.objs.put("commit", printCommit(tree, parents, who.String(), who.String(), message))
}

// WriteTree stores the tree at base ("" is the empty tree) with the files applied, and returns its id. An empty
// result is git's empty tree.
func (r *Repo) WriteTree(ctx context.Context, base OID, files Changes) (OID, error) {
	return r.applyChanges(ctx, base, files, nil)
}

// WriteBlob stores one blob and returns its id.
func (r *Repo) WriteBlob(b []byte) (OID, error) { return r.objs.put("blob", b) }

// checkMessage refuses a message that git would refuse or cut short.
func checkMessage(m string) error {
	switch {
	case strings.TrimSpace(m) == "":
		return errors.New("commit message: empty")
	case strings.ContainsRune(m, 0):
		return errors.New("commit message: holds a NUL")
	}
	return nil
}

// checkPaths refuses paths that could leave the repository or reach git's own files on any file system.
func (ch Changes) checkPaths() error {
	paths := slices.Sorted(maps.Keys(ch))
	for i, p := range paths {
		if err := checkPath(p); err != nil {
			return err
		}
		for _, q := range paths[i+1:] {
			if !strings.HasPrefix(q, p) {
				break
			}
			if ch[p] != nil && ch[q] != nil && strings.HasPrefix(q, p+"/") {
				return fmt.Errorf("%s: cannot be a file while %s is written too", p, q)
			}
		}
	}
	return nil
}

// checkPath accepts slash-separated paths below the root without empty, ".", ".." or ".git" segments. It compares
// without case, as macOS does, and refuses git~1, the short name of .git on Windows.
func checkPath(p string) error {
	if strings.ContainsAny(p, "\x00\n\r") {
		return fmt.Errorf("%q: line breaks and NUL are not allowed in a path", p)
	}
	for seg := range strings.SplitSeq(p, "/") {
		switch low := strings.ToLower(seg); {
		case seg == "" || seg == "." || seg == "..":
			return fmt.Errorf("%q: want a path inside the repository, without empty, . and .. segments", p)
		case low == ".git" || low == "git~1":
			return fmt.Errorf("%q: git's own directory cannot be written", p)
		}
	}
	return nil
}

// applyChanges is WriteTree with the modes that files get; a path without one keeps its mode.
func (r *Repo) applyChanges(ctx context.Context, base OID, ch Changes, modes map[string]string) (OID, error) {
	if err := ch.checkPaths(); err != nil {
		return "", err
	}
	tree, err := r.applyDir(ctx, base, "", ch, modes)
	if err != nil || tree != "" {
		return tree, err
	}
	return r.objs.put("tree", nil)
}

// applyDir applies changes (paths relative to dir) to one directory; "" means that nothing is left of it.
func (r *Repo) applyDir(ctx context.Context, base OID, dir string, ch Changes, modes map[string]string) (OID, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	was, err := r.readTree(base)
	if err != nil {
		return "", err
	}
	f := treeBuilder{r: r, was: was, dir: dir, edits: make(map[string]entry, len(ch))}
	here, below := splitByDir(ch)
	for _, name := range slices.Sorted(maps.Keys(below)) {
		if err := f.applyBelow(ctx, here, name, below[name], modes); err != nil {
			return "", err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(here)) {
		if err := f.applyFile(name, here[name], modes[dir+name]); err != nil {
			return "", err
		}
	}
	return f.writeTree()
}

// treeBuilder builds one directory of a new tree; dir is its path with a slash at the end.
type treeBuilder struct {
	r     *Repo
	was   listing
	dir   string
	edits map[string]entry // for listing.applyEdits
}

// lookUp returns the entry of a name before any edit.
func (f treeBuilder) lookUp(name string) (entry, bool) {
	i := f.was.find(name)
	if i < 0 {
		return entry{}, false
	}
	return f.was.entryAt(i), true
}

// writeTree writes the directory and caches it; "" means that nothing is left of it.
func (f treeBuilder) writeTree() (OID, error) {
	b, err := f.was.applyEdits(f.edits)
	if err != nil || len(b) == 0 {
		return "", err
	}
	oid, err := f.r.objs.put("tree", b)
	if err != nil {
		return "", err
	}
	return oid, f.r.rememberTree(oid, b)
}

// splitByDir splits the changes of one directory into those of its own files and those of each sub-directory.
func splitByDir(ch Changes) (here Changes, below map[string]Changes) {
	here, below = Changes{}, map[string]Changes{}
	for p, b := range ch {
		name, rest, deep := strings.Cut(p, "/")
		if !deep {
			here[name] = b
			continue
		}
		if below[name] == nil {
			below[name] = Changes{}
		}
		below[name][rest] = b
	}
	return here, below
}

// applyBelow applies changes to the sub-directory name. If a file has that name, the same change must delete it.
func (f treeBuilder) applyBelow(ctx context.Context, here Changes, name string, ch Changes, modes map[string]string) error {
	e, ok := f.lookUp(name)
	if ok && !e.isDir() {
		if !slices.ContainsFunc(slices.Collect(maps.Values(ch)), func(b []byte) bool { return b != nil }) {
			return nil // only deletions, and nothing is there
		}
		if b, gone := here[name]; !gone || b != nil {
			return fmt.Errorf("%s%s: is a file; delete it in the same change to make a folder of it", f.dir, name)
		}
		e.oid = ""
	}
	if here[name] == nil {
		delete(here, name) // its deletion, if any, is done: the folder replaces it
	}
	sub, err := f.r.applyDir(ctx, e.oid, f.dir+name+"/", ch, modes)
	if err != nil {
		return err
	}
	f.edits[name] = entry{}
	if sub != "" {
		f.edits[name] = entry{mode: modeDir, name: name, oid: sub}
	}
	return nil
}

// applyFile writes or deletes one file of the directory. as is its new mode; "" keeps the mode, or is 100644 for a
// new file.
func (f treeBuilder) applyFile(name string, b []byte, as string) error {
	e, ok := f.lookUp(name)
	if below, edited := f.edits[name]; edited {
		e, ok = below, below.mode != ""
	}
	if b == nil {
		if ok && e.isDir() {
			return fmt.Errorf("%s%s: is a folder; delete its files one by one", f.dir, name)
		}
		f.edits[name] = entry{}
		return nil
	}
	mode := modeFile
	if ok {
		if !fileMode(e.mode).IsRegular() {
			return fmt.Errorf("%s%s: is a folder, a symbolic link or a submodule; delete it first", f.dir, name)
		}
		mode = e.mode
	}
	if as != "" {
		mode = as
	}
	oid, err := f.r.objs.put("blob", b)
	if err != nil {
		return fmt.Errorf("%s%s: %w", f.dir, name, err)
	}
	f.edits[name] = entry{mode: mode, name: name, oid: oid}
	return nil
}

// ErrStale means that a file no longer has the bytes that a change replaces.
var ErrStale = errors.New("changed since the change was made")

// MakeEdits is Make for edits, and keeps their modes. Every Before must be what the first parent has; otherwise the
// error is ErrStale and names every such path. Two edits of one path are an error, and so is a mode that is not a
// file's.
func (r *Repo) MakeEdits(ctx context.Context, parents []OID, files []FileEdit, who Signature, message string) (OID, error) {
	if len(parents) == 0 {
		return "", errors.New("apply a change: no parent given")
	}
	base, err := r.checkCommit(parents, who, message)
	if err != nil {
		return "", err
	}
	ch, modes := Changes{}, map[string]string{}
	var bad []error
	for _, f := range files {
		if _, twice := ch[f.Path]; twice {
			bad = append(bad, fmt.Errorf("%s: changed twice by one change", f.Path))
		}
		ch[f.Path], modes[f.Path] = f.After, f.NewMode
		bad = append(bad, f.checkModes(), r.checkBefore(base, f))
	}
	if err := errors.Join(bad...); err != nil {
		return "", err
	}
	if err := r.checkConverted(ctx, base, contentEdits(files)); err != nil {
		return "", err
	}
	tree, err := r.applyChanges(ctx, base, ch, modes)
	if err != nil {
		return "", err
	}
	return r.objs.put("commit", printCommit(tree, parents, who.String(), who.String(), message))
}

// contentEdits returns the edits that change bytes, without those that only change a mode.
func contentEdits(files []FileEdit) Changes {
	ch := Changes{}
	for _, f := range files {
		if f.After != nil && (f.Before == nil || !bytes.Equal(f.Before, f.After)) {
			ch[f.Path] = f.After
		}
	}
	return ch
}

// checkModes refuses an edit whose modes do not fit its bytes.
func (f FileEdit) checkModes() error {
	for _, side := range []struct {
		b    []byte
		mode string
	}{{f.Before, f.OldMode}, {f.After, f.NewMode}} {
		if ok := slices.Contains([]string{modeFile, modeExec}, side.mode); ok != (side.b != nil) || !ok && side.mode != "" {
			return fmt.Errorf("%s: mode %q does not go with its bytes; want 100644 or 100755 for a file, none without", f.Path, side.mode)
		}
	}
	return nil
}

// checkBefore refuses an edit that was made against something other than what the tree has.
func (r *Repo) checkBefore(tree OID, f FileEdit) error {
	oid, mode, err := r.Find(tree, f.Path)
	if err != nil {
		return err
	}
	if mode == modeDir && f.Before == nil {
		return nil // the same change may empty the folder; if not, applying it fails
	}
	if mode != f.OldMode {
		return fmt.Errorf("%s: %w", f.Path, ErrStale)
	}
	if mode == "" {
		return nil
	}
	now, err := r.Blob(oid)
	if err == nil && !bytes.Equal(now, f.Before) {
		err = fmt.Errorf("%s: %w", f.Path, ErrStale)
	}
	return err
}
