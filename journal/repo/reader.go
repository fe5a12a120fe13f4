package repo

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
)

// Reader reads many trees of one history. It caches directories, most of which two commits in a row share, and
// blobs. It is for one goroutine.
type Reader struct {
	r     *Repo
	trees boundedCache[OID, listing]
	blobs boundedCache[OID, []byte]
	roots map[OID]OID // of commits
	log   map[OID]Commit
}

// How many directory entries and bytes of blobs a Reader caches before it drops the older
// half: some ten megabytes of each.
const (
	readerEntries = 100_000
	readerBytes   = 8 << 20
)

// Reader returns a Reader of the repository's objects.
func (r *Repo) Reader() *Reader {
	return &Reader{r: r, trees: boundedCache[OID, listing]{most: readerEntries}, blobs: boundedCache[OID, []byte]{most: readerBytes}, roots: map[OID]OID{}, log: map[OID]Commit{}}
}

// readTree is Repo.readTree with the Reader's cache.
func (x *Reader) readTree(oid OID) (listing, error) {
	if l, ok := x.trees.get(oid); ok {
		return l, nil
	}
	l, err := x.r.readTree(oid)
	if err == nil {
		x.trees.put(oid, l, 1+l.len())
	}
	return l, err
}

// Blob is Repo.Blob with a cache; callers must not change the bytes.
func (x *Reader) Blob(oid OID) ([]byte, error) {
	if b, ok := x.blobs.get(oid); ok {
		return b, nil
	}
	b, err := x.r.Blob(oid)
	if err == nil && len(b) <= readerBytes/4 {
		x.blobs.put(oid, b, 128+len(b))
	}
	return b, err
}

// Log is Repo.Log, but reads each commit only once.
func (x *Reader) Log(ctx context.Context, from, to OID) iter.Seq2[Commit, error] {
	return x.r.walkLog(ctx, from, to, func(oid OID) (Commit, error) {
		if c, ok := x.log[oid]; ok {
			return c, nil
		}
		c, err := x.r.Commit(oid)
		if err == nil {
			x.log[oid], x.roots[oid] = c, c.Tree
		}
		return c, err
	})
}

// rootTree returns the tree of a commit, or the tree itself.
func (x *Reader) rootTree(oid OID) (OID, error) {
	if t, ok := x.roots[oid]; ok {
		return t, nil
	}
	if _, ok := x.trees.get(oid); ok {
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
	ta, err := x.rootTree(a)
	if err != nil {
		return nil, err
	}
	tb, err := x.rootTree(b)
	if err != nil {
		return nil, err
	}
	d := differ{ctx: ctx, read: x.readTree}
	if err := d.diffDir("", ta, tb); err != nil {
		return nil, err
	}
	slices.SortFunc(d.out, func(x, y Change) int { return cmp.Compare(x.Path, y.Path) })
	return d.out, nil
}

// Find returns the id and mode of the object at a path of a commit or tree; the mode of a directory is "40000".
// Both are "" if there is none.
func (x *Reader) Find(at OID, path string) (oid OID, mode string, err error) {
	root, err := x.rootTree(at)
	if err != nil {
		return "", "", err
	}
	e := entry{mode: modeDir, oid: root}
	for seg := range strings.SplitSeq(path, "/") {
		if !e.isDir() {
			return "", "", nil
		}
		l, err := x.readTree(e.oid)
		if err != nil {
			return "", "", err
		}
		i := l.find(seg)
		if i < 0 {
			return "", "", nil
		}
		e = l.entryAt(i)
	}
	return e.oid, e.mode, nil
}

// Names lists the entries of a directory of a commit or tree; "" is the top. A missing directory has none.
func (x *Reader) Names(at OID, dir string) ([]string, error) {
	oid, err := x.rootTree(at)
	if err == nil && dir != "" {
		var mode string
		if oid, mode, err = x.Find(at, dir); mode != modeDir {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	l, err := x.readTree(oid)
	var out []string
	for i := range l.len() {
		out = append(out, l.entryWithoutID(i).name)
	}
	return out, err
}
