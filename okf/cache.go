package okf

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
)

// racyWindow is the time before a snapshot in which a change to a file may have been
// missed. A file that is written twice within one tick of the file system's clock keeps its
// time. Two seconds is the coarsest tick in use, and allows for the two clocks being apart.
const racyWindow = 2 * time.Second

// ErrCache is returned by Decode for bytes that are damaged or that another version of the
// parser wrote. A cache is disposable: load without it.
var ErrCache = errors.New("not a usable cache")

// LoadCached is Load with the cache that an earlier LoadCached of the same bundle returned.
//
// It reads a file again when its size, time of change or inode differ from the cache, when
// it was changed less than two seconds before the cache was made, or when f knows no times,
// as a git tree does not (use Decode for that). For all other files it takes the atom, the
// problems and the links from the cache, and reads the bytes from f when somebody asks for
// them. A cache that is nil, damaged or from another version of the parser is ignored.
//
// fresh is the cache to keep for the next time. It is nil when the old one still serves:
// nothing changed, or so little that reading those files again costs less than a new cache.
// now is the present time.
func LoadCached(f fs.FS, cache []byte, now time.Time) (g *Graph, problems []Problem, fresh []byte, err error) {
	var old *snapshot
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		old, _ = openCache(cache, f)
	}()
	l, err := listFiles(f)
	<-opened
	if err != nil {
		return nil, nil, nil, err
	}
	stats := statFiles(f, l.files)
	todo, gone := old.diffFiles(l.files, stats)
	found := make([]reading, len(l.files))
	readAll(f, l.files, todo, found)
	switch {
	case old == nil:
		g = buildGraph(found)
	case needsNewCache(len(todo)+len(gone), len(l.files)):
		g, _ = rebuildGraph(old.rows, collectChanged(found, todo, gone))
	default:
		g, problems = newGraph(old.rows, nil).applyChanges(collectChanged(found, todo, gone))
		return g, mergeProblems(problems, l.problems), nil, nil
	}
	return g, mergeProblems(g.problems, l.problems), encodeCache(g.rows, stats, l.problems, now), nil
}

// collectChanged returns by path what differs from a cache: the files that were read and
// those that are gone.
func collectChanged(found []reading, todo []int, gone []string) map[string]reading {
	out := make(map[string]reading, len(todo)+len(gone))
	for _, i := range todo {
		out[found[i].path] = found[i]
	}
	for _, file := range gone {
		out[file] = reading{path: file, gone: true}
	}
	return out
}

// Encode returns the cache for Decode of a bundle that was loaded without a cache, or with
// the cache of another tree. problems are those of the load.
func Encode(g *Graph, problems []Problem) []byte {
	if g.now != nil {
		g, _ = rebuildGraph(g.rows, g.now.files)
	}
	walk := slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return !isWalkProblem(p) })
	return encodeCache(g.rows, make([]stat, g.rows.len()), walk, time.Unix(0, 0))
}

// isWalkProblem reports whether p is about a path that was not read as a file.
func isWalkProblem(p Problem) bool {
	return p.Code == codeSymlink || p.Code == codeName || !strings.HasSuffix(p.Path, ".md")
}

// fewChanged is the number of changed files that every command reads again instead of
// writing a new cache. While somebody edits a bundle, a new cache of some thousand files
// after every edit would cost more.
const fewChanged = 16

// needsNewCache reports whether enough files changed to write a new cache. Writing one
// costs about as much as reading one file in 250 again.
func needsNewCache(changed, all int) bool { return changed > max(fewChanged, all/256) }

// Decode returns what Load returned for the bundle that cache was made of. It reads no
// file, so it is for a bundle that cannot have changed, such as the tree of a commit. f is
// that bundle; the atoms read their bytes from it when somebody asks for them. The error
// wraps ErrCache.
func Decode(cache []byte, f fs.FS) (*Graph, []Problem, error) {
	old, err := openCache(cache, f)
	if err != nil {
		return nil, nil, err
	}
	return newGraph(old.rows, nil), mergeProblems(old.rows.problems, old.walk), nil
}

// original is the file that an atom from a cache was read from.
type original struct {
	f    fs.FS
	once sync.Once
	b    []byte
}

// readBytes reads the file once. It returns nil if the file no longer has the blob id.
func (o *original) readBytes(path, blob string) []byte {
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

// stat detects that a file changed: its size, its inode and the inode's time of change. The
// inode matters when a folder is renamed over another, which changes no file. A file system
// without StatMany gives the time of modification and no inode.
type stat struct {
	size    int64
	changed int64 // Unix nanoseconds, 0 where there is none
	inode   uint64
}

// manyStater is a file system that can stat many files in one call. It passes fn the index
// in names, the size, the time of change in Unix nanoseconds and the inode of each regular
// file.
type manyStater interface {
	StatMany(names []string, fn func(i int, size, changed int64, inode uint64))
}

// statFiles stats files. A file that cannot be examined has no time, so it is read, and
// reported if that fails too. The files of a git tree have no time either: theirs is that
// of the commit.
func statFiles(f fs.FS, files []string) []stat {
	out := make([]stat, len(files))
	if m, ok := f.(manyStater); ok {
		eachBatch(len(files), func(from, to int) {
			m.StatMany(files[from:to], func(i int, size, changed int64, inode uint64) { out[from+i] = stat{size, changed, inode} })
		})
		return out
	}
	if _, ok := f.(manyReader); ok {
		return out
	}
	eachParallel(len(files), func(i int) {
		if info, err := fs.Lstat(f, files[i]); err == nil && info.Mode().IsRegular() {
			out[i] = stat{size: info.Size(), changed: unixNanos(info.ModTime())}
		}
	})
	return out
}

// unixNanos returns t in Unix nanoseconds; 0 for the zero time.
func unixNanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// diffFiles lists the files to read, by number, and the paths that are gone. Both lists of
// files are in order of path.
func (s *snapshot) diffFiles(files []string, stats []stat) (todo []int, gone []string) {
	j, n := 0, 0
	if s != nil {
		n = s.rows.len()
	}
	for i, file := range files {
		for j < n && s.rows.pathOf(int32(j)) < file {
			gone = append(gone, s.rows.pathOf(int32(j)))
			j++
		}
		if j == n || s.rows.pathOf(int32(j)) != file {
			todo = append(todo, i)
			continue
		}
		if st := s.statAt(j); st != stats[i] || st.changed == 0 || time.Duration(s.taken-st.changed) <= racyWindow {
			todo = append(todo, i)
		}
		j++
	}
	for ; j < n; j++ {
		gone = append(gone, s.rows.pathOf(int32(j)))
	}
	return todo, gone
}
