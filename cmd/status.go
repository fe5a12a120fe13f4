package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/failover"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/okf"
)

func statusVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "status",
		Usage: "show running and waiting tasks, the next step and the cost",
		Description: "odd status\n" +
			"odd status --budget\n" +
			"odd status --sandbox\n" +
			"PS1='$(odd status --line) $ '\n\n" +
			"The board is the branch that holds the tasks; [board] in odd.toml names it.\n" +
			"The sandbox limits what agents' programs may read, write and reach over the\n" +
			"network.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "sandbox", Usage: "test which sandbox restrictions work on this machine, and print those instead"},
			&cli.BoolFlag{Name: "budget", Usage: "show each budget of the month instead: limit, spent, reserved and left"},
			&cli.BoolFlag{Name: "line", Usage: "print one short line for a shell prompt instead, and nothing where odd is not set up"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			only := 0
			for _, name := range []string{"sandbox", "budget", "line"} {
				if c.Bool(name) {
					only++
				}
			}
			if only > 1 || c.Bool("line") && c.Bool("json") {
				return usage("status: --sandbox, --budget and --line do not go together, nor --line and --json; run them one at a time")
			}
			if c.Bool("line") {
				return runStatusLine(c.Context, env)
			}
			if c.Bool("sandbox") {
				return runSandbox(c.Context, env, c.Bool("json"))
			}
			if c.Bool("budget") {
				return runStatusBudget(c.Context, env, c.Bool("json"))
			}
			return runStatus(c.Context, env, c.Bool("json"))
		},
	})
}

// runStatusLine prints the tasks that somebody may act on, by state, for a shell's prompt.
// It writes nothing in the repository and does not fail where odd is not set up.
func runStatusLine(ctx context.Context, env Env) error {
	quiet := env
	quiet.Stderr = io.Discard
	w, err := workspaceOf(ctx, quiet, true)
	if err != nil {
		return nil
	}
	w.tasksOnly = true
	v, err := w.readCurrent(ctx)
	if err != nil {
		return nil
	}
	n := map[board.State]int{}
	for _, t := range v.taskRows() {
		n[t.State]++
	}
	var parts []string
	if _, err := fs.Stat(v.bundle, "pause.toml"); err == nil {
		parts = append(parts, "paused")
	}
	for _, s := range []board.State{board.Review, board.InProgress, board.Ready, board.Blocked} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	_, err = fmt.Fprintln(env.Stdout, or(strings.Join(parts, ", "), "nothing to do"))
	return err
}

// boardStatus is what odd status --json prints.
type boardStatus struct {
	Branch string `json:"branch"`
	Tip    string `json:"tip"`
	Paused string `json:"paused,omitempty"` // the reason
	taskSummary
	Lost     []string          `json:"lost_approvals,omitempty"` // of the tasks in review, those whose files have landed without an approval
	lost     map[string]string // what is said of each
	blocked  []string          // each blocked task, and why
	Waiting  int               `json:"ops_waiting,omitempty"` // changes that wait for a person
	AtWork   int               `json:"ops_running,omitempty"` // changes that a drain of this clone is at work on
	Month    string            `json:"month"`
	Spent    budget.MicroUSD   `json:"spent_micro_usd"`
	Hard     budget.MicroUSD   `json:"hard_stop_micro_usd,omitempty"`
	Level    string            `json:"budget"`
	Dirty    []string          `json:"dirty,omitempty"`
	Problems int               `json:"unreadable_files"`
	Drift    *driftCount       `json:"drift,omitempty"` // sources of atoms that no longer say what was read
	Slow     slowStatus        `json:"slow_loop"`
	Held     []*drain.Overlap  `json:"held,omitempty"`     // ready tasks whose files wait in another one's review
	Failover *failover.Health  `json:"failover,omitempty"` // of a chain that is not ready
}

// How many blocked tasks odd status shows, and how much of the reason of each.
const mostBlocked, mostReason = 5, 100

func runStatus(ctx context.Context, env Env, asJSON bool) error {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return err
	}
	v, dirty, err := w.currentAndDirty(ctx)
	if err != nil {
		return err
	}
	s, err := v.readStatus(ctx, dirty)
	if err != nil {
		return err
	}
	if s.Tasks[board.Ready] > 0 && s.Tasks[board.Review] > 0 {
		tip := v.tip
		if v.cfg.Target != "" {
			if at, err := v.repo.Ref(v.line.Local(v.cfg.Target)); err == nil {
				tip = at
			}
		}
		s.Held = drain.Overlaps(ctx, v.repo, tip, v.cfg.Root, v.allTasks())
	}
	return showPage(env, asJSON, s, s.statusPage())
}

// currentAndDirty returns the view of readCurrent, and the paths of the bundle and of odd.toml with
// edits that are not committed. git looks for them while odd reads the commit, and
// those are all that odd reads of the work tree.
func (w *workspace) currentAndDirty(ctx context.Context) (*view, []string, error) {
	root := w.cfg.Root
	look := sync.OnceValues(func() ([]string, error) { return w.repo.Dirty(ctx, root, "odd.toml") })
	go look()
	v, err := w.readBoard(ctx, false)
	dirty, gitErr := look()
	if err != nil {
		return nil, nil, err
	}
	if v.cfg.Root != root { // the committed odd.toml names another
		dirty, gitErr = w.repo.Dirty(ctx, v.cfg.Root, "odd.toml")
	}
	head, err := w.repo.Branch()
	if err == nil && head == v.line.Name() && w.repo.Root() != "" {
		err = v.readEdits(dirty)
	}
	return v, dirty, cmp.Or(err, gitErr)
}

// readStatus returns what odd status prints; dirty are the paths with edits that
// are not committed.
func (v *view) readStatus(ctx context.Context, dirty []string) (boardStatus, error) {
	tasks, err := v.summarizeTasks(dirty)
	if err != nil {
		return boardStatus{}, err
	}
	s := boardStatus{
		taskSummary: tasks.taskSummary, blocked: tasks.Blocked, Problems: tasks.Unread,
		Dirty: dirty, Branch: v.line.Name(), Tip: shortID(v.tip), Month: event.Month(v.env.Now()),
	}
	if err := v.findLost(ctx, &s); err != nil {
		return s, err
	}
	if b, err := fs.ReadFile(v.bundle, "pause.toml"); err == nil {
		s.Paused = board.PauseReason(b)
	}
	if err := v.countOps(&s); err != nil {
		return s, err
	}
	if err := v.countMoney(&s); err != nil {
		return s, err
	}
	for _, p := range v.problems {
		if p.Severity == "error" {
			s.Problems++
		}
	}
	drift, err := v.countDrift(ctx, dirty)
	if err != nil {
		return s, err
	}
	if drift != (driftCount{}) {
		s.Drift = &drift
	}
	h, err := drain.Health(v.cfg, v.state, v.env.Now())
	if err != nil {
		return s, err
	}
	if h.State != failover.Ready {
		s.Failover = &h
	}
	loop, err := v.slowLoopOf(dirty)
	if err != nil {
		return s, err
	}
	s.Slow = v.slowStatus(loop, s.Paused != "", tasks.Next)
	return s, nil
}

// findLost names the tasks in review whose files have landed without an approval.
func (v *view) findLost(ctx context.Context, s *boardStatus) error {
	s.lost = map[string]string{}
	for _, id := range s.Review {
		says, err := v.landedAnyway(ctx, okf.ID(id))
		if err != nil {
			return err
		}
		if says != "" {
			s.Lost, s.lost[id] = append(s.Lost, id), says
		}
	}
	return nil
}

// countMoney adds what the ledgers say: the month's money, and the sessions at
// work that no task asked for.
func (v *view) countMoney(s *boardStatus) error {
	spend, err := v.state.Spend()
	if err != nil {
		return fmt.Errorf("%s/%w", v.cfg.Root, err)
	}
	for _, c := range spend.Open {
		if c.Task == c.Run { // no task asked for it
			s.Running = append(s.Running, fmt.Sprintf("%s (odd agent run, since %s)", c.Run, c.TS.Format("15:04:05Z07:00")))
		}
	}
	n, err := spend.In(s.Month)
	if err != nil {
		return err
	}
	s.Spent, s.Hard = budget.MicroUSD(n), cmp.Or(v.cfg.Budget.HardStop, v.cfg.Budget.Monthly)
	if s.Level = noBudget; v.cfg.HasBudget {
		s.Level = budget.Decide(v.cfg.Budget, s.Spent, 0).String()
	}
	return nil
}

// budgetWords says what a level of the month's budget means for runs.
var budgetWords = map[string]string{
	budget.OK.String():    "within the budget",
	budget.Alert.String(): "near the limit",
	budget.Stop.String():  "the limit is reached; odd log --spend shows each run",
}

// statusPage returns what odd status prints, at most a screen.
func (s boardStatus) statusPage() string {
	b := &strings.Builder{}
	line := func(key, format string, args ...any) {
		fmt.Fprintf(b, "%-10s%s\n", key, cell(fmt.Sprintf(format, args...)))
	}
	line("board", "%s at %s", s.Branch, s.Tip)
	if s.Paused != "" {
		line("paused", "%s", s.Paused)
	}
	s.Slow.addLines(line)
	var counts []string
	for _, st := range board.States() {
		if n := s.Tasks[st]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, st))
		}
	}
	line("tasks", "%s", or(strings.Join(counts, ", "), "none; odd task add \"TITLE\" adds one"))
	for _, r := range s.Running {
		line("running", "%s", r)
	}
	for _, id := range s.Review {
		if says := s.lost[id]; says != "" {
			line("review", "%s: %s", id, says)
			continue
		}
		line("review", "%s", id)
	}
	for i, says := range s.blocked {
		if i == mostBlocked {
			line("blocked", "and %d more; odd task list --state blocked lists them", len(s.blocked)-i)
			break
		}
		line("blocked", "%s", says)
	}
	for _, o := range s.Held {
		line("held", "%s", strings.TrimPrefix(o.Error(), "task "))
	}
	for _, says := range s.Direction.Lines() {
		line("goal", "%s", says)
	}
	if s.Waiting+s.AtWork > 0 {
		line("changes", "%d waiting for your review, %d in progress; odd op list shows them", s.Waiting, s.AtWork)
	}
	spent := "$" + s.Spent.String() + " in " + s.Month
	if s.Hard > 0 {
		spent = fmt.Sprintf("$%s of $%s in %s", s.Spent, s.Hard, s.Month)
	}
	if s.Level == noBudget {
		line("spent", "%s; odd.toml sets no budget", spent)
	} else {
		line("spent", "%s; %s", spent, budgetWords[s.Level])
	}
	if h := s.Failover; h != nil {
		line("failover", "%s: %s", h.State, h.Why())
	}
	if len(s.Dirty) > 0 {
		line("dirty", "%s not committed, first %s; commit before odd drain", countNoun(len(s.Dirty), "changed path"), s.Dirty[0])
	}
	if s.Drift != nil {
		line("drift", "%s; odd check lists them, odd gate decay files one task that reads them again", s.Drift)
	}
	if s.Problems > 0 {
		line("problems", "%s; odd check lists them", countNoun(s.Problems, "error"))
	}
	return b.String()
}
