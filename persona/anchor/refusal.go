package anchor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// problemsOf returns the problems that an error carries, else one of a code at a place
// with its text.
func problemsOf(err error, code Code, at string) []Problem {
	var r Refusal
	if errors.As(err, &r) && len(r) > 0 {
		return r
	}
	return []Problem{{Code: code, At: at, Text: okf.Visible(err.Error())}}
}

// firstProblem returns the first problem of an error of reading.
func firstProblem(err error) Problem { return problemsOf(err, Damaged, "state")[0] }

// persistProblem says that a record could not be written.
func persistProblem(err error) Problem {
	return Problem{Code: Persist, At: "state", Text: "the record could not be written, and the session is as it was: " + err.Error(), Want: "room on the disk and a directory that can be written; then call again"}
}

// Refusal is every problem of a call that gives a value, as one error.
type Refusal []Problem

// Error writes the problems one a line: where, the code, what, and what was expected.
func (r Refusal) Error() string {
	lines := make([]string, len(r))
	for i, p := range r {
		lines[i] = fmt.Sprintf("%s: %s: %s", p.At, p.Code, p.Text)
		if p.Want != "" {
			lines[i] += "; expected " + p.Want
		}
	}
	return strings.Join(lines, "\n")
}

// Refused returns the first code.
func (r Refusal) Refused() string {
	if len(r) == 0 {
		return ""
	}
	return string(r[0].Code)
}
