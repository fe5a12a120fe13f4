package rules

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
)

// grace is how long after a lease's end a record may be dated, because odd writes the record a moment after it checked
// the lease.
const grace = 5 * time.Second

// judgeLeases checks the act's claims and results against the lease they name, as it was before the act.
func (j *judge) judgeLeases() {
	j.checkLines(func(l Line) string {
		switch l.Record.Kind {
		case event.Claim, event.Engage:
			j.checked++
			if j.checkLeaseTrailer(l) {
				return ""
			}
			return j.checkClaimLease(l.Record)
		case event.Outcome:
			return j.checkResultLease(l)
		}
		return ""
	})
}

// checkLeaseTrailer reports a claim that names another lease than its commit's trailer.
func (j *judge) checkLeaseTrailer(l Line) bool {
	id, said := l.Record.Claim().Lease, j.Trailer("Odd-Lease")
	if strings.Join(said, ", ") == id || l.Record.Claim().RefreshOf != "" && l.Record.Reserved == 0 {
		return false
	}
	trailer := "has no trailer Odd-Lease"
	if len(said) > 0 {
		trailer = fmt.Sprintf("says Odd-Lease %s", strings.Join(said, ", "))
	}
	j.addFinding(l.Path, l.N, "the claim of %s names %s, and its commit %s", l.Record.Task, cmp.Or(id, "no lease"), trailer)
	j.setWay("odd drain writes one lease to both, and no trailer where there is none: take the commit back before it is pushed, and find out what made it")
	return true
}

// checkClaimLease returns what is wrong with the lease of a claim.
func (j *judge) checkClaimLease(r event.Record) string {
	if r.Claim().RefreshOf != "" && r.Reserved == 0 {
		return "" // a refresh, nothing runs
	}
	id := r.Claim().Lease
	alarm := j.findEmergency(j.Parents[0])
	switch {
	case id == "" && j.Law.Lease == "required":
		return "a claim without a lease, where odd.toml requires one"
	case id == "" && alarm != "":
		return fmt.Sprintf("a claim while emergency proposal %s was open", alarm)
	case id == "":
		return ""
	}
	s, v := j.judgeLease(id, j.workKind(r), r, gate.Facts{OpenEmergency: alarm})
	if !v.Valid {
		return fmt.Sprintf("a claim under %s, which was not valid: %s", id, v.Text)
	}
	return j.checkCovered(s.Lease, r)
}

// checkResultLease returns why a result may not go to review under its lease. What its own claim used does not count
// against it.
func (j *judge) checkResultLease(l Line) string {
	if l.Claim == nil || l.Record.Outcome().Verdict != string(board.Review) {
		return ""
	}
	id := l.Claim.Claim().Lease
	alarm := j.findEmergency(j.Parents[0])
	if id == "" {
		return ""
	}
	own := gate.Facts{OpenEmergency: alarm, Spent: -l.Claim.Reserved}
	if l.Claim.Task != l.Claim.Run {
		own.UsedTasks = -1
	}
	j.checked++
	_, v := j.judgeLease(id, j.workKind(l.Record), l.Record, own)
	if v.Valid {
		return ""
	}
	return fmt.Sprintf("a result that goes to review under %s, which was not valid any more: %s", id, v.Text)
}

// judgeLease judges a lease as it was before the act, at the time of a record. The use in more is added to the use that
// the ledger records.
func (j *judge) judgeLease(id, kind string, r event.Record, more gate.Facts) (*Governance, gate.Verdict) {
	at := j.Parents[0]
	s := j.ReadGovernance(at)
	f := more
	f.Now, f.Present, f.Committed, f.Chain, f.Sum = r.TS, s.HasLease, true, s.Chain, s.LeaseSum
	f.Unreadable, f.ChainErr = s.Faults[gate.LeasePath], s.Faults[gate.GatesPath]
	if end := s.Lease.Lease.ExpiresAt; !f.Now.Before(end) && f.Now.Before(end.Add(grace)) {
		f.Now = end.Add(-time.Second)
	}
	if s.HasLease && f.Unreadable == nil && s.Lease.Lease.ID != id {
		return s, gate.Verdict{Text: "the lease was " + s.Lease.Lease.ID}
	}
	u := j.readLeaseUse(at, id, leaseStart(s.Chain, id))
	f.UsedTasks, f.Spent = max(u.Tasks+f.UsedTasks, 0), max(u.Spent+f.Spent, 0)
	if len(s.Lease.Lease.Milestone) > 0 {
		f.Done = j.readDoneTasks(at)
	}
	if len(s.Lease.Lease.Signals) > 0 {
		f.Buffer = j.ReadProposals(at)
	}
	return s, s.Lease.Valid(kind, f)
}

// workKind returns the kind of task that a claim or a result is about. It is "" for a session that only detects and has
// no task.
func (j *judge) workKind(r event.Record) string {
	for _, f := range j.Files {
		if IsTask(f.Is) && string(f.Is.ID) == r.Task {
			if t, err := board.Parse(f.Is); err == nil {
				return t.Kind
			}
		}
	}
	switch contract.Role(r.Claim().ContractRole) { // a session that no task asks for
	case contract.Explorer:
		return "research"
	case contract.Planner:
		return "option"
	case contract.Validator, contract.Observer:
		if r.Task == r.Run {
			return ""
		}
		return "review"
	}
	return "implement"
}

// checkCovered returns why the stance, the scope or a hash lock of the lease forbids the claimed task. It allows a
// session that only detects and has no task, because that changes nothing.
func (j *judge) checkCovered(f gate.File, r event.Record) string {
	l, kind := f.Lease, j.workKind(r)
	if r.Task == r.Run && kind == "" {
		return ""
	}
	if kinds := gate.Kinds(f.Stance); !slices.Contains(kinds, kind) {
		return fmt.Sprintf("a claim of kind %s in %s, where only %s are drained", kind, f.Stance, strings.Join(kinds, ", "))
	}
	for _, file := range j.Files {
		if !IsTask(file.Was) || string(file.Was.ID) != r.Task {
			continue
		}
		t, err := board.Parse(file.Was)
		if err != nil {
			return "" // invariant 3 reports it
		}
		l = resolveLeaseTask(l, t)
		if ok, why := l.Covers(kind, t.Role, file.Was.Tags, string(t.ID), t.Paths); !ok {
			return fmt.Sprintf("a claim outside the scope of %s: %s", l.ID, why)
		}
		if ok, want, got := l.Locked(string(t.ID), file.Was.Bytes()); !ok {
			return fmt.Sprintf("a claim of a task whose file is %s, %s locked %s", ShortID(strings.TrimPrefix(got, "sha256:")), l.ID, ShortID(strings.TrimPrefix(want, "sha256:")))
		}
		return ""
	}
	if len(l.Scope.Kinds) > 0 && !slices.Contains(l.Scope.Kinds, kind) {
		return fmt.Sprintf("a claim outside the scope of %s: kind %s", l.ID, kind)
	}
	return ""
}

// taskNames returns all names by which a lease may name a task.
func taskNames(t board.Task) []string {
	stem := strings.TrimSuffix(path.Base(t.Path), ".md")
	return []string{string(t.ID), t.Path, strings.TrimSuffix(t.Path, ".md"), stem, board.Slug(t.ID)}
}

// resolveLeaseTask returns the lease with every name of the task replaced by its id.
func resolveLeaseTask(l gate.Lease, t board.Task) gate.Lease {
	all := taskNames(t)
	l.Scope.Tasks = slices.Clone(l.Scope.Tasks)
	for i, name := range l.Scope.Tasks {
		if slices.Contains(all, name) {
			l.Scope.Tasks[i] = string(t.ID)
		}
	}
	orders := map[string]string{}
	for name, sum := range l.Scope.WorkOrders {
		if slices.Contains(all, name) {
			name = string(t.ID)
		}
		orders[name] = sum
	}
	l.Scope.WorkOrders = orders
	return l
}

// leaseStart returns from when on use of a lease counts: its last draft, activation or renewal.
func leaseStart(c gate.Chain, lease string) (at time.Time) {
	for _, r := range c.Rows {
		if r.Lease == lease && slices.Contains([]string{"draft", "activate", "renew"}, r.Act) {
			at = r.TS
		}
	}
	return at
}

// readLeaseUse returns what was used of a lease since a time, by the ledgers of a commit.
func (j *judge) readLeaseUse(commit repo.OID, lease string, since time.Time) state.Used {
	used, err := j.ReadState(commit).Used(lease, since, time.Time{})
	j.Must(IgnoreDamaged(err))
	return used
}

// readDoneTasks returns a function that reports whether a task, by any of its names, was done in a commit.
func (j *judge) readDoneTasks(commit repo.OID) func(string) bool {
	tree, mode := j.Find(commit, j.LawAt(commit).Root+"/tasks")
	if mode != Folder {
		return func(string) bool { return false }
	}
	all := j.Diff("", tree)
	done := map[string]bool{}
	for _, ch := range all {
		a := j.ReadAtom(ch.New, ch.NewMode, "tasks/"+ch.Path)
		if !IsTask(a) {
			continue
		}
		if t, err := board.Parse(a); err == nil && t.State == board.Done {
			for _, name := range taskNames(t) {
				done[name] = true
			}
		}
	}
	return func(name string) bool { return done[name] }
}
