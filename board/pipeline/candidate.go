package pipeline

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Edit is one file that a change writes or deletes, with its bytes on both sides.
// A nil Before is a new file, a nil After a deleted one; empty is not nil. A
// rename is one of each, and a changed mode one whose bytes are the same. It has
// the members of the repository's own type of edit, so that either converts to
// the other.
type Edit struct {
	Path             string
	Before, After    []byte
	OldMode, NewMode string // "100644" or "100755", "" without a file
}

// Unchanged reports an edit that leaves its file as it was.
func (e Edit) Unchanged() bool {
	return e.OldMode == e.NewMode && (e.Before == nil) == (e.After == nil) && bytes.Equal(e.Before, e.After)
}

// The modes of files. A change made of anything else is none.
const (
	modePlain = "100644"
	modeExec  = "100755"
	modeLink  = "120000"
	modeRepo  = "160000"
)

// Where a candidate came from: the schema of the text that held it, or the tree
// that a session edited.
const (
	FromFull = "2b.1"
	FromNoop = "2b.1-noop"
	FromTree = "tree"
)

// Candidate is one way to make a change, whichever way it was delivered.
type Candidate struct {
	ID        string // what the session calls it; empty from a tree
	Files     []Edit // sorted by path; none for a noop
	Rationale string // the session's words; data, read by no rule
	Source    string // one of the From words
	Reason    string // of a noop, why there is nothing to do
	Mended    string // what Mend wrote in its files' names instead, for people; "" for nothing
}

// Noop reports a session that says there is nothing to change.
func (c Candidate) Noop() bool { return c.Source == FromNoop }

// Mend returns the candidate with the names in its files as lint.MendNames corrects them.
// These bytes are judged and land. Nothing is mended where a file would become what it
// was at the base.
func (c Candidate) Mend() Candidate {
	files, did := lint.MendNames(c.Gate())
	if len(did) == 0 {
		return c
	}
	was := c
	c.Files = slices.Clone(c.Files)
	for i, f := range files {
		e := &c.Files[i]
		if e.After = f.After; e.Unchanged() {
			return was
		}
	}
	c.Mended = formatMended(did)
	return c
}

// formatMended lists the corrections, "FILE: FROM is TO, N times", as many as fit a fact,
// without control characters.
func formatMended(did []lint.Mended) string {
	lines := make([]string, len(did))
	for i, m := range did {
		lines[i] = fmt.Sprintf("%s: %+q is %+q", okf.Visible(m.Path), m.From, m.To)
		if m.Count > 1 {
			lines[i] += fmt.Sprintf(", %d times", m.Count)
		}
	}
	return clipText(strings.Join(lines, "; "), maxFact)
}

// Gate is the candidate's files as the iron gate judges them.
func (c Candidate) Gate() []lint.File {
	out := make([]lint.File, len(c.Files))
	for i, e := range c.Files {
		out[i] = lint.File{Path: e.Path, Before: e.Before, After: e.After}
	}
	return out
}

// Paths returns the paths of its files, in their order.
func (c Candidate) Paths() []string {
	out := make([]string, len(c.Files))
	for i, f := range c.Files {
		out[i] = f.Path
	}
	return out
}

// Fault is one reason why a delivery cannot be used. A code never changes its meaning.
type Fault struct {
	Code string `json:"code"`
	At   string `json:"at"` // a line of the text and the member, or a path
	Text string `json:"text"`
	Fix  string `json:"fix"`
}

// Error is the fault on one line, place first and code last.
func (f Fault) Error() string {
	at := f.At
	if at != "" {
		at += ": "
	}
	return fmt.Sprintf("%s%s; %s [%s]", at, f.Text, f.Fix, f.Code)
}

// Unusable is every fault of the first check that found any. Nothing of the delivery is
// kept.
type Unusable []Fault

// Error lists the faults, one a line.
func (u Unusable) Error() string {
	lines := make([]string, len(u))
	for i, f := range u {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Refused is the first fault's code.
func (u Unusable) Refused() string { return u[0].Code }

func (u Unusable) errorOrNil() error {
	if len(u) == 0 {
		return nil
	}
	return u
}

// FromEdits makes a candidate of what a session edited in a tree. A session that means to
// change nothing must say so with a noop, so a tree without an edit is an error.
func FromEdits(edits []Edit) (Candidate, error) {
	c := Candidate{Files: slices.Clone(edits), Source: FromTree}
	u := c.checkFiles()
	if len(edits) == 0 {
		u = append(u, Fault{"no_files", "", "the agent changed no file", "edit files, or say with 2b.1-noop why nothing needs to change"})
	}
	return c, u.errorOrNil()
}

// checkFiles sorts the files and judges them together: their paths, their modes, and
// that each is a change.
func (c *Candidate) checkFiles() Unusable {
	slices.SortFunc(c.Files, func(a, b Edit) int { return strings.Compare(a.Path, b.Path) })
	var u Unusable
	for _, f := range policy.CheckPaths(c.Paths()) {
		u = append(u, Fault{f.Code, f.Path, f.Text, f.Fix})
	}
	for _, f := range c.Files {
		plain := func(b []byte, mode string) bool {
			return b == nil && mode == "" || b != nil && (mode == modePlain || mode == modeExec)
		}
		if !plain(f.Before, f.OldMode) || !plain(f.After, f.NewMode) {
			u = append(u, Fault{"not_a_file", f.Path, fmt.Sprintf("mode %q is not that of a plain file", cmp.Or(f.NewMode, f.OldMode)), "change plain files only"})
		}
		if f.Unchanged() {
			u = append(u, Fault{"unchanged", f.Path, "is unchanged", "leave it out"})
		}
	}
	return u
}
