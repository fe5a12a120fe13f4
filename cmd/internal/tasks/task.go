// Package tasks has the verbs about tasks: task writes and lists them, sense files them from
// reports of other tools, and drain has agents work on them.
package tasks

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// TaskVerb declares odd task.
func TaskVerb(env console.Env) *cli.Command {
	return verb.Group("task", "add, list, show and edit tasks, and mark them ready to run",
		"odd task add \"Harvest the terms of the handbook\" --role shore-lead \\\n"+
			"  --kind extract --input docs/\n"+
			"odd task ready harvest-the-terms-of-the-handbook\n"+
			"odd task list\n\n"+
			"A task is a markdown file in the folder tasks/ of the bundle. Its state is\n"+
			"backlog, ready, in_progress, review, blocked or done. odd drain runs only\n"+
			"tasks in ready. Only a person marks a task ready or approves it; [sense] ready\n"+
			"in odd.toml lets odd sense file ready tasks. To remove a task, git rm its file\n"+
			"and commit that.",
		taskAdd(env),
		verb.New("list", "list open tasks in the order in which odd drain runs them",
			"odd task list\n"+
				"odd task list --state ready\n"+
				"odd task list --all --json\n\n"+
				"The columns are id, state, priority, role and title, then why odd drain would\n"+
				"not run the task now.",
			verb.On(env, workspace.OpenTasks, runTaskList), &cli.StringFlag{Name: "state", Usage: "list only tasks in `STATE`: backlog, ready, in_progress, review, blocked or done"}, &cli.BoolFlag{Name: "all", Usage: "list done tasks too"}),
		verb.New("show TASK", "show one task, and why odd drain would or would not run it",
			"odd task show read-the-handbook",
			workspace.OnTask(env, runTaskShow)),
		verb.New("permissions TASK", "show what an agent may read, write, run and call for a task",
			"odd task permissions read-the-handbook\n\n"+
				"It shows what odd drain would allow the task's agent, before the agent runs:\n"+
				"from the task, its role, odd.toml and the files that no agent may write.\n"+
				"Whatever is not listed is refused.",
			workspace.OnTask(env, runTaskPermissions)),
		verb.New("ready [TASK...]", "mark tasks ready to run; only a person can",
			"odd task ready read-the-handbook\n"+
				"odd task ready count-crates paint-hull\n\n"+
				"Several tasks become ready by one commit; you type their number and the first\n"+
				"id. Without TASK, odd lists at a terminal what you can choose from.\n\n"+
				verb.PersonNote,
			verb.Do(env, runTaskReady), verb.YesFlag()), taskEdit(env))
}

// taskFlags returns the keys of a task that a person sets.
func taskFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "body", Usage: "describe the task in the text of `FILE`, - for stdin; the agent reads it"},
		&cli.StringFlag{Name: "kind", Usage: "kind of work, `KIND`: extract, research, document, implement, change, fix, review, …"},
		&cli.StringFlag{Name: "role", Usage: "role atom `ROLE` whose compiled context the agent gets"},
		&cli.StringFlag{Name: "priority", Usage: "p0 (first), p1, p2 or p3"},
		&cli.StringFlag{Name: "goal", Usage: "goal atom `ID` that the task serves; odd status counts by goal"},
		&cli.StringFlag{Name: "team", Usage: "charge the budget of team `ID`, a capability atom named in [budget.teams]"},
		&cli.StringFlag{Name: "signal", Usage: "event behind the task, `SIGNAL`: test_failure, doc_staleness, github_issue, …; it decides how urgent the task is"},
		&cli.StringSliceFlag{Name: "input", Usage: "let the agent read `PATH`: a file, a folder or a uri; repeatable"},
		&cli.StringSliceFlag{Name: "path", Usage: "let the agent change the files that match `GLOB`; repeatable"},
		&cli.StringSliceFlag{Name: "command", Usage: "run `COMMAND` on the change, which must pass; plain words or a JSON list; repeatable"},
		&cli.StringSliceFlag{Name: "accept", Usage: "add `SENTENCE` to the acceptance criteria; repeatable"},
		&cli.StringSliceFlag{Name: "depends", Usage: "wait until the task `ID` is done; repeatable"},
		&cli.StringFlag{Name: "budget-usd", Usage: "stop a session that costs more than `USD`"},
		&cli.IntFlag{Name: "max-turns", DefaultText: "[session] max_turns", Usage: "stop a session after `N` turns"},
		&cli.StringFlag{Name: "contract-role", Usage: "role in the session: explorer, planner, builder, validator, resolver, observer or general (default: by its kind)"},
		verb.ProfileFlag(),
		verb.SurfaceFlag(""),
		verb.EngagementFlag(),
		verb.VoiceFlag(),
		verb.HandoffFlag(),
		verb.ArtifactFlag(),
		verb.NoCommitFlag(),
	}
}

// readCommands returns the commands of a task as argument lists. No shell reads them, so
// that what only a shell would understand is refused rather than taken for a word.
func readCommands(c *cli.Context) ([][]string, error) {
	var out [][]string
	for _, s := range c.StringSlice("command") {
		argv, err := SplitCommand("--command", s)
		if err != nil {
			return nil, err
		}
		out = append(out, argv)
	}
	return out, nil
}

// SplitCommand returns the words of a command that a person typed as one word behind a
// flag or verb: plain words, or a JSON list.
func SplitCommand(behind, s string) ([]string, error) {
	argv := strings.Fields(s)
	if strings.HasPrefix(s, "[") {
		argv = nil
		if err := json.Unmarshal([]byte(s), &argv); err != nil {
			return nil, verb.Usage("%s %s: %v; write a JSON list of words, like [\"make\", \"test\"]", behind, s, err)
		}
	} else if strings.ContainsAny(s, "\"'`$|&;<>\\") {
		return nil, verb.Usage(`%s %s: odd runs it without a shell, so quotes, pipes and variables do not work; write its words as a JSON list, like ["sh", "check.sh"]`, behind, s)
	}
	if len(argv) == 0 {
		return nil, verb.Usage("%s is empty; name a program, like %[1]s 'make test'", behind)
	}
	return argv, nil
}

// isEmptied reports a list flag with one empty value, which removes the field.
func isEmptied(c *cli.Context, flag string) bool {
	all := c.StringSlice(flag)
	return len(all) == 1 && all[0] == ""
}

func taskSets(c *cli.Context) ([]okf.Set, error) {
	var sets []okf.Set
	for _, f := range []struct{ flag, key string }{{"title", "title"}, {"kind", "kind"}, {"role", "role"}, {"priority", "priority"}, {"goal", "goal"}, {"team", "team"}, {"signal", "signal"}, {"budget-usd", "budget_usd"},
		{"contract-role", "contract_role"}, {"persona", "persona"}, {"surface", "surface"}, {"engagement", "engagement"}, {"voice", "voice"}, {"artifact", "artifact"}} {
		if c.IsSet(f.flag) {
			sets = append(sets, okf.Set{Key: f.key, Value: c.String(f.flag)})
		}
	}
	for _, f := range []struct{ flag, key string }{{"input", "inputs"}, {"path", "paths"}, {"accept", "acceptance"}, {"depends", "dependencies"}, {"handoff", "handoff"}} {
		if isEmptied(c, f.flag) {
			sets = append(sets, okf.Set{Key: f.key})
		} else if c.IsSet(f.flag) {
			sets = append(sets, okf.Set{Key: f.key, Value: c.StringSlice(f.flag)})
		}
	}
	if c.IsSet("max-turns") {
		sets = append(sets, okf.Set{Key: "max_turns", Value: c.Int("max-turns")})
	}
	if isEmptied(c, "command") {
		return append(sets, okf.Set{Key: "commands"}), nil
	}
	if !c.IsSet("command") {
		return sets, nil
	}
	list, err := readCommands(c)
	return append(sets, okf.Set{Key: "commands", Value: list}), err
}

// goalID returns the id of the goal that a person names, by its id or its path; "" for "".
func goalID(v *workspace.Board, verbName, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	a := v.Graph.Target(strings.TrimPrefix(name, v.Config.Root+"/"), "")
	switch {
	case a == nil && board.TitleID(name) == "":
		return "", verb.Usage("%s: %q names no goal; an id has letters a to z or digits: odd search --type goal goal lists the goals", verbName, name)
	case a == nil:
		return "", verb.Usage("%s: there is no goal %s; write it first, as %s with the line \"type: goal\" between two lines ---, and commit it", verbName, name, v.RepoPath("goals/"+board.TitleID(name)+".md"))
	case a.Type != board.GoalType:
		return "", verb.Usage("%s: %s is a %s, not a goal; name an atom of type goal", verbName, name, a.Type)
	}
	return string(a.ID), nil
}

// landTask lands what build makes of one task, or with --no-commit writes and stages it,
// and prints one row: build says in moved which task it is and in what state.
func landTask(w *workspace.Clone, c *cli.Context, build func(*workspace.Board) (repo.Changes, string, error), moved *board.Task) error {
	by := land.AsPerson
	if w.Env.AgentSign() != "" { // what an agent files is no person's
		by = land.AsMachine
	}
	oid, err := land.WriteOrStage(c, w, by, build)
	if err != nil {
		return err
	}
	id, state := string(moved.ID), string(moved.State)
	return console.Show(w.Env, c.Bool("json"), map[string]string{"task": id, "state": state, "commit": string(oid)}, []string{id, state, console.ShortID(oid)})
}

// TaskRow is a task as a list prints it.
type TaskRow struct {
	ID       okf.ID      `json:"id"`
	State    board.State `json:"state"`
	Priority string      `json:"priority"`
	Kind     string      `json:"kind,omitempty"`
	Role     string      `json:"role,omitempty"`
	Title    string      `json:"title"`
	Waits    string      `json:"waits,omitempty"` // why drain would not take it now
}

func runTaskList(c *cli.Context, env console.Env, v *workspace.Board) error {
	state := board.State(c.String("state"))
	if state != "" && !slices.Contains(board.States(), state) {
		return verb.Usage("task list: unknown state %q; use one of %s", state, console.JoinWords(board.States()))
	}
	list, row := ShownTasks(v, state, c.Bool("all"))
	for _, p := range slices.Concat(v.UnreadProblems(), board.Unread(v.Problems)) {
		console.Talk(env, "%s", console.OneLine(v.FromTop(p).Error()))
	}
	if c.Bool("json") {
		return console.PrintManyJSON(env, list, row)
	}
	if len(list) == 0 {
		console.Talk(env, "%s", noTask(state, len(v.TaskRows())))
	}
	room := 80 // for the reason; on a terminal, what one line holds
	if env.Terminal {
		room = env.TerminalWidth() - 4
	}
	return console.PrintMany(env, list, func(cells []string, t *board.Row) []string {
		r := row(t)
		return append(cells, string(r.ID), string(r.State), r.Priority, r.Role, console.TitleCell(r.Title), layout.Clip(console.Cell(r.Waits), room))
	})
}

// noTask says why a list of tasks is empty, of a board that has so many.
func noTask(state board.State, all int) string {
	switch {
	case all == 0:
		return "there are no tasks yet; add one with odd task add \"TITLE\""
	case state != "":
		return "no task is in state " + string(state) + " (" + console.CountNoun(all, "task") + " in all); odd task list --all lists them"
	}
	return "no task is open (" + console.CountNoun(all, "task") + " done); odd task list --all lists them"
}

// ShownTasks returns the tasks in the order drain would take them: those in state, or
// where that is "" all, done ones only if asked for. row is what is told of one.
func ShownTasks(v *workspace.Board, state board.State, all bool) (list []*board.Row, row func(*board.Row) TaskRow) {
	rows := v.TaskRows()
	index := board.IndexOf(rows)
	chosen := make([]*board.Row, 0, len(rows))
	for _, t := range rows {
		if t.State == state || state == "" && (all || t.State != board.Done) {
			chosen = append(chosen, t)
		}
	}
	now := v.Env.Now()
	return board.Order(chosen, index), func(t *board.Row) TaskRow {
		r := TaskRow{t.ID, t.State, t.Priority, t.Kind, t.Role, t.Title, ""}
		if t.State == board.Ready {
			r.Waits = string(board.Eligible(t, index, now))
		}
		if t.State == board.Blocked {
			r.Waits = t.BlockedReason
		}
		return r
	}
}

func runTaskShow(c *cli.Context, env console.Env, name string) error {
	v, t, err := workspace.Options{Current: true, Tasks: true}.OpenTask(c.Context, env, name)
	if err != nil {
		return err
	}
	waits := string(board.Eligible(&t.Row, board.Behind(v.Graph, t), env.Now()))
	if waits == "" {
		waits = strings.Join(PreflightTask(c.Context, v, t), "; ")
	}
	if c.Bool("json") {
		fields := map[string]any{}
		for _, f := range t.Atom.Fields {
			fields[f.Key] = f.Value
		}
		return console.PrintJSON(env, map[string]any{"id": t.ID, "path": v.RepoPath(t.Path), "state": t.State, "eligible": waits == "", "waits": waits, "fields": fields, "body": string(t.Atom.Body())})
	}
	killed, err := v.Repo.KilledRuns()
	if err != nil {
		return err
	}
	switch {
	case waits == "":
		console.Talk(env, "%s is ready; odd drain can work on it", t.ID)
	case t.State == board.InProgress && slices.Contains(killed, t.ClaimedBy):
		console.Talk(env, "%s: %s was killed, so nobody works on it; odd task ready %s frees it, and so does the next odd drain", t.ID, t.ClaimedBy, t.ID)
	case t.State == board.Done:
		console.Talk(env, "%s is done", t.ID)
	case t.State == board.Review:
		console.Talk(env, "%s waits for your review; odd review %s shows the proposal", t.ID, t.ID)
	case t.State == board.Blocked:
		console.Talk(env, "%s is blocked: %s", t.ID, cmp.Or(t.BlockedReason, waits))
	case t.State != board.Ready:
		console.Talk(env, "%s: %s", t.ID, waits)
	default:
		console.Talk(env, "%s is %s, and odd drain does not work on it: %s", t.ID, t.State, waits)
	}
	return console.PrintText(env, string(t.Atom.Bytes()))
}
