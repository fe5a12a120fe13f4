// Package irongate judges what a machine wants to do: the bytes of a change, the
// path it writes, the command it runs. It is pure: the same input gives the same
// verdict, and no text a model wrote can talk to it.
//
// # Promises
//
//  1. A verdict comes from bytes, paths and syntax trees, never from what prose
//     says about them.
//  2. A change is compared with the bytes at its base, never with nothing: what
//     was already there is not its doing.
//  3. What cannot be read is refused, not passed: a file of a known language that
//     does not parse, a command line that does not parse, a path that does not
//     resolve by its letters alone.
//  4. Every finding says where, what and the way out, by a code that never
//     changes its meaning, and how it was found: by a syntax tree or by text.
//  5. Configuration may add to what is protected and never take from it.
package irongate

import "fmt"

// File is one file of a change, by its repository path with slashes. A nil
// Before is a new file, a nil After a deleted one; empty is not nil. A rename is
// one of each.
type File struct {
	Path   string
	Before []byte // at the change's base
	After  []byte // as the change would leave it
}

// Severity says what a finding does: a hard one refuses or sends to a person, a
// soft one only raises the tier.
type Severity string

// The severities.
const (
	Hard Severity = "hard"
	Soft Severity = "soft"
)

// How a finding was made.
type How string

// The ways, from the surest.
const (
	ByBytes  How = "bytes"  // sizes, code points, hashes
	BySyntax How = "syntax" // a parser of the file's own language
	ByText   How = "text"   // a pattern: no parser of the language is at hand
)

// Finding is one thing that is wrong, with where it is and the way out.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	How      How      `json:"how"`
	Path     string   `json:"path,omitempty"`
	Line     int      `json:"line,omitempty"` // from 1; 0 is the whole file
	Text     string   `json:"text"`           // what is wrong
	Fix      string   `json:"fix"`            // the way out
}

// Error writes the finding on one line, place first.
func (f Finding) Error() string {
	at := ""
	switch {
	case f.Path != "" && f.Line > 0:
		at = fmt.Sprintf("%s:%d: ", f.Path, f.Line)
	case f.Path != "":
		at = f.Path + ": "
	}
	return fmt.Sprintf("%s%s: %s; %s", at, f.Code, f.Text, f.Fix)
}
