package surface

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// whole is a complete deliverable of each mode, "" a commentary.
func whole(m contract.Mode) *deliver.Deliverable {
	none := []string{}
	switch m {
	case contract.Exploration:
		return &deliver.Deliverable{Schema: deliver.SchemaSynthesis, Synthesis: &deliver.Synthesis{Possibilities: []string{"tide tables"}, Tensions: none, Unknowns: none, Frames: none}}
	case contract.Planning:
		return &deliver.Deliverable{Schema: deliver.SchemaPlan, Plan: &deliver.Plan{Artifact: "terms/tide.md", Assumptions: []string{"the almanac is this year's"}, ScopeIn: []string{"the term"}, ScopeOut: none, Deferred: none, WouldInvalidate: []string{"a new almanac"}}}
	case contract.Execution:
		return &deliver.Deliverable{Schema: deliver.SchemaClaims, Claims: &deliver.Claims{Artifact: "terms/tide.md", Does: []string{"defines the term"}, DoesNot: none, Scope: "the plan", Evidence: []string{"terms/tide.md:3"}}}
	case contract.Validation:
		return &deliver.Deliverable{Schema: deliver.SchemaFindings, Findings: &deliver.Findings{Artifact: "terms/tide.md", Findings: []deliver.Finding{{ID: "F1", Location: "terms/tide.md:3", Claim: "it names a source", Evidence: "it names none", Classification: deliver.Defect, Disposition: deliver.Fix}}}}
	case contract.Resolution:
		return &deliver.Deliverable{Schema: deliver.SchemaRemediation, Remediation: &deliver.Remediation{Artifact: "terms/tide.md", Remedies: []deliver.Remedy{
			{Finding: "F1", Changed: []string{"terms/tide.md"}, Why: "names the almanac"}, {Finding: "F2", Why: "accepted"}, {Finding: "F3", Changed: []string{"terms/ebb.md"}, Why: "a term of its own"},
		}}}
	}
	return &deliver.Deliverable{Schema: deliver.SchemaCommentary, Commentary: &deliver.Commentary{Says: []string{"two terms overlap"}}}
}

// scene is a session that trips nothing, to be changed by a case.
func scene(m contract.Mode, change func(*contract.Contract, *Output)) (contract.Contract, Output) {
	o := Output{Deliverable: whole(m)}
	c := contract.Contract{Mode: m, Engagement: contract.Agent, Voice: contract.VoicePersona, Deliverable: o.Deliverable.Schema, Artifact: "terms/tide.md"}
	if m == contract.Resolution {
		c.Handoffs = []contract.Handoff{{Findings: map[string]deliver.Disposition{"F1": deliver.Fix, "F2": deliver.Accept, "F3": deliver.Pivot}}}
	}
	change(&c, &o)
	return c, o
}

type change = func(*contract.Contract, *Output)

// says adds says of one kind.
func says(kind string, texts ...string) change {
	return func(_ *contract.Contract, o *Output) {
		for _, s := range texts {
			o.Says = append(o.Says, deliver.Say{Kind: kind, Text: s})
		}
	}
}

func all(cs ...change) change {
	return func(c *contract.Contract, o *Output) {
		for _, f := range cs {
			f(c, o)
		}
	}
}

func marked(m string) change {
	return func(_ *contract.Contract, o *Output) { o.Says[len(o.Says)-1].Marker = m }
}

func nothing(*contract.Contract, *Output)                {}
func assistant(c *contract.Contract, _ *Output)          { c.Engagement = contract.Assistant }
func withoutDeliverable(_ *contract.Contract, o *Output) { o.Deliverable = nil }

func surfaced(s contract.SurfaceRule) change {
	return func(c *contract.Contract, _ *Output) { c.Surface = s }
}

func remedy(r deliver.Remedy) change {
	return func(_ *contract.Contract, o *Output) {
		rs := o.Deliverable.Remediation.Remedies
		i := slices.IndexFunc(rs, func(x deliver.Remedy) bool { return x.Finding == r.Finding })
		if i < 0 {
			o.Deliverable.Remediation.Remedies = append(rs, r)
		} else {
			rs[i] = r
		}
	}
}

// drill is one input that trips a detector and one near it that does not.
type drill struct {
	mode         contract.Mode
	trips, quiet change
}

func structuralDrills() map[string]drill {
	return map[string]drill{
		"unknown-kind":        {contract.Execution, says("possibility", "a tide table"), says("assertion", "terms/tide.md defines it")},
		"clarifying-question": {contract.Execution, says("question", "Which almanac?"), all(assistant, says("question", "Which almanac?"))},
		"unnamed-reversion":   {contract.Execution, says("reversion", " "), says("reversion", "The plan names no almanac; which one binds?")},
		"no-deliverable":      {contract.Validation, withoutDeliverable, all(withoutDeliverable, assistant, says("progress", "still reading"), marked("holding"))},
		"wrong-deliverable":   {contract.Validation, func(_ *contract.Contract, o *Output) { o.Deliverable = whole(contract.Planning) }, nothing},
		"incomplete-deliverable": {contract.Planning, func(_ *contract.Contract, o *Output) { o.Deliverable.Plan.Assumptions = nil },
			func(_ *contract.Contract, o *Output) { o.Deliverable.Plan.Deferred = []string{} }},
		"outside-findings": {contract.Resolution, remedy(deliver.Remedy{Finding: "F9", Why: "seen on the way"}), nothing},
		"unanswered-finding": {contract.Resolution, func(_ *contract.Contract, o *Output) {
			o.Deliverable.Remediation.Remedies = o.Deliverable.Remediation.Remedies[:2]
		}, nothing},
		"against-disposition": {contract.Resolution, remedy(deliver.Remedy{Finding: "F2", Changed: []string{"terms/tide.md"}, Why: "better so"}),
			remedy(deliver.Remedy{Finding: "F1", Why: "the claim does not hold"})},
		"too-many-emissions": {"", all(surfaced(contract.SurfaceRule{MaxEmissions: 2}), says("progress", "one", "two")),
			all(surfaced(contract.SurfaceRule{MaxEmissions: 2}), says("progress", "one"))},
	}
}

func heuristicDrills() map[string]drill {
	return map[string]drill{
		"premature-closure": {contract.Exploration, all(says("decision", "tables"), says("recommendation", "tables"), says("question", "whose tables?")),
			all(says("decision", "tables"), says("tension", "tables go stale"))},
		"textual-question":  {contract.Execution, says("progress", "which almanac binds?"), says("progress", "reading a.md?plain=1 and go on")},
		"loose-reversion":   {contract.Execution, says("reversion", "Which almanac? And whose?"), says("reversion", "Which almanac?")},
		"metric-laundering": {contract.Execution, says("assertion", "The work is done."), says("assertion", "The work on terms/tide.md is done.")},
		"other-artifact":    {contract.Validation, func(_ *contract.Contract, o *Output) { o.Deliverable.Findings.Artifact = "terms/ebb.md" }, nothing},
		"unchanged-fix":     {contract.Resolution, remedy(deliver.Remedy{Finding: "F1", Why: "the claim does not hold"}), nothing},
		"unmarked-turn":     {contract.Execution, all(assistant, says("progress", "reading")), all(assistant, says("progress", "reading"), marked("holding"))},

		"speculative-certainty": {contract.Planning, says("assertion", "This will always work"), says("assertion", "Assumed: it works. Unclearly put.")},
		"planning-executes":     {contract.Planning, says("assertion", "I implemented the term"), says("assertion", "the term is to be written")},
		"mid-build-pivot":       {contract.Execution, says("progress", "a better approach came up"), says("progress", "noted a concern for later")},
		"certification":         {contract.Resolution, says("assertion", "This is fixed"), says("assertion", "changed terms/tide.md for F1")},
		"redesign":              {contract.Validation, says("assertion", "It needs a redesign"), says("assertion", "line 3 names no source")},
		"inline-fix":            {contract.Validation, says("assertion", "I fixed line 3"), says("assertion", "line 3 is to be fixed")},
		"new-requirement":       {contract.Resolution, says("assertion", "I also added a term"), says("assertion", "changed the term for F1")},
		"voice-words":           {"", says("progress", "Great work, but no"), says("progress", "great work; buttons next")},
		"alarm":                 {"", says("progress", "CRITICAL: it leaks!"), says("progress", "critical path!\nCRITICAL, on its own line")},
	}
}

// found lists the detectors a verdict names.
func found(v Verdict) (failed, hinted []string) {
	for _, f := range v.Failures {
		failed = append(failed, f.Code)
	}
	for _, h := range v.Hints {
		hinted = append(hinted, h.Detector)
	}
	return failed, hinted
}

// Every detector has an input that trips it and one that does not; a heuristic
// one trips without failing anything.
func TestEveryDetector(t *testing.T) {
	t.Parallel()
	fails, hints := structuralDrills(), heuristicDrills()
	for _, d := range Detectors() {
		drills := hints
		if d.Structural() {
			drills = fails
		}
		x, ok := drills[d.Name]
		if !ok {
			t.Errorf("%s: no drill", d.Name)
			continue
		}
		delete(drills, d.Name)
		_, v := Judge(scene(x.mode, x.trips))
		failed, hinted := found(v)
		switch {
		case d.Structural() && (!slices.Contains(failed, d.Name) || v.Failure == "" || v.Detail == ""):
			t.Errorf("%s: does not fail: %+v", d.Name, v)
		case !d.Structural() && (!slices.Contains(hinted, d.Name) || v.Failure != ""):
			t.Errorf("%s: want a hint and no failure: %+v", d.Name, v)
		}
		_, v = Judge(scene(x.mode, x.quiet))
		failed, hinted = found(v)
		if slices.Contains(failed, d.Name) || slices.Contains(hinted, d.Name) || d.Structural() && v.Failure != "" {
			t.Errorf("%s: is not quiet: %+v", d.Name, v)
		}
		if d.Trips == "" || d.notice != nil && d.fail != nil || d.notice == nil && d.fail == nil {
			t.Errorf("%s: a detector says what trips it and has one way to speak", d.Name)
		}
	}
	if len(fails)+len(hints) > 0 {
		t.Errorf("drills for no detector: %v %v", fails, hints)
	}
}

// A whole session of each mode is quiet, and a detector of one mode is quiet in all others.
func TestQuietScenes(t *testing.T) {
	t.Parallel()
	for _, m := range []contract.Mode{contract.Exploration, contract.Planning, contract.Execution, contract.Validation, contract.Resolution, ""} {
		if _, v := Judge(scene(m, nothing)); len(v.Failures)+len(v.Hints)+len(v.Excess)+len(v.Changes) > 0 {
			t.Errorf("%q: %+v", m, v)
		}
	}
	for _, d := range wordingDetectors() {
		if d.Modes == nil {
			continue
		}
		x := heuristicDrills()[d.Name]
		c, o := scene("", x.trips)
		if _, v := Judge(c, o); len(v.Hints) > 0 {
			t.Errorf("%s speaks without its mode: %+v", d.Name, v.Hints)
		}
	}
}

// Whatever is said, only a structural detector fails it, and the first of the
// failures is the verdict's.
func TestOnlyStructureFails(t *testing.T) {
	t.Parallel()
	structure := map[string]bool{}
	for _, d := range Detectors() {
		structure[d.Name] = d.Structural()
	}
	var phrases []string
	for _, x := range []string{"verified redesign pivot?", "I also fixed it.", "definitely done", "CRITICAL!", "Whoopsie 🎉🦦🌊🗼", "I built it"} {
		phrases = append(phrases, x, strings.ToUpper(x))
	}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]contract.Mode{contract.Exploration, contract.Planning, contract.Execution, contract.Validation, contract.Resolution, ""}).Draw(t, "mode")
		c, o := scene(m, nothing)
		c.Engagement = rapid.SampledFrom([]contract.Engagement{contract.Agent, contract.Assistant}).Draw(t, "engagement")
		for range rapid.IntRange(0, 6).Draw(t, "says") {
			o.Says = append(o.Says, deliver.Say{
				Kind:   rapid.SampledFrom(append(deliver.Kinds(), "", "shout")).Draw(t, "kind"),
				Text:   rapid.SampledFrom(phrases).Draw(t, "text"),
				Marker: rapid.SampledFrom(append(deliver.Markers(), "", "over")).Draw(t, "marker"),
			})
		}
		_, v := Judge(c, o)
		failed, hinted := found(v)
		for _, n := range failed {
			if !structure[n] {
				t.Fatalf("%s failed: %+v", n, v)
			}
		}
		for _, n := range hinted {
			if is, known := structure[n]; is || !known {
				t.Fatalf("%s hinted: %+v", n, v)
			}
		}
		if (v.Failure == "") != (failed == nil) || v.Failure != "" && v.Failure != failed[0] {
			t.Fatalf("failure %q of %v", v.Failure, failed)
		}
	})
}
