package cmd

import (
	"bytes"

	"github.com/urfave/cli/v2"
)

func octaveSet(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "set",
		Usage:     "change one value of an OCTAVE file",
		ArgsUsage: "FILE PATH VALUE",
		Description: "odd anchor octave set anchor.oct META.VERSION 5.1\n" +
			"odd anchor octave set anchor.oct 'BIND.ARCHETYPES[0]' ATLAS\n" +
			"odd anchor octave set --raw anchor.oct BIND.ARCHETYPES '[ATLAS,HERMES]'\n\n" +
			"VALUE is plain text; odd adds quotes where they are needed and changes no\n" +
			"other byte. With - as FILE, odd reads stdin and prints the result. Exit 3: two\n" +
			"keys match the path.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "raw", Usage: "VALUE is OCTAVE: a word, \"text\" or a [list]"}, jsonFlag()},
		Action: do(env, runOctaveSet),
	})
}

type setOptions struct {
	file, path, value string
	raw, json         bool
}

func runOctaveSet(c *cli.Context, env Env) error {
	if c.NArg() != 3 {
		return usage("anchor octave set: want a file, a path and a value; see odd help anchor octave set")
	}
	a := c.Args()
	o := setOptions{file: a.Get(0), path: a.Get(1), value: a.Get(2), raw: c.Bool("raw"), json: c.Bool("json")}
	d, err := openOctave(env, o.file)
	if err != nil {
		return err
	}
	set := d.Set
	if o.raw {
		set = d.SetRaw
	}
	out, err := set(o.path, o.value)
	if err != nil {
		return err
	}
	changed := !bytes.Equal(out, d.Bytes())
	if changed && o.file != "-" {
		if err := writeOctave(env, o.file, out); err != nil {
			return err
		}
	}
	answer := map[string]any{"file": o.file, "path": o.path, "changed": changed}
	switch {
	case o.file == "-" && o.json:
		answer["text"] = string(out)
	case o.file == "-":
		return printText(env, string(out))
	}
	if o.json {
		return printJSON(env, answer)
	}
	if !changed {
		talk(env, "%s: %s has that value already", o.file, o.path)
	}
	return nil
}
