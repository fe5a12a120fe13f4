package session

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
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
	return judgeEmission(ctx, e, r), nil
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

// judgeEmission turns what broke a limit into a named failure, and drops the atoms and
// the deliverable of whatever did not complete: they stay readable in Raw, and nowhere else. A session
// that declared its outcome and then ran out of time is judged by the clock:
// what it said may be half of what it meant to say.
func judgeEmission(ctx context.Context, e Emission, r Request) Emission {
	switch {
	case ctx.Err() != nil:
		return e.failWith(Interruption(ctx), "")
	case !isKnownOutcome(e.Outcome):
		return e.failWith(Silent, "")
	case r.MaxAtoms > 0 && len(e.Atoms) > r.MaxAtoms:
		return e.failWith(TooMany, fmt.Sprintf("%d atoms, and at most %d are allowed; raise [session] max_atoms in odd.toml, or split the task", len(e.Atoms), r.MaxAtoms))
	case e.Outcome != Completed:
		e.Atoms, e.Deliverable, e.Change, e.Plan, e.Expansion = nil, nil, nil, nil, nil
	}
	return e
}

// failWith drops what e emitted and keeps what it proposed, cost and said. A failure that
// already has its name keeps it.
func (e Emission) failWith(name, detail string) Emission {
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

// FailTransport is an emission that failed on the way to the model, of a class.
func FailTransport(c Class, detail string) Emission {
	return Emission{Outcome: Failed, Failure: Transport, Class: c, Detail: Shown(detail)}
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

// ClassOfStatus is the class of a failure that a model's API told by an HTTP status of
// 300 or more, whoever asked it: odd itself or a program that odd runs. said is what
// came with it. 529 is how Anthropic's API says that it is overloaded.
//
//	429                                   rate_limited
//	413, a 4xx about the context's size   context_overflow
//	408, 504                              timeout
//	409, 425                              transient_transport
//	other 5xx, 529                        server_error
//	3xx, other 4xx                        permanent
func ClassOfStatus(status int, said string) Class {
	switch {
	case status == 429:
		return RateLimited
	case status == 413, status >= 400 && status < 500 && Overflows(said):
		return ContextOverflow
	case status == 408, status == 504:
		return TimedOut
	case status == 409, status == 425:
		return TransientTransport
	case status >= 500:
		return ServerError
	}
	return Permanent
}

// Overflows reports words by which servers and programs say that a conversation no
// longer fits its model.
func Overflows(said string) bool { return overflow().MatchString(said) }

var overflow = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)context[ _-]?(?:length|window|size|limit)|prompt is too long|input is too long|too many (?:input |prompt )?tokens|maximum (?:context|prompt|input|model) |exceeds? the (?:available|maximum) context`)
})

// maxShown is how much of what a program or a server says is shown, in characters.
const maxShown = 400

// Shown is a text of a program or a server as a failure may tell it: on one line, cut
// to 400 characters, with every character in sight, and without what looks like a
// credential.
func Shown(s string) string {
	s = okf.Visible(strings.Join(strings.Fields(strings.ToValidUTF8(string(secrets.Redact([]byte(s))), "?")), " "))
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + " …"
	}
	return s
}
