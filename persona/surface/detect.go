package surface

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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

// appliesTo reports whether d is for the contract. A session whose modes an
// override collapsed has no mode to keep.
func (d Detector) appliesTo(c contract.Contract) bool {
	return d.Modes == nil || slices.Contains(d.Modes, c.Mode)
}

func (d Detector) findFailures(l look) []contract.Refusal {
	if !d.Structural() || !d.appliesTo(l.c) {
		return nil
	}
	found := d.fail(l)
	for i := range found {
		found[i].Code = d.Name
	}
	return found
}

func (d Detector) findHints(l look) []contract.Hint {
	if d.Structural() || !d.appliesTo(l.c) {
		return nil
	}
	found := d.notice(l)
	for i := range found {
		found[i].Detector = d.Name
	}
	return found
}

// Detectors is the table, structural ones first; a verdict keeps its order.
func Detectors() []Detector { return append(structuralDetectors(), heuristicDetectors()...) }

func inModes(ms ...contract.Mode) []contract.Mode { return ms }

// structuralDetectors lists what reads kinds, markers, schemas, ids and counts.
func structuralDetectors() []Detector {
	return []Detector{
		{Name: "unknown-kind", Trips: "a statement (say) has a kind that the mode does not have, or an unknown marker", fail: unknownKind},
		{Name: "clarifying-question", Trips: "the agent asks a question although nobody is there to answer it", fail: clarifyingQuestion},
		{Name: "unnamed-reversion", Trips: "the agent sends the work back and names no cause", fail: unnamedReversion},
		{Name: "no-deliverable", Trips: "the agent ended without the result that its role owes", fail: noDeliverable},
		{Name: "wrong-deliverable", Trips: "the agent handed over a result of another role", fail: wrongDeliverable},
		{Name: "incomplete-deliverable", Trips: "the result lacks content that it must have", fail: incompleteDeliverable},
		{Name: "outside-findings", Modes: inModes(contract.Resolution), Trips: "the agent repaired something that no finding of its handoff names", fail: outsideFindings},
		{Name: "unanswered-finding", Modes: inModes(contract.Resolution), Trips: "the agent left out a finding of its handoff", fail: unansweredFinding},
		{Name: "against-disposition", Modes: inModes(contract.Resolution), Trips: "the agent changed something for an accepted finding, or gave no reason for a finding that it did not fix", fail: againstDisposition},
		{Name: "too-many-emissions", Trips: "the agent made more statements than this kind of output takes", fail: tooManyEmissions},
	}
}

// heuristicDetectors lists what reads words and proportions.
func heuristicDetectors() []Detector {
	return append([]Detector{
		{Name: "premature-closure", Modes: inModes(contract.Exploration), Trips: "an exploration has more decisions and recommendations than questions and tensions", notice: prematureClosure},
		{Name: "textual-question", Trips: "a statement ends in a question mark, and nobody is there to answer", notice: textualQuestion},
		{Name: "loose-reversion", Trips: "a statement that sends the work back asks more than one question", notice: looseReversion},
		{Name: "metric-laundering", Modes: inModes(contract.Execution), Trips: "the agent says that something is done and does not name it", notice: metricLaundering},
		{Name: "other-artifact", Trips: "the result is about another artifact than the session", notice: otherArtifact},
		{Name: "unchanged-fix", Modes: inModes(contract.Resolution), Trips: "nothing was changed for a finding that should be fixed", notice: unchangedFix},
		{Name: "unmarked-turn", Trips: "a turn of a dialogue has no marker (holding, yielding or done)", notice: unmarkedTurn},
	}, wordingDetectors()...)
}

// wording is a detector that reads words: any of its phrases, whole words in
// any case, in what is said to somebody.
type wording struct {
	name    string
	modes   []contract.Mode
	trips   string
	advice  string
	phrases []string
}

func wordingDetectors() []Detector {
	table := []wording{
		{"speculative-certainty", inModes(contract.Planning), "an assumption is stated as a fact", "mark what is not verified as assumed", []string{
			"certainly", "definitely", "obviously", "undoubtedly", "without a doubt", "guaranteed", "will always", "will never", "cannot fail", "clearly"}},
		{"planning-executes", inModes(contract.Planning), "a plan says that it was carried out", "a plan builds nothing; hand over to a builder", []string{
			"i have built", "i built", "i implemented", "i have implemented", "i created", "i committed", "i changed", "is implemented now"}},
		{"mid-build-pivot", inModes(contract.Execution), "the agent changed its course while building", "note the concern and carry it forward", []string{
			"change of plan", "changing the plan", "different approach", "better approach", "pivot", "pivoting", "switching to", "instead of the plan", "rather than the plan", "decided to use"}},
		{"certification", inModes(contract.Execution, contract.Resolution), "the agent certifies its own work", "claim what was done; a fresh validator says whether it holds", []string{
			"this is fixed", "is now fixed", "are now fixed", "is fixed now", "fully fixed", "verified", "validated", "certified", "lgtm", "passes review"}},
		{"redesign", inModes(contract.Validation), "a finding proposes another design", "report the defect; a design goes back to planning by a reversion", []string{
			"redesign", "redesigned", "rewrite", "rewritten", "rearchitect", "new architecture", "different architecture", "better design", "should be replaced", "start over"}},
		{"inline-fix", inModes(contract.Validation), "a validator says that it repaired something", "a finding is a report, never a patch", []string{
			"i fixed", "i have fixed", "i corrected", "i changed", "i patched", "i updated", "fixed it"}},
		{"new-requirement", inModes(contract.Resolution), "a repair adds something new", "do what the finding's disposition says; what is new goes back by a reversion", []string{
			"new requirement", "while i was there", "while i was at it", "also added", "i also", "in addition", "additionally", "should also", "new feature"}},
		{"voice-words", nil, "the text has words that the rules about voice avoid", "say it plainly", []string{
			"great work, but", "whoopsie", "someone forgot", "i might be wrong, but"}},
	}
	out := make([]Detector, 0, len(table)+1)
	for _, w := range table {
		out = append(out, Detector{Name: w.name, Modes: w.modes, Trips: w.trips, notice: w.noticeWording})
	}
	return append(out, Detector{Name: "alarm", Trips: "the text has CRITICAL with an exclamation mark", notice: noticeAlarm})
}

func (w wording) noticeWording(l look) (out []contract.Hint) {
	for t := range l.walkSaid() {
		if p := findPhrase(*t.s, w.phrases); p != "" {
			out = append(out, contract.Hint{At: t.at, Message: fmt.Sprintf("%q; %s", p, w.advice)})
		}
	}
	return out
}

func noticeAlarm(l look) (out []contract.Hint) {
	for t := range l.walkSaid() {
		for line := range strings.Lines(*t.s) {
			if _, after, ok := strings.Cut(line, "CRITICAL"); ok && strings.Contains(after, "!") {
				out = append(out, contract.Hint{At: t.at, Message: "CRITICAL with an exclamation mark; say what breaks and for whom"})
				break
			}
		}
	}
	return out
}

// findPhrase returns the first of the phrases that s holds as whole words, "" for none.
func findPhrase(s string, phrases []string) string {
	s = strings.ToLower(s)
	for _, p := range phrases {
		for rest, before := s, ""; ; {
			i := strings.Index(rest, p)
			if i < 0 {
				break
			}
			before, rest = rest[:i], rest[i+len(p):]
			l, _ := utf8.DecodeLastRuneInString(before)
			r, _ := utf8.DecodeRuneInString(rest)
			if !unicode.IsLetter(l) && !unicode.IsLetter(r) {
				return p
			}
		}
	}
	return ""
}
