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

func runOctaveSet(c *cli.Context, env Env) error {
	if c.NArg() != 3 {
		return usage("anchor octave set: want a file, a path and a value; see odd help anchor octave set")
	}
	file, path := c.Args().First(), c.Args().Get(1)
	d, err := openOctave(env, file)
	if err != nil {
		return err
	}
	set := d.Set
	if c.Bool("raw") {
		set = d.SetRaw
	}
	out, err := set(path, c.Args().Get(2))
	if err != nil {
		return err
	}
	answer := map[string]any{"file": file, "path": path, "changed": !bytes.Equal(out, d.Bytes())}
	switch changed := answer["changed"] == true; {
	case file == "-" && !c.Bool("json"):
		return printText(env, string(out))
	case file == "-":
		answer["text"] = string(out)
	case changed:
		if err := writeOctave(env, file, out); err != nil {
			return err
		}
	case !c.Bool("json"):
		talk(env, "%s: %s has that value already", file, path)
	}
	if c.Bool("json") {
		return printJSON(env, answer)
	}
	return nil
}
