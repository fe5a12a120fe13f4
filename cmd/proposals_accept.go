package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/gate"
)

func proposalsAccept(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "accept",
		Usage:     "mark a proposal as answered by a gate that was run; it changes no state",
		ArgsUsage: "ID",
		Description: "odd gate evaluation --because P-01KJ…       # runs the gate and accepts\n" +
			"odd gate proposals accept P-01KJ… --act G-0004",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "act", Usage: "the gate act that answers it, by its `ROW` G-0001"},
			&cli.StringFlag{Name: "reason", Usage: "how it does, in one `TEXT`"},
			yesFlag(), jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			id, err := oneArg(c, "a proposal")
			if err != nil {
				return err
			}
			return runDispose(c.Context, env, disposal{id, gate.Disposition{Decision: gate.Accepted, Act: c.String("act"), Reason: c.String("reason")}, c.Bool("yes"), c.Bool("json")})
		},
	})
}

func proposalsReject(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "reject",
		Usage:       "turn a proposal down; it changes no state",
		ArgsUsage:   "ID",
		Description: `odd gate proposals reject P-01KJ… --reason "the silence is the holiday"`,
		Flags:       []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "why, in one `TEXT`"}, yesFlag(), jsonFlag()},
		Action: func(c *cli.Context) error {
			id, err := oneArg(c, "a proposal")
			if err != nil {
				return err
			}
			if oneLine(c.String("reason")) == "" {
				return usage("gate proposals reject: the reason is missing; say why with --reason \"WHY\"")
			}
			return runDispose(c.Context, env, disposal{id, gate.Disposition{Decision: gate.Rejected, Reason: c.String("reason")}, c.Bool("yes"), c.Bool("json")})
		},
	})
}
