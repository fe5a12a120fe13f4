package testscripts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// strikes are the ways in which force falls on a process.
const (
	kill   = "kill"    // SIGKILL, to odd alone
	felled = "kill -g" // SIGKILL, to odd and all it started, as when a session of a machine ends
	halted = "stop"    // SIGSTOP, hours pass, SIGCONT
	frozen = "stop -g" // the same, to all it started too
)

// instant is when a strike falls: after a while, or once the repository has been
// seen to change so many times, and a moment after that.
type instant struct {
	after   time.Duration
	changes int // 0: whatever changes
}

func (i instant) String() string {
	if i.changes > 0 {
		return fmt.Sprintf("at change %d + %s", i.changes, i.after)
	}
	return "after " + i.after.String()
}

// pace is what a blow's act takes when it is left alone.
type pace struct {
	whole   time.Duration
	changes int
}

// draw is an instant of an act: half of them anywhere in its time, half at a
// boundary, when something in the repository has just become another.
func (w *world) draw(p pace) instant {
	if p.changes > 0 && w.rnd.IntN(2) == 0 {
		return instant{time.Duration(w.rnd.IntN(1500)) * time.Microsecond, 1 + w.rnd.IntN(p.changes)}
	}
	return instant{time.Duration(w.rnd.Int64N(int64(p.whole))), 0}
}

// wait returns when the instant has come, or false when p ended before it.
func (w *world) wait(p *proc, i instant) bool {
	if i.changes > 0 {
		n := 0
		if was := w.pulse(); !w.watch(p, &was, func() bool { n++; return n == i.changes }) {
			return false
		}
	}
	select {
	case <-p.done:
		return false
	case <-time.After(i.after):
		return true
	}
}

// watch calls changed whenever the pulse has changed, until it says enough.
func (w *world) watch(p *proc, was *string, changed func() bool) bool {
	for {
		select {
		case <-p.done:
			return false
		case <-time.After(100 * time.Microsecond):
		}
		if now := w.pulse(); now != *was {
			if *was = now; changed() {
				return true
			}
		}
	}
}

// pulse is another whenever a file odd or git moves the state of a repository by
// has come, gone or been written: refs, indexes, locks, markers, desks, anchors.
func (w *world) pulse() string {
	var b strings.Builder
	for _, clone := range append(w.clones(), "hub.git") {
		git := filepath.Join(w.home, clone, ".git")
		if clone == "hub.git" {
			git = filepath.Join(w.home, clone)
		}
		for _, dir := range []string{"", "refs/heads", "refs/heads/odd/review", "refs/odd/run", "refs/odd/base", "refs/remotes/origin",
			"odd", "odd/sync", "odd/tmp", "worktrees", "../.hestai/sessions/pending", "../.hestai/sessions/active", "../knowledge/tasks"} {
			if st, err := os.Stat(filepath.Join(git, dir)); err == nil {
				fmt.Fprint(&b, st.ModTime().UnixNano(), " ")
			}
		}
	}
	return b.String()
}

// measured runs an act unharmed and says what it took.
func (w *world) measured(a act) pace {
	began, n := time.Now(), 0
	p := w.begun(a)
	was := w.pulse()
	w.watch(p, &was, func() bool { n++; return false })
	took := time.Since(began)
	w.ended(p)
	return pace{max(took, time.Millisecond), n}
}

// strike lets a strike of a kind fall on p at an instant. meanwhile is what
// others do while a stopped process stands.
func (w *world) strike(p *proc, kind string, i instant, meanwhile func()) {
	if !w.wait(p, i) {
		return
	}
	pid := p.cmd.Process.Pid
	whole := kind == felled || kind == frozen
	w.struck++
	w.story = append(w.story, fmt.Sprintf("-- %s %s: %s", kind, strings.Join(p.argv, " "), i))
	if kind == kill || kind == felled {
		p.hit = true
		end(pid, whole)
		return
	}
	stopped := still(pid, whole)
	meanwhile()
	for _, n := range slices.Backward(stopped) {
		_ = syscall.Kill(n, syscall.SIGCONT)
	}
}

// end kills a process, and with whole all below it: nothing of it runs on.
func end(pid int, whole bool) {
	for _, n := range still(pid, whole) {
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
}

// still stops a process, and with whole all below it, until no more are begun.
// What runs on the other side of a remote is another machine, and goes on.
func still(pid int, whole bool) []int {
	pids := []int{pid}
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	for whole {
		more := children(pids)
		if len(more) == 0 {
			break
		}
		for _, p := range more {
			_ = syscall.Kill(p, syscall.SIGSTOP)
		}
		pids = append(pids, more...)
	}
	return pids
}

// children are the processes that those of pids have started, and are not among them.
func children(pids []int) (found []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		b, err := os.ReadFile(name)
		_, rest, ok := strings.Cut(string(b), ") ")
		f := strings.Fields(rest)
		if err != nil || !ok || len(f) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parent, _ := strconv.Atoi(f[1])
		if slices.Contains(pids, parent) && !slices.Contains(pids, pid) && !far(pid) {
			found = append(found, pid)
		}
	}
	return found
}

// far reports a process of the other side of a remote.
func far(pid int) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.Contains(string(b), "receive-pack") || strings.Contains(string(b), "upload-pack")
}
