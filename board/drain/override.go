package drain

import (
	"fmt"
	"strings"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session"
)

// overridden is the tag of what came out of a session under an override, and
// of what was made from it.
const overridden = "override-produced"

// tellOverride adds to a claim's commit the entry of an override's start, so that
// it is in history before anything is spawned, and returns what the claim says of it.
func (rec recorder) tellOverride(p *draft) (*event.Override, error) {
	o := rec.override
	if o == nil {
		return nil, nil
	}
	content := fmt.Sprintf("override started by %s for one session; reason: %s; risks acknowledged: %s; it ends with the session, and what it makes is tagged %s",
		rec.person, o.Reason, strings.Join(o.Risks, ", "), overridden)
	if err := p.tell("D", "", "override: "+strings.Join(texts(o.Modes), ", ")+" collapsed", content); err != nil {
		return nil, err
	}
	return overrideData(o, rec.person), nil
}

func overrideData(o *contract.Override, by string) *event.Override {
	return &event.Override{By: by, Modes: texts(o.Modes), Reason: o.Reason, Risks: o.Risks}
}

func (rec recorder) overrideEnds(p *draft, how string) error {
	if rec.override == nil {
		return nil
	}
	o := rec.override
	content := fmt.Sprintf("override ended: %s; decided by %s, because: %s; given up: to keep %s apart; risks accepted: %s", how, rec.person, o.Reason, strings.Join(texts(o.Modes), ", "), strings.Join(o.Risks, ", "))
	return p.tell("O", "", "override ended: "+strings.Join(texts(o.Modes), ", "), content)
}

// overrideDied ends, in the journal of the run that sweeps, the override of a
// session that can no longer do it.
func overrideDied(p *draft, c event.Record) error {
	o := c.Claim().Override
	if o == nil {
		return nil
	}
	return p.tell("O", "", "override ended: "+c.Run, fmt.Sprintf("override ended: the session died; %s had it from %s for: %s", c.Run, o.By, o.Reason))
}

// tagOverride tags what a session made under an override, or from what was.
func tagOverride(e session.Emission) (session.Emission, error) {
	atoms := make([]session.Atom, len(e.Atoms))
	for i, a := range e.Atoms {
		tags := make([]any, 0, len(a.Atom.Tags)+1)
		for _, t := range a.Atom.Tags {
			if t != overridden {
				tags = append(tags, t)
			}
		}
		b, err := okf.Edit(a.Atom.Bytes(), okf.Set{Key: "tags", Value: append(tags, overridden)})
		if err != nil {
			return e, fmt.Errorf("%s: %w", a.At, err)
		}
		if a.Atom, err = okf.Parse(a.Atom.Path, b); err != nil {
			return e, fmt.Errorf("%s: %w", a.At, err)
		}
		atoms[i] = a
	}
	e.Atoms = atoms
	return e, nil
}
