package pipeline

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Dossier is what a run keeps of an op for the person who decides about it,
// beside its records and in the same words: why the change was made as it is,
// what was found, what the checks said. It is data that a session's words are
// part of; no rule reads it.
type Dossier struct {
	Op        string           `json:"op"`
	Rationale string           `json:"rationale,omitempty"` // the session's words
	Source    string           `json:"source,omitempty"`    // one of the From words
	Tier      string           `json:"tier,omitempty"`
	Because   []string         `json:"because,omitempty"` // of the tier, a line each
	Findings  []policy.Finding `json:"findings,omitempty"`
	Checks    []Checked        `json:"checks,omitempty"`
}

// Checked is one check of the candidate, or of the commit that would land.
type Checked struct {
	Phase  Phase  `json:"phase"`
	Says   string `json:"says"` // a line
	Passed bool   `json:"passed"`
	Held   string `json:"sandbox,omitempty"` // what the kernel held of it
	Output string `json:"output,omitempty"`  // the end of it, capped
}

// tailLines is how much of a failed check's output is shown.
const tailLines = 20

// Failing is the last check that failed, and the last lines of what it printed that
// are not blank. ok is false where none failed.
func (d Dossier) Failing() (c Checked, tail []string, ok bool) {
	for _, c := range slices.Backward(d.Checks) {
		if c.Passed {
			continue
		}
		for line := range strings.Lines(c.Output) {
			if line = strings.TrimSpace(line); line != "" {
				tail = append(tail, line)
			}
		}
		return c, tail[max(len(tail)-tailLines, 0):], true
	}
	return c, nil, false
}

// maxOutput is how much of a check's output a dossier keeps, in bytes.
const maxOutput = 2048

// Checked are the checks of a report as a dossier keeps them.
func (r Report) Checked(in Phase) []Checked {
	var out []Checked
	for _, ran := range r.Ran {
		b := ran.Output
		if ran.Passed() {
			b = nil
		}
		if len(b) > maxOutput {
			b = append([]byte("…"), b[len(b)-maxOutput:]...)
		}
		out = append(out, Checked{Phase: in, Says: ran.String(), Passed: ran.Passed(), Held: ran.Held, Output: string(bytes.ToValidUTF8(b, nil))})
	}
	for _, b := range r.Breaches {
		out = append(out, Checked{Phase: in, Says: b})
	}
	return out
}

// Encode is the dossier as a run keeps it, op.json. It still holds what a session wrote:
// who keeps it takes secrets out.
func (d Dossier) Encode() []byte {
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		panic("unreachable: " + err.Error()) // texts
	}
	return append(b, '\n')
}

// ReadDossier reads the op.json of a run.
func ReadDossier(b []byte) (Dossier, error) {
	var d Dossier
	err := json.Unmarshal(b, &d)
	return d, err
}
