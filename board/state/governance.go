package state

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
)

// Governance is what the files of governance/ say. Of a file that does not read there is
// a fault, and nothing else is known but its bytes.
type Governance struct {
	Slow     gate.Slow // the bytes; without the proposals, which ReadProposals reads
	HasLease bool      // lease.toml is there, whether it reads or not
	Lease    gate.File
	LeaseSum string
	Chain    gate.Chain
	Decided  []gate.Decision
	Faults   map[string]error // by file
}

// ReadGovernance reads the governance of a bundle. The error is a [*Damaged] for a link in
// the place of a file: where it leads is not what the bundle has.
func ReadGovernance(bundle fs.FS) (g Governance, err error) {
	g.Faults = map[string]error{}
	var damaged *Damaged
	for _, f := range []struct {
		name string
		to   *[]byte
		read func([]byte) error
	}{
		{gate.LeasePath, &g.Slow.LeaseFile, func(b []byte) (err error) {
			g.HasLease, g.LeaseSum = true, gate.Sum(b)
			g.Lease, err = gate.ParseLease(gate.LeasePath, b)
			return err
		}},
		{gate.GatesPath, &g.Slow.Gates, func(b []byte) (err error) { g.Chain, err = gate.ReadChain(b); return err }},
		{gate.DecisionsPath, &g.Slow.Decisions, func(b []byte) (err error) { g.Decided, err = gate.ReadDecisions(b); return err }},
	} {
		b, err := fileOf(bundle, f.name)
		link := (*Damaged)(nil)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.As(err, &link):
			damaged = cmp.Or(damaged, link)
		case err != nil:
			return g, fmt.Errorf("%s: %w", f.name, err)
		}
		*f.to = b
		if err := f.read(b); err != nil {
			g.Faults[f.name] = err
		}
	}
	if damaged != nil {
		return g, damaged
	}
	return g, nil
}

// ReadProposals reads every writer's proposals of a bundle. The error is a [*Damaged] for
// the first file that does not read; the buffer has what the others say.
func ReadProposals(bundle fs.FS) (all gate.Buffer, err error) {
	names, err := fs.Glob(bundle, "proposals/*.jsonl")
	if err != nil {
		return all, err
	}
	var damaged *Damaged
	for _, name := range names {
		b, err := fileOf(bundle, name)
		if err == nil {
			if bad := all.ReadProposals(b); bad != nil {
				err = &Damaged{name, bad}
			}
		}
		if one := (*Damaged)(nil); errors.As(err, &one) {
			damaged = cmp.Or(damaged, one)
		} else if err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
	}
	if damaged != nil {
		return all, damaged
	}
	return all, nil
}

// fileOf reads a file; a link is damage.
func fileOf(bundle fs.FS, name string) ([]byte, error) {
	info, err := fs.Lstat(bundle, name)
	if err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		return nil, &Damaged{name, errors.New("is a symbolic link, not a file")}
	}
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: %w", path.Base(name), fs.ErrNotExist)
	}
	b, err := fs.ReadFile(bundle, name)
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	return b, err
}

// Results returns what people decided about the results of tasks, oldest first: every
// rejection, and the approval of a task that is done.
func Results(tasks []board.Task) (out []gate.Result) {
	for _, t := range tasks {
		for _, r := range t.Rejected {
			if at, err := time.Parse(time.RFC3339, r.At); err == nil {
				out = append(out, gate.Result{Task: string(t.ID), Kind: t.Kind, Goal: t.Goal != "", At: at})
			}
		}
		if at := t.DoneAt(); !at.IsZero() {
			out = append(out, gate.Result{Task: string(t.ID), Kind: t.Kind, Goal: t.Goal != "", At: at, Accepted: true})
		}
	}
	slices.SortStableFunc(out, func(a, b gate.Result) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Task, b.Task)) })
	return out
}
