//go:build !unix

package exec

import (
	"os"
	"os/exec"
)

// ownGroup does nothing where there are no process groups; only the program
// itself is killed there.
func ownGroup(*exec.Cmd) {}

func kill(p *os.Process) error { return p.Kill() }
