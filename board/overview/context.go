package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/okf"
)

// Context is what to read before asking anybody anything, in the order it is
// read. Slow memory is quoted; progress and the artifact index are derived.
type Context struct {
	Lease     LeaseContext     `json:"lease"`
	Decisions []Decided        `json:"decisions"`
	Artifacts []ArtifactStatus `json:"artifacts"`
	Progress  ProgressView     `json:"progress"`
	Signals   Signals          `json:"signals"`
}

// LeaseContext is the commitment lease and whether it is valid.
type LeaseContext struct {
	Required  bool         `json:"required"` // odd.toml asks for one
	Stance    gate.Stance  `json:"stance,omitempty"`
	ID        string       `json:"id,omitempty"`
	State     gate.State   `json:"state"`
	Frame     string       `json:"frame,omitempty"`
	Horizon   string       `json:"horizon,omitempty"`
	Success   []string     `json:"success_criteria,omitempty"`
	NonGoals  []string     `json:"non_goals,omitempty"`
	Milestone []string     `json:"milestone,omitempty"`
	ExpiresAt *time.Time   `json:"expires_at,omitempty"`
	MaxTasks  int          `json:"max_tasks,omitempty"`
	Budget    int64        `json:"budget_micro_usd,omitempty"`
	Kinds     []string     `json:"kinds,omitempty"`
	Paths     []string     `json:"paths,omitempty"`
	HeldBack  []string     `json:"held_back,omitempty"` // ready tasks whose kind the stance does not let run
	Verdict   gate.Verdict `json:"verdict"`
}

// Decided is a decision in force.
type Decided struct {
	gate.Decision
	Due string `json:"due,omitempty"` // which of its revisit triggers has come
}

// Freshness is what the artifact index says of an entry, by how many tasks were
// drained since it was last touched.
type Freshness string

// The freshnesses. What is final is current for 30 drained tasks, stale for 20
// more and then to be reviewed; a draft and what waits in review is stale after 10.
const (
	Current      Freshness = "current"
	Stale        Freshness = "stale"
	ReviewNeeded Freshness = "review-needed"
)

const (
	finalTurns  = 30
	reviewTurns = finalTurns + 20
	draftTurns  = 10
	silentTurns = 10
)

// ArtifactStatus is one artifact in force, or a result that waits on its branch.
type ArtifactStatus struct {
	ID     okf.ID    `json:"id"` // the atom's, or the task's whose result waits
	Title  string    `json:"title,omitempty"`
	State  string    `json:"state"`            // final, draft or review
	Branch string    `json:"branch,omitempty"` // where a result waits
	Status Freshness `json:"status"`
	Turns  int       `json:"turns"` // tasks drained since it was touched; -1 where nothing says when that was
}

// ProgressView is where the work stands.
type ProgressView struct {
	Running []TaskLine `json:"in_progress"`
	Next    []TaskLine `json:"next"` // what a drain would take, the first five
	Blocked []TaskLine `json:"blocked"`
	Done    []TaskLine `json:"done"`   // the last three
	Silent  int        `json:"silent"` // tasks drained since one last reached review or done
	Stale   bool       `json:"stale"`  // ten or more of them
}

// TaskLine is a task with the one thing to know about it.
type TaskLine struct {
	ID    okf.ID `json:"id"`
	Title string `json:"title,omitempty"`
	Note  string `json:"note,omitempty"` // who runs it, why it is blocked, when it was done
}

// Signals are what people and machines have raised and nobody has answered.
type Signals struct {
	Paused    string          `json:"paused,omitempty"`
	Proposals []gate.Proposal `json:"proposals"`
	Task      okf.ID          `json:"task,omitempty"`
	State     board.State     `json:"state,omitempty"`   // of the task
	Waits     string          `json:"waits,omitempty"`   // why a drain does not take it, though it is ready
	Before    []string        `json:"before,omitempty"`  // what became of the task's attempts, newest first
	Lessons   []string        `json:"lessons,omitempty"` // what changes of files came to lately, newest first
}

// Unquoted is c without the words of agents: why tasks are blocked and what
// agents propose is counted there, and not said. A session in one mode does not
// read what sessions in another had to say.
func (c Context) Unquoted() Context {
	c.Progress.Blocked = slices.Clone(c.Progress.Blocked)
	for i := range c.Progress.Blocked {
		c.Progress.Blocked[i].Note = ""
	}
	c.Signals.Proposals = slices.Clone(c.Signals.Proposals)
	for i, p := range c.Signals.Proposals {
		if p.Source == gate.TaskAgent {
			c.Signals.Proposals[i].Reason = "in an agent's words, not quoted here"
		}
	}
	c.Signals.Before = nil
	return c
}

// Context reads the memory. task "" is about none in particular.
func (m *Memory) Context(task okf.ID) (Context, error) {
	c := Context{Lease: m.leaseContext(), Decisions: []Decided{}}
	if err := m.readLedger(); err != nil {
		return c, err
	}
	ds, err := m.readDecisions()
	if err != nil {
		return c, err
	}
	for _, d := range ds {
		c.Decisions = append(c.Decisions, Decided{d, d.Due(m.Slow.Facts.Now, m.Slow.Facts.Done)})
	}
	c.Artifacts = m.artifactStatuses()
	c.Progress = m.progressView()
	c.Signals = m.readSignals(task)
	return c, nil
}

func (m *Memory) leaseContext() LeaseContext {
	l, f := m.Slow.File.Lease, m.Slow.Facts
	c := LeaseContext{
		Required: m.Leases, Stance: m.Slow.File.Stance, ID: l.ID, State: cmp.Or(l.State, gate.None), Frame: l.Frame, Horizon: l.Horizon, Success: l.Success,
		NonGoals: l.NonGoals, Milestone: l.Milestone, MaxTasks: l.MaxTasks, Budget: l.Budget, Kinds: l.Scope.Kinds, Paths: l.Scope.Paths,
	}
	if !l.ExpiresAt.IsZero() {
		c.ExpiresAt = &l.ExpiresAt
	}
	if m.Leases || f.Present {
		c.Verdict = m.Slow.Verdict("")
	}
	if m.Leases && c.ID != "" {
		for _, t := range m.readyWork() {
			if slices.Contains(gate.Suppressed(c.Stance), t.Kind) {
				c.HeldBack = append(c.HeldBack, string(t.ID))
			}
		}
	}
	return c
}

func (m *Memory) artifactStatuses() []ArtifactStatus {
	out := []ArtifactStatus{}
	for _, a := range m.Graph.Atoms() {
		if strings.EqualFold(a.Type, "artifact") && !strings.EqualFold(a.Status, "deprecated") {
			out = append(out, m.artifactStatus(a))
		}
	}
	for _, t := range m.Tasks {
		if t.State == board.Review {
			s := ArtifactStatus{ID: t.ID, Title: t.Title, State: "review", Branch: t.Result.Branch, Turns: m.countSince(t.Result.Run, t.ID)}
			s.Status = freshnessOf(s.Turns, draftTurns, 0)
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b ArtifactStatus) int {
		worst := []Freshness{ReviewNeeded, Stale, Current}
		return cmp.Or(cmp.Compare(slices.Index(worst, a.Status), slices.Index(worst, b.Status)), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func (m *Memory) artifactStatus(a *okf.Atom) ArtifactStatus {
	s := ArtifactStatus{ID: a.ID, Title: a.Title, State: "final", Turns: -1}
	if at := LastTouched(a); !at.IsZero() {
		s.Turns = m.countTurns(at)
	}
	if strings.EqualFold(a.Status, "draft") {
		s.State, s.Status = "draft", freshnessOf(s.Turns, draftTurns, 0)
	} else {
		s.Status = freshnessOf(s.Turns, finalTurns, reviewTurns)
	}
	if s.Status == Current && isExpired(a, m.Slow.Facts.Now) {
		s.Status = Stale
	}
	return s
}

// LastTouched returns when an atom was last made or verified, the zero time where nothing says so.
func LastTouched(a *okf.Atom) time.Time {
	var last time.Time
	for _, s := range append(slices.Clone(a.Verified), a.Generated) {
		if at, err := time.Parse(time.RFC3339, s.At); err == nil && at.After(last) {
			last = at
		}
	}
	return last
}

// freshnessOf is the freshness after so many turns; review 0 is never.
func freshnessOf(turns, stale, review int) Freshness {
	switch {
	case review > 0 && turns >= review:
		return ReviewNeeded
	case turns >= stale:
		return Stale
	}
	return Current
}

// countSince returns how many tasks were drained after a run's end of a task, -1 where the
// ledger does not know it.
func (m *Memory) countSince(run string, task okf.ID) int {
	for _, e := range m.ends {
		if e.Run == run && e.Task == string(task) {
			return m.countTurns(e.At)
		}
	}
	return -1
}

// progressView returns the progress view. Next ignores budgets and personas;
// drain checks those.
func (m *Memory) progressView() ProgressView {
	p := ProgressView{Running: []TaskLine{}, Next: []TaskLine{}, Blocked: []TaskLine{}, Done: []TaskLine{}}
	rows := board.RowsOf(m.Tasks)
	all := board.IndexOf(rows)
	var ready []*board.Row
	var done []board.Task
	for i, t := range m.Tasks {
		switch {
		case t.State == board.InProgress:
			p.Running = append(p.Running, TaskLine{t.ID, t.Title, t.ClaimedBy})
		case t.State == board.Blocked:
			p.Blocked = append(p.Blocked, TaskLine{t.ID, t.Title, t.BlockedReason})
		case t.State == board.Done:
			done = append(done, t)
		case t.State == board.Ready:
			if why := board.Eligible(rows[i], all, m.Slow.Facts.Now); why != "" {
				p.Blocked = append(p.Blocked, TaskLine{t.ID, t.Title, string(why)})
			} else {
				ready = append(ready, rows[i])
			}
		}
	}
	for _, t := range firstOf(board.Order(ready, all), 5) {
		p.Next = append(p.Next, TaskLine{t.ID, t.Title, t.Kind})
	}
	slices.SortStableFunc(done, func(a, b board.Task) int { return b.DoneAt().Compare(a.DoneAt()) })
	for _, t := range firstOf(done, 3) {
		line := TaskLine{ID: t.ID, Title: t.Title}
		if at := t.DoneAt(); !at.IsZero() {
			line.Note = at.UTC().Format(time.RFC3339)
		}
		p.Done = append(p.Done, line)
	}
	p.Silent, _ = m.findProgress()
	p.Stale = p.Silent >= silentTurns
	return p
}

func (m *Memory) readSignals(task okf.ID) Signals {
	s := Signals{Proposals: m.Slow.Buffer.Open(), Task: task, Lessons: m.Lessons}
	if s.Proposals == nil {
		s.Proposals = []gate.Proposal{}
	}
	s.Paused, _ = board.ReadPause(m.Bundle, "pause.toml")
	for _, t := range m.Tasks {
		if t.ID == task && task != "" {
			s.State, s.Before = t.State, Attempts(t)
			if t.State == board.Ready {
				s.Waits = string(board.Eligible(&t.Row, board.IndexOf(board.RowsOf(m.Tasks)), m.Slow.Facts.Now))
			}
		}
	}
	return s
}

// Attempts returns what became of a task's attempts, newest first.
func Attempts(t board.Task) []string {
	var out []string
	for _, r := range slices.Backward(t.Rejected) {
		out = append(out, fmt.Sprintf("rejected by %s at %s: %s", r.By, r.At, r.Reason))
	}
	if t.BlockedReason != "" {
		out = append([]string{"blocked: " + t.BlockedReason}, out...)
	}
	return out
}
