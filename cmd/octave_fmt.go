package cmd

import (
	"bytes"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/octave"
)

func octaveFmt(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "fmt",
		Usage:     "format OCTAVE files",
		ArgsUsage: "FILE...",
		Description: "odd anchor octave fmt agents/builder.oct.md\n" +
			"odd anchor octave fmt --write agents/*.oct.md\n\n" +
			"Text in quotes, keys and paths stay as they are. A file whose structure is\n" +
			"unclear is not changed (exit 1).",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "list the files that would change, and exit 1 if there are any"},
			&cli.BoolFlag{Name: "write", Usage: "write the files instead of printing them"},
			jsonFlag(),
		},
		Action: do(env, runOctaveFmt),
	})
}

// formatted is a file as odd anchor octave fmt --json prints it.
type formatted struct {
	File      string `json:"file"`
	Canonical bool   `json:"canonical"` // it was
	Text      string `json:"text,omitempty"`
}

func runOctaveFmt(c *cli.Context, env Env) error {
	check, write := c.Bool("check"), c.Bool("write")
	switch {
	case c.NArg() == 0:
		return usage("anchor octave fmt: want files, or - for stdin; see odd help anchor octave fmt")
	case check && write:
		return usage("anchor octave fmt: --check or --write, not both")
	}
	list, bad, rough := []formatted{}, []error{}, false
	for _, name := range c.Args().Slice() {
		d, err := openOctave(env, name)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		out := octave.Format(d)
		f := formatted{File: name, Canonical: bytes.Equal(out, d.Bytes())}
		rough = rough || !f.Canonical
		switch {
		case write && name != "-" && !f.Canonical:
			bad = append(bad, writeOctave(env, name, out))
		case !check && (!write || name == "-"):
			f.Text = string(out)
		}
		list = append(list, f)
	}
	if err := printFormatted(env, c.Bool("json"), check, list); err != nil {
		return err
	}
	err := errors.Join(bad...)
	if err != nil && c.Bool("json") {
		return told{err}
	}
	return orFault(err, check && rough)
}

// printFormatted prints the files' names with --check, and else what is to be printed of them.
func printFormatted(env Env, asJSON, check bool, list []formatted) error {
	if asJSON {
		return printJSON(env, list)
	}
	for _, f := range list {
		var err error
		switch {
		case !check:
			err = printText(env, f.Text)
		case !f.Canonical:
			err = printRows(env, [][]string{{f.File}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
