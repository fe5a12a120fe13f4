package cmd

import (
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
		Action:      one("TOKEN", do(env, runAnchorRelease)),
	})
}

func runAnchorRelease(c *cli.Context, env Env) error {
	token := c.Args().First()
	a, err := openAnchor(c.Context, env)
	if err != nil {
		return err
	}
	defer a.Close()
	done, err := a.desk.Release(token, c.String("reason"))
	if no := anchor.Refusal(nil); errors.As(err, &no) && no.Refused() == string(anchor.TokenUnknown) {
		return fmt.Errorf("anchor release %s: no such session; odd anchor ls lists them", token)
	}
	if err != nil {
		return err
	}
	return show(env, c.Bool("json"), done, []string{done.Token, "released", done.Role, done.ReleasedAt.UTC().Format(time.RFC3339), done.Reason})
}
