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
	type told struct {
		row      Row
		problems []okf.Problem
	}
	read := okf.Gather(g, func(typ string) bool { return typ == Type }, func(a *okf.Atom) told {
		if !onBoard(a.Path) {
			return told{}
		}
		t, problems := parseTask(a)
		return told{t.Row, problems}
	})
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
