package drain

import (
	"errors"
	"fmt"

	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/journal/refusal"
	"github.com/odd-cli/odd/journal/repo"
)

// refuse is the error of a rule that stops the drain, or one task of it.
func refuse(code, format string, args ...any) error { return refusal.New(code, format, args...) }

// isRefusal reports that err is a *refusal.Refusal or a *Busy, and no fault.
func isRefusal(err error) bool {
	return errors.As(err, new(*refusal.Refusal)) || errors.As(err, new(*Busy))
}

// Busy says the drain may not run now: the board is paused, or another drain is at work.
type Busy struct {
	Code string // "paused" or "locked"
	Text string
}

// Error is the text.
func (b *Busy) Error() string { return b.Text }

// Busy is the reason code.
func (b *Busy) Busy() string { return b.Code }

func refuseBusy(code, format string, args ...any) error {
	return &Busy{code, fmt.Sprintf(format, args...)}
}

// tally is the local counter of refused drains in a row. A refused drain commits nothing, so
// the ledger cannot count it.
const tally = "refused-drains"

// countRefusal counts err if it is a refusal and resets the count if it is nil. It returns
// err.
func (bw *boardWriter) countRefusal(err error) error {
	var no *refusal.Refusal
	switch {
	case !bw.at.requiresLease():
	case err == nil:
		_ = bw.repo.SetTally(tally, 0)
	case errors.As(err, &no):
		_ = bw.repo.SetTally(tally, bw.repo.Tally(tally)+1)
	}
	return err
}

// Refusals returns how many drains of this clone in a row were refused.
func Refusals(r *repo.Repo) int { return r.Tally(tally) }

// ForgetRefusals resets that count, after a person passed a gate.
func ForgetRefusals(r *repo.Repo) { _ = r.SetTally(tally, 0) }

// refusalsInARow returns how many drains in a row were refused. It counts this drain if the lease is not
// valid.
func (bw *boardWriter) refusalsInARow(s overview.SlowLoop) int {
	n := Refusals(bw.repo)
	if !s.Verdict("").Valid {
		n++
	}
	return n
}

// joinErrors returns one error for all of list: the first fault, else all refusals with the code of the first,
// else the first *Busy. It is nil if list has no error.
func joinErrors(list ...error) error {
	var all *refusal.Refusal
	var busy error
	for _, err := range list {
		var no *refusal.Refusal
		switch {
		case err == nil:
		case errors.As(err, &no) && all == nil:
			all = &refusal.Refusal{Code: no.Code, Text: no.Text}
		case errors.As(err, &no):
			all.Text += "; " + no.Text
		case !isRefusal(err):
			return err
		case busy == nil:
			busy = err
		}
	}
	if all != nil {
		return all
	}
	return busy
}
