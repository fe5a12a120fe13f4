//go:build !unix

package repo

import "os"

// mappings maps nothing where there is no mmap.
type mappings struct{}

// readFile reads a file.
func (*mappings) readFile(file string) ([]byte, error) { return os.ReadFile(file) }
