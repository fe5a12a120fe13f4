package cmd

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
)

func handoffNew(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "new",
		Usage: "write a handoff and its journal entry: a template to fill in, or a whole one from JSON",
		Description: "odd agent handoff new --from planning --to execution \\\n" +
			"  --artifact knowledge/terms/slack-water.md\n" +
			"odd agent handoff new --from validation \\\n  --from-json findings.json --derives review-a",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "the `MODE` that hands over"},
			&cli.StringFlag{Name: "to", Usage: "the `MODE` that receives (default: the one that follows)"},
			&cli.StringFlag{Name: "artifact", Usage: "what it is about: a path, id, uri or commit, as `REF`"},
			&cli.StringFlag{Name: "title", Usage: "its `TITLE`; the file is named by it"},
			&cli.StringFlag{Name: "from-json", Usage: "take the deliverable in `FILE` (- for stdin), whole"},
			&cli.StringSliceFlag{Name: "derives", Usage: "a handoff `ID` it was made from; repeatable"},
			&cli.BoolFlag{Name: "no-commit", Usage: "write and stage only"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			o := newHandoff{noCommit: c.Bool("no-commit"), json: c.Bool("json"), derives: c.StringSlice("derives")}
			from, to, err := transition("handoff new", c.String("from"), c.String("to"))
			if err != nil {
				return err
			}
			o.meta = handoff.Meta{From: from, To: to, Artifact: c.String("artifact"), Title: c.String("title"), Slug: c.String("title")}
			if o.deliverable, err = deliverableFrom(env, o.meta, c.String("from-json")); err != nil {
				return err
			}
			if o.deliverable == nil && o.meta.Artifact == "" {
				return usage("agent handoff new: want --artifact, what it is about; see odd help agent handoff new")
			}
			return runHandoffNew(c.Context, env, o)
		},
	})
}

type newHandoff struct {
	meta           handoff.Meta
	deliverable    *deliver.Deliverable // nil for a template
	derives        []string
	noCommit, json bool
}

func runHandoffNew(ctx context.Context, env Env, o newHandoff) error {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return err
	}
	name, by, err := w.actor(ctx, "handoff new")
	if err != nil {
		return err
	}
	o.meta.By, o.meta.At, o.meta.Journal = by, w.instant(), w.day(name)
	var made handoff.Handoff
	oid, err := w.tell(ctx, o.meta.Journal, o.noCommit, func(v *view) (act handoffAct, err error) {
		m, d := o.meta, o.deliverable
		m.Artifact = v.artifact(m.Artifact)
		if d != nil {
			whole := d.Clone()
			d = &whole
			d.Set("artifact", v.artifact(d.Artifact()), nil)
		}
		for _, ref := range o.derives {
			src, err := v.handoff(ref)
			if err != nil {
				return act, err
			}
			m.Derives = append(m.Derives, src.ID)
			m.Tainted = or(m.Tainted, src.Tainted)
		}
		made, act, err = v.handOver(m, d)
		return act, err
	})
	if err != nil {
		return err
	}
	file := w.cfg.Root + "/" + made.Path
	if o.json {
		return printJSON(env, map[string]any{"handoff": made.ID, "file": file, "missing": orEmpty(made.Missing), "commit": string(oid)})
	}
	return printRows(env, [][]string{{file, handoffState(made), short(oid)}})
}

// instant is the present time as files have it.
func (w *workspace) instant() string { return w.env.Now().UTC().Format(time.RFC3339) }
