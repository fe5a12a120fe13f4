package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/persona/deliver"
)

// fake is a substrate that does what the test says.
type fake func(ctx context.Context, r Request) (Emission, error)

func (f fake) Run(ctx context.Context, r Request) (Emission, error) { return f(ctx, r) }

// turns is a substrate that wants n turns and then completes.
func turns(n int) fake {
	return func(ctx context.Context, r Request) (Emission, error) {
		for range n {
			if e, ok := r.BeginTurn(ctx, Usage{}); !ok {
				return e, nil
			}
		}
		return Emission{Outcome: Completed, Atoms: make([]Atom, 2), Raw: []byte("said")}, nil
	}
}

// spends is a session of n turns that cost each.
func spends(n int, each int64) Substrate {
	return fake(func(ctx context.Context, r Request) (Emission, error) {
		var u Usage
		for range n {
			if e, ok := r.BeginTurn(ctx, u); !ok {
				return e, nil
			}
			u = u.Plus(Usage{Turns: 1, Cost: each})
		}
		return Emission{Outcome: Completed}, nil
	})
}

func TestRunLimits(t *testing.T) {
	t.Parallel()
	sleeper := fake(func(ctx context.Context, r Request) (Emission, error) {
		<-ctx.Done()
		return Emission{Outcome: Completed, Atoms: make([]Atom, 1), Raw: []byte("half"), Usage: Usage{Turns: 1}}, nil
	})
	no := func(Usage) error { return errors.New("budget: hard stop") }
	tests := []struct {
		name             string
		s                Substrate
		r                Request
		outcome          Outcome
		failure, mention string
	}{
		{"within", turns(2), Request{MaxTurns: 2, MaxAtoms: 2}, Completed, "", ""},
		{"no limits", turns(9), Request{}, Completed, "", ""},
		{"turns", turns(3), Request{MaxTurns: 2}, Failed, TurnLimit, "all 2 turns are used"},
		{"budget", turns(1), Request{Turn: no}, Failed, TurnRefused, "hard stop"},
		{"money", spends(3, 40), Request{MaxCost: 80}, Failed, OverBudget, "$0.000080 of at most $0.000080 is spent"},
		{"money left", spends(3, 40), Request{MaxCost: 81}, Completed, "", ""},
		{"atoms", turns(1), Request{MaxAtoms: 1}, Failed, TooMany, "2 atoms, and at most 1 are allowed"},
		{"time", sleeper, Request{Timeout: time.Millisecond}, Failed, Timeout, ""},
		{"refused", fake(func(context.Context, Request) (Emission, error) {
			return Emission{Outcome: Refused, Atoms: make([]Atom, 1), Deliverable: &deliver.Deliverable{}}, nil
		}), Request{}, Refused, "", ""},
		{"no outcome", fake(func(context.Context, Request) (Emission, error) { return Emission{}, nil }), Request{}, Failed, Silent, ""},
		{"unknown outcome", fake(func(context.Context, Request) (Emission, error) { return Emission{Outcome: "done"}, nil }), Request{}, Failed, Silent, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := Run(t.Context(), tt.s, tt.r)
			if err != nil || e.Outcome != tt.outcome || e.Failure != tt.failure || !strings.Contains(e.Detail, tt.mention) {
				t.Errorf("got %s %q %q %v, want %s %q mentioning %q", e.Outcome, e.Failure, e.Detail, err, tt.outcome, tt.failure, tt.mention)
			}
			if e.Outcome != Completed && (len(e.Atoms) > 0 || e.Deliverable != nil) {
				t.Error("a session that did not complete handed something back")
			}
		})
	}
}

func TestRunKeepsWhatWasSaidAndSpent(t *testing.T) {
	t.Parallel()
	s := fake(func(context.Context, Request) (Emission, error) {
		return Emission{Outcome: Completed, Atoms: make([]Atom, 2), Raw: []byte("raw"), Transcript: []byte("t"), Usage: Usage{Turns: 4, Cost: 7, CostKnown: true}}, nil
	})
	e, err := Run(t.Context(), s, Request{MaxAtoms: 1})
	if err != nil || string(e.Raw) != "raw" || string(e.Transcript) != "t" || e.Usage.Cost != 7 || e.Usage.Turns != 4 {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestRunCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e, err := Run(ctx, turns(1), Request{Timeout: time.Hour})
	if err != nil || e.Failure != Cancelled {
		t.Errorf("got %q %v, want %q", e.Failure, err, Cancelled)
	}
}

// A failure that has its name keeps it, whatever limit it broke too; one without a
// name, and an outcome that did not fail, are named for the limit.
func TestRunNamesAFailureOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e    Emission
		want string
	}{
		{Emission{Outcome: Failed, Failure: "no-access", Detail: "the door is shut"}, "no-access: the door is shut"},
		{Emission{Outcome: Failed}, TooMany + ": 2 atoms, and at most 1 are allowed; raise [session] max_atoms in odd.toml, or split the task"},
		{Emission{Outcome: Completed, Failure: "no-access"}, TooMany + ": 2 atoms, and at most 1 are allowed; raise [session] max_atoms in odd.toml, or split the task"},
	} {
		c.e.Atoms = make([]Atom, 2)
		e, err := Run(t.Context(), fake(func(context.Context, Request) (Emission, error) { return c.e, nil }), Request{MaxAtoms: 1})
		if got := e.Failure + ": " + e.Detail; err != nil || got != c.want || len(e.Atoms) > 0 {
			t.Errorf("got %q with %d atoms, %v; want %q", got, len(e.Atoms), err, c.want)
		}
	}
	if e, ok := (Request{}).BeginTurn(t.Context(), Usage{}); !ok {
		t.Errorf("a request that nobody bounds: %+v", e)
	}
}

func TestRunFault(t *testing.T) {
	t.Parallel()
	want := errors.New("no such recording")
	_, err := Run(t.Context(), fake(func(context.Context, Request) (Emission, error) { return Emission{}, want }), Request{})
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestReadKeepsRaw(t *testing.T) {
	t.Parallel()
	for _, text := range []string{done, "prose", "```json\n{}\n```\n"} {
		if e := Read([]byte(text)); string(e.Raw) != text {
			t.Errorf("%q: Raw is %q", text, e.Raw)
		}
	}
}
