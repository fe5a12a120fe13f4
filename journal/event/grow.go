package event

import (
	"bytes"
	"slices"
)

// Appender is Append for the only writer of a file: it remembers its last result, and parses a file only if it gets
// another one. Its zero value is ready.
type Appender struct {
	file []byte // as returned last
	run  string
	seq  int // of its last record
}

// Append is the function Append.
func (a *Appender) Append(f []byte, r Record) ([]byte, error) {
	known := len(f) > 0 && bytes.Equal(f, a.file) && r.Run == a.run && r.Seq > a.seq
	if !known {
		return a.remember(Append(f, r))
	}
	line, err := encodeListed(r)
	if err != nil {
		return nil, err
	}
	a.file, a.seq = slices.Concat(f, line), r.Seq
	return a.file, nil
}

// remember stores a file that Append has parsed.
func (a *Appender) remember(f []byte, err error) ([]byte, error) {
	*a = Appender{}
	if err != nil {
		return nil, err
	}
	from := bytes.LastIndexByte(f[:len(f)-1], '\n') + 1
	last, err := decode(f[from : len(f)-1])
	if err == nil {
		*a = Appender{file: f, run: last.Run, seq: last.Seq}
	}
	return f, nil
}
