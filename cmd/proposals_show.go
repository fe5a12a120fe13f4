package cmd

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"
)

func proposalsShow(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "show",
		Usage:       "show one request and its answer",
		ArgsUsage:   "ID",
		Description: "odd gate proposals show P-01KJ…",
		Flags:       []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			id, err := oneArg(c, "a proposal")
			if err != nil {
				return err
			}
			return runProposalsShow(c.Context, env, id, c.Bool("json"))
		},
	})
}

func runProposalsShow(ctx context.Context, env Env, id string, asJSON bool) error {
	_, b, err := openProposals(ctx, env)
	if err != nil {
		return err
	}
	p, err := oneProposal(b, id)
	if err != nil {
		return err
	}
	j := proposalOf(b, p)
	if asJSON {
		return printJSON(env, j)
	}
	rows := [][]string{
		{"proposal", p.ID}, {"at", p.TS.Format(time.RFC3339)}, {"severity", string(p.Severity)}, {"source", string(p.Source)},
		{"gate", string(p.Gate)}, {"reason", p.Reason},
	}
	for _, r := range [][]string{{"lease", p.Lease}, {"task", p.Task}, {"run", p.Run}, {"key", p.Key}, {"state", j.became()}} {
		if r[1] != "" {
			rows = append(rows, r)
		}
	}
	if j.Disposition == nil {
		talk(env, "answer it: odd gate %s --because %s, or odd gate proposals reject %s --reason \"WHY\"", p.Gate, p.ID, p.ID)
	}
	return printRows(env, rows)
}
