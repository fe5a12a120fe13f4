package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/canon"
	"github.com/odd-cli/odd/okf/served"
)

func canonVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "canon",
		Usage:        "list reference documents, or find the one in force",
		ArgsUsage:    "[REF]",
		BashComplete: completeAtoms(env, ""),
		Description: "odd knowledge canon\n" +
			"odd knowledge canon weather-limits\n" +
			"odd knowledge canon resolve acme://rules/sources\n\n" +
			"Canon is a set of documents that have a `uri` or the type canon, such as house\n" +
			"rules. A document can replace another with `supersedes`. REF is a uri or any\n" +
			"name of an atom; odd prints the document that replaces it today, or the\n" +
			"document itself. odd compares a uri as a whole; it does not parse it.",
		Subcommands: []*cli.Command{canonResolve(env)},
		Flags:       readFlags(&cli.BoolFlag{Name: "refs", Usage: "list the references in the documents, and which are missing"}),
		Action:      do(env, runCanon),
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
	b, err := src.open(c.Context, env)
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
	for _, a := range b.graph.Atoms() {
		if ref == "" && (a.URI != "" || governing(a)) {
			docs = append(docs, a)
		}
	}
	l := &canon.Library{}
	if len(docs) > 0 {
		if l, _, err = src.readCanon(c.Context, env); err != nil {
			return err
		}
	}
	if c.Bool("refs") && !c.Bool("json") && len(docs) > 0 {
		return b.printRefs(env, docs, l)
	}
	nothing := "no reference documents: no atom has a uri or \"type: canon\"" + b.untyped()
	list := make([]canonJSON, len(docs))
	for i, a := range docs {
		list[i] = b.canonOf(a, l)
	}
	return showList(env, c.Bool("json"), list, nothing, func(j canonJSON) []string {
		return []string{or(j.URI, string(j.ID)), j.Type, j.state, b.place(env, j.Path, 0), j.Title}
	})
}

// governing reports the types of canon.
func governing(a *okf.Atom) bool {
	switch a.Type {
	case "canon", "constraint", "principle", "method", "definition":
		return true
	}
	return false
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

// printRefs prints what documents refer to: state, reference, where it leads, where it stands.
func (b bundle) printRefs(env Env, docs []*okf.Atom, l *canon.Library) error {
	var rows [][]string
	for _, a := range docs {
		for _, r := range l.References(a.Path) {
			rows = append(rows, []string{string(r.State), or(r.Key, "text"), okf.Visible(r.Text), okf.Visible(r.To), b.place(env, a.Path, r.Line)})
		}
	}
	return printRows(env, rows)
}
