//go:build !linux

package console

import (
	"os"

	"golang.org/x/sys/unix"
)

// parentPrograms returns the names of the programs that this process was started from, the nearest
// first. Their arguments are not read, so that the script of an interpreter is not known.
func parentPrograms() []string {
	var out []string
	for pid := os.Getppid(); pid > 1; {
		p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		if err != nil {
			break
		}
		out = append(out, unix.ByteSliceToString(p.Proc.P_comm[:]))
		pid = int(p.Eproc.Ppid)
	}
	return out
}
