package cmd

import (
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/handoff"
)

func handoffNew(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "new",
		Usage: "write a handoff and its journal entry, as a template or from JSON",
		Description: "odd agent handoff new --from planning --to execution \\\n" +
			"  --artifact knowledge/terms/slack-water.md --title \"Slack water\"\n" +
			"odd agent handoff new --from validation --from-json findings.json \\\n" +
			"  --title \"Review a\"\n\n" +
			"Without --from-json, odd writes a template: fill in its parts and commit it.\n" +
			"odd help agent handoff lists the modes.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "`MODE` that hands over: exploration, planning, execution, validation or resolution"},
			&cli.StringFlag{Name: "to", Usage: "`MODE` that receives (default: the next one)"},
			&cli.StringFlag{Name: "artifact", Usage: "say what is handed over, `REF`: a path, id, uri or commit"},
			&cli.StringFlag{Name: "title", Usage: "set the title to `TITLE`; it also makes the file name"},
			&cli.StringFlag{Name: "from-json", Usage: "take the content from the JSON in `FILE` (- for stdin)"},
			&cli.StringSliceFlag{Name: "derives", Usage: "name a handoff `ID` that it is made from; repeatable"},
			noCommitFlag(),
			jsonFlag(),
		},
		Action: do(env, runHandoffNew),
	})
}

func runHandoffNew(c *cli.Context, env Env) error {
	from, to, err := transition("handoff new", c.String("from"), c.String("to"))
	if err != nil {
		return err
	}
	meta := handoff.Meta{From: from, To: to, Artifact: c.String("artifact"), Title: c.String("title"), Slug: c.String("title")}
	deliverable, err := deliverableFrom(env, meta, c.String("from-json"))
	if err != nil {
		return err
	}
	if deliverable == nil && meta.Artifact == "" {
		return usage("agent handoff new: want --artifact, what it is about; see odd help agent handoff new")
	}
	w, err := openWorkspace(c.Context, env)
	if err != nil {
		return err
	}
	name, by, err := w.actor(c.Context, "handoff new")
	if err != nil {
		return err
	}
	meta.By, meta.At, meta.Journal = by, w.instant(), w.day(name)
	var made handoff.Handoff
	oid, err := w.tell(c, meta.Journal, func(v *view) (act handoffAct, err error) {
		m, d := meta, deliverable
		m.Artifact = v.artifact(m.Artifact)
		if d != nil {
			whole := d.Clone()
			d = &whole
			d.Set("artifact", v.artifact(d.Artifact()), nil)
		}
		for _, ref := range c.StringSlice("derives") {
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
	return show(env, c.Bool("json"), map[string]any{"handoff": made.ID, "file": file, "missing": orEmpty(made.Missing), "commit": string(oid)}, []string{file, lacking(made.Missing), short(oid)})
}

// instant is the present time as files have it.
func (w *workspace) instant() string { return w.env.Now().UTC().Format(time.RFC3339) }
