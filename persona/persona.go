// Package persona compiles a work role's part of the graph into a persona, and
// refuses below the floor.
//
// A persona is what an agent knows of the role it is bound to: which teams the
// role works in, which processes it owns, which policies advise it. It is never
// written by hand; it is walked from the role over real, typed edges:
//
//	step  from                          edges                                        direction
//	1     the role                      owner reports_to uses governed_by produces   either
//	                                    stages decided_by relates_to
//	2     a process or workflow that    uses governed_by produces relates_to         either, and only
//	      step 1 reached                                                             to the far ends below
//
//	edge at step 2   far end
//	uses             anything but the types that have a step of their own
//	governed_by      the same
//	produces         the same
//	relates_to       system, policy or artifact
//
// The types with a step of their own are role, process, workflow, capability
// and task. There is no "owns": a role reaches the process whose owner it is by
// walking that edge backwards. Markdown links and supersessions are not walked,
// and neither are tasks, handoffs, profiles and index atoms, which are work and
// voice and not knowledge.
//
// An atom that is deprecated, or that an atom in force supersedes, guides
// nobody: it is reached, named in the gaps, and left out. A draft supersedes
// nothing, so that a proposal cannot silence a policy.
//
// What is compiled is data about a role. Systems are informational and grant no
// tool; policies are advice, and the rules that bind are elsewhere.
//
// The same graph gives the same bytes: items stand in the order of section,
// edge kind, id. This is where the persona floor and the rule of real edges
// (invariants 6 and 7) are kept.
package persona

import (
	"fmt"

	"github.com/odd-cli/odd/okf"
)

// Item is one atom of a persona.
type Item struct {
	ID, Path, Blob, Type, Title, Description string
	Confidence, Tier                         string
	Draft                                    bool
	Section                                  Section
	Owned                                    bool      // a process or workflow whose owner is the role
	Via                                      []okf.Hop // the edge path from the role, each hop as it is written
}

// Persona is a compiled role. Same graph, same bytes.
type Persona struct {
	Role   Item
	Commit string // set by the caller; "" outside git
	Root   string // set by the caller: the folder that Markdown puts before every path, "" for paths of the bundle
	Items  []Item

	// Reached counts the distinct ends of the walked edges, the role left out. It
	// is the sum of the four that follow.
	Reached    int
	Resolved   int // in Items
	Retired    int // deprecated or superseded, left out
	Unresolved int // no such atom
	Unloadable int // a file is there and did not parse

	Retirement string   // why the role itself is out of force, "" when it is in force
	Gaps       []string // one line each: what is missing and where
}

// Section is a heading of the document.
type Section string

// The sections, in the order of the document. Mandate holds the role alone and
// Gaps holds no atoms.
const (
	Mandate    Section = "Mandate"
	Teams      Section = "Teams"
	Runbooks   Section = "Runbooks"
	Guardrails Section = "Guardrails"
	Systems    Section = "Systems"
	Artifacts  Section = "Artifacts"
	Terms      Section = "Terms"
	Decisions  Section = "Decisions"
	Other      Section = "Other" // left out of the document when empty
)

// allSections lists the sections that hold items, in document order.
func allSections() []Section {
	return []Section{Teams, Runbooks, Guardrails, Systems, Artifacts, Terms, Decisions, Other}
}

// NotRole is an atom that was named as a role and is something else.
type NotRole struct{ ID, Path, Type string }

// Error names the atom and the way out.
func (e *NotRole) Error() string {
	return fmt.Sprintf("%s: %s is a %s, not a role; name an atom of type role", e.Path, e.ID, e.Type)
}

// Refused is the reason code.
func (e *NotRole) Refused() string { return "not-a-role" }

// Compile walks the graph from the role over real edges. The error wraps
// okf.ErrNotFound or okf.ErrAmbiguous, or is a *NotRole. A role that is out of
// force compiles, so that it can be read, and is below every floor.
func Compile(g *okf.Graph, role string) (Persona, error) {
	r, err := findRole(g, role)
	if err != nil {
		return Persona{}, err
	}
	w := newWalk(g, r)
	w.takeSteps()
	return w.buildPersona(), nil
}
