package anchor

import (
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/odd-cli/odd/reconcile/policy"
)

// grantTerms are those of the permit's grant. Its gate may run as it is written there.
func (p Permit) grantTerms() policy.Terms {
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
	bad := problemsFor(policy.Compile(p.grantTerms(), policy.Live{Holds: isHeld}).Allow(policy.Action{Kind: policy.Emit, Paths: []string{path}}))
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
	bad = problemsIn(no.Findings)
	for i, f := range no.Findings {
		switch p := &bad[i]; no.Code {
		case "command_not_allowed":
			if p.At = "command"; !strings.HasPrefix(f.Code, "A_") {
				p.Code, p.Text = CommandRefused, f.Code+", "+f.Text
			}
		case "no_permit":
			p.At = f.Path
		}
	}
	return bad
}

// problemsIn are what a grant found about paths, by the codes of permits.
func problemsIn(found []policy.Finding) (bad []Problem) {
	for _, f := range found {
		p := Problem{Code: Unwritable, At: "paths", Text: f.Text, Found: f.Path, Want: f.Fix}
		if strings.HasPrefix(f.Code, "A_") {
			p.Code = Code(f.Code)
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

// tokenLetters is Crockford's base 32 in lower case: no i, l, o, u.
const tokenLetters = "0123456789abcdefghjkmnpqrstvwxyz"

// tokenPrefix begins every token that odd makes.
const tokenPrefix = "oa-"

// newToken makes "oa-" and 26 letters out of 16 random bytes: a letter first, so
// that it is a word in OCTAVE and a plain file name.
func newToken(random func([]byte) error) (string, error) {
	b := make([]byte, 16)
	if err := random(b); err != nil {
		return "", fmt.Errorf("token: no random bytes: %w", err)
	}
	return tokenPrefix + base32.NewEncoding(tokenLetters).WithPadding(base32.NoPadding).EncodeToString(b), nil
}

// IsToken reports what can be a token: 1 to 128 ASCII letters, digits, dots, hyphens and
// underscores, a letter or digit first, and no two dots in a row. What passes is one plain
// name of a directory.
func IsToken(s string) bool { return tokenForm().MatchString(s) && !strings.Contains(s, "..") }

var tokenForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][\w.-]{0,127}$`) })

// Verify is HasValid, and adds as warnings what has changed since the session was
// bound: the members of the ARM, its files among them, and the lines that its
// tensions cite. A session's own edits are such changes, so none of them locks.
func (d Desk) Verify(token string) Verdict {
	v := d.newPermitCheck().checkToken(token, "")
	if !v.Valid {
		return v
	}
	v.Warnings = append(v.Warnings, d.movedMembers(*v.Anchor)...)
	for i, t := range v.Anchor.Tensions {
		if why := d.checkCitation(t); why != "" {
			v.Warnings = append(v.Warnings, Problem{Code: CitedChanged, At: tensionAt(t.N, i+1), Text: why, Found: t.Path, Want: t.RangeSHA256})
		}
	}
	return v
}

// movedMembers lists the members of the ARM that changed, except HEAD, which was judged
// before.
func (d Desk) movedMembers(a Anchor) []Problem {
	topic := ""
	if a.Arm.FocusSource == FocusTopic {
		topic = a.Arm.Focus
	}
	now, _, ps := d.World.computeArm(topic, Quick, Constitution{SHA256: a.Arm.Constitution})
	if len(ps) > 0 {
		return ps
	}
	return slices.DeleteFunc(compareArms(a.Arm, now, "the session was bound"), func(p Problem) bool { return p.At == "ARM.head_oid" })
}

// checkCitation says why a tension's lines are not those it cited, "" if they are.
func (d Desk) checkCitation(t Tension) string {
	b, err := fs.ReadFile(d.World.Files, t.Path)
	if err != nil {
		return "the file it cites does not read now"
	}
	cited, lines, ok := cutLines(b, t.Start, t.End)
	switch {
	case !ok:
		return fmt.Sprintf("the file it cites has only %d lines now", lines)
	case hexSum(cited) != t.RangeSHA256:
		return "the lines it cites changed"
	}
	return ""
}
