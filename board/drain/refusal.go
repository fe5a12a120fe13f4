package drain

import (
	"errors"
	"fmt"
)

// Refusal is a rule that stopped the drain, or one task of it.
type Refusal struct {
	Code string // "dirty", "shallow", "ahead", "budget", "lease", "clock", "floor", "task", …
	Text string // what, and the way out
}

// Error is the text.
func (r *Refusal) Error() string { return r.Text }

// Refused is the reason code.
func (r *Refusal) Refused() string { return r.Code }

func refuse(code, format string, args ...any) error {
	return &Refusal{code, fmt.Sprintf(format, args...)}
}

// isRefusal reports that err is a *Refusal or a *Busy, and no fault.
func isRefusal(err error) bool { return errors.As(err, new(*Refusal)) || errors.As(err, new(*Busy)) }

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
