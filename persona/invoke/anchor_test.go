package invoke

import (
	"strings"
	"testing"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session"
)

const proof = "```octave\nPROOF\n```\n"

// prover binds at the first answer that has a block, and gives up after three.
func prover(tries *int) func([]session.Payload) Answered {
	return func(ps []session.Payload) Answered {
		*tries++
		switch {
		case len(ps) > 0 && !ps[0].Late:
			return Answered{Bound: true, Say: "You may write terms/**."}
		case *tries == 3:
			return Answered{Final: "A_BIND_SYNTAX: no BIND", Say: "no more"}
		}
		return Answered{Say: "Wanted: an octave block first."}
	}
}

// A session proves who it is before anything it emits counts, is told what was
// wrong, and is told what it may write once it is bound.
func TestProve(t *testing.T) {
	t.Parallel()
	work := termBlock + says(finished)
	for _, c := range []struct {
		name    string
		says    []string
		limits  session.Request
		cost    int64
		outcome session.Outcome
		failure string
		atoms   int
		brief   string // in the last brief
	}{
		{name: "with the work", says: []string{proof + work}, outcome: session.Completed, atoms: 1, brief: "Prove it."},
		{name: "proof, then work", says: []string{proof, work}, outcome: session.Completed, atoms: 1, brief: "You may write terms/**."},
		{name: "sent back once", says: []string{work, proof + work}, outcome: session.Completed, atoms: 1, brief: "Wanted: an octave block first."},
		{name: "after the work", says: []string{work + proof, proof + work}, outcome: session.Completed, atoms: 1, brief: "Wanted: an octave block first."},
		{name: "never", says: []string{work, work, work}, outcome: session.Failed, failure: AnchorRefused, brief: "Wanted: an octave block first."},
		{name: "failed before it was anybody", says: []string{says(`{"schema": "odd.finish.1", "outcome": "failed", "failure": "tired"}`)},
			outcome: session.Failed, failure: "tired", brief: "Prove it."},
		{name: "no turn for another try", says: []string{work}, limits: session.Request{MaxTurns: 1}, outcome: session.Failed, failure: AnchorRefused, brief: "Prove it."},
		{name: "no money for the work", says: []string{proof}, limits: session.Request{MaxCost: 5}, cost: 5, outcome: session.Failed, failure: session.TurnRefused, brief: "Prove it."},
		{name: "nothing after the proof", says: []string{proof, "words\n"}, outcome: session.Failed, failure: session.Silent, brief: "You may write terms/**."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sub := &script{says: c.says, cost: c.cost}
			s := start(contract.Contract{}, sub)
			tries := 0
			s.Brief, s.Prove = s.Brief.Anchored("Prove it."), prover(&tries)
			s.Request.MaxTurns, s.Request.MaxCost = c.limits.MaxTurns, c.limits.MaxCost
			res, err := Run(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			e := res.Emission
			if e.Outcome != c.outcome || e.Failure != c.failure || len(e.Atoms) != c.atoms || e.Usage.Turns != len(c.says) {
				t.Errorf("%s %s %s, %d atoms in %d turns", e.Outcome, e.Failure, e.Detail, len(e.Atoms), e.Usage.Turns)
			}
			if last := string(sub.got[len(sub.got)-1].Brief); !strings.Contains(last, c.brief) || strings.Count(last, "## anchor\n") != 1 {
				t.Errorf("the last brief lacks %q:\n%s", c.brief, last)
			}
		})
	}
}
