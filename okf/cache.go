package okf

import (
	"errors"
	"io/fs"
	"strings"
	"sync"
	"time"
)

// racy is how close to the moment of a snapshot a file may have been changed
// and still be trusted. A file written in the same tick of the file system's
// clock as the snapshot can change again without its time moving; two seconds
// is the coarsest tick in use, and as far as the two clocks may be apart.
const racy = 2 * time.Second

// ErrCache is what Decode returns for bytes that are no cache of this version
// of the parser, or that are damaged. A cache is disposable: load without it.
var ErrCache = errors.New("not a usable cache")

// LoadCached is Load with what an earlier LoadCached of the same bundle left.
//
// A file is read again when its size or time of change differ from the cache,
// when it was changed less than two seconds before the cache was made, or when
// f knows no times, as a git tree does not (use Decode for that);
// otherwise its atom, its problems and its links come from the cache, and its
// bytes from f once somebody asks for them. A cache that is nil, damaged or
// from another version of the parser is as good as none.
//
// fresh is the cache to keep for the next time. It is nil when the old one
// will do: nothing changed, or so little that reading those files again costs
// less than a new cache. now is the present time.
func LoadCached(f fs.FS, cache []byte, now time.Time) (g *Graph, problems []Problem, fresh []byte, err error) {
	l, err := listFiles(f)
	if err != nil {
		return nil, nil, nil, err
	}
	stats := statFiles(f, l.files)
	old, _ := openCache(cache)
	at, gone := old.match(l.files, stats)
	found := make([]reading, len(l.files))
	slab := make([]Atom, len(l.files))
	todo := old.take(f, at, found, slab)
	readAll(f, l.files, todo, found, slab)
	if old == nil || worthwhile(len(todo)+gone, len(l.files)) {
		fresh = encode(found, stats, l.problems, now)
	}
	g, problems = assemble(found, slab)
	problems = append(problems, l.problems...)
	sortProblems(problems)
	return g, problems, fresh, nil
}

// worthwhile reports whether so many changed files of all are worth a new
// cache. Writing one costs about as much as reading one file in 250 again.
func worthwhile(changed, all int) bool { return changed*256 > all }

// Decode returns what Load returned for the bundle that cache was made of,
// without looking at a file: for a bundle that cannot have changed, such as a
// commit's tree. f is that bundle; the atoms' bytes are read from it when
// somebody asks for them. The error wraps ErrCache.
func Decode(cache []byte, f fs.FS) (*Graph, []Problem, error) {
	old, err := openCache(cache)
	if err != nil {
		return nil, nil, err
	}
	found := make([]reading, len(old.entries))
	slab := make([]Atom, len(old.entries))
	at := make([]int, len(old.entries))
	for i := range at {
		at[i] = i
	}
	if left := old.take(f, at, found, slab); len(left) > 0 {
		return nil, nil, ErrCache
	}
	g, ps := assemble(found, slab)
	ps = append(ps, old.problems...)
	sortProblems(ps)
	return g, ps, nil
}

// take decodes entry at[i] into found[i], atoms into slab, and returns the
// places that are left: those whose entry is -1 or is not what encode wrote.
// Atoms read their bytes from f.
func (s *snapshot) take(f fs.FS, at []int, found []reading, slab []Atom) (left []int) {
	originals := make([]original, len(at))
	batches(len(at), func(from, to int) {
		var ar arena
		for i := from; i < to; i++ {
			if at[i] < 0 {
				continue
			}
			originals[i].f = f
			if !s.reading(at[i], &found[i], &slab[i], &originals[i], &ar) {
				at[i] = -1
			}
		}
	})
	for i, j := range at {
		if j < 0 {
			left = append(left, i)
		}
	}
	return left
}

// original is the file that an atom from a cache was once read from.
type original struct {
	f    fs.FS
	once sync.Once
	b    []byte
}

// bytes reads the file, once. A file that is no longer the blob gives nil.
func (o *original) bytes(path, blob string) []byte {
	o.once.Do(func() {
		if o.f == nil {
			return
		}
		if b, p := readFile(o.f, path); p == nil && BlobID(b) == blob {
			o.b = b
		}
		o.f = nil
	})
	return o.b
}

// stat is what tells a file from its earlier self.
type stat struct {
	size  int64
	mtime int64 // Unix nanoseconds, 0 where there is none
}

// statFiles looks at files. One that cannot be looked at has no time, so that
// it is read, and reported if need be; neither have the files of a git tree,
// whose time is their commit's.
func statFiles(f fs.FS, files []string) []stat {
	out := make([]stat, len(files))
	if _, ok := f.(manyReader); ok {
		return out
	}
	parallel(len(files), func(i int) {
		if info, err := fs.Lstat(f, files[i]); err == nil && info.Mode().IsRegular() {
			out[i] = stat{info.Size(), nanos(info.ModTime())}
		}
	})
	return out
}

// nanos is t in Unix nanoseconds, 0 for a time without one.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// match finds the cache's entry for each file, -1 where it must be read, and
// counts the entries whose file is gone. Both lists are in order of path.
func (s *snapshot) match(files []string, stats []stat) (at []int, gone int) {
	at = make([]int, len(files))
	if s == nil {
		for i := range at {
			at[i] = -1
		}
		return at, 0
	}
	j := 0
	for i, file := range files {
		for j < len(s.entries) && strings.Compare(s.entries[j].path, file) < 0 {
			j++
			gone++
		}
		at[i] = -1
		if j == len(s.entries) || s.entries[j].path != file {
			continue
		}
		if e := s.entries[j]; e.stat == stats[i] && e.mtime != 0 && time.Duration(s.taken-e.mtime) > racy {
			at[i] = j
		}
		j++
	}
	return at, gone + len(s.entries) - j
}
