package gate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// State is the state of the lease.
type State string

// The states. The stored state Expired is what an evaluation gate wrote; expiry by time or use is
// derived and never stored. None is a repository without lease.toml and is in no file.
const (
	None      State = "none"
	Draft     State = "draft"
	Active    State = "active"
	Suspended State = "suspended"
	Expired   State = "expired"
	Released  State = "released"
)

// Lease is the commitment lease.
type Lease struct {
	ID            string    `json:"id,omitempty"` // L-0001 …
	State         State     `json:"state"`
	Frame         string    `json:"frame,omitempty"`
	Horizon       string    `json:"horizon,omitempty"`          // short, mid, long: at most 3, 14, 60 days from ActivatedAt to ExpiresAt
	Success       []string  `json:"success_criteria,omitempty"` // 1 to 3
	NonGoals      []string  `json:"non_goals,omitempty"`        // 1 to 3
	RenewalPrompt string    `json:"-"`
	ActivatedAt   time.Time `json:"-"`                          // UTC; zero until activated; a renewal sets it again
	ExpiresAt     time.Time `json:"expires_at,omitzero"`        // UTC; at this instant the lease is over
	MaxTasks      int       `json:"max_tasks,omitempty"`        // 20 by default; what is used is counted from the ledger
	Milestone     []string  `json:"milestone,omitempty"`        // task ids; the lease ends once all are done
	Signals       []string  `json:"signals,omitempty"`          // of leaseSignals; while a proposal about the lease is open that has one, no task runs
	Budget        int64     `json:"budget_micro_usd,omitempty"` // micro-USD; 0 is no limit
	Scope         Scope     `json:"scope"`
}

// Scope limits what may be drained. An empty list of kinds, roles, tags or tasks is no
// limit; an empty list of paths lets nothing be written.
type Scope struct {
	Kinds      []string          `json:"kinds,omitempty"`
	Roles      []string          `json:"roles,omitempty"`
	Tags       []string          `json:"tags,omitempty"`
	Tasks      []string          `json:"tasks,omitempty"`
	Paths      []string          `json:"paths,omitempty"`       // globs a change may touch; governance is never among them
	WorkOrders map[string]string `json:"work_orders,omitempty"` // task id → "sha256:…" of its file without odd's own keys
}

// File is lease.toml: the lease with the stance it was written under.
type File struct {
	Version int
	Stance  Stance
	Lease   Lease
}

// horizons are the longest times from activation to expiry, by horizon.
var horizons = map[string]time.Duration{"short": 3 * day, "mid": 14 * day, "long": 60 * day}

const day = 24 * time.Hour

// Problem is one thing wrong with a lease, at a key of lease.toml.
type Problem struct{ Field, Text string }

// String is "field: text".
func (p Problem) String() string { return p.Field + ": " + p.Text }

// placeholder matches a word that stands for a missing one. The pattern is written in
// halves, so that a search for open work does not find it.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(TB` + `D|TO` + `DO|FIX` + `ME|FILL[ _-]?IN)\b|^(?i:tb` + `d|to` + `do|fill[ _-]?in|n/a|none)\W*$|^[\W_]+$`)
})

// Check returns what is wrong with the lease alone. A draft may lack what a person has yet
// to say. With ready, before activation, nothing may be missing and no placeholder left.
func (l Lease) Check(ready bool) []Problem {
	c := &checker{ready: ready}
	if l.ID != "" && !leaseID().MatchString(l.ID) || l.ID == "" && ready {
		c.addProblem("lease.id", "%q is not an id like L-0001", l.ID)
	}
	c.checkText("lease.frame", l.Frame)
	c.checkSentences("lease.success_criteria", l.Success)
	c.checkSentences("lease.non_goals", l.NonGoals)
	c.checkText("lease.renewal_prompt", l.RenewalPrompt)
	c.checkTimes(l)
	if l.MaxTasks < 1 || l.MaxTasks > 1000 {
		c.addProblem("lease.max_tasks", "%d; want 1 to 1000", l.MaxTasks)
	}
	if l.Budget < 0 {
		c.addProblem("lease.budget_usd", "is negative")
	}
	c.checkWords("lease.milestone", l.Milestone)
	c.checkWords("lease.signals", l.Signals)
	for _, s := range l.Signals {
		if !slices.Contains(leaseSignals(), s) {
			c.addProblem("lease.signals", "unknown signal %q; %s", s, didYouMean(s, leaseSignals()))
		}
	}
	c.checkScope(l.Scope)
	return c.found
}

type checker struct {
	ready bool
	found []Problem
}

func (c *checker) addProblem(field, format string, args ...any) {
	c.found = append(c.found, Problem{field, fmt.Sprintf(format, args...)})
}

func (c *checker) checkText(field, s string) {
	switch {
	case !oneLine(s):
		c.addProblem(field, "%q is not one line of text", s)
	case s == "" && c.ready:
		c.addProblem(field, "is empty; say it in a sentence")
	case len(s) > 1000:
		c.addProblem(field, "is longer than 1000 bytes; say it in a sentence")
	case s != "" && c.ready && placeholder().MatchString(s):
		c.addProblem(field, "%q still holds a placeholder; say what is meant", s)
	}
}

// checkSentences checks a list of 1 to 3 sentences.
func (c *checker) checkSentences(field string, list []string) {
	if len(list) > 3 || len(list) == 0 && c.ready {
		c.addProblem(field, "has %d entries; want 1 to 3", len(list))
	}
	for _, s := range list {
		if s == "" {
			c.addProblem(field, "has an empty entry")
			continue
		}
		c.checkText(field, s)
	}
}

func (c *checker) checkWords(field string, list []string) {
	for i, s := range list {
		if s == "" || !oneLine(s) || slices.Contains(list[:i], s) {
			c.addProblem(field, "%q is empty, there twice or not one line", s)
		}
	}
}

func (c *checker) checkTimes(l Lease) {
	limit, known := horizons[l.Horizon]
	if !known {
		c.addProblem("lease.horizon", "unknown horizon %q; %s", l.Horizon, didYouMean(l.Horizon, []string{"short", "mid", "long"}))
	}
	if !isWholeSecond(l.ActivatedAt) {
		c.addProblem("lease.activated_at", "is not UTC in whole seconds")
	}
	switch {
	case !isWholeSecond(l.ExpiresAt):
		c.addProblem("lease.expires_at", "is not UTC in whole seconds")
	case l.ExpiresAt.IsZero():
		c.addProblem("lease.expires_at", "is missing; every lease ends")
	case l.ActivatedAt.IsZero():
	case !l.ExpiresAt.After(l.ActivatedAt):
		c.addProblem("lease.expires_at", "%s is not after activated_at", formatTime(l.ExpiresAt))
	case known && l.ExpiresAt.Sub(l.ActivatedAt) > limit:
		c.addProblem("lease.expires_at", "%s is more than %d days after activated_at, the most of a %s horizon", formatTime(l.ExpiresAt), limit/day, l.Horizon)
	}
}

func (c *checker) checkScope(s Scope) {
	c.checkWords("lease.scope.kinds", s.Kinds)
	for _, k := range s.Kinds {
		if !knownKind(k) {
			c.addProblem("lease.scope.kinds", "unknown kind %q; %s", k, didYouMean(k, slices.Concat(Kinds(Discovery), Kinds(Execution), Kinds(Evaluation))))
		}
	}
	c.checkWords("lease.scope.roles", s.Roles)
	c.checkWords("lease.scope.tags", s.Tags)
	c.checkWords("lease.scope.tasks", s.Tasks)
	c.checkWords("lease.scope.paths", s.Paths)
	if len(s.Paths) == 0 && c.ready {
		c.addProblem("lease.scope.paths", "is empty, so nothing could be written; name globs like \"knowledge/**\"")
	}
	for _, p := range s.Paths {
		if err := checkPattern(p); err != nil {
			c.addProblem("lease.scope.paths", "%q: %v", p, err)
		}
	}
	for _, task := range sortedKeys(s.WorkOrders) {
		sum, ok := strings.CutPrefix(s.WorkOrders[task], "sha256:")
		if task == "" || !oneLine(task) || !ok || !hexSum().MatchString(sum) {
			c.addProblem("lease.scope.work_orders", "%q = %q; want a task's id and \"sha256:\" with 64 hex digits", task, s.WorkOrders[task])
		}
	}
}

// Plan is what the board contributes to a prefilled draft.
type Plan struct {
	ID     string   // of the lease; "" lets the gate give it
	Ready  []Work   // in the order they would be drained
	Paths  []string // what may be written; knowledge/** when empty
	Budget int64    // micro-USD; 0 is no limit of its own
}

// Work is one ready task.
type Work struct{ ID, Title, Kind string }

// DraftOf returns a lease that needs no edit: three days, twenty tasks, and the kinds that
// are ready now beside those of exploration, which a draft permits already. now is the time
// of the draft.
func DraftOf(now time.Time, p Plan) File {
	l := Lease{
		ID: p.ID, State: Draft, Horizon: "short", ExpiresAt: now.UTC().Truncate(time.Second).Add(horizons["short"]), MaxTasks: 20, Budget: p.Budget,
		Frame:         "Find out what is worth doing next and file it as tasks.",
		Success:       []string{"The next tasks are on the board, each with what would show that it is done."},
		NonGoals:      []string{"Work that is not on the board.", "Changes outside the paths of this lease."},
		RenewalPrompt: "Is this the most important thing to work on now?",
		Scope:         Scope{Paths: slices.Clone(p.Paths)},
	}
	if len(l.Scope.Paths) == 0 {
		l.Scope.Paths = []string{"knowledge/**"}
	}
	if len(p.Ready) > 0 {
		l.Frame = draftFrame(p.Ready)
		l.Success = []string{"Every task that is ready today is done, or is blocked with a reason that a person has read."}
	}
	for _, w := range p.Ready {
		if knownKind(w.Kind) && !slices.Contains(l.Scope.Kinds, w.Kind) {
			l.Scope.Kinds = append(l.Scope.Kinds, w.Kind)
		}
	}
	if len(l.Scope.Kinds) > 0 {
		l.Scope.Kinds = append(l.Scope.Kinds, Kinds(Discovery)...)
	}
	slices.Sort(l.Scope.Kinds)
	l.Scope.Kinds = slices.Compact(l.Scope.Kinds)
	return File{Version: 1, Stance: Sensemaking, Lease: l}
}

// draftFrame names the first three tasks and counts the others.
func draftFrame(ready []Work) string {
	var names []string
	for _, w := range ready[:min(len(ready), 3)] {
		names = append(names, cmp.Or(cleanTitle(w.Title), cleanTitle(w.ID), "a task"))
	}
	text := "Finish what is ready: " + strings.Join(names, "; ")
	if more := len(ready) - len(names); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + "."
}

// cleanTitle returns a title as a lease may hold it, at most 80 bytes.
func cleanTitle(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
	return cleanLine(placeholder().ReplaceAllString(s, ""), 80)
}
