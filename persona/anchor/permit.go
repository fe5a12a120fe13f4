package anchor

import (
	"fmt"
	"strings"
	"time"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Covers says whether the permit lets its session write the slash-separated
// path below the work tree, and if not why: the path is none, a glob of Deny
// means it (where letter case does not count, too), or none of Allow does where
// there are some. What no session may write (World.Protected) is not its concern.
func (p Permit) Covers(path string) (Problem, bool) {
	if bad := checkLocalPath(path); bad != "" {
		return Problem{Code: OutsidePaths, At: path, Text: bad}, false
	}
	for _, g := range p.Deny {
		if policy.MatchGlob(g, path) || policy.MatchGlob(policy.FoldPath(g), policy.FoldPath(path)) {
			return Problem{Code: OutsidePaths, At: path, Text: fmt.Sprintf("the rules of the role %s forbid to write %s", p.Role, g), Want: p.describePaths()}, false
		}
	}
	if len(p.Allow) > 0 && !policy.MatchAnyGlob(p.Allow, path) {
		return Problem{Code: OutsidePaths, At: path, Text: "the path is outside of your write permit", Want: p.describePaths()}, false
	}
	return Problem{}, true
}

// describePaths says what a permit covers.
func (p Permit) describePaths() string {
	s := "the whole work tree"
	if len(p.Allow) > 0 {
		s = strings.Join(p.Allow, ", ")
	}
	if len(p.Deny) > 0 {
		s += " without " + strings.Join(p.Deny, ", ")
	}
	return s
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
