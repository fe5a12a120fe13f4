package repo

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Reader compares many trees of one history. It remembers directories it has
// read, of which two commits that follow each other share all but a few. It is
// for one goroutine.
type Reader struct {
	r         *Repo
	young     map[OID]listing
	old       map[OID]listing
	remembers int         // entries in young
	roots     map[OID]OID // of commits
}

// readerEntries is how many directory entries a Reader keeps before it forgets
// the older half: some twenty-five megabytes.
const readerEntries = 250_000

// Reader makes a Reader of the repository's objects.
func (r *Repo) Reader() *Reader { return &Reader{r: r, young: map[OID]listing{}, roots: map[OID]OID{}} }

// read is readTree, remembered.
func (x *Reader) read(oid OID) (listing, error) {
	if l, ok := x.young[oid]; ok {
		return l, nil
	}
	l, ok := x.old[oid]
	if !ok {
		var err error
		if l, err = x.r.readTree(oid); err != nil {
			return listing{}, err
		}
	}
	if x.remembers > readerEntries {
		x.old, x.young, x.remembers = x.young, map[OID]listing{}, 0
	}
	x.young[oid] = l
	x.remembers += 1 + l.len()
	return l, nil
}

// root is the tree of a commit, or the tree itself.
func (x *Reader) root(oid OID) (OID, error) {
	if t, ok := x.roots[oid]; ok {
		return t, nil
	}
	if _, ok := x.young[oid]; ok {
		return oid, nil
	}
	if _, ok := x.old[oid]; ok {
		return oid, nil
	}
	t, _, err := x.r.rootTree(oid)
	if err == nil {
		x.roots[oid] = t
	}
	return t, err
}

// Diff is Repo.Diff.
func (x *Reader) Diff(ctx context.Context, a, b OID) ([]Change, error) {
	ta, err := x.root(a)
	if err != nil {
		return nil, err
	}
	tb, err := x.root(b)
	if err != nil {
		return nil, err
	}
	d := differ{ctx: ctx, read: x.read}
	if err := d.dir("", ta, tb); err != nil {
		return nil, err
	}
	slices.SortFunc(d.out, func(x, y Change) int { return cmp.Compare(x.Path, y.Path) })
	return d.out, nil
}

// Find is the object at a path of a commit or tree and its mode, "40000" for a
// directory; both are "" where there is none.
func (x *Reader) Find(at OID, path string) (oid OID, mode string, err error) {
	root, err := x.root(at)
	if err != nil {
		return "", "", err
	}
	e := entry{mode: modeDir, oid: root}
	for seg := range strings.SplitSeq(path, "/") {
		if !e.isDir() {
			return "", "", nil
		}
		l, err := x.read(e.oid)
		if err != nil {
			return "", "", err
		}
		i := l.find(seg)
		if i < 0 {
			return "", "", nil
		}
		e = l.entry(i)
	}
	return e.oid, e.mode, nil
}

// Names lists what a directory of a commit or tree holds, "" for its top; nothing
// where there is no directory.
func (x *Reader) Names(at OID, dir string) ([]string, error) {
	oid, err := x.root(at)
	if err == nil && dir != "" {
		var mode string
		if oid, mode, err = x.Find(at, dir); mode != modeDir {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	l, err := x.read(oid)
	var out []string
	for i := range l.len() {
		out = append(out, l.named(i).name)
	}
	return out, err
}
