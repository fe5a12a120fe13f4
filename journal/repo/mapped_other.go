//go:build !unix

package repo

import "os"

// mappings maps nothing where there is no mmap.
type mappings struct{}

// read is a file's bytes.
func (*mappings) readFile(file string) ([]byte, error) { return os.ReadFile(file) }
