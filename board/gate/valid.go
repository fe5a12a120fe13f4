package gate

import (
	"errors"
	"fmt"
	"time"
)

// Facts are what a lease's validity depends on, all of them derived.
type Facts struct {
	Now           time.Time
	Present       bool  // lease.toml exists
	Unreadable    error // ParseLease's
	Committed     bool  // it is committed, without changes in the work tree
	Chain         Chain
	ChainErr      error
	Sum           string // hex SHA-256 of lease.toml's bytes
	UsedTasks     int    // drained since its activation or renewal
	Spent         int64  // micro-USD, since the same time
	Done          func(task string) bool
	OpenEmergency string // id of an open emergency proposal, "" for none
	Buffer        Buffer // the proposals, for the lease's signals
}

// Verdict says whether a lease is valid, and what is left of it.
type Verdict struct {
	Valid     bool          `json:"valid"`
	Code      string        `json:"code,omitempty"` // the first reason that it is not, see Codes
	Text      string        `json:"text,omitempty"`
	Way       string        `json:"fix,omitempty"`
	Remaining time.Duration `json:"remaining_ns"`
	Tasks     int           `json:"remaining_tasks"`
	Budget    int64         `json:"remaining_micro_usd"` // also 0 for a lease without a budget
}

// Codes returns the reason codes in the order they are tested.
func Codes() []string {
	var out []string
	for _, t := range tests {
		out = append(out, t.code)
	}
	return out
}

// validityCheck is what one test of validity looks at.
type validityCheck struct {
	File
	Facts
	kind string
}

// test is one reason why a lease is not valid: its code, its text, which is "" if it does
// not apply, and the way out.
type test struct {
	code string
	says func(c validityCheck) string
	way  string
}

const (
	wayRestore          = "put back governance/ as the last gate committed it: git restore knowledge/governance, or git checkout COMMIT -- knowledge/governance"
	wayRelease          = "a person ends it: odd gate evaluation --release --reason \"WHY\""
	wayProlong          = "a person prolongs it: odd gate commitment --renew; or ends it: odd gate evaluation --release --reason \"WHY\""
	wayNext             = "a person starts the next one: odd gate framing, then odd gate commitment"
	wayReleaseSuspended = "it was suspended and may not last longer; " + wayRelease
	wayActivateLonger   = "a person activates it for longer: odd gate commitment --extend 3d; or ends it: odd gate evaluation --release --reason \"WHY\""
)

// tests are in the order in which they apply.
var tests = []test{
	{"unreadable", func(c validityCheck) string { return c.whyUnreadable(false) }, wayRestore},
	{"schema", validityCheck.whySchema, wayRestore},
	{"none", func(c validityCheck) string { return textIf(!c.Present, "there is no lease, so no task may run") }, "a person starts one: odd gate framing, then odd gate commitment"},
	{"draft", func(c validityCheck) string {
		return textIf(c.Lease.State == Draft && c.kind != "" && !Explores(c.kind), "%s is only a draft, under which tasks of kind %s do not run", c.Lease.ID, c.kind)
	}, "a person activates it: odd gate commitment"},
	{"suspended", func(c validityCheck) string {
		return textIf(c.Lease.State == Suspended, "%s is suspended by an emergency", c.Lease.ID)
	},
		"a person drafts it again: odd gate framing, then odd gate commitment; or ends it: odd gate evaluation --release --reason \"WHY\""},
	{"released", func(c validityCheck) string {
		return textIf(c.Lease.State == Released, "%s was ended by a person (released)", c.Lease.ID)
	}, wayNext},
	{"not_yet_active", func(c validityCheck) string {
		return textIf(c.Now.Before(c.Lease.ActivatedAt), "%s begins at %s", c.Lease.ID, formatTime(c.Lease.ActivatedAt))
	}, "wait until then, or correct the clock"},
	{"time_expired", validityCheck.whyExpired, wayProlong},
	{"tasks_exhausted", func(c validityCheck) string {
		return textIf(c.UsedTasks >= c.Lease.MaxTasks, "%d of %d tasks of %s are used", c.UsedTasks, c.Lease.MaxTasks, c.Lease.ID)
	}, wayProlong},
	{"milestone_reached", func(c validityCheck) string {
		return textIf(c.isMilestoneReached(), "every task of the milestone of %s is done", c.Lease.ID)
	}, wayRelease + "; then odd gate framing starts the next one"},
	{"signal_raised", func(c validityCheck) string {
		p, raised := c.Buffer.RaisedSignal(c.Lease)
		return textIf(raised, "%s ends on the signal %s: %s (request %s)", c.Lease.ID, signalName(p.Key), p.Reason, p.ID)
	}, ""},
	{"budget_exhausted", func(c validityCheck) string {
		return textIf(c.Lease.Budget > 0 && c.Spent >= c.Lease.Budget, "%s of %s USD of %s are spent", formatDollars(c.Spent), formatDollars(c.Lease.Budget), c.Lease.ID)
	}, wayProlong},
	{"stance_mismatch", func(c validityCheck) string {
		return textIf(c.ChainErr == nil && c.Stance != c.Chain.Stance(), "lease.toml has the stance %s, the last gate set %s", c.Stance, c.Chain.Stance())
	}, wayRestore},
	{"chain_broken", validityCheck.whyChainBroken, wayRestore},
	{"head_not_committed", func(c validityCheck) string {
		return textIf(!c.Committed, "lease.toml has changes that are not committed")
	}, wayRestore},
	{"emergency_open", func(c validityCheck) string {
		return textIf(c.OpenEmergency != "", "an emergency is reported and not answered (proposal %s)", c.OpenEmergency)
	},
		""},
	{"clock", validityCheck.whyClock, "correct the clock of this machine"},
}

// Valid judges the lease for a task kind, "" for none in particular. The first test that
// fails is the verdict.
func (f File) Valid(kind string, facts Facts) Verdict {
	c := validityCheck{f, facts, kind}
	for _, t := range tests {
		if text := t.says(c); text != "" {
			way := t.way
			switch draft := way == wayProlong && f.Lease.State == Draft; {
			case t.code == "emergency_open":
				way = fmt.Sprintf("a person answers it: odd gate proposals reject %[1]s --reason \"WHY\" if it is none; else odd gate emergency --because %[1]s (odd help gate emergency shows what else it asks for)", facts.OpenEmergency)
			case t.code == "signal_raised":
				p, _ := facts.Buffer.RaisedSignal(f.Lease)
				way = fmt.Sprintf("a person looks at it: odd gate evaluation --because %[1]s; or lets the lease go on: odd gate proposals reject %[1]s --reason \"WHY\"", p.ID)
			case way == wayProlong && f.Lease.State == Expired:
				way = wayNext
			case draft && facts.Chain.isSuspended(f.Lease.ID):
				way = wayReleaseSuspended
			case draft:
				way = wayActivateLonger
			}
			return Verdict{Code: t.code, Text: text, Way: way}
		}
	}
	v := Verdict{Valid: true, Remaining: f.Lease.ExpiresAt.Sub(facts.Now), Tasks: f.Lease.MaxTasks - facts.UsedTasks}
	if f.Lease.Budget > 0 {
		v.Budget = f.Lease.Budget - facts.Spent
	}
	return v
}

func textIf(fails bool, format string, args ...any) string {
	if !fails {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// whyUnreadable returns the error of a file that is no TOML, or with schema that of one
// whose content is wrong.
func (c validityCheck) whyUnreadable(schema bool) string {
	var m *Malformed
	if c.Unreadable == nil || schema != (errors.As(c.Unreadable, &m) && !m.Syntax) {
		return ""
	}
	return c.Unreadable.Error()
}

func (c validityCheck) whySchema() string {
	if text := c.whyUnreadable(true); text != "" || !c.Present {
		return text
	}
	if p := c.File.checkFile(); len(p) > 0 {
		return "lease.toml: " + p[0].String()
	}
	return ""
}

func (c validityCheck) whyExpired() string {
	if c.Lease.State == Expired {
		return c.Lease.ID + " was ended at an evaluation gate"
	}
	return textIf(!c.Now.Before(c.Lease.ExpiresAt), "%s ended at %s", c.Lease.ID, formatTime(c.Lease.ExpiresAt))
}

func (c validityCheck) isMilestoneReached() bool {
	for _, t := range c.Lease.Milestone {
		if c.Done == nil || !c.Done(t) {
			return false
		}
	}
	return len(c.Lease.Milestone) > 0
}

func (c validityCheck) whyChainBroken() string {
	if c.ChainErr != nil {
		return "gates.jsonl: " + c.ChainErr.Error()
	}
	id, state := c.Chain.Lease()
	last, ok := c.Chain.Last(c.Lease.ID)
	switch {
	case !ok || id != c.Lease.ID:
		return "lease.toml names " + c.Lease.ID + ", which no gate has made the lease"
	case state != c.Lease.State:
		return fmt.Sprintf("lease.toml says that %s is %s, the last gate says %s", id, c.Lease.State, state)
	case last.LeaseSum != c.Sum:
		return fmt.Sprintf("lease.toml was changed after the last gate, %s", last.ID)
	}
	return ""
}

func (c validityCheck) whyClock() string {
	last, ok := c.Chain.End()
	return textIf(ok && c.Now.Before(last.TS.Add(-skew)), "the clock says %s, which is before the last gate at %s", formatTime(c.Now), formatTime(last.TS))
}
