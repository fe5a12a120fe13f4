package proof

import (
	"cmp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
)

// announcesOp reports a claim that says which op it will be worked on by: that of a
// task which asks for a change of files. Claims of older programs announce none.
func announcesOp(r event.Record) bool { return r.Claim().Op != "" }

// announcedOps returns the ops that the claims of a run announced for a task, as the
// ledgers of the act have them.
func (j *judge) announcedOps(run, task string) ([]string, error) {
	records, err := j.readLedger(j.OID, run)
	var out []string
	for _, r := range records {
		if r.Task == task && announcesOp(r) {
			out = append(out, r.Claim().Op)
		}
	}
	return out, err
}

// checkAnnouncements holds the claims that the act closes to what they announced: the op
// is told, of the claim's task. And it holds an op that the act begins to the claim
// it is begun under, or was, where that announced one.
func (j *judge) checkAnnouncements(now ops) error {
	for _, l := range j.lines {
		var err error
		switch r := l.record; {
		case r.Kind == event.Outcome:
			err = j.checkAnnounced(l, r.Run, now)
		case r.Kind == event.Abandoned:
			err = j.checkAnnounced(l, r.DeadRun, now)
		case isOpRecord(r) && r.Op().ID == r.Op().Op+".1":
			err = j.checkBegunOp(l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkAnnounced reports what the claim of a run, which the record closes, announced and
// no ledger tells of. How a told op ends is judged with the op.
func (j *judge) checkAnnounced(l ledgerLine, run string, now ops) error {
	ids, err := j.announcedOps(run, l.record.Task)
	for _, id := range ids {
		j.checked++
		if o := now.findOp(id); o == nil {
			j.addFinding(l.path, l.n, "the claim of %s on %s announced %s, and is closed with no record of how that op ended", run, l.record.Task, id)
		} else if o.Task != l.record.Task {
			j.addFinding(l.path, l.n, "the claim of %s on %s announced %s, which is of %s", run, l.record.Task, id, o.Task)
		}
	}
	return err
}

// checkBegunOp reports an op that is begun under a claim which announced another; one that
// a run begins for a dead one must be what that announced.
func (j *judge) checkBegunOp(l ledgerLine) error {
	r := l.record
	died := r.Op().Set[pipeline.FactDied]
	run := cmp.Or(died, r.Run)
	ids, err := j.announcedOps(run, r.Task)
	if op := r.Op().Op; (len(ids) > 0 || died != "") && !slices.Contains(ids, op) {
		j.addFinding(l.path, l.n, "%s is begun for the claim of %s on %s, which announced %s", op, run, r.Task, cmp.Or(strings.Join(ids, ", "), "none"))
	}
	return err
}
