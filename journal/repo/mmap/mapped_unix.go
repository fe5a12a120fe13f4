//go:build unix

// Package mmap maps files into memory.
package mmap

import (
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// Files are the memory-mapped files by name. Mapped bytes may be used as long as the
// process lives, so no file is unmapped, and an unchanged file is not mapped again. The
// zero value is ready.
type Files struct {
	sync.Mutex
	files map[string]mapping
}

type mapping struct {
	info fs.FileInfo
	b    []byte
}

// Read maps a file, so that only the pages that are used are read.
func (m *Files) Read(file string) ([]byte, error) {
	h, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	m.Lock()
	defer m.Unlock()
	if had, ok := m.files[file]; ok && os.SameFile(had.info, info) && had.info.ModTime().Equal(info.ModTime()) && had.info.Size() == info.Size() {
		return had.b, nil
	}
	b, err := syscall.Mmap(int(h.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err == nil && m.files == nil {
		m.files = map[string]mapping{}
	}
	if err == nil {
		m.files[file] = mapping{info, b}
	}
	return b, err
}
