// Package verify checks odd's invariants from git history alone.
//
// Check reads the commits of a range once, parents before children, and judges what each
// commit introduces. A merge introduces only what differs from all its parents, because what
// came from a parent is judged at its own commit. Every invariant is one row of a table. The
// row says what evidence it reads, what it recomputes and what it has to believe; Table
// returns the rows.
//
//	report, err := verify.Check(ctx, r, "", tip) // the whole history of tip
//	for _, f := range report.Findings {
//		fmt.Println(f) // knowledge/tasks/t.md:4: done without an approval … [invariant 3, 1f0c2ab9d4]
//	}
//
// # Who made a commit
//
// A commit is a machine's if its author or committer has the address of [agent] in the
// odd.toml of one of its parents. It also is a machine's if it has the trailer Odd-Run and
// neither Odd-Approved-By nor Odd-Rejected-By. All other commits are a person's. People may
// edit anything by hand, except what invariants 3, 8, 9 and 14 protect. A machine's commit is
// one of these kinds:
//
//	board     changes its run's ledger or proposals: claim, result, sweep, pause, decay
//	proposal  carries Odd-Run and changes no ledger: the atoms or files that a session made
//	sync      carries Odd-Approval: sets a task to done because a person approved it
//	merge     has two parents: must be what git merges by itself
//	stray     anything else: may file a task in backlog, and nothing more
//
// # What git cannot prove
//
// Git believes whoever sets user.email, so a process that takes a person's name counts as
// that person. Signed commits close this gap: with [governance] require_signed, every decision
// must be signed by a key that allowed_signers gives to the author. The parent's version of
// that file counts.
//
// Check believes everything before the range, and the content of the root commit that the
// history begins with, if a person made it. It does not believe the ledgers and done tasks of
// another root commit that a merge brings in. The default address of the agent never is a
// person's, whatever a root commit's odd.toml says.
//
// # Promises
//
//  1. In one clone with the same refs, the same range gives the same report. Findings are ordered by
//     commit, then by path, line and invariant.
//  2. Check writes nothing but a temporary file of signers and a cache of the tasks in review. It reads no work tree.
//  3. It reads only objects that the range reaches, the claims behind its sessions and, on the branches
//     that odd.toml names, ledgers and landed proposals.
//  4. A missing or unreadable object is an error, never a pass. A file that a machine left unreadable is a finding.
package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
)

// Row is one invariant, and how many things of the range it was checked on.
type Row struct {
	Invariant  int    `json:"invariant"`
	Name       string `json:"name"`
	Evidence   string `json:"evidence"`   // what is read
	Recomputed string `json:"recomputed"` // what is derived from it and compared
	Attested   string `json:"attested"`   // what git cannot show
	Way        string `json:"way"`        // out of its findings
	Unit       string `json:"unit"`       // what Checked counts
	Since      int    `json:"-"`          // [odd] format from which on it holds; what was made under an older one is not held to it
	Checked    int    `json:"checked"`    // things judged; 0 in Table
}

// Rule is the row's name in reports that name rules: "odd-invariant-03".
func (r Row) Rule() string { return RuleOf(r.Invariant) }

// RuleOf returns the name of an invariant's rule.
func RuleOf(invariant int) string { return fmt.Sprintf("odd-invariant-%02d", invariant) }

// Finding is one thing in history that an invariant forbids.
type Finding struct {
	Invariant int       `json:"invariant"`
	Commit    repo.OID  `json:"commit"`
	Path      string    `json:"path"` // in the repository
	Line      int       `json:"line"` // 1-based
	Message   string    `json:"message"`
	Way       string    `json:"way"`            // out of it
	Also      []Finding `json:"also,omitempty"` // findings with the same cause, folded into this one
	Cause     string    `json:"-"`              // same for all findings of one mistake, "" for none
}

// String returns "path:line: message; way [invariant N, commit]".
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s [invariant %d, %s]", f.Path, f.Line, f.Text(), f.Invariant, shortID(string(f.Commit)))
}

// Text returns what is wrong and the way out.
func (f Finding) Text() string {
	if f.Way == "" {
		return f.Message + f.formatAlso()
	}
	return f.Message + f.formatAlso() + "; " + f.Way
}

func shortID(oid string) string { return oid[:min(10, len(oid))] }

// Report is the result of a check.
type Report struct {
	Commits  int       `json:"commits"`
	Machines int       `json:"machines"` // commits of them that a machine made
	Rows     []Row     `json:"rows"`
	Findings []Finding `json:"findings"`
	Known    []Known   `json:"acknowledged"` // findings that a person acknowledged; Findings has the rest
}

// rule is a row with the function that judges one commit by it.
type rule struct {
	Row
	judge func(*judge)
}

// Table lists the invariants that Check proves.
func Table() []Row {
	rs := allRules()
	out := make([]Row, len(rs))
	for i, r := range rs {
		out[i] = r.Row
	}
	return out
}

// judge applies one rule to one commit.
type judge struct {
	*history
	*act
	invariant int
	checked   int
	found     []Finding
	way       string // out of the next finding, in place of its row's
	cause     string // of the next finding
}

// addFinding records a finding. A line below 1 means the file as a whole.
func (j *judge) addFinding(path string, line int, format string, args ...any) {
	j.found = append(j.found, Finding{Invariant: j.invariant, Commit: j.OID, Path: path, Line: max(line, 1), Message: fmt.Sprintf(format, args...)})
}

// setWay gives the last finding a way out of its own.
func (j *judge) setWay(way string) { j.found[len(j.found)-1].Way = way }

// applyNotes gives the last finding the way out and the cause that were noted for it.
func (j *judge) applyNotes() {
	if len(j.found) > 0 && j.way != "" {
		j.setWay(j.way)
	}
	if len(j.found) > 0 && j.cause != "" {
		j.found[len(j.found)-1].Cause = j.cause
	}
	j.way, j.cause = "", ""
}

// Scope is what CheckScope judges.
type Scope struct {
	From, To repo.OID            // the commits reachable from To and not from From; "" is the whole history of To
	Refs     map[string]repo.OID // where refs, by their full names, are about to be; the others are where they are
	Tell     func(done, all int) // after each commit, how many of all are done; nil tells nobody
	made     map[repo.OID]bool   // see Landing: of other commits it does not matter whether they can be judged; nil for all
}

// Check judges the commits reachable from to and not from from; "" is the whole history of
// to. Its error is a fault of reading, not a finding.
func Check(ctx context.Context, r *repo.Repo, from, to repo.OID) (Report, error) {
	return CheckScope(ctx, r, Scope{From: from, To: to})
}

// CheckScope is Check for a Scope.
func CheckScope(ctx context.Context, r *repo.Repo, s Scope) (Report, error) {
	h, err := newGround(ctx, r).readHistory(s)
	if err != nil {
		return Report{Findings: []Finding{}, Known: []Known{}}, err
	}
	return h.reportFolded(s.Tell)
}

// reportFolded returns the report with one finding for each cause.
func (h *history) reportFolded(tell func(done, all int)) (Report, error) {
	out, err := h.judgeCommits(tell)
	if err == nil {
		err = try(func() { h.splitAcknowledged(&out) })
	}
	out.Findings = foldByCause(out.Findings)
	return out, err
}

// judgeCommits judges the commits of the range.
func (h *history) judgeCommits(tell func(done, all int)) (Report, error) {
	out, rs := Report{Findings: []Finding{}, Known: []Known{}}, allRules()
	for n, c := range h.commits {
		v, err := h.judgeCommit(c, rs)
		if err != nil {
			return out, err
		}
		out.Findings = append(out.Findings, v.found...)
		for i, n := range v.checked {
			rs[i].Checked += n
		}
		if v.machine {
			out.Machines++
		}
		if tell != nil {
			tell(n+1, len(h.commits))
		}
	}
	if err := try(func() { out.Findings = append(out.Findings, h.findUnapproved(out.Findings)...) }); err != nil {
		return out, err
	}
	out.Commits = len(h.commits)
	for _, r := range rs {
		out.Rows = append(out.Rows, r.Row)
	}
	return out, nil
}

// findWay returns the way out that an invariant's row gives.
func findWay(rs []rule, invariant int) string {
	for _, r := range rs {
		if r.Invariant == invariant {
			return r.Way
		}
	}
	return ""
}

// explainTrailers begins the way out for a commit that only its trailers make a machine's.
// Whoever made it may not know that they do.
func (h *history) explainTrailers(a *act) string {
	laws := h.agentLaws(a.Commit)
	if a.kind == person || slices.ContainsFunc(laws, func(law *config.Config) bool { return isByAgent(a.Commit, law) }) {
		return ""
	}
	trailers := "trailer Odd-Run"
	if len(a.Trailer("Odd-Approval")) > 0 {
		trailers = "trailers Odd-Run and Odd-Approval"
	}
	return fmt.Sprintf("commit %s by %s counts as a machine's for its %s: where a person made it, make it again without (git commit --amend, before a push), else ",
		shortID(string(a.OID)), a.Author.Email, trailers)
}

// judgeAct applies every rule to the act and counts what each checked.
func (a *act) judgeAct(h *history, rs []rule, checked []int) []Finding {
	named := h.explainTrailers(a)
	var found []Finding
	for i := range rs {
		if rs[i].Since > a.law.Format {
			continue
		}
		j := &judge{history: h, act: a, invariant: rs[i].Invariant}
		rs[i].judge(j)
		checked[i] = j.checked
		for _, f := range j.found {
			f.Way = named + cmp.Or(f.Way, findWay(rs, f.Invariant))
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Invariant, y.Invariant))
	})
	return found
}
