package cmd

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/canon"
	"github.com/odd-cli/odd/okf/served"
)

func canonVerb(env Env) *cli.Command {
	return command(&cli.Command{
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
			verb("resolve URI", "show each step from a reference to the document in force",
				"odd knowledge canon resolve acme://rules/sources\n"+
					"odd knowledge canon resolve policies/weather-limits.md --json\n\n"+
					"Each row is a step: what odd tried, the name, and the result. The last row is\n"+
					"the outcome: FOUND (exit 0), NOT_FOUND, EXTERNAL or CIRCULAR_SUPERSESSION\n"+
					"(exit 1). A reference that leaves the folder is INVALID_INPUT (exit 2).",
				do(env, runCanonResolve), readFlags()...)},
		Flags:  readFlags(jsonFlag()),
		Action: do(env, runCanon),
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

func runCanon(c *cli.Context, env Env) error {
	src, ref := sourceFor(c), c.Args().First()
	b, err := src.loadBundle(c.Context, env)
	if err != nil {
		return err
	}
	var docs []*okf.Atom
	if ref != "" {
		r, err := b.graph.Resolve(ref)
		if err != nil {
			return err
		}
		docs = []*okf.Atom{r.Atom}
	}
	types := []string{"canon", "constraint", "principle", "method", "definition"}
	for _, a := range b.graph.Atoms() {
		if ref == "" && (a.URI != "" || slices.Contains(types, a.Type)) {
			docs = append(docs, a)
		}
	}
	l := &canon.Library{}
	if len(docs) > 0 {
		if l, _, err = src.readCanon(c.Context, env); err != nil {
			return err
		}
	}
	nothing := "no reference documents: no atom has a uri or \"type: canon\"" + b.describeUntyped()
	list := make([]canonJSON, len(docs))
	for i, a := range docs {
		list[i] = b.canonOf(a, l)
	}
	return showList(env, c.Bool("json"), list, nothing, func(j canonJSON) []string {
		return []string{or(j.URI, string(j.ID)), j.Type, j.state, b.shownPlace(env, j.Path, 0), j.Title}
	})
}

func (b bundle) canonOf(a *okf.Atom, l *canon.Library) canonJSON {
	j := canonJSON{Fact: served.FactOf(a), References: l.References(a.Path)}
	if r, err := b.graph.Resolve(string(a.ID)); err != nil {
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

// readCanon reads the source as canon: every markdown file of the folder, atom or
// not. The bundle that it returns has a place and no atoms.
func (s source) readCanon(ctx context.Context, env Env) (*canon.Library, bundle, error) {
	b, err := s.locateBundle(ctx, env)
	if err != nil {
		return nil, b, err
	}
	files, below := b.files, or(b.prefix, ".")
	if b.rev == "" {
		files, below = os.DirFS(b.root), "."
		if b.inWorkTree() {
			if rel, in := pathBelow(b.repo, b.root); in {
				files, below = os.DirFS(b.repo.Root()), rel
			}
		}
	}
	l, err := canon.Read(files, below, b.cfg.External)
	return l, b, err
}

func runCanonResolve(c *cli.Context, env Env) error {
	l, _, err := sourceFor(c).readCanon(c.Context, env)
	if err != nil {
		return err
	}
	t := l.Resolve(c.Args().First())
	t.Steps = orEmpty(t.Steps)
	var rows [][]string
	for _, s := range t.Steps {
		rows = append(rows, []string{s.Try, s.Name, or(okf.Visible(s.Found), "-"), s.Note})
	}
	rows = append(rows, []string{string(t.Outcome), t.Ref, or(okf.Visible(or(strings.Join(t.InForce, ", "), t.Path)), "-"), t.Message})
	err = show(env, c.Bool("json"), t, rows...)
	if t.Outcome == canon.Invalid {
		return cmp.Or(err, error(exitCode(exitUsage)))
	}
	return orFault(err, t.Outcome != canon.Found)
}
