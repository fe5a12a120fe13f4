package proof

import (
	"strings"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// told is a run's outcome, and whether the range's last commit has it; otherwise
// the board does, where that commit is a review branch or the target.
type told struct {
	*event.Record
	own bool
}

// outcomes are what a run's ledger says became of a task: first as the range's
// last commit has it, then as the branches have it.
func (h *history) outcomes(run, task string) ([]told, error) {
	h.ask(ledgersOf(run))
	at, ok := h.runs[run]
	if !ok {
		for i, tip := range h.ends() {
			records, err := h.ledgerAt(tip, run)
			if err != nil {
				return nil, err
			}
			for j := range records {
				if records[j].Kind == event.Outcome {
					at = append(at, told{&records[j], i == 0})
				}
			}
		}
		h.runs[run] = at
	}
	var out []told
	for _, t := range at {
		if t.Task == task {
			out = append(out, t)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return h.lostOutcome(run, task)
}

// lostOutcome is an outcome that no end tells any more.
func (h *history) lostOutcome(run, task string) ([]told, error) {
	for at := range h.tellers(run) {
		records, err := h.ledgerAt(at, run)
		if err != nil {
			return nil, err
		}
		for i := range records {
			if records[i].Kind == event.Outcome && records[i].Task == task {
				return []told{{&records[i], true}}, nil
			}
		}
	}
	return nil, nil
}

// ledgerAt reads a run's ledger in a commit; a torn end leaves the records before it.
func (h *history) ledgerAt(commit repo.OID, run string) ([]event.Record, error) {
	blob, err := h.ledgerBlob(commit, run)
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

// ledgerBlob is the file of a run's ledger in a commit, "" where there is none.
func (h *history) ledgerBlob(commit repo.OID, run string) (repo.OID, error) {
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

// blobAt is the blob of a regular file in a commit, "" where it has none.
func (h *history) blobAt(commit repo.OID, name string) (string, error) {
	oid, mode, err := h.trees.Find(commit, name)
	if err != nil || !strings.HasPrefix(mode, "100") {
		return "", err
	}
	return string(oid), nil
}

// blobBelow is blobAt of a path below the bundle, where that lies in the commit.
func (h *history) blobBelow(commit repo.OID, rel string) (string, error) {
	law, err := h.lawAfter(commit)
	if err != nil {
		return "", err
	}
	return h.blobAt(commit, law.Root+"/"+rel)
}
