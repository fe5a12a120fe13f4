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

// encoder appends values to b.
type encoder struct{ b []byte }

func (e *encoder) writeInt(v int64) { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) writeCount(n int) { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *encoder) writeKind(k byte) { e.b = append(e.b, k) }

func (e *encoder) writeText(s string) {
	e.writeCount(len(s))
	e.b = append(e.b, s...)
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

// writeRecord writes the record of an atom, with its checksum in front.
func (e *encoder) writeRecord(a *Atom) {
	begin := len(e.b)
	e.b = append(e.b, 0, 0, 0, 0)
	e.writeText(a.Blob)
	e.writeCount(a.body)
	e.writeCount(a.BodyLine)
	e.writeCount(len(a.Fields))
	for _, f := range a.Fields {
		e.writeText(f.Key)
		e.writeCount(f.Line)
		e.writeValue(f.Value)
	}
	links := a.Links()
	e.writeCount(len(links))
	for _, l := range links {
		e.writeText(l.Target)
		e.writeText(l.URL)
		e.writeText(l.Text)
		e.writeText(l.Fragment)
		e.writeCount(l.Line)
	}
	binary.LittleEndian.PutUint32(e.b[begin:], checksum(e.b[begin+4:]))
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

func (d *decoder) readText() string { return d.readBytes(d.readUint()) }

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
		return d.readText()
	case kindList, kindMap:
		d.at--
		return d.readNested()
	case kindNil:
	default:
		d.fail()
	}
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
