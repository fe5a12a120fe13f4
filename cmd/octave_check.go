package cmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/octave"
)

func octaveCheck(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "check",
		Usage:     "list syntax errors in OCTAVE files",
		ArgsUsage: "FILE...",
		Description: "odd anchor octave check agents/builder.oct.md\n" +
			"odd anchor octave check --strict - < anchor.oct\n\n" +
			"The file - is stdin. Exit 1 means an error: a line that leaves the structure\n" +
			"unclear, or with --strict any deviation from the format.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "strict", Usage: "treat every deviation as an error"}, jsonFlag()},
		Action: do(env, runOctaveCheck),
	})
}

func runOctaveCheck(c *cli.Context, env Env) error {
	if c.NArg() == 0 {
		return usage("anchor octave check: want files, or - for stdin; see odd help anchor octave check")
	}
	mode := octave.Lenient
	if c.Bool("strict") {
		mode = octave.Strict
	}
	files := c.Args().Slice()
	var found []octave.Problem
	for _, name := range files {
		b, err := readInput(env, name, octave.MaxBytes)
		if err != nil {
			return err
		}
		_, ps := octave.Parse(name, b, mode)
		found = append(found, ps...)
	}
	errs, status := len(octave.Errors(found)), "OK"
	if errs > 0 {
		status = "FINDINGS"
	}
	var err error
	if c.Bool("json") {
		err = printJSON(env, map[string]any{
			"status": status, "files": len(files), "errors": errs, "warnings": len(found) - errs, "findings": orEmpty(found),
		})
	} else {
		list := make([]located, len(found))
		for i, p := range found {
			list[i] = located{rule: p.Code, severity: okf.Severity(p.Severity), place: fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col), text: p.Message + "; " + p.Hint}
		}
		err = printLocated(env, list)
		talk(env, "%s, %s, %s", count(len(files), "file"), count(errs, "error"), count(len(found)-errs, "warning"))
	}
	return orFault(err, errs > 0)
}
