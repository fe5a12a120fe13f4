package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
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

// tasksRecord is all that odd status says of the tasks. A clone keeps the last one: it holds for
// every commit with the same bundle, and without it odd status misses its target of 60 ms for
// 10,000 tasks.
type tasksRecord struct {
	Odd     string
	Bundle  repo.OID
	Blocked []string // each blocked task, and why
	Unread  int      // files that cannot be read as tasks
	Waits   firstTasks
	taskSummary
}

const tasksCache = "tasks.2" // its number goes up with its fields

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
	now.Unread, now.Waits, now.Direction = len(v.unreadProblems()), firstOfRows(v.taskRows()), board.DirectionOf(v.graph, v.taskRows())
	if now.Bundle == "" {
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

// driftRecord is what a clone keeps of the last count: it holds for every commit that
// changes no atom and no file of a kind that atoms cite.
type driftRecord struct {
	Odd, Root string
	Tip       repo.OID
	Kinds     []string // how the names of cited files end
	Count     driftCount
}

const driftCache = "drift"

// countDrift counts the drifted sources of the board's commit. Edits that are not committed
// count where they are of atoms.
func (v *view) countDrift(ctx context.Context, dirty []string) (driftCount, error) {
	var known driftRecord
	if json.Unmarshal(v.repo.Cached(driftCache), &known) == nil && len(dirty) == 0 && v.sameDrift(ctx, known) {
		return known.Count, nil
	}
	known = driftRecord{Odd: oddVersion(), Root: v.cfg.Root, Tip: v.tip}
	kinds := map[string]bool{}
	for _, of := range okf.Gather(v.graph, func(string) bool { return true }, func(a *okf.Atom) (ends []string) {
		for _, s := range a.Sources {
			ends = append(ends, path.Ext(s.Resource))
		}
		return slices.Compact(ends)
	}) {
		for _, end := range of {
			kinds[end] = true
		}
	}
	known.Kinds = slices.Sorted(maps.Keys(kinds))
	for _, d := range okf.Drifted(v.graph, v.files, nil) {
		switch {
		case d.Lost && d.Gone:
			known.Count.Gone++
		case d.Lost:
			known.Count.Changed++
		}
	}
	if len(dirty) > 0 {
		return known.Count, nil
	}
	b, err := json.Marshal(known)
	if err == nil {
		_ = v.repo.Keep(driftCache, b) // the next one counts again
	}
	return known.Count, err
}

// sameDrift reports that a count is of this commit, or of one that differs in nothing that it
// depends on.
func (v *view) sameDrift(ctx context.Context, known driftRecord) bool {
	if known.Odd != oddVersion() || known.Root != v.cfg.Root || known.Tip == "" {
		return false
	}
	if known.Tip == v.tip {
		return true
	}
	changes, err := v.repo.Diff(ctx, known.Tip, v.tip)
	return err == nil && !slices.ContainsFunc(changes, func(c repo.Change) bool {
		name, ours := strings.CutPrefix(c.Path, v.cfg.Root+"/")
		if !ours {
			return slices.Contains(known.Kinds, path.Ext(c.Path))
		}
		folder, _, _ := strings.Cut(name, "/")
		return path.Ext(name) == ".md" && folder != "tasks" && path.Base(name) != "index.md"
	})
}
