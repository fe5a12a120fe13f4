package okf

import (
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"io/fs"
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
//	4 bytes  CRC-32C of all that follows but the records
//	         the sections: the length of each, eight bytes, and then each
//	         the records, the last section
//
// The sections are the columns of the rows as they stand in memory, so that to
// open a cache is to read them once for their checksum, and one record an atom:
// its fields and links, from which everything else about it follows. Records
// stand alone, each with a CRC-32C before it, and are looked at when somebody
// asks for their atom. How a bundle is read depends on no setting, so that a
// cache has no version of one.
const cacheMagic = "odd okf\x04"

// headerLen is the length of a cache before what its checksum covers.
const headerLen = len(cacheMagic) + 8 + 4

// parserSources are the files whose change may change what a file is read as,
// or how that is laid out: all of the package.
//
//go:embed atom.go cache.go canonkeys.go change.go check.go checkatom.go checkspell.go cited.go codes.go conflict.go decode.go draft.go draw.go edit.go find.go graph.go index.go indexpage.go leaf.go lexicon.go link.go links.go linkscan.go load.go lookup.go markdown.go parse.go postings.go print.go rank.go record.go reload.go reserved.go rows.go scalar.go scan.go scanflow.go search.go skim.go snapshot.go snippet.go table.go uri.go value.go visible.go vocabulary.go walk.go words.go
var parserSources embed.FS

// parserVersion tells one parser's reading from another's: a hash of this
// package's sources and of the versions of the libraries it was built with.
var parserVersion = sync.OnceValue(func() uint64 {
	h := fnv.New64a()
	names, err := parserSources.ReadDir(".")
	if err != nil {
		panic("unreachable: embedded files without a root: " + err.Error())
	}
	for _, n := range names {
		b, err := parserSources.ReadFile(n.Name())
		if err != nil {
			panic("unreachable: embedded file " + n.Name() + ": " + err.Error())
		}
		h.Write(b)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			h.Write([]byte(d.Path + d.Version))
		}
	}
	return h.Sum64()
})

// snapshot is a cache, opened or about to be written.
type snapshot struct {
	rows     *rows
	mentions table
	said     []byte  // the moment it was made, the authorities, the problems of the files and of the walk
	stats    []byte  // size, time and inode of each row's file, eight bytes each
	wordAt   offsets // where each word begins
	wordText []byte
	recordAt offsets // where each row's record begins
	records  []byte

	taken int64
	walk  []Problem
}

// sections are the parts of a cache in their order.
func (s *snapshot) sections() []*[]byte {
	c := &s.rows.columns
	out := []*[]byte{
		&s.said, &s.stats, (*[]byte)(&s.wordAt), &s.wordText, (*[]byte)(&s.recordAt),
		&c.names, (*[]byte)(&c.begin), (*[]byte)(&c.cut), &c.state, &c.types, (*[]byte)(&c.typeAt), (*[]byte)(&c.typeRow),
		(*[]byte)(&c.out), (*[]byte)(&c.outTo), (*[]byte)(&c.outHow), (*[]byte)(&c.in), (*[]byte)(&c.inFrom), (*[]byte)(&c.inHow),
		(*[]byte)(&c.looseAt), &c.loose,
	}
	for _, t := range []*table{&c.ids, &c.files, &c.stems, &c.uris, &s.mentions} {
		out = append(out, (*[]byte)(&t.starts), (*[]byte)(&t.rows))
	}
	return append(out, &s.records)
}

// encode writes the cache of rows. The same rows make the same bytes. stats are
// of their files; walk are the problems that are no file's.
func encode(r *rows, stats []stat, walk []Problem, now time.Time) []byte {
	s := &snapshot{rows: r}
	e := encoder{}
	e.int(now.UnixNano())
	e.count(len(r.own))
	for _, a := range sortedKeys(r.own) {
		e.text(a)
	}
	e.problems(r.problems)
	e.problems(walk)
	s.said = e.b
	s.stats = make([]byte, 0, statLen*len(stats))
	for _, st := range stats {
		s.stats = binary.LittleEndian.AppendUint64(s.stats, uint64(st.size))
		s.stats = binary.LittleEndian.AppendUint64(s.stats, uint64(st.changed))
		s.stats = binary.LittleEndian.AppendUint64(s.stats, st.inode)
	}
	records, size := s.write()
	parts := s.sections()
	s.mark(parts, records)
	out := binary.LittleEndian.AppendUint64([]byte(cacheMagic), parserVersion())
	out = appendSections(append(out, 0, 0, 0, 0), parts, records...)
	binary.LittleEndian.PutUint32(out[headerLen-4:], checksum(out[headerLen:len(out)-size]))
	return out
}

// write makes the words, how the rows refer to each other, and the records, in
// pieces that follow each other and have so many bytes.
func (s *snapshot) write() (records [][]byte, size int) {
	drafts, of := s.rows.makeDrafts()
	lists := make([][]called, len(drafts))
	for i := range drafts {
		lists[i] = drafts[i].mentions
	}
	s.mentions = newTable(slices.Concat(lists...))
	all, words := agree(of)
	s.wordAt, s.recordAt = s.wordAt.add(0), s.recordAt.add(0)
	for _, w := range words {
		s.wordText = append(s.wordText, w...)
		s.wordAt = s.wordAt.add(uint64(len(s.wordText)))
	}
	ends := make([]ints, len(drafts))
	records = make([][]byte, len(drafts))
	workers(len(drafts), func() func(from, to int) {
		var room []byte
		return func(from, to int) {
			for i := from; i < to; i++ {
				room, ends[i] = drafts[i].records(all, room)
				records[i] = slices.Clone(room)
				drafts[i] = draft{} // a large bundle's drafts and records need not be there at once
			}
		}
	})
	for i, list := range ends {
		for k := range list.len() {
			s.recordAt = s.recordAt.add(uint64(size) + uint64(list.at(k)))
		}
		size += len(records[i])
	}
	return records, size
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// openCache checks a cache and lays its columns out as rows, whose atoms read
// their bytes from f. The cache belongs to the rows from then on.
func openCache(cache []byte, f fs.FS) (*snapshot, error) {
	if len(cache) < headerLen || string(cache[:len(cacheMagic)]) != cacheMagic ||
		binary.LittleEndian.Uint64(cache[len(cacheMagic):]) != parserVersion() {
		return nil, ErrCache
	}
	s := &snapshot{rows: &rows{own: map[string]bool{}}}
	if !cutSections(cache[headerLen:], s.sections()) || binary.LittleEndian.Uint32(cache[headerLen-4:]) != checksum(cache[headerLen:len(cache)-len(s.records)]) {
		return nil, ErrCache
	}
	d := decoder{s: view(s.said)}
	s.taken = d.int()
	for range d.some() {
		s.rows.own[d.text()] = true
	}
	r := s.rows
	r.problems, s.walk = d.problems(), d.problems()
	r.mark = d.take(markLen)
	n := r.len()
	if d.bad || d.at != len(d.s) || r.begin.len() != n+1 || r.cut.len() != n || s.recordAt.len() != n+1 || len(s.stats) != statLen*n {
		return nil, ErrCache
	}
	r.atoms, r.disk = make([]atomic.Pointer[Atom], n), f
	w := &common{at: s.wordAt, text: s.wordText}
	w.boxes = sync.OnceValue(w.box)
	r.decode = func(i int32, ar *arena) *Atom { return s.atom(f, i, w, ar) }
	r.mentions = func() table { return s.mentions }
	return s, nil
}

// markLen is the length of a mark.
const markLen = 16

// mark gives the rows the mark of what they are laid out as.
func (s *snapshot) mark(parts []*[]byte, records [][]byte) {
	h := sha256.New()
	for _, p := range parts {
		h.Write(*p)
	}
	for _, b := range records {
		h.Write(b)
	}
	s.rows.mark = string(h.Sum(nil)[:markLen])
	s.said = append(s.said, s.rows.mark...)
}

// statLen is how many bytes the stat of a row's file takes.
const statLen = 3 * 8

// stat is what the file of a row was.
func (s *snapshot) stat(i int) stat {
	b := s.stats[statLen*i:]
	return stat{int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:])), binary.LittleEndian.Uint64(b[16:])}
}

// atom is the atom of a row, from its record. A record that is damaged, or that
// no encoder wrote, is as good as none: the file is read again.
func (s *snapshot) atom(f fs.FS, i int32, w *common, ar *arena) *Atom {
	file := s.rows.path(i)
	from, to := s.recordAt.span(int(i), len(s.records))
	record := ints(s.records[from:to])
	whole := len(record) >= 4 && record.at(0) == checksum(record[4:])
	d := decoder{s: view(record[min(4, len(record)):]), words: w, arena: ar, bad: !whole}
	a := &carve(&ar.atoms, 1, ar.least)[0]
	*a = Atom{Path: file, disk: &carve(&ar.disks, 1, ar.least)[0]}
	*a.disk = original{f: f}
	if d.atom(a); !d.bad && d.at == len(d.s) {
		return a
	}
	if f != nil {
		r := read(f, file)
		if a := r.make(); a != nil {
			return a
		}
	}
	return &Atom{Path: file, ID: s.rows.id(i)}
}

// common are the texts that occur often, by number.
type common struct {
	at    offsets
	text  []byte
	boxes func() []any
}

// len is how many there are; none where there are no words at all.
func (w *common) len() int {
	if w == nil {
		return 0
	}
	return max(0, w.at.len()-1)
}

func (w *common) word(i int) string {
	from, to := w.at.span(i, len(w.text))
	return view(w.text[from:to])
}

// box makes values of the words, once for all.
func (w *common) box() []any {
	out := make([]any, w.len())
	for i := range out {
		out[i] = w.word(i)
	}
	return out
}

// arena hands out short slices of long ones, for atoms that live and die
// together; least is how many are made at once.
type arena struct {
	least  int
	atoms  []Atom
	disks  []original
	fields []Field
	linked []Linked
	links  [][]Linked
}

// carve cuts n elements off the front of *from, and makes it anew when it is
// too short.
func carve[T any](from *[]T, n, least int) []T {
	if len(*from) < n {
		*from = make([]T, max(n, least))
	}
	out := (*from)[:n:n]
	*from = (*from)[n:]
	return out
}
