package cmd

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/octave"
)

func octaveGet(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "get",
		Usage:     "print the value at a path of an OCTAVE file",
		ArgsUsage: "FILE PATH",
		Description: "odd anchor octave get anchor.oct BIND.ROLE\n" +
			"odd anchor octave get anchor.oct 'BIND.ARCHETYPES[0]'\n\n" +
			"odd prints a text without its quotes, and a list or block as one row an entry.\n" +
			"If the file has several parts (===NAME=== to ===END===), name one:\n" +
			"IDENTITY/BIND.ROLE. Quote a key that has other signs: 'UX.\"Self-Guiding\"'.\n" +
			"Exit 3: two keys match the path.",
		Flags:  []cli.Flag{jsonFlag()},
		Action: do(env, runOctaveGet),
	})
}

// octaveJSON is a value, or an entry of one, as odd anchor octave get --json prints it.
type octaveJSON struct {
	Key   string       `json:"key,omitempty"`
	Kind  string       `json:"kind"`
	Text  string       `json:"text"`
	Raw   string       `json:"raw"`
	Items []octaveJSON `json:"items,omitempty"`
}

func valueJSON(key string, v octave.Value) octaveJSON {
	j := octaveJSON{Key: key, Kind: v.Kind.String(), Text: v.Text, Raw: v.Raw}
	for _, e := range v.Items {
		if v, ok := e.Holds(); ok {
			j.Items = append(j.Items, valueJSON(e.Key, v))
		}
	}
	return j
}

func runOctaveGet(c *cli.Context, env Env) error {
	if c.NArg() != 2 {
		return usage("anchor octave get: want a file and a path; see odd help anchor octave get")
	}
	d, err := openOctave(env, c.Args().Get(0))
	if err != nil {
		return err
	}
	v, err := d.Get(c.Args().Get(1))
	if err != nil {
		return err
	}
	switch j := valueJSON("", v); {
	case c.Bool("json"):
		return printJSON(env, j)
	case v.Kind == octave.List || v.Kind == octave.Nested:
		return printRows(env, j.rows(""))
	default:
		return printText(env, strings.TrimSuffix(v.Text, "\n")+"\n")
	}
}

// rows are the texts below a value: a path from there, and the text.
func (j octaveJSON) rows(above string) (rows [][]string) {
	keyed := above != ""
	for _, i := range j.Items {
		keyed = keyed || i.Key != ""
	}
	for _, i := range j.Items {
		path := strings.TrimPrefix(above+"."+i.Key, ".")
		switch {
		case i.Items != nil:
			rows = append(rows, i.rows(strings.TrimSuffix(path, "."))...)
		case keyed:
			rows = append(rows, []string{strings.TrimSuffix(path, "."), i.Text})
		default:
			rows = append(rows, []string{i.Text})
		}
	}
	return rows
}

// printText prints text that may go over lines: as it is into a pipe, without
// hidden characters on a terminal.
func printText(env Env, s string) error {
	if env.Terminal {
		s = okf.Visible(s)
	}
	_, err := io.WriteString(env.Stdout, s)
	return err
}
