package changes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/cmd/internal/ops"
	"github.com/odd-cli/odd/cmd/internal/verb"
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

// watchWait is how long odd op watch waits between two looks.
const watchWait = 500 * time.Millisecond

func opWatch(env console.Env) *cli.Command {
	return verb.New("watch", "follow the change that odd drain works on in this clone",
		"odd op watch\nodd op watch --once",
		verb.On(env, workspace.Open, func(c *cli.Context, env console.Env, at *workspace.Clone) error {
			if _, err := verb.OneFlag(c, "once", "follow"); err != nil {
				return err
			}
			return runOpWatch(c.Context, at, watch{once: c.Bool("once"), follow: c.Bool("follow"), json: c.Bool("json")})
		}),
		&cli.BoolFlag{Name: "once", Usage: "print the state once"},
		&cli.BoolFlag{Name: "follow", Usage: "keep waiting when nothing runs"})
}

// watch is a look at what runs, over and over.
type watch struct {
	once, follow, json bool

	last  []pipeline.Beat   // as read, alive or not
	told  map[string]string // what was last printed of each op, where lines are not rewritten
	drawn int               // lines on the terminal as they stand
}

func runOpWatch(ctx context.Context, at *workspace.Clone, w watch) error {
	env := at.Env
	w.told = map[string]string{}
	for {
		now := env.Now()
		all := pipeline.Beats(at.Repo.Live())
		if len(all) > 0 {
			w.last = slices.Clone(all)
		}
		beats := slices.DeleteFunc(all, func(b pipeline.Beat) bool { return !b.Alive(now) })
		if len(beats) > 0 && !at.Repo.Draining() {
			beats = nil // that drain was killed
		}
		if err := w.printBeats(env, beats, now); err != nil {
			return err
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case w.once, len(beats) == 0 && !w.follow:
			return w.printEnd(ctx, env)
		}
		env.Sleep(watchWait)
	}
}

// printBeats shows the ops that are at work: on a terminal over the lines of the look
// before, elsewhere a line whenever one is in another phase.
func (w *watch) printBeats(env console.Env, beats []pipeline.Beat, now time.Time) error {
	live := env.Terminal && env.Getenv("TERM") != "dumb" && !w.json
	var b strings.Builder
	if live && w.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", w.drawn)
	}
	w.drawn = len(beats)
	for _, beat := range beats {
		row := watchRow{liveRow(beat), beat.Doing, beat.Tries}
		row.Elapsed = now.Sub(beat.Began).Milliseconds()
		if !live && w.told[beat.Op] == row.describePhase() {
			continue
		}
		w.told[beat.Op] = row.describePhase()
		b.WriteString(w.beatLine(env, row))
	}
	_, err := env.Stdout.Write([]byte(b.String()))
	return err
}

// watchRow is an op at one moment, as --json tells it, a line each.
type watchRow struct {
	opRow
	Doing string `json:"doing,omitempty"`
	Tries int    `json:"tries,omitempty"` // where it is not the first
}

func (r watchRow) describePhase() string {
	text := r.stateText()
	if r.Tries > 1 {
		text = fmt.Sprintf("%s, try %d", text, r.Tries)
	}
	if r.Doing != "" {
		text += ", " + r.Doing
	}
	return console.Cell(text)
}

func (w *watch) beatLine(env console.Env, r watchRow) string {
	if w.json {
		return console.JSONLine(r) + "\n"
	}
	elapsed, spent := fmt.Sprintf("%.0fs", float64(r.Elapsed)/1000), "$"+budget.MicroUSD(r.Spent).String()
	if env.Terminal { // one that wrapped could not be drawn over
		return layout.Clip(fmt.Sprintf("%-8s  %6s  %8s  %s: %s", shortOp(r.Op), elapsed, spent, console.Cell(r.Task), r.describePhase()), env.TerminalWidth()) + "\n"
	}
	return strings.Join([]string{r.Op, r.describePhase(), elapsed, spent, console.Cell(r.Task)}, "\t") + "\n"
}

func (w *watch) printEnd(ctx context.Context, env console.Env) error {
	if len(w.told) == 0 {
		console.Talk(env, "op watch: no drain of this clone is at work on a change")
	}
	if len(w.told) == 0 || w.once {
		return nil
	}
	v, err := workspace.OpenFiles(ctx, env)
	if err != nil {
		return err
	}
	folded, err := v.State.Ops()
	if err != nil {
		return err
	}
	rows := map[string]watchRow{}
	for _, b := range w.last { // not committed yet, perhaps
		rows[b.Op] = watchRow{opRow: liveRow(b)}
	}
	for _, o := range folded {
		rows[o.ID] = watchRow{opRow: opRowOf(o)}
	}
	for _, id := range slices.Sorted(maps.Keys(w.told)) {
		if _, err := fmt.Fprint(env.Stdout, w.beatLine(env, rows[id])); err != nil {
			return err
		}
	}
	return nil
}
