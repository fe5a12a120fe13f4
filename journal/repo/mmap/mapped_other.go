//go:build !unix

package mmap

import "os"

// Files maps nothing where there is no mmap.
type Files struct{}

// Read reads a file.
func (*Files) Read(file string) ([]byte, error) { return os.ReadFile(file) }
