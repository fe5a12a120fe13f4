// Package refusal is the error of a rule that says no: odd prints its text, and its code names the
// page of odd explain that says more.
package refusal

import "fmt"

// Refusal is what a rule says no with.
type Refusal struct {
	Code string // "dirty", "shallow", "ahead", "not-a-person", …
	Text string // what is wrong, and the way out
}

// New returns a refusal.
func New(code, format string, args ...any) error {
	return &Refusal{code, fmt.Sprintf(format, args...)}
}

// Error returns the text.
func (r *Refusal) Error() string { return r.Text }

// Refused returns the reason code.
func (r *Refusal) Refused() string { return r.Code }
