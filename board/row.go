package board

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/odd-cli/odd/okf"
)

// Row is what a list needs of a task: its place on the board, and all that Eligible and
// Order need. A list of ten thousand tasks keeps their rows and no atom.
type Row struct {
	ID            okf.ID
	Path          string // below the bundle root
	Title         string
	State         State
	Kind          string // implement by default
	Priority      string // p0..p3, default p2
	Role          string
	Goal          string    // a goal, as written; DirectionOf finds it
	Dependencies  []okf.ID  // hard; Parse keeps them as written, Tasks and Rows resolve them to ids
	ClaimedBy     string    // the run that holds or last held it
	LeaseExpires  time.Time // UTC; zero when no run holds it
	BlockedReason string
	Created       string // generated.at
}

// Rows returns the rows of Tasks(g), with the same problems.
func Rows(g *okf.Graph) ([]*Row, []okf.Problem) {
	read := okf.GatherKept(g, func(typ string) bool { return typ == Type }, func(a *okf.Atom) readRow {
		if !onBoard(a.Path) {
			return readRow{}
		}
		t, problems := parseTask(a)
		return readRow{t.Row, problems}
	}, okf.Form[readRow]{Name: "rows", Texts: readRow.texts, Value: rowOf})
	var problems []okf.Problem
	rows := make([]*Row, 0, len(read))
	for i := range read {
		switch t := &read[i]; {
		case len(t.problems) > 0:
			problems = append(problems, t.problems...)
		case t.row.Path != "":
			rows = append(rows, &t.row)
		}
	}
	slices.SortFunc(rows, func(a, b *Row) int { return cmp.Compare(a.ID, b.ID) })
	r := resolver{g: g, rows: rows, stems: sync.OnceValue(func() map[string]okf.ID { return indexStems(rows) })}
	for _, t := range rows {
		r.resolveIDs(t.Dependencies)
	}
	return rows, problems
}

// readRow is a task as it was read: a row if it has a path, or problems, or neither for what
// is not on the board.
type readRow struct {
	row      Row
	problems []okf.Problem
}

// texts returns a row without problems as texts, of which rowOf makes it again.
func (r readRow) texts() []string {
	t, lease := &r.row, ""
	if t.Path == "" || len(r.problems) > 0 {
		return nil
	}
	if !t.LeaseExpires.IsZero() {
		lease = t.LeaseExpires.Format(time.RFC3339Nano)
	}
	out := []string{string(t.ID), t.Path, t.Title, string(t.State), t.Kind, t.Priority, t.Role, t.Goal, t.ClaimedBy, lease, t.BlockedReason, t.Created}
	for _, id := range t.Dependencies {
		out = append(out, string(id))
	}
	return out
}

func rowOf(s []string) (readRow, bool) {
	if len(s) < 12 {
		return readRow{}, false
	}
	t := Row{ID: okf.ID(s[0]), Path: s[1], Title: s[2], State: State(s[3]), Kind: s[4], Priority: s[5], Role: s[6], Goal: s[7], ClaimedBy: s[8], BlockedReason: s[10], Created: s[11]}
	if s[9] != "" {
		at, err := time.Parse(time.RFC3339Nano, s[9])
		if err != nil {
			return readRow{}, false
		}
		t.LeaseExpires = at
	}
	for _, id := range s[12:] {
		t.Dependencies = append(t.Dependencies, okf.ID(id))
	}
	return readRow{row: t}, true
}

// RowsOf returns the rows of the tasks, not copies.
func RowsOf(ts []Task) []*Row {
	rows := make([]*Row, len(ts))
	for i := range ts {
		rows[i] = &ts[i].Row
	}
	return rows
}

// Index finds rows by id.
type Index map[okf.ID]*Row

// IndexOf indexes rows.
func IndexOf(rows []*Row) Index {
	all := make(Index, len(rows))
	for _, t := range rows {
		all[t.ID] = t
	}
	return all
}

// Find returns the task with an id. ts are in the order of Tasks.
func Find(ts []Task, id okf.ID) (Task, bool) {
	i, ok := slices.BinarySearchFunc(ts, id, func(t Task, id okf.ID) int { return strings.Compare(string(t.ID), string(id)) })
	if !ok {
		return Task{}, false
	}
	return ts[i], true
}
