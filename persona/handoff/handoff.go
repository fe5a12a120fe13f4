// Package handoff reads, checks, makes and merges handoffs. A handoff is a file in which
// one session passes its results to the next, which reads nothing else of that session.
//
// A handoff is an atom of type handoff below handoffs/:
//
//	---
//	type: handoff
//	title: Ferry times, plan to build
//	from: planning
//	to: execution
//	artifact: knowledge/terms/slack-water.md
//	persona: oddie@1
//	run: run-01J…
//	journal: journal/2026-03-02-run-01j….tsv
//	assumptions: [the almanac is this year's]
//	scope_in: [the term and its sources]
//	scope_out: [the timetable]
//	deferred: []
//	would_invalidate: [a new almanac]
//	---
//
// The transition determines the minimum content. It is written as lists in the front
// matter, or as lists under headings of the body ("## Assumptions"). Lists of objects,
// such as findings, are lists of mappings in the front matter, or one fenced json block
// of the body, which is a deliverable of the transition's schema. An empty list that is
// written ("deferred: []", or a heading above "None.") says "none" and counts as
// present; a list that is not written is missing. Nothing checks the quality of content.
//
// # Promises
//
//  1. There are only five transitions. Going back (reversion) and leaving out a mode
//     (skip) are acts in the journal, not handoffs.
//  2. Two different values for one key in one file are a problem, never a silent choice.
//  3. Read returns what Make was given, whatever the texts contain.
//  4. Merge loses no text of any source, and shows what the sources disagree about.
package handoff

import (
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// Type is the atom type of a handoff.
const Type = "handoff"

// Dir is the folder of handoffs, below the bundle root.
const Dir = "handoffs"

// TaintTag marks what was made under an operator's override, and what derives from it.
const TaintTag = "override-produced"

// Handoff is a parsed handoff atom: what contract.Resolve needs, and its content.
type Handoff struct {
	contract.Handoff
	Title         string
	Persona       string // name@version of who made it
	Run           string // the run that made it, "" for a person's
	Deliverable   deliver.Deliverable
	Derives       []string // handoffs it was made from
	Disagreements []string // what the sources of a merged handoff disagree about
	Atom          *okf.Atom
}

// Find returns the transition between two modes; false if there is none.
func Find(from, to contract.Mode) (contract.Transition, bool) {
	t, ok := After(from)
	return t, ok && t.To == to
}

// After returns the transition that leaves a mode; false if there is none.
func After(from contract.Mode) (contract.Transition, bool) {
	for _, t := range contract.Transitions() {
		if t.From == from {
			return t, true
		}
	}
	return contract.Transition{}, false
}

func transitionList() string {
	var out []string
	for _, t := range contract.Transitions() {
		out = append(out, t.String())
	}
	return strings.Join(out, ", ")
}

// Worker returns the role that works in a mode; "" for an unknown mode.
func Worker(m contract.Mode) contract.Role {
	for _, row := range contract.Modes() {
		if row.Mode == m {
			return row.Role
		}
	}
	return ""
}

// Problems is an error of one problem or more.
type Problems []okf.Problem

// Error returns one line a problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}
