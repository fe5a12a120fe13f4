// Package overview says what a board at one commit says before anybody works on it: what people
// decided at gates (SlowLoop), what to read before asking anybody (Context), and the signs that
// decay judges the board by (Memory.Signs). It reads the commit and the ledger, and writes nothing.
package overview

import (
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/okf"
)

// SlowLoop is what people decide at gates, and so seldom, as one commit of the board has it: the commitment
// lease, the working phase, the decisions and what asks for a gate. Facts are what the lease is judged by.
type SlowLoop struct {
	gate.Slow
	File    gate.File
	Facts   gate.Facts
	Drained int // tasks claimed since the last emergency, under whatever lease; 0 where there was none
}

// LookSlow reads the slow loop of a bundle, whose ledger is that of st. committed says that the work tree
// has no other governance files than the bundle; tasks are the bundle's. A lease
// or a chain that cannot be read stands in the facts and refuses there; a ledger
// or proposals that cannot be read are an error, because what was used and what
// is open cannot be known then.
func LookSlow(bundle fs.FS, st *state.State, tasks func() []*board.Row, committed bool, now time.Time) (SlowLoop, error) {
	g, err := state.ReadGovernance(bundle)
	s := SlowLoop{Slow: g.Slow, File: g.Lease}
	if err != nil {
		return s, err
	}
	if s.Buffer, err = state.ReadProposals(bundle); err != nil {
		return s, err
	}
	s.Facts = gate.Facts{
		Now: now, Present: g.HasLease, Unreadable: g.Faults[gate.LeasePath], Committed: committed,
		Chain: g.Chain, ChainErr: g.Faults[gate.GatesPath], Sum: g.LeaseSum, Done: doneBy(tasks),
	}
	s.Facts.OpenEmergency, s.Facts.Buffer = s.Buffer.Emergency(), s.Buffer
	return s, s.countUse(st)
}

// doneBy tells whether a task is done by any of the names a lease may give it. It asks for the
// tasks when a lease names one.
func doneBy(tasks func() []*board.Row) func(string) bool {
	names := sync.OnceValue(func() map[string]bool {
		done := map[string]bool{}
		for _, t := range tasks() {
			if t.State == board.Done {
				done[string(t.ID)], done[t.Path], done[board.Slug(t.ID)] = true, true, true
			}
		}
		return done
	})
	return func(name string) bool { return names()[name] }
}

// countUse fills in what the ledger says was used: since the lease began to count,
// and since the last emergency.
func (s *SlowLoop) countUse(st *state.State) error {
	began, emergency := s.findMarks()
	u, err := st.Used(s.File.Lease.ID, began, emergency)
	s.Facts.UsedTasks, s.Facts.Spent, s.Drained = u.Tasks, u.Spent, u.After
	return err
}

// findMarks are when the lease began to count, by its last row that drafts,
// activates or renews it, and when the last emergency was; zero where neither was.
func (s *SlowLoop) findMarks() (began, emergency time.Time) {
	for _, r := range s.Facts.Chain.Rows {
		if r.Gate == gate.Emergency {
			emergency = r.TS
		}
		if r.Lease == s.File.Lease.ID && slices.Contains([]string{"draft", "activate", "renew"}, r.Act) {
			began = r.TS
		}
	}
	return began, emergency
}

// Verdict judges the lease for a task kind, "" for none in particular.
func (s SlowLoop) Verdict(kind string) gate.Verdict { return s.File.Valid(kind, s.Facts) }

// OutOfScope lists what of a piece of work is not in the lease's scope. kind says
// that its kind has been refused already.
func OutOfScope(l gate.Lease, t board.Task, kind bool) []string {
	var tags []string
	if t.Atom != nil {
		tags = t.Atom.Tags
	}
	all := l.Scope
	if kind {
		all.Kinds = nil
	}
	var no []string
	for _, one := range []gate.Scope{{Kinds: all.Kinds}, {Roles: all.Roles}, {Tags: all.Tags}, {Tasks: all.Tasks}} {
		l.Scope = one
		if ok, why := l.Covers(t.Kind, t.Role, tags, string(t.ID), nil); !ok {
			no = append(no, why)
		}
	}
	for _, p := range t.Paths {
		l.Scope = gate.Scope{Paths: all.Paths}
		if ok, why := l.Covers(t.Kind, t.Role, tags, string(t.ID), []string{p}); !ok {
			no = append(no, why)
		}
	}
	return no
}

// ScopeByID returns l with the tasks of its scope by id, however it names them.
func ScopeByID(g *okf.Graph, l gate.Lease) gate.Lease {
	id := func(name string) string {
		if a, err := g.Find(name); err == nil {
			return string(a.ID)
		}
		return name
	}
	l.Scope.Tasks = slices.Clone(l.Scope.Tasks)
	for i, name := range l.Scope.Tasks {
		l.Scope.Tasks[i] = id(name)
	}
	orders := map[string]string{}
	for name, sum := range maps.All(l.Scope.WorkOrders) {
		orders[id(name)] = sum
	}
	l.Scope.WorkOrders = orders
	return l
}
