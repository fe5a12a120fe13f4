package cmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
)

func opClassify(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "classify",
		Usage:     "print the risk tier of a change, and the result of each rule",
		ArgsUsage: "[PATH…]",
		Description: "odd op classify\n" +
			"odd op classify docs/glossary.md docs/tools.md\n" +
			"odd op classify --base HEAD~1\n" +
			"odd op classify --task rename-the-tide-tool\n\n" +
			"Without PATH and --task, odd judges every change in the working tree. From the\n" +
			"mildest, the tiers are SAFE_AUTO, NOTIFY_APPLY, APPROVAL_REQUIRED and BLOCKED\n" +
			"(exit 3).",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "task", Usage: "judge as a change for `TASK`: by who added it, and by its paths if no PATH is given"},
			&cli.StringFlag{Name: "base", Value: "HEAD", Usage: "judge what changed since commit `REV`"},
			&cli.StringFlag{Name: "substrate", Usage: "judge as a change by the agent `NAME` (default: [session] substrate)"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			return runOpClassify(c.Context, env, classifyOptions{
				paths: c.Args().Slice(), task: c.String("task"), base: c.String("base"), substrate: c.String("substrate"), json: c.Bool("json"),
			})
		},
	})
}

type classifyOptions struct {
	paths                 []string
	task, base, substrate string
	json                  bool
}

// classified is a verdict with what it would mean for the work, as --json prints it.
type classified struct {
	pipeline.Verdict
	Complexity pipeline.Complexity `json:"complexity"`
	Lane       pipeline.Lane       `json:"lane"`
	LaneReason string              `json:"lane_reason"`
	CostCap    int64               `json:"cost_cap_micro_usd"`
	Foreseen   bool                `json:"foreseen"`              // from a task's paths, before there is a change
	Meant      int                 `json:"files_meant,omitempty"` // by those paths; the verdict is of the mildest of them
}

func runOpClassify(ctx context.Context, env Env, o classifyOptions) error {
	c, err := openChange(ctx, env, o)
	if err != nil {
		return err
	}
	if len(c.edits) == 0 {
		return none(env, o.json, []any{}, "nothing differs from %s%s", o.base, c.where())
	}
	v, err := c.classify(ctx)
	if err != nil {
		return err
	}
	var refused error
	if v.Tier == pipeline.NeverByMachine {
		refused = refuse(v.Code, "op classify: %s, %s; %s", v.Tier, v.Text(), v.Way)
	}
	if o.json {
		if err := printJSON(env, v); err != nil || refused == nil {
			return err
		}
		return told{refused}
	}
	if err := printRows(env, v.rows(env.Terminal)); err != nil {
		return err
	}
	return refused
}

// classify judges the change, or what the task's paths allow.
func (c *change) classify(ctx context.Context) (classified, error) {
	e, err := risk.Evidence(c.repo, c.base, c.edits, c.cfg.Root, c.graph)
	if err != nil {
		return classified{}, err
	}
	at := pipeline.Situation{Now: c.env.Now(), Substrate: or(c.o.substrate, c.cfg.Session.Substrate)}
	at.Opaque = risk.Opaque(at.Substrate)
	past, err := c.trials()
	if err != nil {
		return classified{}, err
	}
	at.Past = risk.Past(past, c.cfg, at.Now)
	if c.task != nil {
		if e, err = risk.For(ctx, c.repo, c.tip, e, *c.task); err != nil {
			return classified{}, err
		}
	}
	out := classified{Foreseen: c.foreseen}
	if c.foreseen {
		out.Verdict, out.Meant = pipeline.Foresee(e, risk.Policy(c.cfg), at), len(c.edits)
	} else {
		beside, err := risk.Around(c.repo, c.base, e)
		if err != nil {
			return classified{}, err
		}
		out.Verdict = pipeline.Assess(e, risk.Policy(c.cfg), risk.Judged(e, risk.Policy(c.cfg), beside, at))
	}
	return out, c.lane(&out)
}

// lane is the one that a drain gives the task, or that a person's own change has.
func (c *change) lane(out *classified) (err error) {
	if c.task == nil {
		out.Complexity = pipeline.ComplexityOf("", c.paths())
		s := pipeline.Signal{Source: "person", Files: len(c.edits), Complexity: out.Complexity, CrossRepo: len(out.Profile.CrossRepo) > 0}
		out.Lane, out.LaneReason, err = pipeline.LaneFor(s)
	} else {
		out.Lane, out.LaneReason, out.Complexity, err = drain.Lane(*c.task)
	}
	out.CostCap = pipeline.CostCap(out.Lane, out.Complexity)
	if c.task != nil && !c.foreseen {
		out.Complexity = out.Complexity.Of(pipeline.ComplexityOf(c.task.Title, c.paths()))
	}
	return err
}

// rows are the profile, every rule and the verdict. A person sees of the rules
// those that say something.
func (v classified) rows(short bool) [][]string {
	p := v.Profile
	rows := [][]string{{"profile", "filed by", p.Filed}}
	if v.Foreseen {
		rows = append(rows, []string{"profile", "foreseen", fmt.Sprintf("at least this: it is the mildest of %s that the task's paths mean, and a change of others, or of more than one, can be judged higher", count(v.Meant, "file"))})
	}
	for _, f := range p.Files {
		what := f.Path
		if f.From != "" {
			what = f.From + " to " + f.Path
		}
		rows = append(rows, []string{"profile", string(f.Change), what})
	}
	for _, r := range v.Past {
		rows = append(rows, []string{"profile", "past", r.String()})
	}
	rows = append(rows,
		[]string{"profile", "packages", strings.Join(p.Packages, ", ")},
		[]string{"profile", "blast radius", fmt.Sprintf("%d: %s, %s", p.Blast, count(len(p.Dependents), "package"), count(len(p.Atoms), "atom"))},
		[]string{"profile", "test confidence", fmt.Sprintf("%d %%, %s tested", p.Confidence, p.Covered)},
		[]string{"profile", "work", fmt.Sprintf("%s, %s lane (%s), at most $%s and %s a session", v.Complexity, v.Lane, v.LaneReason,
			budget.MicroUSD(v.CostCap), v.Lane.Limits(len(p.Files), 0).Phase[pipeline.Generate].Round(time.Second))})
	for i, list := range [][]pipeline.Ruling{v.Ladder, v.Raised} {
		for _, r := range list {
			said := map[bool]string{true: "yes", false: "no"}[r.Matched]
			if r.Error != "" {
				said = "failed"
			}
			if short && said == "no" {
				continue
			}
			rows = append(rows, []string{[]string{"rule", "raise"}[i], r.Code, string(r.Tier), said, or(r.Error, strings.Join(r.Because, "; "))})
		}
	}
	return append(rows, []string{"verdict", string(v.Tier), v.Code, v.Text(), v.Way})
}
