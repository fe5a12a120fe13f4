package cage

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// newNetNS returns the attributes of a keeper in a network of its own. A user namespace
// lets a user who is not root make one: in it there is this user and this group,
// under their own numbers, so that files belong to whom they belong. The one right
// that the keeper takes along is to raise lo.
func newNetNS() *syscall.SysProcAttr {
	one := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	}
	return &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWIPC, UidMappings: one(os.Geteuid()), GidMappings: one(os.Getegid()), AmbientCaps: []uintptr{unix.CAP_NET_ADMIN}}
}

// raiseLoopback makes the keeper's own network usable, while it still may; where it has
// none, or cannot, the program gets no network at all.
func (k *keeper) raiseLoopback() {
	var err error
	if k.Joined != "" {
		err = errors.New(k.Joined)
	} else {
		err = raiseLoopback()
	}
	if err != nil {
		k.Network = None
		k.held.Missing = append(k.held.Missing, "network: there is none, since this kernel gives no loopback of its own (user namespaces): "+err.Error())
	}
}

// raiseLoopback sets lo up; the kernel gives it its addresses then.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
