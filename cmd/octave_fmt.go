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

type fmtOptions struct {
	files              []string
	check, write, json bool
}

// formatted is a file as odd anchor octave fmt --json prints it.
type formatted struct {
	File      string `json:"file"`
	Canonical bool   `json:"canonical"` // it was
	Text      string `json:"text,omitempty"`
}

func runOctaveFmt(c *cli.Context, env Env) error {
	o := fmtOptions{files: c.Args().Slice(), check: c.Bool("check"), write: c.Bool("write"), json: c.Bool("json")}
	switch {
	case len(o.files) == 0:
		return usage("anchor octave fmt: want files, or - for stdin; see odd help anchor octave fmt")
	case o.check && o.write:
		return usage("anchor octave fmt: --check or --write, not both")
	}
	var list []formatted
	var bad []error
	rough := false
	for _, name := range o.files {
		d, err := openOctave(env, name)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		out := octave.Format(d)
		f := formatted{File: name, Canonical: bytes.Equal(out, d.Bytes())}
		rough = rough || !f.Canonical
		if o.write && name != "-" {
			if err := o.save(env, f, out); err != nil {
				bad = append(bad, err)
			}
		} else if !o.check {
			f.Text = string(out)
		}
		list = append(list, f)
	}
	if err := o.print(env, list); err != nil {
		return err
	}
	if len(bad) == 0 && o.check && rough {
		return exitCode(exitFault)
	}
	if err := errors.Join(bad...); err != nil && o.json {
		return told{err}
	}
	return errors.Join(bad...)
}

// save writes a file that was not canonical.
func (o fmtOptions) save(env Env, f formatted, out []byte) error {
	if f.Canonical {
		return nil
	}
	return writeOctave(env, f.File, out)
}

// print prints the files' names with --check, and else what is to be printed of them.
func (o fmtOptions) print(env Env, list []formatted) error {
	if o.json {
		return printJSON(env, orEmpty(list))
	}
	for _, f := range list {
		var err error
		switch {
		case !o.check:
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
