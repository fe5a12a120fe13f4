package cmd

import (
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorVerify(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "verify",
		Usage:     "check whether the permit of a session is still valid",
		ArgsUsage: "[TOKEN]",
		Description: "odd anchor verify TOKEN\n" +
			"odd anchor verify\n\n" +
			"A permit ends with its time, or when the branch or the rules of the role\n" +
			"change. Without TOKEN, odd checks every session that has one. Exit 3: one is\n" +
			"not valid.",
		Flags:  []cli.Flag{jsonFlag()},
		Action: do(env, runAnchorVerify),
	})
}

func runAnchorVerify(c *cli.Context, env Env) error {
	token := c.Args().First()
	a, err := openAnchor(c.Context, env)
	if err != nil {
		return err
	}
	defer a.Close()
	all := []anchor.Verdict{}
	if token != "" {
		all = append(all, a.desk.Verify(token))
	} else {
		held, err := a.desk.Permits("")
		if err != nil {
			return err
		}
		for _, v := range held {
			all = append(all, a.desk.Verify(v.Token))
		}
	}
	switch {
	case c.Bool("json") && token != "":
		err = printJSON(env, all[0])
	case c.Bool("json"):
		err = printJSON(env, all)
	default:
		err = printVerdicts(env, all)
	}
	var bad []anchor.Problem
	for _, v := range all {
		if !v.Valid {
			bad = append(bad, v.Errors...)
		}
	}
	if err != nil || len(bad) == 0 {
		return err
	}
	return anchorRefused(env, "anchor verify", bad)
}

// printVerdicts prints a row for each session, and behind it one for each thing
// that is wrong with it or has changed.
func printVerdicts(env Env, all []anchor.Verdict) error {
	rows := [][]string{}
	for _, v := range all {
		row := []string{v.Token, "holds"}
		if !v.Valid {
			row[1] = "does not hold"
		}
		if p := v.Permit; p != nil {
			row = append(row, p.Role, string(p.Tier), p.Branch, p.ExpiresAt.UTC().Format(time.RFC3339))
		}
		rows = append(rows, row)
		for _, p := range v.Errors {
			rows = append(rows, []string{v.Token, "error", p.String()})
		}
		for _, p := range v.Warnings {
			rows = append(rows, []string{v.Token, "warning", p.String()})
		}
	}
	return printRows(env, rows)
}
