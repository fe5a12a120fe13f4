//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import "golang.org/x/sys/unix"

// beneath is what only Linux has.
func beneath(int, string) (int, error) { return 0, unix.ENOSYS }
