// Package atoms has the verbs about knowledge: search, get, knowledge, compile-persona and
// reconcile.
package atoms

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/cmd/internal/report"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
)

// KnowledgeVerb declares odd knowledge.
func KnowledgeVerb(env console.Env) *cli.Command {
	return verb.Group("knowledge", "follow links between atoms, draw the graph, write index files, confirm atoms whose source changed",
		"odd knowledge related shore-lead\n"+
			"odd knowledge path shore-lead customer-data\n"+
			"odd knowledge graph --focus shore-lead\n\n"+
			"Atoms link to each other by fields of the front matter (owner, uses,\n"+
			"governed_by, …) and by markdown links. odd calls each such link an edge, and\n"+
			"its name its kind.",
		verb.New("related ATOM", "list the links from and to an atom",
			"odd knowledge related shore-lead\n"+
				"odd knowledge related open-the-jetty --edge uses --edge governed_by",
			workspace.OnAtom(env, runRelated), workspace.ReadFlags(edgeFlag("list only"))...),
		verb.New("backlinks ATOM", "list the lines of other files that link to an atom",
			"odd knowledge backlinks weather-limits",
			workspace.OnAtom(env, runBacklinks), workspace.ReadFlags()...),
		verb.New("expand ATOM", "list every atom reached by links from one atom",
			"odd knowledge expand shore-lead --depth 3\n"+
				"odd knowledge expand open-the-jetty --directed --edge uses --edge governed_by",
			workspace.OnAtom(env, runExpand), workspace.ReadFlags(
				&cli.IntFlag{Name: "depth", Value: 2, Usage: "follow at most `N` links in a row; 0 is no limit"},
				&cli.BoolFlag{Name: "directed", Usage: "follow links only forward, from the file that has the link"},
				edgeFlag("follow only"),
			)...),
		verb.New("path ATOM ATOM", "show the shortest path of links between two atoms",
			"odd knowledge path shore-lead customer-data",
			workspace.OnAtom(env, runWhy), workspace.ReadFlags(edgeFlag("follow only"))...),

		verb.New("graph", "print the graph of atoms and links as Mermaid, DOT or JSON",
			"odd knowledge graph --focus shore-lead --depth 2\n"+
				"odd knowledge graph --format dot | dot -Tsvg > graph.svg",
			workspace.OnBundle(env, runGraph), workspace.ReadFlags(
				&cli.StringFlag{Name: "format", Value: "mermaid", Usage: "print `FORMAT`: mermaid, dot or json"},
				&cli.StringFlag{Name: "focus", Usage: "print only what is near `ATOM`"},
				&cli.IntFlag{Name: "depth", Value: 2, Usage: "with --focus, go at most `N` links far; 0 is no limit"},
				&cli.IntFlag{Name: "limit", Value: mermaidAtoms, DefaultText: "100 for mermaid, all for dot and json", Usage: "print at most `N` atoms, the nearest or those with most links; 0 is all"},
				edgeFlag("print only"),
			)...), confirmVerb(env), indexVerb(env), canonVerb(env))
}

// confirmedSource is a source with which a person compared an atom.
type confirmedSource struct {
	Atom   okf.ID `json:"atom"`
	Source string `json:"source"`
}

func confirmVerb(env console.Env) *cli.Command {
	return verb.New("confirm ATOM", "confirm that an atom is still right after its source changed",
		"odd knowledge confirm weather-limits\n\n"+
			"Compare first: odd check names the source and the lines. odd then writes into\n"+
			"the atom's file which version of the source you compared it with. Commit it.\n"+
			"When that file changes once more, odd check asks again.",
		verb.On(env, workspace.Open, func(c *cli.Context, env console.Env, w *workspace.Clone) error {
			if err := land.MayDecide(c.Context, w, "knowledge confirm"); err != nil {
				return err
			}
			b, a, err := workspace.ReadAtom(c, env, c.Args().First())
			if err != nil {
				return err
			}
			f := b.OpenRepoFiles(c.Context)
			if f.Files == nil {
				return verb.Refuse("state", "knowledge confirm %s: %s is not in this repository, so its sources are not either", a.ID, b.Root)
			}
			drift := slices.DeleteFunc(okf.DriftedOf([]*okf.Atom{a}, f.Files, f.List), okf.Drift.Stands)
			if len(drift) == 0 {
				console.Talk(env, "%s: its sources say what they said; nothing to do", a.ID)
				return f.Err
			}
			text, err := okf.StillHolds(a, drift, f.Files)
			if err != nil {
				return verb.Refuse("state", "knowledge confirm %s: %v", a.ID, err)
			}
			file := filepath.Join(b.Root, filepath.FromSlash(a.Path))
			if err := renameio.WriteFile(file, text, 0o644, renameio.WithExistingPermissions()); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			console.Talk(env, "commit %s", b.ShownPath(env, a.Path))
			done := make([]confirmedSource, len(drift))
			for i, d := range drift {
				done[i] = confirmedSource{a.ID, d.Resource}
			}
			return console.ShowList(env, c.Bool("json"), done, "", func(d confirmedSource) []string { return []string{string(d.Atom), d.Source} })
		}), verb.BundleFlag())
}

func runRelated(c *cli.Context, env console.Env, b workspace.Bundle, a *okf.Atom) error {
	kinds, err := edgeKinds(c)
	if err != nil {
		return err
	}
	for _, d := range b.Graph.Dangling(a.ID) {
		what := "no such atom"
		switch {
		case d.Broken:
			what = "that file cannot be read as an atom; odd check says why"
		case d.Ambiguous:
			what = "several atoms have that name; write the whole id"
		}
		console.Talk(env, "%s: %s %s: %s", b.ShownPlace(env, a.Path, d.Line), d.Kind, okf.Visible(d.Target), what)
	}
	nothing := fmt.Sprintf("%s has no %s to other atoms", a.ID, map[bool]string{true: "links", false: "such links"}[len(kinds) == 0])
	return console.ShowList(env, c.Bool("json"), served.Related(b.Graph, a.ID, kinds...), nothing, func(e served.Edge) []string {
		return append([]string{map[string]string{"out": "->", "in": "<-"}[e.Direction], string(e.Kind)}, factCells(e.Atom)...)
	})
}

type backlinkJSON struct {
	Kind okf.EdgeKind `json:"kind"`
	Line int          `json:"line"`
	Text string       `json:"text"`
	Atom served.Fact  `json:"atom"`
}

func runBacklinks(c *cli.Context, env console.Env, b workspace.Bundle, a *okf.Atom) error {
	var list []backlinkJSON
	for _, l := range b.Graph.Backlinks(a.ID) {
		list = append(list, backlinkJSON{l.Kind, l.Line, okf.Visible(l.Text), served.FactOf(b.Graph.ByID(l.From))})
	}
	return console.ShowList(env, c.Bool("json"), list, fmt.Sprintf("no atom links to %s", a.ID), func(l backlinkJSON) []string {
		text := l.Text
		if env.Terminal { // where a paragraph on one line would bury the others
			text = layout.Clip(text, 80)
		}
		return []string{string(l.Atom.ID), string(l.Kind), b.ShownPlace(env, l.Atom.Path, l.Line), text}
	})
}

func runExpand(c *cli.Context, env console.Env, b workspace.Bundle, a *okf.Atom) error {
	kinds, err := edgeKinds(c)
	if err != nil {
		return err
	}
	if c.Int("depth") < 0 {
		return verb.Usage("knowledge expand: --depth %d; want 0 or more", c.Int("depth"))
	}
	list := served.Expand(b.Graph, a.ID, c.Int("depth"), c.Bool("directed"), kinds...)
	return console.ShowList(env, c.Bool("json"), list, string(a.ID)+" links to no atom", func(s served.Step) []string {
		return append(append([]string{strconv.Itoa(s.Depth)}, factCells(s.Atom)...), describePath(a.ID, s.Path))
	})
}

func runWhy(c *cli.Context, env console.Env, b workspace.Bundle, from *okf.Atom) error {
	kinds, err := edgeKinds(c)
	if err != nil {
		return err
	}
	to, err := b.FindAtom(env, c.Args().Get(1))
	if err != nil {
		return err
	}
	nothing := fmt.Sprintf("no links connect %s and %s", from.ID, to.ID)
	if from == to {
		nothing = fmt.Sprintf("both names mean the same atom, %s", from.ID)
	}
	return console.ShowList(env, c.Bool("json"), served.Why(b.Graph, from.ID, to.ID, kinds...), nothing, func(w served.Way) []string {
		edge := "-" + string(w.Kind) + "->"
		if w.From == w.Far.ID {
			edge = "<-" + string(w.Kind) + "-"
		}
		return []string{string(w.Near.ID), edge, string(w.Far.ID), b.ShownPlace(env, b.Graph.ByID(w.From).Path, w.Line)}
	})
}

// mermaidAtoms is how many atoms a mermaid picture shows unless told: more of
// them cannot be told apart.
const mermaidAtoms = 100

func runGraph(c *cli.Context, env console.Env, b workspace.Bundle) error {
	format, err := report.FormatNamed(c, "mermaid", "dot", "json")
	if err != nil {
		return err
	}
	kinds, err := edgeKinds(c)
	if err != nil {
		return err
	}
	v := okf.View{Depth: c.Int("depth"), Limit: c.Int("limit"), Kinds: kinds}
	switch {
	case v.Depth < 0 || v.Limit < 0:
		return verb.Usage("knowledge graph: --depth and --limit are 0 or more")
	case v.Depth == 0:
		v.Depth = -1
	}
	if format != "mermaid" && !c.IsSet("limit") {
		v.Limit = 0
	}
	if focus := c.String("focus"); focus != "" {
		a, err := b.FindAtom(env, focus)
		if err != nil {
			return err
		}
		v.Focus = a.ID
	}
	d := b.Graph.Subgraph(v)
	var out []byte
	switch format {
	case "dot":
		out = d.DOT()
	case "json":
		out, err = d.JSON()
	default:
		d = d.FitMermaid()
		out = d.Mermaid()
	}
	if err != nil {
		return err
	}
	if d.OmittedAtoms > 0 || d.OmittedEdges > 0 {
		console.Talk(env, "%s and %s left out, because the graph is large; --focus ATOM draws a part, --format dot draws all", console.CountNoun(d.OmittedAtoms, "atom"), console.CountNoun(d.OmittedEdges, "edge"))
	}
	_, err = env.Stdout.Write(out)
	return err
}

func edgeFlag(usage string) cli.Flag {
	return &cli.StringSliceFlag{Name: "edge", Usage: usage + " links of `KIND`: owner, uses, governed_by, … or link (markdown); repeatable"}
}

func edgeKinds(c *cli.Context) ([]okf.EdgeKind, error) {
	kinds, err := served.Kinds(c.StringSlice("edge"))
	if err != nil {
		return nil, verb.Usage("%s: --edge: %v", verb.Name(c), err)
	}
	return kinds, nil
}

func factCells(f served.Fact) []string {
	return []string{okf.Visible(string(f.ID)), okf.Visible(f.Type), console.TitleCell(f.Title)}
}

// describePath returns a path on one line: editor <-owner- publish -uses-> cms.
func describePath(start okf.ID, path []okf.Hop) string {
	line, at := string(start), start
	for _, h := range path {
		if h.From == at {
			line, at = fmt.Sprintf("%s -%s-> %s", line, h.Kind, h.To), h.To
		} else {
			line, at = fmt.Sprintf("%s <-%s- %s", line, h.Kind, h.From), h.From
		}
	}
	return line
}
