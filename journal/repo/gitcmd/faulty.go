package gitcmd

import (
	"errors"
	"slices"
	"strings"
	"syscall"
)

// diskFaults are the errors of a disk that is full, over quota, read-only or failing.
var diskFaults = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EIO}

// gitCannotWrite are git's messages for a failed write that do not say why.
var gitCannotWrite = []string{"couldn't write ", "couldn't set ", "failed to write new configuration file", "unable to create directory ", "unable to write ", "write error"}

// Faulty reports whether err, odd's own or git's, is the disk's fault, so that the same operation would succeed
// with a working disk. It recognises git's errors by the text of strerror(3) and the messages above.
func Faulty(err error) bool {
	if err == nil {
		return false
	}
	text := strings.ToLower(err.Error())
	says := func(s string) bool { return strings.Contains(text, s) }
	if errors.As(err, new(*Error)) && slices.ContainsFunc(gitCannotWrite, says) {
		return true
	}
	return slices.ContainsFunc(diskFaults, func(e syscall.Errno) bool {
		return errors.Is(err, e) || says(e.Error())
	})
}
