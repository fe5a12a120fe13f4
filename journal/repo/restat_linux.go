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
func (c *checkout) restat() bool {
	b := c.made
	if b == nil {
		var err error
		if b, err = os.ReadFile(c.index()); err != nil || !soundIndex(b) {
			return false
		}
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
	end, ok := eachEntry(b, func(name, e []byte) bool {
		ch, ok := want[string(name)]
		if !ok {
			return true
		}
		delete(want, ch.Path)
		return restatEntry(e, ch, filepath.Join(c.m.Root, filepath.FromSlash(ch.Path)))
	})
	if !ok || len(want) > 0 || bytes.HasPrefix(b[end:], []byte("link")) { // of a split index most entries are elsewhere
		return false
	}
	b = seal(b[:len(b)-sha1.Size])
	aside := c.index() + ".stat" // a disk that is full must not cost the index
	return os.WriteFile(aside, b, 0o666) == nil && os.Rename(aside, c.index()) == nil
}

// restatEntry sets the ctime of an entry whose file is the very one that git wrote.
func restatEntry(e []byte, ch Change, file string) bool {
	var st syscall.Stat_t
	if syscall.Lstat(file, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG || ch.NewMode == modeLink {
		return false
	}
	num := func(i int) uint32 { return binary.BigEndian.Uint32(e[4*i:]) }
	switch {
	case entryFlags(e)&flagStage != 0,
		hex.EncodeToString(e[40:40+sha1.Size]) != string(ch.New),
		num(2) != uint32(st.Mtim.Sec), num(3) != uint32(st.Mtim.Nsec),
		num(5) != uint32(st.Ino), num(9) != uint32(st.Size):
		return false
	}
	binary.BigEndian.PutUint32(e, uint32(st.Ctim.Sec))
	binary.BigEndian.PutUint32(e[4:], uint32(st.Ctim.Nsec))
	return true
}
