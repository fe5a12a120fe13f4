package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/handoff"
)

func handoffCheck(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "check",
		Usage:     "check that handoffs are complete and cite what exists",
		ArgsUsage: "[ID...]",
		Description: "odd agent handoff check\n" +
			"odd agent handoff check 2026-03-02-slack-water\n\n" +
			"A handoff needs the fields of its two modes, a journal entry, and sources that\n" +
			"exist. Exit 1 means findings. odd does not judge how good the content is.",
		Flags:  []cli.Flag{jsonFlag()},
		Action: on(env, openHandoffs, runHandoffCheck),
	})
}

func runHandoffCheck(c *cli.Context, env Env, v *view) error {
	list, found, err := v.handoffs(c.Args().Slice())
	if err != nil {
		return err
	}
	for _, h := range list {
		found = append(found, handoff.Check(h, v.world(c.Context, h))...)
	}
	slices.SortStableFunc(found, func(a, b okf.Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	for i := range found {
		found[i].Path = v.file(found[i].Path)
	}
	status := "OK"
	if len(found) > 0 {
		status = "FINDINGS"
	}
	if c.Bool("json") {
		err = printJSON(env, map[string]any{"status": status, "handoffs": len(list), "findings": orEmpty(found)})
	} else {
		for _, p := range found {
			if _, err := fmt.Fprintf(env.Stdout, "%s:%d: %s [%s]\n", p.Path, p.Line, okf.Visible(oneLine(p.Message+"; "+p.Hint)), p.Code); err != nil {
				return err
			}
		}
	}
	return orFault(err, status != "OK")
}

// handoffs are those named, or all of the bundle; what cannot be read is a finding.
func (v *view) handoffs(ids []string) (list []handoff.Handoff, bad []okf.Problem, err error) {
	if len(ids) == 0 {
		return handoff.All(v.graph), handoff.Unreadable(v.graph), nil
	}
	for _, id := range ids {
		h, err := v.handoff(id)
		var ps handoff.Problems
		switch {
		case errors.As(err, &ps):
			bad = append(bad, ps...)
		case err != nil:
			return nil, nil, err
		default:
			list = append(list, h)
		}
	}
	return list, bad, nil
}
