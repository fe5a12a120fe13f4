package okf

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

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

// encoder writes values behind each other. With a vocabulary it writes a draft:
// b is the piece that was begun last then.
type encoder struct {
	b     []byte
	known *vocabulary
	cut   []byte // the pieces before
}

func (e *encoder) int(v int64)   { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) count(n int)   { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *encoder) kind(k byte)   { e.b = append(e.b, k) }
func (e *encoder) text(s string) { e.often(s, 1) }

// often writes a text that counts so many times in a draft.
func (e *encoder) often(s string, times uint32) {
	if e.known == nil || len(s) > wordMax {
		e.writeNumbered(s, 0)
		return
	}
	e.piece(pieceShort + e.known.note(s, times))
}

// writeNumbered writes the word that is one less than the number, or the text for 0.
func (e *encoder) writeNumbered(s string, word uint32) {
	if word > 0 {
		e.b = binary.AppendUvarint(e.b, uint64(word-1)<<1|1)
		return
	}
	e.b = binary.AppendUvarint(e.b, uint64(len(s))<<1)
	e.b = append(e.b, s...)
}

// whole writes the text that a record begins with.
func (e *encoder) whole(s string) {
	e.b = append(e.b, s...)
	e.piece(pieceText)
}

// piece ends a piece of a draft.
func (e *encoder) piece(what int) {
	e.cut = binary.AppendUvarint(e.cut, uint64(len(e.b)))
	e.cut = append(e.cut, e.b...)
	e.cut = binary.AppendUvarint(e.cut, uint64(what))
	e.b = e.b[:0]
}

func (e *encoder) problems(ps []Problem) {
	e.count(len(ps))
	for _, p := range ps {
		e.text(p.Path)
		e.text(p.Code)
		e.text(string(p.Severity))
		e.count(p.Line)
		e.text(p.Message)
		e.text(p.Hint)
	}
}

func (e *encoder) dangling(d Dangling) {
	e.text(string(d.Kind))
	e.text(d.Target)
	e.count(d.Line)
	e.flag(d.Broken)
	e.flag(d.Ambiguous)
}

func (e *encoder) flag(v bool) {
	k := byte(kindFalse)
	if v {
		k = kindTrue
	}
	e.kind(k)
}

// atom drafts the record of an atom.
func (e *encoder) atom(a *Atom) {
	e.whole(a.Blob)
	e.count(a.body)
	e.count(a.BodyLine)
	e.count(len(a.Fields))
	for _, f := range a.Fields {
		e.text(f.Key)
		e.count(f.Line)
		e.value(f.Value)
	}
	e.links(a.Links())
}

func (e *encoder) links(links []Linked) {
	e.count(len(links))
	for _, l := range links {
		e.text(l.Target)
		e.text(l.URL)
		e.text(l.Text)
		e.often(l.Fragment, 0)
		e.count(l.Line)
	}
}

func (e *encoder) value(v any) {
	switch v := v.(type) {
	case bool:
		e.flag(v)
	case int:
		e.kind(kindInt)
		e.int(int64(v))
	case float64:
		e.kind(kindFloat)
		e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(v))
	case string:
		e.kind(kindText)
		e.text(v)
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
			e.text(k)
			e.value(v[k])
		}
	default:
		e.kind(kindNil)
	}
}

// decoder reads what encoder wrote. After the first thing that cannot be, bad
// is set and every value is zero.
type decoder struct {
	s     string
	at    int
	words *common
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
		if n>>1 < uint64(d.words.len()) {
			return d.words.word(int(n >> 1))
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

func (d *decoder) dangling(from ID) Dangling {
	return Dangling{
		From: from, Kind: EdgeKind(d.text()), Target: d.text(), Line: d.count(),
		Broken: d.byte() == kindTrue, Ambiguous: d.byte() == kindTrue,
	}
}

func (d *decoder) problems() []Problem {
	var out []Problem
	for range d.some() {
		p := Problem{Path: d.text()}
		p.Code, p.Severity, p.Line = d.text(), Severity(d.text()), d.count()
		p.Message, p.Hint = d.text(), d.text()
		out = append(out, p)
	}
	return out
}

func (d *decoder) atom(a *Atom) {
	a.Blob, a.body, a.BodyLine = d.text(), d.count(), d.count()
	a.Fields = carve(&d.arena.fields, d.some(), d.arena.least)
	for i := range a.Fields {
		f := &a.Fields[i]
		f.Key, f.Line = d.text(), d.count()
		f.Value = d.value()
	}
	a.links = &carve(&d.arena.links, 1, d.arena.least)[0]
	*a.links = nil
	if n := d.some(); n > 0 {
		*a.links = carve(&d.arena.linked, n, d.arena.least)
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

// readBoxed returns text as a value; a frequent text is boxed once for all.
func (d *decoder) readBoxed() any {
	n := d.uint()
	if n&1 == 0 {
		return d.take(n >> 1)
	}
	if n>>1 < uint64(d.words.len()) {
		return d.words.boxes()[n>>1]
	}
	d.fail()
	return nil
}

// readNested reads a list or mapping. A value deeper than the YAML parser allows
// is not one that encode wrote.
func (d *decoder) readNested() any {
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
