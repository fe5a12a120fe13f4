package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
)

// Reader is Read and Trace for a program that reads many states of the same files: if a file grew, it parses only
// the new lines. Callers share the records and slices, so nobody may change them or the bytes they were read from.
// Its zero value is ready. It is not safe for concurrent use.
type Reader struct {
	files map[string]*readFile // by their first lines, which differ between runs
	size  int                  // of all files, in bytes
}

// readerBytes is how many bytes of files a Reader remembers before it drops all of them.
const readerBytes = 8 << 20

// Read is the function Read.
func (m *Reader) Read(b []byte) ([]Record, error) {
	t := m.fileOf(b)
	had := len(t.file)
	recs, err := t.read(b)
	m.size += max(0, len(t.file)-had)
	return recs, err
}

// Trace is the function Trace.
func (m *Reader) Trace(prefix []byte) string { return m.fileOf(prefix).hashPrefix(prefix) }

func (m *Reader) fileOf(b []byte) *readFile {
	first := b[:bytes.IndexByte(b, '\n')+1]
	if t := m.files[string(first)]; t != nil {
		return t
	}
	t := &readFile{}
	if len(first) > 0 {
		if m.files == nil || m.size > readerBytes {
			m.files, m.size = map[string]*readFile{}, 0
		}
		m.files[string(first)] = t
	}
	return t
}

// readFile is the longest state of a file that was read, up to its first malformed line.
type readFile struct {
	file []byte
	recs []Record
	ends []int // offsets of their lines' ends
	seen map[recordKey]int

	sum    hash.Hash // of the first bytes of file
	summed int       // how many bytes sum covers
}

// recordKey identifies a record within a file.
type recordKey struct {
	run string
	seq int
}

// read returns the records of a longer or shorter state, or of another file that replaced it.
func (t *readFile) read(b []byte) ([]Record, error) {
	if bytes.HasPrefix(t.file, b) {
		i, whole := slices.BinarySearch(t.ends, len(b))
		switch {
		case len(b) == 0:
			return nil, nil
		case !whole:
			return t.recs[:i:i], &Torn{Line: i + 1}
		}
		return t.recs[: i+1 : i+1], nil
	}
	if !bytes.HasPrefix(b, t.file) || t.seen == nil {
		*t = readFile{seen: map[recordKey]int{}}
	}
	err := t.readNewLines(b)
	return t.recs[:len(t.recs):len(t.recs)], err
}

// readNewLines reads the lines of b beyond file, up to the first malformed one.
func (t *readFile) readNewLines(b []byte) error {
	for at := len(t.file); at < len(b); {
		n := len(t.recs) + 1
		line, _, whole := bytes.Cut(b[at:], []byte("\n"))
		if !whole {
			return &Torn{Line: n}
		}
		r, err := decode(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		k := recordKey{r.Run, r.Seq}
		if first, again := t.seen[k]; again {
			return fmt.Errorf("line %d: record %d of %s again, first on line %d; restore the file from git", n, r.Seq, r.Run, first)
		}
		at += len(line) + 1
		t.seen[k], t.recs, t.ends, t.file = n, append(t.recs, r), append(t.ends, at), b[:at:at]
	}
	return nil
}

// hashPrefix is Trace, continued from a shorter prefix of the same file.
func (t *readFile) hashPrefix(prefix []byte) string {
	if !bytes.HasPrefix(t.file, prefix) || len(prefix) < t.summed {
		return Trace(prefix)
	}
	if t.sum == nil {
		t.sum = sha256.New()
	}
	t.sum.Write(prefix[t.summed:])
	t.summed = len(prefix)
	return hex.EncodeToString(t.sum.Sum(nil))
}

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
