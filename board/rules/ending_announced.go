package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
)

// announcesOp reports a claim that names its op in advance: a claim of a task that asks for a change of files. Claims
// of older versions of odd name none.
func announcesOp(r event.Record) bool { return r.Claim().Op != "" }

func (j *judge) announcedOps(run, task string) []string {
	records := j.ReadLedger(j.OID, run)
	var out []string
	for _, r := range records {
		if r.Task == task && announcesOp(r) {
			out = append(out, r.Claim().Op)
		}
	}
	return out
}

// checkAnnouncements checks that a claim which the act closes has a record of the op it announced. It also checks that
// an op which the act begins is the one its claim announced.
func (j *judge) checkAnnouncements(now ops) {
	for _, l := range j.Lines {
		switch r := l.Record; {
		case r.Kind == event.Outcome:
			j.checkAnnounced(l, r.Run, now)
		case r.Kind == event.Abandoned:
			j.checkAnnounced(l, r.DeadRun, now)
		case isOpRecord(r) && r.Op().ID == r.Op().Op+".1":
			j.checkBegunOp(l)
		}
	}
}

// checkAnnounced reports an op that the closed claim of a run announced and no ledger records. How a recorded op ends
// is judged with that op.
func (j *judge) checkAnnounced(l Line, run string, now ops) {
	for _, id := range j.announcedOps(run, l.Record.Task) {
		j.checked++
		if o := now.findOp(id); o == nil {
			j.addFinding(l.Path, l.N, "the claim of %s on %s announced %s, and is closed with no record of how that op ended", run, l.Record.Task, id)
		} else if o.Task != l.Record.Task {
			j.addFinding(l.Path, l.N, "the claim of %s on %s announced %s, which is of %s", run, l.Record.Task, id, o.Task)
		}
	}
}

// checkBegunOp reports an op that begins under a claim which announced another op. An op that a run begins for a dead
// run must be the one which the dead run announced.
func (j *judge) checkBegunOp(l Line) {
	r := l.Record
	died := r.Op().Set[pipeline.FactDied]
	run := cmp.Or(died, r.Run)
	ids := j.announcedOps(run, r.Task)
	if op := r.Op().Op; (len(ids) > 0 || died != "") && !slices.Contains(ids, op) {
		j.addFinding(l.Path, l.N, "%s is begun for the claim of %s on %s, which announced %s", op, run, r.Task, cmp.Or(strings.Join(ids, ", "), "none"))
	}
}
