package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/cmd/internal/ops"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// LogVerb declares odd log.
func LogVerb(env console.Env) *cli.Command {
	return verb.New("log [TASK]", "show what agents and people did, by day",
		"odd log\n"+
			"odd log read-the-handbook\n"+
			"odd log --month 2026-03\n"+
			"odd log --spend\n\n"+
			"What agents did comes from the ledger, an append-only file for each run in the\n"+
			"bundle. What people did comes from the commits on the board.",
		verb.Do(env, runLog),
		&cli.StringFlag{Name: "run", Usage: "show only the run whose id is `RUN` or ends in it"},
		&cli.StringFlag{Name: "month", Usage: "show only the month `YYYY-MM` (UTC)"},
		&cli.BoolFlag{Name: "spend", Usage: "show tokens and cost instead, one line per run, task, agent and model"})
}

func runLog(c *cli.Context, env console.Env) error {
	f := Filter{task: okf.ID(c.Args().First()), run: c.String("run"), month: c.String("month")}
	if _, err := time.Parse("2006-01", f.month); f.month != "" && err != nil {
		return verb.Usage("log: --month %s is no month; want YYYY-MM, such as 2026-03", f.month)
	}
	open := workspace.OpenFiles
	if f.task != "" {
		open = workspace.OpenTasks
	}
	v, err := open(c.Context, env)
	if err != nil {
		return err
	}
	var noTask error
	if f.task != "" {
		var t board.Task
		if t, noTask = v.FindTask(string(f.task)); noTask == nil {
			f.task = t.ID
		}
	}
	if c.Bool("spend") {
		return printSpending(v, f, c.Bool("json"))
	}
	told, damaged, err := ReadEvents(c.Context, v, f)
	if err != nil {
		return err
	}
	for i, e := range told {
		if e.op != "" {
			_, told[i].Output = ops.ReadFailure(v.Repo, e.Run, e.op)
		}
	}
	if v.Repo.Shallow() {
		console.Talk(env, "log: this clone is shallow, so what people did before its first commit is not here; git fetch --unshallow gets it")
	}
	if len(told) == 0 && noTask != nil { // a deleted one has events
		return noTask
	}
	switch {
	case c.Bool("json"):
		err = console.PrintJSON(env, told)
	case len(told) == 0 && f != (Filter{}):
		console.Talk(env, "log: no event matches; odd log without TASK, --run and --month shows all")
	case len(told) == 0:
		console.Talk(env, "log: nothing happened yet; odd task add \"TITLE\" adds a task, odd drain runs the ready ones")
	default:
		err = printStory(env, told)
	}
	if err != nil {
		return err
	}
	return damaged
}

// Filter is what odd log is asked for; empty members take everything.
type Filter struct {
	task       okf.ID
	run, month string
}

func (f Filter) matchesEvent(e Event) bool {
	if e.Kind == string(event.Op) && f.run == "" {
		return false // the steps of an op are told with its run; its ending is told always
	}
	return (f.task == "" || e.Task == string(f.task)) &&
		(f.run == "" || strings.HasSuffix(e.Run, f.run)) &&
		(f.month == "" || event.Month(e.At) == f.month)
}

// printStory prints events as a story: a heading a day, the hour and who only where
// they change, and what it came to.
func printStory(env console.Env, events []Event) error {
	wide := 0
	for _, e := range events {
		wide = max(wide, layout.Width(e.ActorName()))
	}
	var b strings.Builder
	day, hour, who := "", "", ""
	for _, e := range events {
		at := e.At.UTC()
		if d := at.Format("Monday, 2 January 2006"); d != day {
			b.WriteString(strings.Repeat("\n", min(len(day), 1)) + env.Paint("1", d) + "\n\n")
			day, hour, who = d, "", ""
		}
		h, w := at.Format("15:04"), e.ActorName()
		same := h == hour && w == who
		hour, who = h, w
		if same {
			h, w = "", ""
		}
		text := e.Text
		for _, line := range e.Output[max(len(e.Output)-logTail, 0):] {
			text += "\n| " + console.Cell(line)
		}
		text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 5+2+wide+2+2))
		fmt.Fprintf(&b, "%5s  %s  %s\n", h, layout.Pad(w, wide), text)
	}
	b.WriteString("\n" + totalLine(events) + "\n")
	return console.PrintPage(env, b.String())
}

// logTail is how many lines of a failed check's output odd log prints; odd op show has more.
const logTail = 5

// totalLine returns the last line: how many runs, how many tasks, and what they cost.
func totalLine(events []Event) string {
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
	return fmt.Sprintf("%s, %s, $%s", console.CountNoun(len(runs), "run"), console.CountNoun(len(tasks), "task"), cost)
}

// spending is what odd log --spend --json prints.
type spending struct {
	Receipts []event.Receipt `json:"receipts"`
	Total    budget.MicroUSD `json:"total_micro_usd"`
	Reserved budget.MicroUSD `json:"reserved_micro_usd"` // by claims that are open, whatever their month
}

// printSpending itemises what closed claims cost, a line a run, task, substrate and model.
func printSpending(v *workspace.Board, f Filter, asJSON bool) error {
	s, err := readSpending(v, f)
	switch {
	case err != nil:
		return err
	case !asJSON && len(s.Receipts) == 0:
		console.Talk(v.Env, "log: no run has spent money; $%s is reserved for running tasks", s.Reserved)
		return nil
	case !asJSON:
		defer console.Talk(v.Env, "$%s spent, $%s reserved for running tasks", s.Total, s.Reserved)
	}
	return console.Show(v.Env, asJSON, s, s.receiptRows(v.Env.Terminal)...)
}

func readSpending(v *workspace.Board, f Filter) (spending, error) {
	s := spending{Receipts: []event.Receipt{}}
	all, err := v.State.Receipts(f.month, string(f.task))
	if err != nil {
		return s, fmt.Errorf("%s/%w", v.Config.Root, err)
	}
	for _, r := range all {
		if strings.HasSuffix(r.Run, f.run) {
			s.Receipts = append(s.Receipts, r)
			s.Total += budget.MicroUSD(r.Cost)
		}
	}
	sum, err := v.State.Spend()
	if err != nil {
		return s, fmt.Errorf("%s/%w", v.Config.Root, err)
	}
	held := sum.Reserved(func(r event.Record) bool {
		return (f.task == "" || r.Task == string(f.task)) && strings.HasSuffix(r.Run, f.run)
	})
	s.Reserved = budget.MicroUSD(held)
	return s, nil
}

// receiptRows returns the receipts; tokens are input, output, and read from and written to a cache.
func (s spending) receiptRows(heading bool) [][]string {
	var rows [][]string
	if heading {
		rows = [][]string{{"month", "run", "task", "team", "substrate", "model", "in", "out", "read", "written", "spent"}}
	}
	for _, r := range s.Receipts {
		row := []string{r.Month, r.Run, r.Task, cmp.Or(r.Team, "-"), cmp.Or(r.Substrate, "-"), cmp.Or(r.Model, "-")}
		for _, n := range []int64{r.Input, r.Output, r.CacheRead, r.CacheWrite} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		rows = append(rows, append(row, "$"+budget.MicroUSD(r.Cost).String()))
	}
	return rows
}

// event is one thing that happened, as odd log --json prints it: a ledger
// record of a run, or a commit by a person.
type Event struct {
	At     time.Time `json:"ts"`
	Kind   string    `json:"kind"` // a ledger kind, "person" or "sense"
	Run    string    `json:"run,omitempty"`
	Person string    `json:"person,omitempty"`
	Task   string    `json:"task,omitempty"`
	Text   string    `json:"text"`
	Cost   int64     `json:"cost_micro_usd,omitempty"`
	Commit string    `json:"commit,omitempty"`
	Output []string  `json:"output,omitempty"` // of a change that failed its checks, the end of what the failed one printed

	op   string // that this record ends, where the change could not be made
	rank int    // within a second: -1 stands before the records, 1 behind them
}

// ActorName returns the person, or the end of the run's id, which odd log --run takes.
func (e Event) ActorName() string {
	switch {
	case e.Person != "":
		return e.Person
	case strings.HasPrefix(e.Run, "op-"): // a person's word, in a file of the op's own
		return "op " + e.Run[max(0, len(e.Run)-6):]
	}
	return "run " + e.Run[max(0, len(e.Run)-6):]
}

// ReadEvents returns the ledger's records and people's commits on the board that f takes,
// oldest first. Within a second, what lets work begin stands before the records, and all
// else that people do behind them. damaged is about ledger files that could be read only in
// part.
func ReadEvents(ctx context.Context, v *workspace.Board, f Filter) (all []Event, damaged, err error) {
	all = []Event{}
	var about func(run string, tasks []string) bool
	if f.run != "" || f.task != "" {
		about = func(run string, tasks []string) bool {
			return strings.HasSuffix(run, f.run) && (f.task == "" || slices.Contains(tasks, string(f.task)))
		}
	}
	files, err := v.State.RunFiles(f.month, about)
	if err != nil {
		return nil, nil, err
	}
	for file := range files {
		if file.Err != nil {
			damaged = errors.Join(damaged, fmt.Errorf("%s/%w", v.Config.Root, file.Err))
		}
		for _, r := range file.Records {
			text := r.Tell(func(n int64) string { return budget.MicroUSD(n).String() })
			task := r.Task
			if task == r.Run {
				task = "" // no task asked for it
			}
			e := Event{At: r.TS, Kind: string(r.Kind), Run: r.Run, Task: task, Text: okf.Visible(text), Cost: r.Cost}
			if d := r.Op(); d.To == string(pipeline.FailedPermanent) {
				e.op = d.Op
			}
			all = append(all, e)
		}
	}
	acts, err := readActs(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(append(all, acts...), func(e Event) bool { return !f.matchesEvent(e) })
	slices.SortStableFunc(all, func(a, b Event) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.rank, b.rank)) })
	return all, damaged, nil
}

// readActs returns people's commits on the board, oldest first.
func readActs(ctx context.Context, v *workspace.Board) (acts []Event, err error) {
	before, err := findBeforeOdd(ctx, v)
	if err != nil {
		return nil, err
	}
	for c, err := range v.Repo.Log(ctx, before, v.Tip) {
		if err != nil {
			return nil, err
		}
		if e, ok := readAct(v, c); ok {
			if all := c.Trailer("Odd-Task"); len(all) > 1 && (e.Kind == "sense" || len(c.Trailer("Odd-Ready-By")) > 0) {
				for _, task := range slices.Backward(all[1:]) {
					other := e
					other.Task, other.Text = task, strings.Replace(e.Text, e.Task, okf.Visible(task), 1)
					acts = append(acts, other)
				}
			}
			acts = append(acts, e)
		}
	}
	slices.Reverse(acts) // children came first
	return acts, nil
}

// findBeforeOdd returns the commit on which odd.toml was added, "" where that was the first.
// What is reachable from it is a project's history before odd, which may be long.
func findBeforeOdd(ctx context.Context, v *workspace.Board) (before repo.OID, err error) {
	for c, err := range v.Repo.PathLog(ctx, v.Tip, "odd.toml") {
		if err != nil {
			return "", err
		}
		before = ""
		if len(c.Parents) > 0 {
			before = c.Parents[0]
		}
	}
	return before, nil
}

// readAct reads a commit about the board by a person or odd sense. Other commits of the agent are
// in the ledger already, and those about anything else are not odd's to tell.
func readAct(v *workspace.Board, c repo.Commit) (Event, bool) {
	subject, body := splitMessage(c)
	sensed := strings.HasPrefix(subject, "board: file ")
	if c.Author.Email == v.Config.AgentEmail && !sensed {
		return Event{}, false
	}
	first := func(name string) string {
		if all := c.Trailer(name); len(all) > 0 {
			return all[0]
		}
		return ""
	}
	e := Event{
		At: c.Author.When.UTC(), Kind: "person", Person: cmp.Or(c.Author.Name, c.Author.Email), Run: first("Odd-Run"), Task: first("Odd-Task"), Commit: string(c.OID),
	}
	e.rank = 1
	if lets := first("Odd-Ready-By") + first("Odd-Resumed-By") + first("Odd-Gate"); lets != "" || strings.HasPrefix(subject, "board: add ") || strings.HasPrefix(subject, "board: edit ") {
		e.rank = -1
	}
	if sensed {
		e.Kind, e.Person, e.Text = "sense", "odd sense", "filed "+e.Task
	} else if e.Text = describeAct(e.Task, subject, body, first); e.Text == "" {
		e.Text = describeSubject(subject, body)
	}
	if m := revertsCommit.FindStringSubmatch(c.Message); m != nil && e.Text == "" {
		if was, err := v.Repo.Commit(repo.OID(m[1])); err == nil {
			if undone, ok := readAct(v, was); ok {
				e.Task, e.Text, e.rank = undone.Task, "reverted: "+undone.Text, 1
			}
		}
	}
	if e.Text == "approved "+e.Task {
		for _, t := range []struct{ trailer, did string }{{"Odd-Without", "left out"}, {"Odd-Edited", "edited"}, {"Odd-Verified", "verified"}} {
			if n := len(c.Trailer(t.trailer)); n > 0 {
				e.Text += fmt.Sprintf(", %d %s", n, t.did)
			}
		}
	}
	e.Text = okf.Visible(e.Text)
	return e, e.Text != ""
}

// revertsCommit is where git revert names what it takes back.
var revertsCommit = regexp.MustCompile(`(?m)^This reverts commit ([0-9a-f]{40,64})`)

// describeAct tells an act that its trailers name, "" where none does.
func describeAct(task, subject, body string, first func(string) string) string {
	switch {
	case first("Odd-Approved-By") != "":
		return "approved " + task
	case first("Odd-Rejected-By") != "":
		return "rejected " + task + console.ReasonSuffix(body)
	case first("Odd-Ready-By") != "":
		return "made " + task + " ready"
	case first("Odd-Approval") != "":
		return "marked " + task + " done after its approval was merged"
	case first("Odd-Decision") != "":
		return "decided " + first("Odd-Decision") + ": " + strings.TrimPrefix(subject, "decide: ")
	case first("Odd-Gate") != "" && strings.HasPrefix(subject, "gate: "):
		act := strings.TrimPrefix(subject, "gate: "+first("Odd-Gate")+", ")
		if body == act {
			body = "" // as where nobody gave a reason
		}
		return "passed the " + first("Odd-Gate") + " gate: " + act + console.ReasonSuffix(body)
	case first("Odd-Resumed-By") != "":
		return "resumed the board"
	}
	return ""
}

// describeSubject tells an act that its subject names, "" where it is not odd's to tell.
func describeSubject(subject, body string) string {
	area, rest, _ := strings.Cut(subject, ": ")
	verbName, what, _ := strings.Cut(rest, " ")
	switch {
	case subject == "board: pause":
		return "paused the board" + console.ReasonSuffix(body)
	case area == "board" && verbName == "add":
		return "added " + what
	case area == "board" && verbName == "edit":
		return "edited " + what
	case area == "board":
		return rest
	case area == "handoff":
		return "handed over: " + rest
	case area == "journal":
		return "noted: " + rest
	}
	return ""
}

// splitMessage returns a commit's subject and the text between it and the trailers.
func splitMessage(c repo.Commit) (subject, body string) {
	subject, rest, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	paragraphs := strings.Split(strings.TrimSpace(rest), "\n\n")
	if last := len(paragraphs) - 1; strings.HasPrefix(paragraphs[last], "Odd-") {
		paragraphs = paragraphs[:last]
	}
	return subject, strings.Join(paragraphs, "\n\n")
}
