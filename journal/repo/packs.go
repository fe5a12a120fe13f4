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

// packs reads the first few objects of packs by their indexes as they lie on the
// disk. go-git reads all of an index before it finds the first object, and remembers
// what the next one is a difference from, which pays for many objects.
type packs struct {
	dir   string
	all   []*packfile.Packfile // as they were at the first question
	asked int
}

// fewPacked is how many objects are looked for here before go-git is left to do it.
const fewPacked = 32

// findPack is the pack that holds an object, and where in it; nil where it takes go-git
// to tell. It is for one goroutine at a time.
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

// smallIndex is up to how many bytes of an index are read, that of some 250,000
// objects. It is not mapped: a server opens a repository for every question, and
// what is mapped stays mapped.
const smallIndex = 8 << 20

// openAll opens the packs whose indexes are understood and small.
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

// packIndex is the index of a pack as gitformat-pack has it, version 2: a head, how
// many ids begin with each byte or a smaller one, the ids in order, a checksum of
// each object, where each lies, and where those lie that lie far.
type packIndex struct {
	idxfile.Index // nothing else is asked for without a cache
	b             []byte
}

const (
	packHead = "\377tOc\x00\x00\x00\x02"
	packIDs  = len(packHead) + 4*256
	packEnd  = 2 * 20 // checksums
)

// isReadablePackIndex reports an index that can be read here without a doubt about its bounds.
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

// countUpTo is how many ids begin with a byte or a smaller one.
func (x packIndex) countUpTo(first int) int {
	return int(binary.BigEndian.Uint32(x.b[len(packHead)+4*first:]))
}

// FindOffset is where in the pack an object lies.
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

// FindHash is asked for the name under which the base of a difference would be
// remembered, which it is not.
func (x packIndex) FindHash(int64) (plumbing.Hash, error) { return plumbing.ZeroHash, nil }
