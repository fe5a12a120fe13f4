package cmd

import (
	"time"

	"github.com/odd-cli/odd/board/gate"
	"github.com/urfave/cli/v2"
)

func proposalsShow(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "show",
		Usage:       "show one request and its answer",
		ArgsUsage:   "ID",
		Description: "odd gate proposals show P-01KJ…",
		Flags:       []cli.Flag{jsonFlag()},
		Action:      one("a proposal", on(env, openProposals, runProposalsShow)),
	})
}

func runProposalsShow(c *cli.Context, env Env, b gate.Buffer) error {
	p, err := oneProposal(b, c.Args().First())
	if err != nil {
		return err
	}
	j := proposalOf(b, p)
	if j.Disposition == nil && !c.Bool("json") {
		talk(env, "answer it: odd gate %s --because %s, or odd gate proposals reject %s --reason \"WHY\"", p.Gate, p.ID, p.ID)
	}
	return show(env, c.Bool("json"), j, fields(
		"proposal", p.ID, "at", p.TS.Format(time.RFC3339), "severity", string(p.Severity), "source", string(p.Source), "gate", string(p.Gate), "reason", p.Reason,
		"lease", p.Lease, "task", p.Task, "run", p.Run, "key", p.Key, "state", j.became())...)
}
