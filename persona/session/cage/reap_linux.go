package cage

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// stayUntilEnd waits until the program has ended, odd says over or there are too many
// processes, ends what is left, and reports how the program ended.
func (k *keeper) stayUntilEnd(pid int, over <-chan struct{}) int {
	ended := make(chan syscall.WaitStatus, 1)
	go func() { ended <- reapUntil(pid) }()
	var ws syscall.WaitStatus
	select {
	case ws = <-ended:
	case <-over:
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		ws = <-ended
	case <-k.Group.watchRefusals():
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		ws = <-ended
	}
	last := report{Ended: true, Left: endAll()}
	if k.Group.hasRefused() { // also where the program saw it first
		last.Why = fmt.Sprintf("it and what it started were more than %d processes; raise [sandbox] processes or start fewer", k.Limits.Processes)
	}
	if ws.Signaled() {
		last.Code, last.Signal = -1, ws.Signal().String()
	} else {
		last.Code = ws.ExitStatus()
	}
	_ = k.say.Encode(last)
	return 0
}

// reapUntil reaps children until the one with this pid has ended. Others are what
// has been left behind by their own parents.
func reapUntil(pid int) syscall.WaitStatus {
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		if got == pid || err == syscall.ECHILD {
			return ws
		}
	}
}

// endAll kills and reaps every descendant until there is none, and counts them.
// The children of one that is killed become the keeper's own, so none escapes;
// each round stops all before it kills any, so that none multiplies meanwhile.
// Where a round has killed something the uppermost of it is the keeper's own
// child, so one wait comes back.
func endAll() (n int) {
	for {
		got, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.ECHILD {
			return n
		}
		if got > 0 {
			n++
			continue
		}
		all, ok := descendants(os.Getpid())
		for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
			for _, pid := range all {
				_ = syscall.Kill(pid, signal)
			}
		}
		how := 0
		if len(all) == 0 {
			how = syscall.WNOHANG
		}
		for {
			got, err := syscall.Wait4(-1, nil, how, nil)
			if err == syscall.ECHILD || !ok {
				return n
			}
			if got > 0 {
				n++
			}
			if got == 0 {
				break
			}
			how = syscall.WNOHANG
		}
	}
}

// descendants are the living processes below a process, from the system's list;
// false where there is no list.
func descendants(root int) ([]int, bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	children := map[int][]int{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if parent, ok := parentOf(name); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	all := children[root]
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all, true
}

// parentOf reads the parent from /proc/PID/stat, whose second field, the
// program's name, may hold anything; a zombie has nothing left to end.
func parentOf(pid string) (int, bool) {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, false
	}
	text := string(b)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
		return 0, false
	}
	n, err := strconv.Atoi(fields[1])
	return n, err == nil
}
