package overview

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/okf"
)

// Memory is a board at one commit as it is remembered: the slow loop's files,
// and what is derived from the tasks, the bundle and the ledger of the last
// three months. Nothing derived is ever stored.
type Memory struct {
	Slow   SlowLoop // its Facts.Now is the clock
	State  *state.State
	Root   string // of the bundle in the repository, for errors
	Bundle fs.FS
	Files  fs.FS // the whole commit, which the sources of atoms are compared with
	Graph  *okf.Graph
	Tasks  []board.Task
	Leases bool // odd.toml asks for one

	LandsAlone func(kind string) bool // [pipeline] auto_apply and auto_kinds; nil: nothing does

	Lessons []string // of the changes before, see package memory

	ends []state.End // nil until recall
}

// refusal is the refusal of a file that cannot be read: what it would say is not nothing.
func refusal(code, format string, args ...any) error {
	return gate.Refusals{{Code: code, Text: fmt.Sprintf(format, args...), Way: "restore the file from git history"}}
}

// months is how far back the ledger is read: a sign is about now.
const months = 3

func (m *Memory) readLedger() error {
	if m.ends != nil {
		return nil
	}
	var err error
	if m.ends, err = m.State.Ends(m.Slow.Facts.Now.UTC().AddDate(0, -months, 0)); err != nil {
		return refusal("ledger", "%s/%v", m.Root, err)
	}
	return nil
}

func (m *Memory) countTurns(after time.Time) int {
	n := 0
	for _, e := range m.ends {
		if e.At.After(after) {
			n++
		}
	}
	return n
}

// findProgress returns how many tasks were drained since one last reached review or done,
// and what reached it then.
func (m *Memory) findProgress() (silent int, last string) {
	var at time.Time
	for _, t := range m.Tasks {
		if when := t.DoneAt(); when.After(at) {
			at, last = when, string(t.ID)
		}
	}
	for _, e := range m.ends {
		switch {
		case e.Verdict == string(board.Review):
			silent = 0
			if e.At.After(at) {
				at, last = e.At, e.Run+"/"+e.Task
			}
		case e.At.After(at):
			silent++
		}
	}
	return silent, last
}

// Signs counts what decay looks at. refused is how many drains in a row were
// refused, which no ledger knows. A file that cannot be read is an error: what
// it would say is not nothing.
func (m *Memory) Signs(refused int) (gate.Signs, error) {
	s := gate.Signs{Now: m.Slow.Facts.Now, File: m.Slow.File, Verdict: m.Slow.Verdict(""), Refused: refused, Rejected: map[string]int{}, Blocked: map[string]int{}}
	if err := m.readLedger(); err != nil {
		return s, err
	}
	if rows := m.Slow.Facts.Chain.Rows; len(rows) > 0 {
		s.Act, s.LastGate = rows[len(rows)-1].ID, rows[len(rows)-1].TS
	}
	s.SinceProgress, s.Progress = m.findProgress()
	s.Failures, s.Failing = m.countFailures()
	s.Stale = m.listStale()
	for _, d := range m.driftedSources() {
		if d.Lost {
			s.Lost = append(s.Lost, string(m.Graph.ByPath(d.Path).ID))
		}
	}
	s.Lost = slices.Compact(s.Lost)
	m.addDrift(&s)
	var err error
	if s.Lately, err = m.readLately(); err != nil {
		return s, refusal("ledger", "%s/%v", m.Root, err)
	}
	ds, err := m.readDecisions()
	for _, d := range ds {
		if why := d.Due(s.Now, m.Slow.Facts.Done); why != "" {
			s.Due = append(s.Due, d.ID+" "+why)
		}
	}
	return s, err
}

// addDrift counts, for tasks that are not done, how often a person turned their
// proposal down and how often they ended blocked.
func (m *Memory) addDrift(s *gate.Signs) {
	open := map[string]bool{}
	for _, t := range m.Tasks {
		if t.State == board.Done {
			continue
		}
		open[string(t.ID)] = true
		if n := len(t.Rejected); n > 0 {
			s.Rejected[string(t.ID)] = n
		}
	}
	for _, e := range m.ends {
		if open[e.Task] && e.Verdict == string(board.Blocked) {
			s.Blocked[e.Task]++
		}
	}
}

// countFailures returns how many of the last drained tasks ended blocked or died, and the
// run of the first of them. A claim that was lost is neither.
func (m *Memory) countFailures() (n int, run string) {
	for _, e := range slices.Backward(m.ends) {
		switch e.Verdict {
		case string(board.Blocked), "abandoned":
			n, run = n+1, e.Run
		case string(board.Review):
			return n, run
		}
	}
	return n, run
}

func (m *Memory) listStale() []string {
	var out []string
	for _, a := range m.Graph.Atoms() {
		if isExpired(a, m.Slow.Facts.Now) {
			out = append(out, string(a.ID))
		}
	}
	return out
}

// driftedSources returns the sources of atoms in force whose file does not have all of the text that
// was read.
func (m *Memory) driftedSources() []okf.Drift {
	if m.Files == nil {
		return nil
	}
	return slices.DeleteFunc(okf.Drifted(m.Graph, m.Files, nil), okf.Drift.Stands)
}

// Reread are the atoms of which no file has all of the text that was read, by id, and the
// documents to read again for them and for those whose text is in another file now: those
// that the atoms cite, there or not, those that have the text, and where none has it also
// those with a heading, entry or row of the atom's title. For an atom that a person asserted or verified nothing is
// read: it stays as it is.
func (m *Memory) Reread() (ids, documents []string) {
	docs, titles := map[string]bool{}, map[string]bool{}
	for _, d := range m.driftedSources() {
		a := m.Graph.ByPath(d.Path)
		if d.Lost {
			ids = append(ids, string(a.ID))
		}
		if a.Confidence() > okf.Inferred || a.Tier() == okf.HumanReviewed {
			continue
		}
		for _, s := range a.Sources {
			if _, err := fs.Stat(m.Files, s.Resource); err == nil || s.Resource == d.Resource {
				docs[s.Resource] = true
			}
		}
		for _, f := range d.Files {
			docs[f] = true
		}
		if d.Dead() && a.Title != "" {
			titles[strings.ToLower(a.Title)] = true
		}
	}
	if len(titles) > 0 {
		m.findNaming(titles, func(file string) { docs[file] = true })
	}
	return slices.Compact(ids), slices.Sorted(maps.Keys(docs))
}

// findNaming calls found for the markdown files outside the bundle that have an entry of one of
// titles, which are in lower case.
func (m *Memory) findNaming(titles map[string]bool, found func(file string)) {
	_ = fs.WalkDir(m.Files, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir() && (p == m.Root || strings.HasPrefix(d.Name(), ".") && p != "."):
			return fs.SkipDir
		case !d.Type().IsRegular() || path.Ext(p) != ".md":
			return nil
		}
		b, err := fs.ReadFile(m.Files, p)
		if err == nil && hasEntry(strings.ToLower(string(b)), titles) {
			found(p)
		}
		return nil
	})
}

// hasEntry reports a line that begins with one of titles behind the marks of a heading, list,
// table or link. A title in the middle of a line is no entry: half of all documents may
// mention a short one.
func hasEntry(text string, titles map[string]bool) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, "#>*-+|_`[ \t")
		for title := range titles {
			rest, begins := strings.CutPrefix(line, title)
			if next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " ")); begins && !unicode.IsLetter(next) && !unicode.IsDigit(next) {
				return true
			}
		}
	}
	return false
}

func isExpired(a *okf.Atom, now time.Time) bool {
	if a.StaleAfter == "" || strings.EqualFold(a.Status, "deprecated") {
		return false
	}
	at, err := time.Parse(time.RFC3339, a.StaleAfter)
	return err == nil && !now.Before(at)
}

func (m *Memory) readDecisions() ([]gate.Decision, error) {
	ds, err := gate.ReadDecisions(m.Slow.Decisions)
	if err != nil {
		return nil, refusal("decisions", "%s/%s: %v", m.Root, gate.DecisionsPath, err)
	}
	return gate.InForce(ds), nil
}

// Decay is what decay proposes that was not said before, without ids.
func (m *Memory) Decay(refused int) ([]gate.Proposal, error) {
	s, err := m.Signs(refused)
	if err != nil {
		return nil, err
	}
	return m.Slow.Buffer.Unheard(gate.Decay(s)), nil
}

// readyWork returns the ready tasks that no other task holds up, in the order of the board.
func (m *Memory) readyWork() (out []board.Task) {
	all := board.IndexOf(board.RowsOf(m.Tasks))
	for _, t := range m.Tasks {
		if board.Eligible(&t.Row, all, m.Slow.Facts.Now) == "" {
			out = append(out, t)
		}
	}
	return out
}

// readLately counts what perception looks at.
func (m *Memory) readLately() (gate.Lately, error) {
	now := m.Slow.Facts.Now
	l := gate.Lately{Results: state.Results(m.Tasks), LandsAlone: m.LandsAlone, HasGoals: board.DirectionOf(m.Graph, nil) != nil}
	notes, err := m.State.Notes(now.AddDate(0, -months, 0))
	for _, n := range notes {
		list := map[string]*[]time.Time{state.Override: &l.Overrides, state.Outage: &l.Outages, state.Limit: &l.Limits}[n.What]
		if list != nil {
			*list = append(*list, n.At)
		}
	}
	scope := ScopeByID(m.Graph, m.Slow.File.Lease)
	for _, t := range m.readyWork() {
		l.Ready = append(l.Ready, gate.Work{ID: string(t.ID), Title: t.Title, Kind: t.Kind})
		if len(OutOfScope(scope, t, true)) > 0 {
			l.Outside = append(l.Outside, string(t.ID))
		}
	}
	waits := map[string]time.Time{}
	for _, e := range m.ends {
		waits[e.Run+" "+e.Task] = e.At
	}
	for _, t := range m.Tasks {
		if at, err := time.Parse(time.RFC3339, t.Created); err == nil && now.Sub(at) <= gate.Lookback {
			l.Filed++
		}
		if at := waits[t.Result.Run+" "+string(t.ID)]; t.State == board.Review && !at.IsZero() {
			l.Review = append(l.Review, string(t.ID))
			if l.ReviewFrom.IsZero() || at.Before(l.ReviewFrom) {
				l.ReviewFrom = at
				l.Review[0], l.Review[len(l.Review)-1] = l.Review[len(l.Review)-1], l.Review[0]
			}
		}
	}
	return l, err
}
