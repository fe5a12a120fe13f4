//go:build unix

package exec

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup starts c as the leader of a process group.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends the whole group p leads. A group that is gone is no error.
func kill(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
