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
	b, a, err := readAtom(c, env, c.Args().First())
	if err != nil {
		return err
	}
	list, rows := []backlinkJSON{}, [][]string{}
	for _, l := range b.graph.Backlinks(a.ID) {
		list = append(list, backlinkJSON{l.Kind, l.Line, okf.Visible(l.Text), served.FactOf(b.graph.ByID(l.From))})
		text := okf.Visible(l.Text)
		if env.Terminal { // where a paragraph on one line would bury the others
			text = clipped(text, 80)
		}
		rows = append(rows, []string{string(l.From), string(l.Kind), b.place(env, l.Path, l.Line), text})
	}
	if len(list) == 0 {
		talk(env, "no atom links to %s", a.ID)
	}
	return show(env, c.Bool("json"), list, rows...)
}
