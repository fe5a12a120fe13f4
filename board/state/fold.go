package state

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"path"
	"slices"
	"sync/atomic"
	"time"

	"github.com/odd-cli/odd/board/failover"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/object"
	"github.com/odd-cli/odd/persona/session"
)

// month is what the ledger files of one folder come to. It never changes.
type month struct {
	Name  string         `json:"name"` // of the folder
	Tree  repo.OID       `json:"tree"` // its id
	Spend event.FileSum  `json:"spend"`
	Heads map[string]*Op `json:"heads"` // ops without an ending, or that began in another month, by id
	Ended int            `json:"ended"` // how many others there are

	last      lastRead
	damaged   *Damaged // the first file that cannot be read
	irregular bool     // a file is not of one run, or a run not in one file
	details   *details
	text      []byte                 // of the details in a cache, where they are not decoded yet
	again     func() (*month, error) // reads the files, where the text is none of odd's
}

// lastRead is the file of a month that was read last.
type lastRead struct {
	name  string
	blob  repo.OID
	bytes []byte
}

// details are what few ask of a month.
type details struct {
	Files   map[string]file `json:"files"` // by name
	Ops     map[string]*Op  `json:"ops"`   // that began and ended here, by id
	Ends    []End           `json:"ends"`
	Tries   []try           `json:"tries"`
	Permits []Permit        `json:"permits"`
	Notes   []Note          `json:"notes"`

	carried atomic.Bool // a later month has the room behind the lists
}

// file is a state of a ledger file.
type file struct {
	Blob    repo.OID `json:"blob"`
	Size    int      `json:"size"`
	Records int      `json:"records"`
	Run     string   `json:"run"`
	Tasks   []string `json:"tasks"`
	Claims  []claim  `json:"claims"`

	damaged bool
}

// try is a session's word of its transport.
type try struct {
	failover.Try
	Run string
	Seq int
}

// claim is a claim, as a lease counts it.
type claim struct {
	Run   string    `json:"run"`
	Task  string    `json:"task"`
	Lease string    `json:"lease,omitempty"`
	At    time.Time `json:"at"`
	Cost  int64     `json:"cost,omitzero"` // micro-USD; what it reserved while it is open
	Open  bool      `json:"open,omitzero"` // nothing in its file closes it
}

// loadDetails returns the month's details, nil where they come from a cache that odd did not write, and nobody said how to do without.
func (m *month) loadDetails() *details {
	if m.details != nil {
		return m.details
	}
	d := &details{}
	if json.Unmarshal(m.text, d) == nil && d.Files != nil {
		m.details = d
	} else if m.again != nil {
		now, err := m.again()
		if m.details = d; err == nil {
			m.details = now.details
		}
	}
	return m.details
}

// allClaims are the claims in all files.
func (m *month) allClaims() iter.Seq[claim] {
	return func(yield func(claim) bool) {
		for _, f := range m.loadDetails().Files {
			for _, c := range f.Claims {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// folding folds the files of one folder.
type folding struct {
	bundle fs.FS
	reader *event.Reader
	dir    string
	read   int // how many files were read
}

// readFile reads a ledger, which is large and may be shared with whoever else reads it.
func (f *folding) readFile(name string) ([]byte, error) {
	if shared, ok := f.bundle.(interface{ ReadShared(string) ([]byte, error) }); ok {
		return shared.ReadShared(name)
	}
	return fs.ReadFile(f.bundle, name)
}

// entry is a ledger file of the folder, or what goes by the name of one.
type entry struct {
	name    string
	blob    repo.OID
	regular bool
}

// nameDamage is what is wrong with what only goes by the name.
func (e entry) nameDamage(name string) *Damaged {
	if e.regular {
		return nil
	}
	return &Damaged{name, errors.New("is a link or a submodule, not a file; restore the file from git")}
}

func (f *folding) listEntries() ([]entry, error) {
	all, err := fs.ReadDir(f.bundle, f.dir)
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, e := range all {
		if e.IsDir() || path.Ext(e.Name()) != ".jsonl" {
			continue
		}
		id, err := object.EntryID(e)
		if err != nil {
			return nil, err
		}
		out = append(out, entry{e.Name(), id, e.Type().IsRegular()})
	}
	return out, nil
}

// foldAll reads every file.
func (f *folding) foldAll() (*month, error) {
	all, err := f.listEntries()
	if err != nil {
		return nil, err
	}
	m := &month{Heads: map[string]*Op{}, details: &details{Files: map[string]file{}, Ops: map[string]*Op{}}}
	return m, f.addEntries(m, all)
}

// foldOnto returns the fold of the folder from one of an earlier state of it; nil where files
// changed otherwise than by growing.
func (f *folding) foldOnto(old *month) (*month, error) {
	all, err := f.listEntries()
	if err != nil || old.damaged != nil || old.irregular || slices.ContainsFunc(all, func(e entry) bool { return !e.regular }) {
		return nil, err
	}
	was, kept := old.loadDetails(), 0
	if was == nil {
		return nil, nil
	}
	changed := slices.DeleteFunc(all, func(e entry) bool {
		before, known := was.Files[e.name]
		if known {
			kept++
		}
		return known && e.blob != "" && before.Blob == e.blob
	})
	if kept != len(was.Files) {
		return nil, nil // a file is gone
	}
	d := &details{Files: maps.Clone(was.Files), Ops: maps.Clone(was.Ops), Ends: was.Ends, Tries: was.Tries, Permits: was.Permits, Notes: was.Notes}
	if was.carried.Swap(true) {
		d.Ends, d.Tries, d.Permits, d.Notes = slices.Clip(d.Ends), slices.Clip(d.Tries), slices.Clip(d.Permits), slices.Clip(d.Notes)
	}
	m := &month{Spend: old.Spend, Heads: maps.Clone(old.Heads), last: old.last, details: d}
	if err := f.addEntries(m, changed); err != nil || m.irregular || m.damaged != nil {
		return nil, err
	}
	return m, nil
}

func (f *folding) addEntries(m *month, changed []entry) error {
	runs := map[string]string{}
	for name, s := range m.details.Files {
		runs[s.Run] = name
	}
	for _, e := range changed {
		name := path.Join(f.dir, e.name)
		if damaged := e.nameDamage(name); damaged != nil {
			m.damaged = cmp.Or(m.damaged, damaged)
			m.details.Files[e.name] = file{damaged: true}
			continue
		}
		b, err := f.readFile(name)
		if err != nil {
			return err
		}
		f.read++
		was, grown := m.details.Files[e.name]
		if grown && !m.isContinued(e.name, was, b) {
			m.irregular = true
			return nil
		}
		records, err := f.reader.Read(b)
		fresh := records[min(was.Records, len(records)):]
		now := file{Blob: e.blob, Size: len(b), Records: len(records), Run: runOf(records), Tasks: addTasks(was.Tasks, fresh)}
		if err == nil {
			now.Claims, err = m.addRecords(was, grown, fresh)
		}
		if now.damaged = err != nil; now.damaged {
			m.damaged = cmp.Or(m.damaged, &Damaged{name, err})
		}
		m.last = lastRead{e.name, e.blob, b}
		if other, taken := runs[now.Run]; now.Run == "" || taken && other != e.name || was.Run != "" && was.Run != now.Run {
			m.irregular = true
		}
		runs[now.Run], m.details.Files[e.name] = e.name, now
		for id := range byOp(fresh) {
			if err := f.foldOp(m, id, name, byOp(records)[id]); err != nil {
				return err
			}
		}
	}
	m.Ended = len(m.details.Ops)
	return nil
}

// isContinued reports that b begins with what a file had before.
func (m *month) isContinued(name string, was file, b []byte) bool {
	if m.last.name == name && m.last.blob == was.Blob {
		return bytes.HasPrefix(b, m.last.bytes)
	}
	return was.Size <= len(b) && isBlob(was.Blob, b[:was.Size])
}

// addRecords adds the new records of a file to m, and returns the file's claims.
func (m *month) addRecords(was file, grown bool, records []event.Record) (claims []claim, err error) {
	if grown {
		m.Spend, err = m.Spend.Add(records)
	} else {
		var sum event.FileSum
		if sum, err = sum.Add(records); err == nil {
			m.Spend, err = m.Spend.Merge(sum)
		}
	}
	if err != nil {
		return nil, err
	}
	d := m.details
	claims = slices.Clone(was.Claims)
	for _, r := range records {
		switch r.Kind {
		case event.Claim, event.Engage:
			if r.Claim().Override != nil {
				d.Notes = append(d.Notes, Note{r.TS, Override})
			}
			claims = append(claims, claim{Run: r.Run, Task: r.Task, Lease: r.Claim().Lease, At: r.TS, Cost: r.Reserved, Open: true})
		case event.Session:
			s := r.Session()
			t := failover.Judge(s.Substrate, s.Outcome, s.Failure, session.Class(s.Class), r.TS)
			d.Tries = append(d.Tries, try{t, r.Run, r.Seq})
			switch {
			case t.Class != "":
				d.Notes = append(d.Notes, Note{r.TS, Outage})
			case slices.Contains([]string{session.Timeout, session.TurnLimit, session.OverBudget}, s.Failure):
				d.Notes = append(d.Notes, Note{r.TS, Limit})
			}
		case event.Anchor:
			d.Permits = append(d.Permits, Permit{Token: r.Anchor().Token, Run: r.Run, Dead: r.DeadRun, Task: r.Task, Role: r.Role, At: r.TS})
		case event.Outcome:
			closeClaims(claims, r)
			if r.Task != r.Run {
				d.Ends = append(d.Ends, End{r.TS, r.Run, r.Task, r.Outcome().Verdict})
			}
		case event.Abandoned:
			if r.Task != r.DeadRun {
				d.Ends = append(d.Ends, End{r.TS, r.DeadRun, r.Task, "abandoned"})
			}
		}
	}
	return claims, nil
}

func closeClaims(claims []claim, r event.Record) {
	for i := range claims {
		if c := &claims[i]; c.Open && c.Run == r.Run && c.Task == r.Task && !c.At.After(r.TS) {
			c.Open, c.Cost = false, r.Cost
		}
	}
}

// foldOp folds one op again, of which a file has these records.
func (f *folding) foldOp(m *month, id, name string, records []event.Record) error {
	names := []string{name}
	if old := cmp.Or(m.Heads[id], m.details.Ops[id]); old != nil {
		names = slices.Concat(old.Files, names)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var all []event.Record
	for _, one := range names {
		if one == name {
			all = append(all, records...)
			continue
		}
		b, err := fs.ReadFile(f.bundle, one)
		if err != nil {
			return err
		}
		others, _ := f.reader.Read(b)
		all = append(all, byOp(others)[id]...)
	}
	stories, _ := pipeline.ReadOps(all)
	delete(m.Heads, id)
	delete(m.details.Ops, id)
	for _, s := range stories {
		o := OpOf(s)
		o.Files = names
		if o.Ended() && s.Told[0].Op.N == 1 {
			m.details.Ops[id] = o
		} else {
			m.Heads[id] = o
		}
	}
	return nil
}

// OpOf is the op of a story.
func OpOf(s pipeline.Story) *Op {
	o := s.Op()
	out := &Op{
		ID: o.ID, Task: o.Task, Run: cmp.Or(o.Fact(pipeline.FactDied), o.Run), Phase: o.Phase, Reason: o.Reason, Tier: o.Fact(pipeline.FactTier),
		Began: o.Began, At: o.At, Spent: o.Spent,
	}
	switch {
	case !o.Ended():
		out.Until = o.Until
		if o.Phase == pipeline.Waiting && len(o.Moved) > 0 {
			out.Proposal = o.Moved[0].New
		}
	case o.Reason == pipeline.Landed && len(o.Moved) == 2:
		out.Proposal = o.Moved[1].New
	}
	if t, ok := s.Trial(); ok {
		out.Trial = &t
	}
	return out
}

func byOp(records []event.Record) map[string][]event.Record {
	out := map[string][]event.Record{}
	for _, r := range records {
		if id := r.Op().Op; id != "" {
			out[id] = append(out[id], r)
		}
	}
	return out
}

// runOf is the run that all records are of, "" for none.
func runOf(records []event.Record) string {
	if len(records) == 0 || slices.ContainsFunc(records, func(r event.Record) bool { return r.Run != records[0].Run }) {
		return ""
	}
	return records[0].Run
}

func addTasks(tasks []string, records []event.Record) []string {
	tasks = slices.Clip(tasks)
	for _, r := range records {
		if !slices.Contains(tasks, r.Task) {
			tasks = append(tasks, r.Task)
		}
	}
	return tasks
}

// isBlob reports that b is the content of a blob.
func isBlob(id repo.OID, b []byte) bool {
	h := sha1.New()
	if len(id) == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(b))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)) == string(id)
}

// addCapped returns a sum; more than odd can count is the most that it can.
func addCapped(a, b int64) int64 { return a + min(b, math.MaxInt64-a) }
