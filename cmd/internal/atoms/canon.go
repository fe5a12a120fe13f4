package atoms

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/canon"
	"github.com/odd-cli/odd/okf/served"
)

func canonVerb(env console.Env) *cli.Command {
	return verb.Declare(&cli.Command{
		Name:      "canon",
		Usage:     "list reference documents, or find the one in force",
		ArgsUsage: "[REF]",
		Description: "odd knowledge canon\n" +
			"odd knowledge canon weather-limits\n" +
			"odd knowledge canon resolve acme://rules/sources\n\n" +
			"Canon is a set of documents that have a `uri` or the type canon, such as house\n" +
			"rules. A document can replace another with `supersedes`. REF is a uri or any\n" +
			"name of an atom; odd prints the document that replaces it today, or the\n" +
			"document itself. odd compares a uri as a whole; it does not parse it.",
		Subcommands: []*cli.Command{
			verb.New("resolve URI", "show each step from a reference to the document in force",
				"odd knowledge canon resolve acme://rules/sources\n"+
					"odd knowledge canon resolve policies/weather-limits.md --json\n\n"+
					"Each row is a step: what odd tried, the name, and the result. The last row is\n"+
					"the outcome: FOUND (exit 0), NOT_FOUND, EXTERNAL or CIRCULAR_SUPERSESSION\n"+
					"(exit 1). A reference that leaves the folder is INVALID_INPUT (exit 2).",
				verb.Do(env, runCanonResolve), workspace.ReadFlags()...)},
		Flags:  workspace.ReadFlags(verb.JSONFlag()),
		Action: workspace.OnBundle(env, runCanon),
	})
}

// canonJSON is one document: in_force stands in its place today.
type canonJSON struct {
	served.Fact
	InForce    []okf.ID          `json:"in_force,omitempty"`
	Circular   string            `json:"circular,omitempty"`
	References []canon.Reference `json:"references,omitempty"`

	state string // in words
}

func runCanon(c *cli.Context, env console.Env, b workspace.Bundle) error {
	ref := c.Args().First()
	var docs []*okf.Atom
	if ref != "" {
		r, err := b.Graph.Resolve(ref)
		if err != nil {
			return err
		}
		docs = []*okf.Atom{r.Atom}
	}
	types := []string{"canon", "constraint", "principle", "method", "definition"}
	for _, a := range b.Graph.Atoms() {
		if ref == "" && (a.URI != "" || slices.Contains(types, a.Type)) {
			docs = append(docs, a)
		}
	}
	l := &canon.Library{}
	if len(docs) > 0 {
		var err error
		if l, _, err = ReadCanon(c.Context, workspace.SourceOf(c), env); err != nil {
			return err
		}
	}
	nothing := "no reference documents: no atom has a uri or \"type: canon\"" + b.DescribeUntyped()
	list := make([]canonJSON, len(docs))
	for i, a := range docs {
		list[i] = canonOf(b, a, l)
	}
	return console.ShowList(env, c.Bool("json"), list, nothing, func(j canonJSON) []string {
		return []string{cmp.Or(j.URI, string(j.ID)), j.Type, j.state, b.ShownPlace(env, j.Path, 0), j.Title}
	})
}

func canonOf(b workspace.Bundle, a *okf.Atom, l *canon.Library) canonJSON {
	j := canonJSON{Fact: served.FactOf(a), References: l.References(a.Path)}
	if r, err := b.Graph.Resolve(string(a.ID)); err != nil {
		j.Circular, j.state = err.Error(), "circular"
	} else {
		j.InForce, j.state = inForce(a, r.InForce)
	}
	return j
}

// inForce lists the ids of what stands in a's place, and says so in words.
func inForce(a *okf.Atom, by []*okf.Atom) (ids []okf.ID, state string) {
	state = "in force"
	for i, n := range by {
		ids = append(ids, n.ID)
		switch {
		case n == a:
		case i == 0:
			state = "see " + string(n.ID)
		default:
			state += ", " + string(n.ID)
		}
	}
	return ids, state
}

// ReadCanon reads the source as canon: every markdown file of the folder, atom or
// not. The bundle that it returns has a place and no atoms.
func ReadCanon(ctx context.Context, s workspace.Source, env console.Env) (*canon.Library, workspace.Bundle, error) {
	b, err := s.Locate(ctx, env)
	if err != nil {
		return nil, b, err
	}
	files, below := b.Files, cmp.Or(b.Prefix, ".")
	if b.Rev == "" {
		files, below = os.DirFS(b.Root), "."
		if b.InWorkTree() {
			if rel, in := workspace.PathBelow(b.Repo, b.Root); in {
				files, below = os.DirFS(b.Repo.Root()), rel
			}
		}
	}
	l, err := canon.Read(files, below, b.Config.External)
	return l, b, err
}

func runCanonResolve(c *cli.Context, env console.Env) error {
	l, _, err := ReadCanon(c.Context, workspace.SourceOf(c), env)
	if err != nil {
		return err
	}
	t := l.Resolve(c.Args().First())
	t.Steps = console.OrEmpty(t.Steps)
	var rows [][]string
	for _, s := range t.Steps {
		rows = append(rows, []string{s.Try, s.Name, cmp.Or(okf.Visible(s.Found), "-"), s.Note})
	}
	rows = append(rows, []string{string(t.Outcome), t.Ref, cmp.Or(okf.Visible(cmp.Or(strings.Join(t.InForce, ", "), t.Path)), "-"), t.Message})
	err = console.Show(env, c.Bool("json"), t, rows...)
	if t.Outcome == canon.Invalid {
		return cmp.Or(err, error(verb.ExitCode(verb.ExitUsage)))
	}
	return verb.OrFault(err, t.Outcome != canon.Found)
}
