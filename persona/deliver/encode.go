package deliver

import (
	"bytes"
	"encoding/json"
)

// Encode prints d as canonical JSON: the schema first, then the keys in the
// order of their schema, indented by two, with a final newline. Absent lists
// and empty texts are left out. Decode reads it back as d, provided that d has
// no defect Decode would refuse. No line of it begins with a backtick, so that
// it may stand in any fence.
func Encode(d Deliverable) []byte {
	var flat, out bytes.Buffer
	flat.WriteByte('{')
	key(&flat, "schema", true)
	quote(&flat, d.Schema)
	encode(&flat, d.members(), false)
	flat.WriteByte('}')
	if err := json.Indent(&out, flat.Bytes(), "", "  "); err != nil {
		panic("unreachable: " + err.Error())
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// encode writes the members that are there; first says nothing stands before.
func encode(b *bytes.Buffer, ms []member, first bool) {
	for _, m := range ms {
		switch {
		case m.text != nil && *m.text != "":
			key(b, m.key, first)
			quote(b, *m.text)
		case m.list != nil && *m.list != nil:
			key(b, m.key, first)
			series(b, len(*m.list), func(i int) { quote(b, (*m.list)[i]) })
		case m.objs != nil && m.objs.present():
			key(b, m.key, first)
			series(b, m.objs.count(), func(i int) {
				b.WriteByte('{')
				encode(b, m.objs.at(i), true)
				b.WriteByte('}')
			})
		default:
			continue
		}
		first = false
	}
}

func key(b *bytes.Buffer, name string, first bool) {
	if !first {
		b.WriteByte(',')
	}
	quote(b, name)
	b.WriteByte(':')
}

func series(b *bytes.Buffer, n int, write func(i int)) {
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		write(i)
	}
	b.WriteByte(']')
}

// quote writes s as a JSON string, HTML left alone.
func quote(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("unreachable: " + err.Error())
	}
	b.Truncate(b.Len() - 1) // its newline
}

// MarshalJSON is Encode's object, so that a deliverable inside another document
// reads like one on its own.
func (d Deliverable) MarshalJSON() ([]byte, error) { return Encode(d), nil }

// UnmarshalJSON is Decode of any schema.
func (d *Deliverable) UnmarshalJSON(b []byte) error {
	got, err := Decode("", b)
	if err == nil {
		*d = got
	}
	return err
}
