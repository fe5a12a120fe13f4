package verify

import (
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// A ledger that a person takes away while its run goes on, as by a revert of the claim, comes back with what the run
// has to tell; or a person puts it back. Who took it is told of there. What it said stood before all the same, and is
// not said anew.

// countReturned returns how many lines of a run's ledger an act brings back from before, if those are more than the
// parents have. It returns 0 for a new ledger, and for one that differs from the old one.
func (h *history) countReturned(a *rules.Act, f *rules.File, records []event.Record) (lines int) {
	run := rules.LedgerRun(f.Rel)
	if h.machines[a.OID] {
		if !isMidRun(records) || len(a.ParentBlobs(f)) > 0 {
			return 0
		}
		at, lines := h.findLedgerBefore(a.Commit, run, records)
		if at == "" {
			return 0
		}
		if there := h.FindInBundle(at, f.Rel); there == "" {
			return 0 // it comes back in another month
		}
		return lines
	}
	if !strings.HasPrefix(run, "run-") {
		return 0 // a person's own file
	}
	good := h.FindPutBack(a.Commit, f.Rel, f.Change)
	if good == "" {
		return 0
	}
	return h.countPrefixLines(good, f.New)
}

// findReturnedClaim returns the last commit before c that had n claims of the task, if c only brings them back; "" if c
// makes one.
func (h *history) findReturnedClaim(c repo.Commit, run, task string, n int) repo.OID {
	records := h.ReadLedger(c.OID, run)
	if !isMidRun(records) {
		return ""
	}
	at, _ := h.findLedgerBefore(c, run, records)
	if at == "" {
		return ""
	}
	was := h.countClaims(at, run, task)
	if was < n {
		return ""
	}
	return at
}

// findLedgerBefore returns the last first-parent ancestor of c that has the run's ledger, and its number of lines
// there. It searches back to the time of the first record. at is "" if it finds none, or if c's ledger does not begin
// with that one.
func (h *history) findLedgerBefore(c repo.Commit, run string, records []event.Record) (at repo.OID, lines int) {
	now := h.findLedger(c.OID, run)
	for before := c; len(before.Parents) > 0 && len(records) > 0; {
		at = before.Parents[0]
		was := h.findLedger(at, run)
		if was != "" {
			lines := h.countPrefixLines(was, now)
			if lines == 0 {
				at = ""
			}
			return at, lines
		}
		if before = h.ReadCommit(at); before.Committer.When.Before(records[0].TS.Add(-rules.Skew)) {
			return "", 0
		}
	}
	return "", 0
}

// countPrefixLines returns the number of lines of was if now begins with it, else 0.
func (h *history) countPrefixLines(was, now repo.OID) (lines int) {
	lines, grown := h.CountKeptLines(h.Blob(now), []repo.OID{was})
	if !grown {
		return 0
	}
	return lines
}

// isMidRun reports records that hold both a session and its claim. No run writes both in its first commit, so a ledger
// without them need not be searched for in older commits.
func isMidRun(all []event.Record) bool {
	return slices.ContainsFunc(all, event.Record.Opens) && slices.ContainsFunc(all, func(r event.Record) bool { return r.Kind == event.Session })
}
