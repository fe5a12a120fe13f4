package state

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/memory"
)

// Op is a change as its records leave it.
type Op struct {
	ID       string          `json:"op"`
	Task     string          `json:"task"`
	Run      string          `json:"run"` // that began it, or died with it
	Phase    pipeline.Phase  `json:"phase"`
	Reason   pipeline.Reason `json:"reason,omitempty"` // of its ending
	Tier     string          `json:"tier,omitempty"`
	Began    time.Time       `json:"began"`
	At       time.Time       `json:"at"` // of its last record
	Until    time.Time       `json:"until,omitzero"`
	Spent    int64           `json:"spent,omitzero"`     // micro-USD
	Proposal string          `json:"proposal,omitempty"` // the commit that waits, or landed
	Trial    *memory.Trial   `json:"trial,omitempty"`    // what its ending teaches
	Files    []string        `json:"files"`              // of the ledger, that tell of it
}

// Ended reports that it has its ending.
func (o Op) Ended() bool { return o.Phase.Ends() }

// OpenOps are the changes without an ending, the oldest first, and how many have one.
func (s *State) OpenOps() (open []*Op, ended int, err error) {
	months, err := s.readMonths()
	if err != nil {
		return nil, 0, err
	}
	heads, err := s.openOps(months)
	for _, o := range inOrder(heads) {
		if o.Ended() {
			ended++
		} else {
			open = append(open, o)
		}
	}
	for _, m := range months {
		ended += m.Ended
	}
	return open, ended, err
}

// openOps returns the ops of all months that have no ending in the month of their beginning.
func (s *State) openOps(months []*month) (map[string]*Op, error) {
	all := map[string]*Op{}
	for _, m := range months {
		for id, o := range m.Heads {
			if was := all[id]; was != nil {
				files := slices.Concat(was.Files, o.Files)
				story, err := s.readStory(&Op{ID: id, Files: files})
				if err != nil {
					return nil, err
				}
				o = OpOf(story)
				o.Files = files
			}
			all[id] = o
		}
	}
	return all, nil
}

// Ops are all changes, the oldest first.
func (s *State) Ops() ([]*Op, error) {
	months, err := s.readMonths()
	if err != nil {
		return nil, err
	}
	all, err := s.openOps(months)
	for _, m := range months {
		maps.Copy(all, m.loadDetails().Ops)
	}
	return inOrder(all), err
}

func inOrder(ops map[string]*Op) []*Op {
	out := make([]*Op, 0, len(ops))
	for _, o := range ops {
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b *Op) int { return cmp.Or(a.Began.Compare(b.Began), strings.Compare(a.ID, b.ID)) })
	return out
}

// Waiting is the change that waits for a person with what a task proposes, whose commit
// is given; ok is false where none does.
func (s *State) Waiting(task, proposal string) (story pipeline.Story, ok bool, err error) {
	months, err := s.readMonths()
	if err != nil {
		return story, false, err
	}
	heads, err := s.openOps(months)
	for _, o := range heads {
		if err == nil && o.Task == task && o.Phase == pipeline.Waiting && o.Proposal == proposal {
			story, err = s.readStory(o)
			return story, err == nil, err
		}
	}
	return story, false, err
}

// Stories are the whole records of the changes for which about is true, oldest first.
func (s *State) Stories(about func(*Op) bool) ([]pipeline.Story, error) {
	ops, err := s.Ops()
	if err != nil {
		return nil, err
	}
	var out []pipeline.Story
	for _, o := range ops {
		if !about(o) {
			continue
		}
		story, err := s.readStory(o)
		if err != nil {
			return nil, err
		}
		out = append(out, story)
	}
	return out, nil
}

func (s *State) readStory(o *Op) (pipeline.Story, error) {
	var all []event.Record
	for _, name := range o.Files {
		b, err := fs.ReadFile(s.bundle, name)
		if err != nil {
			return pipeline.Story{}, err
		}
		records, _ := s.reader.Read(b) // what can be read of it; Spend says that it is damaged
		all = append(all, byOp(records)[o.ID]...)
	}
	stories, _ := pipeline.ReadOps(all)
	if len(stories) != 1 {
		return pipeline.Story{}, fmt.Errorf("%s: no records of %s", strings.Join(o.Files, ", "), o.ID)
	}
	return stories[0], nil
}

// Trials are what the changes teach that may teach something now, by op; what waits
// for a person waits for at most ttl.
func (s *State) Trials(now time.Time, ttl time.Duration) ([]memory.Trial, error) {
	ops, err := s.Ops()
	var out []memory.Trial
	for _, o := range ops {
		if o.Trial != nil && pipeline.Recent(o.ID, now, ttl) {
			out = append(out, *o.Trial)
		}
	}
	slices.SortFunc(out, func(a, b memory.Trial) int { return strings.Compare(a.Op, b.Op) })
	return out, err
}
