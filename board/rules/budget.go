package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/persona/session"
)

var budgetRule = Rule{Row{
	N: 5, Name: "Two-tier budget", Unit: "records",
	Promise:  "Money is reserved before it is spent, and never beyond the limit.",
	Reads:    "claim, session, outcome and abandoned records; odd.toml and the task at the claim",
	Compares: "The claim reserves what odd.toml and the task say, in a commit before the session that puts the task in progress. At every claim, the month's spending and the open reservations fit the hard stop and the team's budget. Nothing is claimed while pause.toml is there. A session's record comes with its outcome. Where no task asks for sessions, there are no more than the claim says. Each record that closes a claim names an open one. It costs no less than its sessions, and no more than was reserved, but for the excess that it declares.",
	Attested: "the cost a session reported",
	Remedy:   "the records stay as they are; a person sets the limit in odd.toml, [budget] monthly_usd",
	Broken:   "Money was spent without a reservation, or past the limit.",
}, judgeBudget, false}

func judgeBudget(j *judge) {
	m := spendJudge{judge: j}
	for _, l := range j.Lines {
		j.checked++
		why := m.checkRecord(l)
		if why != "" {
			j.addFinding(l.Path, l.N, "%s", why)
		}
	}
	j.checkReserved()
}

// spendJudge checks the money of one act.
type spendJudge struct {
	*judge
	open map[[2]string][]event.Record // before it, by run and task; nil until asked
}

// A record's time decides which month's budget it counts against, so it may not be chosen freely.
const (
	Skew      = time.Hour       // between a record and its commit
	claimSkew = 5 * time.Minute // how far a claim may be dated before the ledger's last record
)

// checkRecord returns what is wrong with one new record.
func (m *spendJudge) checkRecord(l Line) string {
	r := l.Record
	late := r.TS.Sub(m.Author.When)
	if phase := r.Kind == event.Op || r.Kind == event.OpEnd; phase && late < 0 && l.Claim != nil && !r.TS.Before(l.Claim.TS) {
		late = 0 // it happened while the claim was worked on, however long that took, and costs nothing
	}
	if late.Abs() > Skew {
		if before := m.isBroughtBack(l.Path); before && m.isPersonsEnding(r) {
			return "" // a person puts back what they said
		}
		return fmt.Sprintf("is dated %s in a commit of %s", formatTime(r.TS), formatTime(m.Author.When))
	}
	switch r.Kind {
	case event.Claim, event.Engage:
		return m.checkClaim(l)
	case event.Session:
		if l.Claim == nil || !l.Claim.Known || l.Claim.Claim().RefreshOf != "" {
			return "a session ran before money was reserved for it in an earlier commit"
		}
		if !m.hasLaterOutcome(l) {
			return "a session has no outcome in its commit, so its cost is counted nowhere"
		}
		return m.checkSessionCount(l)
	case event.Outcome:
		return checkClosed(l)
	case event.Abandoned:
		return m.checkAbandoned(l)
	}
	return ""
}

// checkSessionCount reports more sessions than a claim without a task reserved for. A session that a failed transport
// ended, and that another agent took over, has a record of its own.
func (m *spendJudge) checkSessionCount(l Line) string {
	if l.Claim.Task != l.Claim.Run {
		return "" // a task's is one, however often it began anew
	}
	law, _ := m.findTerms(l.Record.Run, l.Record.Task)
	n := max(l.Claim.Claim().Sessions, 1)
	all, whole := int64(len(l.Claim.Sessions)+1), int64(0)
	for _, r := range append(slices.Clip(l.Claim.Sessions), l.Record) {
		if r.Session().Failure != session.Transport {
			whole++
		}
	}
	if whole > n || all > n*int64(1+len(law.Session.Fallback)) {
		return fmt.Sprintf("is session %d of a claim that reserved for %d", all, n)
	}
	return ""
}

// hasLaterOutcome reports an outcome of the same task after the record, in the same file.
func (j *judge) hasLaterOutcome(l Line) bool {
	return slices.ContainsFunc(j.Lines, func(o Line) bool {
		return o.Record.Kind == event.Outcome && o.Record.Task == l.Record.Task && o.Path == l.Path && o.N > l.N
	})
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// checkReserved reports a task that the act claims without a claim record.
func (j *judge) checkReserved() {
	if j.Kind != Board {
		return
	}
	for _, f := range j.Files {
		if taskState(f.Is) != board.InProgress || taskState(f.Was) == board.InProgress || f.Was == nil {
			continue
		}
		if !slices.ContainsFunc(j.Lines, func(l Line) bool {
			return l.Record.Kind == event.Claim && l.Record.Task == string(f.Is.ID) && l.Record.Claim().RefreshOf == ""
		}) {
			j.addFinding(f.Path, f.Is.Line("state"), "the task was claimed, but the ledger reserves no money for it")
		}
	}
}

// checkClosed returns what is wrong with the cost of an outcome. It may exceed the reservation if it says by how much,
// because a session may end one call late.
func checkClosed(l Line) string {
	r, c := l.Record, l.Claim
	switch {
	case c == nil:
		return "an outcome without an open claim of " + r.Task
	case r.Cost > c.Reserved && r.Outcome().Over != r.Cost-c.Reserved:
		return fmt.Sprintf("the outcome costs $%s, reserved were $%s, and it does not tell of as much above", formatUSD(r.Cost), formatUSD(c.Reserved))
	case r.Cost <= c.Reserved && r.Outcome().Over != 0:
		return fmt.Sprintf("the outcome tells of $%s above its reservation, and costs $%s of $%s", formatUSD(r.Outcome().Over), formatUSD(r.Cost), formatUSD(c.Reserved))
	case r.Cost < c.Spent:
		return fmt.Sprintf("the outcome costs $%s, its sessions $%s", formatUSD(r.Cost), formatUSD(c.Spent))
	case r.Team != c.Team:
		return fmt.Sprintf("the outcome is paid by team %q, the claim was team %q's", r.Team, c.Team)
	}
	return ""
}

func formatUSD(n int64) string { return budget.MicroUSD(n).String() }

// checkAbandoned returns what is wrong with a sweep's record. It must close a claim that was open before the act, and
// charge its whole reservation.
func (m *spendJudge) checkAbandoned(l Line) string {
	if m.open == nil {
		spent, err := m.ReadSpend(m.Parents[0])
		if err != nil {
			return "the ledger before it cannot be summed: " + err.Error()
		}
		m.open = map[[2]string][]event.Record{}
		for _, c := range spent.Open {
			k := [2]string{c.Run, c.Task}
			m.open[k] = append(m.open[k], c)
		}
	}
	r, k := l.Record, [2]string{l.Record.DeadRun, l.Record.Task}
	if len(m.open[k]) == 0 {
		return fmt.Sprintf("closes a claim of %s by %s that is not open", r.Task, cmp.Or(r.DeadRun, "no run"))
	}
	c := m.open[k][0]
	m.open[k] = m.open[k][1:]
	if r.Cost != c.Reserved || r.Team != c.Team {
		return fmt.Sprintf("charges $%s to team %q, %s had reserved $%s for team %q", formatUSD(r.Cost), r.Team, c.Run, formatUSD(c.Reserved), c.Team)
	}
	return ""
}

// checkClaim returns what is wrong with a claim: its time, what it reserves, or whether that fits the budgets on top of
// what the ledger had before.
func (m *spendJudge) checkClaim(l Line) string {
	r := l.Record
	before, err := m.ReadSpend(m.Parents[0])
	if err != nil {
		return "the ledger before it cannot be summed: " + err.Error()
	}
	if r.TS.Before(before.Last.Add(-claimSkew)) {
		from := m.FindClockStart(m.Parents[0], m.Law)
		if r.TS.Before(from.Add(-claimSkew)) {
			return fmt.Sprintf("is dated %s, the ledger was at %s already", formatTime(r.TS), formatTime(before.Last))
		}
	}
	if r.Claim().RefreshOf != "" && r.Reserved == 0 {
		return "" // a refresh, nothing runs
	}
	if oid, _ := m.Find(m.Parents[0], m.Law.Root+"/pause.toml"); oid != "" {
		return "a task was claimed while work was paused"
	}
	if why := m.checkReservation(r, m.readLeaseLeft(r)); why != "" {
		return why
	}
	want := budget.MicroUSD(r.Reserved)
	after, err := m.ReadSpend(m.OID)
	if err != nil {
		return "the ledger cannot be summed: " + err.Error()
	}
	all := budget.MicroUSD(after.In(event.Month(r.TS)))
	switch stop := m.Law.Allows(all-want, want) == budget.Stop; {
	case stop && !m.Law.HasBudget:
		return fmt.Sprintf("reserves $%s, and odd.toml sets no budget", want)
	case stop:
		return fmt.Sprintf("reserves $%s on top of $%s, over the month's limit of $%s", want, all-want, m.Law.Budget.Stop())
	}
	share := m.Law.Budget.Share(r.Team)
	part, ok := m.Law.Budget.Part(share)
	if !ok {
		return ""
	}
	own := budget.MicroUSD(after.TeamIn(event.Month(r.TS), share))
	if share == "" { // all teams without an envelope
		own = budget.MicroUSD(after.ApartIn(event.Month(r.TS), func(team string) bool { return m.Law.Budget.Share(team) != "" }))
	}
	if budget.DecideShare(m.Law.Budget, share, own-want, want) == budget.Stop {
		return fmt.Sprintf("reserves $%s on top of $%s, past %s $%s", want, own-want, nameShare(share), part)
	}
	return ""
}

func nameShare(share string) string {
	if share == "" {
		return "what no team has,"
	}
	return "team " + share + "'s"
}

// readLeaseLeft returns what the budget of a claim's lease had left before the claim. No session may cost more. Without
// such a budget it returns the largest amount.
func (m *spendJudge) readLeaseLeft(r event.Record) budget.MicroUSD {
	id := r.Claim().Lease
	s := m.ReadGovernance(m.Parents[0])
	if id == "" || s.Lease.Lease.ID != id || s.Lease.Lease.Budget == 0 {
		return math.MaxInt64
	}
	u := m.readLeaseUse(m.Parents[0], id, leaseStart(s.Chain, id))
	return budget.MicroUSD(max(s.Lease.Lease.Budget-u.Spent, 0))
}

// checkReservation reports a claim that reserves too little, names another team than its task, or is of a task that its
// commit does not put in progress.
func (m *spendJudge) checkReservation(r event.Record, left budget.MicroUSD) string {
	if r.Task == r.Run {
		return m.checkSessionReservation(r, left)
	}
	for _, f := range m.Files {
		if !IsTask(f.Is) || string(f.Is.ID) != r.Task || taskState(f.Was) == board.InProgress || taskState(f.Is) != board.InProgress {
			continue
		}
		t, err := board.Parse(f.Is)
		if err != nil {
			return "" // invariant 3 reports it
		}
		return m.checkTaskReservation(t, r, left)
	}
	return fmt.Sprintf("claims %s, which its commit does not put in progress", r.Task)
}

// checkSessionReservation is checkReservation for sessions without a task.
func (m *spendJudge) checkSessionReservation(r event.Record, left budget.MicroUSD) string {
	n := r.Claim().Sessions
	each := m.Law.Session.MaxCost
	if budget.MicroUSD(r.Reserved) < left && !m.Law.Free() && (n < 1 || r.Reserved/n < int64(each)) {
		return fmt.Sprintf("reserves $%s for %d sessions, each may cost $%s", formatUSD(r.Reserved), n, each)
	}
	return ""
}

// checkTaskReservation is checkReservation for a task, as its claim leaves it.
func (m *spendJudge) checkTaskReservation(t board.Task, r event.Record, left budget.MicroUSD) string {
	if r.Team != t.Team {
		return fmt.Sprintf("the claim is paid by team %q, the task's team is %q", r.Team, t.Team)
	}
	if want := risk.Reservation(*m.Law, t, int64(left)); r.Reserved < want {
		return fmt.Sprintf("reserves $%s, a session may cost $%s", formatUSD(r.Reserved), formatUSD(want))
	}
	return ""
}
