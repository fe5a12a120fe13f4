package surface

import (
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// Output is what a session said, in the parts a surface judges.
type Output struct {
	Says        []deliver.Say
	Deliverable *deliver.Deliverable
}

// Change is one text that was cleaned: what was taken out of it.
type Change struct {
	At    string   `json:"at"`
	Taken []string `json:"taken"`
	Why   string   `json:"why"`
}

// Excess is an emission over the surface's cap, in estimated tokens.
type Excess struct {
	At       string `json:"at"`
	Estimate int    `json:"estimated_tokens"` // bytes/4, rounded up
	Cap      int    `json:"cap"`
}

// Verdict is what a surface says of an output. Failure names a structural
// failure ("clarifying-question", "no-deliverable", "too-many-emissions"), ""
// for none; Hints never fail anything.
type Verdict struct {
	Failure string          `json:"failure,omitempty"`
	Detail  string          `json:"detail,omitempty"`
	Excess  []Excess        `json:"excess,omitempty"` // send it back for a shorter one
	Changes []Change        `json:"changes,omitempty"`
	Hints   []contract.Hint `json:"hints,omitempty"`
	Turn    string          `json:"turn,omitempty"` // holding, yielding or done; under assistant
}

// Judge cleans the output by the contract's surface and voice, and judges it.
// The output that comes back is a copy; the one given is not changed.
func Judge(c contract.Contract, o Output) (Output, Verdict) { return o, Verdict{} }

// Machine cleans a text that code will parse, such as a commit message.
func Machine(c contract.Contract, s string) string { return s }

// Estimate is the size of s in tokens, estimated as bytes/4 rounded up.
func Estimate(s string) int { return (len(s) + 3) / 4 }
