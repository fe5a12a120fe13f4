package cmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
)

func get(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "get",
		Usage:        "print an atom, by id, path, uri or stem",
		ArgsUsage:    "ATOM",
		BashComplete: completeAtoms(env),
		Description:  "odd get editor\nodd get processes/publish.md --json",
		Flags:        readFlags(&cli.BoolFlag{Name: "body", Usage: "print the body without the block above it"}),
		Action: func(c *cli.Context) error {
			name, err := oneArg(c, "the name of an atom")
			if err != nil {
				return err
			}
			return runGet(c.Context, env, name, getOptions{src: sourceFor(c), body: c.Bool("body"), json: c.Bool("json")})
		},
	})
}

type getOptions struct {
	src        source
	body, json bool
}

func runGet(ctx context.Context, env Env, name string, o getOptions) error {
	b, a, err := readAtom(ctx, env, o.src, name)
	if err != nil {
		return err
	}
	if len(a.Bytes()) == 0 {
		return fmt.Errorf("%s: changed while it was read; try again", b.place(env, a.Path, 0))
	}
	if o.json {
		return printJSON(env, wholeAtom(b.graph, a))
	}
	text := a.Bytes()
	if o.body {
		text = a.Body()
	}
	if env.Terminal {
		text = []byte(okf.Visible(string(text)))
	}
	_, err = env.Stdout.Write(text)
	return err
}

// atomJSON is everything about one atom. Fields holds every key as written;
// confidence and tier are what count.
type atomJSON struct {
	atomLine
	Tags      []string       `json:"tags,omitempty"`
	Claimed   string         `json:"claimed_confidence,omitempty"`
	Generated *okf.Stamp     `json:"generated,omitempty"`
	Verified  []okf.Stamp    `json:"verified,omitempty"`
	Sources   []okf.Source   `json:"sources,omitempty"`
	Fields    map[string]any `json:"fields"`
	Out       []okf.Hop      `json:"out"`
	In        []okf.Hop      `json:"in"`
	Dangling  []okf.Dangling `json:"dangling,omitempty"`
	Headings  []okf.Heading  `json:"headings,omitempty"`
	BodyLine  int            `json:"body_line"`
	Body      string         `json:"body"`
}

func wholeAtom(g *okf.Graph, a *okf.Atom) atomJSON {
	j := atomJSON{
		atomLine: lineOf(a), Tags: a.Tags, Claimed: a.Claimed.String(), Verified: a.Verified, Sources: a.Sources,
		Fields: map[string]any{}, Out: orEmpty(g.Out(a.ID)), In: orEmpty(g.In(a.ID)), Dangling: g.Dangling(a.ID),
		Headings: a.Headings(), BodyLine: a.BodyLine, Body: okf.Visible(string(a.Body())),
	}
	if a.Generated != (okf.Stamp{}) {
		j.Generated = &a.Generated
	}
	for _, f := range a.Fields {
		j.Fields[f.Key] = f.Value
	}
	return j
}

// orEmpty is a list that JSON shows as [] and not as null.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
