package verify

import (
	"io/fs"
	"time"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// fewStates is how many States are cached, enough for successive commits.
const fewStates = 4

// ReadState returns the State of a commit's bundle. It continues from the State of a parent, or else from the one read
// last.
func (h *history) ReadState(commit repo.OID) *state.State {
	ledger := h.ledgerTree(commit)
	if s, ok := h.states.get(ledger); ok {
		return s
	}
	bundle := h.bundleFiles(commit)
	c := h.ReadCommit(commit)
	before := h.state
	for _, p := range c.Parents {
		if h.laws[p] == nil {
			continue // its State was not read, and finding its odd.toml may take the whole history
		}
		if s, ok := h.states.get(h.ledgerTree(p)); ok {
			before = s
			break
		}
	}
	h.state = before.Next(bundle)
	h.states.put(ledger, h.state)
	return h.state
}

// ledgerTree returns the tree of a commit's ledgers, "" for none.
func (h *history) ledgerTree(commit repo.OID) repo.OID {
	tree, mode := h.Find(commit, h.LawAt(commit).Root+"/ledger")
	if mode != rules.Folder {
		return ""
	}
	return tree
}

// bundleFiles returns the bundle of a commit, empty if it has none.
func (h *history) bundleFiles(commit repo.OID) fs.FS {
	tree, mode := h.Find(commit, h.LawAt(commit).Root)
	if mode != rules.Folder {
		tree = ""
	}
	return h.ReadTree(tree)
}

// ReadSpend returns what was spent and reserved according to a commit's ledgers.
func (h *history) ReadSpend(commit repo.OID) (event.Spend, error) {
	return h.ReadState(commit).Spend()
}

// FindClockStart returns the time before which no claim on a board may be dated. It is the time of the last record. If
// that record's clock was ahead, it is the time of a person's later odd drain resume.
func (h *history) FindClockStart(tip repo.OID, law *config.Config) time.Time {
	now, err := h.ReadSpend(tip)
	must(err)
	for c, err := range h.repo.PathLog(h.ctx, tip, law.Root+"/pause.toml") {
		must(err)
		if len(c.Trailer("Odd-Resumed-By")) != 1 || len(c.Trailer("Odd-Run")) > 0 || rules.IsByAgent(c, law) {
			continue
		}
		if then, err := h.ReadSpend(c.OID); err != nil || then.Last.Before(now.Last) || now.Last.Before(c.Author.When) {
			return now.Last // no clock was ahead at that time
		}
		return c.Author.When
	}
	return now.Last
}

// ReadGovernance reads governance/ of a commit. A file that cannot be read is in Faults.
func (h *history) ReadGovernance(commit repo.OID) *rules.Governance {
	tree, mode := h.Find(commit, h.LawAt(commit).Root+"/governance")
	if mode != rules.Folder {
		return &rules.Governance{}
	}
	if s, ok := h.slows.get(tree); ok {
		return s
	}
	s := &rules.Governance{Tree: tree, Files: map[string]repo.OID{}}
	for _, ch := range h.Diff("", tree) {
		s.Files["governance/"+ch.Path] = ch.New
	}
	var err error
	s.Governance, err = state.ReadGovernance(h.bundleFiles(commit))
	must(rules.IgnoreDamaged(err)) // a link has no bytes, which is a fault
	h.slows.put(tree, s)
	return s
}

// ReadProposals returns all proposals as a commit has them. It skips what cannot be read: that is reported at the
// commit that wrote it.
func (h *history) ReadProposals(commit repo.OID) gate.Buffer {
	tree, _ := h.Find(commit, h.LawAt(commit).Root+"/proposals")
	if b, ok := h.buffers.get(tree); ok {
		return b
	}
	all, err := state.ReadProposals(h.bundleFiles(commit))
	if err = rules.IgnoreDamaged(err); err == nil {
		h.buffers.put(tree, all)
	}
	must(err)
	return all
}
