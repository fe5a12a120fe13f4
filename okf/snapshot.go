package okf

import (
	"embed"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"maps"
	"runtime/debug"
	"slices"
	"time"
)

// A cache is
//
//	8 bytes  cacheMagic
//	8 bytes  parserVersion, little endian
//	4 bytes  CRC-32C of all that follows
//	varints  the moment it was made, in Unix nanoseconds
//	         the words: texts that occur often, by number
//	         the problems of the walk
//	         the entries: path, size, time, length of the record
//	         the records: one a file, in the order of the entries
//
// A record holds the problems of the file and, if it is an atom, its fields
// and links; everything else about an atom follows from its fields. Records
// stand alone, so that they are decoded side by side, and only where needed.
const cacheMagic = "odd okf\x01"

// headerLen is the length of a cache before what its checksum covers.
const headerLen = len(cacheMagic) + 8 + 4

// parserSources are the files whose change may change what a file is read as.
//
//go:embed atom.go parse.go scan.go decode.go links.go linkscan.go record.go reserved.go snapshot.go
var parserSources embed.FS

// parserVersion tells one parser's reading from another's: a hash of this
// package's sources and of the versions of the libraries it was built with.
func parserVersion() uint64 {
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
}

// snapshot is an opened cache.
type snapshot struct {
	taken    int64
	words    []any // texts, boxed once
	problems []Problem
	entries  []cacheEntry
	records  string
}

type cacheEntry struct {
	path string
	stat
	from, to int // the record, in records
}

// encode writes the cache of a walk. The same readings make the same bytes.
func encode(found []reading, stats []stat, problems []Problem, now time.Time) []byte {
	words := frequent(found)
	e := encoder{index: make(map[string]uint64, len(words))}
	for i, w := range words {
		e.index[w] = uint64(i)
	}
	records := make([][]byte, len(found))
	batches(len(found), func(from, to int) {
		e := encoder{index: e.index}
		for i := from; i < to; i++ {
			before := len(e.b)
			e.record(&found[i])
			records[i] = e.b[before:]
		}
	})
	e.index = nil
	e.int(now.UnixNano())
	e.count(len(words))
	for _, w := range words {
		e.text(w)
	}
	e.problems(problems, true)
	e.count(len(found))
	for i := range found {
		e.text(found[i].path)
		e.int(stats[i].size)
		e.int(stats[i].mtime)
		e.count(len(records[i]))
	}
	out := append([]byte(cacheMagic), make([]byte, headerLen-len(cacheMagic))...)
	binary.LittleEndian.PutUint64(out[len(cacheMagic):], parserVersion())
	out = append(out, e.b...)
	out = slices.Concat(out, slices.Concat(records...))
	binary.LittleEndian.PutUint32(out[headerLen-4:], checksum(out[headerLen:]))
	return out
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// frequent lists the short texts that occur at least three times, sorted.
func frequent(found []reading) []string {
	n := tally{}
	for i := range found {
		a := found[i].atom
		if a == nil {
			continue
		}
		for _, f := range a.Fields {
			n.text(f.Key)
			n.value(f.Value)
		}
		for _, l := range a.Links() {
			n.text(l.Target)
			n.text(l.URL)
			n.text(l.Text)
		}
	}
	maps.DeleteFunc(n, func(_ string, times int) bool { return times < 3 })
	return slices.Sorted(maps.Keys(n))
}

// tally counts texts.
type tally map[string]int

func (n tally) text(s string) {
	if len(s) <= 64 {
		n[s]++
	}
}

func (n tally) value(v any) {
	switch v := v.(type) {
	case string:
		n.text(v)
	case []any:
		for _, e := range v {
			n.value(e)
		}
	case map[string]any:
		for k, e := range v {
			n.text(k)
			n.value(e)
		}
	}
}

// openCache checks a cache and reads all but its records.
func openCache(cache []byte) (*snapshot, error) {
	if len(cache) < headerLen || string(cache[:len(cacheMagic)]) != cacheMagic ||
		binary.LittleEndian.Uint64(cache[len(cacheMagic):]) != parserVersion() ||
		binary.LittleEndian.Uint32(cache[headerLen-4:]) != checksum(cache[headerLen:]) {
		return nil, ErrCache
	}
	d := decoder{s: string(cache[headerLen:])}
	s := &snapshot{taken: d.int()}
	words := make([]any, d.some())
	for i := range words {
		words[i] = d.text()
	}
	s.words, s.problems = words, d.problems("")
	s.entries = make([]cacheEntry, d.some())
	at := 0
	for i := range s.entries {
		e := &s.entries[i]
		e.path, e.size, e.mtime, e.from = d.text(), d.int(), d.int(), at
		at += d.count()
		e.to = at
	}
	if s.records = d.s[min(d.at, len(d.s)):]; d.bad || at != len(s.records) {
		return nil, ErrCache
	}
	return s, nil
}

// reading decodes the record of entry i into r, an atom into a, which reads its
// bytes from o. It reports whether the record is one that encode wrote.
func (s *snapshot) reading(i int, r *reading, a *Atom, o *original, ar *arena) bool {
	e := &s.entries[i]
	d := decoder{s: s.records[e.from:e.to], words: s.words, arena: ar}
	*r = reading{path: e.path, problems: d.problems(e.path)}
	if d.byte() == 1 {
		*a = Atom{Path: e.path, disk: o}
		d.atom(a)
		r.atom = a
	}
	return !d.bad && d.at == len(d.s)
}

// arena hands out short slices of long ones, for atoms that live and die
// together.
type arena struct {
	fields []Field
	linked []Linked
	links  [][]Linked
}

// carve cuts n elements off the front of *from, and makes it anew when it is
// too short.
func carve[T any](from *[]T, n int) []T {
	if len(*from) < n {
		*from = make([]T, max(n, 256))
	}
	out := (*from)[:n:n]
	*from = (*from)[n:]
	return out
}
