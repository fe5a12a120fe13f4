package cmd

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

func taskVerb(env Env) *cli.Command {
	return group("task", "add, list, show and edit tasks, and mark them ready to run",
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
		verb("list", "list open tasks in the order in which odd drain runs them",
			"odd task list\n"+
				"odd task list --state ready\n"+
				"odd task list --all --json\n\n"+
				"The columns are id, state, priority, role and title, then why odd drain would\n"+
				"not run the task now.",
			on(env, openTasks, runTaskList), &cli.StringFlag{Name: "state", Usage: "list only tasks in `STATE`: backlog, ready, in_progress, review, blocked or done"}, &cli.BoolFlag{Name: "all", Usage: "list done tasks too"}),
		verb("show TASK", "show one task, and why odd drain would or would not run it",
			"odd task show read-the-handbook",
			onTask(env, runTaskShow)),
		verb("permissions TASK", "show what an agent may read, write, run and call for a task",
			"odd task permissions read-the-handbook\n\n"+
				"It shows what odd drain would allow the task's agent, before the agent runs:\n"+
				"from the task, its role, odd.toml and the files that no agent may write.\n"+
				"Whatever is not listed is refused.",
			onTask(env, runTaskPermissions)),
		verb("ready [TASK...]", "mark tasks ready to run; only a person can",
			"odd task ready read-the-handbook\n"+
				"odd task ready count-crates paint-hull\n\n"+
				"Several tasks become ready by one commit; you type their number and the first\n"+
				"id. Without TASK, odd lists at a terminal what you can choose from.\n\n"+
				personNote,
			do(env, runTaskReady), yesFlag()), taskEdit(env))
}

// taskFlags returns the keys of a task that a person sets.
func taskFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "kind", Usage: "kind of work, `KIND`: extract, research, document, implement, fix, review, …"},
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
		profileFlag(),
		surfaceFlag(""),
		engagementFlag(),
		voiceFlag(),
		handoffFlag(),
		artifactFlag(),
		noCommitFlag(),
	}
}

// readCommands returns the commands of a task as argument lists. No shell reads them, so
// that what only a shell would understand is refused rather than taken for a word.
func readCommands(c *cli.Context) ([][]string, error) {
	var out [][]string
	for _, s := range c.StringSlice("command") {
		argv, err := splitCommand("--command", s)
		if err != nil {
			return nil, err
		}
		out = append(out, argv)
	}
	return out, nil
}

// splitCommand returns the words of a command that a person typed as one word behind a
// flag or verb: plain words, or a JSON list.
func splitCommand(behind, s string) ([]string, error) {
	argv := strings.Fields(s)
	if strings.HasPrefix(s, "[") {
		argv = nil
		if err := json.Unmarshal([]byte(s), &argv); err != nil {
			return nil, usage("%s %s: %v; write a JSON list of words, like [\"make\", \"test\"]", behind, s, err)
		}
	} else if strings.ContainsAny(s, "\"'`$|&;<>\\") {
		return nil, usage(`%s %s: odd runs it without a shell, so quotes, pipes and variables do not work; write its words as a JSON list, like ["sh", "check.sh"]`, behind, s)
	}
	if len(argv) == 0 {
		return nil, usage("%s is empty; name a program, like %[1]s 'make test'", behind)
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
func (v *view) goalID(verb, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	a := v.graph.Target(strings.TrimPrefix(name, v.cfg.Root+"/"), "")
	switch {
	case a == nil && board.TitleID(name) == "":
		return "", usage("%s: %q names no goal; an id has letters a to z or digits: odd search --type goal goal lists the goals", verb, name)
	case a == nil:
		return "", usage("%s: there is no goal %s; write it first, as %s with the line \"type: goal\" between two lines ---, and commit it", verb, name, v.repoPath("goals/"+board.TitleID(name)+".md"))
	case a.Type != board.GoalType:
		return "", usage("%s: %s is a %s, not a goal; name an atom of type goal", verb, name, a.Type)
	}
	return string(a.ID), nil
}

// landTask lands what build makes of one task, or with --no-commit writes and stages it,
// and prints one row: build says in moved which task it is and in what state.
func (w *workspace) landTask(c *cli.Context, build func(*view) (repo.Changes, string, error), moved *board.Task) error {
	by := (*view).signCommit
	if w.env.agentSign() != "" { // what an agent files is no person's
		by = (*view).byMachine
	}
	oid, err := w.writeOrStage(c, by, build)
	if err != nil {
		return err
	}
	id, state := string(moved.ID), string(moved.State)
	return show(w.env, c.Bool("json"), map[string]string{"task": id, "state": state, "commit": string(oid)}, []string{id, state, shortID(oid)})
}

// stageChanges writes the changes into the work tree and the index, on the board's own
// checkout only. They are built on the files as they lie there, so that a
// person's edits and what was staged before stay.
func (w *workspace) stageChanges(ctx context.Context, build func(*view) (repo.Changes, string, error)) error {
	v, err := w.readCurrent(ctx)
	if err != nil {
		return err
	}
	if head, err := w.repo.Branch(); err != nil || head != v.line.Name() {
		return refuse("branch", "--no-commit: the board branch %s is not checked out here; run git switch %[1]s first, or leave --no-commit out", v.line.Name())
	}
	ch, _, err := build(v)
	if err != nil {
		return err
	}
	converted, err := w.repo.Converted(ctx, v.tip, ch)
	if err != nil {
		return err
	}
	if len(converted) > 0 {
		return refuse("converted", "%v", converted[0])
	}
	if err := w.repo.Write(ch); err != nil {
		return err
	}
	var paths []string
	for p := range ch {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return w.repo.Stage(ctx, paths...)
}

type taskRow struct {
	ID       okf.ID      `json:"id"`
	State    board.State `json:"state"`
	Priority string      `json:"priority"`
	Kind     string      `json:"kind,omitempty"`
	Role     string      `json:"role,omitempty"`
	Title    string      `json:"title"`
	Waits    string      `json:"waits,omitempty"` // why drain would not take it now
}

func runTaskList(c *cli.Context, env Env, v *view) error {
	state := board.State(c.String("state"))
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
		return append(cells, string(r.ID), string(r.State), r.Priority, r.Role, titleCell(r.Title), layout.Clip(cell(r.Waits), 80))
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

func runTaskShow(c *cli.Context, env Env, name string) error {
	v, t, err := opening{current: true, tasks: true}.openTask(c.Context, env, name)
	if err != nil {
		return err
	}
	waits := string(board.Eligible(&t.Row, board.Behind(v.graph, t), env.Now()))
	if waits == "" {
		waits = strings.Join(v.preflightTask(c.Context, t), "; ")
	}
	if c.Bool("json") {
		fields := map[string]any{}
		for _, f := range t.Atom.Fields {
			fields[f.Key] = f.Value
		}
		return printJSON(env, map[string]any{"id": t.ID, "path": v.repoPath(t.Path), "state": t.State, "eligible": waits == "", "waits": waits, "fields": fields, "body": string(t.Atom.Body())})
	}
	killed, err := v.repo.KilledRuns()
	if err != nil {
		return err
	}
	switch {
	case waits == "":
		talk(env, "%s is ready; odd drain can work on it", t.ID)
	case t.State == board.InProgress && slices.Contains(killed, t.ClaimedBy):
		talk(env, "%s: %s was killed, so nobody works on it; odd task ready %s frees it, and so does the next odd drain", t.ID, t.ClaimedBy, t.ID)
	case t.State == board.Done:
		talk(env, "%s is done", t.ID)
	case t.State == board.Review:
		talk(env, "%s waits for your review; odd review %s shows the proposal", t.ID, t.ID)
	case t.State == board.Blocked:
		talk(env, "%s is blocked: %s", t.ID, or(t.BlockedReason, waits))
	case t.State != board.Ready:
		talk(env, "%s: %s", t.ID, waits)
	default:
		talk(env, "%s is %s, and odd drain does not work on it: %s", t.ID, t.State, waits)
	}
	return printText(env, string(t.Atom.Bytes()))
}
