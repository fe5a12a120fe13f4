package proof

import (
	"errors"
	"io/fs"
	"time"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// fewStates is how many States are remembered: those of commits that follow each other.
const fewStates = 4

// readState is the State of a commit's bundle, carried on from that of its parent, or from
// the one that was asked for last.
func (h *history) readState(commit repo.OID) (*state.State, error) {
	ledger, err := h.ledgerTree(commit)
	if err != nil {
		return nil, err
	}
	if s, ok := h.states.get(ledger); ok {
		return s, nil
	}
	bundle, err := h.bundleFiles(commit)
	if err != nil {
		return nil, err
	}
	c, err := h.readCommit(commit)
	if err != nil {
		return nil, err
	}
	before := h.state
	for _, p := range c.Parents {
		ledger, err := h.ledgerTree(p)
		if err != nil {
			return nil, err
		}
		if s, ok := h.states.get(ledger); ok {
			before = s
			break
		}
	}
	if before == nil {
		before = state.Of(bundle, nil)
	}
	h.state = before.Next(bundle)
	h.states.put(ledger, h.state)
	return h.state, nil
}

// ledgerTree is the tree of a commit's ledgers, "" where there are none.
func (h *history) ledgerTree(commit repo.OID) (repo.OID, error) {
	law, err := h.lawAfter(commit)
	if err != nil {
		return "", err
	}
	tree, mode, err := h.trees.Find(commit, law.Root+"/ledger")
	if mode != folder {
		return "", err
	}
	return tree, err
}

// bundleFiles is the bundle of a commit, empty where it has none.
func (h *history) bundleFiles(commit repo.OID) (fs.FS, error) {
	law, err := h.lawAfter(commit)
	if err != nil {
		return nil, err
	}
	tree, mode, err := h.trees.Find(commit, law.Root)
	if err != nil {
		return nil, err
	}
	if mode != folder {
		tree = ""
	}
	return h.repo.Tree(tree)
}

// readSpend is what the ledgers of a commit say was spent and reserved.
func (h *history) readSpend(commit repo.OID) (event.Spend, error) {
	s, err := h.readState(commit)
	if err != nil {
		return event.Spend{}, err
	}
	return s.Spend()
}

// ignoreDamaged returns err, but nil for a ledger file that is damaged: row 14 reports that file,
// and what cannot be told from it is no finding of another row.
func ignoreDamaged(err error) error {
	if damaged := (*state.Damaged)(nil); errors.As(err, &damaged) {
		return nil
	}
	return err
}

// findClockStart is the moment before which no claim on a board may be dated: that of the
// last record of its ledgers, or where a clock was ahead then, that of a person's odd
// drain resume on top of it.
func (h *history) findClockStart(tip repo.OID, law config.Config) (time.Time, error) {
	now, err := h.readSpend(tip)
	if err != nil {
		return now.Last, err
	}
	for c, err := range h.repo.PathLog(h.ctx, tip, law.Root+"/pause.toml") {
		if err != nil {
			return now.Last, err
		}
		if len(c.Trailer("Odd-Resumed-By")) != 1 || len(c.Trailer("Odd-Run")) > 0 || isByAgent(c, &law) {
			continue
		}
		then, err := h.readSpend(c.OID)
		if err != nil || then.Last.Before(now.Last) || now.Last.Before(c.Author.When) {
			return now.Last, err // nothing was ahead when that person looked
		}
		return c.Author.When, nil
	}
	return now.Last, nil
}
