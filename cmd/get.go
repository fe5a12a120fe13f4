package cmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
)

func get(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "get",
		Usage:        "print one atom (note), found by id, path, uri or file name",
		ArgsUsage:    "ATOM",
		BashComplete: completeAtoms(env, ""),
		Description: "odd get shore-lead\n" +
			"odd get processes/open-the-jetty.md --json\n" +
			"odd get weather-limits --body\n\n" +
			"ATOM is the id of an atom, its path below the bundle, its uri, or its file\n" +
			"name without .md. All commands that take an ATOM find it so.",
		Flags:  readFlags(&cli.BoolFlag{Name: "body", Usage: "print the text without the front matter"}),
		Action: one("the name of an atom", do(env, runGet)),
	})
}

func runGet(c *cli.Context, env Env) error {
	b, a, err := readAtom(c, env, c.Args().First())
	if err != nil {
		return err
	}
	if len(a.Bytes()) == 0 {
		return fmt.Errorf("%s: the file changed while odd read it; run the command again", b.place(env, a.Path, 0))
	}
	if c.Bool("json") {
		return printJSON(env, served.WholeOf(b.graph, a))
	}
	text := a.Bytes()
	if c.Bool("body") {
		text = a.Body()
	}
	if env.Terminal {
		text = []byte(okf.Visible(string(text)))
	}
	_, err = env.Stdout.Write(text)
	return err
}

// orEmpty is a list that JSON shows as [] and not as null.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
