package cmd

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// taskSummary is what odd status --json says of the tasks.
type taskSummary struct {
	Tasks     map[board.State]int `json:"tasks"`
	Review    []string            `json:"review,omitempty"`
	Direction *board.Direction    `json:"direction,omitempty"` // nil without goals
}

// tasksRecord is all that odd status says of the tasks and of the drift of a commit. A clone
// keeps that of the last one; without it odd status misses its target of 60 ms for 10,000
// tasks.
type tasksRecord struct {
	Odd     string
	Tip     repo.OID
	Blocked []string // each blocked task, and why
	Unread  int      // files that cannot be read as tasks
	Waits   firstTasks
	Drift   driftCount
	taskSummary
}

const tasksCache = "tasks.3" // its number goes up with its fields

// summarizeTasks returns what there is to say of the tasks and of the drift; dirty are the paths
// with edits that are not committed.
func (v *view) summarizeTasks(dirty []string) (tasksRecord, error) {
	var known tasksRecord
	if len(dirty) == 0 && json.Unmarshal(v.repo.Cached(tasksCache), &known) == nil && known.Odd == oddVersion() && known.Tip == v.tip {
		return known, nil
	}
	now := tasksRecord{Odd: oddVersion(), Tip: v.tip, taskSummary: taskSummary{Tasks: map[board.State]int{}}, Drift: v.countDrift()}
	now.countTasks(v.taskRows())
	now.Unread, now.Waits, now.Direction = len(v.unreadProblems()), firstOfRows(v.taskRows()), board.DirectionOf(v.graph, v.taskRows())
	if len(dirty) > 0 {
		return now, nil
	}
	b, err := json.Marshal(now)
	if err == nil {
		_ = v.repo.Keep(tasksCache, b) // the next one reads the tasks again
	}
	return now, err
}

// countTasks counts tasks by state and names those that wait for a person or are blocked.
func (s *tasksRecord) countTasks(tasks []*board.Row) {
	for _, t := range tasks {
		s.Tasks[t.State]++
		switch t.State {
		case board.Review:
			s.Review = append(s.Review, string(t.ID))
		case board.Blocked:
			s.Blocked = append(s.Blocked, string(t.ID)+": "+layout.Clip(cell(t.BlockedReason), mostReason))
		}
	}
}

// driftCount are the sources of atoms that no longer say what was read: of files that are
// gone, and of files that have another text.
type driftCount struct {
	Gone    int `json:"gone"`
	Changed int `json:"changed"`
}

func (d driftCount) String() string {
	var parts []string
	if d.Gone > 0 {
		parts = append(parts, countNoun(d.Gone, "source")+" gone")
	}
	switch {
	case d.Changed > 0 && d.Gone > 0:
		parts = append(parts, fmt.Sprintf("%d changed", d.Changed))
	case d.Changed > 0:
		parts = append(parts, countNoun(d.Changed, "source")+" changed")
	}
	return strings.Join(parts, ", ")
}

// countDrift counts the drifted sources of the board's commit. Edits that are not committed
// count where they are of atoms.
func (v *view) countDrift() (n driftCount) {
	for _, d := range okf.Drifted(v.graph, v.files, nil) {
		switch {
		case d.Lost && d.Gone:
			n.Gone++
		case d.Lost:
			n.Changed++
		}
	}
	return n
}
