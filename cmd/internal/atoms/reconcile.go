package atoms

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile"
)

// ReconcileVerb declares odd reconcile.
func ReconcileVerb(env console.Env) *cli.Command {
	return verb.New("reconcile FILE…|-", "merge atoms from an agent's output into the bundle",
		"odd reconcile draft.md --dry-run\n"+
			"odd reconcile draft.md --accept weather-limits\n"+
			"my-agent | odd reconcile - --dry-run\n"+
			"odd review read-the-handbook --emission | odd reconcile - --dry-run\n\n"+
			"FILE holds an agent's output with fenced ```atom blocks, or one atom. - is\n"+
			"stdin. odd drain merges in the same way. Everything in FILE counts as an\n"+
			"agent's, whoever runs the command: its confidence is limited to [session] cap.\n"+
			"An atom that would overwrite a person's work is guarded: odd writes it only\n"+
			"with --accept. Files are written; nothing is committed.",
		verb.On(env, workspace.Open, runReconcile),
		&cli.StringSliceFlag{Name: "accept", Usage: "also write the guarded atom `ID`, after you confirm it at the terminal; repeatable"},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the diff of every atom, and write nothing"})
}

func runReconcile(c *cli.Context, env console.Env, w *workspace.Clone) error {
	in, err := readEmissions(env, c.Args().Slice())
	if err != nil {
		return err
	}
	g, _, err := okf.Load(disk.Dir(filepath.Join(w.Repo.Root(), filepath.FromSlash(w.Config.Root))))
	if errors.Is(err, fs.ErrNotExist) {
		return verb.Refuse("no-bundle", "%s: no such folder, so there is nowhere to write atoms; run odd init", w.Config.Root)
	}
	if err != nil {
		return workspace.WhyNotLoaded(w.Config.Root, err)
	}
	limit, _ := okf.ParseConfidence(w.Config.Session.Cap)
	items, err := reconcile.Merge(g, in, reconcile.Options{
		Cap: limit, By: "odd/" + console.Version(), Now: env.Now(), MaxAtoms: w.Config.Session.MaxAtoms,
	})
	if err != nil {
		return err
	}
	if err := acceptGuarded(w, c, g, items, in); err != nil {
		return err
	}
	if err := printItems(c, env, g, items); err != nil {
		return err
	}
	if c.Bool("dry-run") {
		return nil
	}
	ch := repo.Changes{}
	for _, it := range items {
		if it.Effect.Lands() {
			ch[path.Join(w.Config.Root, it.Path)] = it.Bytes
		}
	}
	return w.Repo.Write(ch)
}

// itemJSON is an item with its diff, which only --dry-run has.
type itemJSON struct {
	reconcile.Item
	Diff string `json:"diff,omitempty"`
}

// printItems prints one row an item, or the JSON by effect, and with --dry-run the diffs.
func printItems(c *cli.Context, env console.Env, g *okf.Graph, items []reconcile.Item) error {
	byEffect := map[reconcile.Effect][]itemJSON{}
	for _, e := range reconcile.Effects() {
		byEffect[e] = []itemJSON{}
	}
	var rows [][]string
	var diffs strings.Builder
	for _, it := range items {
		row := itemJSON{Item: it}
		if c.Bool("dry-run") {
			row.Diff = string(reconcile.Diff(g, it))
			fmt.Fprintf(&diffs, "%s", row.Diff)
		}
		byEffect[it.Effect] = append(byEffect[it.Effect], row)
		rows = append(rows, []string{string(it.Effect), string(it.ID), it.Path, it.Reason})
	}
	if err := console.Show(env, c.Bool("json"), byEffect, rows...); err != nil || diffs.Len() == 0 || c.Bool("json") {
		return err
	}
	_, err := io.WriteString(env.Stdout, console.DiffText(env, "\n"+diffs.String()))
	return err
}

// acceptGuarded turns the guarded items that o names into ones that land. The person is
// shown what each would write and types the ids on the terminal; anything else refuses.
func acceptGuarded(w *workspace.Clone, c *cli.Context, g *okf.Graph, items []reconcile.Item, in []reconcile.Incoming) error {
	ids, dry := c.StringSlice("accept"), c.Bool("dry-run")
	if len(ids) == 0 {
		return nil
	}
	var taken []int
	for _, id := range ids {
		i := slices.IndexFunc(items, func(it reconcile.Item) bool { return string(it.ID) == id })
		if i < 0 {
			return verb.Refuse("not-emitted", "accept %s: no such atom in the input; odd reconcile FILE --dry-run lists the atoms in it", id)
		}
		if why := whyUnacceptable(items[i], in); why != "" {
			return verb.Refuse("not-guarded", "--accept %s: not needed or not possible, because it is %s; %s", id, items[i].Effect, why)
		}
		taken = append(taken, i)
		if !dry {
			fmt.Fprintf(w.Env.Stderr, "%s", reconcile.Diff(g, items[i]))
		}
	}
	if !dry {
		if _, err := land.Confirm(c.Context, w, "", "accept", strings.Join(ids, " "), false); err != nil {
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

// whyUnacceptable says why accepting an item makes no sense, "" when it does: it is
// guarded, or it is an update that names no base.
func whyUnacceptable(it reconcile.Item, in []reconcile.Incoming) string {
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

// maxEmission is the most odd reconcile reads of one file: sixteen times what a
// session may say in atoms of ordinary size.
const maxEmission = 16 << 20

// readEmissions reads every file, or stdin for "-". The error of malformed ones
// is a *reconcile.Malformed that lists them all.
func readEmissions(env console.Env, files []string) ([]reconcile.Incoming, error) {
	var in []reconcile.Incoming
	var bad []okf.Problem
	for _, name := range files {
		b, err := ReadEmission(env, name)
		if err != nil {
			return nil, err
		}
		if name == "-" {
			name = "stdin"
		}
		more, ps, err := parseEmission(filepath.ToSlash(name), b)
		if err != nil {
			return nil, err
		}
		in, bad = append(in, more...), append(bad, ps...)
	}
	if len(bad) > 0 {
		return nil, &reconcile.Malformed{Problems: bad}
	}
	return in, nil
}

// ReadEmission reads an agent's output from a file, or from stdin for -.
func ReadEmission(env console.Env, name string) ([]byte, error) {
	b, err := console.ReadInput(env, name, maxEmission)
	if err != nil {
		return nil, err
	}
	if len(b) > maxEmission {
		return nil, verb.Refuse("malformed", "%s: more than %d bytes; split it", name, maxEmission)
	}
	return b, nil
}

// parseEmission reads an atom file, which starts with its fence, or an emission.
func parseEmission(name string, b []byte) ([]reconcile.Incoming, []okf.Problem, error) {
	if bytes.HasPrefix(bytes.TrimPrefix(b, []byte("\ufeff")), []byte("---")) {
		a, err := okf.Parse(path.Base(name), b)
		var p okf.Problem
		if errors.As(err, &p) {
			p.Path = name
			return nil, []okf.Problem{p}, nil
		}
		return []reconcile.Incoming{{Atom: a, At: name + ":1"}}, nil, err
	}
	e, ps := session.Parse(b)
	for i := range ps {
		ps[i].Path = name
	}
	switch {
	case len(ps) > 0:
		return nil, ps, nil
	case e.Outcome != session.Completed:
		return nil, nil, verb.Refuse("incomplete", "%s: %s; odd merges only the output of a completed session", name, describeEnd(e))
	case e.Change != nil:
		return nil, nil, verb.Refuse("change", "%s: the output changes files that are not atoms, and odd reconcile takes atoms only", name)
	}
	var in []reconcile.Incoming
	for _, a := range e.Atoms {
		in = append(in, reconcile.Incoming{Atom: a.Atom, Base: a.Base, At: strings.Replace(a.At, session.Source, name, 1)})
	}
	return in, nil, nil
}

func describeEnd(e session.Emission) string {
	if e.Failure == session.Silent {
		return e.Detail
	}
	parts := []string{"the session declares " + string(e.Outcome)}
	for _, s := range []string{e.Failure, e.Detail} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}
