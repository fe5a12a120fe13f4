package okf

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// The kinds of values in a record.
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

// encoder appends values to b. With a vocabulary it writes a draft, and b is the current
// piece.
type encoder struct {
	b     []byte
	known *vocabulary
	cut   []byte // the finished pieces
}

func (e *encoder) writeInt(v int64)   { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) writeCount(n int)   { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *encoder) writeKind(k byte)   { e.b = append(e.b, k) }
func (e *encoder) writeText(s string) { e.writeCounted(s, 1) }

// writeCounted writes a text that counts as so many occurrences in a draft.
func (e *encoder) writeCounted(s string, times uint32) {
	if e.known == nil || len(s) > wordMax {
		e.writeNumbered(s, 0)
		return
	}
	e.endPiece(pieceShort + e.known.addText(s, times))
}

// writeNumbered writes word number word-1, or the text if word is 0.
func (e *encoder) writeNumbered(s string, word uint32) {
	if word > 0 {
		e.b = binary.AppendUvarint(e.b, uint64(word-1)<<1|1)
		return
	}
	e.b = binary.AppendUvarint(e.b, uint64(len(s))<<1)
	e.b = append(e.b, s...)
}

// writeWhole writes the text that a record begins with.
func (e *encoder) writeWhole(s string) {
	e.b = append(e.b, s...)
	e.endPiece(pieceText)
}

// endPiece ends a piece of a draft.
func (e *encoder) endPiece(what int) {
	e.cut = binary.AppendUvarint(e.cut, uint64(len(e.b)))
	e.cut = append(e.cut, e.b...)
	e.cut = binary.AppendUvarint(e.cut, uint64(what))
	e.b = e.b[:0]
}

func (e *encoder) writeProblems(ps []Problem) {
	e.writeCount(len(ps))
	for _, p := range ps {
		e.writeText(p.Path)
		e.writeText(p.Code)
		e.writeText(string(p.Severity))
		e.writeCount(p.Line)
		e.writeText(p.Message)
		e.writeText(p.Hint)
	}
}

func (e *encoder) writeDangling(d Dangling) {
	e.writeText(string(d.Kind))
	e.writeText(d.Target)
	e.writeCount(d.Line)
	e.writeBool(d.Broken)
	e.writeBool(d.Ambiguous)
}

func (e *encoder) writeBool(v bool) {
	k := byte(kindFalse)
	if v {
		k = kindTrue
	}
	e.writeKind(k)
}

// writeAtom drafts the record of an atom.
func (e *encoder) writeAtom(a *Atom) {
	e.writeWhole(a.Blob)
	e.writeCount(a.body)
	e.writeCount(a.BodyLine)
	e.writeCount(len(a.Fields))
	for _, f := range a.Fields {
		e.writeText(f.Key)
		e.writeCount(f.Line)
		e.writeValue(f.Value)
	}
	e.writeLinks(a.Links())
}

func (e *encoder) writeLinks(links []Linked) {
	e.writeCount(len(links))
	for _, l := range links {
		e.writeText(l.Target)
		e.writeText(l.URL)
		e.writeText(l.Text)
		e.writeCounted(l.Fragment, 0)
		e.writeCount(l.Line)
	}
}

func (e *encoder) writeValue(v any) {
	switch v := v.(type) {
	case bool:
		e.writeBool(v)
	case int:
		e.writeKind(kindInt)
		e.writeInt(int64(v))
	case float64:
		e.writeKind(kindFloat)
		e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(v))
	case string:
		e.writeKind(kindText)
		e.writeText(v)
	case []any:
		e.writeKind(kindList)
		e.writeCount(len(v))
		for _, x := range v {
			e.writeValue(x)
		}
	case map[string]any:
		e.writeKind(kindMap)
		e.writeCount(len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			e.writeText(k)
			e.writeValue(v[k])
		}
	default:
		e.writeKind(kindNil)
	}
}

// decoder reads what encoder wrote. After the first invalid byte, bad is set and every
// value is zero.
type decoder struct {
	s     string
	at    int
	words *wordTable
	arena *arena
	depth int
	bad   bool
}

func (d *decoder) fail() int {
	d.bad, d.at = true, len(d.s)
	return 0
}

func (d *decoder) readByte() byte {
	if d.at >= len(d.s) {
		d.fail()
		return 0
	}
	d.at++
	return d.s[d.at-1]
}

func (d *decoder) readUint() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := d.readByte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	d.fail()
	return 0
}

func (d *decoder) readInt() int64 {
	u := d.readUint()
	return int64(u>>1) ^ -int64(u&1)
}

// readCount reads a count, a line or an offset, none of which can be larger than a cache.
func (d *decoder) readCount() int {
	n := d.readUint()
	if n > math.MaxInt32 {
		return d.fail()
	}
	return int(n)
}

// readLen reads the number of items to allocate. Each takes at least one byte, so it can be
// no more than the bytes that are left.
func (d *decoder) readLen() int {
	n := d.readCount()
	if n > len(d.s)-d.at {
		return d.fail()
	}
	return n
}

func (d *decoder) readText() string {
	n := d.readUint()
	if n&1 == 1 {
		if n>>1 < uint64(d.words.len()) {
			return d.words.nthWord(int(n >> 1))
		}
		d.fail()
		return ""
	}
	return d.readBytes(n >> 1)
}

func (d *decoder) readBytes(n uint64) string {
	if n > uint64(len(d.s)-d.at) {
		d.fail()
		return ""
	}
	s := d.s[d.at : d.at+int(n)]
	d.at += int(n)
	return s
}

func (d *decoder) readDangling(from ID) Dangling {
	return Dangling{
		From: from, Kind: EdgeKind(d.readText()), Target: d.readText(), Line: d.readCount(),
		Broken: d.readByte() == kindTrue, Ambiguous: d.readByte() == kindTrue,
	}
}

func (d *decoder) readProblems() []Problem {
	var out []Problem
	for range d.readLen() {
		p := Problem{Path: d.readText()}
		p.Code, p.Severity, p.Line = d.readText(), Severity(d.readText()), d.readCount()
		p.Message, p.Hint = d.readText(), d.readText()
		out = append(out, p)
	}
	return out
}

func (d *decoder) readAtom(a *Atom) {
	a.Blob, a.body, a.BodyLine = d.readText(), d.readCount(), d.readCount()
	a.Fields = alloc(&d.arena.fields, d.readLen(), d.arena.least)
	for i := range a.Fields {
		f := &a.Fields[i]
		f.Key, f.Line = d.readText(), d.readCount()
		f.Value = d.readValue()
	}
	a.links = &alloc(&d.arena.links, 1, d.arena.least)[0]
	*a.links = nil
	if n := d.readLen(); n > 0 {
		*a.links = alloc(&d.arena.linked, n, d.arena.least)
	}
	for i := range *a.links {
		l := &(*a.links)[i]
		l.Target, l.URL, l.Text, l.Fragment = d.readText(), d.readText(), d.readText(), d.readText()
		l.Line = d.readCount()
	}
	a.setMembers()
}

func (d *decoder) readValue() any {
	switch d.readByte() {
	case kindFalse:
		return false
	case kindTrue:
		return true
	case kindInt:
		return int(d.readInt())
	case kindFloat:
		b := d.readBytes(8)
		if d.bad {
			return nil
		}
		return math.Float64frombits(binary.LittleEndian.Uint64([]byte(b)))
	case kindText:
		return d.readBoxed()
	case kindList, kindMap:
		d.at--
		return d.readNested()
	case kindNil:
	default:
		d.fail()
	}
	return nil
}

// readBoxed reads text as a value; a frequent text is boxed only once.
func (d *decoder) readBoxed() any {
	n := d.readUint()
	if n&1 == 0 {
		return d.readBytes(n >> 1)
	}
	if n>>1 < uint64(d.words.len()) {
		return d.words.boxes()[n>>1]
	}
	d.fail()
	return nil
}

// readNested reads a list or mapping. A value deeper than the YAML parser allows was not
// written by encoder.
func (d *decoder) readNested() any {
	if d.depth++; d.depth > 10_000 {
		d.fail()
		return nil
	}
	defer func() { d.depth-- }()
	if d.readByte() == kindList {
		out := make([]any, d.readLen())
		for i := range out {
			out[i] = d.readValue()
		}
		return out
	}
	n := d.readLen()
	out := make(map[string]any, n)
	for range n {
		k := d.readText()
		out[k] = d.readValue()
	}
	return out
}
