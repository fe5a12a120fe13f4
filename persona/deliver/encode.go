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
	head, body := quote(d.Schema), []byte("{}")
	if b := d.body(); b != nil {
		body = quote(b)
	}
	text := `{"schema":` + string(head)
	if len(body) > len("{}") {
		text += ","
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text+string(body[1:])), "", "  "); err != nil {
		panic("unreachable: " + err.Error())
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// quote is v as JSON, HTML left alone.
func quote(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("unreachable: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
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
