package drain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
)

// requiresLease reports whether this board is drained under a commitment lease only.
// What odd.toml does not say is required.
func (s *snapshot) requiresLease() bool { return s.cfg.Lease != "off" }

// authority says what the board allows at one commit and one moment: by its lease, its
// emergencies, its budget and the state of its tasks.
type authority struct {
	*snapshot
	now       time.Time
	committed bool // the work tree has no other governance files than the board
}

// authority returns what the board as d last saw it allows now.
func (d *drain) authority() authority { return d.authorityAt(d.at) }

// authorityAt returns what the board at another commit allows now.
func (d *drain) authorityAt(s *snapshot) authority { return authority{s, d.Now(), !d.uncommitted} }

// readGovernance returns what people decided at gates. It is read once a snapshot.
func (a authority) readGovernance() (overview.SlowLoop, error) {
	if a.slow == nil {
		l, err := overview.LookSlow(a.bundle, a.state, func() []*board.Row { return a.rows() }, a.committed, a.now)
		if err != nil {
			return overview.SlowLoop{}, refuse("lease-unreadable", "%s/%v; restore the file from git history", a.cfg.Root, err)
		}
		a.slow = &l
	}
	l := *a.slow
	l.Facts.Now = a.now
	return l, nil
}

// checkLease returns the lease that work may begin under, "" where none is required. It
// refuses a lease that is not valid, and an open emergency on any board.
func (a authority) checkLease() (lease string, err error) {
	lease, no := a.leaseRefusals()
	if err := cmp.Or(no...); err != nil {
		return "", err
	}
	return lease, nil
}

// leaseRefusals is checkLease with all that it refuses, the first first; some are nil.
func (a authority) leaseRefusals() (lease string, no []error) {
	s, err := a.readGovernance()
	switch {
	case err != nil:
		return "", []error{err}
	case !a.requiresLease():
		return "", []error{refuseInEmergency(s.Facts.OpenEmergency)}
	}
	v := s.Verdict("")
	if !v.Valid {
		no = append(no, refuse("lease-"+strings.ReplaceAll(v.Code, "_", "-"), "%s; %s", v.Text, v.Way))
	}
	no = append(no, refuseInEmergency(s.Facts.OpenEmergency))
	if !a.committed && v.Code != "head_not_committed" {
		no = append(no, refuse("lease-head-not-committed", "files under governance/ are edited but not committed; restore them with git restore, or commit them at a gate"))
	}
	return s.File.Lease.ID, no
}

// refuseInEmergency refuses while the emergency proposal id is open; "" is none.
func refuseInEmergency(id string) error {
	if id == "" {
		return nil
	}
	return refuse("lease-emergency-open", "the emergency %s is open, so no task runs; a person runs odd gate emergency --because %[1]s, or odd gate proposals reject %[1]s", id)
}

// checkCharter lists what the lease has against a piece of work in a role: its kind in this
// stance, its place in the scope, and the hash lock of its file. A session that
// only detects, and for no task, is no such work: a lease that stands is enough.
func (a authority) checkCharter(t board.Task, role contract.Role) []error {
	t.Kind = kindOf(t, role)
	if !a.requiresLease() || isOffBoard(t) && t.Kind == "" {
		return nil
	}
	s, err := a.readGovernance()
	if err != nil || !s.Facts.Present || s.Facts.Unreadable != nil {
		return nil // checkLease reports it; there is no lease to compare with
	}
	var no []error
	l := overview.ScopeByID(a.graph, s.File.Lease)
	stance := s.File.Stance
	switch kinds := gate.Kinds(stance); {
	case !slices.Contains(kinds, t.Kind):
		no = append(no, refuse("lease-kind", "task %s: tasks of kind %s do not run in the working phase %s, only %s; a person changes the phase with odd gate", t.ID, t.Kind, stance, strings.Join(kinds, ", ")))
	case l.State == gate.Draft && !gate.Explores(t.Kind):
		no = append(no, refuse("lease-draft", "task %s: the lease %s is a draft, which allows no task of kind %s; a person runs odd gate commitment", t.ID, l.ID, t.Kind))
	}
	for _, why := range overview.OutOfScope(l, t, len(no) > 0) {
		no = append(no, refuse("lease-scope", "task %s: %s; change it with odd task edit, or a person changes the lease with odd gate evaluation --revise FILE", t.ID, why))
	}
	if t.Atom == nil {
		return no
	}
	if ok, want, got := l.Locked(string(t.ID), t.Atom.Bytes()); !ok {
		no = append(no, refuse("lease-work-order", "task %s: its file changed (%s) since the lease fixed it (%s); restore it from git, or a person changes the lease with odd gate evaluation --revise FILE", t.ID, shortHash(got), shortHash(want)))
	}
	return no
}

func shortHash(sum string) string {
	if len(sum) > 19 {
		return sum[:19] + "…"
	}
	return sum
}

// whyUnleased says why the lease does not hold a path for a task, "" where it does.
func (a authority) whyUnleased(t board.Task, path string) string {
	if !a.requiresLease() {
		return ""
	}
	s, err := a.readGovernance()
	if err != nil {
		return err.Error()
	}
	l := gate.Lease{Scope: gate.Scope{Paths: s.File.Lease.Scope.Paths}}
	_, why := l.Covers(t.Kind, t.Role, nil, string(t.ID), []string{path})
	return why
}

// whyUnmade says why a stance does not make an atom, "" where it does. Execution
// makes all that is in scope. The stances of exploration make what asks and
// names, decisions and artifacts only as drafts; evaluation reports and makes
// nothing. A task that is filed waits in the backlog for a person, in any.
func whyUnmade(s gate.Stance, a okf.Atom) string {
	makes := []string{"term", "concept", "decision"}
	switch s {
	case gate.Execution:
		return ""
	case gate.Discovery:
		makes = append(makes, "artifact")
	case gate.Evaluation:
		makes = nil
	}
	kind := strings.ToLower(a.Type)
	switch {
	case kind == board.Type:
	case !slices.Contains(makes, kind):
		return fmt.Sprintf("%s is a %s, but in %s an agent may only make %s", a.Path, a.Type, s, cmp.Or(strings.Join(makes, ", "), "nothing but reports"))
	case (kind == "decision" || kind == "artifact") && a.Status != "draft":
		return fmt.Sprintf("%s is a %s that is not a draft, but in %s an agent may only draft it", a.Path, a.Type, s)
	}
	return ""
}

// kindOf is the kind of t's work. A session that no task asks for has the kind of what its role does. A role that
// only looks for faults has none (""): only its findings and its journal land, so no stance or scope of a lease applies.
func kindOf(t board.Task, role contract.Role) string {
	if !isOffBoard(t) {
		return t.Kind
	}
	switch role {
	case contract.Explorer:
		return "research"
	case contract.Planner:
		return "option"
	case contract.Validator, contract.Observer:
		return ""
	}
	return "implement"
}

// whyRevoked says why the claim c may not go on or come to a review: the lease it was made under is no
// longer valid, or an emergency is open. What c itself has used counts as granted. "" is nothing.
func (a authority) whyRevoked(c *claim) string {
	l, err := a.readGovernance()
	if err != nil {
		return err.Error()
	}
	if c.leaseID == "" {
		if err := refuseInEmergency(l.Facts.OpenEmergency); err != nil {
			return err.Error()
		}
		return ""
	}
	if l.File.Lease.ID != c.leaseID && l.Facts.Present && l.Facts.Unreadable == nil {
		return fmt.Sprintf("lease released: %s replaced %s", l.File.Lease.ID, c.leaseID)
	}
	l.Facts.Spent -= min(int64(c.reserved), l.Facts.Spent)
	if !isOffBoard(c.task) {
		l.Facts.UsedTasks = max(l.Facts.UsedTasks-1, 0)
	}
	v := l.Verdict(c.kind)
	if v.Valid {
		return ""
	}
	word := strings.ReplaceAll(strings.TrimPrefix(v.Code, "time_"), "_", " ")
	return fmt.Sprintf("lease %s: %s; %s", word, v.Text, v.Way)
}

// checkEligible refuses t if its state, an unfinished merge of its file, or another file
// with the same id keeps it from every drain.
func (a authority) checkEligible(t board.Task) error {
	if why := board.Eligible(&t.Row, a.index(), a.now); why != "" {
		return refuse("task", "task %s: %s", t.ID, why)
	}
	if t.Atom != nil {
		if p := okf.Conflict(t.Atom.Bytes()); p != nil {
			p.Path = a.pathOf(t.Path)
			return refuse("unmerged", "%v", p)
		}
	}
	if twin := board.Twin(a.problems, t.Path); twin != nil {
		return refuse("task", "%s:%d: %s; %s", a.pathOf(t.Path), twin.Line, twin.Message, twin.Hint)
	}
	return nil
}
