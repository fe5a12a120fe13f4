package cmd

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/okf"
)

func taskList(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "list",
		Usage: "list open tasks in the order in which odd drain runs them",
		Description: "odd task list\n" +
			"odd task list --state ready\n" +
			"odd task list --all --json\n\n" +
			"The columns are id, state, priority, role and title, then why odd drain would\n" +
			"not run the task now.",
		Flags:  []cli.Flag{&cli.StringFlag{Name: "state", Usage: "list only tasks in `STATE`: backlog, ready, in_progress, review, blocked or done"}, &cli.BoolFlag{Name: "all", Usage: "list done tasks too"}, jsonFlag()},
		Action: do(env, runTaskList),
	})
}

// taskRow is a task as --json lists it.
type taskRow struct {
	ID       okf.ID      `json:"id"`
	State    board.State `json:"state"`
	Priority string      `json:"priority"`
	Kind     string      `json:"kind,omitempty"`
	Role     string      `json:"role,omitempty"`
	Title    string      `json:"title"`
	Waits    string      `json:"waits,omitempty"` // why drain would not take it now
}

func runTaskList(c *cli.Context, env Env) error {
	state := board.State(c.String("state"))
	v, err := openTasks(c.Context, env)
	if err != nil {
		return err
	}
	if state != "" && !slices.Contains(board.States(), state) {
		return usage("task list: unknown state %q; use one of %s", state, joinWords(board.States()))
	}
	list, row := v.shownTasks(state, c.Bool("all"))
	for _, p := range slices.Concat(v.unreadProblems(), board.Unread(v.problems)) {
		talk(env, "%s", oneLine(v.fromTop(p).Error()))
	}
	if c.Bool("json") {
		return printManyJSON(env, list, row)
	}
	if len(list) == 0 {
		talk(env, "%s", noTask(state, len(v.taskRows())))
	}
	return printMany(env, list, func(cells []string, t *board.Row) []string {
		r := row(t)
		return append(cells, string(r.ID), string(r.State), r.Priority, r.Role, r.Title, layout.Clip(cell(r.Waits), 80))
	})
}

// noTask says why a list of tasks is empty, of a board that has so many.
func noTask(state board.State, all int) string {
	switch {
	case all == 0:
		return "there are no tasks yet; add one with odd task add \"TITLE\""
	case state != "":
		return "no task is in state " + string(state) + " (" + countNoun(all, "task") + " in all); odd task list --all lists them"
	}
	return "no task is open (" + countNoun(all, "task") + " done); odd task list --all lists them"
}

// shownTasks returns the tasks in the order drain would take them: those in state, or
// where that is "" all, done ones only if asked for. row is what is told of one.
func (v *view) shownTasks(state board.State, all bool) (list []*board.Row, row func(*board.Row) taskRow) {
	rows := v.taskRows()
	index := board.IndexOf(rows)
	chosen := make([]*board.Row, 0, len(rows))
	for _, t := range rows {
		if t.State == state || state == "" && (all || t.State != board.Done) {
			chosen = append(chosen, t)
		}
	}
	now := v.env.Now()
	return board.Order(chosen, index), func(t *board.Row) taskRow {
		r := taskRow{t.ID, t.State, t.Priority, t.Kind, t.Role, t.Title, ""}
		if t.State == board.Ready {
			r.Waits = string(board.Eligible(t, index, now))
		}
		if t.State == board.Blocked {
			r.Waits = t.BlockedReason
		}
		return r
	}
}

func taskShow(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "show",
		Usage:        "show one task, and why odd drain would or would not run it",
		ArgsUsage:    "TASK",
		BashComplete: completeTasks(env),
		Description:  "odd task show read-the-handbook",
		Flags:        []cli.Flag{jsonFlag()},
		Action:       do(env, runTaskShow),
	})
}

func runTaskShow(c *cli.Context, env Env) error {
	name, err := taskArg(c, env)
	if err != nil {
		return err
	}
	v, err := openTasks(c.Context, env)
	if err != nil {
		return err
	}
	t, err := v.findTask(name)
	if err != nil {
		return err
	}
	waits := string(board.Eligible(&t.Row, board.Behind(v.graph, t), env.Now()))
	if c.Bool("json") {
		fields := map[string]any{}
		for _, f := range t.Atom.Fields {
			fields[f.Key] = f.Value
		}
		return printJSON(env, map[string]any{"id": t.ID, "path": v.repoPath(t.Path), "state": t.State, "eligible": waits == "", "waits": waits, "fields": fields, "body": string(t.Atom.Body())})
	}
	switch {
	case waits == "":
		talk(env, "%s is ready; odd drain can work on it", t.ID)
	case t.State == board.Done:
		talk(env, "%s is done", t.ID)
	case t.State == board.Review:
		talk(env, "%s waits for your review; odd review %s shows the proposal", t.ID, t.ID)
	default:
		talk(env, "%s: odd drain does not work on it: %s", t.ID, waits)
	}
	return printText(env, string(t.Atom.Bytes()))
}
