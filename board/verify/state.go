package verify

import (
	"errors"
	"io/fs"
	"time"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// fewStates is how many States are cached, enough for successive commits.
const fewStates = 4

// readState returns the State of a commit's bundle. It continues from the State of a parent,
// or else from the one read last.
func (h *history) readState(commit repo.OID) *state.State {
	ledger := h.ledgerTree(commit)
	if s, ok := h.states.get(ledger); ok {
		return s
	}
	bundle := h.bundleFiles(commit)
	c := h.readCommit(commit)
	before := h.state
	for _, p := range c.Parents {
		ledger := h.ledgerTree(p)
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
	return h.state
}

// ledgerTree returns the tree of a commit's ledgers, "" for none.
func (h *history) ledgerTree(commit repo.OID) repo.OID {
	law := h.lawAfter(commit)
	tree, mode := h.find(commit, law.Root+"/ledger")
	if mode != folder {
		return ""
	}
	return tree
}

// bundleFiles returns the bundle of a commit, empty if it has none.
func (h *history) bundleFiles(commit repo.OID) fs.FS {
	law := h.lawAfter(commit)
	tree, mode := h.find(commit, law.Root)
	if mode != folder {
		tree = ""
	}
	return h.tree(tree)
}

// readSpend returns what was spent and reserved according to a commit's ledgers.
func (h *history) readSpend(commit repo.OID) (event.Spend, error) {
	s := h.readState(commit)
	return s.Spend()
}

// ignoreDamaged returns nil for the error of a damaged ledger, which invariant 14 reports.
// Other invariants then have no finding about what it held.
func ignoreDamaged(err error) error {
	if damaged := (*state.Damaged)(nil); errors.As(err, &damaged) {
		return nil
	}
	return err
}

// findClockStart returns the time before which no claim on a board may be dated. It is the
// time of the last record. If that record's clock was ahead, it is the time of a person's
// later odd drain resume.
func (h *history) findClockStart(tip repo.OID, law config.Config) time.Time {
	now, err := h.readSpend(tip)
	must(err)
	for c, err := range h.repo.PathLog(h.ctx, tip, law.Root+"/pause.toml") {
		must(err)
		if len(c.Trailer("Odd-Resumed-By")) != 1 || len(c.Trailer("Odd-Run")) > 0 || isByAgent(c, &law) {
			continue
		}
		then, err := h.readSpend(c.OID)
		if err != nil || then.Last.Before(now.Last) || now.Last.Before(c.Author.When) {
			must(err)
			return now.Last // no clock was ahead at that time
		}
		return c.Author.When
	}
	return now.Last
}
