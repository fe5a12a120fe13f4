//go:build !unix

package repo

import "os"

// readMapped is a file's bytes.
func readMapped(file string) ([]byte, error) { return os.ReadFile(file) }
