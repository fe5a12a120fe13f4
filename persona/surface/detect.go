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
	Trips  string          // on what
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
		{Name: "unknown-kind", Trips: "a say of a kind the mode does not have, or an unknown marker", fail: unknownKind},
		{Name: "clarifying-question", Trips: "a question under agent, exploration's apart, or a say that yields to nobody", fail: clarifyingQuestion},
		{Name: "unnamed-reversion", Trips: "a reversion that names no cause", fail: unnamedReversion},
		{Name: "no-deliverable", Trips: "a session that ends without what its contract asks for", fail: noDeliverable},
		{Name: "wrong-deliverable", Trips: "a deliverable of another role", fail: wrongDeliverable},
		{Name: "incomplete-deliverable", Trips: "minimum content that is not there", fail: incompleteDeliverable},
		{Name: "outside-findings", Modes: in(contract.Resolution), Trips: "a remedy of what no finding of the handoff names", fail: outsideFindings},
		{Name: "unanswered-finding", Modes: in(contract.Resolution), Trips: "a finding of the handoff without a remedy", fail: unansweredFinding},
		{Name: "against-disposition", Modes: in(contract.Resolution), Trips: "a change for an accepted finding, or a pivot without its reason", fail: againstDisposition},
		{Name: "too-many-emissions", Trips: "more emissions than the surface takes", fail: tooManyEmissions},
	}
}

// heuristic lists what reads words and proportions.
func heuristic() []Detector {
	return append([]Detector{
		{Name: "premature-closure", Modes: in(contract.Exploration), Trips: "more decisions and recommendations than questions and tensions", notice: prematureClosure},
		{Name: "textual-question", Trips: "a question mark under agent in a say of another kind", notice: textualQuestion},
		{Name: "loose-reversion", Trips: "a reversion that asks more than one question", notice: looseReversion},
		{Name: "metric-laundering", Modes: in(contract.Execution), Trips: "a completion without a reference to what was completed", notice: metricLaundering},
		{Name: "other-artifact", Trips: "a deliverable about another artifact than the contract's", notice: otherArtifact},
		{Name: "unchanged-fix", Modes: in(contract.Resolution), Trips: "a finding to fix for which nothing was changed", notice: unchangedFix},
		{Name: "unmarked-turn", Trips: "a turn under assistant without a marker", notice: unmarkedTurn},
		{Name: "missing-signature", Trips: "a persona that speaks without its signature", notice: missingSignature},
		{Name: "stacked-glyphs", Trips: "two persona glyphs in one line, the shared duo apart", notice: stackedGlyphs},
		{Name: "crowded-paragraph", Trips: "two persona glyphs in one paragraph", notice: crowdedParagraph},
		{Name: "mixed-palettes", Trips: "glyphs of two palettes on one surface", notice: mixedPalettes},
		{Name: "improvised-emoji", Trips: "an emoji that is nobody's", notice: improvisedEmoji},
		{Name: "low-words-up-high", Trips: "river words beside tower glyphs", notice: lowWordsUpHigh},
	}, wordings()...)
}
