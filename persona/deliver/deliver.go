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

// Synthesis is what exploration found and did not decide.
type Synthesis struct {
	Possibilities []string `json:"possibilities,omitzero"`
	Tensions      []string `json:"tensions,omitzero"`
	Unknowns      []string `json:"unknowns,omitzero"`
	Frames        []string `json:"frames,omitzero"` // competing ways to see it
	Rejected      []string `json:"rejected,omitzero"`
	Entries       []Entry  `json:"entries,omitzero"` // the ledger's own form, optional
}

// Entry is one entry of a synthesis ledger. It holds no decision, requirement
// or acceptance criterion.
type Entry struct {
	Observation   string   `json:"observation,omitzero"`
	Context       string   `json:"context,omitzero"`
	Implication   string   `json:"implication,omitzero"`
	Confidence    string   `json:"confidence,omitzero"` // low, medium or high
	OpenQuestions []string `json:"open_questions,omitzero"`
}

// Plan is what planning commits to, with what would undo it.
type Plan struct {
	Artifact        string   `json:"artifact,omitzero"` // what is to be built: a path, id or uri
	Assumptions     []string `json:"assumptions,omitzero"`
	ScopeIn         []string `json:"scope_in,omitzero"`
	ScopeOut        []string `json:"scope_out,omitzero"`
	Deferred        []string `json:"deferred,omitzero"`
	WouldInvalidate []string `json:"would_invalidate,omitzero"`
	Steps           []string `json:"steps,omitzero"`
}

// Claims is what a builder says of what it built, and no more.
type Claims struct {
	Artifact string   `json:"artifact,omitzero"`
	Does     []string `json:"does,omitzero"`
	DoesNot  []string `json:"does_not,omitzero"`
	Scope    string   `json:"scope,omitzero"` // what it was built against
	Evidence []string `json:"evidence,omitzero"`
}

// Findings is a validator's report on one artifact. Counts and the verdict are
// recomputed from the list, never taken from the session.
type Findings struct {
	Artifact string    `json:"artifact,omitzero"`
	Findings []Finding `json:"findings,omitzero"`
}

// Finding is one finding.
type Finding struct {
	ID             string         `json:"id,omitzero"`       // F1, F2 … given by odd when absent
	Location       string         `json:"location,omitzero"` // path, path:line or path:line-line
	Claim          string         `json:"claim,omitzero"`    // what is said to hold
	Evidence       string         `json:"evidence,omitzero"` // what was seen instead
	Classification Classification `json:"classification,omitzero"`
	Disposition    Disposition    `json:"disposition,omitzero"`
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
	Artifact string   `json:"artifact,omitzero"` // the revised one
	Remedies []Remedy `json:"remedies,omitzero"`
}

// Remedy answers one finding. Changed is empty where nothing was changed, and
// then Why says why not.
type Remedy struct {
	Finding string   `json:"finding,omitzero"` // its id
	Changed []string `json:"changed,omitzero"` // paths or ids, what changed there
	Why     string   `json:"why,omitzero"`
}

// Commentary is what an observer says; it hands over to nobody.
type Commentary struct {
	Says []string `json:"says,omitzero"`
}
