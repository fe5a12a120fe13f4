package surface

import (
	"fmt"
	"iter"
	"slices"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// look is what a detector may look at.
type look struct {
	c        contract.Contract
	o        Output // cleaned
	glyphs   glyphs
	texts    []text // cleaned, machines' and persons'
	turn     string // under assistant
	unmarked bool   // no say carried a marker
}

type text struct {
	at      string
	kind    string // of the say it is, "" in a deliverable
	machine bool   // by its own tag, whatever the surface
	s       *string
}

func (o Output) clone() Output {
	o.Says = slices.Clone(o.Says)
	if o.Deliverable != nil {
		d := o.Deliverable.Clone()
		o.Deliverable = &d
	}
	return o
}

// allTexts lists every text of o, the says' first. Writing through s changes o.
func (o Output) allTexts() []text {
	var ts []text
	for i := range o.Says {
		s := &o.Says[i]
		at := fmt.Sprintf("says[%d].", i)
		ts = append(ts, text{at + "kind", s.Kind, true, &s.Kind}, text{at + "marker", s.Kind, true, &s.Marker},
			text{at + "text", s.Kind, false, &s.Text})
	}
	if o.Deliverable != nil {
		for _, t := range o.Deliverable.Texts() {
			ts = append(ts, text{"deliverable." + t.At, "", t.Machine, t.S})
		}
	}
	return ts
}

// cleanTexts cleans every text that the contract's voice or its field asks for.
func (l look) cleanTexts() []Change {
	var out []Change
	for _, t := range l.o.allTexts() {
		why := "a machine field"
		if !t.machine && !l.c.Surface.Machine {
			if l.c.Voice == contract.VoicePersona {
				continue
			}
			why = "voice " + string(l.c.Voice)
		}
		s, taken := l.glyphs.cleanText(*t.s)
		if taken != nil {
			*t.s = s
			out = append(out, Change{t.at, taken, why})
		}
	}
	return out
}

// findExcess lists the says and the persons' texts over the surface's cap.
func (l look) findExcess() []Excess {
	var out []Excess
	limit := l.c.Surface.MaxTokens
	for t := range l.walkSaid() {
		if n := estimateTokens(*t.s); limit > 0 && n > limit {
			out = append(out, Excess{t.at, n, limit})
		}
	}
	return out
}

// walkSaid walks what is said to somebody: all but the machine fields.
func (l look) walkSaid() iter.Seq[text] {
	return func(yield func(text) bool) {
		for _, t := range l.texts {
			if !t.machine && !yield(t) {
				return
			}
		}
	}
}

// countEmissions counts what the surface caps: the says, and the lines of a
// commentary; any other deliverable is one.
func (o Output) countEmissions() int {
	n := len(o.Says)
	switch d := o.Deliverable; {
	case d == nil:
	case d.Commentary != nil:
		n += len(d.Commentary.Says)
	default:
		n++
	}
	return n
}

// turnMarker is the turn control of a dialogue's turn, and whether no say carried one.
func turnMarker(says []deliver.Say) (string, bool) {
	for _, s := range slices.Backward(says) {
		if s.Marker != "" {
			return s.Marker, false
		}
	}
	if n := len(says); n > 0 && says[n-1].Kind == "question" {
		return "yielding", true
	}
	return "done", true
}
