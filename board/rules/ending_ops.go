package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// ops are the ops that the ledgers of a commit record.
type ops struct {
	all      []*state.Op
	stories  []pipeline.Story // of the ops that the act concerns
	problems []pipeline.Problem
}

// findOp returns an op by its id, nil for none.
func (o ops) findOp(id string) *state.Op {
	if i := slices.IndexFunc(o.all, func(op *state.Op) bool { return op.ID == id }); i >= 0 {
		return o.all[i]
	}
	return nil
}

// readOps returns the ops of a commit. Its stories are those of the tasks, and those with new records of the act.
func (j *judge) readOps(commit repo.OID, tasks []waitingTask) (out ops) {
	s := j.ReadState(commit)
	var err error
	out.all, err = s.Ops()
	j.Must(err)
	out.stories, err = s.Stories(func(o *state.Op) bool {
		return slices.ContainsFunc(tasks, func(w waitingTask) bool { return w.id == o.Task }) || slices.ContainsFunc(j.Lines, func(l Line) bool {
			if isOpRecord(l.Record) {
				return l.Record.Op().Op == o.ID
			}
			return l.Record.Task == o.Task
		})
	})
	j.Must(err)
	var records []event.Record
	for _, s := range out.stories {
		for _, t := range s.Told {
			records = append(records, t.Record)
		}
	}
	if commit == j.OID { // a record without an op is in no story
		for _, l := range j.Lines {
			is := func(r event.Record) bool { return r.Run == l.Record.Run && r.Seq == l.Record.Seq }
			if isOpRecord(l.Record) && !slices.ContainsFunc(records, is) {
				records = append(records, l.Record)
			}
		}
	}
	_, out.problems = pipeline.ReadOps(records)
	return out
}

// locateOpRecord returns the file and line of an op's record. fresh reports that the act adds it.
func (j *judge) locateOpRecord(o *state.Op, run string, seq int) (name string, n int, fresh bool) {
	for _, l := range j.Lines {
		if l.Record.Run == run && l.Record.Seq == seq {
			return l.Path, l.N, true
		}
	}
	if o == nil {
		return j.anyPath(), 1, false
	}
	records := j.ReadLedger(j.OID, run)
	n = 1 + slices.IndexFunc(records, func(r event.Record) bool { return r.Seq == seq })
	for _, name := range o.Files {
		if strings.TrimSuffix(path.Base(name), ".jsonl") == run {
			return j.Root + name, n, false
		}
	}
	return j.Root + o.Files[0], 1, false
}

func isOpRecord(r event.Record) bool { return r.Kind == event.Op || r.Kind == event.OpEnd }
