// Package deliver is what a session hands over, by contract role: an explorer's
// synthesis, a planner's plan, a builder's claims, a validator's findings, a
// resolver's remediation, an observer's commentary.
//
// A deliverable is one JSON object with a schema, strictly decoded. What it
// must hold is the minimum content of the transition that follows it (canon:
// mode transitions require encoded handoff); Missing lists what is not there.
// Every text of a deliverable is either for machines (paths, ids, enums) or for
// people; Texts visits them so that a surface can clean each as what it is.
//
// A list that is absent (nil) and one that is empty are two things: an empty
// list that is written says "none", and counts as said where none is an answer.
//
// # Promises
//
//  1. Decode reports every defect with its line, and never panics.
//  2. Decode of Encode is the deliverable again; Encode of one value is one text.
//  3. Summarize counts the findings themselves; no count a session states is read.
//
// Nothing here judges quality. A deliverable that holds its minimum may still
// be thin; only who receives it can say so (handoff_insufficient).
package deliver

import (
	"fmt"
	"slices"
	"strings"
)

// The schemas, one a role.
const (
	SchemaSynthesis   = "odd.synthesis.1"   // explorer
	SchemaPlan        = "odd.plan.1"        // planner
	SchemaClaims      = "odd.claims.1"      // builder
	SchemaFindings    = "odd.findings.1"    // validator
	SchemaRemediation = "odd.remediation.1" // resolver
	SchemaCommentary  = "odd.commentary.1"  // observer
)

// Schemas lists them in that order.
func Schemas() []string {
	return []string{SchemaSynthesis, SchemaPlan, SchemaClaims, SchemaFindings, SchemaRemediation, SchemaCommentary}
}

// Deliverable is one of the six; Schema says which member is set.
type Deliverable struct {
	Schema      string
	Synthesis   *Synthesis
	Plan        *Plan
	Claims      *Claims
	Findings    *Findings
	Remediation *Remediation
	Commentary  *Commentary
}

// The tags of a member say how it is read and what of it is asked for: need is
// "said" for a list that is written, an empty one for "none", and "filled" for a
// text or list with something in it; why says it in words; machine marks a text
// that code parses; enum are the words it may be; twice is said of an id that
// stands again.

// Synthesis is what exploration found and did not decide.
type Synthesis struct {
	Possibilities []string `json:"possibilities,omitzero" need:"filled" why:"what could be done; at least one"`
	Tensions      []string `json:"tensions,omitzero" need:"said" why:"what pulls against what; [] for none"`
	Unknowns      []string `json:"unknowns,omitzero" need:"said" why:"what nobody knows yet; [] for none"`
	Frames        []string `json:"frames,omitzero" need:"said" why:"competing ways to see it; [] for none"`
	Rejected      []string `json:"rejected,omitzero"`
	Entries       []Entry  `json:"entries,omitzero"` // the ledger's own form, optional
}

// Entry is one entry of a synthesis ledger. It holds no decision, requirement
// or acceptance criterion.
type Entry struct {
	Observation   string   `json:"observation,omitzero" need:"filled" why:"what was seen"`
	Context       string   `json:"context,omitzero" need:"filled" why:"where and under what conditions"`
	Implication   string   `json:"implication,omitzero" need:"filled" why:"what it may mean"`
	Confidence    string   `json:"confidence,omitzero" need:"filled" machine:"true" enum:"low medium high" why:"low, medium or high"`
	OpenQuestions []string `json:"open_questions,omitzero" need:"said" why:"what stays open; [] for none"`
}

// Plan is what planning commits to, with what would undo it.
type Plan struct {
	Artifact        string   `json:"artifact,omitzero" need:"filled" machine:"true" why:"what is to be built: a path, id or uri"`
	Assumptions     []string `json:"assumptions,omitzero" need:"filled" why:"what is taken for granted; at least one"`
	ScopeIn         []string `json:"scope_in,omitzero" need:"filled" why:"what is to be done; where it names files, no other file may be changed; at least one"`
	ScopeOut        []string `json:"scope_out,omitzero" need:"said" why:"what is not to be done; [] for none"`
	Deferred        []string `json:"deferred,omitzero" need:"said" why:"what is put off; [] for none"`
	WouldInvalidate []string `json:"would_invalidate,omitzero" need:"filled" why:"what would undo the plan; at least one"`
	Steps           []string `json:"steps,omitzero"`
}

// Claims is what a builder says of what it built, and no more.
type Claims struct {
	Artifact string   `json:"artifact,omitzero" need:"filled" machine:"true" why:"what was built: a path, id or uri"`
	Does     []string `json:"does,omitzero" need:"filled" why:"what it does; at least one"`
	DoesNot  []string `json:"does_not,omitzero" need:"said" why:"what it does not do; [] for nothing to name"`
	Scope    string   `json:"scope,omitzero" need:"filled" why:"the scope it was built against"`
	Evidence []string `json:"evidence,omitzero" machine:"true"`
}

// Findings is a validator's report on one artifact. Counts and the verdict are
// recomputed from the list, never taken from the session.
type Findings struct {
	Artifact string    `json:"artifact,omitzero" need:"filled" machine:"true" why:"what was reviewed: a path, id or uri"`
	Findings []Finding `json:"findings,omitzero" need:"said" why:"what was found; [] for nothing"`
}

// Finding is one finding.
type Finding struct {
	ID             string         `json:"id,omitzero" machine:"true" twice:"the id %s stands twice"` // F1, F2 … given by odd when absent
	Location       string         `json:"location,omitzero" need:"filled" machine:"true" why:"path, path:line or path:line-line"`
	Claim          string         `json:"claim,omitzero" need:"filled" why:"what is said to hold"` // what is said to hold
	Evidence       string         `json:"evidence,omitzero" need:"filled" why:"what was seen instead"`
	Classification Classification `json:"classification,omitzero" need:"filled" machine:"true" enum:"blocker finding caveat" why:"blocker, finding or caveat"`
	Disposition    Disposition    `json:"disposition,omitzero" need:"filled" machine:"true" enum:"fix pivot accept" why:"fix, pivot or accept"`
	Suggestion     string         `json:"suggestion,omitzero"`
}

// Classification is how much a finding weighs.
type Classification string

// The classifications. A blocker that is not accepted fails an audit.
const (
	Blocker Classification = "blocker"
	Defect  Classification = "finding"
	Caveat  Classification = "caveat"
)

// Disposition is what is to become of a finding.
type Disposition string

// The dispositions.
const (
	Fix    Disposition = "fix"
	Pivot  Disposition = "pivot"
	Accept Disposition = "accept"
)

// Remediation is what a resolver did, finding by finding.
type Remediation struct {
	Artifact string   `json:"artifact,omitzero" need:"filled" machine:"true" why:"the revised artifact: a path, id or uri"`
	Remedies []Remedy `json:"remedies,omitzero" need:"filled" why:"what became of each finding; at least one"`
}

// Remedy answers one finding. Changed is empty where nothing was changed, and
// then Why says why not.
type Remedy struct {
	Finding string   `json:"finding,omitzero" need:"filled" machine:"true" twice:"the finding %s is answered twice" why:"the id of the finding it answers"`
	Changed []string `json:"changed,omitzero" need:"filled" machine:"true" why:"what was changed, or why: the reason for no change"`
	Why     string   `json:"why,omitzero"`
}

// Commentary is what an observer says; it hands over to nobody.
type Commentary struct {
	Says []string `json:"says,omitzero" need:"filled" why:"what was noticed; at least one"`
}

// Say is one emission of a session: something said while it worked, or one turn
// of a dialogue. Kind is the mode's word for it: in exploration question,
// possibility, tension, frame, synthesis-ledger-entry, and decision or
// recommendation, which count against it; in execution assertion, reversion,
// tool_call_request, progress. Marker is the turn control under the engagement
// assistant: holding, yielding or done.
type Say struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Marker string `json:"marker,omitempty"`
}

// Kinds lists every kind a say may have, exploration's first.
func Kinds() []string {
	return []string{"question", "possibility", "tension", "frame", "synthesis-ledger-entry", "decision", "recommendation",
		"assertion", "reversion", "tool_call_request", "progress"}
}

// Markers lists the turn controls.
func Markers() []string { return []string{"holding", "yielding", "done"} }

// Check says what is wrong with the say, nil when nothing is.
func (s Say) Check() error {
	switch {
	case !slices.Contains(Kinds(), s.Kind):
		return fmt.Errorf("unknown kind %q; the kinds are %s", s.Kind, strings.Join(Kinds(), ", "))
	case s.Marker != "" && !slices.Contains(Markers(), s.Marker):
		return fmt.Errorf("unknown marker %q; the markers are %s", s.Marker, strings.Join(Markers(), ", "))
	case Blank(s.Text):
		return fmt.Errorf("a say of kind %s without a text", s.Kind)
	}
	return nil
}

// Classifications lists them, the heaviest first.
func Classifications() []string {
	return []string{string(Blocker), string(Defect), string(Caveat)}
}

// Dispositions lists them, the one that asks for most first.
func Dispositions() []string { return []string{string(Fix), string(Pivot), string(Accept)} }

// Verdict is what a list of findings comes to.
type Verdict string

// The verdicts.
const (
	Pass             Verdict = "pass"
	Fail             Verdict = "fail"
	NeedsHumanReview Verdict = "needs_human_review"
)

// Summary counts findings. A finding without a known classification or
// disposition counts as unrated.
type Summary struct {
	Total            int                    `json:"total"`
	ByClassification map[Classification]int `json:"by_classification"` // all three, zeros too
	ByDisposition    map[Disposition]int    `json:"by_disposition"`    // all three, zeros too
	Unrated          int                    `json:"unrated"`
	Verdict          Verdict                `json:"verdict"`
}

// Summarize counts the findings and judges them: fail when a blocker is not
// accepted; needs_human_review when a blocker is accepted (a person's to wave
// through, not a session's), when a finding is unrated, or when one asks for a
// pivot; pass otherwise. It looks at nothing but the list.
func Summarize(fs []Finding) Summary {
	s := Summary{Total: len(fs), Verdict: Pass,
		ByClassification: map[Classification]int{Blocker: 0, Defect: 0, Caveat: 0},
		ByDisposition:    map[Disposition]int{Fix: 0, Pivot: 0, Accept: 0},
	}
	for _, f := range fs {
		_, weighed := s.ByClassification[f.Classification]
		_, disposed := s.ByDisposition[f.Disposition]
		if weighed {
			s.ByClassification[f.Classification]++
		}
		if disposed {
			s.ByDisposition[f.Disposition]++
		}
		switch {
		case f.Classification == Blocker && f.Disposition != Accept:
			s.Verdict = Fail
		case s.Verdict == Fail:
		case f.Classification == Blocker, f.Disposition == Pivot, !weighed, !disposed:
			s.Verdict = NeedsHumanReview
		}
		if !weighed || !disposed {
			s.Unrated++
		}
	}
	return s
}
