package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Signs are what Decay looks at. The caller counts them from the ledger, the board and the
// bundle.
type Signs struct {
	Now           time.Time
	File          File
	Verdict       Verdict
	Act           string         // id of the last gate row, "" for none
	SinceProgress int            // tasks drained since one last reached review or done
	Progress      string         // what reached it then, "" for nothing yet
	Stale         []string       // ids of atoms past their stale_after
	Lost          []string       // ids of atoms whose sources are gone or have another text
	Rejected      map[string]int // task not done → how often
	Blocked       map[string]int // task not done → how often
	Failures      int            // drained tasks in a row that ended blocked
	Failing       string         // the run that ended the first of them
	Refused       int            // drains in a row that were refused
	Due           []string       // decisions whose revisit trigger has come, as text
	LastGate      time.Time      // when the last gate row was written
	Lately        Lately
}

// How often a sign must occur before it is proposed.
const (
	silentTasks   = 10 // drained without progress
	driftTimes    = 2  // rejected, or blocked
	failureRun    = 3
	refusedDrains = 10
)

// Decay returns proposals and changes nothing. The same signs give the same proposals, in the
// order of Compare, each with a key and no id. A key is what the sign is about, and after "#"
// how far it has come. So Unheard lets a sign through once, until it changes:
//
//	the lease has expired, by time, tasks or money   evaluation  high  (a draft's: framing)
//	a fifth or less of time, tasks or money is left  evaluation  low
//	its milestone is reached                         evaluation  medium
//	ten drained tasks without progress               evaluation  medium
//	atoms past their stale_after, all in one         evaluation  low
//	atoms whose sources are gone or changed, in one  evaluation  low
//	a task rejected, or blocked, twice or more       framing     medium
//	three failures in a row (continuous_eval)        evaluation  high
//	ten refused drains in a row, once a gate act     where next  low
//	decisions due, all in one                        evaluation  low
//	what perception and contrast see                 see perceive
func Decay(s Signs) []Proposal {
	var out []Proposal
	s.proposeLeaseEnd(&out)
	if s.SinceProgress >= silentTasks {
		addProposal(&out, Medium, EvaluationGate, "progress-silent:"+s.Progress, "the last %d tasks that ran reached neither review nor done", s.SinceProgress)
	}
	if n := len(s.Stale); n > 0 {
		addProposal(&out, Low, EvaluationGate, "stale-atoms#"+Digest(s.Stale), "%s past stale_after: %s", formatCount(n, "atom is", "atoms are"), joinFirst3(s.Stale))
	}
	if n := len(s.Lost); n > 0 {
		addProposal(&out, Low, EvaluationGate, "lost-sources#"+Digest(s.Lost), "the sources of %s are gone or say something else (odd check shows which; odd gate decay files a task that reads them again): %s", formatCount(n, "atom", "atoms"), joinFirst3(s.Lost))
	}
	proposeRewrites(&out, "rejected", s.Rejected)
	proposeRewrites(&out, "blocked", s.Blocked)
	if s.Failures >= failureRun {
		addProposal(&out, High, EvaluationGate, "failures:"+s.Failing, "the last %d tasks that ran ended blocked", s.Failures).Source = ContinuousEval
	}
	if s.Refused >= refusedDrains {
		next := cmp.Or(map[State]Gate{Draft: Commitment, Active: EvaluationGate}[s.File.Lease.State], Framing)
		addProposal(&out, Low, next, "nudge:"+s.Act, "odd drain was refused %d times in a row; odd status shows the next step", s.Refused)
	}
	if n := len(s.Due); n > 0 {
		addProposal(&out, Low, EvaluationGate, "decisions-due#"+Digest(s.Due), "%s to be looked at again: %s", formatCount(n, "decision is", "decisions are"), joinFirst3(s.Due))
	}
	out = append(out, s.perceive()...)
	for i := range out {
		p := &out[i]
		p.TS = s.Now.UTC().Truncate(time.Second)
		p.Lease = s.File.Lease.ID
		p.Reason, p.Key = cleanLine(p.Reason, maxReason), cleanLine(p.Key, maxKey)
		p.Source = cmp.Or(p.Source, DecayManager)
	}
	slices.SortStableFunc(out, compareProposals)
	return out
}

func addProposal(out *[]Proposal, sev Severity, g Gate, key, format string, args ...any) *Proposal {
	*out = append(*out, Proposal{Severity: sev, Gate: g, Key: key, Reason: fmt.Sprintf(format, args...)})
	return &(*out)[len(*out)-1]
}

// proposeRewrites proposes to rewrite each task that was rejected, or blocked, too often.
func proposeRewrites(out *[]Proposal, what string, times map[string]int) {
	for _, task := range slices.Sorted(maps.Keys(times)) {
		if n := times[task]; n >= driftTimes {
			addProposal(out, Medium, Framing, fmt.Sprintf("%s:%s#%d", what, task, n), "%s was %s %d times; rewrite the task or drop it", task, what, n).Task = task
		}
	}
}

// leaseTerm names a lease until its next renewal.
func (s Signs) leaseTerm() string {
	return s.File.Lease.ID + ":" + formatTime(s.File.Lease.ExpiresAt)
}

func (s Signs) proposeLeaseEnd(out *[]Proposal) {
	l := s.File.Lease
	if l.State != Active && l.State != Draft {
		return
	}
	over := ""
	switch s.Verdict.Code {
	case "time_expired":
		over = "expired at " + formatTime(l.ExpiresAt)
	case "tasks_exhausted":
		over = fmt.Sprintf("has no task left of %d", l.MaxTasks)
	case "budget_exhausted":
		over = "has no money left"
	case "milestone_reached":
		addProposal(out, Medium, EvaluationGate, "milestone:"+s.leaseTerm(), "lease %s reached its milestone: %s", l.ID, strings.Join(l.Milestone, ", "))
		return
	}
	switch {
	case over != "" && l.State == Draft:
		addProposal(out, High, Framing, "lease-expired:"+s.leaseTerm(), "lease %s %s and was never activated; activate it for longer (odd gate commitment --extend 3d) or end it (odd gate evaluation --release)", l.ID, over)
	case over != "":
		addProposal(out, High, EvaluationGate, "lease-expired:"+s.leaseTerm(), "lease %s %s; look at the results, then prolong it (odd gate commitment --renew) or end it (odd gate evaluation --release)", l.ID, over)
	case s.Verdict.Valid:
		s.proposeLeaseEnding(out)
	}
}

// proposeLeaseEnding proposes an evaluation if little of a valid lease is left.
func (s Signs) proposeLeaseEnding(out *[]Proposal) {
	l, v := s.File.Lease, s.Verdict
	var few []string
	if whole := l.ExpiresAt.Sub(l.ActivatedAt); l.State == Active && whole > 0 && v.Remaining <= whole/5 {
		few = append(few, v.Remaining.Truncate(time.Minute).String())
	}
	if l.MaxTasks > 0 && v.Tasks*5 <= l.MaxTasks {
		few = append(few, fmt.Sprintf("%d of %d tasks", v.Tasks, l.MaxTasks))
	}
	if l.Budget > 0 && v.Budget <= l.Budget/5 {
		few = append(few, formatUSD(v.Budget)+" of "+formatUSD(l.Budget))
	}
	if few != nil {
		addProposal(out, Low, EvaluationGate, "lease-ending:"+s.leaseTerm(), "lease %s nears its end: %s left", l.ID, strings.Join(few, ", "))
	}
}

// Digest returns a short hash of a set, the same in any order.
func Digest(set []string) string {
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(slices.Sorted(slices.Values(set))), "\n")))
	return hex.EncodeToString(sum[:6])
}

func formatCount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// formatUSD prints micro-USD, truncated to the cent.
func formatUSD(micro int64) string { return fmt.Sprintf("$%d.%02d", micro/1e6, micro%1e6/1e4) }

// joinFirst3 names the first three of a set and counts the others.
func joinFirst3(set []string) string {
	list := slices.Sorted(slices.Values(set))
	if len(list) > 3 {
		list = append(list[:3], fmt.Sprintf("and %d more", len(list)-3))
	}
	return strings.Join(list, ", ")
}
