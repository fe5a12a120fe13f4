package cmd

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/okf"
)

func logVerb(env Env) *cli.Command {
	return verb("log", "show what agents and people did, by day",
		"odd log\n"+
			"odd log --month 2026-03\n"+
			"odd log --task read-the-handbook\n"+
			"odd log --spend\n\n"+
			"What agents did comes from the ledger, an append-only file for each run in the\n"+
			"bundle. What people did comes from the commits on the board.",
		do(env, runLog),
		&cli.StringFlag{Name: "task", Usage: "show only events of `TASK`"},
		&cli.StringFlag{Name: "run", Usage: "show only the run whose id is `RUN` or ends in it"},
		&cli.StringFlag{Name: "month", Usage: "show only the month `YYYY-MM` (UTC)"},
		&cli.BoolFlag{Name: "spend", Usage: "show tokens and cost instead, one line per run, task, agent and model"},
		jsonFlag())
}

func runLog(c *cli.Context, env Env) error {
	f := logFilter{task: okf.ID(c.String("task")), run: c.String("run"), month: c.String("month")}
	if _, err := time.Parse("2006-01", f.month); f.month != "" && err != nil {
		return usage("log: --month %s is no month; want YYYY-MM, such as 2026-03", f.month)
	}
	open := openFiles
	if f.task != "" {
		open = openTasks
	}
	v, err := open(c.Context, env)
	if err != nil {
		return err
	}
	var noTask error
	if f.task != "" {
		var t board.Task
		if t, noTask = v.findTask(string(f.task)); noTask == nil {
			f.task = t.ID
		}
	}
	if c.Bool("spend") {
		return v.printSpending(f, c.Bool("json"))
	}
	told, damaged, err := v.readEvents(c.Context, f)
	if err != nil {
		return err
	}
	for i, e := range told {
		if e.op != "" {
			_, told[i].Output = v.readFailure(e.Run, e.op)
		}
	}
	if len(told) == 0 && noTask != nil { // a deleted one has events
		return noTask
	}
	switch {
	case c.Bool("json"):
		err = printJSON(env, told)
	case len(told) == 0 && f != (logFilter{}):
		talk(env, "log: no event matches; odd log without --task, --run and --month shows all")
	case len(told) == 0:
		talk(env, "log: nothing happened yet; odd task add \"TITLE\" adds a task, odd drain runs the ready ones")
	default:
		err = printStory(env, told)
	}
	if err != nil {
		return err
	}
	return damaged
}

// logFilter is what odd log is asked for; empty members take everything.
type logFilter struct {
	task       okf.ID
	run, month string
}

func (f logFilter) matchesEvent(e logEvent) bool {
	if e.Kind == string(event.Op) && f.run == "" {
		return false // the steps of an op are told with its run; its ending is told always
	}
	return (f.task == "" || e.Task == string(f.task)) &&
		(f.run == "" || strings.HasSuffix(e.Run, f.run)) &&
		(f.month == "" || event.Month(e.At) == f.month)
}

// printStory prints events as a story: a heading a day, the hour and who only where
// they change, and what it came to.
func printStory(env Env, events []logEvent) error {
	wide := 0
	for _, e := range events {
		wide = max(wide, layout.Width(e.actorName()))
	}
	var b strings.Builder
	day, hour, who := "", "", ""
	for _, e := range events {
		at := e.At.UTC()
		if d := at.Format("Monday, 2 January 2006"); d != day {
			b.WriteString(strings.Repeat("\n", min(len(day), 1)) + env.paintText("1", d) + "\n\n")
			day, hour, who = d, "", ""
		}
		h, w := at.Format("15:04"), e.actorName()
		same := h == hour && w == who
		hour, who = h, w
		if same {
			h, w = "", ""
		}
		text := e.Text
		for _, line := range e.Output[max(len(e.Output)-logTail, 0):] {
			text += "\n| " + cell(line)
		}
		text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 5+2+wide+2+2))
		fmt.Fprintf(&b, "%5s  %s  %s\n", h, layout.Pad(w, wide), text)
	}
	b.WriteString("\n" + totalLine(events) + "\n")
	return printPage(env, b.String())
}

// logTail is how many lines of a failed check's output odd log prints; odd op show has more.
const logTail = 5

// totalLine returns the last line: how many runs, how many tasks, and what they cost.
func totalLine(events []logEvent) string {
	runs, tasks := map[string]bool{}, map[string]bool{}
	var cost budget.MicroUSD
	for _, e := range events {
		if e.Kind == string(event.Outcome) || e.Kind == string(event.Abandoned) {
			cost += budget.MicroUSD(e.Cost)
		}
		if e.Run != "" && e.Commit == "" && !strings.HasPrefix(e.Run, "op-") {
			runs[e.Run] = true
		}
		if e.Task != "" {
			tasks[e.Task] = true
		}
	}
	return fmt.Sprintf("%s, %s, $%s", countNoun(len(runs), "run"), countNoun(len(tasks), "task"), cost)
}

// spending is what odd log --spend --json prints.
type spending struct {
	Receipts []event.Receipt `json:"receipts"`
	Total    budget.MicroUSD `json:"total_micro_usd"`
	Reserved budget.MicroUSD `json:"reserved_micro_usd"` // by claims that are open, whatever their month
}

// printSpending itemises what closed claims cost, a line a run, task, substrate and model.
func (v *view) printSpending(f logFilter, asJSON bool) error {
	s, err := v.readSpending(f)
	switch {
	case err != nil:
		return err
	case !asJSON && len(s.Receipts) == 0:
		talk(v.env, "log: no run has spent money; $%s is reserved for running tasks", s.Reserved)
		return nil
	case !asJSON:
		defer talk(v.env, "$%s spent, $%s reserved for running tasks", s.Total, s.Reserved)
	}
	return show(v.env, asJSON, s, s.receiptRows(v.env.Terminal)...)
}

func (v *view) readSpending(f logFilter) (spending, error) {
	s := spending{Receipts: []event.Receipt{}}
	all, err := v.state.Receipts(f.month, string(f.task))
	if err != nil {
		return s, fmt.Errorf("%s/%w", v.cfg.Root, err)
	}
	for _, r := range all {
		if strings.HasSuffix(r.Run, f.run) {
			s.Receipts = append(s.Receipts, r)
			s.Total += budget.MicroUSD(r.Cost)
		}
	}
	sum, err := v.state.Spend()
	if err != nil {
		return s, fmt.Errorf("%s/%w", v.cfg.Root, err)
	}
	held, err := sum.Reserved(func(r event.Record) bool {
		return (f.task == "" || r.Task == string(f.task)) && strings.HasSuffix(r.Run, f.run)
	})
	s.Reserved = budget.MicroUSD(held)
	return s, err
}

// receiptRows returns the receipts; tokens are input, output, and read from and written to a cache.
func (s spending) receiptRows(heading bool) [][]string {
	var rows [][]string
	if heading {
		rows = [][]string{{"month", "run", "task", "team", "substrate", "model", "in", "out", "read", "written", "spent"}}
	}
	for _, r := range s.Receipts {
		row := []string{r.Month, r.Run, r.Task, or(r.Team, "-"), or(r.Substrate, "-"), or(r.Model, "-")}
		for _, n := range []int64{r.Input, r.Output, r.CacheRead, r.CacheWrite} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		rows = append(rows, append(row, "$"+budget.MicroUSD(r.Cost).String()))
	}
	return rows
}
