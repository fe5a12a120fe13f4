package anchor

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/odd-cli/odd/reconcile/policy"
)

// terms are those of the permit's grant. Its gate may run as it is written there.
func (p Permit) terms() policy.Terms {
	t := policy.Terms{Role: p.Role, Files: true, Open: true, Allow: p.Allow, Deny: p.Deny}
	if words, err := policy.ParseSimple(p.Gate); err == nil {
		t.Checks = [][]string{words}
	}
	return t
}

// isHeld stands for a permit that was checked before.
func isHeld() error { return nil }

// Covers says whether the permit lets its session hand over the file of a path below the
// work tree, and if not why. What no session may write (World.Protected) is not its concern.
func (p Permit) Covers(path string) (Problem, bool) {
	bad := problemsFor(policy.Compile(p.terms(), policy.Live{Holds: isHeld}).Allow(policy.Action{Kind: policy.Emit, Paths: []string{path}}))
	if len(bad) > 0 {
		return bad[0], false
	}
	return Problem{}, true
}

// problemsFor lists what a grant refuses, by the codes of permits; none for nil.
func problemsFor(err error) (bad []Problem) {
	var no *policy.Refusal
	if !errors.As(err, &no) {
		return nil
	}
	for _, f := range no.Findings {
		p := Problem{Code: Unwritable, At: "paths", Text: f.Text, Found: f.Path, Want: f.Fix}
		switch no.Code {
		case "command_not_allowed":
			p.At, p.Code, p.Text = "command", CommandRefused, f.Code+", "+f.Text
		case "no_permit":
			p.At = f.Path
		}
		if strings.HasPrefix(f.Code, "A_") {
			p.Code, p.Text = Code(f.Code), f.Text
		}
		bad = append(bad, p)
	}
	return bad
}

// The rule of renewal: at most three, and only while the permit is younger than
// four hours and has not ended more than a quarter of an hour ago.
const (
	maxRenewals  = 3
	renewYounger = 4 * time.Hour
	renewGrace   = 15 * time.Minute
)

// checkRenewable says why a permit cannot have a later end.
func (p Permit) checkRenewable(now time.Time) []Problem {
	var ps []Problem
	if p.Renewals >= maxRenewals {
		ps = append(ps, Problem{Code: RenewalsOver, At: "permit.renewals", Text: fmt.Sprintf("the permit was renewed %d times, which is as often as one may be", p.Renewals)})
	}
	if age := now.Sub(p.IssuedAt); age >= renewYounger || age < 0 {
		ps = append(ps, Problem{Code: RenewTooLate, At: "permit.issued_at", Text: "the permit was issued at " + formatTime(p.IssuedAt) + ", which is not less than four hours ago"})
	}
	if now.Sub(p.ExpiresAt) > renewGrace {
		ps = append(ps, Problem{Code: RenewTooLate, At: "permit.expires_at", Text: "the permit ended at " + formatTime(p.ExpiresAt) + ", more than a quarter of an hour ago"})
	}
	return ps
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
