package verify

import (
	"bytes"
	"errors"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// kind is what a commit is; the package comment lists the kinds.
type kind uint8

const (
	person kind = iota
	boardCommit
	proposal
	syncCommit
	mergeCommit
	stray
)

// act is one commit with what it introduces.
type act struct {
	repo.Commit
	kind  kind
	law   config.Config   // in force: the first parent's, the root commit's own
	root  string          // the bundle after the commit, with a final slash
	run   string          // Odd-Run
	task  string          // Odd-Task
	sides [][]repo.Change // the diff against each parent; a root commit has one, against nothing
	roots []string        // the bundle of each parent, with a final slash
	files []*file
	lines []ledgerLine

	redone   []string // tasks that it sets to done again by repeating a decision
	unmerged bool     // a machine's merge that git cannot make by itself
}

// file is one path that an act introduces.
type file struct {
	repo.Change
	rel   string    // below the bundle root; "" outside
	old   *okf.Atom // against the first parent; nil: none, or unreadable
	new   *okf.Atom
	fault error // why new does not read as an atom

	principle bool // an atom of type principle, before or after
	returned  bool // a ledger with lines from before that no parent has

	broken   error // the error of a ledger's first new line that is no record
	brokenAt int
}

// ledgerLine is one ledger record that an act appends.
type ledgerLine struct {
	path   string
	n      int // 1-based
	record event.Record
	plain  bool           // it is byte for byte what odd writes
	trace  string         // SHA-256 of the bytes before it
	claim  *openClaim     // the claim its task has in the file at that point; nil: none
	before []event.Record // the sessions its task has in the file before it
	holds  []string       // for a claim: the other tasks with an open claim in the file
	again  bool           // the file claimed the task before
}

// checkLines calls check for every ledger line of the act. A reason that check returns
// becomes a finding at that line.
func (j *judge) checkLines(check func(ledgerLine) (why string)) {
	for _, l := range j.lines {
		why := check(l)
		if why != "" {
			j.addFinding(l.path, l.n, "%s", why)
		}
		j.applyNotes()
	}
}

// openClaim is a claim that no outcome has closed yet.
type openClaim struct {
	event.Record
	known    bool           // the file had it before the act
	sessions int64          // what its sessions cost so far, micro-USD
	held     []event.Record // those sessions
}

// readAct reads what a commit introduces.
func (h *history) readAct(c repo.Commit) *act {
	a := &act{Commit: c, run: singleTrailer(c, "Odd-Run"), task: singleTrailer(c, "Odd-Task"), root: h.laws[c.OID].Root + "/", law: *h.laws[c.OID]}
	parents := c.Parents
	if len(parents) == 0 {
		parents = []repo.OID{""}
	} else {
		a.law = h.lawAfter(parents[0])
	}
	for _, p := range parents {
		side := h.diff(p, c.OID)
		was := a.law
		if p != "" {
			was = h.lawAfter(p)
		}
		side = h.addMovedRoots(side, p, was.Root, c.OID, h.laws[c.OID].Root)
		a.sides, a.roots = append(a.sides, side), append(a.roots, was.Root+"/")
	}
	introduced := h.introducedChanges(a)
	for _, ch := range introduced {
		f := &file{Change: ch}
		f.rel, _ = strings.CutPrefix(ch.Path, a.root)
		if f.rel == ch.Path {
			f.rel = ""
		}
		a.files = append(a.files, f)
	}
	a.kind = h.classifyCommit(a)
	h.parseAtoms(a)
	h.readAppended(a)
	return a
}

// introducedChanges returns the changes that no parent has. For a machine's merge it returns
// the changes that git's own merge of the parents does not have.
func (h *history) introducedChanges(a *act) []repo.Change {
	if h.machines[a.OID] && keepsApproval(a.Commit) {
		return slices.Clone(a.sides[0])
	}
	if h.machines[a.OID] && len(a.Parents) == 2 {
		tree, merges := h.mergeTree(a.Parents)
		if merges {
			return h.diff(tree, a.OID)
		}
	}
	a.unmerged = h.machines[a.OID] && len(a.Parents) > 1
	out := slices.Clone(a.sides[0])
	for _, side := range a.sides[1:] {
		in := map[string]bool{}
		for _, ch := range side {
			in[ch.Path] = true
		}
		out = slices.DeleteFunc(out, func(ch repo.Change) bool { return !in[ch.Path] })
	}
	return out
}

// mergeTree returns the tree of git's own merge of two parents. merges is false if they
// conflict or have no common ancestor.
func (h *history) mergeTree(parents []repo.OID) (tree repo.OID, merges bool) {
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

// keepsApproval reports a commit of odd sync whose second parent is the approval it names.
// The parent makes every clone of the board fetch the approval; the commit adds no file from
// it.
func keepsApproval(c repo.Commit) bool {
	return len(c.Parents) == 2 && singleTrailer(c, "Odd-Approval") == string(c.Parents[1])
}

func (h *history) classifyCommit(a *act) kind {
	switch {
	case !h.machines[a.OID]:
		return person
	case keepsApproval(a.Commit):
		return syncCommit
	case len(a.Parents) > 1:
		return mergeCommit
	case len(a.Trailer("Odd-Approval")) > 0:
		return syncCommit
	case a.run == "" || len(a.Trailer("Odd-Approved-By")) > 0:
		return stray
	case a.task == "": // a sweep adds no record if the claim was closed before
		return boardCommit
	case slices.ContainsFunc(a.files, func(f *file) bool { return ledgerRun(f.rel) == a.run || f.rel == "proposals/"+a.run+".jsonl" }):
		return boardCommit
	}
	return proposal
}

// ledgerRun returns the run that a ledger file belongs to, "" for any other file.
func ledgerRun(rel string) string {
	if ok, _ := path.Match("ledger/*/*.jsonl", rel); !ok {
		return ""
	}
	return strings.TrimSuffix(path.Base(rel), ".jsonl")
}

// parseAtoms parses the atoms that a machine or an approval changed. Of a person's other
// commits it parses only the atoms that a rule may look at.
func (h *history) parseAtoms(a *act) {
	for _, f := range a.files {
		if f.rel == "" || path.Ext(f.rel) != ".md" || a.kind == person && len(a.Parents) == 0 {
			continue
		}
		b := h.readFile(f.New, f.NewMode)
		old := h.readFile(f.Old, f.OldMode)
		f.principle = isPrinciple(f.rel, old) || isPrinciple(f.rel, b)
		if a.kind == person && len(a.Trailer("Odd-Approved-By")) == 0 && !bytes.Contains(b, []byte(board.Done)) && !a.law.RequireSigned && len(a.law.Approvers) == 0 && len(h.crossed[a.OID]) == 0 {
			continue
		}
		f.new, f.fault = parseAtom(f.rel, b)
		f.old, _ = parseAtom(f.rel, old)
	}
}

func isPrinciple(rel string, b []byte) bool {
	if !bytes.Contains(bytes.ToLower(b), []byte("principle")) {
		return false
	}
	a, err := parseAtom(rel, b)
	return err == nil && a != nil && strings.EqualFold(strings.TrimSpace(a.Type), "principle")
}

// readFile returns the bytes of a regular file, nil for anything else.
func (h *history) readFile(oid repo.OID, mode string) []byte {
	if !strings.HasPrefix(mode, "100") {
		return nil
	}
	return h.blob(oid)
}

// readAtom parses a blob as an atom. It returns nil if the blob is no atom.
func (h *history) readAtom(oid repo.OID, mode, rel string) *okf.Atom {
	b := h.readFile(oid, mode)
	a, _ := parseAtom(rel, b)
	return a
}

func parseAtom(rel string, b []byte) (*okf.Atom, error) {
	if b == nil {
		return nil, nil
	}
	a, err := okf.Parse(rel, b)
	if err != nil {
		return nil, err
	}
	return &a, nil
}

// readAppended reads the ledger records that the act appends to every parent's version.
func (h *history) readAppended(a *act) {
	for _, f := range a.files {
		if ledgerRun(f.rel) == "" || f.New == "" {
			continue
		}
		now := h.readFile(f.New, f.NewMode)
		before, grown := h.countKeptLines(now, a.parentBlobs(f))
		records, broken := h.lines.Read(now)
		if len(records) > before || !grown {
			stood := h.countReturned(a, f, records)
			before, f.returned = max(before, stood), stood > 0
		}
		if !grown && !f.returned {
			continue // invariant 14 reports the rewrite; its lines are not new
		}
		if bad := len(records) + 1; broken != nil && bad > before {
			f.broken, f.brokenAt = broken, bad
		}
		a.lines = append(a.lines, h.buildLines(f.Path, now, records, before)...)
	}
}

// buildLines returns the records of a file after the first ones, each with the trace and the
// open claim at its place.
func (h *history) buildLines(name string, b []byte, records []event.Record, before int) []ledgerLine {
	var out []ledgerLine
	claims, claimed := map[string]*openClaim{}, map[string]bool{}
	sessions := map[string][]event.Record{}
	at := 0 // where the record's line begins
	for i, r := range records {
		end := at + bytes.IndexByte(b[at:], '\n')
		if i >= before {
			l := ledgerLine{path: name, n: i + 1, record: r, plain: event.Plain(b[at:end], r), before: slices.Clip(sessions[r.Task])}
			if c, ok := claims[r.Task]; ok {
				now := *c
				l.claim = &now
			}
			if r.Opens() {
				l.holds, l.again = listOthers(claims, r.Task), claimed[r.Task]
			}
			if r.Kind == event.Outcome {
				l.trace = h.lines.Trace(b[:at])
			}
			out = append(out, l)
		}
		switch c := claims[r.Task]; {
		case r.Opens():
			claims[r.Task], claimed[r.Task] = &openClaim{Record: r, known: i < before}, true
		case r.Kind == event.Outcome:
			delete(claims, r.Task)
		case r.Kind == event.Session && c != nil && r.Cost <= math.MaxInt64-c.sessions:
			c.sessions += r.Cost
			c.held = append(slices.Clip(c.held), r)
		}
		if r.Kind == event.Session {
			sessions[r.Task] = append(sessions[r.Task], r)
		}
		at = end + 1
	}
	return out
}

// countKeptLines returns how many lines of b the parents already have. grown is false if
// some parent has the file and b continues no parent's version.
func (h *history) countKeptLines(b []byte, olds []repo.OID) (lines int, grown bool) {
	grown = len(olds) == 0
	for _, oid := range olds {
		old := h.blob(oid)
		if bytes.HasPrefix(b, old) {
			lines, grown = max(lines, bytes.Count(old, []byte("\n"))), true
		}
	}
	return lines, grown
}

// parentBlobs returns the blobs of f's file in the parents that have it, wherever their
// bundle was.
func (a *act) parentBlobs(f *file) []repo.OID {
	var out []repo.OID
	for i, side := range a.sides {
		name := f.Path
		if f.rel != "" {
			name = a.roots[i] + f.rel
		}
		at, ok := slices.BinarySearchFunc(side, name, func(c repo.Change, s string) int { return strings.Compare(c.Path, s) })
		if ok && strings.HasPrefix(side[at].OldMode, "100") {
			out = append(out, side[at].Old)
		}
	}
	return out
}

func isTask(a *okf.Atom) bool { return a != nil && a.Type == board.Type }

// taskState returns the state that a task atom names, "" for any other atom.
func taskState(a *okf.Atom) board.State {
	if !isTask(a) {
		return ""
	}
	t, err := board.Parse(a)
	if err != nil {
		return board.State(a.Text("state"))
	}
	return t.State
}
