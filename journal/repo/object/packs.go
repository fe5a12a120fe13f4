package object

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/odd-cli/odd/journal/repo/mmap"
)

// packs reads objects from pack files. go-git reads them too, but hashes every object again and copies it several
// times: with it odd check --all takes 15 times as long as git log --raw, and may take 4 (BENCHMARKS.md, "Work that
// lands"). Whatever packs does not understand, git reads. It is safe for concurrent use.
type packs struct {
	mapped mmap.Files
	mu     sync.Mutex
	dirs   []packDir
	all    []*pack // the one that had an object last is the first
	bases  boundedCache[packPlace, object]
}

// packDir is a folder of packs: the repository's own, or that of a repository that it borrows objects from.
type packDir struct {
	name   string
	listed time.Time // when it had last changed as its packs were listed
}

// pack is one pack file with its index, both mapped into memory.
type pack struct {
	name        string
	index, data []byte
	count       int // of objects
}

// packPlace is where an object begins.
type packPlace struct {
	*pack
	at int
}

const (
	// baseBytes is how many bytes of packed objects are kept that others are deltas of. It holds a whole chain of deltas
	// of a ledger and of a folder of some thousand tasks; git keeps six times as many.
	baseBytes = 16 << 20
	// maxPacked is the size from which git reads an object.
	maxPacked = largeLoose

	packHeader  = 12
	indexHeader = 8
	fanout      = 256 * 4
)

// Types of a packed object.
const (
	packedOffsetDelta = 6
	packedIDDelta     = 7
)

var packedKinds = [...]string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}

var errPack = errors.New("a pack file that odd cannot read")

// get reads a packed object. Nobody may change its bytes.
func (ps *packs) get(oid OID) (_ object, err error) {
	defer guardFault(&err)()
	at, err := ps.find(oid)
	if err != nil {
		return object{}, err
	}
	return ps.read(at)
}

// guardFault makes an error of a fault in a mapped file, which was cut short or whose disk fails: git says then what
// is wrong. The function it returns is deferred.
func guardFault(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // as the runtime has it of a fault
			*err = errPack
		default:
			panic(p)
		}
	}
}

// find returns where an object begins, in one of the packs that list has found.
func (ps *packs) find(oid OID) (packPlace, error) {
	id, err := hex.DecodeString(string(oid))
	if err != nil || len(id) != idBytes {
		return packPlace{}, errNoObject
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for i, p := range ps.all {
		if at := p.find(id); at > 0 {
			ps.all[0], ps.all[i] = p, ps.all[0]
			return packPlace{p, at}, nil
		}
	}
	return packPlace{}, errNoObject
}

// list opens the packs that were not there at its last call. It reports whether there is any.
func (ps *packs) list() (found bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for i := range ps.dirs {
		d := &ps.dirs[i]
		st, err := os.Stat(d.name)
		if err != nil || st.ModTime().Equal(d.listed) {
			continue
		}
		d.listed = st.ModTime()
		indexes, _ := fs.Glob(os.DirFS(d.name), "pack-*.idx") // the pattern is well-formed
		for _, idx := range indexes {
			name := filepath.Join(d.name, strings.TrimSuffix(idx, ".idx"))
			if slices.ContainsFunc(ps.all, func(p *pack) bool { return p.name == name }) {
				continue
			}
			if p, err := ps.open(name); err == nil {
				ps.all, found = append(ps.all, p), true
			}
		}
	}
	return found
}

// open maps a pack and its index, which must be of version 2.
func (ps *packs) open(name string) (_ *pack, err error) {
	defer guardFault(&err)()
	index, err := ps.mapped.Read(name + ".idx")
	if err != nil {
		return nil, err
	}
	data, err := ps.mapped.Read(name + ".pack")
	if err != nil {
		return nil, err
	}
	p := &pack{name: name, index: index, data: data}
	if len(index) < indexHeader+fanout || string(index[:indexHeader]) != "\xfftOc\x00\x00\x00\x02" || len(data) < packHeader+idBytes || string(data[:4]) != "PACK" {
		return nil, errPack
	}
	p.count = p.readUint32(indexHeader + fanout - 4)
	if len(index) < indexHeader+fanout+p.count*(idBytes+8)+2*idBytes {
		return nil, errPack
	}
	return p, nil
}

// readUint32 reads four bytes of the index.
func (p *pack) readUint32(at int) int { return int(binary.BigEndian.Uint32(p.index[at:])) }

// find returns where an object begins, 0 if the pack lacks it.
func (p *pack) find(id []byte) int {
	lo, hi := 0, p.readUint32(indexHeader+4*int(id[0]))
	if id[0] > 0 {
		lo = p.readUint32(indexHeader + 4*int(id[0]-1))
	}
	ids := p.index[indexHeader+fanout:]
	for hi = min(hi, p.count); lo < hi; {
		mid := int(uint(lo+hi) >> 1)
		switch c := bytes.Compare(ids[mid*idBytes:(mid+1)*idBytes], id); {
		case c < 0:
			lo = mid + 1
		case c > 0:
			hi = mid
		default:
			return p.offsetAt(mid)
		}
	}
	return 0
}

// offsetAt returns where the object at a place of the index begins, 0 if the index is damaged.
func (p *pack) offsetAt(i int) int {
	small := indexHeader + fanout + p.count*(idBytes+4)
	at := p.readUint32(small + 4*i)
	if at < 1<<31 {
		return at
	}
	large := small + 4*p.count + 8*(at-1<<31)
	if large+8 > len(p.index) {
		return 0
	}
	return int(binary.BigEndian.Uint64(p.index[large:]) & (1<<63 - 1))
}

// packedEntry is the beginning of a packed object.
type packedEntry struct {
	kind byte
	size int       // of the object, or of the delta
	base packPlace // of a delta
	from int       // where the compressed bytes begin
}

func (ps *packs) readEntryHead(o packPlace) (e packedEntry, err error) {
	if o.at < packHeader || o.at >= len(o.data)-idBytes {
		return e, errPack
	}
	b := o.data[o.at : len(o.data)-idBytes]
	n := 1
	e.kind, e.size = b[0]>>4&7, int(b[0]&15)
	for shift := 4; b[n-1]&0x80 != 0; shift += 7 {
		if n == len(b) || shift > 32 {
			return e, errPack
		}
		e.size |= int(b[n]&0x7f) << shift
		n++
	}
	if e.size > maxPacked || n == len(b) || e.kind == packedIDDelta && len(b)-n < idBytes {
		return e, errPack
	}
	switch e.kind {
	case packedOffsetDelta:
		back := int(b[n] & 0x7f)
		for n++; b[n-1]&0x80 != 0; n++ {
			if n == len(b) || back > o.at {
				return e, errPack
			}
			back = (back+1)<<7 | int(b[n]&0x7f)
		}
		e.base = packPlace{o.pack, o.at - back}
		if back == 0 || back > o.at {
			return e, errPack
		}
	case packedIDDelta:
		e.base = packPlace{o.pack, o.find(b[n : n+idBytes])}
		n += idBytes
	case 1, 2, 3, 4:
	default:
		return e, errPack
	}
	e.from = o.at + n
	return e, nil
}

// read reads an object. If it is a delta it reads what that is a delta of first, and keeps it.
func (ps *packs) read(o packPlace) (object, error) {
	type step struct {
		packPlace
		packedEntry
	}
	var deltas []step
	var out object
	for out.kind == "" {
		if known, ok := ps.bases.get(o); ok {
			out = known
			break
		}
		e, err := ps.readEntryHead(o)
		if err == nil && len(deltas) > 1<<16 {
			err = errPack // a ring
		}
		if err != nil {
			return object{}, err
		}
		if e.kind == packedOffsetDelta || e.kind == packedIDDelta {
			deltas, o = append(deltas, step{o, e}), e.base
			continue
		}
		out.kind = packedKinds[e.kind]
		if out.data, err = inflatePacked(o.data[e.from:], e.size); err != nil {
			return object{}, err
		}
	}
	for _, d := range slices.Backward(deltas) {
		if len(out.data) <= baseBytes/4 {
			ps.bases.put(d.base, out, 128+len(out.data))
		}
		delta, err := inflatePacked(d.data[d.from:], d.size)
		if err == nil {
			out.data, err = applyDelta(out.data, delta)
		}
		if err != nil {
			return object{}, err
		}
	}
	return out, nil
}

// inflatePacked decompresses an object of a known size, and checks its checksum.
func inflatePacked(b []byte, size int) ([]byte, error) {
	z, err := newInflater(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer inflaters.Put(z)
	out := make([]byte, size)
	if _, err := io.ReadFull(z, out); err != nil {
		return nil, err
	}
	if n, err := z.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return nil, fmt.Errorf("%w: more bytes than it says", errPack)
	}
	return out, nil
}

// applyDelta returns what a delta makes of its base.
func applyDelta(base, delta []byte) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, errPack
	}
	size, m := binary.Uvarint(delta[n:])
	if m <= 0 || size > maxPacked {
		return nil, errPack
	}
	var out strings.Builder // which does not clear its bytes first
	out.Grow(int(size))
	for d := delta[n+m:]; len(d) > 0; {
		op := d[0]
		d = d[1:]
		if op&0x80 == 0 { // the next bytes are new
			if op == 0 || int(op) > len(d) {
				return nil, errPack
			}
			out.Write(d[:op])
			d = d[op:]
			continue
		}
		var at, length int // of bytes of the base
		for bit := range 7 {
			if op&(1<<bit) == 0 {
				continue
			}
			if len(d) == 0 {
				return nil, errPack
			}
			if bit < 4 {
				at |= int(d[0]) << (8 * bit)
			} else {
				length |= int(d[0]) << (8 * (bit - 4))
			}
			d = d[1:]
		}
		if length == 0 {
			length = 1 << 16
		}
		if at+length > len(base) || out.Len()+length > int(size) {
			return nil, errPack
		}
		out.Write(base[at : at+length])
	}
	if out.Len() != int(size) {
		return nil, errPack
	}
	return unsafe.Slice(unsafe.StringData(out.String()), size), nil
}
