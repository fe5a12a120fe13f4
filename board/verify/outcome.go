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
func (h *history) findOutcomes(run, task string) ([]outcome, error) {
	h.dependOn(ledgersQuestion(run))
	at, ok := h.runs[run]
	if !ok {
		for i, tip := range h.endCommits() {
			records, err := h.readLedger(tip, run)
			if err != nil {
				return nil, err
			}
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
		return out, nil
	}
	return h.findLostOutcome(run, task)
}

// findLostOutcome returns an outcome that was deleted from the ledger since.
func (h *history) findLostOutcome(run, task string) ([]outcome, error) {
	for at := range h.ledgerCommits(run) {
		records, err := h.readLedger(at, run)
		if err != nil {
			return nil, err
		}
		for i := range records {
			if records[i].Kind == event.Outcome && records[i].Task == task {
				return []outcome{{&records[i], true}}, nil
			}
		}
	}
	return nil, nil
}

// readLedger reads a run's ledger in a commit, up to the first unreadable record.
func (h *history) readLedger(commit repo.OID, run string) ([]event.Record, error) {
	blob, err := h.findLedger(commit, run)
	if err != nil || blob == "" {
		return nil, err
	}
	if records, ok := h.ledgers.get(blob); ok {
		return records, nil
	}
	b, err := h.trees.Blob(blob)
	records, _ := h.lines.Read(b) // invariant 14 reports what is wrong in it
	if err == nil {
		h.ledgers.put(blob, records)
	}
	return records, err
}

// findLedger returns the blob of a run's ledger in a commit, "" for none.
func (h *history) findLedger(commit repo.OID, run string) (repo.OID, error) {
	law, err := h.lawAfter(commit)
	if err != nil {
		return "", err
	}
	months, mode, err := h.trees.Find(commit, law.Root+"/ledger")
	if err != nil || mode != folder || run == "" {
		return "", err
	}
	names, err := h.trees.Names(months, "")
	if err != nil {
		return "", err
	}
	for _, m := range names {
		blob, mode, err := h.trees.Find(months, m+"/"+run+".jsonl")
		if err != nil || strings.HasPrefix(mode, "100") {
			return blob, err
		}
	}
	return "", nil
}

// findBlob returns the blob of a regular file in a commit, "" for none.
func (h *history) findBlob(commit repo.OID, name string) (string, error) {
	oid, mode, err := h.trees.Find(commit, name)
	if err != nil || !strings.HasPrefix(mode, "100") {
		return "", err
	}
	return string(oid), nil
}

// findBundleBlob is findBlob for a path below the bundle root of that commit.
func (h *history) findBundleBlob(commit repo.OID, rel string) (string, error) {
	law, err := h.lawAfter(commit)
	if err != nil {
		return "", err
	}
	return h.findBlob(commit, law.Root+"/"+rel)
}
