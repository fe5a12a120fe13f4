package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorGate(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "gate",
		Usage: "say whether a tool may be used now; what cannot be judged is denied",
		Description: "odd anchor gate --hook claude <call.json\n" +
			"echo '{\"tool\": \"write\", \"paths\": [\"docs/a.md\"]}' | odd anchor gate\n\n" +
			"Without --hook: a call as {\"tool\", \"paths\", \"command\", \"session\", \"cwd\"} on\n" +
			"stdin, the decision as JSON on stdout; exit 0 is yes, 3 is no, and whatever\n" +
			"else is no, too.\n" +
			"With --hook claude: Claude Code's PreToolUse form. Exit 0 without a word is\n" +
			"yes, exit 0 with a decision on stdout is no, and any fault is exit 2 with its\n" +
			"reason on stderr; it never exits 1.\n" +
			"With --block no is exit 2 with its reason on stderr, for harnesses that read\n" +
			"no decision. ODD_ANCHOR names the session where the call does not.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "hook", Usage: "read and answer as the hook of `HARNESS`: claude"},
			&cli.BoolFlag{Name: "block", Usage: "with --hook, say no by exit 2"},
			&cli.StringFlag{Name: "ask", Usage: "with --hook, ask the odd that holds this session and listens at `SOCKET`"},
		},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			hook, block := c.String("hook"), c.Bool("block")
			switch {
			case c.IsSet("hook") && hook != "claude":
				return usage("anchor gate: --hook %q: want claude", hook)
			case block && hook == "":
				return usage("anchor gate: --block says how --hook answers; give both")
			case c.IsSet("ask") && (hook == "" || c.String("ask") == ""):
				return usage("anchor gate: --ask names a socket, for --hook; give both")
			}
			return runAnchorGate(c.Context, env, gating{hook: hook != "", block: block, ask: c.String("ask")})
		},
	})
}

// gating is how the gate is asked, and answers.
type gating struct {
	hook, block bool
	ask         string // a socket: who decides instead
}

func runAnchorGate(ctx context.Context, env Env, g gating) error {
	d, err := decideInTime(ctx, env, g)
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
