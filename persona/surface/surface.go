// Package surface is what output may look like: the voice, the density and the
// form of what a session says, by the contract's surface.
//
// Judge takes what a session said and hands back a cleaned copy and a verdict.
// A session inside may speak naturally; what leaves it is made fit here, and
// what cannot be made fit is a named failure.
//
// # Fields
//
// Every text is tagged. A machine's is parsed by code: a path, an id, an enum,
// a say's kind and marker, a commit message; on a machine-tagged surface all
// are. A person's is everything else. Deliverables tag their own (deliver.Texts);
// once one is encoded as a handoff, in frontmatter and JSON, all of it is a
// machine's (Encoded).
//
// # Glyphs
//
// A persona's glyphs (the standard ones, and the profile's own) never reach a machine field,
// whatever the voice; in a neutral or strict voice they reach none. Functional
// glyphs carry a state and not a character: they survive everywhere, and no
// profile can claim one.
//
// Glyphs are compared by grapheme cluster. Selectors, joiners, marks and skin
// tones do not make a glyph another one; a cluster with any other picture in it,
// such as a family or a flag, is a picture of its own and stays. A glyph goes
// with one adjoining space where that space only set it apart: "a 🦦 b" leaves
// "a b", "🦦 a" leaves "a", "a 🦦." leaves "a.", and the one space between two
// words stays. All other bytes survive as they are, of whatever script, valid
// UTF-8 or not.
//
//  1. A text without a persona glyph comes back identical.
//  2. Cleaning twice is cleaning once.
//
// # Density
//
// A surface caps an emission in tokens, estimated as bytes/4 rounded up because
// no tokenizer is anybody's; Excess lists every text over the cap, to be sent
// back for a shorter one. Each say and each person's text of a deliverable is
// measured. A surface caps emissions too: each say and each line of a commentary
// is one, any other deliverable is one.
//
// # Form
//
// A contract that names a deliverable gets that one, complete, or the session
// failed; so does a structured surface. Prose beside it is free. Commentary may
// be prose alone where the surface is narrative. Nothing is asked of a turn that
// goes on. A surface's output schema is recorded with the verdict, not checked.
//
// # Turns
//
// Under the engagement agent nobody answers: a say of kind question (outside
// exploration, whose work is questions) or one that yields is a failure. Under
// assistant each turn is holding, yielding or done, by its last marker; an
// unmarked one yields when it ends in a question and is done otherwise.
//
// # Detectors
//
// Detectors is the table of everything that is looked for. A structural one
// reads kinds, markers, schemas, ids and counts, and fails. A heuristic one
// reads words or proportions, and can only hint: it has no way to say failure.
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
	v.Changes = l.cleanTexts()
	l.texts = o.allTexts()
	v.Excess = l.findExcess()
	if c.Engagement == contract.Assistant {
		l.turn, l.unmarked = turnMarker(o.Says)
		v.Turn = l.turn
	}
	for _, d := range Detectors() {
		v.Failures = append(v.Failures, d.findFailures(l)...)
		v.Hints = append(v.Hints, d.findHints(l)...)
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
	s, _ = glyphsOf(c).cleanText(s)
	return s
}

// Encoded is d as a handoff holds it: frontmatter and JSON, where every text is a
// machine's, whoever it was said to.
func Encoded(c contract.Contract, d deliver.Deliverable) deliver.Deliverable {
	d = d.Clone()
	g := glyphsOf(c)
	for _, t := range d.Texts() {
		*t.S, _ = g.cleanText(*t.S)
	}
	return d
}

// estimateTokens is the size of s in tokens, estimated as bytes/4 rounded up.
func estimateTokens(s string) int { return (len(s) + 3) / 4 }
