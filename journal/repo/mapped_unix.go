//go:build unix

package repo

import (
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// mapped are the files that this process has mapped, by name. What was read of
// a mapping is used for as long as the process lives, so that none is undone,
// and a file that is still the same is not mapped again.
var mapped = struct {
	sync.Mutex
	files map[string]mapping
}{files: map[string]mapping{}}

type mapping struct {
	info fs.FileInfo
	b    []byte
}

// readMapped is a file's bytes as the kernel has them: of a long file only what
// is looked at is read.
func readMapped(file string) ([]byte, error) {
	h, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	mapped.Lock()
	defer mapped.Unlock()
	if m, ok := mapped.files[file]; ok && os.SameFile(m.info, info) && m.info.ModTime().Equal(info.ModTime()) && m.info.Size() == info.Size() {
		return m.b, nil
	}
	b, err := syscall.Mmap(int(h.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err == nil {
		mapped.files[file] = mapping{info, b}
	}
	return b, err
}
