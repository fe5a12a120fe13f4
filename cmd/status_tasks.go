package cmd

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/journal/repo"
)

// taskSummary is what odd status --json says of the tasks.
type taskSummary struct {
	Tasks     map[board.State]int `json:"tasks"`
	Review    []string            `json:"review,omitempty"`
	Running   []string            `json:"in_progress,omitempty"`
	Direction *board.Direction    `json:"direction,omitempty"` // nil without goals
}

// tasksRecord is all that odd status says of the tasks. A clone keeps the last one: it holds for
// every commit with the same bundle, and without it odd status misses its target of 60 ms for
// 10,000 tasks.
type tasksRecord struct {
	Odd     string
	Bundle  repo.OID
	Blocked []string // each blocked task, and why
	Unread  int      // files that cannot be read as tasks
	Next    string   // what nextOfBoard returned
	taskSummary
}

const tasksCache = "tasks"

// summarizeTasks returns what there is to say of the tasks; dirty are the paths with edits that
// are not committed.
func (v *view) summarizeTasks(dirty []string) (tasksRecord, error) {
	now := tasksRecord{Odd: oddVersion(), taskSummary: taskSummary{Tasks: map[board.State]int{}}}
	if len(dirty) == 0 {
		info, err := fs.Stat(v.files, v.cfg.Root)
		if err != nil {
			return now, err
		}
		now.Bundle, _ = info.Sys().(repo.OID)
		var known tasksRecord
		if json.Unmarshal(v.repo.Cached(tasksCache), &known) == nil && known.Odd == now.Odd && known.Bundle == now.Bundle && now.Bundle != "" {
			return known, nil
		}
	}
	now.countTasks(v.taskRows())
	now.Unread, now.Next, now.Direction = len(v.unreadProblems()), v.nextOfBoard(), board.DirectionOf(v.graph, v.taskRows())
	if now.Bundle == "" {
		return now, nil
	}
	b, err := json.Marshal(now)
	if err == nil {
		_ = v.repo.Keep(tasksCache, b) // the next one reads the tasks again
	}
	return now, err
}

// countTasks counts tasks by state and names those that run, wait for a person or are blocked.
func (s *tasksRecord) countTasks(tasks []*board.Row) {
	for _, t := range tasks {
		s.Tasks[t.State]++
		switch t.State {
		case board.Review:
			s.Review = append(s.Review, string(t.ID))
		case board.Blocked:
			s.Blocked = append(s.Blocked, string(t.ID)+": "+layout.Clip(cell(t.BlockedReason), mostReason))
		case board.InProgress:
			s.Running = append(s.Running, fmt.Sprintf("%s (%s, claimed until %s)", t.ID, t.ClaimedBy, t.LeaseExpires.Format("15:04:05Z07:00")))
		}
	}
}
