package governance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
)

func leaseVerb(env console.Env) *cli.Command {
	read := func(name, use, example string, run func(*cli.Context, console.Env, *workspace.Board, overview.SlowLoop) error) *cli.Command {
		return verb.New(name, use,
			example,
			onSlowLoop(env, run))
	}
	return verb.Declare(&cli.Command{
		Name:  "lease",
		Usage: "show the lease: what may be worked on, until when, what is left",
		Description: "odd gate lease\n" +
			"odd gate lease check --json\n" +
			"odd gate lease draft > lease.toml\n\n" +
			"With a lease, a person decides what odd drain may work on, and until when.\n" +
			"There is at most one, in governance/lease.toml of the bundle; see odd help\n" +
			"gate.",
		Flags:  []cli.Flag{verb.JSONFlag()},
		Action: verb.Alone(onSlowLoop(env, runLeaseShow)),
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
func onSlowLoop(env console.Env, run func(*cli.Context, console.Env, *workspace.Board, overview.SlowLoop) error) cli.ActionFunc {
	return verb.On(env, workspace.OpenTasks, func(c *cli.Context, env console.Env, v *workspace.Board) error {
		s, err := slowLoop(c.Context, v)
		if err != nil {
			return err
		}
		return run(c, env, v, s)
	})
}

// slowLoop reads the slow loop of the board as it stands there, and whether its
// files are the committed ones.
func slowLoop(ctx context.Context, v *workspace.Board) (overview.SlowLoop, error) {
	dirty, err := v.Repo.Dirty(ctx, v.RepoPath("governance"))
	if err != nil {
		return overview.SlowLoop{}, err
	}
	return SlowLoopOf(v, dirty)
}

// SlowLoopOf is slowLoop for a caller that knows which paths are not committed.
func SlowLoopOf(v *workspace.Board, dirty []string) (overview.SlowLoop, error) {
	folder := v.RepoPath("governance") + "/"
	edited := slices.ContainsFunc(dirty, func(p string) bool { return strings.HasPrefix(p+"/", folder) || strings.HasPrefix(folder, p+"/") })
	s, err := overview.LookSlow(v.Bundle, v.State, v.TaskRows, !edited, actTime(v.Clone))
	if err != nil {
		return s, fmt.Errorf("%s/%w", v.Config.Root, err)
	}
	return s, nil
}

// LeaseJSON is a lease as --json prints it, and what is left of it.
type LeaseJSON struct {
	gate.Lease
	Required   bool         `json:"required"` // odd.toml [governance] lease
	Stance     gate.Stance  `json:"stance"`
	UsedTasks  int          `json:"used_tasks"`
	Spent      int64        `json:"spent_micro_usd"`
	HeldBack   []string     `json:"held_back,omitempty"` // ready tasks whose kind the stance does not let run
	Done       []string     `json:"milestone_done,omitempty"`
	Scope      *gate.Scope  `json:"scope,omitempty"`    // nil without a lease
	Bookmark   string       `json:"bookmark,omitempty"` // what was said when the last lease was given back
	Verdict    gate.Verdict `json:"verdict,omitzero"`
	now        time.Time
	Unreadable bool `json:"unreadable,omitempty"`
}

// ReadLease returns the lease that s has, judged as of now.
func ReadLease(v *workspace.Board, s overview.SlowLoop) LeaseJSON {
	l := s.File.Lease
	out := LeaseJSON{Lease: gate.Lease{State: gate.None}, Required: v.Config.Lease != "off", Stance: s.Facts.Chain.Stance(), Verdict: s.Verdict(""), now: s.Facts.Now}
	if r, ok := s.Facts.Chain.Last(l.ID); ok && r.Act == "release" {
		out.Bookmark = r.Reason
	}
	if !s.Facts.Present || s.Facts.Unreadable != nil {
		out.Unreadable = s.Facts.Unreadable != nil
		return out
	}
	out.Lease, out.Scope, out.UsedTasks, out.Spent = l, &l.Scope, s.Facts.UsedTasks, s.Facts.Spent
	if out.Required {
		out.HeldBack = heldByStance(v, out.Stance)
	}
	out.Done = slices.DeleteFunc(slices.Clone(l.Milestone), func(task string) bool { return !s.Facts.Done(task) })
	return out
}

func runLeaseShow(c *cli.Context, env console.Env, v *workspace.Board, s overview.SlowLoop) error {
	l := ReadLease(v, s)
	return console.ShowPage(env, c.Bool("json"), l, l.leasePage())
}

// leasePage returns what odd gate lease show prints, at most a screen.
func (l LeaseJSON) leasePage() string {
	b := &console.Card{Wide: 10}
	b.Line("lease", "%s", l.NameLine())
	b.Line("stance", "%s", l.StanceLine())
	if l.ID != "" && !l.Unreadable {
		b.Line("frame", "%s", cmp.Or(l.Frame, "none yet"))
		for _, s := range l.Success {
			b.Line("success", "%s", s)
		}
		for _, s := range l.NonGoals {
			b.Line("not", "%s", s)
		}
		b.Line("time", "%s", l.timeLine())
		b.Line("tasks", "%d of %d used", l.UsedTasks, l.MaxTasks)
		b.Line("money", "%s", l.MoneyLine())
		if len(l.Milestone) > 0 {
			b.Line("milestone", "%d of %d done: %s", len(l.Done), len(l.Milestone), strings.Join(l.Milestone, ", "))
		}
		if len(l.Signals) > 0 {
			b.Line("signals", "it ends on %s", strings.Join(l.Signals, ", "))
		}
		b.Line("scope", "%s", scopeWords(*l.Scope))
	}
	if l.Bookmark != "" {
		b.Line("bookmark", "%s", l.Bookmark)
	}
	switch {
	case l.Verdict.Valid:
		b.Line("valid", "yes")
	case l.Required || l.Verdict.Code != string(gate.None):
		b.Line("valid", "no: %s [%s]", l.Verdict.Text, l.Verdict.Code)
		b.Line("next", "%s", l.Verdict.Way)
	default:
		b.Line("next", "odd gate framing drafts a lease, and odd gate commitment activates it")
	}
	return b.String()
}

// heldByStance returns the ready tasks whose kinds do not run in a stance.
func heldByStance(v *workspace.Board, s gate.Stance) (ids []string) {
	for _, t := range v.TaskRows() {
		if t.State == board.Ready && slices.Contains(gate.Suppressed(s), t.Kind) {
			ids = append(ids, string(t.ID))
		}
	}
	return ids
}

// StanceLine returns the stance, and where leases are required what it holds back.
func (l LeaseJSON) StanceLine() string {
	if !l.Required || l.ID == "" {
		return string(l.Stance)
	}
	return fmt.Sprintf("%s; %s", l.Stance, gate.StanceCost(l.Stance, l.HeldBack))
}

// NameLine says which lease it is and in which state.
func (l LeaseJSON) NameLine() string {
	s := strings.TrimSpace(l.ID + " " + string(l.State))
	if l.Unreadable {
		s = "unreadable"
	}
	if !l.Required {
		s += "; leases are off, tasks run without one"
	}
	return s
}

// timeLine returns until when the lease holds, and how long that is.
func (l LeaseJSON) timeLine() string {
	switch until := console.FormatTime(l.ExpiresAt); {
	case until == "":
		return "no end set"
	case !l.now.Before(l.ExpiresAt):
		return "ended at " + until
	default:
		return fmt.Sprintf("%s left, until %s (%s horizon)", console.HowLong(l.ExpiresAt.Sub(l.now)), until, l.Horizon)
	}
}

// MoneyLine says how much money the lease gave and what is spent of it.
func (l LeaseJSON) MoneyLine() string {
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
		parts = append(parts, console.CountNoun(n, "task")+" that must not change")
	}
	return cmp.Or(strings.Join(parts, "; "), "every task that the stance allows")
}

// runLeaseCheck judges the lease as the work tree has it.
func runLeaseCheck(c *cli.Context, env console.Env, v *workspace.Board, s overview.SlowLoop) error {
	l := ReadLease(v, s)
	if l.Verdict.Valid {
		return console.Show(env, c.Bool("json"), l, []string{l.ID, string(l.State), "valid", console.HowLong(l.Verdict.Remaining), fmt.Sprint(l.Verdict.Tasks)})
	}
	return verb.ShowRefused(env, c.Bool("json"), l, nil, verb.Refuse(l.Verdict.Code, "%s; %s", l.Verdict.Text, l.Verdict.Way))
}

func runLeaseDraft(c *cli.Context, env console.Env, v *workspace.Board, s overview.SlowLoop) error {
	if s.Facts.ChainErr != nil {
		return fmt.Errorf("%s: %w", v.RepoPath(gate.GatesPath), s.Facts.ChainErr)
	}
	b := string(gate.PrintLease(s.Draft(v.AllTasks(), v.Config.Root, actTime(v.Clone))))
	return console.ShowText(env, c.Bool("json"), map[string]string{"toml": b}, b)
}

func leaseEdit(env console.Env) *cli.Command {
	return verb.New("edit", "open the draft in your git editor and save it as the draft lease; only a person can",
		"EDITOR=\"code --wait\" odd gate lease edit \\\n"+
			"  --reason \"the harbour asked for tides first\"\n"+
			"\n"+
			"It ends as odd gate framing --draft FILE does.\n"+
			"\n"+
			verb.PersonNote,
		verb.Do(env, runLeaseEdit),
		verb.ReasonFlag(),
		verb.YesFlag())
}

// runLeaseEdit opens the draft, or a prefilled one where there is none, in the
// person's editor. What they leave unchanged and was drafted already is not an act.
func runLeaseEdit(c *cli.Context, env console.Env) error {
	o := gateOptions{yes: c.Bool("yes"), json: c.Bool("json")}
	o.act = gate.Act{Gate: gate.Framing, Kind: "draft", Reason: console.OneLine(c.String("reason"))}
	v, err := land.OpenToDecide(c.Context, env, "lease edit")
	if err != nil {
		return err
	}
	s, err := slowLoop(c.Context, v)
	if err != nil {
		return err
	}
	f := s.Draft(v.AllTasks(), v.Config.Root, actTime(v.Clone))
	before := gate.PrintLease(f)
	after, err := land.EditText(c.Context, v, "lease.toml", before)
	if errors.Is(err, land.ErrNoEditor) {
		return verb.Usage("gate lease edit: %v, or run odd gate lease draft > lease.toml, edit that file, and odd gate framing --draft lease.toml", err)
	}
	if err != nil {
		return err
	}
	if string(after) == string(before) && string(before) == string(s.LeaseFile) {
		console.Talk(env, "lease edit: the lease is unchanged; nothing was done")
		return nil
	}
	if o.file, err = parseLease("lease.toml", after); err != nil {
		return err
	}
	return runGate(c.Context, env, o)
}
