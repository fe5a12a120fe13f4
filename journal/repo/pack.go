package repo

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// packs reads the objects of git's packs in process. It is safe for concurrent use.
//
// It knows what git writes: index version 2, pack version 2, SHA-1. Anything else,
// and any object that does not come out whole, is an error, and git's to read.
type packs struct {
	dirs   []string // of objects: the repository's own first
	mapped *mappings

	mu    sync.Mutex
	known []*pack // the one that was asked for with success last first

	// bases are objects that others are deltas of: of a directory or a file that
	// grows git keeps the newest whole, and every older one as a delta of the next.
	bases kept[packSpot, based]
}

// packSpot is where an object begins.
type packSpot struct {
	k  *pack
	at int64
}

type based struct {
	kind string
	data []byte
}

// basesSize is how many bytes of them are kept before the older half is forgotten.
const basesSize = 8 << 20

// newPacks knows no pack yet.
func newPacks(dirs []string, mapped *mappings) *packs {
	return &packs{dirs: dirs, mapped: mapped, bases: kept[packSpot, based]{most: basesSize}}
}

// keep remembers what others are deltas of; nobody may change its bytes.
func (p *packs) keep(at packSpot, b based) {
	if len(b.data) <= basesSize/4 {
		p.bases.put(at, b, 128+len(b.data))
	}
}

// pack is one pack with its index.
type pack struct {
	name string // of the index
	file *os.File
	idx  packIndex
}

// errNotPacked says that no pack known here has the object.
var errNotPacked = errors.New("in no pack that can be read here")

// The kinds of entries in a pack.
const (
	packCommit   = 1
	packTag      = 4
	packOfsDelta = 6
	packRefDelta = 7
)

var packKinds = [...]string{packCommit: "commit", 2: "tree", 3: "blob", packTag: "tag"}

// maxChain is how many deltas may lie upon one another; git makes no more than 4,095.
const maxChain = 4096

// get reads one object of a known pack.
func (p *packs) get(oid OID) (kind string, data []byte, err error) {
	k, at, err := p.find(oid)
	if err != nil {
		return "", nil, err
	}
	return p.resolve(k, at)
}

// size is that of an object of a known pack, in bytes; a delta is asked for the size
// of what it makes.
func (p *packs) size(oid OID) (int64, error) {
	k, at, err := p.find(oid)
	if err != nil {
		return 0, err
	}
	e, err := k.entry(at)
	if err != nil || !e.isDelta() {
		return e.size, err
	}
	b, err := e.inflate()
	if err != nil {
		return 0, err
	}
	_, n, _, err := deltaSizes(b)
	return n, err
}

// find is the pack that has an object, and where.
func (p *packs) find(oid OID) (*pack, int64, error) {
	var id [20]byte
	if n, err := hex.Decode(id[:], []byte(oid)); err != nil || n != len(id) {
		return nil, 0, errNotPacked
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, k := range p.known {
		if at, ok := k.idx.find(id); ok {
			copy(p.known[1:i+1], p.known[:i])
			p.known[0] = k
			return k, at, nil
		}
	}
	return nil, 0, errNotPacked
}

// look finds the packs there are now. Those that are gone are forgotten: an object
// of theirs is in another one.
func (p *packs) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var known []*pack
	for _, dir := range p.dirs {
		names, _ := filepath.Glob(filepath.Join(globbed(dir), "pack", "pack-*.idx"))
		for _, name := range names {
			if i := slices.IndexFunc(p.known, func(k *pack) bool { return k.name == name }); i >= 0 {
				known = append(known, p.known[i])
			} else if k, err := p.open(name); err == nil {
				known = append(known, k)
			}
		}
	}
	p.known = known
}

// globbed is a directory's name as a pattern that only it fits.
func globbed(dir string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(dir)
}

func (p *packs) open(name string) (*pack, error) {
	b, err := p.mapped.read(name)
	if err != nil {
		return nil, err
	}
	idx, err := parseIndex(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f, err := os.Open(strings.TrimSuffix(name, ".idx") + ".pack")
	if err != nil {
		return nil, err
	}
	if err := whole(f, idx.sum); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return &pack{name, f, idx}, nil
}

// whole holds a pack to its form at both ends: its head, and the checksum it ends
// with, which its index repeats.
func whole(f *os.File, sum []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var head [8]byte
	var end [20]byte
	_, err = f.ReadAt(head[:], 0)
	if _, also := f.ReadAt(end[:], info.Size()-int64(len(end))); err != nil || also != nil {
		return errors.Join(err, also)
	}
	if string(head[:]) != "PACK\x00\x00\x00\x02" || !bytes.Equal(end[:], sum) {
		return errors.New("not the pack of version 2 that its index is of")
	}
	return nil
}

// resolve reads the object at an offset, with what it is a delta of.
func (p *packs) resolve(k *pack, at int64) (kind string, data []byte, err error) {
	var chain []entryAt // the wanted one first
	for kind == "" {
		if base, ok := p.bases.get(packSpot{k, at}); ok {
			if kind, data = base.kind, base.data; len(chain) == 0 {
				data = bytes.Clone(data)
			}
			break
		}
		e, err := k.entry(at)
		if err != nil {
			return "", nil, err
		}
		if e.bytes, err = e.inflate(); err != nil {
			return "", nil, err
		}
		if !e.isDelta() {
			if kind, data = packKinds[e.kind], e.bytes; len(chain) > 0 {
				p.keep(packSpot{k, at}, based{kind, data})
			}
			break
		}
		if chain = append(chain, e); len(chain) > maxChain {
			return "", nil, errors.New("a delta of too many deltas")
		}
		at = e.base
	}
	for i, e := range slices.Backward(chain) {
		if data, err = applyDelta(data, e.bytes); err != nil {
			return "", nil, err
		}
		if i > 0 {
			p.keep(packSpot{k, e.at}, based{kind, data})
		}
	}
	return kind, data, nil
}

// entryAt is an entry of a pack: an object, or a delta of one.
type entryAt struct {
	k     *pack
	at    int64 // where it begins
	body  int64 // where its packed bytes begin
	kind  byte
	size  int64 // of its bytes unpacked
	base  int64 // of a delta: where what it is one of begins
	bytes []byte
}

func (e entryAt) isDelta() bool { return e.kind == packOfsDelta || e.kind == packRefDelta }

// entry reads the head of the entry at an offset.
func (k *pack) entry(at int64) (entryAt, error) {
	var head [40]byte // a size takes at most ten bytes, an offset ten, an id twenty
	n, err := k.file.ReadAt(head[:], at)
	if n == 0 {
		return entryAt{}, err
	}
	e, n, err := parseEntry(head[:n], at)
	if err != nil {
		return e, err
	}
	if e.kind == packRefDelta {
		base, ok := k.idx.find([20]byte(head[n-20 : n]))
		if !ok {
			return e, errors.New("a delta of an object in another pack")
		}
		e.base = base
	}
	e.k, e.at, e.body = k, at, at+int64(n)
	return e, nil
}

// parseEntry reads the head of an entry that begins at an offset, and how long it
// is; of a delta of an id it ends with that id.
func parseEntry(b []byte, at int64) (e entryAt, n int, err error) {
	bad := errors.New("malformed entry of a pack")
	size, shift := uint64(b[0]&15), uint(4)
	e.kind = b[0] >> 4 & 7
	for n = 1; b[n-1]&0x80 != 0; n++ {
		if n >= len(b) || shift > 56 {
			return e, 0, bad
		}
		size |= uint64(b[n]&0x7f) << shift
		shift += 7
	}
	if size >= largeLoose {
		return e, 0, errNotPacked // left to git
	}
	e.size = int64(size)
	switch {
	case e.kind >= packCommit && e.kind <= packTag:
		return e, n, nil
	case e.kind == packRefDelta && n+20 <= len(b):
		return e, n + 20, nil
	case e.kind != packOfsDelta:
		return e, 0, bad
	}
	back := int64(-1)
	for more := true; more; n++ {
		if n >= len(b) || back > at {
			return e, 0, bad
		}
		back = (back+1)<<7 | int64(b[n]&0x7f)
		more = b[n]&0x80 != 0
	}
	if back <= 0 || back >= at {
		return e, 0, bad
	}
	e.base = at - back
	return e, n, nil
}

// inflate unpacks the bytes of an entry.
func (e entryAt) inflate() ([]byte, error) {
	r := buffered.Get().(*bufio.Reader)
	defer buffered.Put(r)
	r.Reset(io.NewSectionReader(e.k.file, e.body, 1<<62-e.body))
	z, err := inflater(r)
	if err != nil {
		return nil, err
	}
	defer inflaters.Put(z)
	out := make([]byte, e.size)
	if _, err := io.ReadFull(z, out); err != nil {
		return nil, err
	}
	var one [1]byte
	if n, err := z.Read(one[:]); n != 0 || err != io.EOF { // the checksum holds, and nothing is left
		return nil, fmt.Errorf("an entry of a pack that is longer than it says, or damaged: %v", err)
	}
	return out, nil
}

// packIndex is an index of version 2, as it lies in its file.
type packIndex struct {
	fan, ids, at, large []byte
	sum                 []byte // of the pack
	n                   int
}

// parseIndex looks at an index's form; what it says of objects is looked at when they are asked for.
func parseIndex(b []byte) (packIndex, error) {
	const fixed = 8 + 256*4
	if len(b) < fixed+40 || !bytes.HasPrefix(b, []byte("\xfftOc\x00\x00\x00\x02")) {
		return packIndex{}, errors.New("not an index of version 2")
	}
	x := packIndex{fan: b[8:fixed], sum: b[len(b)-40 : len(b)-20], n: int(binary.BigEndian.Uint32(b[fixed-4:]))}
	rest := b[fixed : len(b)-40] // behind it are the checksums of pack and index
	if len(rest) < x.n*28 {
		return packIndex{}, errors.New("an index that is too short")
	}
	x.ids, x.at, x.large = rest[:x.n*20], rest[x.n*24:x.n*28], rest[x.n*28:]
	return x, nil
}

// find is where an object begins in the pack.
func (x packIndex) find(id [20]byte) (int64, bool) {
	from, to := 0, int(binary.BigEndian.Uint32(x.fan[int(id[0])*4:]))
	if id[0] > 0 {
		from = int(binary.BigEndian.Uint32(x.fan[int(id[0])*4-4:]))
	}
	to = min(to, x.n)
	for from < to {
		mid := int(uint(from+to) >> 1)
		switch c := bytes.Compare(x.ids[mid*20:mid*20+20], id[:]); {
		case c < 0:
			from = mid + 1
		case c > 0:
			to = mid
		default:
			return x.offset(mid)
		}
	}
	return 0, false
}

// offset is that of the object in a row; one with its high bit set is in the table of large ones.
func (x packIndex) offset(row int) (int64, bool) {
	at := binary.BigEndian.Uint32(x.at[row*4:])
	if at>>31 == 0 {
		return int64(at), true
	}
	far := int(at&^(1<<31)) * 8
	if far+8 > len(x.large) {
		return 0, false
	}
	n := binary.BigEndian.Uint64(x.large[far:])
	return int64(n), n < 1<<62
}
