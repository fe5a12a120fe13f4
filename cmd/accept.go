package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile"
	"github.com/urfave/cli/v2"
)

// accept turns the guarded items that o names into ones that land. The person is
// shown what each would write and types the ids on the terminal; anything else refuses.
func (w *workspace) accept(c *cli.Context, g *okf.Graph, items []reconcile.Item, in []reconcile.Incoming) error {
	ids, dry := c.StringSlice("accept"), c.Bool("dry-run")
	if len(ids) == 0 {
		return nil
	}
	var taken []int
	for _, id := range ids {
		i := slices.IndexFunc(items, func(it reconcile.Item) bool { return string(it.ID) == id })
		if i < 0 {
			return refuse("not-emitted", "accept %s: no such atom in the input; odd reconcile FILE --dry-run lists the atoms in it", id)
		}
		if why := unacceptable(items[i], in); why != "" {
			return refuse("not-guarded", "--accept %s: not needed or not possible, because it is %s; %s", id, items[i].Effect, why)
		}
		taken = append(taken, i)
		if !dry {
			fmt.Fprintf(w.env.Stderr, "%s", reconcile.Diff(g, items[i]))
		}
	}
	if !dry {
		if _, err := w.human(c.Context, "", "accept", strings.Join(ids, " "), false); err != nil {
			return err
		}
	}
	for _, i := range taken {
		if items[i].Prior == "" {
			items[i].Effect = reconcile.Added
		} else {
			items[i].Effect = reconcile.Updated
		}
		items[i].Reason = "accepted: " + items[i].Reason
	}
	return nil
}

// unacceptable says why accepting an item makes no sense, "" when it does: it is
// guarded, or it is an update that names no base.
func unacceptable(it reconcile.Item, in []reconcile.Incoming) string {
	switch it.Effect {
	case reconcile.Guarded:
		return ""
	case reconcile.Conflict:
		baseless := slices.ContainsFunc(in, func(c reconcile.Incoming) bool { return c.Atom.ID == okf.ID(it.ID) && c.Base == "" })
		if it.Bytes != nil && it.Prior != "" && baseless {
			return ""
		}
		return "make it from the current file (its blob is in odd get --json) and run again"
	case reconcile.Duplicate:
		return "edit the atom " + string(it.Other) + " instead"
	}
	return "--accept is only for atoms that an agent may not change (guarded)"
}
