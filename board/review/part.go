package review

import (
	"fmt"
	"maps"
	"slices"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

// Atom is an atom of a proposal as it would land.
type Atom struct {
	okf.Atom
	At   Path
	Hand string // that a person edited it since it was approved, or may have, "" for not
	Mark string // what the person who approves decided about it, "" for nothing
}

// Decline returns a no to an atom, by whoever confirms it.
func (a Atom) Decline(reason string) board.Decline {
	return board.Decline{ID: a.ID, Text: okf.Grounds(&a.Atom), Reason: reason}
}

// ByID returns where each of the atoms stands.
func ByID(atoms []Atom) map[okf.ID]Path {
	out := map[okf.ID]Path{}
	for _, a := range atoms {
		out[a.ID] = a.At
	}
	return out
}

// Part is what a person takes of a proposal.
type Part struct {
	Proposal // of what is taken
	Left     []LeftOut
	Declines []board.Decline
	Out      []Path   // of what is left out
	Cut      []string // links of what is taken to what is left out
	Edits    Files    // what the person made of atoms, by path
}

// TakePart returns the part of p, whose atoms are given, without what left names, with the person's
// edits. It is an error to leave out what p does not have, all of it, or one atom twice.
func TakePart(p Proposal, atoms []Atom, left []LeftOut, edits Files) (Part, error) {
	out := Part{Proposal: p, Edits: edits}
	if len(left) == 0 {
		return out, nil
	}
	var err error
	out.Left = left
	if out.Proposal, out.Out, err = p.Without(left, ByID(atoms)); err != nil {
		return out, err
	}
	out.Cut = linksTo(atoms, out.Out)
	for i, w := range out.Out {
		a := atoms[slices.IndexFunc(atoms, func(a Atom) bool { return a.At == w })]
		out.Declines = append(out.Declines, a.Decline(left[i].Reason))
	}
	return out, nil
}

// linksTo returns the links that atoms have to those which stand at paths and are new, so
// that nothing is there without them.
func linksTo(atoms []Atom, paths []Path) (links []string) {
	gone := map[string]bool{}
	for _, a := range atoms {
		gone[string(a.ID)] = a.At.Base == "" && slices.Contains(paths, a.At)
	}
	for _, a := range atoms {
		for _, e := range a.Edges {
			if gone[e.Target] && !slices.Contains(paths, a.At) {
				links = append(links, fmt.Sprintf("%s %s %s", a.ID, e.Kind, e.Target))
			}
		}
	}
	return links
}

// Trailers returns the trailers of what is left out and of what the person edited, as files
// has it.
func (p Part) Trailers(files Files) (pairs []string) {
	for _, l := range p.Left {
		pairs = append(pairs, "Odd-Without", l.String())
	}
	for _, name := range slices.Sorted(maps.Keys(p.Edits)) {
		pairs = append(pairs, "Odd-Edited", name+"@"+okf.BlobID(files[name]))
	}
	return pairs
}
