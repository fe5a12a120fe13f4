package verify

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// noteAnchored remembers whether the history had an anchored run up to this commit of the range.
func (h *history) noteAnchored(c repo.Commit, anchors bool) {
	h.anchored[c.OID] = anchors || slices.ContainsFunc(c.Parents, func(p repo.OID) bool { return h.anchored[p] })
}

// HasAnchorBefore reports an anchored run before this commit, inside or before the range.
func (h *history) HasAnchorBefore(c repo.Commit) bool {
	if slices.ContainsFunc(c.Parents, func(p repo.OID) bool { return h.anchored[p] }) {
		return true
	}
	for _, edge := range h.edges {
		if h.hasAnchorAt(edge) {
			if in := h.IsAncestor(edge, c.OID); in {
				return in
			}
		}
	}
	return false
}

// hasAnchorAt reports whether the ledgers of a commit outside the range record an anchored run. It reads the newest
// files first, because they have one if any file has.
func (h *history) hasAnchorAt(commit repo.OID) bool {
	if is, known := h.anchors[commit]; known {
		return is
	}
	tree, mode := h.Find(commit, h.LawAt(commit).Root+"/ledger")
	if mode != rules.Folder {
		return false
	}
	for _, f := range slices.Backward(h.Diff("", tree)) {
		if !isLedgerFile(f) {
			continue
		}
		b := h.Blob(f.New)
		records, _ := h.lines.Read(b) // invariant 14 reports what is wrong in it
		if slices.ContainsFunc(records, func(r event.Record) bool { return r.Kind == event.Anchor }) {
			h.anchors[commit] = true
			return true
		}
	}
	h.anchors[commit] = false
	return false
}

// isLedgerFile reports a regular file with the extension of a ledger. The blob alone is not enough: a symbolic link may
// have the bytes of a ledger.
func isLedgerFile(ch repo.Change) bool {
	return path.Ext(ch.Path) == ".jsonl" && strings.HasPrefix(ch.NewMode, "100")
}
