// Package handoff reads, checks, makes and merges handoffs: what one session
// hands the next, encoded so that it can be read alone.
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
// Its minimum content is its transition's, as frontmatter lists or as headed
// lists of the body ("## Assumptions"). Lists of objects, such as findings,
// stand as a list of mappings in the frontmatter, or in one fenced json block of
// the body, which is a deliverable of the transition's schema. An empty list
// that is written ("deferred: []", or a heading above "None.") says "none" and
// counts; a list that is not there does not. A handoff is checked for presence,
// never for quality.
//
// # Promises
//
//  1. There are five transitions and no others. Going back (reversion) and
//     leaving out (skip) are acts in the journal, not handoffs.
//  2. Two places of a file that say different things of one key are a problem,
//     never a silent choice.
//  3. Read gives back what Make was given, whatever the texts hold.
//  4. Merge loses no source's text, and what sources disagree about is shown.
package handoff

import (
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// Type is the atom type of a handoff.
const Type = "handoff"

// Dir is where handoffs lie, below the bundle root.
const Dir = "handoffs"

// TaintTag marks what was made under an operator override, and what derives from it.
const TaintTag = "override-produced"

// Handoff is a handoff atom read: what resolution needs, and what it carries.
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

// Find returns the transition between two modes, false when there is none.
func Find(from, to contract.Mode) (contract.Transition, bool) {
	t, ok := After(from)
	return t, ok && t.To == to
}

// After returns the transition that leaves a mode, false for no mode.
func After(from contract.Mode) (contract.Transition, bool) {
	for _, t := range contract.Transitions() {
		if t.From == from {
			return t, true
		}
	}
	return contract.Transition{}, false
}

// transitionList lists the transitions for a message.
func transitionList() string {
	var out []string
	for _, t := range contract.Transitions() {
		out = append(out, t.String())
	}
	return strings.Join(out, ", ")
}

// Worker is the role that works in a mode, "" for an unknown mode.
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

// Error is one line a problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}
