package policy

import (
	"errors"
	"fmt"
	"strings"
)

// Refusal is a no to an action. Code never changes its meaning.
type Refusal struct {
	Code, Why, Remedy string
	Findings          []Finding // what the rules found, where a rule about paths or commands refuses
	cause             error
}

// Unwrap returns why the permit does not hold.
func (r *Refusal) Unwrap() error { return r.cause }

// Error says why, the way out, and the code.
func (r *Refusal) Error() string { return r.Text() + " [" + r.Code + "]" }

// Text says why, and the way out.
func (r *Refusal) Text() string {
	if r.Remedy == "" {
		return r.Why
	}
	return r.Why + "; " + r.Remedy
}

// Refused returns the code.
func (r *Refusal) Refused() string { return r.Code }

// Refuse returns a refusal. The remedy is what stands behind the first "; " of the text.
func Refuse(code, format string, args ...any) *Refusal {
	why, remedy, _ := strings.Cut(fmt.Sprintf(format, args...), "; ")
	return &Refusal{Code: code, Why: why, Remedy: remedy}
}

// refuseFor is a refusal for what rules found, a line each.
func refuseFor(code, before string, found []Finding, say func(Finding) string) *Refusal {
	if len(found) == 0 {
		return nil
	}
	var lines []string
	for _, f := range found {
		lines = append(lines, say(f))
	}
	return &Refusal{Code: code, Why: before + strings.Join(lines, "\n"), Findings: found}
}

// CodeOf returns the code of a refusal, "" of any other error.
func CodeOf(err error) string {
	var no *Refusal
	if errors.As(err, &no) {
		return no.Code
	}
	return ""
}
