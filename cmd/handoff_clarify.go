package cmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/handoff"
)

func handoffClarify(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "clarify",
		Usage:     "add a missing sentence to a handoff, as its author",
		ArgsUsage: "ID KEY SENTENCE",
		Description: "odd agent handoff clarify 2026-03-02-slack-water assumptions \\\n" +
			"  \"The almanac is this year's.\"\n\n" +
			"KEY is a field that the handoff needs; odd agent handoff check names what\n" +
			"lacks.",
		Flags:  []cli.Flag{noCommitFlag(), jsonFlag()},
		Action: do(env, runHandoffClarify),
	})
}

func runHandoffClarify(c *cli.Context, env Env) error {
	if c.NArg() != 3 {
		return usage("agent handoff clarify: want a handoff, a key and a sentence; see odd help agent handoff clarify")
	}
	args := c.Args().Slice()
	w, err := openWorkspace(c.Context, env)
	if err != nil {
		return err
	}
	name, by, err := w.person(c.Context, "handoff clarify "+args[0])
	if err != nil {
		return err
	}
	file := ""
	oid, err := w.tell(c, w.day(name), func(v *view) (handoffAct, error) {
		h, err := v.handoff(args[0])
		if err != nil {
			return handoffAct{}, err
		}
		b, err := handoff.Clarify(h, args[1], args[2])
		if err != nil {
			return handoffAct{}, err
		}
		file = v.file(h.Path)
		e := journal.Entry{Type: "H", More: owner(h.To), Title: "Clarified: " + h.Title, Content: fmt.Sprintf("CLARIFICATION: %s → %s: %s now says under %s, by %s at %s: %s",
			h.From, h.To, file, args[1], by, w.instant(), args[2])}
		return handoffAct{repo.Changes{file: b}, "journal: Clarified: " + h.Title, e}, nil
	})
	if err != nil {
		return err
	}
	return show(env, c.Bool("json"), map[string]string{"file": file, "key": args[1], "commit": string(oid)}, []string{file, args[1], short(oid)})
}
