package cmd

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

func opVerb(env Env) *cli.Command {
	return group("op", "list and inspect agents' file changes; cancel one",
		"odd op list\n"+
			"odd op show 7QK2ZP\n"+
			"odd op watch\n"+
			"odd op classify docs/\n\n"+
			"An op is one attempt of an agent to change files that are not atoms: tasks\n"+
			"that set paths (odd task add --path). odd checks the files, runs your commands\n"+
			"on them in a copy, and gives the change a risk tier: SAFE_AUTO, NOTIFY_APPLY,\n"+
			"APPROVAL_REQUIRED or BLOCKED. The tier decides whether a person must see it\n"+
			"first.",

		verb("list", "list changes: those that wait for you first, then running ones",
			"odd op list\nodd op list --all",
			on(env, openFiles, runOpList), &cli.BoolFlag{Name: "all", Usage: "list ended changes too, the latest first"}),
		opRead(env, "show", "show one change: its state, tier, findings, time and cost", runOpShow),
		opRead(env, "diff", "print the patch of a change, also of one that failed", runOpDiff),
		opRead(env, "trace", "print a change as a tree: task, run, phases and commits", runOpTrace),
		opRead(env, "prompt", "print the briefs (prompts) that agents got for a change", runOpPrompt),
		opWatch(env),
		opCancel(env), opClassify(env))
}

// opRead returns a verb that shows something of one op, on the board as a person sees it.
func opRead(env Env, name, use string, run func(*cli.Context, Env, *view, pipeline.Story) error) *cli.Command {
	return verb(name+" OP", use,
		"odd op "+name+" 7QK2ZP\n\n"+
			"OP is the id that odd op list prints, or the end of it, or a task for the\n"+
			"last change that was made for it.",
		func(c *cli.Context) error {
			id, err := opArg(c, env)
			if err != nil {
				return err
			}
			v, err := openCurrent(c.Context, env)
			if err != nil {
				return err
			}
			s, err := v.findOp(id)
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

func runOpShow(c *cli.Context, env Env, v *view, s pipeline.Story) error {
	o := s.Op()
	out := opShown{opRow: opRowOf(state.OpOf(s)), Facts: o.Facts(), Sound: s.Sound, Means: pipeline.Explain(o.Reason), Phases: []opPhase{}}
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
		out.Phases = append(out.Phases, opPhase{p.Phase, formatTime(p.Started), p.Elapsed().Milliseconds(), p.Spent, p.Note})
	}
	out.Failed, out.Output = v.readFailure(o.Run, o.ID)
	return showPage(env, c.Bool("json"), out, out.opCard())
}

func (s opShown) opCard() string {
	b := &card{wide: 12}
	b.line("change", "%s", s.Op)
	b.line("task", "%s", s.Task)
	b.line("state", "%s", s.stateText())
	b.line("because", "%s", s.Note)
	b.line("means", "%s", s.Means)
	b.line("failed", "%s", s.Failed)
	for _, text := range s.Output {
		b.line("", "| %s", text)
	}
	b.line("risk tier", "%s", s.Tier)
	b.line("began", "%s by %s", s.Began, s.Run)
	b.line("until", "%s", s.Until)
	b.line("spent", "$%s", budget.MicroUSD(s.Spent))
	b.line("base", "%s", s.Facts[pipeline.FactBase])
	b.line("candidate", "%s", s.Facts[pipeline.FactCandidate])
	b.line("sandbox", "%s", describeSandbox(s.Facts[pipeline.FactSandbox]))
	b.line("odd fixed", "%s", s.Facts[pipeline.FactMended])
	b.line("rules hash", "%s", s.Facts[pipeline.FactRules])
	if s.Commit != "" {
		b.line("commit", "%s on %s", s.Commit, s.Branch)
	}
	if !s.Sound {
		b.line("records", "are inconsistent; run odd check to see why")
	}
	for i, p := range s.Phases {
		took := (time.Duration(p.Elapsed) * time.Millisecond).String()
		b.line([]string{"phases", ""}[min(i, 1)], "%-9s %8s  %s", p.Phase, took, p.Note)
	}
	return b.String()
}

func runOpDiff(c *cli.Context, env Env, v *view, s pipeline.Story) error {
	o := s.Op()
	b, err := v.patchOf(c.Context, o)
	if err != nil {
		return err
	}
	value := map[string]string{"op": o.ID, "base": o.Fact(pipeline.FactBase), "candidate": o.Fact(pipeline.FactCandidate), "patch": string(b)}
	return showText(env, c.Bool("json"), value, diffText(env, string(b)))
}

// patchOf returns what an op would have changed: its commit against its base, or where
// it made none what the run kept of its candidate.
func (v *view) patchOf(ctx context.Context, o pipeline.Op) ([]byte, error) {
	base, made := repo.OID(o.Fact(pipeline.FactBase)), repo.OID(o.Fact(pipeline.FactCandidate))
	if len(o.Moved) > 0 {
		made = repo.OID(o.Moved[0].New)
	}
	if made == "" {
		return nil, refuse("no-candidate", "op diff %s: it ended before the agent delivered a change; odd op show %[1]s says why", o.ID)
	}
	b, err := v.repo.Patch(ctx, base, made)
	if err == nil {
		return b, nil
	}
	if kept, ok := v.keptFile(o, "op.patch"); ok {
		return kept, nil
	}
	return nil, refuse("artifacts", "op diff %s: the commit %s is no longer in this clone; run git fetch origin 'refs/odd/run/*:refs/odd/run/*' to look for it in run %s", o.ID, shortID(made), o.Run)
}

func runOpTrace(c *cli.Context, env Env, v *view, s pipeline.Story) error {
	tree := pipeline.Trace(s)
	o := s.Op()
	for _, t := range v.allTasks() {
		if t.ID != okf.ID(o.Task) || len(tree) == 0 || len(tree[0].Below) == 0 || t.Atom == nil || t.Atom.Generated.By == "" {
			continue
		}
		tree[0].Below[0].Note = "filed by " + t.Atom.Generated.By
		tree[0].Below[0].At = t.Atom.Generated.At
	}
	if err := v.addLanded(c.Context, tree, s.Op()); err != nil {
		return err
	}
	return showText(env, c.Bool("json"), tree, pipeline.Render(tree, func(n int64) string { return budget.MicroUSD(n).String() }))
}

// addLanded hangs the person's commit that merged what the op proposed below the
// ref that the op moved.
func (v *view) addLanded(ctx context.Context, tree []pipeline.Node, o pipeline.Op) error {
	if o.Reason != pipeline.Merged || len(o.Moved) == 0 {
		return nil
	}
	for c, err := range v.repo.Log(ctx, repo.OID(o.Fact(pipeline.FactBase)), v.tip) {
		if err != nil {
			return err
		}
		if named := c.Trailer("Odd-Proposal"); len(named) == 1 && named[0] == o.Moved[0].New && (len(c.Trailer("Odd-Approved-By")) == 1 || len(c.Trailer("Odd-Approval")) == 1) {
			hangBelow(tree, o.Moved[0].New, pipeline.Node{Kind: "commit", Name: string(c.OID), At: formatTime(c.Author.When), Note: "merged by " + or(c.Author.Name, c.Author.Email)})
			return nil
		}
	}
	return nil
}

// hangBelow puts a node below the one that is the commit named.
func hangBelow(nodes []pipeline.Node, commit string, below pipeline.Node) {
	for i := range nodes {
		if nodes[i].Kind == "commit" && nodes[i].Name == commit {
			nodes[i].Below = append(nodes[i].Below, below)
			return
		}
		hangBelow(nodes[i].Below, commit, below)
	}
}

// prompt is one brief of an op, as --json prints it.
type prompt struct {
	File string `json:"file"` // in the run's tree
	Text string `json:"text"`
}

func runOpPrompt(c *cli.Context, env Env, v *view, s pipeline.Story) error {
	o := s.Op()
	all, err := v.readPrompts(o)
	if err != nil {
		return err
	}
	text := ""
	for i, p := range all {
		text += fmt.Sprintf("%s==> %s <==\n%s\n", strings.Repeat("\n", min(i, 1)), p.File, strings.TrimRight(okf.Visible(p.Text), "\n"))
	}
	return showText(env, c.Bool("json"), all, text)
}

// readPrompts returns the briefs that the run of an op kept, those of its last session
// behind those of the sessions before it.
func (v *view) readPrompts(o pipeline.Op) ([]prompt, error) {
	tree, dir, ok := v.findAttempt(o)
	if !ok {
		return nil, refuse("artifacts", "op prompt %s: the files of %s are not in this clone; run git fetch origin 'refs/odd/run/*:refs/odd/run/*'", o.ID, o.Run)
	}
	var names []string
	for _, pattern := range []string{"/*/brief*.md", "/brief*.md"} {
		some, err := fs.Glob(tree, dir+pattern)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(some, func(a, b string) int { return sessionOrder(a) - sessionOrder(b) })
		names = append(names, some...)
	}
	out := []prompt{}
	for _, name := range names {
		b, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		out = append(out, prompt{name, string(b)})
	}
	return out, nil
}

// sessionOrder orders the files of sessions: by the session's number, which ends its
// folder's name, then by the turn's, which a later brief's name has.
func sessionOrder(name string) int {
	last := func(s string) int {
		n, _ := strconv.Atoi(s[strings.LastIndexByte(s, '.')+1:])
		return n
	}
	return last(path.Base(path.Dir(name)))*10_000 + last(strings.TrimSuffix(path.Base(name), ".md"))
}

func opCancel(env Env) *cli.Command {
	return verb("cancel OP", "cancel a change that waits or is at work; only a person can",
		"odd op cancel 7QK2ZP --reason \"we keep the old format\"\n\n"+
			"The task of a change that waits goes back to backlog, and its next attempt is\n"+
			"told the reason. Where an agent of this clone still works on it, its odd drain\n"+
			"ends the session, charges what it cost, blocks the task with the reason, and\n"+
			"goes on.\n\n"+
			personNote,
		do(env, runOpCancel),
		reasonFlag(),
		yesFlag())
}

func runOpCancel(c *cli.Context, env Env) error {
	name := c.Args().First()
	if c.String("reason") == "" {
		return usage("op cancel: say why with --reason, because the next attempt reads it: odd op cancel %s --reason \"why\"", name)
	}
	o := rejection{reason: c.String("reason"), yes: c.Bool("yes"), json: c.Bool("json"), ends: pipeline.CancelledByPerson}
	v, err := openShared(c.Context, env)
	if err != nil {
		return err
	}
	s, err := v.findOp(name)
	if err != nil || s.Op().Phase != pipeline.Waiting && !s.Op().Ended() {
		if freed := v.freeKilled(c.Context); len(freed) > 0 {
			if v, err = openShared(c.Context, env); err != nil {
				return err
			}
			if s, err = v.findOp(name); err == nil && s.Op().Ended() && slices.Contains(freed, okf.ID(s.Op().Task)) {
				op := s.Op()
				answer := map[string]string{"op": op.ID, "task": op.Task, "state": string(op.Phase), "reason": string(op.Reason)}
				return show(env, o.json, answer, []string{op.ID, string(op.Phase), op.Task, "its run was killed"})
			}
		}
	}
	if b, ok := v.findBeat(name); ok && v.isDraining() {
		h, err := v.confirmHuman(c.Context, "", "op cancel "+b.Op, b.Task, o.yes)
		if err != nil {
			return err
		}
		why := strings.Join(strings.Fields(string(secrets.Redact([]byte(o.reason)))), " ")
		if err := v.repo.AskStop(b.Op, "cancelled by "+h.By()+": "+why); err != nil {
			return err
		}
		return show(v.env, o.json, map[string]string{"op": b.Op, "task": b.Task, "state": "stopping", "by": h.By()}, []string{b.Op, "stopping", b.Task, "its odd drain ends the session; odd op watch shows when"})
	}
	if err != nil {
		return err
	}
	op := s.Op()
	switch {
	case op.Ended():
		return refuse("state", "op cancel %s: the change has already ended (%s: %s); odd op show %[1]s says more", op.ID, op.Phase, op.Reason)
	case op.Phase != pipeline.Waiting:
		return refuse("state", "op cancel %s: %s", op.ID, v.atWork(op.Run, op.Task))
	}
	t, err := v.findTask(op.Task)
	if err != nil {
		return err
	}
	return v.rejectProposal(c.Context, t, o)
}
