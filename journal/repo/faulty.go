package repo

import (
	"errors"
	"slices"
	"strings"
	"syscall"
)

// diskFaults are what a disk says of itself: it is full, for everybody or for this
// user or this file, it may not be written, or it fails.
var diskFaults = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EIO}

// gitCannotWrite is how git says that it could not write, where it does not say why.
var gitCannotWrite = []string{"couldn't write ", "couldn't set ", "failed to write new configuration file", "unable to create directory ", "unable to write ", "write error"}

// Faulty reports an error that is the disk's fault, odd's own or git's: with room,
// or another disk, the same thing goes well. Git tells by the text of strerror(3), or
// by less.
func Faulty(err error) bool {
	if err == nil {
		return false
	}
	text := strings.ToLower(err.Error())
	says := func(s string) bool { return strings.Contains(text, s) }
	if errors.As(err, new(*gitError)) && slices.ContainsFunc(gitCannotWrite, says) {
		return true
	}
	return slices.ContainsFunc(diskFaults, func(e syscall.Errno) bool {
		return errors.Is(err, e) || says(e.Error())
	})
}
