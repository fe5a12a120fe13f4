package session

import (
	"context"
	"errors"
	"fmt"
)

// Run runs one session within r's limits, whatever the substrate does of its
// own: wall time, turns, atoms and the declared outcome are checked here, so
// that a careless substrate cannot widen them. A Timeout of zero is no limit on
// time, MaxTurns and MaxAtoms of zero none on turns and atoms.
func Run(ctx context.Context, s Substrate, r Request) (Emission, error) {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	r.Turn = boundTurns(ctx, r)
	e, err := runSafely(ctx, s, r)
	if err != nil {
		return Emission{}, err
	}
	return judge(ctx, e, r), nil
}

// runSafely runs s; a panic ends its session as failed, and not the process.
func runSafely(ctx context.Context, s Substrate, r Request) (e Emission, err error) {
	defer func() {
		if p := recover(); p != nil {
			e, err = Fail(Panicked, fmt.Sprint(p)), nil
		}
	}()
	return s.Run(ctx, r)
}

// judge turns what broke a limit into a named failure, and drops the atoms and
// the deliverable of whatever did not complete: they stay readable in Raw, and nowhere else. A session
// that declared its outcome and then ran out of time is judged by the clock:
// what it said may be half of what it meant to say.
func judge(ctx context.Context, e Emission, r Request) Emission {
	switch {
	case ctx.Err() != nil:
		return e.fail(Interruption(ctx), "")
	case !isKnownOutcome(e.Outcome):
		return e.fail(Silent, "")
	case r.MaxAtoms > 0 && len(e.Atoms) > r.MaxAtoms:
		return e.fail(TooMany, fmt.Sprintf("%d atoms, and at most %d are allowed; raise [session] max_atoms in odd.toml, or split the task", len(e.Atoms), r.MaxAtoms))
	case e.Outcome != Completed:
		e.Atoms, e.Deliverable, e.Change, e.Plan, e.Expansion = nil, nil, nil, nil, nil
	}
	return e
}

// fail drops what e emitted and keeps what it proposed, cost and said. A failure that
// already has its name keeps it.
func (e Emission) fail(name, detail string) Emission {
	if e.Outcome == Failed && e.Failure != "" {
		name, detail = e.Failure, e.Detail
	}
	return Emission{Payloads: e.Payloads, Proposals: e.Proposals, Usage: e.Usage, Raw: e.Raw, Transcript: e.Transcript,
		Sandbox: e.Sandbox, Thread: e.Thread, Seen: e.Seen, Calls: e.Calls, Exploration: e.Exploration, Outcome: Failed, Failure: name, Class: e.Class, Detail: detail}
}

// Fail is an emission that failed under one of the names above.
func Fail(name, detail string) Emission {
	return Emission{Outcome: Failed, Failure: name, Detail: detail}
}

// Interruption names why ctx ended: Timeout or Cancelled; "" when it has not.
func Interruption(ctx context.Context) string {
	switch {
	case ctx.Err() == nil:
		return ""
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return Timeout
	}
	return Cancelled
}

// BeginTurn asks leave for one more turn of a session that cost spent so far. ok
// false means the session is over and e says why.
func (r Request) BeginTurn(ctx context.Context, spent Usage) (e Emission, ok bool) {
	if why := Interruption(ctx); why != "" {
		return Fail(why, ""), false
	}
	if r.Turn == nil {
		return Emission{}, true
	}
	err := r.Turn(spent)
	var over *limit
	switch {
	case errors.As(err, &over):
		return Fail(over.failure, err.Error()), false
	case err != nil:
		return Fail(TurnRefused, err.Error()), false
	}
	return Emission{}, true
}

// limit refuses a turn because a limit of the session is reached.
type limit struct{ failure, text string }

// Error implements error.
func (l *limit) Error() string { return l.text }

// boundTurns counts turns against MaxTurns and what they cost against MaxCost
// before it asks the caller's Turn. The first turn is free to begin.
func boundTurns(ctx context.Context, r Request) func(Usage) error {
	n := 0
	return func(spent Usage) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n++; r.MaxTurns > 0 && n > r.MaxTurns {
			return &limit{TurnLimit, fmt.Sprintf("all %d turns are used", r.MaxTurns)}
		}
		if r.MaxCost > 0 && spent.Cost >= r.MaxCost {
			return &limit{OverBudget, fmt.Sprintf("$%d.%06d of at most $%d.%06d is spent", spent.Cost/1e6, spent.Cost%1e6, r.MaxCost/1e6, r.MaxCost%1e6)}
		}
		if r.Turn == nil {
			return nil
		}
		return r.Turn(spent)
	}
}

func isKnownOutcome(o Outcome) bool {
	switch o {
	case Completed, Failed, HandoffInsufficient, Refused:
		return true
	}
	return false
}
