//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import "golang.org/x/sys/unix"

// openBeneath fails: only Linux has openat2.
func openBeneath(int, string) (int, error) { return 0, unix.ENOSYS }
