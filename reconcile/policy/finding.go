// Package policy judges what a machine wants to do to a repository: the path it
// writes and the command it runs. It is pure: the same input gives the same
// findings, and no text a model wrote can talk to it.
//
// A [Grant] is what one session may do. Whatever carries out an agent's calls makes an
// [Action] of each, and asks [Grant.Allow].
//
// # Promises
//
//  1. A verdict comes from letters, paths and syntax trees, never from what prose
//     says about them.
//  2. What cannot be read is refused, not passed: a command line that does not
//     parse, a path that does not resolve by its letters alone.
//  3. Every finding says where, what and the way out, by a code that never
//     changes its meaning, and how it was found: by a syntax tree or by text.
//  4. Configuration may add to what is protected and never take from it.
package policy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

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
	return fmt.Sprintf("%s%s: %s; %s", f.at(), f.Code, f.Text, f.Fix)
}

// Sentence is the finding for a person, with its code last. A text that begins with the path is not given it twice.
func (f Finding) Sentence() string {
	return fmt.Sprintf("%s%s; %s [%s]", f.at(), strings.TrimPrefix(f.Text, strconv.Quote(f.Path)+" "), f.Fix, f.Code)
}

func (f Finding) at() string {
	switch {
	case f.Path != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d: ", f.Path, f.Line)
	case f.Path != "":
		return f.Path + ": "
	}
	return ""
}

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
	if no, ok := errors.AsType[*Refusal](err); ok {
		return no.Code
	}
	return ""
}
