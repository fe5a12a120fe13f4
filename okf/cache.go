package okf

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
// A file is read again when its size, time of change or inode differ from the
// cache, when it was changed less than two seconds before the cache was made, or when
// f knows no times, as a git tree does not (use Decode for that);
// otherwise its atom, its problems and its links come from the cache, and its
// bytes from f once somebody asks for them. A cache that is nil, damaged or
// from another version of the parser is as good as none.
//
// fresh is the cache to keep for the next time. It is nil when the old one
// will do: nothing changed, or so little that reading those files again costs
// less than a new cache. now is the present time.
func LoadCached(f fs.FS, cache []byte, now time.Time) (g *Graph, problems []Problem, fresh []byte, err error) {
	var listed atomic.Bool
	var old *snapshot
	var seen []stat
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		old, _ = openCache(cache, f)
		seen = old.lookAhead(f, &listed)
	}()
	l, err := listFiles(f)
	listed.Store(true)
	<-opened
	if err != nil {
		return nil, nil, nil, err
	}
	stats := old.statFiles(f, l.files, seen)
	todo, gone := old.compare(l.files, stats)
	found := make([]reading, len(l.files))
	readAll(f, l.files, todo, found)
	switch {
	case old == nil:
		g = assemble(found)
	case worthwhile(len(todo)+len(gone), len(l.files)):
		g, _ = relaid(old.rows, differ(found, todo, gone))
	default:
		g, problems = newGraph(old.rows, nil).change(differ(found, todo, gone))
		return g, inOrder(problems, l.problems), nil, nil
	}
	return g, inOrder(g.problems, l.problems), encode(g.rows, stats, l.problems, now), nil
}

// differ is what is different from a cache, by path: the files that were read,
// and those that are gone.
func differ(found []reading, todo []int, gone []string) map[string]reading {
	out := make(map[string]reading, len(todo)+len(gone))
	for _, i := range todo {
		out[found[i].path] = found[i]
	}
	for _, file := range gone {
		out[file] = reading{path: file, gone: true}
	}
	return out
}

// Encode is the cache for Decode of a bundle that was loaded without a cache or
// with the cache of another tree. problems are those of the load.
func Encode(g *Graph, problems []Problem) []byte {
	if g.now != nil {
		g, _ = relaid(g.rows, g.now.files)
	}
	walk := slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return !ofWalk(p) })
	return encode(g.rows, make([]stat, g.rows.len()), walk, time.Unix(0, 0))
}

// ofWalk reports a problem that is no file's that was read.
func ofWalk(p Problem) bool {
	return p.Code == codeSymlink || p.Code == codeName || !strings.HasSuffix(p.Path, ".md")
}

// fewChanged is how many changed files are read again by every command rather
// than a cache of some thousand files, and what is known of their words, be made
// anew while a person or a program is still at work on them.
const fewChanged = 16

// worthwhile reports whether so many changed files of all are worth a new
// cache. Writing one costs about as much as reading one file in 250 again.
func worthwhile(changed, all int) bool { return changed > max(fewChanged, all/256) }

// Decode returns what Load returned for the bundle that cache was made of,
// without looking at a file: for a bundle that cannot have changed, such as a
// commit's tree. f is that bundle; the atoms' bytes are read from it when
// somebody asks for them. The error wraps ErrCache.
func Decode(cache []byte, f fs.FS) (*Graph, []Problem, error) {
	old, err := openCache(cache, f)
	if err != nil {
		return nil, nil, err
	}
	return newGraph(old.rows, nil), inOrder(old.rows.problems, old.walk), nil
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

// stat is what tells a file from its earlier self, and from another that took its
// place when a folder was renamed, which changes no file: its size, which inode
// it is, and when that changed. A file system without StatMany says when the text
// did, and nothing of inodes.
type stat struct {
	size    int64
	changed int64 // Unix nanoseconds, 0 where there is none
	inode   uint64
}

// manyStater is a file system that looks at many files in one go. It hands the
// size, the time of change, in Unix nanoseconds, and the inode of each regular
// file to fn, with its place in names.
type manyStater interface {
	StatMany(names []string, fn func(i int, size, changed int64, inode uint64))
}

// lookAhead looks at the files of the first rows until all files are listed: a
// large folder is listed by one processor, and the others would have to wait.
func (s *snapshot) lookAhead(f fs.FS, listed *atomic.Bool) (seen []stat) {
	m, ok := f.(manyStater)
	if s == nil || !ok {
		return nil
	}
	for n := s.rows.len(); len(seen) < n && !listed.Load(); {
		from := len(seen)
		files := make([]string, min(batchSize, n-from))
		for i := range files {
			files[i] = s.rows.path(int32(from + i))
		}
		seen = append(seen, make([]stat, len(files))...)
		m.StatMany(files, func(i int, size, changed int64, inode uint64) { seen[from+i] = stat{size, changed, inode} })
	}
	return seen
}

// statFiles is statFiles of the files but those that were seen ahead, which are
// those of the first rows.
func (s *snapshot) statFiles(f fs.FS, files []string, seen []stat) []stat {
	if len(seen) == 0 {
		return statFiles(f, files)
	}
	out, j := make([]stat, len(files)), 0
	var rest []int
	var names []string
	for i, file := range files {
		for j < len(seen) && s.rows.path(int32(j)) < file {
			j++
		}
		if j < len(seen) && s.rows.path(int32(j)) == file {
			out[i] = seen[j]
			continue
		}
		rest, names = append(rest, i), append(names, file)
	}
	for k, st := range statFiles(f, names) {
		out[rest[k]] = st
	}
	return out
}

// statFiles looks at files. One that cannot be looked at has no time, so that
// it is read, and reported if need be; neither have the files of a git tree,
// whose time is their commit's.
func statFiles(f fs.FS, files []string) []stat {
	out := make([]stat, len(files))
	if m, ok := f.(manyStater); ok {
		batches(len(files), func(from, to int) {
			m.StatMany(files[from:to], func(i int, size, changed int64, inode uint64) { out[from+i] = stat{size, changed, inode} })
		})
		return out
	}
	if _, ok := f.(manyReader); ok {
		return out
	}
	parallel(len(files), func(i int) {
		if info, err := fs.Lstat(f, files[i]); err == nil && info.Mode().IsRegular() {
			out[i] = stat{size: info.Size(), changed: nanos(info.ModTime())}
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

// compare lists the files that must be read, by their number, and the paths
// that are gone. Both lists of files are in order of path.
func (s *snapshot) compare(files []string, stats []stat) (todo []int, gone []string) {
	j, n := 0, 0
	if s != nil {
		n = s.rows.len()
	}
	for i, file := range files {
		for j < n && s.rows.path(int32(j)) < file {
			gone = append(gone, s.rows.path(int32(j)))
			j++
		}
		if j == n || s.rows.path(int32(j)) != file {
			todo = append(todo, i)
			continue
		}
		if st := s.stat(j); st != stats[i] || st.changed == 0 || time.Duration(s.taken-st.changed) <= racy {
			todo = append(todo, i)
		}
		j++
	}
	for ; j < n; j++ {
		gone = append(gone, s.rows.path(int32(j)))
	}
	return todo, gone
}
