package okf

import "encoding/binary"

// ints is a column of numbers below 2^32 in four bytes each, little endian, both in memory
// and in a cache. Reading beyond the end returns 0, so that a damaged cache cannot cause a
// panic.
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

// accumulate turns counts, each one place late, into the offsets at which the counted items
// begin.
func (c ints) accumulate() {
	var before uint32
	for i := range c.len() {
		before += c.at(i)
		c.set(i, before)
	}
}

// span returns the range between the numbers i and i+1, limited to most.
func (c ints) span(i, most int) (from, to int) {
	from, to = int(c.at(i)), int(c.at(i+1))
	to = min(to, most)
	return min(from, to), to
}

// offsets is a column of offsets into bytes that may exceed 4 GiB, in eight bytes each;
// otherwise like ints.
type offsets []byte

func (c offsets) len() int { return len(c) / 8 }

func (c offsets) at(i int) uint64 {
	if uint(i) >= uint(len(c)/8) {
		return 0
	}
	return binary.LittleEndian.Uint64(c[8*i:])
}

func (c offsets) add(v uint64) offsets { return binary.LittleEndian.AppendUint64(c, v) }

// span returns the range between the offsets i and i+1, limited to most.
func (c offsets) span(i, most int) (from, to int) {
	end := min(c.at(i+1), uint64(most))
	return int(min(c.at(i), end)), int(end)
}

// table finds rows by the hash of a name. The buckets follow each other:
// rows[starts[b]:starts[b+1]], each in order of row. A bucket may hold rows with other
// names, so the reader must compare.
type table struct{ starts, rows ints }

// hashedName is the hash of one name of a row.
type hashedName struct{ hash, row uint32 }

// newTable builds a table by a counting sort. names are in order of row.
func newTable(names []hashedName) table {
	buckets := 1
	for buckets < len(names) {
		buckets *= 2
	}
	t := table{newInts(buckets + 1), newInts(len(names))}
	for _, n := range names {
		b := int(n.hash)&(buckets-1) + 1
		t.starts.set(b, t.starts.at(b)+1)
	}
	t.starts.accumulate()
	next := append(ints(nil), t.starts...)
	for _, n := range names {
		b := int(n.hash) & (buckets - 1)
		at := next.at(b)
		t.rows.set(int(at), n.row)
		next.set(b, at+1)
	}
	return t
}

func (t table) bucketRange(hash uint32) (from, to int) {
	buckets := t.starts.len() - 1
	if buckets < 1 {
		return 0, 0
	}
	return t.starts.span(int(hash)&(buckets-1), t.rows.len())
}

// hashText is a checksum, because a cache needs the same hash in every process. Names that
// were made to collide fill one bucket, and looking one up then takes as long as the bucket.
func hashText(s string) uint32 { return checksum(unsafeBytes(s)) }

type nameKind uint8

const (
	byID nameKind = iota
	byFile
	byStem
	byURI
	nameKinds
)

func (r *rows) tableOf(k nameKind) *table {
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

// candidates returns the rows that may have a name, in order: those of its bucket.
func (r *rows) candidates(k nameKind, name string) ints {
	t := r.tableOf(k)
	from, to := t.bucketRange(hashText(name))
	return t.rows[4*from : 4*to]
}
