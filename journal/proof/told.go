package proof

import (
	"strings"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// outcome is a run's outcome, and whether the range's last commit has it; otherwise
// the board does, where that commit is a review branch or the target.
type outcome struct {
	*event.Record
	own bool
}

// findOutcomes are what a run's ledger says became of a task: first as the range's
// last commit has it, then as the branches have it.
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

// findLostOutcome is an outcome that no end tells any more.
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

// readLedger reads a run's ledger in a commit; a torn end leaves the records before it.
func (h *history) readLedger(commit repo.OID, run string) ([]event.Record, error) {
	blob, err := h.findLedger(commit, run)
	if err != nil || blob == "" {
		return nil, err
	}
	if records, ok := h.ledgers.get(blob); ok {
		return records, nil
	}
	b, err := h.trees.Blob(blob)
	records, _ := h.lines.Read(b) // what is wrong in it is row 14's
	if err == nil {
		h.ledgers.put(blob, records)
	}
	return records, err
}

// findLedger is the file of a run's ledger in a commit, "" where there is none.
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

// findBlob is the blob of a regular file in a commit, "" where it has none.
func (h *history) findBlob(commit repo.OID, name string) (string, error) {
	oid, mode, err := h.trees.Find(commit, name)
	if err != nil || !strings.HasPrefix(mode, "100") {
		return "", err
	}
	return string(oid), nil
}

// findBundleBlob is blobAt of a path below the bundle, where that lies in the commit.
func (h *history) findBundleBlob(commit repo.OID, rel string) (string, error) {
	law, err := h.lawAfter(commit)
	if err != nil {
		return "", err
	}
	return h.findBlob(commit, law.Root+"/"+rel)
}
