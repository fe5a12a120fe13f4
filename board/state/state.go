// Package state answers questions about a board at one commit: which tasks it has, what runs
// cost, which of them hold a task, which changes to files wait or ended, and which lease is in
// force.
//
// The board lies in the bundle, a folder of the repository ("knowledge" unless odd.toml names
// another). A [State] is made from that folder as one commit has it, and depends on nothing
// else: two commits with the same folder have the same State. Edits in a work tree count once
// they are committed.
//
//	bundle, err := fs.Sub(tree, "knowledge") // tree: repo.Tree(commit)
//	s := state.Of(bundle, repo)              // or nil for repo: then nothing is cached
//	tasks, unread, err := s.Tasks()          // the tasks, and the files that are none
//	spend, err := s.Spend()                  // the money of each month, and open claims
//	s = s.Next(later)                        // the bundle of another commit: only what differs is read
//
// # What it reads
//
// Every file of the bundle that holds an atom (Markdown with a type):
//
//	Atoms      the graph of all atoms, and the problems of their files
//	TaskAtoms  the same for the folder tasks/ alone
//	Tasks      the tasks of the graph
//
// The ledger. Each run of odd appends to a file of its own, ledger/YYYY-MM/RUN.jsonl, one event
// a line (package event). A run claims a task, which reserves money, and closes the claim with
// an outcome. A session that no task asked for has an engage event in the place of a claim.
// The claim of a run that died is closed by another run, as abandoned. A change to files that
// are not atoms is an op: its steps are events, and so is its end.
//
//	method     events                      answer
//	Spend      claim, engage, outcome,     money by month and team; open claims
//	           abandoned
//	Used       the same                    tasks and money used under a lease
//	Receipts   the same, and session       what each run paid for each task and model
//	Ends       outcome, abandoned          how claims of tasks ended
//	Swept      abandoned                   whether another run closed a run's claim
//	Ops        op, op_end                  every change, and how it stands or ended
//	OpenOps    op, op_end                  the changes without an end, and how many ended
//	Waiting    op, op_end                  the change that waits for a person's decision
//	Stories    op, op_end                  all steps of some changes
//	Trials     op, op_end                  what ended changes teach the next attempt
//	Tries      session                     how sessions fared with their agents
//	Permits    anchor                      permits that were given back
//	RunFile    all                         the events of one run
//	RunFiles   all                         the events of a month, a task or some runs
//
// The files of governance/ and proposals/. [ReadGovernance] returns the lease, the gates that
// were passed and the decisions; [ReadProposals] what waits for a person. They are functions of
// a folder and no methods, because commands also show a person their uncommitted edits of them.
//
// # What it costs
//
// A method reads what it needs at its first call. Waiting, Stories, Receipts, RunFile and
// RunFiles read the files that they are asked about again. Ops, OpenOps and Trials read again
// only the files of an op whose records lie in two months.
//
// What was read is kept by git's object ids. A month of the ledger whose folder has the same id
// is not read again. Of a month that only grew, only the changed files are read; any other month
// that changed is read whole. The graph is kept by the
// id of its folder; from the graph of a similar folder only the files that differ are read.
// [State.Next] reuses what is in memory, a [Cache] what an earlier process kept. Without either
// the answers are the same, and slower.
//
// # Errors
//
// A [*Damaged] names a ledger file that cannot be read, and the line. Spend and Permits return
// one for any such file; Used, Ends, Swept, Tries and Receipts only for one in the months that
// they read. Ops, OpenOps,
// Waiting, Stories and Trials use the events before the damage. RunFile and RunFiles return
// those events with the error of each file. A symbolic link in the place of a file is damage,
// and is not followed.
package state

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/failover"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/object"
	"github.com/odd-cli/odd/okf"
)

// Cache keeps bytes from one process to the next, by name, and tells in which files two
// trees differ. What it kept may be missing or old. A [repo.Repo] is one.
type Cache interface {
	Cached(name string) []byte
	CachedNames(prefix string) []string // the latest first
	Keep(name string, b []byte) error
	Diff(ctx context.Context, a, b repo.OID) ([]repo.Change, error)
}

// State is a board at one commit. It is not for several goroutines at once, and callers must
// not change what its methods return.
type State struct {
	bundle fs.FS
	cache  Cache
	reader *event.Reader
	before []*month // that may be carried on, nil for none
	months []*month
	err    error
	isRead bool
	fresh  int // how many files were read that no cache had

	run     string // that was asked for last
	runFile RunFile

	all, board atoms
	tasks      []board.Task
	unread     []okf.Problem
	tasksOf    *okf.Graph // that they are of, nil for none
}

// Reader returns what reads the ledgers, for whoever reads the same files.
func (s *State) Reader() *event.Reader { return s.reader }

// Of returns the State of a bundle, whose files and folders should have git's object ids, as those
// of [repo.TreeFS] have: without them nothing is cached. cache may be nil.
func Of(bundle fs.FS, cache Cache) *State {
	return &State{bundle: bundle, cache: cache, reader: &event.Reader{}}
}

// Next returns the State of the bundle of another commit, which reuses what s has read. s stays
// as it is.
func (s *State) Next(bundle fs.FS) *State {
	before := s.months
	if !s.isRead {
		before = s.before
	}
	next := *s
	next.bundle, next.before, next.months, next.err, next.isRead, next.run = bundle, before, nil, nil, false, ""
	next.all.isRead, next.board.isRead = false, false
	return &next
}

// readMonths folds the ledger, once.
func (s *State) readMonths() ([]*month, error) {
	if s.isRead {
		return s.months, s.err
	}
	s.isRead = true
	known, first := s.before, s.before == nil && s.cache != nil
	if s.before = nil; first {
		known = decodeMonths(s.cache.Cached(cacheName))
	}
	dirs, err := fs.ReadDir(s.bundle, "ledger")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		s.err = err
		return nil, err
	}
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		m, err := s.readMonth(d, known)
		if err != nil {
			s.err = err
			return nil, err
		}
		s.months = append(s.months, m)
	}
	if first && s.fresh >= worthKeeping {
		s.Keep()
	}
	return s.months, nil
}

// readMonth returns the fold of one folder of the ledger.
func (s *State) readMonth(d fs.DirEntry, known []*month) (*month, error) {
	id, err := object.EntryID(d)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(known, func(m *month) bool { return m.Name == d.Name() })
	f := folding{bundle: s.bundle, reader: s.reader, dir: path.Join("ledger", d.Name())}
	if i >= 0 && id != "" && known[i].Tree == id {
		if known[i].details == nil {
			known[i].again = f.foldAll
		}
		return known[i], nil
	}
	var m *month
	if i >= 0 {
		m, err = f.foldOnto(known[i])
	}
	if m == nil && err == nil {
		m, err = f.foldAll()
	}
	if err != nil {
		return nil, err
	}
	m.Name, m.Tree = d.Name(), id
	s.fresh += f.read
	return m, nil
}

// Damaged is the error for a file that cannot be read as what its name says.
type Damaged struct {
	Path string // in the bundle
	Err  error
}

func (d *Damaged) Error() string { return d.Path + ": " + d.Err.Error() }

// Unwrap is what is wrong with the file.
func (d *Damaged) Unwrap() error { return d.Err }

// soundMonths is readMonths, and the error of the first damaged file among the months for which about is true.
func (s *State) soundMonths(about func(month string) bool) ([]*month, error) {
	all, err := s.readMonths()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(m *month) bool { return !about(m.Name) })
	for _, m := range all {
		if m.damaged != nil {
			return nil, m.damaged
		}
	}
	return all, nil
}

// monthsSince are the months whose files may tell of a moment: a run's file lies in the
// month it began in, and no run lasts one.
func monthsSince(from time.Time) func(string) bool {
	first := event.Month(from.AddDate(0, 0, -31))
	return func(month string) bool { return from.IsZero() || month >= first }
}

func everyMonth(string) bool { return true }

// Spend is what the ledger says was spent, and the claims that are open.
func (s *State) Spend() (event.Spend, error) {
	all, err := s.soundMonths(everyMonth)
	if err != nil {
		return event.Spend{}, err
	}
	sums := make([]event.FileSum, len(all))
	for i, m := range all {
		sums[i] = m.Spend
	}
	return event.Combine(sums...)
}

// Used is what was claimed under a lease.
type Used struct {
	Tasks int   // claims of tasks under it
	Spent int64 // micro-USD; a claim that is open counts with what it reserved
	After int   // claims of tasks after the emergency, under whatever lease
}

// Used counts the claims that name a lease, from the moment that it began on, and those
// after an emergency. A zero moment is that of none. Sessions that no task asked for are
// no claims of a task, and cost.
func (s *State) Used(lease string, began, emergency time.Time) (Used, error) {
	from := began
	if !emergency.IsZero() && (emergency.Before(from) || from.IsZero()) {
		from = emergency
	}
	var u Used
	if from.IsZero() {
		return u, nil // nothing counts against anything
	}
	months, err := s.soundMonths(monthsSince(from))
	if err != nil {
		return u, err
	}
	var swept []event.Record
	for _, m := range months {
		swept = append(swept, m.Spend.Abandoned...)
	}
	for _, m := range months {
		for c := range m.allClaims() {
			isTask, counts := c.Task != c.Run, lease != "" && c.Lease == lease && !c.At.Before(began)
			if isTask && counts {
				u.Tasks++
			}
			if isTask && c.At.After(emergency) {
				u.After++
			}
			if counts {
				u.Spent = addCapped(u.Spent, c.claimCost(swept))
			}
		}
	}
	return u, nil
}

// claimCost is what a claim counts for, where these records swept claims of dead runs.
func (c claim) claimCost(swept []event.Record) int64 {
	var by event.Record
	for _, r := range swept {
		if c.Open && r.DeadRun == c.Run && r.Task == c.Task && !c.At.After(r.TS) && (by.Run == "" || r.TS.Before(by.TS)) {
			by = r
		}
	}
	if by.Run == "" {
		return c.Cost
	}
	return by.Cost
}

// Swept reports that another run has closed a claim of this one, as that of a dead run, in
// the months that may tell of a moment.
func (s *State) Swept(run string, from time.Time) (bool, error) {
	months, err := s.soundMonths(monthsSince(from))
	return slices.ContainsFunc(months, func(m *month) bool {
		return slices.ContainsFunc(m.Spend.Abandoned, func(r event.Record) bool { return r.DeadRun == run })
	}), err
}

// End is how a run's claim of a task ended.
type End struct {
	At      time.Time `json:"at"`
	Run     string    `json:"run"`
	Task    string    `json:"task"`
	Verdict string    `json:"verdict"` // as the outcome says it, or "abandoned" where the run died
}

// Ends are the ends of tasks from a moment on, oldest first.
func (s *State) Ends(from time.Time) ([]End, error) {
	months, err := s.soundMonths(monthsSince(from))
	out := []End{}
	for _, m := range months {
		for _, e := range m.loadDetails().Ends {
			if !e.At.Before(from) {
				out = append(out, e)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b End) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Task, b.Task))
	})
	return out, err
}

// Note is something that says nothing about the work itself.
type Note struct {
	At   time.Time `json:"at"`
	What string    `json:"what"` // Override, Outage or Limit
}

// What a Note is about: a person overrode a contract, a session lost its provider, or ended at
// a limit of turns, time or money.
const (
	Override = "override"
	Outage   = "outage"
	Limit    = "limit"
)

// Notes are those from a moment on, oldest first.
func (s *State) Notes(from time.Time) ([]Note, error) {
	months, err := s.soundMonths(monthsSince(from))
	var out []Note
	for _, m := range months {
		out = append(out, m.loadDetails().Notes...)
	}
	slices.SortStableFunc(out, func(a, b Note) int { return a.At.Compare(b.At) })
	return out, err
}

// Tries are what sessions say of their transports, oldest first, in the months that may
// tell of a moment.
func (s *State) Tries(from time.Time) ([]failover.Try, error) {
	months, err := s.soundMonths(monthsSince(from))
	var all []try
	for _, m := range months {
		all = append(all, m.loadDetails().Tries...)
	}
	slices.SortStableFunc(all, func(a, b try) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Run, b.Run), cmp.Compare(a.Seq, b.Seq))
	})
	out := make([]failover.Try, len(all))
	for i, t := range all {
		out[i] = t.Try
	}
	return out, err
}

// Permit is a permit of a session that was released.
type Permit struct {
	Token string    `json:"token"`
	Run   string    `json:"run"` // which released it
	Dead  string    `json:"dead,omitempty"`
	Task  string    `json:"task"`
	Role  string    `json:"role,omitempty"`
	At    time.Time `json:"at"`
}

// Permits are those that the ledger says were released, by token.
func (s *State) Permits() ([]Permit, error) {
	months, err := s.soundMonths(everyMonth)
	var out []Permit
	for _, m := range months {
		out = append(out, m.loadDetails().Permits...)
	}
	slices.SortStableFunc(out, func(a, b Permit) int { return cmp.Or(strings.Compare(a.Token, b.Token), a.At.Compare(b.At)) })
	return out, err
}
