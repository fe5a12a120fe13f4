// Package changes has the verb op, which lists and shows agents' changes to files that are no
// atoms, cancels one, and says how dangerous a change is.
package changes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/cmd/internal/approval"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/ops"
	"github.com/odd-cli/odd/cmd/internal/runs"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// OpVerb declares odd op.
func OpVerb(env console.Env) *cli.Command {
	return verb.Group("op", "list and inspect agents' file changes; cancel one",
		"odd op list\n"+
			"odd op show 7QK2ZP\n"+
			"odd op classify docs/\n\n"+
			"An op is one attempt of an agent to change files that are not atoms: tasks\n"+
			"that set paths (odd task add --path). odd checks the files, runs your commands\n"+
			"on them in a copy, and gives the change a risk tier: SAFE_AUTO, NOTIFY_APPLY,\n"+
			"APPROVAL_REQUIRED or BLOCKED. The tier decides whether a person must see it\n"+
			"first.",

		verb.New("list", "list changes: those that wait for you first, then running ones",
			"odd op list\nodd op list --all",
			verb.On(env, workspace.OpenFiles, runOpList), &cli.BoolFlag{Name: "all", Usage: "list ended changes too, the latest first"}),
		opRead(env, "show", "show one change: its state, tier, findings, time and cost", runOpShow),
		opRead(env, "diff", "print the patch of a change, also of one that failed", runOpDiff),
		opRead(env, "prompt", "print the briefs (prompts) that agents got for a change", runOpPrompt),
		opCancel(env), opClassify(env))
}

// opRead returns a verb that shows something of one op, on the board as a person sees it.
func opRead(env console.Env, name, use string, run func(*cli.Context, console.Env, *workspace.Board, pipeline.Story) error) *cli.Command {
	return verb.New(name+" OP", use,
		"odd op "+name+" 7QK2ZP\n\n"+
			"OP is the id that odd op list prints, or the end of it, or a task for the\n"+
			"last change that was made for it.",
		func(c *cli.Context) error {
			id, err := opArg(c, env)
			if err != nil {
				return err
			}
			v, err := workspace.OpenCurrent(c.Context, env)
			if err != nil {
				return err
			}
			s, err := ops.Find(v, id)
			if err != nil {
				return err
			}
			return run(c, env, v, s)
		})
}

type opShown struct {
	opRow
	Facts  map[string]string `json:"facts"`
	Sound  bool              `json:"sound"` // its records hold
	Means  string            `json:"means,omitempty"`
	Note   string            `json:"note,omitempty"`
	Failed string            `json:"failed_check,omitempty"`
	Output []string          `json:"output,omitempty"` // the end of what the failed check printed
	Branch string            `json:"branch,omitempty"`
	Commit string            `json:"commit,omitempty"`
	Phases []opPhase         `json:"phases"`
}

type opPhase struct {
	Phase   pipeline.Phase `json:"phase"`
	Started string         `json:"started"`
	Elapsed int64          `json:"elapsed_ms"`
	Spent   int64          `json:"spent_micro_usd,omitempty"`
	Note    string         `json:"note,omitempty"`
}

func runOpShow(c *cli.Context, env console.Env, v *workspace.Board, s pipeline.Story) error {
	o := s.Op()
	out := opShown{opRow: opRowOf(state.OpOf(s)), Facts: o.Facts(), Sound: s.Sound, Means: explainHere(o.Reason), Phases: []opPhase{}}
	if o.Ended() {
		out.Note = o.Last().Note
	}
	if len(o.Moved) > 0 {
		out.Branch, out.Commit = strings.TrimPrefix(o.Moved[0].Ref, "refs/heads/"), o.Moved[0].New
	}
	for _, p := range pipeline.Passages(s) {
		if p.Note == "" && len(p.Moved) > 0 {
			p.Note = "committed to " + strings.TrimPrefix(p.Moved[0].Ref, "refs/heads/")
		}
		out.Phases = append(out.Phases, opPhase{p.Phase, console.FormatTime(p.Started), p.Elapsed.Milliseconds(), p.Spent, p.Note})
	}
	out.Failed, out.Output = ops.ReadFailure(v.Repo, o.Run, o.ID)
	return console.ShowPage(env, c.Bool("json"), out, out.opCard())
}

// explainHere says what a code means without the advice to run odd op show, which printed it.
func explainHere(r pipeline.Reason) string {
	const show = "`odd op show OP`"
	text := strings.ReplaceAll(pipeline.Explain(r), "what "+show+" says", "what is shown here")
	clauses := slices.DeleteFunc(strings.Split(text, "; "), func(s string) bool { return strings.Contains(s, show) })
	return strings.Join(clauses, "; ")
}

func (s opShown) opCard() string {
	b := &console.Card{Wide: 12}
	b.Line("change", "%s", s.Op)
	b.Line("task", "%s", s.Task)
	b.Line("state", "%s", s.stateText())
	b.Line("because", "%s", s.Note)
	b.Line("means", "%s", s.Means)
	b.Line("failed", "%s", s.Failed)
	for _, text := range s.Output {
		b.Line("", "| %s", text)
	}
	b.Line("risk tier", "%s", s.Tier)
	b.Line("began", "%s by %s", s.Began, s.Run)
	b.Line("until", "%s", s.Until)
	b.Line("spent", "$%s", budget.MicroUSD(s.Spent))
	b.Line("base", "%s", s.Facts[pipeline.FactBase])
	b.Line("candidate", "%s", s.Facts[pipeline.FactCandidate])
	b.Line("sandbox", "%s", approval.DescribeSandbox(s.Facts[pipeline.FactSandbox]))
	b.Line("odd fixed", "%s", s.Facts[pipeline.FactMended])
	b.Line("rules hash", "%s", s.Facts[pipeline.FactRules])
	if s.Commit != "" {
		b.Line("commit", "%s on %s", s.Commit, s.Branch)
	}
	if !s.Sound {
		b.Line("records", "are inconsistent; run odd check to see why")
	}
	for i, p := range s.Phases {
		took := (time.Duration(p.Elapsed) * time.Millisecond).String()
		b.Line([]string{"phases", ""}[min(i, 1)], "%-9s %8s  %s", p.Phase, took, p.Note)
	}
	return b.String()
}

func runOpDiff(c *cli.Context, env console.Env, v *workspace.Board, s pipeline.Story) error {
	o := s.Op()
	b, err := patchOf(c.Context, v.Repo, o)
	if err != nil {
		return err
	}
	value := map[string]string{"op": o.ID, "base": o.Fact(pipeline.FactBase), "candidate": o.Fact(pipeline.FactCandidate), "patch": string(b)}
	return console.ShowText(env, c.Bool("json"), value, console.DiffText(env, string(b)))
}

// patchOf returns what an op would have changed: its commit against its base, or where
// it made none what the run kept of its candidate.
func patchOf(ctx context.Context, r *repo.Repo, o pipeline.Op) ([]byte, error) {
	base, made := repo.OID(o.Fact(pipeline.FactBase)), repo.OID(o.Fact(pipeline.FactCandidate))
	if len(o.Moved) > 0 {
		made = repo.OID(o.Moved[0].New)
	}
	if made == "" {
		return nil, verb.Refuse("no-candidate", "op diff %s: it ended before the agent delivered a change; odd op show %[1]s says why", o.ID)
	}
	b, err := r.Patch(ctx, base, made)
	if err == nil {
		return b, nil
	}
	if kept, ok := ops.KeptFile(r, o, "op.patch"); ok {
		return kept, nil
	}
	return nil, verb.Refuse("artifacts", "op diff %s: the commit %s is no longer in this clone; run git fetch origin 'refs/odd/run/*:refs/odd/run/*' to look for it in run %s", o.ID, console.ShortID(made), o.Run)
}

func runOpPrompt(c *cli.Context, env console.Env, v *workspace.Board, s pipeline.Story) error {
	o := s.Op()
	all, err := ops.ReadPrompts(v.Repo, o)
	if err != nil {
		return err
	}
	text := ""
	for i, p := range all {
		text += fmt.Sprintf("%s==> %s <==\n%s\n", strings.Repeat("\n", min(i, 1)), p.File, strings.TrimRight(okf.Visible(p.Text), "\n"))
	}
	return console.ShowText(env, c.Bool("json"), all, text)
}

func opCancel(env console.Env) *cli.Command {
	return verb.New("cancel OP", "cancel a change that waits or is at work; only a person can",
		"odd op cancel 7QK2ZP --reason \"we keep the old format\"\n\n"+
			"The task of a change that waits goes back to backlog, and its next attempt is\n"+
			"told the reason. Where an agent of this clone still works on it, its odd drain\n"+
			"ends the session, charges what it cost, blocks the task with the reason, and\n"+
			"goes on.\n\n"+
			verb.PersonNote,
		verb.Do(env, runOpCancel),
		verb.ReasonFlag(),
		verb.YesFlag())
}

func runOpCancel(c *cli.Context, env console.Env) error {
	name := c.Args().First()
	if c.String("reason") == "" {
		return verb.Usage("op cancel: say why with --reason, because the next attempt reads it: odd op cancel %s --reason \"why\"", name)
	}
	o := approval.Rejection{Reason: c.String("reason"), Yes: c.Bool("yes"), JSON: c.Bool("json"), Ends: pipeline.CancelledByPerson}
	v, err := workspace.OpenShared(c.Context, env)
	if err != nil {
		return err
	}
	s, err := ops.Find(v, name)
	if err != nil || s.Op().Phase != pipeline.Waiting && !s.Op().Ended() {
		if freed := runs.FreeKilled(c.Context, v.Clone); len(freed) > 0 {
			if v, err = workspace.OpenShared(c.Context, env); err != nil {
				return err
			}
			if s, err = ops.Find(v, name); err == nil && s.Op().Ended() && slices.Contains(freed, okf.ID(s.Op().Task)) {
				op := s.Op()
				answer := map[string]string{"op": op.ID, "task": op.Task, "state": string(op.Phase), "reason": string(op.Reason)}
				return console.Show(env, o.JSON, answer, []string{op.ID, string(op.Phase), op.Task, "its run was killed"})
			}
		}
	}
	if b, ok := ops.FindBeat(v, name); ok && ops.IsDraining(v.Repo) {
		h, err := land.Confirm(c.Context, v.Clone, "", "op cancel "+b.Op, b.Task, o.Yes)
		if err != nil {
			return err
		}
		why := strings.Join(strings.Fields(string(secrets.Redact([]byte(o.Reason)))), " ")
		if err := v.Repo.AskStop(b.Op, "cancelled by "+h.By()+": "+why); err != nil {
			return err
		}
		return console.Show(v.Env, o.JSON, map[string]string{"op": b.Op, "task": b.Task, "state": "stopping", "by": h.By()}, []string{b.Op, "stopping", b.Task, "its odd drain ends the session; until then odd op list shows it"})
	}
	if err != nil {
		return err
	}
	op := s.Op()
	switch {
	case op.Ended():
		return verb.Refuse("state", "op cancel %s: the change has already ended (%s: %s); odd op show %[1]s says more", op.ID, op.Phase, op.Reason)
	case op.Phase != pipeline.Waiting:
		return verb.Refuse("state", "op cancel %s: %s", op.ID, ops.AtWork(v, op.Run, op.Task))
	}
	t, err := v.FindTask(op.Task)
	if err != nil {
		return err
	}
	return approval.RejectProposal(c.Context, v, t, o)
}

// opArg returns the argument of a verb that takes a change; a person picks one of the 20 that wait
// first, or are the latest.
func opArg(c *cli.Context, env console.Env) (string, error) {
	return workspace.PickArg(c, env, "op", "an op, and no agent has changed files yet", func() (rows [][]string, err error) {
		v, err := workspace.OpenFiles(c.Context, env)
		if err != nil {
			return nil, err
		}
		ops, err := v.State.Ops()
		for _, o := range inTurn(ops)[:min(20, len(ops))] {
			rows = append(rows, []string{shortOp(o.ID), o.Task, opRowOf(o).stateText()})
		}
		return rows, err
	})
}
