package rules

import (
	"io/fs"
	"iter"
	"time"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
)

// Objects reads commits, trees and blobs, and what odd makes of them. An answer depends on its arguments alone.
//
// No method returns an error of reading: it ends the judging of the commit, and the whole check fails with it. So a
// rule cannot take a missing or damaged object for an empty one.
type Objects interface {
	Must(err error) // ends the judging with an error of reading, unless err is nil

	ReadCommit(repo.OID) repo.Commit
	FindCommit(repo.OID) (c repo.Commit, ok bool)                     // of an id that a record or a trailer names: this clone may have none of that name
	Find(at repo.OID, path string) (oid repo.OID, mode string)        // "" where nothing is
	FindFile(at repo.OID, path string) string                         // the blob of a regular file, "" for none
	FindInBundle(at repo.OID, rel string) string                      // FindFile for a path below the bundle
	ListFiles(at repo.OID, dir string) []repo.Change                  // of a folder, as added files
	Names(at repo.OID, dir string) []string                           // in a folder
	Diff(a, b repo.OID) []repo.Change                                 // between two commits or trees; "" is an empty one
	HoldsBlob(at, blob repo.OID) bool                                 // some file of the tree is that blob
	Blob(repo.OID) []byte                                             //
	ReadFile(oid repo.OID, mode string) []byte                        // of a regular file; nil for anything else
	ReadAtom(oid repo.OID, mode, rel string) *okf.Atom                // nil if it is none
	ReadTree(at repo.OID) fs.FS                                       //
	Log(from, to repo.OID) iter.Seq[repo.Commit]                      // reachable from to and not from from, children first
	IsAncestor(a, b repo.OID) bool                                    // a is b, or an ancestor of b
	MergeBase(a, b repo.OID) repo.OID                                 // "" for none
	MergeTree(parents []repo.OID) (tree repo.OID, merges bool)        // git's own merge of two parents
	IsExtension(was, now repo.OID) bool                               // the blob now begins with the bytes of was
	CountKeptLines(b []byte, olds []repo.OID) (lines int, grown bool) // how many lines of b the olds have; grown: it continues one of them
	VerifySignature(commit, signers repo.OID) string                  // what it lacks of a signature by one of the signers in a blob

	LawAt(repo.OID) *config.Config                               // the odd.toml in force after a commit
	ReadLaw(tree repo.OID, before *config.Config) *config.Config // of a tree; before if that has none
	IsRuled(repo.OID) bool                                       // the commit or one before it has an odd.toml
	IsMachine(repo.Commit) bool                                  // see the package comment
	ReadLedger(at repo.OID, run string) []event.Record           // up to the first unreadable record
	ReadState(at repo.OID) *state.State                          //
	ReadSpend(at repo.OID) (event.Spend, error)                  // the error is of a ledger that cannot be summed
	ReadGovernance(at repo.OID) *Governance                      //
	ReadProposals(at repo.OID) gate.Buffer                       //
	ReadBundle(at repo.OID, root string) *okf.Graph              //
	FindConstitution(at repo.OID, law *config.Config, name, role string) (anchor.Constitution, []*okf.Atom, error)
	CompilePersona(at repo.OID, root, role string) Persona          // of a role, as the bundle at root has it
	ReadVersions(at repo.OID) map[string][]repo.OID                 // of append-only files along first parents, newest first
	FindPutBack(c repo.Commit, rel string, is repo.Change) repo.OID // the version that a person puts back, "" for none
	FindClockStart(at repo.OID, law *config.Config) time.Time       // before it no claim may be dated
	Survey(risk.Site) *risk.Ground                                  // what the risk of a change is judged by
}

// History answers what depends on the range that is judged and on where the branches are. verify notes every answer
// with the verdict, and judges a commit anew where another range answers otherwise.
type History interface {
	Objects

	Start() repo.OID                                                     // the commit that the range goes on from, "" for none
	End() repo.OID                                                       // its last commit
	FindRef(name string) repo.OID                                        // where a ref is, or is about to be; "" for nowhere
	BeginsHere(root repo.OID) bool                                       // the history of End begins with this root, along first parents
	IsOpenEnd(repo.OID) bool                                             // see "open end" in the package comment
	IsWaiting(proposal repo.OID) bool                                    // no branch has it
	IsTaken(p repo.Commit, own bool) bool                                // a person's commit is built on it; own: on the board's line it must be its approval
	IsOnTarget(law *config.Config, oid repo.OID) bool                    // the target branch has it, or this clone has no such branch
	IsUnnamed(repo.OID) bool                                             // see "unnamed" in the package comment
	HasUnnamed() bool                                                    // there is any
	FindCrossed(repo.OID) []repo.OID                                     // see "crossed" in the package comment
	FindSenseCrossed(repo.OID) []repo.OID                                // lines that a commit is merged with and that have another [sense]
	FindClaim(of repo.Commit, run, task string) (c repo.Commit, ok bool) // the claim that a commit goes on; ok is false if this clone has none
	FindSameClaim(claim repo.Commit, run, task string) repo.OID          // the same claim on a line beside, "" for none
	FindOutcomes(run, task string) []Outcome                             // first as End has them, then as the branches do
	LedgerCommits(run string) iter.Seq[repo.OID]                         // the commits that may have the run's ledger
	VisitRun(run, task string, look func(repo.Commit) (enough bool))     // the run's commits for the task, of the range and before
	HasAnchorBefore(repo.Commit) bool                                    // a run had a write permit before it
}

// Outcome is a run's outcome. Own says that the end of the range has it; otherwise a branch has it.
type Outcome struct {
	*event.Record
	Own bool
}
