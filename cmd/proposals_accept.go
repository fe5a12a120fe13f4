package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/gate"
)

func proposalsAccept(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "accept",
		Usage:     "mark a request as answered by a gate that was already run",
		ArgsUsage: "ID",
		Description: "odd gate evaluation --because P-01KJ…       # runs the gate and accepts\n" +
			"odd gate proposals accept P-01KJ… --act G-0004\n\n" +
			"odd log and governance/gates.jsonl list the gates with their ids.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "act", Usage: "name the gate that answers it by its id, `G-0001`"},
			reasonFlag(),
			yesFlag(), jsonFlag(),
		},
		Action: one("a proposal", do(env, func(c *cli.Context, env Env) error {
			return runDispose(c, env, gate.Disposition{Decision: gate.Accepted, Act: c.String("act"), Reason: c.String("reason")})
		})),
	})
}

func proposalsReject(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "reject",
		Usage:       "reject a request for a gate",
		ArgsUsage:   "ID",
		Description: "odd gate proposals reject P-01KJ… --reason \"the silence is the holiday\"",
		Flags:       []cli.Flag{reasonFlag(), yesFlag(), jsonFlag()},
		Action: one("a proposal", do(env, func(c *cli.Context, env Env) error {
			if oneLine(c.String("reason")) == "" {
				return usage("gate proposals reject: the reason is missing; say why with --reason \"WHY\"")
			}
			return runDispose(c, env, gate.Disposition{Decision: gate.Rejected, Reason: c.String("reason")})
		})),
	})
}
