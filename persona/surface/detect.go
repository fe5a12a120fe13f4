package surface

import (
	"slices"

	"github.com/odd-cli/odd/persona/contract"
)

// Detector is one thing that is looked for in an output. It has a way to fail
// or a way to hint, never both; which is what makes it structural or not.
type Detector struct {
	Name   string
	Modes  []contract.Mode // nil is every mode, and none
	Trips  string          // on what, as a sentence
	fail   func(look) []contract.Refusal
	notice func(look) []contract.Hint
}

// Structural reports whether the detector can fail an output.
func (d Detector) Structural() bool { return d.fail != nil }

// applies reports whether d is for the contract. A session whose modes an
// override collapsed has no mode to keep.
func (d Detector) applies(c contract.Contract) bool {
	return d.Modes == nil || slices.Contains(d.Modes, c.Mode)
}

func (d Detector) failures(l look) []contract.Refusal {
	if !d.Structural() || !d.applies(l.c) {
		return nil
	}
	found := d.fail(l)
	for i := range found {
		found[i].Code = d.Name
	}
	return found
}

func (d Detector) hints(l look) []contract.Hint {
	if d.Structural() || !d.applies(l.c) {
		return nil
	}
	found := d.notice(l)
	for i := range found {
		found[i].Detector = d.Name
	}
	return found
}

// Detectors is the table, structural ones first; a verdict keeps its order.
func Detectors() []Detector { return append(structural(), heuristic()...) }

// in is the modes of a row.
func in(ms ...contract.Mode) []contract.Mode { return ms }

// structural lists what reads kinds, markers, schemas, ids and counts.
func structural() []Detector {
	return []Detector{
		{Name: "unknown-kind", Trips: "a statement (say) has a kind that the mode does not have, or an unknown marker", fail: unknownKind},
		{Name: "clarifying-question", Trips: "the agent asks a question although nobody is there to answer it", fail: clarifyingQuestion},
		{Name: "unnamed-reversion", Trips: "the agent sends the work back and names no cause", fail: unnamedReversion},
		{Name: "no-deliverable", Trips: "the agent ended without the result that its role owes", fail: noDeliverable},
		{Name: "wrong-deliverable", Trips: "the agent handed over a result of another role", fail: wrongDeliverable},
		{Name: "incomplete-deliverable", Trips: "the result lacks content that it must have", fail: incompleteDeliverable},
		{Name: "outside-findings", Modes: in(contract.Resolution), Trips: "the agent repaired something that no finding of its handoff names", fail: outsideFindings},
		{Name: "unanswered-finding", Modes: in(contract.Resolution), Trips: "the agent left out a finding of its handoff", fail: unansweredFinding},
		{Name: "against-disposition", Modes: in(contract.Resolution), Trips: "the agent changed something for an accepted finding, or gave no reason for a finding that it did not fix", fail: againstDisposition},
		{Name: "too-many-emissions", Trips: "the agent made more statements than this kind of output takes", fail: tooManyEmissions},
	}
}

// heuristic lists what reads words and proportions.
func heuristic() []Detector {
	return append([]Detector{
		{Name: "premature-closure", Modes: in(contract.Exploration), Trips: "an exploration has more decisions and recommendations than questions and tensions", notice: prematureClosure},
		{Name: "textual-question", Trips: "a statement ends in a question mark, and nobody is there to answer", notice: textualQuestion},
		{Name: "loose-reversion", Trips: "a statement that sends the work back asks more than one question", notice: looseReversion},
		{Name: "metric-laundering", Modes: in(contract.Execution), Trips: "the agent says that something is done and does not name it", notice: metricLaundering},
		{Name: "other-artifact", Trips: "the result is about another artifact than the session", notice: otherArtifact},
		{Name: "unchanged-fix", Modes: in(contract.Resolution), Trips: "nothing was changed for a finding that should be fixed", notice: unchangedFix},
		{Name: "unmarked-turn", Trips: "a turn of a dialogue has no marker (holding, yielding or done)", notice: unmarkedTurn},
	}, wordings()...)
}
