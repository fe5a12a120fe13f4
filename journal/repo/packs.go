package repo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"sort"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// packs looks up the first few objects in the pack indexes on disk. go-git reads a whole index before it finds its
// first object, which only pays for many objects.
type packs struct {
	dir   string
	all   []*packfile.Packfile // those present at the first lookup
	asked int
}

// fewPacked is how many objects are looked up here before go-git takes over.
const fewPacked = 32

// findPack returns the pack that holds an object and its offset there, nil if go-git must look for it. It is for
// one goroutine at a time.
func (p *packs) findPack(h plumbing.Hash) (*packfile.Packfile, int64) {
	if p.asked++; p.asked > fewPacked {
		return nil, 0
	}
	if p.asked == 1 {
		p.openAll()
	}
	for _, k := range p.all {
		if at, err := k.FindOffset(h); err == nil {
			return k, at
		}
	}
	return nil, 0
}

// smallIndex is the size in bytes, some 250,000 objects, up to which an index is read. It is not mapped: a server
// opens a repository for every request, and mapped files stay mapped.
const smallIndex = 8 << 20

// openAll opens the packs whose indexes are small and readable.
func (p *packs) openAll() {
	files := osfs.New(p.dir)
	for _, idx := range globDir(p.dir, "pack-*.idx") {
		if st, err := os.Stat(idx); err != nil || st.Size() > smallIndex {
			continue
		}
		b, err := os.ReadFile(idx)
		if err != nil || !isReadablePackIndex(b) {
			continue
		}
		f, err := files.Open(filepath.Base(idx[:len(idx)-len("idx")] + "pack"))
		if err == nil {
			p.all = append(p.all, packfile.NewPackfileWithCache(packIndex{b: b}, nil, f, nil, 0))
		}
	}
}

// packIndex is a version 2 pack index as in gitformat-pack: a header; for each first byte the number of ids up to
// it; the sorted ids; a checksum and an offset for each object; and 64-bit offsets for large packs.
type packIndex struct {
	idxfile.Index // without a cache, go-git calls no other method
	b             []byte
}

const (
	packHead = "\377tOc\x00\x00\x00\x02"
	packIDs  = len(packHead) + 4*256
	packEnd  = 2 * 20 // checksums
)

// isReadablePackIndex reports whether an index has the right version and consistent bounds.
func isReadablePackIndex(b []byte) bool {
	if len(b) < packIDs+packEnd || string(b[:len(packHead)]) != packHead {
		return false
	}
	x := packIndex{b: b}
	for first := range 255 {
		if x.countUpTo(first) > x.countUpTo(first+1) {
			return false
		}
	}
	return x.countUpTo(255) <= (len(b)-packIDs-packEnd)/(20+4+4)
}

// countUpTo returns how many ids begin with a byte up to first.
func (x packIndex) countUpTo(first int) int {
	return int(binary.BigEndian.Uint32(x.b[len(packHead)+4*first:]))
}

// FindOffset returns an object's offset in the pack.
func (x packIndex) FindOffset(h plumbing.Hash) (int64, error) {
	from, to, n := 0, x.countUpTo(int(h[0])), x.countUpTo(255)
	if h[0] > 0 {
		from = x.countUpTo(int(h[0]) - 1)
	}
	id := func(i int) []byte { return x.b[packIDs+20*i:][:20] }
	i := from + sort.Search(to-from, func(k int) bool { return bytes.Compare(id(from+k), h[:]) >= 0 })
	if i == to || !bytes.Equal(id(i), h[:]) {
		return 0, plumbing.ErrObjectNotFound
	}
	at := binary.BigEndian.Uint32(x.b[packIDs+24*n+4*i:])
	if at <= math.MaxInt32 {
		return int64(at), nil
	}
	far := x.b[packIDs+28*n : len(x.b)-packEnd]
	k := 8 * int(at&math.MaxInt32)
	if k > len(far)-8 {
		return 0, errors.New("a pack's index that is cut short")
	}
	return int64(binary.BigEndian.Uint64(far[k:]) & math.MaxInt64), nil
}

// FindHash is called for the cache key of a delta's base; there is no cache.
func (x packIndex) FindHash(int64) (plumbing.Hash, error) { return plumbing.ZeroHash, nil }
