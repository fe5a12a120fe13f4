package okf

import (
	"encoding/binary"
	"strings"
	"sync"
)

// ints is a column of numbers below 2^32, four bytes each, little endian: as
// good in memory as in a cache. A number that is not there is 0, so that no
// cache, whatever it says, can lead out of its own bytes.
type ints []byte

func newInts(n int) ints { return make(ints, 4*n) }

func (c ints) len() int { return len(c) / 4 }

func (c ints) at(i int) uint32 {
	if uint(i) >= uint(len(c)/4) {
		return 0
	}
	return binary.LittleEndian.Uint32(c[4*i:])
}

func (c ints) set(i int, v uint32) { binary.LittleEndian.PutUint32(c[4*i:], v) }

func (c ints) add(v uint32) ints { return binary.LittleEndian.AppendUint32(c, v) }

// sum turns counts, each one place late, into where the counted begin.
func (c ints) sum() {
	var before uint32
	for i := range c.len() {
		before += c.at(i)
		c.set(i, before)
	}
}

// span is the i-th run between neighbouring numbers, none of it beyond most.
func (c ints) span(i, most int) (from, to int) {
	from, to = int(c.at(i)), int(c.at(i+1))
	to = min(to, most)
	return min(from, to), to
}

// offsets is a column of places in bytes that may be more than 4 GiB, eight bytes
// each, and otherwise as ints is.
type offsets []byte

func (c offsets) len() int { return len(c) / 8 }

func (c offsets) at(i int) uint64 {
	if uint(i) >= uint(len(c)/8) {
		return 0
	}
	return binary.LittleEndian.Uint64(c[8*i:])
}

func (c offsets) add(v uint64) offsets { return binary.LittleEndian.AppendUint64(c, v) }

// span is the i-th run between neighbouring places, none of it beyond most.
func (c offsets) span(i, most int) (from, to int) {
	end := min(c.at(i+1), uint64(most))
	return int(min(c.at(i), end)), int(end)
}

// table finds rows by the hash of what they are called. Buckets lie side by
// side, rows[starts[b]:starts[b+1]], each in order of row; a bucket may hold
// rows of other names, so that its reader compares.
type table struct{ starts, rows ints }

// called is one name of a row, hashed.
type called struct{ hash, row uint32 }

// newTable lays names out by a counting sort. Names are in order of row.
func newTable(names []called) table {
	buckets := 1
	for buckets < len(names) {
		buckets *= 2
	}
	t := table{newInts(buckets + 1), newInts(len(names))}
	for _, n := range names {
		b := int(n.hash)&(buckets-1) + 1
		t.starts.set(b, t.starts.at(b)+1)
	}
	t.starts.sum()
	next := append(ints(nil), t.starts...)
	for _, n := range names {
		b := int(n.hash) & (buckets - 1)
		at := next.at(b)
		t.rows.set(int(at), n.row)
		next.set(b, at+1)
	}
	return t
}

// bucket is where the rows with a hash lie.
func (t table) bucket(hash uint32) (from, to int) {
	buckets := t.starts.len() - 1
	if buckets < 1 {
		return 0, 0
	}
	return t.starts.span(int(hash)&(buckets-1), t.rows.len())
}

// hashOf is a checksum: the same in every process, as a cache needs it. Names
// that somebody made collide fill a bucket, which is then kept by name: crowd.
func hashOf(s string) uint32 { return checksum(bytesOf(s)) }

// kind is what a name of a row is.
type kind uint8

const (
	byID kind = iota
	byFile
	byStem
	byURI
	kinds
)

// table is that of the names of a kind.
func (r *rows) table(k kind) *table {
	switch k {
	case byID:
		return &r.ids
	case byFile:
		return &r.files
	case byStem:
		return &r.stems
	}
	return &r.uris
}

// crowded is beyond how many rows a bucket is long. By chance none is, of as many
// buckets as names: only a name that many files share makes one, or many names that
// were made to collide.
const crowded = 64

// maybe are the rows that may have a name, in order: those of its bucket or, where
// that is long, those that do have it.
func (r *rows) maybe(k kind, name string) ints {
	t := r.table(k)
	from, to := t.bucket(hashOf(name))
	if to-from > crowded {
		return r.crowd(k, from, to)[name]
	}
	return t.rows[4*from : 4*to]
}

// crowdKey is a long bucket: of which table, and where it begins.
type crowdKey struct {
	kind kind
	from int
}

// crowd is a long bucket by name, made once.
func (r *rows) crowd(k kind, from, to int) map[string]ints {
	key := crowdKey{k, from}
	made, ok := r.crowds.Load(key)
	if !ok {
		made, _ = r.crowds.LoadOrStore(key, sync.OnceValue(func() map[string]ints {
			rows, of := r.table(k).rows[4*from:4*to], map[string]ints{}
			for n := range rows.len() {
				if i := int32(rows.at(n)); i >= 0 && int(i) < r.len() {
					for _, name := range r.namesOf(k, i) {
						of[name] = of[name].add(uint32(i))
					}
				}
			}
			return of
		}))
	}
	return made.(func() map[string]ints)()
}

// namesOf returns the names of a kind that a row has.
func (r *rows) namesOf(k kind, i int32) []string {
	switch k {
	case byID:
		return []string{string(r.id(i))}
	case byFile:
		return []string{strings.TrimSuffix(r.path(i), ".md")}
	case byStem:
		return r.stemsOf(i)
	}
	if !r.isKept(i) {
		return nil
	}
	return []string{r.uriOf(i)}
}
