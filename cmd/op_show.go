package cmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
)

func opShow(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "show",
		Usage:     "show one change: its state, tier, findings, time and cost",
		ArgsUsage: "OP",
		Description: "odd op show 7QK2ZP\n\n" +
			"OP is the id that odd op list prints, or the end of it.",
		Flags:  []cli.Flag{jsonFlag()},
		Action: do(env, runOpShow),
	})
}

// opShown is an op as --json shows it.
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

func shown(s pipeline.Story) opShown {
	o := s.Op()
	out := opShown{opRow: opRowOf(state.OpOf(s)), Facts: o.Facts(), Sound: s.Sound, Means: pipeline.Explain(o.Reason), Phases: []opPhase{}}
	if o.Ended() {
		out.Note = o.Last().Note
	}
	if len(o.Moved) > 0 {
		out.Branch, out.Commit = strings.TrimPrefix(o.Moved[0].Ref, "refs/heads/"), o.Moved[0].New
	}
	for _, p := range pipeline.Passages(s) {
		out.Phases = append(out.Phases, opPhase{p.Phase, stamp(p.Started), p.Elapsed().Milliseconds(), p.Spent, p.Note})
	}
	return out
}

func runOpShow(c *cli.Context, env Env) error {
	name, err := opArg(c, env)
	if err != nil {
		return err
	}
	v, s, err := opOpen(c.Context, env, name)
	if err != nil {
		return err
	}
	out := shown(s)
	out.Failed, out.Output = v.failing(s.Op().Run, s.Op().ID)
	return showPage(env, c.Bool("json"), out, out.card())
}

// card is the op on one screen.
func (s opShown) card() string {
	b := &strings.Builder{}
	line := func(key, format string, args ...any) {
		if text := cell(fmt.Sprintf(format, args...)); text != "" {
			fmt.Fprintf(b, "%-12s%s\n", key, text)
		}
	}
	line("change", "%s", s.Op)
	line("task", "%s", s.Task)
	line("state", "%s", s.state())
	line("because", "%s", s.Note)
	line("means", "%s", s.Means)
	line("failed", "%s", s.Failed)
	for _, text := range s.Output {
		line("", "| %s", text)
	}
	line("risk tier", "%s", s.Tier)
	line("began", "%s by %s", s.Began, s.Run)
	line("until", "%s", s.Until)
	line("spent", "$%s", budget.MicroUSD(s.Spent))
	line("base", "%s", s.Facts[pipeline.FactBase])
	line("candidate", "%s", s.Facts[pipeline.FactCandidate])
	line("sandbox", "%s", sandboxed(s.Facts[pipeline.FactSandbox]))
	line("odd fixed", "%s", s.Facts[pipeline.FactMended])
	line("rules hash", "%s", s.Facts[pipeline.FactRules])
	if s.Commit != "" {
		line("commit", "%s on %s", s.Commit, s.Branch)
	}
	if !s.Sound {
		line("records", "are inconsistent; run odd check to see why")
	}
	for i, p := range s.Phases {
		took := (time.Duration(p.Elapsed) * time.Millisecond).String()
		line([]string{"phases", ""}[min(i, 1)], "%-9s %8s  %s", p.Phase, took, p.Note)
	}
	return b.String()
}
