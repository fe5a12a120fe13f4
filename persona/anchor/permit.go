package anchor

// Verdict says whether a session's permit holds now.
type Verdict struct {
	Valid    bool      `json:"valid"`
	Token    string    `json:"token"`
	Errors   []Problem `json:"errors,omitempty"`   // why not: the first step that failed
	Warnings []Problem `json:"warnings,omitempty"` // HEAD moved on, a cited line changed, a file changed
	Permit   *Permit   `json:"permit,omitempty"`   // nil unless its MAC holds
	Anchor   *Anchor   `json:"anchor,omitempty"`   // nil unless its MAC holds
}

// HasValid asks, in this order and stopping at the first no: is it a token, is
// there a work tree, is it active, has it an anchor, does that read, is it
// validated, is it ours (MAC), is it the role asked for ("" is any), has it not
// expired, is it on its branch, is its constitution unchanged, has HEAD only
// moved on. It takes no lock and writes nothing.
func (d Desk) HasValid(token, role string) Verdict {
	return Verdict{Token: token, Errors: refused("", token).Errors}
}

// Verify is HasValid, and what has changed since: the members of the ARM and
// the lines that were cited, as warnings.
func (d Desk) Verify(token string) Verdict { return d.HasValid(token, "") }

// Permits judges every active session, by HasValid; with a harness's session
// id, only those that it opened. Sorted by token.
func (d Desk) Permits(harness string) ([]Verdict, error) { return nil, nil }

// Covers says whether the permit lets its session write the slash-separated
// path below the work tree, and if not why: a glob of Deny matches it, or none
// of Allow does where there are some. What no session may write (World.Protected)
// is not its concern.
func (p Permit) Covers(path string) (Problem, bool) {
	return Problem{Code: OutsidePaths, At: path, Text: "the permit covers no path"}, false
}
