package object

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// WriteTree stores the tree at base ("" is the empty tree) with the files applied, and returns its id. An empty
// result is git's empty tree.
func (db *DB) WriteTree(ctx context.Context, base OID, files Changes) (OID, error) {
	return db.ApplyChanges(ctx, base, files, nil)
}

// WriteBlob stores one blob and returns its id.
func (db *DB) WriteBlob(b []byte) (OID, error) { return db.objs.put("blob", b) }

// CheckPaths refuses paths that could leave the repository or reach git's own files on any file system.
func (ch Changes) CheckPaths() error {
	paths := slices.Sorted(maps.Keys(ch))
	for i, p := range paths {
		if err := CheckPath(p); err != nil {
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

// CheckPath accepts slash-separated paths below the root without empty, ".", ".." or ".git" segments. It compares
// without case, as macOS does, and refuses git~1, the short name of .git on Windows.
func CheckPath(p string) error {
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

// ApplyChanges is WriteTree with the modes that files get; a path without one keeps its mode.
func (db *DB) ApplyChanges(ctx context.Context, base OID, ch Changes, modes map[string]string) (OID, error) {
	if err := ch.CheckPaths(); err != nil {
		return "", err
	}
	tree, err := db.applyDir(ctx, base, "", ch, modes)
	if err != nil || tree != "" {
		return tree, err
	}
	return db.objs.put("tree", nil)
}

// applyDir applies changes (paths relative to dir) to one directory; "" means that nothing is left of it.
func (db *DB) applyDir(ctx context.Context, base OID, dir string, ch Changes, modes map[string]string) (OID, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	was, err := db.readTree(base)
	if err != nil {
		return "", err
	}
	f := treeBuilder{db: db, was: was, dir: dir, edits: make(map[string]Entry, len(ch))}
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
	db    *DB
	was   listing
	dir   string
	edits map[string]Entry // for listing.applyEdits
}

// lookUp returns the entry of a name before any edit.
func (f treeBuilder) lookUp(name string) (Entry, bool) {
	i := f.was.find(name)
	if i < 0 {
		return Entry{}, false
	}
	return f.was.entryAt(i), true
}

// writeTree writes the directory and caches it; "" means that nothing is left of it.
func (f treeBuilder) writeTree() (OID, error) {
	b, err := f.was.applyEdits(f.edits)
	if err != nil || len(b) == 0 {
		return "", err
	}
	oid, err := f.db.objs.put("tree", b)
	if err != nil {
		return "", err
	}
	return oid, f.db.rememberTree(oid, b)
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
	if ok && !e.IsDir() {
		if !slices.ContainsFunc(slices.Collect(maps.Values(ch)), func(b []byte) bool { return b != nil }) {
			return nil // only deletions, and nothing is there
		}
		if b, gone := here[name]; !gone || b != nil {
			return fmt.Errorf("%s%s: is a file; delete it in the same change to make a folder of it", f.dir, name)
		}
		e.OID = ""
	}
	if here[name] == nil {
		delete(here, name) // its deletion, if any, is done: the folder replaces it
	}
	sub, err := f.db.applyDir(ctx, e.OID, f.dir+name+"/", ch, modes)
	if err != nil {
		return err
	}
	f.edits[name] = Entry{}
	if sub != "" {
		f.edits[name] = Entry{Mode: ModeDir, Name: name, OID: sub}
	}
	return nil
}

// applyFile writes or deletes one file of the directory. as is its new mode; "" keeps the mode, or is 100644 for a
// new file.
func (f treeBuilder) applyFile(name string, b []byte, as string) error {
	e, ok := f.lookUp(name)
	if below, edited := f.edits[name]; edited {
		e, ok = below, below.Mode != ""
	}
	if b == nil {
		if ok && e.IsDir() {
			return fmt.Errorf("%s%s: is a folder; delete its files one by one", f.dir, name)
		}
		f.edits[name] = Entry{}
		return nil
	}
	mode := ModeFile
	if ok {
		if !FileMode(e.Mode).IsRegular() {
			return fmt.Errorf("%s%s: is a folder, a symbolic link or a submodule; delete it first", f.dir, name)
		}
		mode = e.Mode
	}
	if as != "" {
		mode = as
	}
	oid, err := f.db.objs.put("blob", b)
	if err != nil {
		return fmt.Errorf("%s%s: %w", f.dir, name, err)
	}
	f.edits[name] = Entry{Mode: mode, Name: name, OID: oid}
	return nil
}

// WriteCommit stores an unsigned commit and returns its id. author and committer are as Signature.String prints them.
func (db *DB) WriteCommit(tree OID, parents []OID, author, committer, message string) (OID, error) {
	return db.objs.put("commit", printCommit(tree, parents, author, committer, message))
}
