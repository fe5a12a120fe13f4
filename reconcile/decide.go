package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// merger decides what happens to each atom of one emission.
type merger struct {
	g      *okf.Graph
	o      Options
	names  nameIndex            // of the prior atoms and of those added so far
	adds   map[okf.ID]*okf.Atom // the atoms that this emission adds, with their new paths
	addsAt map[string]*okf.Atom // the same by path
	fate   map[okf.ID]Item      // of new atoms
	items  []Item
}

func newMerger(g *okf.Graph, o Options, cands []candidate) *merger {
	m := &merger{g: g, o: o, adds: map[okf.ID]*okf.Atom{}, addsAt: map[string]*okf.Atom{}, fate: map[okf.ID]Item{}}
	titles := map[okf.ID]string{}
	for _, c := range cands {
		if c.prior == nil {
			continue
		}
		if e, _ := m.judgeUpdate(c); e == Updated && sameType(c) {
			if _, ok := c.Atom.Field("title"); ok {
				titles[c.id] = c.Atom.Title
			}
		}
	}
	m.names = indexNames(g, cands, titles)
	return m
}

func sameType(c candidate) bool { return foldType(c.prior.Type) == foldType(c.Atom.Type) }

// placeNew decides a new atom. Candidates are in order of id, so the first of two that are
// the same thing lands.
func (m *merger) placeNew(c candidate) {
	it := Item{Effect: Added, ID: c.id, Path: c.path}
	switch same, taken, stem := m.names.findSame(c), m.names.path[strings.ToLower(c.path)], m.names.stem[string(c.id)]; {
	case !m.o.Person && m.whyPersonal(c) != "":
		it.Effect, it.Reason = Guarded, m.whyPersonal(c)
	case same != nil:
		it.Effect, it.Other, it.Reason = Duplicate, same.ID, fmt.Sprintf("it is the same as %s (%s)", same.ID, same.Path)
	case taken != nil:
		it.Effect, it.Other, it.Reason = Conflict, taken.ID, fmt.Sprintf("the file %s already belongs to %s", taken.Path, taken.ID)
	case stem != nil:
		it.Effect, it.Other, it.Reason = Conflict, stem.ID, fmt.Sprintf("its name is already used by %s", stem.Path)
	case m.g.Broken(c.path):
		it.Effect, it.Reason = Conflict, fmt.Sprintf("the file %s exists and cannot be read; fix it first", c.path)
	case c.Base != "":
		it.Effect, it.Reason = Conflict, fmt.Sprintf("it changes blob %s of an atom that does not exist", c.Base)
	default:
		if why := m.whyDeclined(c.id, &c.Atom); why != "" {
			it.Effect, it.Reason = Declined, why
		}
	}
	m.fate[c.id] = it
	if it.Effect != Added {
		return
	}
	a := c.Atom
	a.ID, a.Path = c.id, c.path
	m.adds[c.id], m.addsAt[c.path] = &a, &a
	m.names.addKeys(c.title, c.bare, &a)
	setFirst(m.names.path, strings.ToLower(c.path), &a)
}

// whyPersonal explains why only a person may write an atom; "" if an agent may.
func (m *merger) whyPersonal(c candidate) string {
	switch {
	case isType(c.Atom.Type, governing...):
		return fmt.Sprintf("only a person may write atoms of type %s", c.Atom.Type)
	case isReserved(c.path), isReserved(c.Atom.Path):
		return "only a person may write in that folder"
	case declaresEntryType(c.Atom.Tags), c.prior != nil && declaresEntryType(c.prior.Tags):
		return "only a person may declare a type of journal entry"
	case c.prior != nil && isType(c.prior.Type, "task"):
		return "an agent may not change a task"
	}
	return ""
}

// declaresEntryType reports the tag of a document that adds or redefines a type of journal
// entry. Such a document governs, whatever its type.
func declaresEntryType(tags []string) bool {
	return slices.ContainsFunc(tags, func(t string) bool { return strings.EqualFold(strings.TrimSpace(okf.Visible(t)), "encoding-type") })
}

// decideAll appends an item for each candidate, in their order. It runs in parallel; m is
// only read by now.
func (m *merger) decideAll(cands []candidate) error {
	items, errs := make([]Item, len(cands)), make([]error, len(cands))
	eachParallel(len(cands), func(i int) { items[i], errs[i] = m.decide(cands[i]) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	m.items = append(m.items, items...)
	return nil
}

// decide returns the item of c, with its bytes.
func (m *merger) decide(c candidate) (Item, error) {
	if c.prior == nil {
		it := m.fate[c.id]
		b, err := m.printNew(c)
		if err != nil {
			return it, &Malformed{Problems: []okf.Problem{newProblem(c.At, "odd-unprintable", "%s: %v", c.id, err)}}
		}
		it.Bytes = b
		return it, nil
	}
	it := Item{ID: c.id, Path: c.path, Prior: c.prior.Blob}
	if !sameType(c) {
		it.Effect, it.Reason = Conflict, fmt.Sprintf("it has type %s, and the agent wrote type %s", c.prior.Type, c.Atom.Type)
		return it, nil
	}
	wanted, err := m.update(c)
	switch {
	case err != nil:
		it.Effect, it.Reason = Conflict, fmt.Sprintf("the file cannot be edited: %v", err)
	case wanted == nil:
		it.Effect = Unchanged
	default:
		it.Effect, it.Reason = m.judgeUpdate(c)
		it.Bytes = wanted
		if a, err := okf.Parse(c.path, wanted); err == nil && it.Effect == Updated {
			if why := m.whyDeclined(c.id, &a); why != "" {
				it.Effect, it.Reason = Declined, why
			}
		}
	}
	return it, nil
}

// whyDeclined returns what Options.Declined says of an agent's atom.
func (m *merger) whyDeclined(id okf.ID, a *okf.Atom) string {
	if m.o.Person || m.o.Declined == nil {
		return ""
	}
	return m.o.Declined(id, okf.Grounds(a))
}

// judgeUpdate decides an update that would change something.
func (m *merger) judgeUpdate(c candidate) (Effect, string) {
	agent := !m.o.Person
	why := m.whyPersonal(c)
	switch out := m.outOfForce(c.prior); {
	case agent && why != "":
		return Guarded, why
	case agent && c.prior.Tier() == okf.HumanReviewed:
		return Guarded, "a person verified it"
	case agent && c.Base == "":
		return Conflict, "the file is there already, and the agent proposed it as new (no base=BLOB); what is there stays"
	case c.Base != "" && c.Base != c.prior.Blob:
		return Conflict, fmt.Sprintf("it changed since the agent read it (blob %s)", c.Base)
	case agent && out != "":
		return Guarded, out
	case agent && c.Atom.Confidence() < c.prior.Confidence():
		return Guarded, fmt.Sprintf("its confidence is %s, and the agent's is only %s", c.prior.Confidence(), c.Atom.Confidence())
	}
	return Updated, ""
}

// outOfForce explains why an atom is no longer in force; "" if it is.
func (m *merger) outOfForce(a *okf.Atom) string {
	for _, h := range m.g.In(a.ID) {
		if h.Kind == okf.Supersedes && h.From != a.ID {
			return fmt.Sprintf("superseded by %s", h.From)
		}
	}
	for _, e := range a.Edges {
		if e.Kind == okf.SupersededBy {
			return "superseded by " + e.Target
		}
	}
	if strings.EqualFold(a.Status, "deprecated") {
		return "deprecated"
	}
	return ""
}

// printNew returns the file of a new atom, with its edges mirrored.
func (m *merger) printNew(c candidate) ([]byte, error) {
	body := toLF(string(c.Atom.Body()))
	mirrored := m.mirrorEdges(c.path, body, c.Atom.Edges)
	if id, _ := c.Atom.Field("id"); !m.o.Person && id.Value == string(c.id) && mirrored == body {
		return c.Atom.Bytes(), nil // Cap printed and parsed it with this id
	}
	fields := []okf.Field{{Key: "id", Value: string(c.id)}}
	for _, f := range c.Atom.Fields {
		if f.Key != "id" {
			fields = append(fields, f)
		}
	}
	a, err := okf.New(c.path, fields, mirrored)
	if err != nil {
		return nil, err
	}
	return a.Bytes(), nil
}

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
