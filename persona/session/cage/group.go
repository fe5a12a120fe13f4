package cage

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// ownSession starts c as the leader of a session, and so of a process group,
// that has no terminal.
func ownSession(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setsid = true
}

// killGroup ends the whole group p leads. A group that is gone is no error.
func killGroup(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// diskUse returns how much of the disk a file takes; a sparse one takes less than its size.
func diskUse(st fs.FileInfo) int64 {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return st.Size()
}
