package okf

import (
	"embed"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"maps"
	"math"
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
//go:embed atom.go parse.go scan.go decode.go links.go reserved.go snapshot.go
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

// The kinds of value in a record.
const (
	kindNil = iota
	kindFalse
	kindTrue
	kindInt
	kindFloat
	kindText
	kindList
	kindMap
)

type encoder struct {
	b     []byte
	index map[string]uint64
}

func (e *encoder) int(v int64)   { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) count(n int)   { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *encoder) kind(k byte)   { e.b = append(e.b, k) }
func (e *encoder) raw(s string)  { e.b = append(e.b, s...) }
func (e *encoder) text(s string) { e.word(s) }

// word writes the number of a frequent text, or a text.
func (e *encoder) word(s string) {
	if i, ok := e.index[s]; ok {
		e.b = binary.AppendUvarint(e.b, i<<1|1)
		return
	}
	e.b = binary.AppendUvarint(e.b, uint64(len(s))<<1)
	e.raw(s)
}

func (e *encoder) problems(ps []Problem, withPath bool) {
	e.count(len(ps))
	for _, p := range ps {
		if withPath {
			e.text(p.Path)
		}
		e.text(p.Code)
		e.text(string(p.Severity))
		e.count(p.Line)
		e.text(p.Message)
		e.text(p.Hint)
	}
}

func (e *encoder) record(r *reading) {
	e.problems(r.problems, false)
	a := r.atom
	if a == nil {
		e.kind(0)
		return
	}
	e.kind(1)
	e.text(a.Blob)
	e.count(a.body)
	e.count(a.BodyLine)
	e.count(len(a.Fields))
	for _, f := range a.Fields {
		e.word(f.Key)
		e.count(f.Line)
		e.value(f.Value)
	}
	links := a.Links()
	e.count(len(links))
	for _, l := range links {
		e.text(l.Target)
		e.text(l.URL)
		e.text(l.Text)
		e.text(l.Fragment)
		e.count(l.Line)
	}
}

func (e *encoder) value(v any) {
	switch v := v.(type) {
	case bool:
		k := byte(kindFalse)
		if v {
			k = kindTrue
		}
		e.kind(k)
	case int:
		e.kind(kindInt)
		e.int(int64(v))
	case float64:
		e.kind(kindFloat)
		e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(v))
	case string:
		e.kind(kindText)
		e.word(v)
	case []any:
		e.kind(kindList)
		e.count(len(v))
		for _, x := range v {
			e.value(x)
		}
	case map[string]any:
		e.kind(kindMap)
		e.count(len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			e.word(k)
			e.value(v[k])
		}
	default:
		e.kind(kindNil)
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

// decoder reads what encoder wrote. After the first thing that cannot be, bad
// is set and every value is zero.
type decoder struct {
	s     string
	at    int
	words []any
	arena *arena
	depth int
	bad   bool
}

func (d *decoder) fail() int {
	d.bad, d.at = true, len(d.s)
	return 0
}

func (d *decoder) byte() byte {
	if d.at >= len(d.s) {
		d.fail()
		return 0
	}
	d.at++
	return d.s[d.at-1]
}

func (d *decoder) uint() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := d.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	d.fail()
	return 0
}

func (d *decoder) int() int64 {
	u := d.uint()
	return int64(u>>1) ^ -int64(u&1)
}

// count reads a number of things, each of at least one byte, or a line or
// offset: nothing that is counted is larger than the rest of a cache can be.
func (d *decoder) count() int {
	n := d.uint()
	if n > math.MaxInt32 {
		return d.fail()
	}
	return int(n)
}

// some is count for things that are about to be made.
func (d *decoder) some() int {
	n := d.count()
	if n > len(d.s)-d.at {
		return d.fail()
	}
	return n
}

func (d *decoder) text() string {
	n := d.uint()
	if n&1 == 1 {
		if i := n >> 1; i < uint64(len(d.words)) {
			return d.words[i].(string)
		}
		d.fail()
		return ""
	}
	return d.take(n >> 1)
}

func (d *decoder) take(n uint64) string {
	if n > uint64(len(d.s)-d.at) {
		d.fail()
		return ""
	}
	s := d.s[d.at : d.at+int(n)]
	d.at += int(n)
	return s
}

func (d *decoder) problems(path string) []Problem {
	var out []Problem
	for range d.some() {
		p := Problem{Path: path}
		if path == "" {
			p.Path = d.text()
		}
		p.Code, p.Severity, p.Line = d.text(), Severity(d.text()), d.count()
		p.Message, p.Hint = d.text(), d.text()
		out = append(out, p)
	}
	return out
}

func (d *decoder) atom(a *Atom) {
	a.Blob, a.body, a.BodyLine = d.text(), d.count(), d.count()
	a.Fields = carve(&d.arena.fields, d.some())
	for i := range a.Fields {
		f := &a.Fields[i]
		f.Key, f.Line = d.text(), d.count()
		f.Value = d.value()
	}
	a.links = &carve(&d.arena.links, 1)[0]
	if n := d.some(); n > 0 {
		*a.links = carve(&d.arena.linked, n)
	}
	for i := range *a.links {
		l := &(*a.links)[i]
		l.Target, l.URL, l.Text, l.Fragment = d.text(), d.text(), d.text(), d.text()
		l.Line = d.count()
	}
	a.fill()
}

func (d *decoder) value() any {
	switch d.byte() {
	case kindFalse:
		return false
	case kindTrue:
		return true
	case kindInt:
		return int(d.int())
	case kindFloat:
		b := d.take(8)
		if d.bad {
			return nil
		}
		return math.Float64frombits(binary.LittleEndian.Uint64([]byte(b)))
	case kindText:
		return d.boxed()
	case kindList, kindMap:
		d.at--
		return d.nested()
	case kindNil:
	default:
		d.fail()
	}
	return nil
}

// boxed is text as a value; a frequent text is boxed once for all.
func (d *decoder) boxed() any {
	n := d.uint()
	if n&1 == 0 {
		return d.take(n >> 1)
	}
	if i := n >> 1; i < uint64(len(d.words)) {
		return d.words[i]
	}
	d.fail()
	return nil
}

// nested reads a list or mapping. A value deeper than the YAML parser allows
// is not one that encode wrote.
func (d *decoder) nested() any {
	if d.depth++; d.depth > 10_000 {
		d.fail()
		return nil
	}
	defer func() { d.depth-- }()
	if d.byte() == kindList {
		out := make([]any, d.some())
		for i := range out {
			out[i] = d.value()
		}
		return out
	}
	n := d.some()
	out := make(map[string]any, n)
	for range n {
		k := d.text()
		out[k] = d.value()
	}
	return out
}
