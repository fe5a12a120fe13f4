package event

import (
	"bytes"
	"slices"
)

// Appender is Append for the one program that writes a file record by record: it
// remembers what it returned last, and so reads a file only where it is given
// another one. Its zero value remembers nothing.
type Appender struct {
	file []byte // as returned last
	run  string
	seq  int // of its last record
}

// Append is the function of that name.
func (a *Appender) Append(f []byte, r Record) ([]byte, error) {
	known := len(f) > 0 && bytes.Equal(f, a.file) && r.Run == a.run && r.Seq > a.seq
	if !known {
		return a.keep(Append(f, r))
	}
	line, err := encodeListed(r)
	if err != nil {
		return nil, err
	}
	a.file, a.seq = slices.Concat(f, line), r.Seq
	return a.file, nil
}

// keep remembers a file that Append has read whole.
func (a *Appender) keep(f []byte, err error) ([]byte, error) {
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
