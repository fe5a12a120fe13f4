package cmd

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorContext(env Env) *cli.Command {
	return anchorStage(env, "context", "send BIND, to show that the agent read the rules of its role",
		anchor.Desk.Context)
}

func anchorProof(env Env) *cli.Command {
	return anchorStage(env, "proof", "send TENSIONS and COMMIT, and get the permit to write",
		anchor.Desk.Proof)
}

func anchorExpress(env Env) *cli.Command {
	return anchorStage(env, "express", "send only COMMIT, and get the permit (identity --mode express)",
		anchor.Desk.Express)
}

// anchorStage is a verb that hands a payload to a stage.
func anchorStage(env Env, name, about string, stage func(anchor.Desk, string, []byte) anchor.Result) *cli.Command {
	return command(&cli.Command{
		Name:      name,
		Usage:     about,
		ArgsUsage: "TOKEN [FILE|-]",
		Description: "odd anchor " + name + " TOKEN answer.oct\nodd anchor " + name + " TOKEN - < answer.oct\n\n" +
			"TOKEN is in the answer of odd anchor identity. FILE is the template that the\n" +
			"step before printed, filled in. Exit 3: it was refused; the answer says why\n" +
			"and has the template again. The third refusal of a step ends the session.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "payload", Usage: "send this text, the content of `@FILE`, or - for stdin, instead of the argument"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error { return runAnchorStage(c, env, stage) },
	})
}

// payloadSource reads where the payload is: a file, - for stdin, or the flag itself.
func payloadSource(c *cli.Context) (file, inline string, err error) {
	flag, given := c.String("payload"), c.IsSet("payload")
	switch {
	case c.NArg() < 1 || c.NArg() > 2 || c.Args().First() == "":
		return "", "", usage("%s: want TOKEN, and FILE or -; see odd help %s", verbOf(c), verbOf(c))
	case given == (c.NArg() == 2):
		return "", "", usage("%s: want the payload once: - for stdin, a file, or --payload", verbOf(c))
	case !given:
		return c.Args().Get(1), "", nil
	case flag == "-":
		return "-", "", nil
	}
	if name, ok := strings.CutPrefix(flag, "@"); ok {
		return name, "", nil
	}
	return "", flag, nil
}

// runAnchorStage hands a payload to a stage.
func runAnchorStage(c *cli.Context, env Env, stage func(anchor.Desk, string, []byte) anchor.Result) error {
	file, inline, err := payloadSource(c)
	if err != nil {
		return err
	}
	payload := []byte(inline)
	if file != "" {
		b, err := readInput(env, file, anchor.MaxPayload) // one byte more is the stage's to refuse
		if err != nil {
			return err
		}
		payload = b
	}
	a, err := openAnchor(c.Context, env)
	if err != nil {
		return err
	}
	defer a.Close()
	return printAnchor(env, verbOf(c), stage(a.desk, c.Args().First(), payload), c.Bool("json"))
}
