package drain

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/event"
)

// SlowLoop is the slow loop as one commit of the board has it: the files that a
// gate starts from, and what the lease's validity is judged by.
type SlowLoop struct {
	gate.Slow
	File    gate.File
	Facts   gate.Facts
	Drained int // tasks claimed since the last emergency, under whatever lease; 0 where there was none
}

// LookSlow reads the slow loop of a bundle. committed says that the work tree
// has no other governance files than the bundle; tasks are the bundle's. A lease
// or a chain that cannot be read stands in the facts and refuses there; a ledger
// or proposals that cannot be read are an error, because what was used and what
// is open cannot be known then.
func LookSlow(bundle fs.FS, tasks []*board.Row, committed bool, now time.Time) (SlowLoop, error) {
	return lookSlow(bundle, tasks, committed, now, nil)
}

// lastOf is the last moment that a ledger file tells of, by its path below the
// bundle; not ok where it is not known without reading it.
type lastOf func(name string) (last time.Time, ok bool)

// lookSlow is LookSlow for who knows when ledger files ended, nil for nobody.
func lookSlow(bundle fs.FS, tasks []*board.Row, committed bool, now time.Time, last lastOf) (SlowLoop, error) {
	var s SlowLoop
	var err error
	for _, f := range []struct {
		name string
		to   *[]byte
	}{{gate.LeasePath, &s.LeaseFile}, {gate.GatesPath, &s.Gates}, {gate.DecisionsPath, &s.Decisions}} {
		if *f.to, err = governing(bundle, f.name); err != nil {
			return s, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if s.Buffer, err = ReadBuffer(bundle); err != nil {
		return s, err
	}
	s.Facts = gate.Facts{Now: now, Present: s.LeaseFile != nil, Committed: committed, Done: doneBy(tasks)}
	s.Facts.Chain, s.Facts.ChainErr = gate.ReadChain(s.Gates)
	if s.Facts.Present {
		s.File, s.Facts.Unreadable = gate.ParseLease(gate.LeasePath, s.LeaseFile)
		s.Facts.Sum = gate.Sum(s.LeaseFile)
	}
	s.Facts.OpenEmergency = s.Buffer.Emergency()
	return s, s.count(bundle, last)
}

// governing is a governing file's bytes, nil where there is none. A symbolic link
// is neither: where it leads is not what the board has committed.
func governing(bundle fs.FS, name string) ([]byte, error) {
	info, err := fs.Lstat(bundle, name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, errors.New("is a symbolic link, not a file")
	}
	b, err := fs.ReadFile(bundle, name)
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.As(err, &pe):
		return nil, pe.Err
	}
	return b, err
}

// ReadBuffer reads every writer's proposals of a bundle.
func ReadBuffer(bundle fs.FS) (gate.Buffer, error) {
	var b gate.Buffer
	names, err := fs.Glob(bundle, "proposals/*.jsonl")
	if err != nil {
		return b, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(bundle, name)
		if err == nil {
			err = b.ReadProposals(text)
		}
		if err != nil {
			return b, fmt.Errorf("%s: %w", name, err)
		}
	}
	return b, nil
}

// doneBy tells whether a task is done by any of the names a lease may give it.
func doneBy(tasks []*board.Row) func(string) bool {
	done := map[string]bool{}
	for _, t := range tasks {
		if t.State == board.Done {
			done[string(t.ID)], done[t.Path], done[board.Slug(t.ID)] = true, true, true
		}
	}
	return func(name string) bool { return done[name] }
}

// count fills in what the ledger says was used: since the lease began to count,
// and since the last emergency. A file that ended before either tells nothing of it.
func (s *SlowLoop) count(bundle fs.FS, last lastOf) error {
	began, emergency := s.marks()
	from := began
	if !emergency.IsZero() && (emergency.Before(from) || from.IsZero()) {
		from = emergency
	}
	if from.IsZero() {
		return nil // no lease and no emergency: nothing counts against anything
	}
	over := func(name string) bool {
		if last == nil || began.IsZero() {
			return false
		}
		at, ok := last(name)
		return ok && at.Before(from)
	}
	recs, err := recordsSince(bundle, from, over)
	if err != nil {
		return err
	}
	u := usage{lease: s.File.Lease.ID, began: began, emergency: emergency}
	for _, r := range recs {
		u.add(r)
	}
	for _, r := range recs {
		if r.Kind == event.Abandoned {
			u.close(r, r.DeadRun)
		}
	}
	for _, c := range u.open {
		u.charge(c, c.Reserved)
	}
	s.Facts.UsedTasks, s.Facts.Spent, s.Drained = u.tasks, u.spent, u.drained
	return nil
}

// marks are when the lease began to count, by its last row that drafts,
// activates or renews it, and when the last emergency was; zero where neither was.
func (s *SlowLoop) marks() (began, emergency time.Time) {
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

// recordsSince are the ledger's records of the files that may hold one at or
// after from, but for those that are left out; nil leaves out none. A run's file lies
// in the month it began in, and no run lasts one.
func recordsSince(bundle fs.FS, from time.Time, out func(name string) bool) ([]event.Record, error) {
	names, err := fs.Glob(bundle, "ledger/*/*.jsonl")
	if err != nil {
		return nil, err
	}
	var all []event.Record
	for _, name := range names {
		if !from.IsZero() && path.Base(path.Dir(name)) < event.Month(from.AddDate(0, 0, -31)) || out != nil && out(name) {
			continue
		}
		b, err := fs.ReadFile(bundle, name)
		if err != nil {
			return nil, err
		}
		rs, err := event.Read(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, rs...)
	}
	return all, nil
}

// usage adds up what was done under one lease.
type usage struct {
	lease            string
	began, emergency time.Time
	tasks, drained   int
	spent            int64
	open             []event.Record // claims nothing has closed yet
}

func (u *usage) add(r event.Record) {
	switch r.Kind {
	case event.Claim:
		u.open = append(u.open, r)
		if r.Task == r.Run {
			return // a session that no task asked for
		}
		if u.counts(r) {
			u.tasks++
		}
		if r.TS.After(u.emergency) {
			u.drained++
		}
	case event.Outcome:
		u.close(r, r.Run)
	}
}

// counts reports a claim that was made under the lease since it began to count.
func (u *usage) counts(c event.Record) bool {
	return u.lease != "" && c.Claim().Lease == u.lease && !c.TS.Before(u.began)
}

// close charges what closes run's claims of r's task.
func (u *usage) close(r event.Record, run string) {
	u.open = slices.DeleteFunc(u.open, func(c event.Record) bool {
		if c.Run != run || c.Task != r.Task || c.TS.After(r.TS) {
			return false
		}
		u.charge(c, r.Cost)
		return true
	})
}

func (u *usage) charge(c event.Record, cost int64) {
	if u.counts(c) {
		u.spent += min(cost, math.MaxInt64-u.spent) // more than odd can count is still spent
	}
}

// Verdict judges the lease for a task kind, "" for none in particular.
func (s SlowLoop) Verdict(kind string) gate.Verdict { return s.File.Valid(kind, s.Facts) }
