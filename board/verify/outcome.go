package verify

import (
	"strings"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// outcome is a run's outcome. own says that the end of the range has it; otherwise a branch
// has it.
type outcome struct {
	*event.Record
	own bool
}

// findOutcomes returns a run's outcomes for a task, first as the end of the range has them,
// then as the branches do.
func (h *history) findOutcomes(run, task string) []outcome {
	h.dependOn(ledgersQuestion(run))
	at, ok := h.runs[run]
	if !ok {
		for i, tip := range h.endCommits() {
			records := h.readLedger(tip, run)
			for j := range records {
				if records[j].Kind == event.Outcome {
					at = append(at, outcome{&records[j], i == 0})
				}
			}
		}
		h.runs[run] = at
	}
	var out []outcome
	for _, t := range at {
		if t.Task == task {
			out = append(out, t)
		}
	}
	if len(out) > 0 {
		return out
	}
	return h.findLostOutcome(run, task)
}

// findLostOutcome returns an outcome that was deleted from the ledger since.
func (h *history) findLostOutcome(run, task string) []outcome {
	for at := range h.ledgerCommits(run) {
		records := h.readLedger(at, run)
		for i := range records {
			if records[i].Kind == event.Outcome && records[i].Task == task {
				return []outcome{{&records[i], true}}
			}
		}
	}
	return nil
}

// readLedger reads a run's ledger in a commit, up to the first unreadable record.
func (h *history) readLedger(commit repo.OID, run string) []event.Record {
	blob := h.findLedger(commit, run)
	if blob == "" {
		return nil
	}
	if records, ok := h.ledgers.get(blob); ok {
		return records
	}
	b := h.blob(blob)
	records, _ := h.lines.Read(b) // invariant 14 reports what is wrong in it
	h.ledgers.put(blob, records)
	return records
}

// findLedger returns the blob of a run's ledger in a commit, "" for none.
func (h *history) findLedger(commit repo.OID, run string) repo.OID {
	law := h.lawAfter(commit)
	months, mode := h.find(commit, law.Root+"/ledger")
	if mode != folder || run == "" {
		return ""
	}
	names := h.names(months, "")
	for _, m := range names {
		blob, mode := h.find(months, m+"/"+run+".jsonl")
		if strings.HasPrefix(mode, "100") {
			return blob
		}
	}
	return ""
}

// findBlob returns the blob of a regular file in a commit, "" for none.
func (h *history) findBlob(commit repo.OID, name string) string {
	oid, mode := h.find(commit, name)
	if !strings.HasPrefix(mode, "100") {
		return ""
	}
	return string(oid)
}

// findBundleBlob is findBlob for a path below the bundle root of that commit.
func (h *history) findBundleBlob(commit repo.OID, rel string) string {
	law := h.lawAfter(commit)
	return h.findBlob(commit, law.Root+"/"+rel)
}
