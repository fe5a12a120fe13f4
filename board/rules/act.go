package rules

import (
	"errors"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// Kind is what a commit is: Person, Board, Proposal, Sync, Merge or Stray. All but a Person's are a machine's; the
// package comment of verify has the rule by which a commit is a machine's.
type Kind uint8

const (
	Person   Kind = iota // whoever is not the agent
	Board                // changes its run's ledger or proposals: claim, result, sweep, pause, decay
	Proposal             // carries Odd-Run and changes no ledger: the atoms or files that a session made
	Sync                 // carries Odd-Approval: sets a task to done because a person approved it
	Merge                // has two parents: must be what git merges by itself
	Stray                // anything else: may file a task in backlog, or as [sense] allows, and nothing more
)

// Act is one commit with what it introduces.
type Act struct {
	repo.Commit
	Kind  Kind
	Law   *config.Config  // in force: the first parent's, the root commit's own
	Root  string          // the bundle after the commit, with a final slash
	Run   string          // Odd-Run
	Task  string          // Odd-Task
	Sides [][]repo.Change // the diff against each parent; a root commit has one, against nothing
	Roots []string        // the bundle of each parent, with a final slash
	Files []*File
	Lines []Line

	redone   []string // tasks that it sets to done again by repeating a decision
	Unmerged bool     // a machine's merge that git cannot make by itself
}

// File is one path that an act introduces.
type File struct {
	repo.Change
	Rel   string    // below the bundle root; "" outside
	Was   *okf.Atom // against the first parent; nil: none, or unreadable
	Is    *okf.Atom // after the act; nil: none, or unreadable
	Fault error     // why the file does not read as an atom after the act

	Principle bool // an atom of type principle and not a draft, before or after
	Returned  bool // a ledger with lines from before that no parent has

	Broken   error // the error of a ledger's first new line that is no record
	BrokenAt int
}

// Line is one ledger record that an act appends.
type Line struct {
	Path   string
	N      int // 1-based
	Record event.Record
	Plain  bool           // it is byte for byte what odd writes
	Trace  string         // SHA-256 of the bytes before it
	Claim  *Claim         // the claim its task has in the file at that point; nil: none
	Before []event.Record // the sessions its task has in the file before it
	Holds  []string       // for a claim: the other tasks with an open claim in the file
	Again  bool           // the file claimed the task before
}

// checkLines calls check for every ledger line of the act. A reason that check returns becomes a finding at that line.
func (j *judge) checkLines(check func(Line) (why string)) {
	for _, l := range j.Lines {
		why := check(l)
		if why != "" {
			j.addFinding(l.Path, l.N, "%s", why)
		}
		j.applyNotes()
	}
}

// Claim is a claim that no outcome has closed yet.
type Claim struct {
	event.Record
	Known    bool           // the file had it before the act
	Spent    int64          // what its sessions cost so far, micro-USD
	Sessions []event.Record // those sessions
}

// LedgerRun returns the run that a ledger file belongs to, "" for any other file.
func LedgerRun(rel string) string {
	month, in := strings.CutPrefix(rel, "ledger/")
	_, name, deep := strings.Cut(month, "/")
	run, is := strings.CutSuffix(name, ".jsonl")
	if !in || !deep || !is || strings.Contains(run, "/") {
		return ""
	}
	return run
}

// ParseAtom parses a file as an atom; nil bytes are none.
func ParseAtom(rel string, b []byte) (*okf.Atom, error) {
	if b == nil {
		return nil, nil
	}
	a, err := okf.Parse(rel, b)
	if err != nil {
		return nil, err
	}
	return &a, nil
}

// ParentBlobs returns the blobs of f's file in the parents that have it, wherever their bundle was.
func (a *Act) ParentBlobs(f *File) []repo.OID {
	var out []repo.OID
	for i, side := range a.Sides {
		name := f.Path
		if f.Rel != "" {
			name = a.Roots[i] + f.Rel
		}
		at, ok := slices.BinarySearchFunc(side, name, func(c repo.Change, s string) int { return strings.Compare(c.Path, s) })
		if ok && strings.HasPrefix(side[at].OldMode, "100") {
			out = append(out, side[at].Old)
		}
	}
	return out
}

// taskState returns the state that a task atom names, "" for any other atom.
func taskState(a *okf.Atom) board.State {
	if !IsTask(a) {
		return ""
	}
	t, err := board.Parse(a)
	if err != nil {
		return board.State(a.Text("state"))
	}
	return t.State
}

// IsTask reports a task; nil is none.
func IsTask(a *okf.Atom) bool { return a != nil && a.Type == board.Type }

// Trailer returns the value of a trailer that occurs exactly once, "" otherwise.
func Trailer(c repo.Commit, name string) string {
	if v := c.Trailer(name); len(v) == 1 {
		return v[0]
	}
	return ""
}

// IsByAgent reports a commit whose author or committer is the agent of law.
func IsByAgent(c repo.Commit, law *config.Config) bool {
	return IsAgent(c.Author, law) || IsAgent(c.Committer, law)
}

// IsAgent compares addresses without regard to case and surrounding space.
func IsAgent(who repo.Signature, law *config.Config) bool {
	return strings.EqualFold(strings.TrimSpace(who.Email), law.AgentEmail)
}

// IgnoreDamaged returns nil for the error of a damaged ledger, which invariant 14 reports. Other invariants then have
// no finding about what it held.
func IgnoreDamaged(err error) error {
	if damaged := (*state.Damaged)(nil); errors.As(err, &damaged) {
		return nil
	}
	return err
}

// Folder is the mode of a directory in a tree.
const Folder = "40000"
