package cmd

import (
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/handoff"
)

func handoffMerge(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "merge",
		Usage:     "merge several handoffs of one role on one artifact into one",
		ArgsUsage: "ID ID...",
		Description: "odd agent handoff merge 2026-03-02-review-a 2026-03-02-review-b \\\n" +
			"  --title \"Two reviews\"\n\n" +
			"The merged handoffs stay as they are. The new one has once what they agree on,\n" +
			"and every version of what they disagree on.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "title", Usage: "set the title to `TITLE`; it also makes the file name"},
			noCommitFlag(),
			jsonFlag(),
		},
		Action: do(env, runHandoffMerge),
	})
}

func runHandoffMerge(c *cli.Context, env Env) error {
	if c.NArg() < 2 {
		return usage("agent handoff merge: want two handoffs or more; see odd help agent handoff merge")
	}
	w, err := openWorkspace(c.Context, env)
	if err != nil {
		return err
	}
	name, by, err := w.actor(c.Context, "handoff merge")
	if err != nil {
		return err
	}
	day := w.day(name)
	var made handoff.Handoff
	oid, err := w.tell(c, day, func(v *view) (act handoffAct, err error) {
		var list []handoff.Handoff
		var bad []error
		for _, id := range c.Args().Slice() {
			h, err := v.handoff(id)
			h.Artifact = v.artifact(h.Artifact)
			list, bad = append(list, h), append(bad, err)
		}
		if err := errors.Join(bad...); err != nil {
			return act, err
		}
		m, d, err := handoff.Merge(list)
		if err != nil {
			return act, err
		}
		m.By, m.At, m.Journal = by, w.instant(), day
		m.Title, m.Slug = c.String("title"), or(c.String("title"), "merged-"+string(m.From)+"-to-"+string(m.To))
		made, act, err = v.handOver(m, &d)
		return act, err
	})
	if err != nil {
		return err
	}
	file := w.cfg.Root + "/" + made.Path
	rows := [][]string{{file, lacking(made.Missing), strings.Join(made.Derives, " ")}}
	for _, s := range made.Disagreements {
		rows = append(rows, []string{"disagreement", s})
	}
	answer := map[string]any{"handoff": made.ID, "file": file, "sources": made.Derives, "disagreements": orEmpty(made.Disagreements), "commit": string(oid)}
	return show(env, c.Bool("json"), answer, rows...)
}
