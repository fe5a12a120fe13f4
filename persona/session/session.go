// Package session runs one bounded session over a substrate and owns the Emission type.
package session

import (
	"context"
	"io/fs"
	"time"

	"github.com/odd-cli/odd/okf"
)

// Atom is one emitted atom: its text, the blob it was made against ("" for a new one), where it stood in the emission.
type Atom struct {
	Atom okf.Atom
	Base string
	At   string
}

// Outcome is what the session declared.
type Outcome string

// The outcomes. Failed carries a name in Emission.Failure.
const (
	Completed           Outcome = "completed"
	Failed              Outcome = "failed"
	HandoffInsufficient Outcome = "handoff_insufficient"
	Refused             Outcome = "refused"
)

// Usage is what a session cost. CostKnown false means: charge the reserved maximum.
type Usage struct {
	Turns     int
	Cost      int64 // micro-USD
	CostKnown bool
	Model     string
}

// Finding is one observation in the journal's sense (letter, facet, title, content).
type Finding struct{ Type, Facet, Title, Content string }

// Emission is everything a session hands back.
type Emission struct {
	Atoms      []Atom
	HasChange  bool // a change was emitted; refused by name until the pipeline exists
	Findings   []Finding
	Handoff    string
	Usage      Usage
	Outcome    Outcome
	Failure    string // name of the failure, e.g. "timeout", "malformed", "exit"
	Detail     string
	Raw        []byte // what the substrate said, for the run tree (capped, not yet redacted)
	Transcript []byte
}

// Request is all a substrate gets.
type Request struct {
	Run, Task  string
	Brief      []byte
	Inputs     []string   // paths and globs of the task, repository-relative
	Files      fs.FS      // the pinned base commit, read-only
	Graph      *okf.Graph // the bundle at the base
	BundleRoot string     // "knowledge"
	By         string     // generated.by
	Now        time.Time
	MaxTurns   int
	MaxCost    int64 // micro-USD
	Timeout    time.Duration
	MaxAtoms   int
	Turn       func() error // called before every turn; an error ends the session with outcome failed
	Progress   func(string)
}

// Substrate runs a session. Run returns an error only for a fault of odd's own; a failing agent is an Emission with a Failure.
type Substrate interface {
	Run(ctx context.Context, r Request) (Emission, error)
}

// Parse reads the fenced blocks of a text emission (DESIGN §5.5). Every bad block is a located problem and then nothing is returned.
func Parse(text []byte) (Emission, []okf.Problem) { return Emission{}, nil }

// Redact replaces credential shapes before anything is written.
func Redact(b []byte) []byte { return b }
