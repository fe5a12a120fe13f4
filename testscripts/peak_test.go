package testscripts

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the most memory a process that ended had, in KiB: what getrusage counts
// in on Linux, and in bytes on macOS.
func peak(p *os.ProcessState) int64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return int64(u.Maxrss) >> 10
	}
	return int64(u.Maxrss)
}
