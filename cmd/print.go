package cmd

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
)

func jsonFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print JSON"} }

// printJSON prints v indented by two, HTML left alone, with a final newline.
func printJSON(env Env, v any) error {
	enc := json.NewEncoder(env.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printRows prints rows: aligned for a person, tab-separated for a pipe. A tab
// or newline inside a cell becomes a space.
func printRows(env Env, rows [][]string) error {
	w := tabwriter.NewWriter(env.Stdout, 0, 8, 2, ' ', 0)
	clean := strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = clean.Replace(c)
		}
		if !env.Terminal {
			if _, err := fmt.Fprintln(env.Stdout, strings.Join(cells, "\t")); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t")); err != nil {
			return err
		}
	}
	return w.Flush()
}

// talk writes one line of talk to stderr.
func talk(env Env, format string, args ...any) {
	fmt.Fprintf(env.Stderr, "odd: "+format+"\n", args...)
}

// oneArg is the single argument of a verb that takes exactly one, called want in its usage.
func oneArg(c *cli.Context, want string) (string, error) {
	if c.NArg() != 1 || c.Args().First() == "" {
		return "", usage("%s: want one argument, %s; see odd help %s", c.Command.Name, want, c.Command.Name)
	}
	return c.Args().First(), nil
}

// noArgs refuses arguments of a verb that takes none.
func noArgs(c *cli.Context) error {
	if c.NArg() > 0 {
		return usage("%s: unexpected argument %q; see odd help %s", c.Command.Name, c.Args().First(), c.Command.Name)
	}
	return nil
}
