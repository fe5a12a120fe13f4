package invoke

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/session"
)

// broken is the rule of the contract that an emission breaks, "" for none. These
// are structure, not judgement: what was emitted, never how good it is. What a
// surface sees as well (the deliverable, its schema, its remedies) it judges.
func (r *run) broken(e session.Emission) (name, detail string) {
	c := r.Contract
	switch d := e.Deliverable; {
	case !c.Mutates && e.Change != nil:
		return ReadOnly, fmt.Sprintf("a %s changes nothing; it emitted a change", c.Role)
	case !c.Mutates && len(e.Atoms) > 0:
		return ReadOnly, fmt.Sprintf("a %s changes nothing; it emitted %d atoms", c.Role, len(e.Atoms))
	case d == nil:
		return "", ""
	case d.Schema == deliver.SchemaFindings && c.Deliverable != deliver.SchemaFindings:
		return Certifies, fmt.Sprintf("a %s does not judge; findings are a fresh validator's", c.Role)
	case d.Schema != c.Deliverable:
		return WrongDeliverable, fmt.Sprintf("%s, want %s", d.Schema, cmp.Or(c.Deliverable, "none: a "+string(c.Role)+" hands over nothing"))
	case c.Bound == "findings" && d.Remediation != nil:
		return r.outside(e)
	}
	return "", ""
}

// outside holds what a resolver changed to what its remedies say it changed:
// the surface holds the remedies to the findings, so that no atom can come in
// under cover of a repair.
func (r *run) outside(e session.Emission) (name, detail string) {
	var named, out []string
	for _, m := range e.Deliverable.Remediation.Remedies {
		named = append(named, m.Changed...)
	}
	for _, a := range e.Atoms {
		names := []string{string(a.Atom.ID)}
		if a.Atom.Path != "" {
			names = append(names, a.Atom.Path, path.Join(r.Request.BundleRoot, a.Atom.Path))
		}
		if !slices.ContainsFunc(named, func(s string) bool { return slices.Contains(names, s) }) {
			out = append(out, fmt.Sprintf("%s: no remedy says that %s changed", a.At, cmp.Or(a.Atom.Path, string(a.Atom.ID))))
		}
	}
	if len(out) > 0 {
		return OutsideFindings, strings.Join(out, "\n")
	}
	return "", ""
}
