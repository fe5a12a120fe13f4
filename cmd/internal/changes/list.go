package changes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/ops"
	"github.com/odd-cli/odd/cmd/internal/workspace"
)

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
		Began: console.FormatTime(o.Began), At: console.FormatTime(o.At), Until: console.FormatTime(o.Until), Elapsed: o.At.Sub(o.Began).Milliseconds(),
	}
}

func (r opRow) stateText() string {
	if r.Reason == "" {
		return string(r.Phase)
	}
	return string(r.Phase) + ": " + string(r.Reason)
}

// roomy is how many columns a terminal has at least on which ids and moments are
// written whole.
const roomy = 120

// rowCells returns the row as it is printed. On a narrow terminal an op is named by the end
// of its id, which every verb takes for the whole; ended ones have long states, and of all ops it has no
// room for the tier and the time.
func (r opRow) rowCells(env console.Env, all bool) []string {
	spent := "$" + budget.MicroUSD(r.Spent).String()
	switch narrow := env.Terminal && env.TerminalWidth() < roomy; {
	case narrow && all:
		return []string{shortOp(r.Op), r.stateText(), spent, r.Task}
	case narrow:
		began := strings.Replace(r.Began[min(5, len(r.Began)):max(5, len(r.Began)-4)], "T", " ", 1)
		return []string{shortOp(r.Op), r.stateText(), r.Tier, r.Task, spent, began}
	}
	return []string{r.Op, r.stateText(), r.Tier, r.Task, spent, r.Began}
}

func shortOp(id string) string { return id[max(0, len(id)-8):] }

func runOpList(c *cli.Context, env console.Env, v *workspace.Board) error {
	folded, ended, err := v.State.OpenOps()
	if err == nil && c.Bool("all") {
		folded, err = v.State.Ops()
	}
	if err != nil {
		return err
	}
	live, err := ops.Beats(v)
	if err != nil {
		return err
	}
	list := []opRow{}
	for _, o := range inTurn(folded) {
		list = append(list, opRowOf(o))
	}
	for _, b := range live { // behind what waits
		at := slices.IndexFunc(list, func(r opRow) bool { return r.Phase != pipeline.Waiting })
		if at < 0 {
			at = len(list)
		}
		list = slices.Insert(list, at, liveRow(b))
	}
	switch {
	case c.Bool("json"):
	case ended > 0 && !c.Bool("all"):
		none := map[bool]string{true: "no change waits or is being made; "}[len(list) == 0]
		console.Talk(env, "op list: %sodd op list --all lists the %s that ended", none, console.CountNoun(ended, "change"))
	case len(list) == 0 && ended == 0:
		console.Talk(env, "op list: no agent has changed files yet (proposals of atoms alone are listed by odd review)")
	}
	return console.ShowList(env, c.Bool("json"), list, "", func(r opRow) []string { return r.rowCells(env, c.Bool("all")) })
}

func liveRow(b pipeline.Beat) opRow {
	return opRow{
		Op: b.Op, Task: b.Task, Run: b.Run, Phase: b.Phase, Spent: b.Spent, Began: console.FormatTime(b.Began), At: console.FormatTime(b.At), Until: console.FormatTime(b.Until), Elapsed: b.At.Sub(b.Began).Milliseconds(),
	}
}

// inTurn returns ops as a person asks for them: what waits for one, the longest first;
// what is under way; and what has ended, the latest first.
func inTurn(folded []*state.Op) []*state.Op {
	rank := func(o *state.Op) int {
		switch {
		case o.Phase == pipeline.Waiting:
			return 0
		case !o.Ended():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(folded, func(a, b *state.Op) int {
		if n := cmp.Compare(rank(a), rank(b)); n != 0 || rank(a) < 2 {
			return cmp.Or(n, a.Began.Compare(b.Began))
		}
		return b.At.Compare(a.At)
	})
	return folded
}
