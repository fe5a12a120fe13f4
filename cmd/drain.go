package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
)

func drainVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "drain",
		Usage: "run ready tasks, and put agents' proposals on review branches",
		Description: "odd drain\n" +
			"odd drain --max-tasks 5\n" +
			"odd drain --task read-the-handbook\n" +
			"odd drain --dry-run\n\n" +
			"For each task, odd claims it, starts one agent in a scratch clone, checks the\n" +
			"agent's output and commits it to the branch odd/review/TASK.N. The task then\n" +
			"waits for odd review and odd approve, or is blocked with a reason. A task that\n" +
			"cannot work, as without a role or its inputs, is refused before it is claimed.\n\n" +
			"A claim is a commit that marks the task in_progress for this run and says\n" +
			"until when. If the run is killed, the next one in this clone frees the task at\n" +
			"once, and one in another clone after that time.\n\n" +
			"Which agent: [session] substrate in odd.toml names it. The default, extract,\n" +
			"reads documents offline and costs nothing. See odd help agent run for others.\n\n" +
			"[drain] notify in odd.toml names a command that is told how each task ended,\n" +
			"such as a desktop message. It gets one JSON object on stdin and runs\n" +
			"unrestricted.\n\n" +
			"Exit 0 also means that tasks were blocked, or that none was ready: stdout and\n" +
			"--json name each one with the reason. Exit 3: a rule refused the whole run,\n" +
			"TASK or all that is ready. Exit 4: another drain runs, or drains are paused.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "max-tasks", DefaultText: "[drain] max_tasks", Usage: "run at most `N` tasks"},
			&cli.StringFlag{Name: "task", Usage: "run only `TASK`"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print which tasks would run or be skipped, and why; write nothing"},
			jsonFlag(),
		},
		Subcommands: []*cli.Command{pauseVerb(env), resumeVerb(env)},
		Action: alone(func(c *cli.Context) error {
			if c.Int("max-tasks") < 0 || c.IsSet("max-tasks") && c.Int("max-tasks") == 0 {
				return usage("drain: --max-tasks must be at least 1")
			}
			return runDrain(c.Context, env, c.Int("max-tasks"), c.String("task"), c.Bool("dry-run"), c.Bool("json"))
		}),
	})
}

func runDrain(ctx context.Context, env Env, most int, task string, dry, asJSON bool) error {
	w, o, p, err := openDrain(ctx, env)
	if err != nil {
		return err
	}
	o.MaxTasks, o.Task, o.Turned = most, task, p.countTurn
	if dry {
		plan, err := drain.Explain(ctx, w.repo, o)
		p.clearLine()
		if err != nil {
			return err
		}
		return printPlan(env, plan, asJSON)
	}
	o.Preview = func(ctx context.Context, c drain.Preview) (string, error) {
		p.clearLine()
		return w.confirmPreview(ctx, c)
	}
	report, err := drain.Run(ctx, w.repo, o)
	p.clearLine()
	for _, n := range report.Notes {
		if p.live { // which has overwritten them
			talk(env, "%s", n)
		}
	}
	if err == nil && len(report.Tasks) == 0 && len(report.Swept) == 0 {
		w.tellIdle(ctx)
	}
	w.tellUnapproved(ctx)
	return printDrained(env, report, err, asJSON)
}

// tellIdle says that there was nothing to drain, and what a person does about it.
func (w *workspace) tellIdle(ctx context.Context) {
	v, err := w.readCurrent(ctx)
	if err != nil {
		talk(w.env, "drain: no task is ready; odd drain --dry-run says why")
		return
	}
	n, unread := v.countStates(), len(v.unreadProblems())+len(board.Unread(v.problems))
	if len(v.taskRows())+unread == 0 {
		talk(w.env, "drain: there are no tasks yet; add one with odd task add \"TITLE\"")
		return
	}
	var parts []string
	if unread > 0 {
		parts = append(parts, countNoun(unread, "task file")+" cannot be read (odd check says why)")
	}
	for _, s := range []struct {
		state     board.State
		what, way string
	}{
		{board.Review, "waiting for your review", " (odd review)"}, {board.Ready, "waiting for something else", " (odd drain --dry-run says what)"}, {board.InProgress, "in progress", ""},
		{board.Blocked, "blocked", " (odd task list --state blocked)"}, {board.Backlog, "in backlog", " (odd task ready TASK makes one ready)"},
	} {
		if n[s.state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s%s", n[s.state], s.what, s.way))
		}
	}
	talk(w.env, "drain: no task is ready: %s", or(strings.Join(parts, ", "), "all are done; add one with odd task add \"TITLE\""))
}

// printDrained prints what a drain did, also when err stopped it after some
// tasks. It returns err, or else what stopped the printing.
func printDrained(env Env, report drain.Report, err error, asJSON bool) error {
	switch {
	case !asJSON:
		if bad := printReport(env, report); err == nil {
			return bad
		}
		return err
	case err == nil:
		return printJSON(env, report)
	case len(report.Tasks) == 0:
		return err
	}
	part := struct {
		drain.Report
		Error map[string]any `json:"error"` // what stopped it after these tasks
	}{report, errorJSON(err)}
	_ = printJSON(env, part)
	return shown(err)
}

// openDrain opens the workspace for a verb that starts sessions, with the options of a drain that
// tells p what goes on.
func openDrain(ctx context.Context, env Env) (w *workspace, o drain.Options, p *progress, err error) {
	if w, err = openWorkspace(ctx, env); err != nil {
		return nil, o, nil, err
	}
	p = newProgress(env)
	o, err = w.drainOptions()
	o.Progress = p.setLine
	return w, o, p, err
}

func (w *workspace) drainOptions() (drain.Options, error) {
	branch, err := w.boardRef()
	if err != nil {
		return drain.Options{}, err
	}
	id, err := ulid.New(ulid.Timestamp(w.env.Now()), w.env.Entropy)
	if err != nil {
		return drain.Options{}, err
	}
	return drain.Options{Branch: branch, Check: w.landingCheck(), Run: "run-" + id.String(), By: "odd/" + oddVersion(), Now: w.env.Now, Wait: w.env.Sleep, Environ: w.env.Environ, Random: w.env.readRandom, Cage: w.env.Cage, Temp: w.env.Temp}, nil
}

func printReport(env Env, r drain.Report) error {
	var rows [][]string
	for _, t := range r.Tasks {
		rows = append(rows, []string{string(t.Task), or(string(t.State), "lost"), describeCounts(t.Effects, t.Files), "$" + t.Cost.String(), waitsOn(t)})
	}
	if err := printRows(env, rows); err != nil {
		return err
	}
	for _, t := range r.Tasks {
		for _, n := range t.Notes {
			talk(env, "%s: %s", t.Task, n)
		}
	}
	return nil
}

func waitsOn(t drain.Outcome) string {
	if t.Landed != "" {
		return t.Branch + ", already merged into " + t.Landed
	}
	return or(t.Branch, t.Reason)
}

func printPlan(env Env, p drain.Plan, asJSON bool) error {
	if asJSON {
		if err := printJSON(env, p); err != nil {
			return err
		}
	} else {
		var rows [][]string
		for _, s := range p.Tasks {
			verdict := "skip"
			if s.Run {
				verdict = "run"
			}
			say := s.Reason
			if say == "" && s.Why != "" { // it is not simply the usual one
				say = s.Substrate + " (" + s.Why + ")"
			}
			rows = append(rows, []string{string(s.Task), string(s.State), verdict, s.Role, "$" + s.Reserved.String(), say})
		}
		if err := printRows(env, rows); err != nil {
			return err
		}
	}
	for _, s := range p.Stops {
		talk(env, "%s [%s]", s.Text, s.Code)
	}
	switch {
	case len(p.Stops) == 0:
		return nil
	case slices.Contains([]string{"paused", "locked", "queue-only"}, p.Stops[0].Code):
		return exitCode(exitBusy)
	}
	return exitCode(exitRefused)
}
