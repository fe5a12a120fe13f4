package cmd

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
)

func opList(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "list",
		Usage:       "list changes: those that wait for you first, then running ones",
		Description: "odd op list\nodd op list --all",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "list ended changes too, the latest first"}, jsonFlag()},
		Action:      on(env, openFiles, runOpList),
	})
}

// opRow is an op as --json lists it.
type opRow struct {
	Op      string          `json:"op"`
	Task    string          `json:"task"`
	Run     string          `json:"run"`
	Phase   pipeline.Phase  `json:"phase"` // or its ending
	Reason  pipeline.Reason `json:"reason,omitempty"`
	Tier    string          `json:"tier,omitempty"`
	Began   string          `json:"began"`
	At      string          `json:"at"`              // of its last record
	Until   string          `json:"until,omitempty"` // the deadline that counts
	Elapsed int64           `json:"elapsed_ms"`      // from its beginning to that record
	Spent   int64           `json:"spent_micro_usd"`
}

func opRowOf(o *state.Op) opRow {
	return opRow{
		Op: o.ID, Task: o.Task, Run: o.Run, Phase: o.Phase, Reason: o.Reason, Tier: o.Tier, Spent: o.Spent,
		Began: stamp(o.Began), At: stamp(o.At), Until: stamp(o.Until), Elapsed: o.At.Sub(o.Began).Milliseconds(),
	}
}

// state is the phase, and behind an ending its reason.
func (r opRow) state() string {
	if r.Reason == "" {
		return string(r.Phase)
	}
	return string(r.Phase) + ": " + string(r.Reason)
}

// roomy is how many columns a terminal has at least on which ids and moments are
// written whole.
const roomy = 120

// cells are the row as it is printed. On a narrow terminal an op is named by the end
// of its id, which every verb takes for the whole.
func (r opRow) cells(env Env) []string {
	id, began := r.Op, r.Began
	if env.Terminal && env.columns() < roomy {
		id = shortOp(id)
		began = strings.Replace(began[min(5, len(began)):max(5, len(began)-4)], "T", " ", 1)
	}
	return []string{id, r.state(), r.Tier, r.Task, "$" + budget.MicroUSD(r.Spent).String(), began}
}

// shortOp is the end of an op's id.
func shortOp(id string) string { return id[max(0, len(id)-8):] }

func runOpList(c *cli.Context, env Env, v *view) error {
	ops, ended, err := v.state.OpenOps()
	if err == nil && c.Bool("all") {
		ops, err = v.state.Ops()
	}
	if err != nil {
		return err
	}
	live, err := v.beats()
	if err != nil {
		return err
	}
	list, rows := []opRow{}, [][]string{}
	for _, o := range inTurn(ops) {
		list = append(list, opRowOf(o))
	}
	for _, b := range live { // behind what waits
		at := slices.IndexFunc(list, func(r opRow) bool { return r.Phase != pipeline.Waiting })
		if at < 0 {
			at = len(list)
		}
		list = slices.Insert(list, at, liveRow(b))
	}
	for _, r := range list {
		rows = append(rows, r.cells(env))
	}
	if c.Bool("json") {
		return printJSON(env, list)
	}
	if len(list) == 0 && ended > 0 {
		talk(env, "op list: no change waits or is being made; odd op list --all lists the %s that ended", count(ended, "change"))
	}
	if len(list) == 0 && ended == 0 {
		talk(env, "op list: no agent has changed files yet (proposals of atoms alone are listed by odd review)")
	}
	return printFitted(env, rows)
}

// liveRow is an op that is at work, as its run shows it.
func liveRow(b pipeline.Beat) opRow {
	return opRow{
		Op: b.Op, Task: b.Task, Run: b.Run, Phase: b.Phase, Spent: b.Spent, Began: stamp(b.Began), At: stamp(b.At), Until: stamp(b.Until), Elapsed: b.At.Sub(b.Began).Milliseconds(),
	}
}

// inTurn are ops as a person asks for them: what waits for one, the longest first;
// what is under way; and what has ended, the latest first.
func inTurn(ops []*state.Op) []*state.Op {
	rank := func(o *state.Op) int {
		switch {
		case o.Phase == pipeline.Waiting:
			return 0
		case !o.Ended():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(ops, func(a, b *state.Op) int {
		if n := cmp.Compare(rank(a), rank(b)); n != 0 || rank(a) < 2 {
			return cmp.Or(n, a.Began.Compare(b.Began))
		}
		return b.At.Compare(a.At)
	})
	return ops
}

// stamp writes a moment as a person reads it, "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
