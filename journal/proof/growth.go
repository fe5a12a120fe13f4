package proof

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

func growthRule() rule {
	return rule{Row{
		Invariant: 14, Name: "Append-only", Unit: "files and records",
		Way:        "put the old file back in a commit of your own: git checkout COMMIT^ -- FILE",
		Evidence:   "ledger/**.jsonl, journal/*.tsv, proposals/*.jsonl and governance/*.jsonl in every commit, against each parent",
		Recomputed: "the old bytes begin the new ones and no file goes (a person may take out a doubled tab, and put back what was rewritten or taken away); of another repository that a person's merge brings in, they are there, in a folder or where they lay, and it is another by its commits, ledgers and tasks, and by what the range stands on; a folder that becomes the bundle is judged as the bundle moved there; a root commit beside the first brings no ledger in; a run has one ledger file, in the month it began in, which holds its own records, added by that run and spelt as odd spells them; one that was taken away and comes back says nothing anew but what is behind it; an outcome's trace is the SHA-256 of the bytes before it and the Odd-Trace of its commits",
		Attested:   "that a branch was not rewritten before this clone fetched it; to who reads from the beginning, that a repository which another took into a folder is not the one that goes on",
	}, growing}
}

// growing is invariant 14: append-only files only grow, and a ledger is its own run's.
func growing(j *judge) error {
	for i, side := range j.sides {
		if len(j.Parents) == 0 {
			break
		}
		before := len(j.found)
		gone, err := j.grown(side, j.roots[i])
		if err != nil {
			return err
		}
		if another, err := j.broughtIn(i, gone); err != nil {
			return err
		} else if another {
			j.found = j.found[:before]
		}
	}
	for i := range j.found { // one act, however many files
		if j.found[i].Cause = "grown " + string(j.OID); len(j.found) > 1 && len(j.Parents) == 1 {
			j.found[i].Way = fmt.Sprintf("put them back: git revert %s", short(string(j.OID)))
		}
	}
	if len(j.Parents) == 0 && j.kind == person {
		return j.ledgersBeside() // else it is where the history begins
	}
	j.checkReadable()
	if err := j.checkOneLedger(); err != nil {
		return err
	}
	for _, l := range j.lines {
		j.checked++
		j.line(l)
	}
	if j.kind != proposal {
		return nil
	}
	r, err := j.outcome()
	if got := one(j.Commit, "Odd-Trace"); err == nil && r.Record != nil && got != r.Trace {
		j.find(j.anyPath(), 1, "the proposal's Odd-Trace is %s, the trace of its outcome %s", or(short(got), "missing"), short(r.Trace))
	}
	return err
}

// appendOnly reports a file, below the bundle root, that only grows.
func appendOnly(rel string) bool {
	for _, pattern := range []string{"journal/*.tsv", "proposals/*.jsonl", "governance/*.jsonl"} {
		if ok, _ := path.Match(pattern, rel); ok {
			return true
		}
	}
	return strings.HasPrefix(rel, "ledger/") && strings.HasSuffix(rel, ".jsonl")
}

// grown compares every append-only file that differs from one parent, whose
// bundle was below root, and tells the parent's files that are found to be gone. A
// bundle that was moved as a whole is compared file by file.
func (j *judge) grown(side []repo.Change, root string) (gone []string, err error) {
	now := map[string]repo.Change{}
	for _, ch := range side {
		if rel, ok := strings.CutPrefix(ch.Path, j.root); ok && appendOnly(rel) && ch.New != "" {
			now[rel] = ch
		}
	}
	for _, was := range side {
		rel, ok := strings.CutPrefix(was.Path, root)
		if !ok || !appendOnly(rel) || was.Old == "" {
			continue
		}
		found := len(j.found)
		if err := j.grows(rel, was, now); err != nil {
			return nil, err
		}
		if len(j.found) > found {
			gone = append(gone, was.Path)
		}
	}
	return gone, nil
}

// grows compares one of them with what there is now, by the path below the bundle. What a
// person puts back as the last gate left it may be less.
func (j *judge) grows(rel string, was repo.Change, now map[string]repo.Change) error {
	if strings.HasPrefix(rel, "governance/") {
		if back, err := j.restores(); back || err != nil {
			return err
		}
	}
	j.checked++
	is, ok := now[rel]
	if !ok {
		if back, err := j.withdrawn(rel, was); back || err != nil {
			return err
		}
		j.find(was.Path, 1, "is append-only and was deleted")
		j.checkout(was.Path)
		return nil
	}
	return j.prefix(rel, was, is)
}

// prefix reports a file that does not go on from what it was.
func (j *judge) prefix(rel string, was, is repo.Change) error {
	old, err := j.bytes(was.Old, was.OldMode)
	if err != nil {
		return err
	}
	b, err := j.bytes(is.New, is.NewMode)
	if err != nil || bytes.HasPrefix(b, old) && b != nil {
		return err
	}
	if j.kind == person && path.Ext(is.Path) == ".tsv" {
		if fixed, _, err := journal.Fix(old); err == nil && bytes.HasPrefix(b, fixed) {
			return nil
		}
		if union, err := j.union(old, b, is.Path); union || err != nil {
			return err
		}
	}
	if !strings.HasPrefix(rel, "governance/") { // which is put back as the last gate left it, or not at all
		if good, err := j.putBack(j.Commit, rel, is); good != "" || err != nil {
			return err
		}
	}
	j.find(is.Path, firstDifference(old, b), "is append-only, and old lines of it were changed")
	j.checkout(is.Path)
	return nil
}

// checkout gives the last finding the command that puts a file back as the only parent has it.
func (j *judge) checkout(name string) {
	if len(j.Parents) == 1 && !strings.ContainsAny(name, " '\"$&;()*?[]`\\") {
		j.out(fmt.Sprintf("put it back: git checkout %s -- %s && git commit -m \"put it back\"", short(string(j.Parents[0])), name))
	}
}

// union reports git's union of the parents' rows, as .gitattributes asks for.
func (j *judge) union(old, b []byte, name string) (bool, error) {
	if len(j.Parents) < 2 {
		return false, nil
	}
	theirs := map[string]bool{}
	for _, p := range j.Parents {
		oid, err := j.blobAt(p, name)
		if err != nil {
			return false, err
		}
		if oid == "" {
			continue
		}
		rows, err := j.trees.Blob(repo.OID(oid))
		if err != nil {
			return false, err
		}
		for row := range bytes.SplitSeq(rows, []byte("\n")) {
			theirs[string(row)] = true
		}
	}
	return keepsRows(old, b, theirs), nil
}

// keepsRows reports whether b has every line of old, in order, and among them
// none but theirs. Whether a line was the last, and open, does not matter.
func keepsRows(old, b []byte, theirs map[string]bool) bool {
	left := bytes.Split(bytes.TrimSuffix(old, []byte("\n")), []byte("\n"))
	for row := range bytes.SplitSeq(b, []byte("\n")) {
		switch {
		case len(left) == 0:
			return true
		case bytes.Equal(row, left[0]):
			left = left[1:]
		case !theirs[string(row)]:
			return false
		}
	}
	return len(left) == 0
}

// firstDifference is the line on which b stops being old.
func firstDifference(old, b []byte) int {
	n := 0
	for n < len(old) && n < len(b) && old[n] == b[n] {
		n++
	}
	return 1 + bytes.Count(old[:n], []byte("\n"))
}

// checkOneLedger reports a ledger that does not lie in the month its run began in, where it is
// looked for, and a second one of a run, in another month: of two none tells all.
func (j *judge) checkOneLedger() error {
	for _, f := range j.files {
		run := ledgerOf(f.rel)
		if run == "" || f.Old != "" || f.New == "" {
			continue
		}
		j.checkLedgerMonth(f)
		months, err := j.trees.Names(j.OID, j.root+"ledger")
		if err != nil {
			return err
		}
		for _, m := range months {
			rel := "ledger/" + m + "/" + run + ".jsonl"
			if other, err := j.blobBelow(j.OID, rel); err != nil {
				return err
			} else if other != "" && rel != f.rel {
				j.find(f.Path, 1, "is a second ledger file of %s, which has %s; a run keeps one, from its beginning", run, rel)
			}
		}
	}
	return nil
}

// checkLedgerMonth reports a new ledger in another folder than that of the month its first record
// is of, or its commit, or of the month before: a run may begin in the last moment of one.
func (j *judge) checkLedgerMonth(f *file) {
	month := path.Base(path.Dir(f.rel))
	at, err := time.Parse("2006-01", month)
	i := slices.IndexFunc(j.lines, func(l line) bool { return l.path == f.Path && l.n == 1 })
	if err == nil && i < 0 {
		return // it was moved, or holds no record
	}
	if err == nil {
		for _, began := range []time.Time{j.lines[i].record.TS, j.Author.When} {
			if is := event.Month(began); is == month || is == event.Month(at.AddDate(0, 1, 0)) {
				return
			}
		}
	}
	j.find(f.Path, 1, "is a ledger in %s; a run's lies in the month it began in, or its records are not found", path.Dir(f.rel))
}

// checkReadable reports the first line of a ledger file that the act leaves unreadable.
func (j *judge) checkReadable() {
	for _, f := range j.files {
		if f.broken == nil {
			continue
		}
		j.find(f.Path, f.brokenAt, "%s", strings.TrimPrefix(f.broken.Error(), fmt.Sprintf("line %d: ", f.brokenAt)))
	}
}

// line judges one new record: who adds it, and what its trace says.
func (j *judge) line(l line) {
	run := strings.TrimSuffix(path.Base(l.path), ".jsonl")
	switch {
	case l.record.Run != run:
		j.find(l.path, l.n, "is a record of %s in the file of %s", l.record.Run, run)
	case (j.kind == person || j.run != run) && !j.ownWord(l.record):
		j.find(l.path, l.n, "is a record of %s that another commit than its own adds", run)
	case !l.plain:
		j.find(l.path, l.n, "this record was not written by odd: odd writes keys in order, each once, no space between, nothing escaped without need")
	}
	if l.record.Kind != event.Outcome {
		return
	}
	if l.record.Trace != l.trace {
		j.find(l.path, l.n, "the trace is %s, the bytes before it make %s", or(short(l.record.Trace), "missing"), short(l.trace))
		return
	}
	if got := one(j.Commit, "Odd-Trace"); got != l.record.Trace {
		j.find(l.path, l.n, "the trace is %s, the commit's Odd-Trace %s", short(l.record.Trace), or(short(got), "missing"))
	}
}
