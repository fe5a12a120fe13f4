//go:build bench

package bench

import "syscall"

// peak is a process's largest memory in bytes; Linux counts it in kilobytes.
func peak(r *syscall.Rusage) int64 { return r.Maxrss * 1024 }
