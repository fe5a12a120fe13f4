package object

import (
	"cmp"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
)

// Modes of tree entries.
const (
	ModeFile = "100644"
	ModeExec = "100755"
	ModeLink = "120000"
	ModeDir  = "40000"
	ModeRepo = "160000" // a gitlink: the commit of a submodule
)

// Entry is one line of a tree object.
type Entry struct {
	Mode string
	Name string
	OID  OID
}

// IsDir reports whether the entry is a folder.
func (e Entry) IsDir() bool { return e.Mode == ModeDir }

// listing is the content of one tree object. It keeps the object's bytes and decodes an entry when asked: in a
// folder of ten thousand files a commit changes one. The zero listing is an empty directory. A listing never
// changes.
type listing struct {
	raw    string
	starts []uint32 // where each entry begins
}

// maxTree bounds the bytes of one tree object.
const maxTree = 1 << 31

// parseTree reads a tree object. It refuses a tree that is not in git's order, and an entry
// that occurs twice or whose name holds a slash, because other programs may read such a tree differently. git fsck
// reports all of them, and git writes none.
func parseTree(raw string) (listing, error) {
	if len(raw) > maxTree {
		return listing{}, errors.New("a tree object of more than two gigabytes")
	}
	l := listing{raw: raw, starts: make([]uint32, 0, len(raw)/(idBytes+20)+1)}
	var last sortKey
	twice := false // a name may occur twice
	for at := 0; at < len(raw); {
		sp := strings.IndexByte(raw[at:], ' ')
		if sp < 0 {
			return listing{}, errMalformed
		}
		nul := strings.IndexByte(raw[at+sp:], 0)
		if nul < 0 || len(raw)-at-sp-nul-1 < idBytes {
			return listing{}, errMalformed
		}
		mode := raw[at : at+sp]
		if mode != "" && mode[0] == '0' {
			mode = strings.TrimLeft(mode, "0")
		}
		k := sortKey{raw[at+sp+1 : at+sp+nul], mode == ModeDir}
		if strings.IndexByte(k.name, '/') >= 0 {
			return listing{}, errMalformed
		}
		if len(l.starts) > 0 && !last.isBefore(k) {
			return listing{}, errMalformed
		}
		twice = twice || k.isDir && strings.HasPrefix(last.name, k.name) // the file of that name may stand some entries before
		l.starts, last = append(l.starts, uint32(at)), k
		at += sp + nul + 1 + idBytes
	}
	if twice && l.hasRepeats() {
		return listing{}, errMalformed
	}
	return l, nil
}

var errMalformed = errors.New("malformed tree object; git fsck tells what is wrong with it")

// hasRepeats reports whether two entries have one name.
func (l listing) hasRepeats() bool {
	seen := make(map[string]bool, l.len())
	for i := range l.len() {
		seen[l.entryWithoutID(i).Name] = true
	}
	return len(seen) < l.len()
}

func (l listing) len() int { return len(l.starts) }

func (l listing) entryBytes(i int) string {
	if i+1 < len(l.starts) {
		return l.raw[l.starts[i]:l.starts[i+1]]
	}
	return l.raw[l.starts[i]:]
}

// entryWithoutID returns an entry without its id, which is the costly part to decode.
func (l listing) entryWithoutID(i int) Entry {
	b := l.entryBytes(i)
	mode, name, _ := strings.Cut(b[:len(b)-idBytes-1], " ")
	return Entry{Mode: strings.TrimLeft(mode, "0"), Name: name}
}

func (l listing) entryAt(i int) Entry {
	e, b := l.entryWithoutID(i), l.entryBytes(i)
	e.OID = OID(hex.EncodeToString([]byte(b[len(b)-idBytes:])))
	return e
}

// entryRange returns the entries from a position to another.
func (l listing) entryRange(from, to int) []Entry {
	out := make([]Entry, 0, max(0, to-from))
	for i := from; i < to; i++ {
		out = append(out, l.entryAt(i))
	}
	return out
}

// sortKey is what git sorts a directory by: a folder's name sorts as if it ended in a slash.
type sortKey struct {
	name  string
	isDir bool
}

func sortKeyOf(e Entry) sortKey { return sortKey{e.Name, e.IsDir()} }

func (k sortKey) compare(o sortKey) int {
	n := min(len(k.name), len(o.name))
	if c := strings.Compare(k.name[:n], o.name[:n]); c != 0 {
		return c
	}
	return cmp.Compare(k.byteAt(n), o.byteAt(n))
}

func (k sortKey) isBefore(o sortKey) bool { return k.compare(o) < 0 }

// byteAt returns the byte at n as git compares it: "/" behind a folder's name, 0 behind a file's.
func (k sortKey) byteAt(n int) byte {
	switch {
	case n < len(k.name):
		return k.name[n]
	case k.isDir:
		return '/'
	}
	return 0
}

// search returns where a key is, or would be.
func (l listing) search(k sortKey) (at int, found bool) {
	lo, hi := 0, l.len()
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if sortKeyOf(l.entryWithoutID(mid)).isBefore(k) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < l.len() && sortKeyOf(l.entryWithoutID(lo)) == k
}

// find returns the index of a name, -1 if the directory lacks it.
func (l listing) find(name string) int {
	for _, isDir := range []bool{false, true} {
		if i, ok := l.search(sortKey{name, isDir}); ok {
			return i
		}
	}
	return -1
}

// splice is one place where a new listing differs from the old one.
type splice struct {
	at   int   // index of the entry that is dropped, or that the new one is put before
	put  Entry // the new entry, unless its mode is ""
	drop bool
}

// applyEdits returns the directory's tree object with the new entry of each name; an entry without a mode deletes
// the name.
func (l listing) applyEdits(edits map[string]Entry) ([]byte, error) {
	var cuts []splice
	size := len(l.raw)
	for name, e := range edits {
		for _, isDir := range []bool{false, true} {
			if i, ok := l.search(sortKey{name, isDir}); ok {
				cuts = append(cuts, splice{at: i, drop: true})
			}
		}
		if e.Mode != "" {
			i, _ := l.search(sortKeyOf(e))
			cuts = append(cuts, splice{at: i, put: e})
			size += len(e.Mode) + len(e.Name) + 2 + idBytes
		}
	}
	slices.SortFunc(cuts, func(a, b splice) int {
		byDrop := 0 // a new entry goes before a dropped one
		if a.drop != b.drop {
			byDrop = map[bool]int{true: 1, false: -1}[a.drop]
		}
		return cmp.Or(cmp.Compare(a.at, b.at), byDrop, sortKeyOf(a.put).compare(sortKeyOf(b.put)))
	})
	out, from := make([]byte, 0, size), 0
	for _, c := range cuts {
		out = append(out, l.bytesBetween(from, c.at)...)
		if from = c.at; c.drop {
			from++
			continue
		}
		var err error
		if out, err = appendEntry(out, c.put); err != nil {
			return nil, err
		}
	}
	return append(out, l.bytesBetween(from, l.len())...), nil
}

// bytesBetween returns the bytes of the entries from a position to another.
func (l listing) bytesBetween(from, to int) string {
	switch {
	case from >= l.len():
		return ""
	case to >= l.len():
		return l.raw[l.starts[from]:]
	}
	return l.raw[l.starts[from]:l.starts[to]]
}

// appendEntry appends an entry as a tree object stores it.
func appendEntry(b []byte, e Entry) ([]byte, error) {
	if !e.OID.IsValid() {
		return nil, e.OID.Check()
	}
	b = append(append(append(b, e.Mode...), ' '), e.Name...)
	return hex.AppendDecode(append(b, 0), []byte(e.OID))
}
