package cmd

import (
	"time"

	"github.com/urfave/cli/v2"
)

func anchorGC(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "gc",
		Usage: "remove unfinished sessions, and archive ended ones",
		Description: "odd anchor gc\n" +
			"odd anchor gc --max-age 48h\n\n" +
			"odd deletes archived records after 30 days, or after --max-age if that is\n" +
			"longer.",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "max-age", Value: 24 * time.Hour, Usage: "take only sessions older than `DURATION`, such as 48h"},
			jsonFlag(),
		},
		Action: do(env, runAnchorGC),
	})
}

func runAnchorGC(c *cli.Context, env Env) error {
	if c.Duration("max-age") <= 0 {
		return usage("anchor gc: --max-age %s: want a time above zero, like 24h", c.Duration("max-age"))
	}
	a, err := openAnchor(c.Context, env)
	if err != nil {
		return err
	}
	defer a.Close()
	all, err := a.desk.GC(c.Duration("max-age"))
	if err != nil {
		return err
	}
	rows := [][]string{}
	for _, s := range all {
		what, why := "removed", s.Why
		if s.Problem != nil {
			what, why = "left", s.Problem.String()
		}
		rows = append(rows, []string{s.Token, s.State, what, why})
	}
	return show(env, c.Bool("json"), orEmpty(all), rows...)
}
