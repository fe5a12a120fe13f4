package cmd

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/urfave/cli/v2"
)

// runDispose writes what a person says of a proposal. It needs no typed
// confirmation where nothing but the proposal's own state follows from it; while
// an emergency is open no drain runs, so whoever ends that types its id.
func runDispose(c *cli.Context, env Env, o gate.Disposition) error {
	ctx := c.Context
	v, err := openBoard(ctx, env, false)
	if err != nil {
		return err
	}
	verb := c.Command.Name
	name, by, err := v.person(ctx, "proposals "+verb)
	if err != nil {
		return err
	}
	o.By, o.TS, o.ID = by, env.Now(), c.Args().First()
	b, _, err := v.dispose(&o, v.proposals(name)) // what is refused is refused before a person is asked
	if err != nil {
		return err
	}
	if p, _ := b.ByID(o.ID); p.Severity == gate.EmergencySeverity {
		if _, err := v.human(ctx, "an emergency: "+p.Reason+"\n", "proposals "+verb+" "+p.ID, p.ID, c.Bool("yes")); err != nil {
			return err
		}
	}
	var said proposalJSON
	oid, err := v.write(ctx, func(v *view) (repo.Changes, string, error) {
		b, ch, err := v.dispose(&o, v.proposals(name))
		p, _ := b.ByID(o.ID)
		said = proposalJSON{p, o.Decision, &o}
		return ch, trailers("proposals: "+verb+" "+o.ID, or(o.Reason, p.Reason), "Odd-Disposed", o.ID, "Odd-Act", o.Act, "Odd-By", o.By), err
	})
	if err != nil {
		return err
	}
	return show(env, c.Bool("json"), said, []string{said.ID, said.State, by, short(oid)})
}

// dispose appends what o says to a person's file.
func (v *view) dispose(o *gate.Disposition, file string) (gate.Buffer, repo.Changes, error) {
	b, err := v.buffer()
	if err != nil {
		return b, nil, err
	}
	p, err := oneProposal(b, o.ID)
	if err != nil {
		return b, nil, err
	}
	o.ID = p.ID
	if old, ok := b.Dispositions[p.ID]; ok {
		return b, nil, refuse("state", "proposal %s is already %s; that is final", p.ID, proposalJSON{State: old.Decision, Disposition: &old}.became())
	}
	if o.Decision == gate.Accepted {
		if err := v.answers(p, o.Act); err != nil {
			return b, nil, err
		}
	}
	old, err := fs.ReadFile(v.bundle, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b, nil, err
	}
	text, err := b.AppendDisposition(old, *o)
	return b, repo.Changes{v.file(file): text}, err
}

// answers refuses an act that cannot have answered p: to accept a proposal is to
// act on it, and only a gate acts.
func (v *view) answers(p gate.Proposal, act string) error {
	way := "run odd gate " + string(p.Gate) + " --because " + p.ID
	if act == "" {
		return refuse("gate", "proposals accept %s: a proposal is accepted by running the gate it asks for; %s, or name a gate that was already run with --act G-…", p.ID, way)
	}
	b, err := fs.ReadFile(v.bundle, gate.GatesPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	chain, err := gate.ReadChain(b)
	if err != nil {
		return refuse("gate", "%s: cannot be read: %v; put it back with git restore %[1]s", v.file(gate.GatesPath), err)
	}
	i := slices.IndexFunc(chain.Rows, func(r gate.Row) bool { return r.ID == act })
	switch {
	case i < 0:
		return refuse("gate", "proposals accept %s: %s has no row %s; %s", p.ID, v.file(gate.GatesPath), act, way)
	case chain.Rows[i].Gate != p.Gate:
		return refuse("gate", "proposals accept %s: %s was the %s gate, and the proposal asks for the %s gate; %s", p.ID, act, chain.Rows[i].Gate, p.Gate, way)
	case chain.Rows[i].TS.Before(p.TS):
		return refuse("gate", "proposals accept %s: the gate %s is older than the proposal; %s", p.ID, act, way)
	}
	return nil
}
