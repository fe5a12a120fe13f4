package okf

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A cache is
//
//	8 bytes  cacheMagic
//	8 bytes  parserVersion, little endian
//	4 bytes  CRC-32C of all that follows except the records
//	         the sections: the length of each in eight bytes, then each section
//	         the records, which are the last section
//
// Most sections are the columns of the rows as they are in memory, so opening a cache
// reads them once, for their checksum. A record holds the fields and links of one
// atom, from which all else about it follows. Each record has a CRC-32C before it and
// is read when somebody asks for its atom. A cache depends on no setting, because no
// setting changes how a bundle is read.
const cacheMagic = "odd okf\x05"

// headerLen is the length of a cache up to the bytes that its checksum covers.
const headerLen = len(cacheMagic) + 8 + 4

// parserVersion identifies the program that reads and writes caches, because any change of it
// may change what a cache holds: a hash of its versions, and of the size and time of its file.
var parserVersion = sync.OnceValue(func() uint64 {
	h := fnv.New64a()
	if info, ok := debug.ReadBuildInfo(); ok {
		fmt.Fprint(h, info.Main.Version, info.Settings)
	}
	file, err := os.Stat("/proc/self/exe") // of this process, even if the file was replaced since
	if err != nil {
		path, _ := os.Executable()
		file, err = os.Stat(path)
	}
	if err != nil {
		h.Write([]byte(rand.Text())) // nothing that another process wrote is read
	} else {
		fmt.Fprint(h, file.Size(), file.ModTime().UnixNano())
	}
	return h.Sum64()
})

// snapshot is a cache that was opened or is about to be written.
type snapshot struct {
	rows     *rows
	mentions table
	head     []byte  // the time it was made, the authorities, the problems of the files and of the walk
	stats    []byte  // size, time and inode of each row's file, eight bytes each
	recordAt offsets // where each row's record begins
	records  []byte

	taken int64
	walk  []Problem
}

// sections returns the parts of a cache in order.
func (s *snapshot) sections() []*[]byte {
	c := &s.rows.columns
	out := []*[]byte{
		&s.head, &s.stats, (*[]byte)(&s.recordAt),
		&c.names, (*[]byte)(&c.begin), (*[]byte)(&c.cut), &c.state, &c.types, (*[]byte)(&c.typeAt), (*[]byte)(&c.typeRow),
		(*[]byte)(&c.out), (*[]byte)(&c.outTo), (*[]byte)(&c.outHow), (*[]byte)(&c.in), (*[]byte)(&c.inFrom), (*[]byte)(&c.inHow),
		(*[]byte)(&c.looseAt), &c.loose,
	}
	for _, t := range []*table{&c.ids, &c.files, &c.stems, &c.uris, &s.mentions} {
		out = append(out, (*[]byte)(&t.starts), (*[]byte)(&t.rows))
	}
	return append(out, &s.records)
}

// encodeCache writes the cache of rows. The same input makes the same bytes. stats are
// those of their files; walk has the problems that belong to no file that was read.
func encodeCache(r *rows, stats []stat, walk []Problem, now time.Time) []byte {
	s := &snapshot{rows: r}
	e := encoder{}
	e.writeInt(now.UnixNano())
	e.writeCount(len(r.authorities))
	for _, a := range sortedKeys(r.authorities) {
		e.writeText(a)
	}
	e.writeProblems(r.problems)
	e.writeProblems(walk)
	s.head = e.b
	s.stats = make([]byte, 0, statLen*len(stats))
	for _, st := range stats {
		s.stats = binary.LittleEndian.AppendUint64(s.stats, uint64(st.size))
		s.stats = binary.LittleEndian.AppendUint64(s.stats, uint64(st.changed))
		s.stats = binary.LittleEndian.AppendUint64(s.stats, st.inode)
	}
	records, size := s.buildRecords()
	parts := s.sections()
	s.setMark(parts, records)
	out := binary.LittleEndian.AppendUint64([]byte(cacheMagic), parserVersion())
	out = appendSections(append(out, 0, 0, 0, 0), parts, records...)
	binary.LittleEndian.PutUint32(out[headerLen-4:], checksum(out[headerLen:len(out)-size]))
	return out
}

// buildRecords makes the mentions and the records. It returns the records in consecutive
// pieces, and their size.
func (s *snapshot) buildRecords() (records [][]byte, size int) {
	r := s.rows
	parts := (r.len() + batchSize - 1) / batchSize
	mentions, ends := make([][]hashedName, parts), make([]ints, parts)
	records = make([][]byte, parts)
	runWorkers(r.len(), func() func(from, to int) {
		var e encoder
		room, ar := newRoom(), new(arena)
		return func(from, to int) {
			k := from / batchSize
			e.b = e.b[:0]
			for i := int32(from); i < int32(to); i++ {
				if r.state[i] != rowNone {
					*ar = room
					a := r.peekAtom(i, ar)
					e.writeRecord(a)
					if r.isKept(i) {
						mentions[k] = referencesOf(a).appendMentions(i, mentions[k])
					}
				}
				ends[k] = ends[k].add(uint32(len(e.b)))
			}
			records[k] = slices.Clone(e.b)
		}
	})
	s.mentions = newTable(slices.Concat(mentions...))
	s.recordAt = s.recordAt.add(0)
	for k, list := range ends {
		for n := range list.len() {
			s.recordAt = s.recordAt.add(uint64(size) + uint64(list.at(n)))
		}
		size += len(records[k])
	}
	return records, size
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// openCache checks a cache and turns its columns into rows, whose atoms read their bytes
// from f. The rows own the cache from then on.
func openCache(cache []byte, f fs.FS) (*snapshot, error) {
	if len(cache) < headerLen || string(cache[:len(cacheMagic)]) != cacheMagic ||
		binary.LittleEndian.Uint64(cache[len(cacheMagic):]) != parserVersion() {
		return nil, ErrCache
	}
	s := &snapshot{rows: &rows{authorities: map[string]bool{}}}
	if !cutSections(cache[headerLen:], s.sections()) || binary.LittleEndian.Uint32(cache[headerLen-4:]) != checksum(cache[headerLen:len(cache)-len(s.records)]) {
		return nil, ErrCache
	}
	d := decoder{s: unsafeString(s.head)}
	s.taken = d.readInt()
	for range d.readLen() {
		s.rows.authorities[d.readText()] = true
	}
	r := s.rows
	r.problems, s.walk = d.readProblems(), d.readProblems()
	r.mark = d.readBytes(markLen)
	n := r.len()
	if d.bad || d.at != len(d.s) || r.begin.len() != n+1 || r.cut.len() != n || s.recordAt.len() != n+1 || len(s.stats) != statLen*n {
		return nil, ErrCache
	}
	r.atoms, r.disk = make([]atomic.Pointer[Atom], n), f
	r.decode = func(i int32, ar *arena) *Atom { return s.decodeAtom(f, i, ar) }
	r.mentions = func() table { return s.mentions }
	return s, nil
}

const markLen = 16

// setMark sets the mark of the rows: a hash of all parts.
func (s *snapshot) setMark(parts []*[]byte, records [][]byte) {
	h := sha256.New()
	for _, p := range parts {
		h.Write(*p)
	}
	for _, b := range records {
		h.Write(b)
	}
	s.rows.mark = string(h.Sum(nil)[:markLen])
	s.head = append(s.head, s.rows.mark...)
}

// statLen is the length of the stat of one file.
const statLen = 3 * 8

func (s *snapshot) statAt(i int) stat {
	b := s.stats[statLen*i:]
	return stat{int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:])), binary.LittleEndian.Uint64(b[16:])}
}

// decodeAtom returns the atom of a row from its record. If the record is damaged, it reads
// the file again.
func (s *snapshot) decodeAtom(f fs.FS, i int32, ar *arena) *Atom {
	file := s.rows.pathOf(i)
	from, to := s.recordAt.span(int(i), len(s.records))
	record := ints(s.records[from:to])
	whole := len(record) >= 4 && record.at(0) == checksum(record[4:])
	d := decoder{s: unsafeString(record[min(4, len(record)):]), arena: ar, bad: !whole}
	a := &alloc(&ar.atoms, 1, ar.least)[0]
	*a = Atom{Path: file, disk: &alloc(&ar.disks, 1, ar.least)[0]}
	*a.disk = original{f: f}
	if d.readAtom(a); !d.bad && d.at == len(d.s) {
		return a
	}
	if f != nil {
		r := readOne(f, file)
		if a := r.makeAtom(); a != nil {
			return a
		}
	}
	return &Atom{Path: file, ID: s.rows.idOf(i)}
}

// arena allocates slices in large pieces, for atoms that are freed together; least is the
// size of a piece.
type arena struct {
	least  int
	atoms  []Atom
	disks  []original
	fields []Field
	linked []Linked
	links  [][]Linked
}

// alloc cuts n elements off the front of *from, which it reallocates if it is too short.
func alloc[T any](from *[]T, n, least int) []T {
	if len(*from) < n {
		*from = make([]T, max(n, least))
	}
	out := (*from)[:n:n]
	*from = (*from)[n:]
	return out
}
