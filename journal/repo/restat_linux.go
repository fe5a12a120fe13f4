package repo

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"syscall"
)

// restat is refresh without git, for files that were only renamed since git wrote
// the scratch index: all that changed of them is ctime. false is for anything
// else: the index is then as it was, and git does it.
//
// The format is that of gitformat-index, versions 2 and 3.
func (c *checkout) restat() bool {
	b, err := os.ReadFile(c.index())
	if err != nil || !soundIndex(b) {
		return false
	}
	want := map[string]Change{}
	for _, ch := range c.changes {
		if ch.NewMode == modeRepo || len(ch.New) > 40 {
			return false
		}
		if ch.NewMode != "" {
			want[ch.Path] = ch
		}
	}
	end, ok := eachEntry(b, func(name string, e []byte) bool {
		ch, ok := want[name]
		delete(want, name)
		return !ok || restatEntry(e, ch, filepath.Join(c.m.Root, filepath.FromSlash(name)))
	})
	if !ok || len(want) > 0 || bytes.HasPrefix(b[end:], []byte("link")) { // of a split index most entries are elsewhere
		return false
	}
	sum := sha1.Sum(b[:len(b)-sha1.Size])
	copy(b[len(b)-sha1.Size:], sum[:])
	aside := c.index() + ".stat" // a disk that is full must not cost the index
	return os.WriteFile(aside, b, 0o666) == nil && os.Rename(aside, c.index()) == nil
}

// soundIndex reports an index whose entries restat can read and whose checksum holds.
func soundIndex(b []byte) bool {
	if len(b) < 12+sha1.Size || string(b[:4]) != "DIRC" {
		return false
	}
	if v := binary.BigEndian.Uint32(b[4:]); v != 2 && v != 3 {
		return false
	}
	sum := sha1.Sum(b[:len(b)-sha1.Size])
	return bytes.Equal(sum[:], b[len(b)-sha1.Size:])
}

// entryFixed is the length of an entry's fixed part: ten numbers of stat, an id, flags.
const entryFixed = 10*4 + sha1.Size + 2

// eachEntry calls visit with every entry's name and fixed part, until it says no,
// and returns where the entries end.
func eachEntry(b []byte, visit func(name string, fixed []byte) bool) (end int, ok bool) {
	at, last := 12, len(b)-sha1.Size
	for range binary.BigEndian.Uint32(b[8:]) {
		head := entryFixed
		if at+head+2 > last {
			return at, false
		}
		if b[at+entryFixed-2]&0x40 != 0 { // extended flags follow
			head += 2
		}
		n := bytes.IndexByte(b[at+head:last], 0)
		if n < 0 {
			return at, false
		}
		if !visit(string(b[at+head:at+head+n]), b[at:at+entryFixed]) {
			return at, false
		}
		at += (head + n + 8) &^ 7 // one to eight NULs fill it up
		if at > last {
			return at, false
		}
	}
	return at, true
}

// restatEntry sets the ctime of an entry whose file is the very one that git wrote.
func restatEntry(e []byte, ch Change, file string) bool {
	var st syscall.Stat_t
	if syscall.Lstat(file, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG || ch.NewMode == modeLink {
		return false
	}
	num := func(i int) uint32 { return binary.BigEndian.Uint32(e[4*i:]) }
	const merged = 0x3000 // the stage bits of the flags
	switch {
	case binary.BigEndian.Uint16(e[entryFixed-2:])&merged != 0,
		hex.EncodeToString(e[40:40+sha1.Size]) != string(ch.New),
		num(2) != uint32(st.Mtim.Sec), num(3) != uint32(st.Mtim.Nsec),
		num(5) != uint32(st.Ino), num(9) != uint32(st.Size):
		return false
	}
	binary.BigEndian.PutUint32(e, uint32(st.Ctim.Sec))
	binary.BigEndian.PutUint32(e[4:], uint32(st.Ctim.Nsec))
	return true
}
