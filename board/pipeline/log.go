package pipeline

import (
	"slices"
	"time"
)

// Log is an op as the run that works on it tells it: what each of its records left, the latest
// last. Nothing of it is in git before the task's result is.
type Log []Op

// Op is the op as its last record leaves it; the zero value where there is none.
func (l Log) Op() Op {
	if len(l) == 0 {
		return Op{}
	}
	return l[len(l)-1]
}

// Split cuts the log where apply moved a ref: before is covered by the trace in the proposal's
// commit, and behind names that commit, so that the ledger has it after the outcome.
func (l Log) Split() (before, behind Log) {
	n := slices.IndexFunc(l, func(o Op) bool { return len(o.Moved) > 0 })
	if n < 0 {
		return l, nil
	}
	return l[:n:n], l[n:]
}

// Proposed reports an op whose change is on its review branch, whether it waits there or landed.
func (l Log) Proposed() bool { return l.Op().Phase == Waiting || l.Lands() }

// Lands reports an op that lands by itself with the task's result.
func (l Log) Lands() bool { return l.Op().Reason == Landed }

// Rescind is the log of an op that was to be proposed and is abandoned after all: it ends where
// it was before apply. A log without a proposal stays as it is.
func (l Log) Rescind(by string, now time.Time, why string) Log {
	before, behind := l.Split()
	if len(behind) == 0 {
		return l
	}
	return append(before, mustFollow(End(before.Op(), by, now, Abandoned, why)))
}

// Wait is the log of an op that was to land by itself and waits for a person after all, for h.
func (l Log) Wait(by string, limits Limits, h Held, why string) Log {
	at := slices.IndexFunc(l, func(o Op) bool { return o.Phase == Verify })
	o := l[at]
	wait := Step{To: Waiting, By: by, At: o.At, Until: limits.phaseDeadline(Waiting, o.At, o.At), Set: map[string]string{FactHeld: string(h)}, Note: noteText(why)}
	return append(l[:at+1:at+1], mustFollow(o.Advance(wait)))
}

// mustFollow is an op after a step that is legal wherever a log takes it: one in apply may be
// abandoned at any moment, and one in verify may wait at the moment it came there.
func mustFollow(o Op, err error) Op {
	if err != nil {
		panic("unreachable: " + err.Error())
	}
	return o
}

// Unbegun is the log of an op that a claim announced and nobody began, because the work ended
// before, or died with the run dead: that it began, on base, and was abandoned.
func Unbegun(id, task, base, by, dead string, now time.Time, why string) (Log, error) {
	facts := map[string]string{FactBase: base, FactDied: dead}
	for name, text := range facts {
		if text == "" {
			delete(facts, name)
		}
	}
	o, err := Begin(id, task, by, now, Limits{}, facts)
	if err != nil {
		return nil, err
	}
	end, err := End(o, by, now, Abandoned, why)
	return Log{o, end}, err
}
