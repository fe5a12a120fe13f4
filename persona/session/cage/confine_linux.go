package cage

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// confineThread takes rights from this thread, for good, and says what it could not
// take. The error is one that leaves it unclear what is held.
func (k *keeper) confineThread() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if k.Network == Loopback {
		k.raiseLoopback()
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	k.setLimits()
	k.enterGroup()
	if err := k.applyLandlock(); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	k.filterCalls()
	return nil
}

// filterCalls closes calls: those that make sockets, and others by which a program
// would act outside its places.
func (k *keeper) filterCalls() {
	f := filter{others: k.Network == Allow}
	switch k.Network {
	case None:
		f.families = []uint32{unix.AF_NETLINK}
	case Loopback:
		f.families = []uint32{unix.AF_NETLINK, unix.AF_INET, unix.AF_INET6}
	}
	shut := !k.Any && !k.Own && !k.held.Unix
	if shut == f.others { // AF_UNIX is one of the families iff it is closed under Allow, or open under the others
		f.families = append(f.families, unix.AF_UNIX)
	}
	f.pairs = shut
	err := errLacking
	if !slices.Contains(k.Without, Seccomp) {
		err = f.installFilter()
	}
	if err == nil {
		k.held.Sockets, k.held.Network, k.held.Unix = k.Network != Allow, k.Network, k.held.Unix || shut
		return
	}
	missing := func(what string) { k.held.Missing = append(k.held.Missing, what+": "+err.Error()) }
	if shut {
		missing("unix sockets outside can be reached by their path")
	}
	switch {
	case k.Network == Allow:
	case k.Network == Loopback:
		k.held.Network = Loopback
		missing("network: sockets of other kinds than the internet's are open")
	case k.held.Network == None:
		missing("network: only TCP is closed")
	default:
		k.held.Network = Allow
		missing("network: it cannot be closed")
	}
}

// dropCapabilities makes root a user like others; with no_new_privs no program
// that is started from here gets them back.
func dropCapabilities() error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&hdr, &none[0])
}

// setLimits sets the rlimits, never above those odd has itself.
func (k *keeper) setLimits() {
	k.held.Limits = true
	for _, l := range []struct {
		name string
		what int
		max  int64
		off  bool
	}{
		{"core", unix.RLIMIT_CORE, 0, false},
		{"the size of a file", unix.RLIMIT_FSIZE, k.Limits.File, k.Limits.File <= 0},
		{"processor time", unix.RLIMIT_CPU, int64(k.Limits.CPU.Seconds()), k.Limits.CPU <= 0},
		{"memory", unix.RLIMIT_DATA, k.Limits.Memory, k.Limits.Memory <= 0},
		{"open files", unix.RLIMIT_NOFILE, int64(k.Limits.Files), k.Limits.Files <= 0},
		{"processes", unix.RLIMIT_NPROC, int64(k.Limits.Processes), k.Limits.Processes <= 0},
	} {
		if l.off {
			continue
		}
		var now syscall.Rlimit
		err := syscall.Getrlimit(l.what, &now)
		if err == nil {
			max := min(uint64(l.max), now.Max)
			err = syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: max, Max: max})
		}
		if err != nil {
			k.held.Limits = false
			k.held.Missing = append(k.held.Missing, "limit on "+l.name+": "+err.Error())
		}
	}
}

// What a file may allow; the rest of the rights are a folder's.
const ofFiles = ll.AccessFSExecute | ll.AccessFSWriteFile | ll.AccessFSReadFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev | ll.AccessFSResolveUnix

const (
	toRead   = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	toDevice = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	// toWrite is everything but to make devices and to command them.
	toWrite = 1<<17 - 1 - ll.AccessFSMakeBlock - ll.AccessFSMakeChar - ll.AccessFSIoctlDev
)

// knownRights returns the rights over files that an ABI knows.
func knownRights(abi int) uint64 {
	switch {
	case abi >= 9:
		return 1<<17 - 1
	case abi >= 5:
		return 1<<16 - 1
	case abi >= 3:
		return 1<<15 - 1
	case abi == 2:
		return 1<<14 - 1
	}
	return 1<<13 - 1
}

// applyLandlock confines this thread to the places of the spec.
func (k *keeper) applyLandlock() error {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 1 || slices.Contains(k.Without, Landlock) {
		k.held.Missing = append(k.held.Missing, "files: this kernel has no Landlock, or it is not enabled")
		return nil
	}
	attr := k.handledRights(abi)
	set, err := ll.LandlockCreateRuleset(&attr, 0)
	if err != nil {
		return err
	}
	defer unix.Close(set)
	for rights, places := range map[uint64][]string{toRead: k.Read, toWrite: k.Write, toDevice: k.Devices} {
		for _, at := range places {
			if err := addPathRule(set, at, rights&attr.HandledAccessFS); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
		}
	}
	if err := ll.LandlockRestrictSelf(set, 0); err != nil {
		return err
	}
	k.held.Landlock = abi
	if abi < 3 {
		k.held.Missing = append(k.held.Missing, "files: this kernel lets them be cut to nothing anywhere (truncate, Landlock ABI 3)")
	}
	return nil
}

// handledRights returns the rights that an ABI can take away and that the spec wants taken; what
// no rule gives back is gone. From 4 on it knows TCP, from 6 signals and abstract
// sockets, from 9 sockets that are files, from 10 UDP.
func (k *keeper) handledRights(abi int) ll.RulesetAttr {
	attr := ll.RulesetAttr{HandledAccessFS: knownRights(abi)}
	if k.Network == None && abi >= 4 {
		attr.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
		if abi >= 10 {
			attr.HandledAccessNet |= ll.AccessNetBindUDP | ll.AccessNetConnectSendUDP
		}
		k.held.Network = None
	}
	switch {
	case abi < 9:
	case k.Any:
		attr.HandledAccessFS &^= ll.AccessFSResolveUnix
	default:
		k.held.Unix = true
	}
	if abi >= 6 {
		attr.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
		k.held.Signals = true
	}
	return attr
}

// addPathRule adds a rule for a place. One that is not there needs none.
func addPathRule(set int, at string, rights uint64) error {
	fd, err := unix.Open(at, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	return ll.LandlockAddPathBeneathRule(set, &ll.PathBeneathAttr{AllowedAccess: rights, ParentFd: fd}, 0)
}
