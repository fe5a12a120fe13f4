package start

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/cmd/internal/approval"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/governance"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/cmd/internal/tasks"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session/cage"
)

// cloneState is what odd drain meets in this clone and no commit tells.
type cloneState struct {
	dirty    []string // paths of the bundle and odd.toml with edits that are not committed
	unmerged []string // paths that git has in conflict
	killed   []string // runs whose process is gone
}

func readClone(ctx context.Context, r *repo.Repo, root string) (here cloneState, err error) {
	merge := sync.OnceValue(func() []string { return r.Unmerged(ctx) })
	go merge()
	if here.dirty, err = r.Dirty(ctx, root, "odd.toml"); err != nil {
		return here, err
	}
	here.unmerged = merge()
	here.killed, err = r.KilledRuns()
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
	return fmt.Sprintf("a git merge is not finished: resolve the conflict in %s, then git add and git commit; git status says how to undo it instead", console.FirstOf(c.unmerged))
}

// findNextAct returns nextAct on a board with these first tasks and these in review.
func findNextAct(ctx context.Context, v *workspace.Board, first firstTasks, review []string, here cloneState) (next string, loop overview.SlowLoop, err error) {
	if loop, err = governance.SlowLoopOf(v, here.dirty); err != nil {
		return "", loop, err
	}
	findRefusal(ctx, v, &first, here.dirty)
	first.findDecided(v, review)
	_, paused := board.ReadPause(v.Bundle, "pause.toml")
	return nextAct(governance.ReadLease(v, loop), loop, paused, first, here), loop, nil
}

// nextAct returns what a person does next, the first of: finish a merge, lift a pause, answer
// an emergency, mend the lease, commit to a draft, answer what is high, review, drain, put
// work on the board.
func nextAct(l governance.LeaseJSON, loop overview.SlowLoop, paused bool, tasks firstTasks, here cloneState) string {
	return cmp.Or(here.nextOfMerge(), nextOfLoop(l, loop, paused), tasks.next(here))
}

func nextOfLoop(l governance.LeaseJSON, loop overview.SlowLoop, paused bool) string {
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

	refused        string // why odd drain would refuse the first ready one
	decided, atoms int    // of the first one in review, in odd review --each
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
func findRefusal(ctx context.Context, v *workspace.Board, f *firstTasks, dirty []string) {
	id, key := f.First[board.Ready], console.Version()+" "+string(v.Tip)
	if id == "" || len(dirty) > 0 || string(v.Repo.Cached(passedCache)) == key {
		return
	}
	t, err := v.FindTask(string(id))
	if err != nil {
		return // odd drain tells
	}
	if f.refused = strings.Join(tasks.PreflightTask(ctx, v, t), "; "); f.refused == "" {
		_ = v.Repo.Keep(passedCache, []byte(key)) // the next one asks again
	}
}

// findDecided takes the first of the tasks in review about whose atoms the person decided, in odd review --each.
func (f *firstTasks) findDecided(v *workspace.Board, review []string) {
	for _, id := range review {
		if f.decided, f.atoms = approval.CountDecided(v, okf.ID(id)); f.decided > 0 {
			f.First[board.Review] = okf.ID(id)
			return
		}
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
		drains = fmt.Sprintf("git add and git commit %s; then %s", console.FirstOf(here.dirty), drains)
	}
	review, blocked, backlog := f.First[board.Review], f.First[board.Blocked], f.First[board.Backlog]
	switch {
	case f.decided > 0 && f.decided == f.atoms:
		return fmt.Sprintf("odd approve %[1]s takes what you decided in odd review %[1]s --each", review)
	case f.decided > 0:
		return fmt.Sprintf("odd review %s --each goes on: %d of %s decided", review, f.decided, console.CountNoun(f.atoms, "atom"))
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

// taskSummary is what odd status --json says of the tasks.
type taskSummary struct {
	Tasks     map[board.State]int `json:"tasks"`
	Review    []string            `json:"review,omitempty"`
	Direction *board.Direction    `json:"direction,omitempty"` // nil without goals
}

// tasksRecord is all that odd status says of the tasks and of the drift of a commit. A clone
// keeps that of the last one; without it odd status misses its target of 60 ms for 10,000
// tasks.
type tasksRecord struct {
	Odd     string
	Tip     repo.OID
	Blocked []string // each blocked task, and why
	Unread  int      // files that cannot be read as tasks
	Waits   firstTasks
	Drift   driftCount
	taskSummary
}

const tasksCache = "tasks.3" // its number goes up with its fields

// summarizeTasks returns what there is to say of the tasks and of the drift; dirty are the paths
// with edits that are not committed.
func summarizeTasks(v *workspace.Board, dirty []string) (tasksRecord, error) {
	var known tasksRecord
	if len(dirty) == 0 && json.Unmarshal(v.Repo.Cached(tasksCache), &known) == nil && known.Odd == console.Version() && known.Tip == v.Tip {
		return known, nil
	}
	now := tasksRecord{Odd: console.Version(), Tip: v.Tip, taskSummary: taskSummary{Tasks: v.CountStates()}, Drift: countDrift(v)}
	now.nameTasks(v.TaskRows())
	now.Unread, now.Waits, now.Direction = len(v.UnreadProblems()), firstOfRows(v.TaskRows()), board.DirectionOf(v.Graph, v.TaskRows())
	if len(dirty) > 0 {
		return now, nil
	}
	b, err := json.Marshal(now)
	if err == nil {
		_ = v.Repo.Keep(tasksCache, b) // the next one reads the tasks again
	}
	return now, err
}

// nameTasks names the tasks that wait for a person or are blocked.
func (s *tasksRecord) nameTasks(tasks []*board.Row) {
	for _, t := range tasks {
		switch t.State {
		case board.Review:
			s.Review = append(s.Review, string(t.ID))
		case board.Blocked:
			s.Blocked = append(s.Blocked, string(t.ID)+": "+layout.Clip(console.Cell(t.BlockedReason), mostReason))
		}
	}
}

// driftCount are the sources of atoms that no longer say what was read: of files that are
// gone, and of files that have another text.
type driftCount struct {
	Gone    int `json:"gone"`
	Changed int `json:"changed"`
}

func (d driftCount) String() string {
	var parts []string
	if d.Gone > 0 {
		parts = append(parts, console.CountNoun(d.Gone, "source")+" gone")
	}
	switch {
	case d.Changed > 0 && d.Gone > 0:
		parts = append(parts, fmt.Sprintf("%d changed", d.Changed))
	case d.Changed > 0:
		parts = append(parts, console.CountNoun(d.Changed, "source")+" changed")
	}
	return strings.Join(parts, ", ")
}

// countDrift counts the drifted sources of the board's commit. Edits that are not committed
// count where they are of atoms.
func countDrift(v *workspace.Board) (n driftCount) {
	for _, d := range okf.Drifted(v.Graph, v.Files, nil) {
		switch {
		case d.Lost && d.Gone:
			n.Gone++
		case d.Lost, d.Replaced():
			n.Changed++
		}
	}
	return n
}

// sandboxStatus is what odd status --sandbox --json prints: what the configuration
// asks for, and what this machine was seen to do.
type sandboxStatus struct {
	System       string       `json:"system"`
	Enforce      string       `json:"enforce"`
	Network      string       `json:"network"`
	CheckNetwork string       `json:"check_network"`
	Read         []string     `json:"read,omitempty"`
	Write        []string     `json:"write,omitempty"`
	Held         cage.Held    `json:"held"`
	Trials       []cage.Trial `json:"trials"`
	Loopback     string       `json:"loopback"`        // "own", or why a program gets none
	Fault        string       `json:"fault,omitempty"` // why nothing could be tried
	Sessions     string       `json:"sessions"`        // "start" or "refused"
}

// runSandbox tells what the kernel holds of a program, by starting one that tries.
func runSandbox(ctx context.Context, env console.Env, asJSON bool) error {
	v, err := workspace.OpenCurrent(ctx, env)
	if err != nil {
		return err
	}
	held, err := agent.Hold(env.Cage, v.Config.Sandbox, v.Repo.CommonDir())
	if err != nil {
		return err
	}
	s := sandboxStatus{System: runtime.GOOS + "/" + runtime.GOARCH, Enforce: v.Config.Sandbox.Enforce, Network: v.Config.Sandbox.Network, CheckNetwork: v.Config.Sandbox.CheckNetwork, Read: v.Config.Sandbox.Read, Write: v.Config.Sandbox.Write, Sessions: "start"}
	tried, err := held.Try(ctx, env.Temp)
	if err != nil {
		s.Fault = err.Error()
	}
	s.Held, s.Trials, s.Loopback = tried.Held, tried.Trials, cmp.Or(s.Fault, tried.Loopback, "own")
	if agent.Demand(ctx, held, env.Temp, v.Config.Sandbox) != nil {
		s.Sessions = "refused"
	}
	return console.Show(env, asJSON, s, s.sandboxRows()...)
}

const onLoopback = "with network loopback: servers"

// sandboxRows returns what, whether it is held, and what the kernel said.
func (s sandboxStatus) sandboxRows() [][]string {
	on := "on"
	if s.Held.String() == "none" {
		on = "off"
	}
	rows := [][]string{
		{"sandbox", on, s.System + ": " + s.Held.String()},
		{"enforce", s.Enforce, map[string]string{"start": "agents may start", "refused": "agents are refused: this machine cannot do what [sandbox] enforce asks"}[s.Sessions]},
		{"network", "agents: " + s.Network + ", checks: " + s.CheckNetwork, "as odd.toml sets it; the rows that begin with a network tell what this machine does for that setting"},
	}
	if s.Fault != "" {
		rows = append(rows, []string{"tried", "nothing could be tried", s.Fault})
	} else {
		row := []string{onLoopback, "own", "a program can connect to its own servers on 127.0.0.1, not to those of other programs"}
		if s.Loopback != "own" {
			row = []string{onLoopback, "shared", s.Loopback}
		}
		rows = append(rows, row)
	}
	for _, t := range s.Trials {
		word := "ALLOWED"
		if t.Held {
			word = "blocked"
		}
		rows = append(rows, []string{t.What, word, t.Detail})
	}
	if len(s.Held.Missing) > 0 {
		rows = append(rows, []string{"missing", strings.Join(s.Held.Missing, "; "), ""})
	}
	return rows
}

// NextStep says, for the end of odd help, which command comes next in the folder of
// env. It writes nothing, never fails and takes a second at most: odd status tells what
// it could not read.
func NextStep(env console.Env) string {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	next := make(chan string, 1)
	go func() { next <- findNextStep(ctx, env) }() // a file that cannot be read in time is not waited for
	select {
	case s := <-next:
		return s
	case <-ctx.Done():
		return "odd status shows what is wrong here"
	}
}

func findNextStep(ctx context.Context, env console.Env) string {
	env.Stderr = io.Discard
	w, err := workspace.Look(env)
	switch _, reason := verb.Status(err); {
	case reason == "no-repository":
		return "odd demo makes a sample repository to try; or, in a git repository of yours, odd init"
	case reason == "no-config":
		return "odd init sets odd up in this repository"
	case err != nil:
		return "odd status shows what is wrong here"
	}
	w.TasksOnly = true
	next, err := nextCommand(ctx, w)
	if err != nil {
		return "odd status shows what is wrong here"
	}
	return next
}

// nextCommand returns what a person does next on this board; where nothing waits for one,
// what odd can do.
func nextCommand(ctx context.Context, w *workspace.Clone) (string, error) {
	v, err := w.ReadCurrent(ctx)
	if err != nil {
		return "", err
	}
	here, err := readClone(ctx, w.Repo, v.Config.Root)
	if err != nil {
		return "", err
	}
	var waiting []string
	for _, row := range v.InReview() {
		waiting = append(waiting, string(row.ID))
	}
	next, _, err := findNextAct(ctx, v, firstOfRows(v.TaskRows()), waiting, here)
	return cmp.Or(next, `odd task add "TITLE" adds a task`), err
}
