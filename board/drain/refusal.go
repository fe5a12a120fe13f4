package drain

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/odd-cli/odd/journal/refusal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/reconcile/secrets"
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

// tally is the local counter of refused drains in a row. A refused drain records nothing of
// itself in the ledger, so the ledger cannot count it.
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

// oneLine is an error of several lines as a reason.
func oneLine(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "; ") }

// cleanText is a text for the journal: visible, and without what looks like a credential.
func cleanText(s string) string { return okf.Visible(string(secrets.Redact([]byte(s)))) }

func joinDetail(name, detail string) string {
	if name == "" || detail == "" {
		return name + detail
	}
	return name + ": " + detail
}

func countMore(paths []string) string {
	if len(paths) == 1 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", len(paths)-1)
}

func firstOf[T any](list []T, n int) []T { return list[:min(len(list), n)] }

func textsFrom[T ~string](in []T) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return out
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// redactDeliverable returns a deliverable as a report shows it, refused or not: without credentials.
func redactDeliverable(d *deliver.Deliverable) *deliver.Deliverable {
	if d == nil {
		return nil
	}
	out := d.Clone()
	for _, t := range out.Texts() {
		*t.S = secrets.RedactText(*t.S)
	}
	return &out
}
