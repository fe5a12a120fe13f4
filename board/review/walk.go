package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// Walk is what a person saw and decided about a proposal, atom by atom, before they approve
// it. It stays in their clone. An entry counts only for the bytes it names, so an atom that
// the next proposal changes is undecided again.
type Walk struct {
	Proposal string    `json:"proposal"` // the commit it was last about
	Atoms    []Decided `json:"atoms"`
}

// Decided is what a person decided about one atom.
type Decided struct {
	Path
	ID     okf.ID `json:"id"`
	Take   Take   `json:"take,omitempty"`
	Reason string `json:"reason,omitempty"` // of Leave
	Edited []byte `json:"edited,omitempty"` // the file as the person made it
	Owned  bool   `json:"owned,omitempty"`  // Edited only names the atom's owner
	Draft  []byte `json:"draft,omitempty"`  // an edit that has an error, which is not taken
}

// Take is a decision about an atom.
type Take string

// The decisions. The atom of an entry without one was shown, and no more.
const (
	Accept   Take = "accept"
	Verified Take = "verify"
	Leave    Take = "leave out"
)

// ReadWalk parses a stored walk. An unreadable walk is an error, because with an empty one
// an approval would take everything.
func ReadWalk(b []byte) (w Walk, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return Walk{}, err
	}
	for _, a := range w.Atoms {
		if !slices.Contains([]Take{"", Accept, Verified, Leave}, a.Take) {
			return Walk{}, fmt.Errorf("%q is no decision about %s", a.Take, a.ID)
		}
	}
	return w, nil
}

// About returns the walk for p: the entries whose atoms p has unchanged, and how many
// decisions no longer count.
func (w Walk) About(p Proposal) (out Walk, dropped int) {
	out.Proposal = p.Commit
	for _, a := range w.Atoms {
		if slices.Contains(p.Paths, a.Path) {
			out.Atoms = append(out.Atoms, a)
		} else if a.Take != "" {
			dropped++
		}
	}
	return out, dropped
}

// Of returns the entry of the atom at a path, and whether it was shown.
func (w Walk) Of(at Path) (Decided, bool) {
	i := slices.IndexFunc(w.Atoms, func(a Decided) bool { return a.Path == at })
	if i < 0 {
		return Decided{Path: at}, false
	}
	return w.Atoms[i], true
}

// With returns w with d in place of the entry about its atom.
func (w Walk) With(d Decided) Walk {
	w.Atoms = append(slices.DeleteFunc(slices.Clone(w.Atoms), func(a Decided) bool { return a.Path == d.Path }), d)
	return w
}

// Count returns how many atoms have that decision; with "" how many have any.
func (w Walk) Count(t Take) (n int) {
	for _, a := range w.Atoms {
		if a.Take != "" && (t == "" || a.Take == t) {
			n++
		}
	}
	return n
}

// LeftOut returns the atoms that the approval leaves out.
func (w Walk) LeftOut() (out []LeftOut) {
	for _, a := range w.Atoms {
		if a.Take == Leave {
			out = append(out, LeftOut{a.ID, a.Reason})
		}
	}
	return out
}

// Verify marks the atoms that the person verified.
func (w Walk) Verify() (v Verify) {
	for _, a := range w.Atoms {
		if a.Take == Verified {
			v.Only = append(v.Only, a.ID)
		}
	}
	return v
}

// String says how many atoms are taken and left out.
func (w Walk) String() string {
	out := fmt.Sprintf("%d taken", w.Count(Accept)+w.Count(Verified))
	var of []string
	if n := w.Count(Verified); n > 0 {
		of = append(of, fmt.Sprintf("%d verified", n))
	}
	owned := 0
	for _, a := range w.Atoms {
		if a.Owned && a.isEdited() {
			owned++
		}
	}
	if n := len(w.Edits()) - owned; n > 0 {
		of = append(of, fmt.Sprintf("%d edited", n))
	}
	if owned > 0 {
		of = append(of, fmt.Sprintf("%d with an owner you named", owned))
	}
	if of != nil {
		out += " (" + strings.Join(of, ", ") + ")"
	}
	if n := w.Count(Leave); n > 0 {
		out += fmt.Sprintf(", %d left out", n)
	}
	return out
}

// isEdited reports an atom that is taken as the person edited it.
func (d Decided) isEdited() bool {
	return d.Edited != nil && (d.Take == Accept || d.Take == Verified)
}

// Edits returns the files that the person edited and takes, by path.
func (w Walk) Edits() Files {
	out := Files{}
	for _, a := range w.Atoms {
		if a.isEdited() {
			out[a.Path.Path] = a.Edited
		}
	}
	return out
}
