package start

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/failover"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/cmd/internal/approval"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/governance"
	"github.com/odd-cli/odd/cmd/internal/ops"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/okf"
)

// StatusVerb declares odd status.
func StatusVerb(env console.Env) *cli.Command {
	return verb.New("status", "show running and waiting tasks, the next step and the cost",
		"odd status\n"+
			"odd status --budget\n"+
			"odd status --sandbox\n"+
			"PS1='$(odd status --line) $ '\n\n"+
			"The board is the branch that holds the tasks; [board] in odd.toml names it.\n"+
			"The sandbox limits what agents' programs may read, write and reach over the\n"+
			"network.",
		verb.Do(env, func(c *cli.Context, env console.Env) error {
			if _, err := verb.OneFlag(c, "line", "json"); err != nil {
				return err
			}
			switch only, err := verb.OneFlag(c, "sandbox", "budget", "line"); {
			case err != nil:
				return err
			case only == "line":
				return runStatusLine(c.Context, env)
			case only == "sandbox":
				return runSandbox(c.Context, env, c.Bool("json"))
			case only == "budget":
				return runStatusBudget(c.Context, env, c.Bool("json"))
			}
			return runStatus(c.Context, env, c.Bool("json"))
		}),
		&cli.BoolFlag{Name: "sandbox", Usage: "test which sandbox restrictions work on this machine, and print those instead"},
		&cli.BoolFlag{Name: "budget", Usage: "show each budget of the month instead: limit, spent, reserved and left"},
		&cli.BoolFlag{Name: "line", Usage: "print one short line for a shell prompt instead, and nothing where odd is not set up"})
}

// runStatusLine prints the tasks that somebody may act on, by state, for a shell's prompt.
// It writes nothing in the repository and does not fail where odd is not set up.
func runStatusLine(ctx context.Context, env console.Env) error {
	quiet := env
	quiet.Stderr = io.Discard
	w, err := workspace.Look(quiet)
	if err != nil {
		return nil
	}
	w.TasksOnly = true
	v, err := w.ReadCurrent(ctx)
	if err != nil {
		return nil
	}
	n := v.CountStates()
	var parts []string
	if _, err := fs.Stat(v.Bundle, "pause.toml"); err == nil {
		parts = append(parts, "paused")
	}
	for _, s := range []board.State{board.Review, board.InProgress, board.Ready, board.Blocked} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	_, err = fmt.Fprintln(env.Stdout, cmp.Or(strings.Join(parts, ", "), "nothing to do"))
	return err
}

type boardStatus struct {
	Branch string `json:"branch"`
	Tip    string `json:"tip"`
	Paused string `json:"paused,omitempty"` // the reason
	taskSummary
	Lost     []string          `json:"lost_approvals,omitempty"` // of the tasks in review, those whose files have landed without an approval
	lost     map[string]string // what is said of each in review, "" for nothing
	blocked  []string          // each blocked task, and why
	Waiting  int               `json:"ops_waiting,omitempty"` // changes that wait for a person
	AtWork   int               `json:"ops_running,omitempty"` // changes that a drain of this clone is at work on
	Running  []string          `json:"in_progress,omitempty"`
	Month    string            `json:"month"`
	Spent    budget.MicroUSD   `json:"spent_micro_usd"`
	Hard     budget.MicroUSD   `json:"hard_stop_micro_usd,omitempty"`
	Level    string            `json:"budget"`
	Dirty    []string          `json:"dirty,omitempty"`
	Problems int               `json:"unreadable_files"`
	Drift    *driftCount       `json:"drift,omitempty"` // sources of atoms that no longer say what was read
	slowStatus
	Held     []*drain.Overlap `json:"held,omitempty"`     // ready tasks whose files wait in another one's review
	Failover *failover.Health `json:"failover,omitempty"` // of a chain that is not ready
}

// How many blocked tasks odd status shows, and how much of the reason of each.
const mostBlocked, mostReason = 5, 100

func runStatus(ctx context.Context, env console.Env, asJSON bool) error {
	w, err := workspace.Open(ctx, env)
	if err != nil {
		return err
	}
	v, here, err := currentAndClone(ctx, w)
	if err != nil {
		return err
	}
	s, err := readStatus(ctx, v, here)
	if merge := here.nextOfMerge(); err != nil && merge != "" { // the file that cannot be read is in conflict
		return verb.Refuse("unmerged", "%s", merge)
	}
	if err != nil {
		return err
	}
	if s.Tasks[board.Ready] > 0 && s.Tasks[board.Review] > 0 {
		tip := v.Tip
		if v.Config.Target != "" {
			if at, err := v.Repo.Ref(v.Line.Local(v.Config.Target)); err == nil {
				tip = at
			}
		}
		s.Held = drain.Overlaps(ctx, v.Repo, tip, v.Config, v.AllTasks())
	}
	return console.ShowPage(env, asJSON, s, s.statusPage())
}

// currentAndClone returns the board of ReadCurrent and the state of this clone. git looks for
// edits while odd reads the commit, and those are all that odd reads of the work tree.
func currentAndClone(ctx context.Context, w *workspace.Clone) (*workspace.Board, cloneState, error) {
	root := w.Config.Root
	look := sync.OnceValues(func() (cloneState, error) { return readClone(ctx, w.Repo, root) })
	go look()
	v, err := w.ReadBoard(ctx, false)
	here, gitErr := look()
	if err != nil {
		return nil, here, err
	}
	if v.Config.Root != root { // the committed odd.toml names another
		here, gitErr = readClone(ctx, w.Repo, v.Config.Root)
	}
	head, err := w.Repo.Branch()
	if err == nil && head == v.Line.Name() && w.Repo.Root() != "" {
		err = v.ReadEdits(here.dirty)
	}
	return v, here, cmp.Or(err, gitErr)
}

func readStatus(ctx context.Context, v *workspace.Board, here cloneState) (boardStatus, error) {
	dirty := here.dirty
	tasks, err := summarizeTasks(v, dirty)
	if err != nil {
		return boardStatus{}, err
	}
	s := boardStatus{
		taskSummary: tasks.taskSummary, blocked: tasks.Blocked, Problems: tasks.Unread,
		Dirty: dirty, Branch: v.Line.Name(), Tip: console.ShortID(v.Tip), Month: event.Month(v.Env.Now()),
	}
	for _, h := range tasks.Waits.Held {
		s.Running = append(s.Running, fmt.Sprintf("%s (%s, %s)", h.Task, h.Run, here.untilWhen(h.Run, "claimed until "+h.Until)))
	}
	if err := findLost(ctx, v, &s); err != nil {
		return s, err
	}
	s.Paused, _ = board.ReadPause(v.Bundle, "pause.toml")
	if err := countOps(v, &s); err != nil {
		return s, err
	}
	if err := countMoney(v, &s, here); err != nil {
		return s, err
	}
	for _, p := range v.Problems {
		if p.Severity == "error" {
			s.Problems++
		}
	}
	if tasks.Drift != (driftCount{}) {
		s.Drift = &tasks.Drift
	}
	h, err := drain.Health(v.Config, v.State, v.Env.Now())
	if err != nil {
		return s, err
	}
	if h.State != failover.Ready {
		s.Failover = &h
	}
	next, loop, err := findNextAct(ctx, v, tasks.Waits, s.Review, here)
	if err == nil {
		s.slowStatus = newSlowStatus(v, loop)
		s.Next = next
	}
	return s, err
}

// findLost names the tasks in review whose files have landed without an approval, and says whose approval was taken back.
func findLost(ctx context.Context, v *workspace.Board, s *boardStatus) error {
	s.lost = map[string]string{}
	for _, id := range s.Review {
		says, err := approval.LandedAnyway(ctx, v, okf.ID(id))
		if err != nil {
			return err
		}
		if says != "" {
			s.Lost = append(s.Lost, id)
		} else if says, err = approval.DescribeTakenBack(ctx, v, okf.ID(id)); err != nil {
			return err
		}
		s.lost[id] = says
	}
	return nil
}

// countMoney adds what the ledgers say: the month's money, and the sessions at
// work that no task asked for.
func countMoney(v *workspace.Board, s *boardStatus, here cloneState) error {
	spend, err := v.State.Spend()
	if err != nil {
		return fmt.Errorf("%s/%w", v.Config.Root, err)
	}
	for _, c := range spend.Open {
		if c.Task == c.Run { // no task asked for it
			s.Running = append(s.Running, fmt.Sprintf("%s (odd agent run, %s)", c.Run, here.untilWhen(c.Run, "since "+c.TS.Format("15:04:05Z07:00"))))
		}
	}
	s.Spent, s.Hard = budget.MicroUSD(spend.In(s.Month)), cmp.Or(v.Config.Budget.HardStop, v.Config.Budget.Monthly)
	if s.Level = noBudget; v.Config.HasBudget {
		s.Level = budget.Decide(v.Config.Budget, s.Spent, 0).String()
	}
	return nil
}

// budgetWords says what a level of the month's budget means for runs.
var budgetWords = map[string]string{
	budget.OK.String():    "within the budget",
	budget.Alert.String(): "near the limit",
	budget.Stop.String():  "the limit is reached; odd log --spend shows each run",
}

func (s boardStatus) statusPage() string {
	b := &console.Card{Wide: 10}
	b.Line("board", "%s at %s", s.Branch, s.Tip)
	if s.Paused != "" {
		b.Line("paused", "%s", s.Paused)
	}
	s.addLines(b.Line)
	var counts []string
	for _, st := range board.States() {
		if n := s.Tasks[st]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, st))
		}
	}
	b.Line("tasks", "%s", cmp.Or(strings.Join(counts, ", "), "none; odd task add \"TITLE\" adds one"))
	for _, r := range s.Running {
		b.Line("running", "%s", r)
	}
	for _, id := range s.Review {
		if says := s.lost[id]; says != "" {
			b.Line("review", "%s: %s", id, says)
			continue
		}
		b.Line("review", "%s", id)
	}
	for i, says := range s.blocked {
		if i == mostBlocked {
			b.Line("blocked", "and %d more; odd task list --state blocked lists them", len(s.blocked)-i)
			break
		}
		b.Line("blocked", "%s", says)
	}
	also := map[okf.ID][]string{} // by the proposal that they wait for
	for _, o := range s.Held {
		if also[o.In] = append(also[o.In], string(o.Task)); len(also[o.In]) == 1 {
			b.Line("held", "%s", strings.TrimPrefix(o.Error(), "task "))
		}
	}
	for _, in := range slices.Sorted(maps.Keys(also)) {
		if more := also[in][1:]; len(more) > 0 {
			b.Line("held", "%s: the same, for %s", console.FirstOf(more), in)
		}
	}
	for _, says := range s.Direction.Lines() {
		b.Line("goal", "%s", says)
	}
	if s.Waiting+s.AtWork > 0 {
		b.Line("changes", "%d waiting for your review, %d in progress; odd op list shows them", s.Waiting, s.AtWork)
	}
	spent := "$" + s.Spent.String() + " in " + s.Month
	if s.Hard > 0 {
		spent = fmt.Sprintf("$%s of $%s in %s", s.Spent, s.Hard, s.Month)
	}
	if s.Level == noBudget {
		b.Line("spent", "%s; odd.toml sets no budget", spent)
	} else {
		b.Line("spent", "%s; %s", spent, budgetWords[s.Level])
	}
	if h := s.Failover; h != nil {
		b.Line("failover", "%s: %s", h.State, h.Why())
	}
	if len(s.Dirty) > 0 {
		b.Line("dirty", "%s that odd drain reads, not committed, first %s; commit before odd drain", console.CountNoun(len(s.Dirty), "changed path"), s.Dirty[0])
	}
	if s.Drift != nil {
		b.Line("drift", "%s; odd check names them; odd gate decay files one task that reads them again, but for atoms that a person verified", s.Drift)
	}
	if s.Problems > 0 {
		b.Line("problems", "%s in reading the files; odd check lists them and finds more", console.CountNoun(s.Problems, "error"))
	}
	return b.String()
}

// noBudget is the level of a month that has no budget.
const noBudget = "none"

// runStatusBudget prints the envelopes of this month: what they have, what is
// spent, what is reserved and what is left up to where nothing more is reserved.
func runStatusBudget(ctx context.Context, env console.Env, asJSON bool) error {
	v, err := workspace.OpenFiles(ctx, env)
	if err != nil {
		return err
	}
	spend, err := v.State.Spend()
	if err != nil {
		return fmt.Errorf("%s/%w", v.Config.Root, err)
	}
	purses := drain.Purses(v.Config.Budget, spend, event.Month(env.Now()))
	if !v.Config.HasBudget {
		for i := range purses {
			purses[i].Level = noBudget
		}
	}
	rows := [][]string{{"envelope", "month", "limit", "stop", "spent", "reserved", "left", "level"}}
	for _, p := range purses {
		limit, stop, left := "$"+p.Limit.String(), "$"+p.Stop.String(), "$"+p.Left.String()
		if p.Level == noBudget {
			limit, stop, left = "-", "-", "-"
		}
		rows = append(rows, []string{p.Name, p.Month, limit, stop, "$" + p.Spent.String(), "$" + p.Reserved.String(), left, p.Level})
	}
	if !v.Config.HasBudget && !asJSON {
		console.Talk(env, "odd.toml sets no monthly budget, so runs that can cost money are refused; set monthly_usd below [budget] to allow them")
	}
	if !env.Terminal {
		rows = rows[1:]
	}
	return console.Show(env, asJSON, purses, rows...)
}

// slowStatus is where the slow loop stands, as odd status tells it.
type slowStatus struct {
	Lease     governance.LeaseJSON  `json:"lease"`
	Proposals map[gate.Severity]int `json:"open_requests,omitempty"`
	Next      string                `json:"next,omitempty"` // the next human act
}

func newSlowStatus(v *workspace.Board, loop overview.SlowLoop) slowStatus {
	s := slowStatus{Lease: governance.ReadLease(v, loop)}
	if l := s.Lease; !l.Required && l.State == gate.None && !l.Unreadable {
		s.Lease.Verdict = gate.Verdict{} // tasks run without a lease
	}
	open := loop.Buffer.Open()
	for _, p := range open {
		if s.Proposals == nil {
			s.Proposals = map[gate.Severity]int{}
		}
		s.Proposals[p.Severity]++
	}
	return s
}

// addLines writes the slow loop's part of odd status, which does not name the lease where
// leases are off and none is drafted.
func (s slowStatus) addLines(line func(key, format string, args ...any)) {
	l := s.Lease
	if l.Required || l.State != gate.None || l.Unreadable {
		line("stance", "%s", l.StanceLine())
		line("lease", "%s%s", l.NameLine(), describeLeft(l))
	}
	var counts []string
	for _, sev := range gate.Severities() {
		if n := s.Proposals[sev]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, sev))
		}
	}
	if len(counts) > 0 {
		line("requests", "%s open; odd gate proposals list shows what agents and odd ask of a person", strings.Join(counts, ", "))
	}
	if s.Next != "" {
		line("next", "%s", s.Next)
	}
}

func describeLeft(l governance.LeaseJSON) string {
	switch {
	case l.Verdict.Valid && l.Budget > 0:
		return fmt.Sprintf("; %s, %s, %s", console.HowLong(l.Verdict.Remaining)+" left", console.CountNoun(l.Verdict.Tasks, "task"), l.MoneyLine())
	case l.Verdict.Valid:
		return fmt.Sprintf("; %s, %s left", console.HowLong(l.Verdict.Remaining), console.CountNoun(l.Verdict.Tasks, "task"))
	case l.Required && l.Verdict.Code != string(gate.None):
		return fmt.Sprintf("; no task runs: %s [%s]", l.Verdict.Text, l.Verdict.Code)
	}
	return ""
}

func countOps(v *workspace.Board, s *boardStatus) error {
	open, _, err := v.State.OpenOps()
	if err != nil {
		return err
	}
	for _, o := range open {
		if o.Phase == pipeline.Waiting {
			s.Waiting++
		}
	}
	live, err := ops.Beats(v)
	s.AtWork = len(live)
	return err
}
