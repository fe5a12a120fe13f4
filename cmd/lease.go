package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/journal/repo"
)

func leaseVerb(env Env) *cli.Command {
	read := func(name, use, example string, run func(*cli.Context, Env, *view, overview.SlowLoop) error) *cli.Command {
		return verb(name, use,
			example,
			onSlowLoop(env, run))
	}
	return command(&cli.Command{
		Name:  "lease",
		Usage: "show the lease: what may be worked on, until when, what is left",
		Description: "odd gate lease\n" +
			"odd gate lease check --json\n" +
			"odd gate lease draft > lease.toml\n\n" +
			"A lease is the decision of a person what may be worked on and until when.\n" +
			"There is at most one, in governance/lease.toml of the bundle; see odd help\n" +
			"gate.",
		Flags:  []cli.Flag{jsonFlag()},
		Action: alone(onSlowLoop(env, runLeaseShow)),
		Subcommands: []*cli.Command{
			read("show", "show the lease, and what is left of it", "odd gate lease show", runLeaseShow),
			read("check", "check the lease; exit 3 with the reason if it is not valid", "odd gate lease check --json", runLeaseCheck),
			read("draft", "print the lease that odd gate framing would draft", "odd gate lease draft > lease.toml\n"+
				"odd gate framing --draft lease.toml\n\n"+
				"The draft is filled in from the tasks on the board. Change the file, then pass\n"+
				"it to odd gate framing.", runLeaseDraft),
			leaseEdit(env),
		},
	})
}

// onSlowLoop is on for a verb that reads the slow loop of the board as a person sees it.
func onSlowLoop(env Env, run func(*cli.Context, Env, *view, overview.SlowLoop) error) cli.ActionFunc {
	return on(env, openTasks, func(c *cli.Context, env Env, v *view) error {
		s, err := v.slowLoop(c.Context)
		if err != nil {
			return err
		}
		return run(c, env, v, s)
	})
}

// slowLoop reads the slow loop of the view as it stands there, and whether its
// files are the committed ones.
func (v *view) slowLoop(ctx context.Context) (overview.SlowLoop, error) {
	dirty, err := v.repo.Dirty(ctx, v.repoPath("governance"))
	if err != nil {
		return overview.SlowLoop{}, err
	}
	return v.slowLoopOf(dirty)
}

// slowLoopOf is slowLoop for a caller that knows which paths are not committed.
func (v *view) slowLoopOf(dirty []string) (overview.SlowLoop, error) {
	folder := v.repoPath("governance") + "/"
	edited := slices.ContainsFunc(dirty, func(p string) bool { return strings.HasPrefix(p+"/", folder) || strings.HasPrefix(folder, p+"/") })
	s, err := overview.LookSlow(v.bundle, v.state, v.taskRows, !edited, v.actTime())
	if err != nil {
		return s, fmt.Errorf("%s/%w", v.cfg.Root, err)
	}
	return s, nil
}

type leaseJSON struct {
	Required   bool          `json:"required"` // odd.toml [governance] lease
	ID         string        `json:"id,omitempty"`
	State      gate.State    `json:"state"`
	Stance     gate.Stance   `json:"stance"`
	Frame      string        `json:"frame,omitempty"`
	Horizon    string        `json:"horizon,omitempty"`
	Success    []string      `json:"success_criteria,omitempty"`
	NonGoals   []string      `json:"non_goals,omitempty"`
	ExpiresAt  string        `json:"expires_at,omitempty"`
	UsedTasks  int           `json:"used_tasks"`
	MaxTasks   int           `json:"max_tasks,omitempty"`
	Spent      int64         `json:"spent_micro_usd"`
	Budget     int64         `json:"budget_micro_usd,omitempty"`
	Milestone  []string      `json:"milestone,omitempty"`
	Signals    []string      `json:"signals,omitempty"`
	HeldBack   []string      `json:"held_back,omitempty"` // ready tasks whose kind the stance does not let run
	Done       []string      `json:"milestone_done,omitempty"`
	Scope      *gate.Scope   `json:"scope,omitempty"`
	Bookmark   string        `json:"bookmark,omitempty"` // what was said when the last lease was given back
	Verdict    gate.Verdict  `json:"verdict,omitzero"`
	remaining  time.Duration // to ExpiresAt
	unreadable bool
}

func (v *view) readLease(s overview.SlowLoop) leaseJSON {
	l := s.File.Lease
	out := leaseJSON{Required: v.cfg.Lease != "off", State: gate.None, Stance: s.Facts.Chain.Stance(), Verdict: s.Verdict("")}
	if r, ok := s.Facts.Chain.Last(l.ID); ok && r.Act == "release" {
		out.Bookmark = r.Reason
	}
	if !s.Facts.Present || s.Facts.Unreadable != nil {
		out.unreadable = s.Facts.Unreadable != nil
		return out
	}
	out.ID, out.State, out.Frame, out.Horizon, out.Success, out.NonGoals = l.ID, l.State, l.Frame, l.Horizon, l.Success, l.NonGoals
	out.UsedTasks, out.MaxTasks, out.Spent, out.Budget = s.Facts.UsedTasks, l.MaxTasks, s.Facts.Spent, l.Budget
	out.Signals = l.Signals
	if out.Required {
		out.HeldBack = v.heldByStance(out.Stance)
	}
	out.Milestone, out.Scope, out.remaining = l.Milestone, &l.Scope, l.ExpiresAt.Sub(s.Facts.Now)
	if !l.ExpiresAt.IsZero() {
		out.ExpiresAt = l.ExpiresAt.UTC().Format(time.RFC3339)
	}
	for _, m := range l.Milestone {
		if s.Facts.Done(m) {
			out.Done = append(out.Done, m)
		}
	}
	return out
}

func runLeaseShow(c *cli.Context, env Env, v *view, s overview.SlowLoop) error {
	l := v.readLease(s)
	return showPage(env, c.Bool("json"), l, l.leasePage())
}

// leasePage returns what odd gate lease show prints, at most a screen.
func (l leaseJSON) leasePage() string {
	b := &card{wide: 10}
	b.line("lease", "%s", l.nameLine())
	b.line("stance", "%s", l.stanceLine())
	if l.ID != "" && !l.unreadable {
		b.line("frame", "%s", or(l.Frame, "none yet"))
		for _, s := range l.Success {
			b.line("success", "%s", s)
		}
		for _, s := range l.NonGoals {
			b.line("not", "%s", s)
		}
		b.line("time", "%s", l.timeLine())
		b.line("tasks", "%d of %d used", l.UsedTasks, l.MaxTasks)
		b.line("money", "%s", l.moneyLine())
		if len(l.Milestone) > 0 {
			b.line("milestone", "%d of %d done: %s", len(l.Done), len(l.Milestone), strings.Join(l.Milestone, ", "))
		}
		if len(l.Signals) > 0 {
			b.line("signals", "it ends on %s", strings.Join(l.Signals, ", "))
		}
		b.line("scope", "%s", scopeWords(*l.Scope))
	}
	if l.Bookmark != "" {
		b.line("bookmark", "%s", l.Bookmark)
	}
	switch {
	case l.Verdict.Valid:
		b.line("valid", "yes")
	case l.Required || l.Verdict.Code != string(gate.None):
		b.line("valid", "no: %s [%s]", l.Verdict.Text, l.Verdict.Code)
		b.line("next", "%s", l.Verdict.Way)
	default:
		b.line("next", "odd gate framing drafts a lease, and odd gate commitment activates it")
	}
	return b.String()
}

// heldByStance returns the ready tasks whose kinds do not run in a stance.
func (v *view) heldByStance(s gate.Stance) (ids []string) {
	for _, t := range v.taskRows() {
		if t.State == board.Ready && slices.Contains(gate.Suppressed(s), t.Kind) {
			ids = append(ids, string(t.ID))
		}
	}
	return ids
}

// stanceLine returns the stance, and where leases are required what it holds back.
func (l leaseJSON) stanceLine() string {
	if !l.Required || l.ID == "" {
		return string(l.Stance)
	}
	return fmt.Sprintf("%s; %s", l.Stance, gate.StanceCost(l.Stance, l.HeldBack))
}

func (l leaseJSON) nameLine() string {
	s := strings.TrimSpace(l.ID + " " + string(l.State))
	if l.unreadable {
		s = "unreadable"
	}
	if !l.Required {
		s += "; leases are off, tasks run without one"
	}
	return s
}

// timeLine returns until when the lease holds, and how long that is.
func (l leaseJSON) timeLine() string {
	switch {
	case l.ExpiresAt == "":
		return "no end set"
	case l.remaining <= 0:
		return "ended at " + l.ExpiresAt
	}
	return fmt.Sprintf("%s left, until %s (%s horizon)", howLong(l.remaining), l.ExpiresAt, l.Horizon)
}

func (l leaseJSON) moneyLine() string {
	if l.Budget == 0 {
		return fmt.Sprintf("$%s spent; no limit of its own", budget.MicroUSD(l.Spent))
	}
	return fmt.Sprintf("$%s of $%s spent", budget.MicroUSD(l.Spent), budget.MicroUSD(l.Budget))
}

func scopeWords(s gate.Scope) string {
	var parts []string
	for _, p := range []struct {
		name string
		list []string
	}{{"kinds", s.Kinds}, {"roles", s.Roles}, {"tags", s.Tags}, {"tasks", s.Tasks}, {"paths", s.Paths}} {
		if len(p.list) > 0 {
			parts = append(parts, p.name+" "+strings.Join(p.list, ", "))
		}
	}
	if n := len(s.WorkOrders); n > 0 {
		parts = append(parts, countNoun(n, "task")+" that must not change")
	}
	return or(strings.Join(parts, "; "), "every task that the stance allows")
}

// howLong returns a duration as a person says it: two units at most.
func howLong(d time.Duration) string {
	days, hours, minutes := d/(24*time.Hour), d/time.Hour%24, d/time.Minute%60
	switch {
	case days > 0 && hours > 0:
		return fmt.Sprintf("%dd %dh", days, hours)
	case days > 0:
		return fmt.Sprintf("%dd", days)
	case hours > 0:
		return fmt.Sprintf("%dh %dm", hours, minutes)
	}
	return fmt.Sprintf("%dm", max(minutes, 1))
}

// runLeaseCheck judges the lease as the work tree has it.
func runLeaseCheck(c *cli.Context, env Env, v *view, s overview.SlowLoop) error {
	l := v.readLease(s)
	if l.Verdict.Valid {
		return show(env, c.Bool("json"), l, []string{l.ID, string(l.State), "valid", howLong(l.Verdict.Remaining), fmt.Sprint(l.Verdict.Tasks)})
	}
	return showRefused(env, c.Bool("json"), l, nil, refuse(l.Verdict.Code, "%s; %s", l.Verdict.Text, l.Verdict.Way))
}

func runLeaseDraft(c *cli.Context, env Env, v *view, s overview.SlowLoop) error {
	if s.Facts.ChainErr != nil {
		return fmt.Errorf("%s: %w", v.repoPath(gate.GatesPath), s.Facts.ChainErr)
	}
	b := string(gate.PrintLease(newDraft(v.allTasks(), v.cfg.Root, v.actTime(), s)))
	return showText(env, c.Bool("json"), map[string]string{"toml": b}, b)
}

// newDraft returns a draft as a whole lease.toml: the lease that is drafted or suspended,
// as it is, or else a prefilled one, of the tasks that people put on the board.
func newDraft(tasks []board.Task, root string, now time.Time, s overview.SlowLoop) gate.File {
	c, f := s.Facts.Chain, s.File
	if st := f.Lease.State; s.Facts.Present && s.Facts.Unreadable == nil && (st == gate.Draft || st == gate.Suspended) {
		f.Lease.State, f.Lease.ActivatedAt = gate.Draft, time.Time{}
		return f
	}
	p := gate.Plan{ID: c.NextLease(), Paths: touchedPaths(tasks, root)}
	rows := board.RowsOf(tasks)
	for _, t := range board.Order(rows, board.IndexOf(rows)) {
		if t.State == board.Ready {
			p.Ready = append(p.Ready, gate.Work{ID: string(t.ID), Title: t.Title, Kind: t.Kind})
		}
	}
	f = gate.DraftOf(now, p)
	if c.Stance() == gate.Discovery {
		f.Stance = gate.Discovery
	}
	return f
}

// touchedPaths returns the bundle at root, and what else the tasks may touch. A glob
// that no lease may hold is left out.
func touchedPaths(tasks []board.Task, root string) []string {
	out := []string{root + "/**"}
	for _, t := range tasks {
		for _, p := range t.Paths {
			if folder, ok := strings.CutSuffix(p, "/"); ok {
				p = folder + "/**"
			}
			if t.State != board.Done && !slices.Contains(out, p) && !strings.HasPrefix(p, root+"/") && canHold(p) {
				out = append(out, p)
			}
		}
	}
	slices.Sort(out[1:])
	return out
}

func canHold(p string) bool {
	l := gate.Lease{Scope: gate.Scope{Paths: []string{p}}}
	return !slices.ContainsFunc(l.Check(false), func(p gate.Problem) bool { return p.Field == "lease.scope.paths" })
}

func leaseEdit(env Env) *cli.Command {
	return verb("edit", "edit the draft in $EDITOR, then draft the lease; only a person can",
		"EDITOR=\"code --wait\" odd gate lease edit \\\n"+
			"  --reason \"the harbour asked for tides first\"\n"+
			"\n"+
			"It ends as odd gate framing --draft FILE does.\n"+
			"\n"+
			personNote,
		do(env, runLeaseEdit),
		&cli.StringFlag{Name: "to", Usage: "set the working phase to `PHASE`: sensemaking or discovery (default: as the draft has it)"},
		reasonFlag(),
		yesFlag())
}

// runLeaseEdit opens the draft, or a prefilled one where there is none, in the
// person's editor. What they leave unchanged and was drafted already is not an act.
func runLeaseEdit(c *cli.Context, env Env) error {
	o := gateOptions{yes: c.Bool("yes"), json: c.Bool("json")}
	o.act = gate.Act{Gate: gate.Framing, Kind: "draft", To: gate.Stance(c.String("to")), Reason: oneLine(c.String("reason"))}
	v, err := openToDecide(c.Context, env, "lease edit")
	if err != nil {
		return err
	}
	s, err := v.slowLoop(c.Context)
	if err != nil {
		return err
	}
	f := newDraft(v.allTasks(), v.cfg.Root, v.actTime(), s)
	before := gate.PrintLease(f)
	after, err := v.editText(c.Context, "lease.toml", before)
	if errors.Is(err, errNoEditor) {
		return usage("gate lease edit: %v, or run odd gate lease draft > lease.toml, edit that file, and odd gate framing --draft lease.toml", err)
	}
	if err != nil {
		return err
	}
	if string(after) == string(before) && string(before) == string(s.LeaseFile) {
		talk(env, "lease edit: the lease is unchanged; nothing was done")
		return nil
	}
	if o.file, err = parseLease("lease.toml", after); err != nil {
		return err
	}
	return runGate(c.Context, env, o)
}

// editText returns b as the person's editor leaves it, in a file of that name. The editor is the one
// that git would take, as words and never a shell's text, and it has the terminal itself.
func (v *view) editText(ctx context.Context, name string, b []byte) ([]byte, error) {
	configured, err := v.repo.Config(ctx, "core.editor")
	if err != nil {
		return nil, err
	}
	editor := strings.Fields(cmp.Or(v.env.Getenv("GIT_EDITOR"), configured, v.env.Getenv("VISUAL"), v.env.Getenv("EDITOR")))
	if len(editor) == 0 {
		return nil, errNoEditor
	}
	dir, err := os.MkdirTemp("", "odd-edit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, b, 0o600); err != nil {
		return nil, err
	}
	at := repo.Terminal{Dir: v.env.Dir, Env: v.env.Environ, In: v.env.Stdin, Out: v.env.Stdout, Err: v.env.Stderr}
	if tty, err := v.env.TTY(); err == nil {
		defer tty.Close()
		if f, ok := tty.(*os.File); ok {
			at.In, at.Out, at.Err = f, f, f
		}
	}
	if err = repo.Edit(ctx, append(editor, name), at); err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

var errNoEditor = errors.New("EDITOR is not set; set it")
