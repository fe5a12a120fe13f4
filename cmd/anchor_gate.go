package cmd

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorGate(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "gate",
		Usage: "allow or deny one tool call of an agent",
		Description: "echo '{\"tool\": \"write\", \"paths\": [\"docs/a.md\"]}' | odd anchor gate\n" +
			"odd anchor gate --hook claude < call.json\n\n" +
			"The hook that odd anchor hook install writes runs this before each tool call.\n" +
			"Reading is allowed; writing needs a permit that covers the file. A call that\n" +
			"odd cannot judge is denied.\n\n" +
			"Without --hook, stdin is a JSON object with tool, paths, command, session and\n" +
			"cwd; stdout is the decision as JSON. Exit 0 allows, 3 denies, any other code\n" +
			"denies too. With --hook claude, it speaks Claude Code's PreToolUse format:\n" +
			"exit 0 without output allows; exit 0 with a decision denies; exit 2 is an\n" +
			"error and denies, with the reason on stderr. --block denies with exit 2, for\n" +
			"harnesses that read no decision. ODD_ANCHOR names the session if the call does\n" +
			"not.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "hook", Usage: "read and answer in the hook format of `HARNESS`: claude"},
			&cli.BoolFlag{Name: "block", Usage: "with --hook, deny with exit 2"},
			&cli.StringFlag{Name: "ask", Usage: "with --hook, ask the running odd that listens at `SOCKET`"},
		},
		Action: do(env, runAnchorGate),
	})
}

// gating is how the gate is asked, and answers.
type gating struct {
	hook, block bool
	ask         string // a socket: who decides instead
}

func runAnchorGate(c *cli.Context, env Env) error {
	hook, block := c.String("hook"), c.Bool("block")
	switch {
	case c.IsSet("hook") && hook != "claude":
		return usage("anchor gate: --hook %q: want claude", hook)
	case block && hook == "":
		return usage("anchor gate: --block says how --hook answers; give both")
	case c.IsSet("ask") && (hook == "" || c.String("ask") == ""):
		return usage("anchor gate: --ask names a socket, for --hook; give both")
	}
	g := gating{hook: hook != "", block: block, ask: c.String("ask")}
	d, err := decideInTime(c.Context, env, g)
	if err != nil {
		d = anchor.Unjudged(err)
	}
	switch {
	case !g.hook:
		return tellDecision(env, d)
	case d.Allow:
		return nil
	case g.block || err != nil:
		return errors.New(d.Reason())
	}
	if _, err := env.Stdout.Write(d.Hook()); err != nil {
		return fmt.Errorf("stdout: %v", err) // also where nobody reads it: a no that was not heard is a fault
	}
	return nil
}

// tellDecision prints a decision for any harness.
func tellDecision(env Env, d anchor.Decision) error {
	if err := printJSON(env, struct {
		anchor.Decision
		Reason string `json:"reason,omitempty"`
	}{d, d.Reason()}); err != nil {
		return err
	}
	if !d.Allow {
		return exitCode(exitRefused)
	}
	return nil
}
