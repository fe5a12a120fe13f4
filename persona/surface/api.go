package surface

import (
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// Output is what a session said, in the parts a surface judges. It is of a
// session that completed, or of a turn that goes on: of one that declared it
// cannot deliver nothing is asked.
type Output struct {
	Says        []deliver.Say
	Deliverable *deliver.Deliverable
}

// Change is one text that was cleaned: what was taken out of it.
type Change struct {
	At    string   `json:"at"` // "says[0].text", "deliverable.findings[0].claim"
	Taken []string `json:"taken"`
	Why   string   `json:"why"`
}

// Excess is an emission over the surface's cap, in estimated tokens.
type Excess struct {
	At       string `json:"at"`               // as of Change
	Estimate int    `json:"estimated_tokens"` // bytes/4, rounded up
	Cap      int    `json:"cap"`
}

// Verdict is what a surface says of an output. Failure names the first
// structural failure by its detector ("clarifying-question", "no-deliverable",
// "too-many-emissions"), "" for none, and Detail says what of all of them.
// Hints never fail anything.
type Verdict struct {
	Failure  string             `json:"failure,omitempty"`
	Detail   string             `json:"detail,omitempty"`
	Failures []contract.Refusal `json:"failures,omitempty"`
	Excess   []Excess           `json:"excess,omitempty"` // send it back for a shorter one
	Changes  []Change           `json:"changes,omitempty"`
	Hints    []contract.Hint    `json:"hints,omitempty"`
	Turn     string             `json:"turn,omitempty"` // holding, yielding or done; under assistant
}

// Judge cleans the output by the contract's surface and voice, and judges what
// is left. The output that comes back is a copy; the one given is not changed.
func Judge(c contract.Contract, o Output) (Output, Verdict) {
	o = o.clone()
	var v Verdict
	l := look{c: c, o: o, glyphs: glyphsOf(c)}
	v.Changes = l.clean()
	l.texts = o.texts()
	v.Excess = l.excess()
	if c.Engagement == contract.Assistant {
		l.turn, l.unmarked = turn(o.Says)
		v.Turn = l.turn
	}
	for _, d := range Detectors() {
		v.Failures = append(v.Failures, d.failures(l)...)
		v.Hints = append(v.Hints, d.hints(l)...)
	}
	for i, f := range v.Failures {
		if i == 0 {
			v.Failure = f.Code
		} else {
			v.Detail += "; "
		}
		v.Detail += f.Message
	}
	return o, v
}

// Machine cleans a text that code will parse, such as a commit message.
func Machine(c contract.Contract, s string) string {
	s, _ = glyphsOf(c).clean(s)
	return s
}

// Encoded is d as a handoff holds it: frontmatter and JSON, where every text is a
// machine's, whoever it was said to.
func Encoded(c contract.Contract, d deliver.Deliverable) deliver.Deliverable {
	d = d.Clone()
	g := glyphsOf(c)
	for _, t := range d.Texts() {
		*t.S, _ = g.clean(*t.S)
	}
	return d
}

// Estimate is the size of s in tokens, estimated as bytes/4 rounded up.
func Estimate(s string) int { return (len(s) + 3) / 4 }
