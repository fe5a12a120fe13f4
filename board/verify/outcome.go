package verify

import (
	"strings"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// FindOutcomes returns a run's outcomes for a task, first as the end of the range has them, then as the branches do.
func (h *history) FindOutcomes(run, task string) []rules.Outcome {
	h.dependOn(ledgersQuestion(run))
	var out []rules.Outcome
	for i, tip := range h.endCommits() {
		for _, r := range h.ReadLedger(tip, run) {
			if r.Kind == event.Outcome && r.Task == task {
				out = append(out, rules.Outcome{Record: &r, Own: i == 0})
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	return h.findLostOutcome(run, task)
}

// findLostOutcome returns an outcome that was deleted from the ledger since.
func (h *history) findLostOutcome(run, task string) []rules.Outcome {
	for at := range h.LedgerCommits(run) {
		records := h.ReadLedger(at, run)
		for i := range records {
			if records[i].Kind == event.Outcome && records[i].Task == task {
				return []rules.Outcome{{Record: &records[i], Own: true}}
			}
		}
	}
	return nil
}

// ReadLedger reads a run's ledger in a commit, up to the first unreadable record.
func (h *history) ReadLedger(commit repo.OID, run string) []event.Record {
	blob := h.findLedger(commit, run)
	if blob == "" {
		return nil
	}
	if records, ok := h.ledgers.get(blob); ok {
		return records
	}
	b := h.Blob(blob)
	records, _ := h.lines.Read(b) // invariant 14 reports what is wrong in it
	h.ledgers.put(blob, records)
	return records
}

// findLedger returns the blob of a run's ledger in a commit, "" for none.
func (h *history) findLedger(commit repo.OID, run string) repo.OID {
	months, mode := h.Find(commit, h.LawAt(commit).Root+"/ledger")
	if mode != rules.Folder {
		return ""
	}
	for _, m := range h.Names(months, "") {
		blob, mode := h.Find(months, m+"/"+run+".jsonl")
		if strings.HasPrefix(mode, "100") {
			return blob
		}
	}
	return ""
}

// FindFile returns the blob of a regular file in a commit, "" for none.
func (h *history) FindFile(commit repo.OID, name string) string {
	oid, mode := h.Find(commit, name)
	if !strings.HasPrefix(mode, "100") {
		return ""
	}
	return string(oid)
}

// FindInBundle is FindFile for a path below the bundle root of that commit.
func (h *history) FindInBundle(commit repo.OID, rel string) string {
	return h.FindFile(commit, h.LawAt(commit).Root+"/"+rel)
}
