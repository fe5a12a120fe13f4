package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Lookback is how far back Perceive looks.
const Lookback = 14 * 24 * time.Hour

// Lately is what people, agents and providers did lately, as the caller counts it from the
// board and the ledger.
type Lately struct {
	Filed      int                    // tasks, within Lookback
	Results    []Result               // on which people decided, oldest first, of any age
	Overrides  []time.Time            // of contracts by people, oldest first, of any age; so are the next two
	Outages    []time.Time            // sessions that lost their provider
	Limits     []time.Time            // sessions that ended at a limit of turns, time or money
	Review     []string               // tasks in review, the one that waits longest first
	ReviewFrom time.Time              // since when it waits
	Ready      []Work                 // that no task of the board holds up
	Outside    []string               // those of Ready that the lease's scope leaves out, its kinds aside
	HasGoals   bool                   // a goal is in force
	LandsAlone func(kind string) bool // a change for a task of this kind lands without a person; nil: none does
}

// Result is a result on which a person decided.
type Result struct {
	Task, Kind string
	Goal       bool // its task names a goal
	At         time.Time
	Accepted   bool
}

// Signal is one number of a report.
type Signal struct {
	Name string `json:"signal"`
	N    int    `json:"n"`
}

// How often something must occur before Perceive proposes.
const (
	fewResults   = 5 // decided, before their share says anything
	gapLeast     = 3 // ready tasks, overrides, outages, limits
	queueLeast   = 5 // results in review
	queueDays    = 7
	graduateRun  = 10 // accepted results of a kind in a row
	distrustMiss = 3  // rejected results of a kind in a row
)

// The trajectories.
const (
	Converging = "converging"
	Drifting   = "drifting"
	Stuck      = "stuck"
)

// recentResults returns the results within Lookback, and how many of them were accepted.
func (s Signs) recentResults() (in []Result, accepted int) {
	for _, r := range s.Lately.Results {
		if s.isRecent(r.At) {
			in = append(in, r)
			if r.Accepted {
				accepted++
			}
		}
	}
	return in, accepted
}

func (s Signs) isRecent(at time.Time) bool { return s.Now.Sub(at) <= Lookback }

// recentTimes returns how many of the times are within Lookback, and the last.
func (s Signs) recentTimes(times []time.Time) (n int, last time.Time) {
	for _, at := range times {
		if s.isRecent(at) {
			n, last = n+1, at
		}
	}
	return n, last
}

// Trajectory says where the work goes: stuck if nothing reaches review, drifting if people
// reject at least half of five results or more, converging if they accept more than they
// reject, "" if nothing says so.
func (s Signs) Trajectory() string {
	in, accepted := s.recentResults()
	switch rejected := len(in) - accepted; {
	case s.SinceProgress >= silentTasks || s.Failures >= failureRun:
		return Stuck
	case len(in) >= fewResults && rejected*2 >= len(in):
		return Drifting
	case accepted > rejected:
		return Converging
	}
	return ""
}

// Report returns the signals of perception that are not zero. Days are whole ones.
func (s Signs) Report() []Signal {
	in, accepted := s.recentResults()
	overrides, _ := s.recentTimes(s.Lately.Overrides)
	outages, _ := s.recentTimes(s.Lately.Outages)
	limits, _ := s.recentTimes(s.Lately.Limits)
	sinceGate := 0
	if !s.LastGate.IsZero() {
		sinceGate = int(max(s.Now.Sub(s.LastGate), 0) / day)
	}
	all := []Signal{
		{"filed", s.Lately.Filed}, {"accepted", accepted}, {"rejected", len(in) - accepted}, {"in_review", len(s.Lately.Review)},
		{"overrides", overrides}, {"refused_drains", s.Refused}, {"outages", outages}, {"limits", limits}, {"days_since_gate", sinceGate},
	}
	return slices.DeleteFunc(all, func(g Signal) bool { return g.N == 0 })
}

// ReportLine prints signals in words: "2 accepted, 1 rejected".
func ReportLine(report []Signal) string {
	var out []string
	for _, g := range report {
		out = append(out, fmt.Sprintf("%d %s", g.N, strings.ReplaceAll(g.Name, "_", " ")))
	}
	return strings.Join(out, ", ")
}

// confidenceOf returns how sure a count of so many cases makes a sensor.
func confidenceOf(n int) string {
	switch {
	case n >= 10:
		return "high"
	case n >= fewResults:
		return "medium"
	}
	return "low"
}

// perceive returns the proposals of perception and of contrast. Perception reads the
// interaction; contrast compares what was committed to with what is done:
//
//	people reject half of the results, or more     evaluation  medium  drifting
//	results wait for review for a week             evaluation  medium  pacing
//	ready tasks that the stance holds back         where next  low     stance
//	ready tasks outside of the lease's scope       evaluation  low     scope
//	most accepted results serve no goal            evaluation  low     tangent
//	people override contracts again and again      framing     low     overrides
//	sessions lose their provider                   evaluation  low     outages
//	sessions end at their limits                   evaluation  low     limits
//	ten accepted results of a kind in a row        evaluation  low     graduate
//	three rejected of a kind that lands alone      evaluation  medium  distrust
//
// The last word is the name of the signal, for the key signals of a lease. What a count of
// outages or limits says is about the surroundings, so no session learns from it.
func (s Signs) perceive() (out []Proposal) {
	add := func(name, mark string, sev Severity, g Gate, n int, format string, args ...any) {
		out = append(out, Proposal{Source: Perception, Severity: sev, Gate: g, Key: name + "#" + mark, Reason: fmt.Sprintf(format, args...),
			Confidence: confidenceOf(n), Report: s.Report()})
	}
	l := s.Lately
	in, accepted := s.recentResults()
	if s.Trajectory() == Drifting {
		last := in[slices.IndexFunc(in, func(r Result) bool { return !r.Accepted })]
		for _, r := range in {
			if !r.Accepted {
				last = r
			}
		}
		add("drifting", formatTime(last.At), Medium, EvaluationGate, len(in), "people rejected %d of the last %d results; look at what the tasks ask for", len(in)-accepted, len(in))
	}
	if days := int(s.Now.Sub(l.ReviewFrom) / day); len(l.Review) >= queueLeast && days >= queueDays {
		add("pacing", l.Review[0], Medium, EvaluationGate, len(l.Review), "%d results wait for review, %s for %d days; review them before odd drain makes more (odd review)", len(l.Review), l.Review[0], days)
	}
	s.contrastLease(add)
	if n := countFunc(in, func(r Result) bool { return r.Accepted && !r.Goal }); l.HasGoals && accepted >= fewResults && n*2 > accepted {
		add("tangent", in[len(in)-1].Task, Low, EvaluationGate, accepted, "%d of the last %d accepted results serve no goal; name goals (odd task edit TASK --goal GOAL), or change the goals", n, accepted)
	}
	for _, c := range []struct {
		name  string
		times []time.Time
		gate  Gate
		says  string
	}{
		{"overrides", l.Overrides, Framing, "people overrode contracts %d times in 14 days; change the contract that is in the way"},
		{"outages", l.Outages, EvaluationGate, "%d sessions in 14 days lost their provider, which says nothing about their tasks; name another in [session] fallback"},
		{"limits", l.Limits, EvaluationGate, "%d sessions in 14 days ended at a limit of turns, time or money; split their tasks, or raise the limit in odd.toml"},
	} {
		if n, last := s.recentTimes(c.times); n >= gapLeast {
			add(c.name, formatTime(last), Low, c.gate, n, c.says, n)
		}
	}
	for _, kind := range s.kindsDecided() {
		good, bad := countStreaks(l.Results, kind)
		alone := l.LandsAlone != nil && l.LandsAlone(kind)
		switch {
		case good >= graduateRun && !alone:
			add("graduate:"+kind, "", Low, EvaluationGate, good, "people accepted the last %d results of kind %s; to let small ones land without them: odd config set pipeline.auto_kinds %s, and pipeline.auto_apply true", good, kind, kind)
		case bad >= distrustMiss && alone:
			add("distrust:"+kind, formatTime(l.Results[len(l.Results)-1].At), Medium, EvaluationGate, bad, "people rejected the last %d results of kind %s, so none lands without a person until they accept one; consider taking it out of pipeline.auto_kinds", bad, kind)
		}
	}
	return out
}

// contrastLease compares what is ready with what the stance and the scope of the active lease
// let run.
func (s Signs) contrastLease(add func(name, mark string, sev Severity, g Gate, n int, format string, args ...any)) {
	if s.File.Lease.State != Active {
		return
	}
	held := heldBack(s.File.Stance, s.Lately.Ready)
	if n := len(held); n >= gapLeast && n == len(s.Lately.Ready) {
		add("stance", Digest(workIDs(held)), Low, gateFor(held[0].Kind), n, "all %d ready tasks wait for another stance than %s: %s", n, s.File.Stance, joinFirst3(workIDs(held)))
	}
	if n := len(s.Lately.Outside); n >= gapLeast {
		add("scope", Digest(s.Lately.Outside), Low, EvaluationGate, n, "%d ready tasks are outside of the scope of %s: %s; revise the lease, or drop them", n, s.File.Lease.ID, joinFirst3(s.Lately.Outside))
	}
}

// gateFor returns the gate that leads to a stance in which a kind of task runs.
func gateFor(kind string) Gate {
	switch {
	case slices.Contains(Kinds(Execution), kind):
		return Commitment
	case slices.Contains(Kinds(Evaluation), kind):
		return EvaluationGate
	}
	return Framing
}

// heldBack returns the tasks whose kinds do not run in a stance.
func heldBack(s Stance, ready []Work) []Work {
	return slices.DeleteFunc(slices.Clone(ready), func(w Work) bool { return slices.Contains(Kinds(s), w.Kind) })
}

// Suppressed returns the kinds of tasks that do not run in a stance.
func Suppressed(s Stance) []string {
	all := slices.Concat(Kinds(Discovery), Kinds(Execution), Kinds(Evaluation))
	return slices.DeleteFunc(all, func(kind string) bool { return slices.Contains(Kinds(s), kind) })
}

// StanceCost says what a stance suppresses, and at which cost: the ready tasks that wait for
// another one.
func StanceCost(s Stance, held []string) string {
	cost := "no ready task waits for that"
	if len(held) > 0 {
		cost = fmt.Sprintf("%s for another: %s", formatCount(len(held), "ready task waits", "ready tasks wait"), joinFirst3(held))
	}
	return "holds back " + strings.Join(Suppressed(s), ", ") + "; " + cost
}

func workIDs(list []Work) (ids []string) {
	for _, w := range list {
		ids = append(ids, w.ID)
	}
	return ids
}

// kindsDecided returns the kinds of all results, sorted.
func (s Signs) kindsDecided() (kinds []string) {
	for _, r := range s.Lately.Results {
		kinds = append(kinds, r.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// countStreaks returns how many of the last results of a kind were accepted in a row, and how many
// were rejected; one of them is 0.
func countStreaks(results []Result, kind string) (accepted, rejected int) {
	for _, r := range slices.Backward(results) {
		switch {
		case r.Kind != kind:
		case r.Accepted && rejected == 0:
			accepted++
		case !r.Accepted && accepted == 0:
			rejected++
		default:
			return accepted, rejected
		}
	}
	return accepted, rejected
}

// Distrusted reports a kind whose last three results or more were rejected.
func Distrusted(results []Result, kind string) bool {
	_, rejected := countStreaks(results, kind)
	return rejected >= distrustMiss
}

func countFunc[T any](list []T, is func(T) bool) (n int) {
	for _, v := range list {
		if is(v) {
			n++
		}
	}
	return n
}

// signalName returns the name of the signal that a proposal is about: its key up to ":" or "#".
func signalName(key string) string {
	if i := strings.IndexAny(key, ":#"); i >= 0 {
		return key[:i]
	}
	return key
}

// leaseSignals returns the names of signals on which a lease may end.
func leaseSignals() []string {
	return []string{"blocked", "drifting", "failures", "limits", "lost-sources", "outages", "overrides", "pacing", "progress-silent", "rejected", "said", "scope", "tangent"}
}

// RaisedSignal returns the first open proposal about a lease whose signal ends it.
func (b Buffer) RaisedSignal(l Lease) (Proposal, bool) {
	for _, p := range b.Open() {
		if p.Lease == l.ID && slices.Contains(l.Signals, signalName(p.Key)) {
			return p, true
		}
	}
	return Proposal{}, false
}

// lapseAfter is how long a proposal of low or medium severity stays open.
const lapseAfter = 30 * 24 * time.Hour

// findLapsed returns the open proposals whose time has passed, but those that are being answered.
func (b Buffer) findLapsed(now time.Time, answered []string) (ids []string) {
	for _, p := range b.Open() {
		mild := p.Severity == Medium || p.Severity == Low
		if mild && now.Sub(p.TS) > lapseAfter && !slices.Contains(answered, p.ID) {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// checkReport checks what a sensor says beside its reason.
func (p Proposal) checkReport() error {
	if p.Confidence != "" {
		if err := checkKnown("confidence", p.Confidence, []string{"low", "medium", "high"}); err != nil {
			return err
		}
	}
	for _, g := range p.Report {
		if err := checkText("signal", g.Name, 40); err != nil {
			return err
		}
	}
	if len(p.Report) > 20 {
		return fmt.Errorf("report has %d signals, at most 20", len(p.Report))
	}
	return nil
}
