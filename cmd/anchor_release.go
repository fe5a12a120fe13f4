package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorRelease(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "release",
		Usage:       "end a session and its permit, and archive its record",
		ArgsUsage:   "TOKEN",
		Description: "odd anchor release TOKEN --reason 'the docs are fixed'",
		Flags:       []cli.Flag{&cli.StringFlag{Name: "reason", Value: "done", Usage: "record `TEXT`, one line, as the reason"}, jsonFlag()},
		Action: func(c *cli.Context) error {
			token, err := oneArg(c, "TOKEN")
			if err != nil {
				return err
			}
			return runAnchorRelease(c.Context, env, token, c.String("reason"), c.Bool("json"))
		},
	})
}

func runAnchorRelease(ctx context.Context, env Env, token, reason string, asJSON bool) error {
	a, err := openAnchor(ctx, env)
	if err != nil {
		return err
	}
	defer a.Close()
	done, err := a.desk.Release(token, reason)
	if no := anchor.Refusal(nil); errors.As(err, &no) && no.Refused() == string(anchor.TokenUnknown) {
		return fmt.Errorf("anchor release %s: no such session; odd anchor ls lists them", token)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env, done)
	}
	return printRows(env, [][]string{{done.Token, "released", done.Role, done.ReleasedAt.UTC().Format(time.RFC3339), done.Reason}})
}
