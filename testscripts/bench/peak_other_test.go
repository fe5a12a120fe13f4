//go:build bench && unix && !linux

package bench

import "syscall"

// peak is a process's largest memory in bytes; BSD and macOS count it so.
func peak(r *syscall.Rusage) int64 { return r.Maxrss }
