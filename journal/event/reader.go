package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
)

// Reader is Read and Trace for the one program that reads many states of the
// same files: of a file that grew it reads what is new. The records of one line are
// shared by all who ask for them, as are the lists they stand in: nobody may change
// either, or the bytes they were read from. Its zero value is ready; it is not for
// several goroutines at once.
type Reader struct {
	files map[string]*told // by their first lines, of which a run has one of its own
	size  int              // of the longest states of them, in bytes
}

// readerBytes is how much of files a Reader remembers before it forgets all of them.
const readerBytes = 8 << 20

// Read is the function of that name.
func (m *Reader) Read(b []byte) ([]Record, error) {
	t := m.of(b)
	had := len(t.file)
	recs, err := t.read(b)
	m.size += max(0, len(t.file)-had)
	return recs, err
}

// Trace is the function of that name.
func (m *Reader) Trace(prefix []byte) string { return m.of(prefix).trace(prefix) }

// of is what was read of the file that b is a state of.
func (m *Reader) of(b []byte) *told {
	first := b[:bytes.IndexByte(b, '\n')+1]
	if t := m.files[string(first)]; t != nil {
		return t
	}
	t := &told{}
	if len(first) > 0 {
		if m.files == nil || m.size > readerBytes {
			m.files, m.size = map[string]*told{}, 0
		}
		m.files[string(first)] = t
	}
	return t
}

// told is the longest state of a file that was read, as far as it is in order.
type told struct {
	file []byte
	recs []Record
	ends []int // of their lines
	seen map[named]int

	sum    hash.Hash // of the first bytes of file
	summed int       // how many they are
}

// named is what no two records of a file share.
type named struct {
	run string
	seq int
}

// read is Read of a state that is longer or shorter, or of another file in its place.
func (t *told) read(b []byte) ([]Record, error) {
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
		*t = told{seen: map[named]int{}}
	}
	err := t.grow(b)
	return t.recs[:len(t.recs):len(t.recs)], err
}

// grow reads the lines of b that file does not have yet, up to the first that is not in order.
func (t *told) grow(b []byte) error {
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
		k := named{r.Run, r.Seq}
		if first, again := t.seen[k]; again {
			return fmt.Errorf("line %d: record %d of %s again, first on line %d; restore the file from git", n, r.Seq, r.Run, first)
		}
		at += len(line) + 1
		t.seen[k], t.recs, t.ends, t.file = n, append(t.recs, r), append(t.ends, at), b[:at:at]
	}
	return nil
}

// trace is Trace of a prefix, from that of a shorter one of the same file.
func (t *told) trace(prefix []byte) string {
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
