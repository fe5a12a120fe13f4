package verify

import (
	"bytes"
	"errors"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// readAct reads what a commit introduces.
func (h *history) readAct(c repo.Commit) *rules.Act {
	a := &rules.Act{Commit: c, Run: rules.Trailer(c, "Odd-Run"), Task: rules.Trailer(c, "Odd-Task"), Root: h.laws[c.OID].Root + "/", Law: h.laws[c.OID]}
	parents := c.Parents
	if len(parents) == 0 {
		parents = []repo.OID{""}
	} else {
		a.Law = h.LawAt(parents[0])
	}
	for _, p := range parents {
		side := h.Diff(p, c.OID)
		was := a.Law
		if p != "" {
			was = h.LawAt(p)
		}
		side = h.addMovedRoots(side, p, was.Root, c.OID, h.laws[c.OID].Root)
		a.Sides, a.Roots = append(a.Sides, side), append(a.Roots, was.Root+"/")
	}
	for _, ch := range h.introducedChanges(a) {
		f := &rules.File{Change: ch}
		f.Rel, _ = strings.CutPrefix(ch.Path, a.Root)
		if f.Rel == ch.Path {
			f.Rel = ""
		}
		a.Files = append(a.Files, f)
	}
	a.Kind = h.classifyCommit(a)
	h.parseAtoms(a)
	h.readAppended(a)
	return a
}

// introducedChanges returns the changes that no parent has. For a machine's merge it returns the changes that git's own
// merge of the parents does not have.
func (h *history) introducedChanges(a *rules.Act) []repo.Change {
	if h.machines[a.OID] && keepsApproval(a.Commit) {
		return slices.Clone(a.Sides[0])
	}
	if h.machines[a.OID] && len(a.Parents) == 2 {
		tree, merges := h.MergeTree(a.Parents)
		if merges {
			return h.Diff(tree, a.OID)
		}
	}
	a.Unmerged = h.machines[a.OID] && len(a.Parents) > 1
	out := slices.Clone(a.Sides[0])
	for _, side := range a.Sides[1:] {
		in := map[string]bool{}
		for _, ch := range side {
			in[ch.Path] = true
		}
		out = slices.DeleteFunc(out, func(ch repo.Change) bool { return !in[ch.Path] })
	}
	return out
}

// MergeTree returns the tree of git's own merge of two parents. merges is false if they conflict or have no common
// ancestor.
func (h *history) MergeTree(parents []repo.OID) (tree repo.OID, merges bool) {
	tree, _, err := h.repo.MergeTree(h.ctx, parents[0], parents[1])
	if err == nil || errors.Is(err, repo.ErrConflict) {
		return tree, err == nil
	}
	if base, none := h.repo.MergeBase(h.ctx, parents[0], parents[1]); none == nil && base == "" {
		return "", false
	}
	must(err)
	return "", false
}

// keepsApproval reports a commit of odd sync whose second parent is the approval it names. The parent makes every clone
// of the board fetch the approval; the commit adds no file from it.
func keepsApproval(c repo.Commit) bool {
	return len(c.Parents) == 2 && rules.Trailer(c, "Odd-Approval") == string(c.Parents[1])
}

func (h *history) classifyCommit(a *rules.Act) rules.Kind {
	switch {
	case !h.machines[a.OID]:
		return rules.Person
	case keepsApproval(a.Commit):
		return rules.Sync
	case len(a.Parents) > 1:
		return rules.Merge
	case len(a.Trailer("Odd-Approval")) > 0:
		return rules.Sync
	case a.Run == "" || len(a.Trailer("Odd-Approved-By")) > 0:
		return rules.Stray
	case a.Task == "": // a sweep adds no record if the claim was closed before
		return rules.Board
	case slices.ContainsFunc(a.Files, func(f *rules.File) bool {
		return rules.LedgerRun(f.Rel) == a.Run || f.Rel == "proposals/"+a.Run+".jsonl"
	}):
		return rules.Board
	}
	return rules.Proposal
}

// parseAtoms parses the atoms that a machine or an approval changed. Of a person's other commits it parses only the
// atoms that a rule may look at.
func (h *history) parseAtoms(a *rules.Act) {
	for _, f := range a.Files {
		if f.Rel == "" || path.Ext(f.Rel) != ".md" || a.Kind == rules.Person && len(a.Parents) == 0 {
			continue
		}
		b := h.ReadFile(f.New, f.NewMode)
		old := h.ReadFile(f.Old, f.OldMode)
		f.Principle = isPrinciple(f.Rel, old) || isPrinciple(f.Rel, b)
		if a.Kind == rules.Person && len(a.Trailer("Odd-Approved-By")) == 0 && !bytes.Contains(b, []byte(board.Done)) && !a.Law.RequireSigned && len(a.Law.Approvers) == 0 && len(h.crossed[a.OID]) == 0 {
			continue
		}
		f.Is, f.Fault = h.parseAtom(f.New, f.NewMode, f.Rel)
		f.Was, _ = h.parseAtom(f.Old, f.OldMode, f.Rel)
	}
}

// isPrinciple reports a principle that holds: one with the status draft is a candidate, which anybody may write.
func isPrinciple(rel string, b []byte) bool {
	if !bytes.Contains(bytes.ToLower(b), []byte("principle")) {
		return false
	}
	a, err := rules.ParseAtom(rel, b)
	return err == nil && a != nil && strings.EqualFold(strings.TrimSpace(a.Type), "principle") && !strings.EqualFold(a.Status, "draft")
}

// ReadFile returns the bytes of a regular file, nil for anything else.
func (h *history) ReadFile(oid repo.OID, mode string) []byte {
	if !strings.HasPrefix(mode, "100") {
		return nil
	}
	return h.Blob(oid)
}

// ReadAtom parses a blob as an atom. It returns nil if the blob is no atom.
func (h *history) ReadAtom(oid repo.OID, mode, rel string) *okf.Atom {
	a, _ := h.parseAtom(oid, mode, rel)
	return a
}

// parseAtom parses a blob as an atom, and says why it is none. What one commit writes, the next one changes.
func (h *history) parseAtom(oid repo.OID, mode, rel string) (*okf.Atom, error) {
	b := h.ReadFile(oid, mode)
	k := oid + " " + repo.OID(rel)
	if a, ok := h.atoms.get(k); ok && b != nil {
		return a, nil
	}
	a, err := rules.ParseAtom(rel, b)
	if a != nil {
		h.atoms.put(k, a)
	}
	return a, err
}

// readAppended reads the ledger records that the act appends to every parent's version.
func (h *history) readAppended(a *rules.Act) {
	for _, f := range a.Files {
		if rules.LedgerRun(f.Rel) == "" || f.New == "" {
			continue
		}
		now := h.ReadFile(f.New, f.NewMode)
		before, grown := h.CountKeptLines(now, a.ParentBlobs(f))
		records, broken := h.lines.Read(now)
		if now != nil { // a link may have the blob of a ledger, and is none
			h.ledgers.put(f.New, records)
		}
		if len(records) > before || !grown {
			stood := h.countReturned(a, f, records)
			before, f.Returned = max(before, stood), stood > 0
		}
		if !grown && !f.Returned {
			continue // invariant 14 reports the rewrite; its lines are not new
		}
		if bad := len(records) + 1; broken != nil && bad > before {
			f.Broken, f.BrokenAt = broken, bad
		}
		a.Lines = append(a.Lines, h.buildLines(f.Path, now, records, before)...)
	}
}

// buildLines returns the records of a file after the first ones, each with the trace and the open claim at its place.
func (h *history) buildLines(name string, b []byte, records []event.Record, before int) []rules.Line {
	var out []rules.Line
	claims, claimed := map[string]*rules.Claim{}, map[string]bool{}
	sessions := map[string][]event.Record{}
	tasks, opens := map[string]bool{}, false // of the records that are returned
	for _, r := range records[min(before, len(records)):] {
		tasks[r.Task], opens = true, opens || r.Opens()
	}
	at := 0 // where the record's line begins
	for i, r := range records {
		end := at + bytes.IndexByte(b[at:], '\n')
		if !tasks[r.Task] && (!opens || r.Kind == event.Session) {
			at = end + 1
			continue
		}
		if i >= before {
			l := rules.Line{Path: name, N: i + 1, Record: r, Plain: event.Plain(b[at:end], r), Before: slices.Clip(sessions[r.Task])}
			if c, ok := claims[r.Task]; ok {
				now := *c
				l.Claim = &now
			}
			if r.Opens() {
				l.Holds, l.Again = rules.ListOthers(claims, r.Task), claimed[r.Task]
			}
			if r.Kind == event.Outcome {
				l.Trace = h.lines.Trace(b[:at])
			}
			out = append(out, l)
		}
		switch c := claims[r.Task]; {
		case r.Opens():
			claims[r.Task], claimed[r.Task] = &rules.Claim{Record: r, Known: i < before}, true
		case r.Kind == event.Outcome:
			delete(claims, r.Task)
		case r.Kind == event.Session && c != nil && r.Cost <= math.MaxInt64-c.Spent:
			c.Spent += r.Cost
			c.Sessions = append(slices.Clip(c.Sessions), r)
		}
		if r.Kind == event.Session {
			sessions[r.Task] = append(sessions[r.Task], r)
		}
		at = end + 1
	}
	return out
}

// CountKeptLines returns how many lines of b the parents already have. grown is false if some parent has the file and b
// continues no parent's version.
func (h *history) CountKeptLines(b []byte, olds []repo.OID) (lines int, grown bool) {
	grown = len(olds) == 0
	for _, oid := range olds {
		old := h.Blob(oid)
		if bytes.HasPrefix(b, old) {
			lines, grown = max(lines, bytes.Count(old, []byte("\n"))), true
		}
	}
	return lines, grown
}
