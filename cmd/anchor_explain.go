package cmd

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/anchor"
)

func anchorExplain(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "explain",
		Usage:       "say what a code means, what trips it and the way out; without one, list them",
		ArgsUsage:   "[CODE]",
		Description: "odd anchor explain A_TEN_SYNTAX",
		Flags:       []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return runAnchorCodes(env, c.Bool("json"))
			}
			code, err := oneArg(c, "CODE")
			if err != nil {
				return err
			}
			return runAnchorExplain(env, code, c.Bool("json"))
		},
	})
}

func runAnchorCodes(env Env, asJSON bool) error {
	if asJSON {
		return printJSON(env, anchor.Codes())
	}
	rows := [][]string{}
	for _, c := range anchor.Codes() {
		text, _ := anchor.Explain(c)
		first, _, _ := strings.Cut(strings.TrimPrefix(text, string(c)+": "), "\n")
		rows = append(rows, []string{string(c), first})
	}
	return printRows(env, rows)
}

func runAnchorExplain(env Env, code string, asJSON bool) error {
	text, ok := anchor.Explain(anchor.Code(strings.ToUpper(code)))
	if !ok {
		var known []string
		for _, c := range anchor.Codes() {
			known = append(known, string(c))
		}
		return unknownCode("anchor explain", code, known)
	}
	if asJSON {
		return printJSON(env, map[string]string{"code": strings.ToUpper(code), "text": text})
	}
	_, err := fmt.Fprint(env.Stdout, text)
	return err
}
