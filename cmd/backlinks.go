package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
)

func backlinks(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "backlinks",
		Usage:        "list the lines of other files that link to an atom",
		ArgsUsage:    "ATOM",
		BashComplete: completeAtoms(env, ""),
		Description:  "odd knowledge backlinks weather-limits",
		Flags:        readFlags(),
		Action:       one("the name of an atom", do(env, runBacklinks)),
	})
}

// backlinkJSON is one edge that arrives, and the atom it comes from.
type backlinkJSON struct {
	Kind okf.EdgeKind `json:"kind"`
	Line int          `json:"line"`
	Text string       `json:"text"`
	Atom served.Fact  `json:"atom"`
}

func runBacklinks(c *cli.Context, env Env) error {
	b, a, err := readAtom(c.Context, env, sourceFor(c), c.Args().First())
	if err != nil {
		return err
	}
	links := b.graph.Backlinks(a.ID)
	if len(links) == 0 {
		return none(env, c.Bool("json"), []backlinkJSON{}, "no atom links to %s", a.ID)
	}
	if c.Bool("json") {
		list := []backlinkJSON{}
		for _, l := range links {
			list = append(list, backlinkJSON{l.Kind, l.Line, okf.Visible(l.Text), served.FactOf(b.graph.ByID(l.From))})
		}
		return printJSON(env, list)
	}
	var rows [][]string
	for _, l := range links {
		rows = append(rows, []string{okf.Visible(string(l.From)), string(l.Kind), b.place(env, l.Path, l.Line), clip(okf.Visible(l.Text), env)})
	}
	return printRows(env, rows)
}

// clip shortens the last cell of a row on a terminal, where a paragraph on one
// line would bury the others.
func clip(s string, env Env) string {
	const width = 80
	r := []rune(s)
	if !env.Terminal || len(r) <= width {
		return s
	}
	return string(r[:width-1]) + "…"
}
