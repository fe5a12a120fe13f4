package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/okf"
)

// cloneState is what odd drain meets in this clone and no commit tells.
type cloneState struct {
	dirty    []string // paths of the bundle and odd.toml with edits that are not committed
	unmerged []string // paths that git has in conflict
	killed   []string // runs whose process is gone
}

// readClone returns the state of this clone, whose bundle is at root.
func (w *workspace) readClone(ctx context.Context, root string) (here cloneState, err error) {
	merge := sync.OnceValue(func() []string { return w.repo.Unmerged(ctx) })
	go merge()
	if here.dirty, err = w.repo.Dirty(ctx, root, "odd.toml"); err != nil {
		return here, err
	}
	here.unmerged = merge()
	here.killed, err = w.repo.KilledRuns()
	return here, err
}

// untilWhen says of a run that was killed who frees its task, and otherwise what the board says.
func (c cloneState) untilWhen(run, says string) string {
	if slices.Contains(c.killed, run) {
		return "killed; the next odd drain frees it"
	}
	return says
}

// nextOfMerge says how to finish a merge, "" where none is unfinished.
func (c cloneState) nextOfMerge() string {
	if len(c.unmerged) == 0 {
		return ""
	}
	return fmt.Sprintf("a git merge is not finished: resolve the conflict in %s, then git add and git commit; or git merge --abort", firstOf(c.unmerged))
}

// firstOf names the first path and counts the others.
func firstOf(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
}

// nextAct returns what a person does next, the first of: finish a merge, lift a pause, answer
// an emergency, mend the lease, commit to a draft, answer what is high, review, drain, put
// work on the board.
func nextAct(l leaseJSON, loop drain.SlowLoop, paused bool, tasks firstTasks, here cloneState) string {
	return cmp.Or(here.nextOfMerge(), nextOfLoop(l, loop, paused), tasks.next(here))
}

func nextOfLoop(l leaseJSON, loop drain.SlowLoop, paused bool) string {
	open := loop.Buffer.Open()
	switch {
	case paused:
		return "odd drain resume lets tasks run again"
	case loop.Facts.OpenEmergency != "":
		return fmt.Sprintf("an emergency is reported: odd gate proposals reject %[1]s --reason \"WHY\" if it is none; else odd gate emergency --because %[1]s (odd help gate emergency shows what else it asks for)", loop.Facts.OpenEmergency)
	case l.Required && !l.Verdict.Valid:
		return l.Verdict.Way
	case l.Required && l.State == gate.Draft:
		return "odd gate commitment activates the lease; until then only research tasks run"
	case l.State == gate.Draft:
		return "odd gate commitment activates the lease " + l.ID
	case len(open) > 0 && (open[0].Severity == gate.High || l.Required):
		return fmt.Sprintf("odd gate proposals show %s: %s", open[0].ID, open[0].Reason)
	}
	return ""
}

// firstTasks are the first task of each state, in the order in which odd drain takes them.
type firstTasks struct {
	First map[board.State]okf.ID
	Again bool       // the first blocked one was interrupted, so that nothing is to be mended
	Held  []heldTask // all in progress

	refused string // why odd drain would refuse the first ready one
}

// heldTask is a task in progress, its run and until when that has it.
type heldTask struct{ Task, Run, Until string }

func firstOfRows(rows []*board.Row) firstTasks {
	waits, f := map[board.State][]*board.Row{}, firstTasks{First: map[board.State]okf.ID{}}
	for _, t := range rows {
		waits[t.State] = append(waits[t.State], t)
		if t.State == board.InProgress {
			f.Held = append(f.Held, heldTask{string(t.ID), t.ClaimedBy, t.LeaseExpires.Format("15:04:05Z07:00")})
		}
	}
	index := board.IndexOf(rows)
	for state, of := range waits {
		first := board.Order(of, index)[0]
		f.First[state] = first.ID
		if state == board.Blocked {
			f.Again = wasInterrupted(first)
		}
	}
	return f
}

// wasInterrupted reports a task that a person or a sleeping computer broke off.
func wasInterrupted(t *board.Row) bool {
	return strings.HasSuffix(t.BlockedReason, fmt.Sprintf("; run odd task ready %s to try again", t.ID)) &&
		slices.ContainsFunc([]string{"interrupted;", "cancelled by ", "the computer slept "}, func(how string) bool { return strings.HasPrefix(t.BlockedReason, how) })
}

// passedCache keeps the commit at which odd drain would not refuse the first ready task.
const passedCache = "passed"

// findRefusal learns why odd drain would refuse the first ready task. It reads the knowledge, and so once for a commit
// at which nothing is refused.
func (v *view) findRefusal(ctx context.Context, f *firstTasks, dirty []string) {
	id, key := f.First[board.Ready], oddVersion()+" "+string(v.tip)
	if id == "" || len(dirty) > 0 || string(v.repo.Cached(passedCache)) == key {
		return
	}
	t, err := v.findTask(string(id))
	if err != nil {
		return // odd drain tells
	}
	if f.refused = strings.Join(v.preflightTask(ctx, t), "; "); f.refused == "" {
		_ = v.repo.Keep(passedCache, []byte(key)) // the next one asks again
	}
}

// next returns the command for the first task that waits for a person, or for odd drain, and
// before odd drain what it would refuse in this clone; "" where tasks are in progress and no other waits.
func (f firstTasks) next(here cloneState) string {
	drains := ""
	if f.First[board.Ready] != "" {
		drains = "odd drain works on the ready tasks"
	}
	if f.refused != "" {
		drains = fmt.Sprintf("odd drain would refuse %s: %s", f.First[board.Ready], f.refused)
	}
	for _, h := range f.Held {
		if slices.Contains(here.killed, h.Run) {
			drains = fmt.Sprintf("odd drain frees %s, whose run was killed, and works on the ready tasks", h.Task)
			break
		}
	}
	if drains != "" && len(here.dirty) > 0 {
		drains = fmt.Sprintf("git add and git commit %s, or git stash -u; then %s", firstOf(here.dirty), drains)
	}
	review, blocked, backlog := f.First[board.Review], f.First[board.Blocked], f.First[board.Backlog]
	switch {
	case review != "":
		return fmt.Sprintf("odd review %[1]s shows the proposal; then odd approve %[1]s, or odd reject %[1]s --reason \"WHY\"", review)
	case drains != "":
		return drains
	case blocked != "" && f.Again:
		return fmt.Sprintf("odd task ready %s, then odd drain: its run was interrupted, and there is nothing to mend", blocked)
	case blocked != "":
		return fmt.Sprintf("odd task show %[1]s says why it is blocked; mend that and commit, then odd task ready %[1]s and odd drain", blocked)
	case backlog != "":
		return fmt.Sprintf("odd task ready %s marks it ready, so that odd drain works on it", backlog)
	case len(f.Held) > 0:
		return ""
	}
	return "odd task add \"TITLE\" adds the next task"
}
