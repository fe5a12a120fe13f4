package deliver

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

// Decode reads a deliverable strictly: one JSON object, its schema one of
// Schemas, no unknown key, no key twice. What is missing is not an error here.
func Decode(schema string, text []byte) (Deliverable, error) { return Deliverable{Schema: schema}, nil }

// Missing lists the minimum content that is not there, by key; it is empty for
// a complete deliverable.
func (d Deliverable) Missing() []string { return nil }

// Text is one text of a deliverable. At is its place, "findings[0].claim".
type Text struct {
	At      string
	Machine bool
	S       *string
}

// Texts lists every text of d, in the order of its keys.
func (d *Deliverable) Texts() []Text { return nil }
