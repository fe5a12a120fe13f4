package tasks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/cmd/internal/approval"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/runs"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
)

// DrainVerb declares odd drain.
func DrainVerb(env console.Env) *cli.Command {
	return verb.Declare(&cli.Command{
		Name:  "drain",
		Usage: "run ready tasks, and put agents' proposals on review branches",
		Description: "odd drain\n" +
			"odd drain --max-tasks 5\n" +
			"odd drain --task read-the-handbook\n" +
			"odd drain --dry-run\n\n" +
			"For each task, odd claims it, starts one agent in a scratch clone, checks the\n" +
			"agent's output and commits it to the branch odd/review/TASK.N. The task then\n" +
			"waits for odd review and odd approve, or is blocked with a reason. odd refuses\n" +
			"a task before it claims it if something is missing, such as its role.\n\n" +
			"A claim is a commit that marks the task in_progress for this run and says\n" +
			"until when. If you stop the run with Ctrl-C, the task is blocked: odd task\n" +
			"ready TASK makes it ready again. If the run is killed, the next one in this\n" +
			"clone frees the task at once, and one in another clone after that time.\n\n" +
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
			verb.JSONFlag(),
		},
		Subcommands: []*cli.Command{pauseVerb(env), resumeVerb(env)},
		Action: verb.Alone(func(c *cli.Context) error {
			if c.Int("max-tasks") < 0 || c.IsSet("max-tasks") && c.Int("max-tasks") == 0 {
				return verb.Usage("drain: --max-tasks must be at least 1")
			}
			return RunDrain(c.Context, env, c.Int("max-tasks"), c.String("task"), c.Bool("dry-run"), c.Bool("json"))
		}),
	})
}

// RunDrain runs at most so many tasks, or the one that is named; dry only prints which.
func RunDrain(ctx context.Context, env console.Env, most int, task string, dry, asJSON bool) error {
	w, o, p, err := runs.Open(ctx, env)
	if err != nil {
		return err
	}
	o.MaxTasks, o.Task, o.BeforeTurn = most, task, p.CountTurn
	if dry {
		plan, err := drain.Explain(ctx, w.Repo, o)
		p.ClearLine()
		if err != nil {
			return err
		}
		return printPlan(env, plan, asJSON)
	}
	o.Preview = func(ctx context.Context, c drain.Preview) (string, error) {
		p.ClearLine()
		return runs.ConfirmPreview(ctx, w, c)
	}
	report, err := drain.Run(ctx, w.Repo, o)
	p.ClearLine()
	for _, n := range report.Notes {
		if p.Live { // which has overwritten them
			console.Talk(env, "%s", n)
		}
	}
	if err == nil && len(report.Tasks) == 0 && len(report.Swept) == 0 {
		tellIdle(ctx, w)
	}
	approval.TellUnapproved(ctx, w)
	return runs.Print(env, report, err, asJSON)
}

// tellIdle says that there was nothing to drain, and what a person does about it.
func tellIdle(ctx context.Context, w *workspace.Clone) {
	v, err := w.ReadCurrent(ctx)
	if err != nil {
		console.Talk(w.Env, "drain: no task is ready; odd drain --dry-run says why")
		return
	}
	n, unread := v.CountStates(), len(v.UnreadProblems())+len(board.Unread(v.Problems))
	if len(v.TaskRows())+unread == 0 {
		console.Talk(w.Env, "drain: there are no tasks yet; add one with odd task add \"TITLE\"")
		return
	}
	var parts []string
	if unread > 0 {
		parts = append(parts, console.CountNoun(unread, "task file")+" cannot be read (odd check says why)")
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
	console.Talk(w.Env, "drain: no task is ready: %s", cmp.Or(strings.Join(parts, ", "), "all are done; add one with odd task add \"TITLE\""))
}

func printPlan(env console.Env, p drain.Plan, asJSON bool) error {
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
	if err := console.Show(env, asJSON, p, rows...); err != nil {
		return err
	}
	for _, s := range p.Stops {
		console.Talk(env, "%s [%s]", s.Text, s.Code)
	}
	switch {
	case len(p.Stops) == 0:
		return nil
	case slices.Contains([]string{"paused", "locked", "queue-only"}, p.Stops[0].Code):
		return verb.ExitCode(verb.ExitBusy)
	}
	return verb.ExitCode(verb.ExitRefused)
}
