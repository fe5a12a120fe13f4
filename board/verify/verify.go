// Package verify reads commits back and judges them by the sixteen rules of package rules, from git history alone.
//
// Check reads the commits of a range once, parents before children, and judges what each commit introduces. A merge
// introduces only what differs from all its parents, because what came from a parent is judged at its own commit. The
// type history answers what a rule asks beyond that. It knows nothing of a drain. It is one large type because every
// answer is noted with the verdict that depends on it, so that a verdict can be kept.
//
// Check judges one range, CheckScope also says where refs are about to be, as in a hook. A Checker does the same for
// several ranges that share commits. A Landing judges only the commits that odd is about to land.
//
//	report, err := verify.Check(ctx, r, "", tip) // the whole history of tip
//	for _, f := range report.Findings {
//		fmt.Println(f) // knowledge/tasks/t.md:4: done without an approval … [invariant 3, 1f0c2ab9d4]
//	}
//
// # Who made a commit
//
// A commit is a machine's if its author or committer has the address of [agent] in the odd.toml of one of its parents.
// With another address it is a machine's, too, if it has the trailer Odd-Run and neither Odd-Approved-By nor
// Odd-Rejected-By. All other commits are a person's. People may edit anything by hand, except what invariants 3, 8, 9 and 14 protect. rules.Kind
// lists the kinds of commit that a machine makes.
//
// # What git cannot prove
//
// Git believes whoever sets user.email, so a process that takes a person's name counts as that person. Signed commits
// close this gap: with [governance] require_signed, every decision must be signed by a key that allowed_signers gives
// to the author. The parent's version of that file counts.
//
// Check believes everything before the range, and the content of the root commit that the history begins with, if a
// person made it. It does not believe the ledgers and done tasks of another root commit that a merge brings in. The
// default address of the agent never is a person's, whatever a root commit's odd.toml says.
//
// # Promises
//
//  1. In one clone with the same refs, the same range gives the same report. Findings are ordered by
//     commit, then by path, line and invariant.
//  2. Check writes nothing but a temporary file of signers and a cache of the tasks in review. It reads no work tree.
//  3. It reads only objects that the range reaches, the claims behind its sessions and, on the branches
//     that odd.toml names, ledgers and landed proposals.
//  4. A missing or unreadable object is an error, never a pass. A file that a machine left unreadable is a finding.
//  5. A commit that only a record or a trailer names may be missing, because another clone has it. If it is there and
//     cannot be read, that is an error.
package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/repo"
)

// Report is the result of a check.
type Report struct {
	Commits  int             `json:"commits"`
	Machines int             `json:"machines"` // commits of them that a machine made
	Rows     []rules.Row     `json:"rows"`
	Findings []rules.Finding `json:"findings"`
	Known    []Known         `json:"acknowledged"` // findings that a person acknowledged; Findings has the rest
}

// Scope is what CheckScope judges.
type Scope struct {
	From, To repo.OID            // the commits reachable from To and not from From; "" is the whole history of To
	Refs     map[string]repo.OID // where refs, by their full names, are about to be; the others are where they are
	Tell     func(done, all int) // after each commit, how many of all are done; nil tells nobody
	made     map[repo.OID]bool   // see Landing: of other commits it does not matter whether they can be judged; nil for all
}

// Check judges the commits reachable from to and not from from; "" is the whole history of to. Its error is a fault of
// reading, not a finding.
func Check(ctx context.Context, r *repo.Repo, from, to repo.OID) (Report, error) {
	return CheckScope(ctx, r, Scope{From: from, To: to})
}

// CheckScope is Check for a Scope.
func CheckScope(ctx context.Context, r *repo.Repo, s Scope) (Report, error) {
	h, err := newGround(ctx, r).readHistory(s)
	if err != nil {
		return Report{Findings: []rules.Finding{}, Known: []Known{}}, err
	}
	return h.reportFolded(s.Tell)
}

func (h *history) reportFolded(tell func(done, all int)) (Report, error) {
	out, err := h.judgeCommits(tell)
	if err == nil {
		err = tryReading(func() { h.splitAcknowledged(&out) })
	}
	out.Findings = rules.Fold(out.Findings)
	return out, err
}

func (h *history) judgeCommits(tell func(done, all int)) (Report, error) {
	out, rs := Report{Findings: []rules.Finding{}, Known: []Known{}}, rules.All()
	next, stop := h.startReading()
	defer stop()
	for n, c := range h.commits {
		next()
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
	if err := tryReading(func() { out.Findings = append(out.Findings, h.findUnapproved(out.Findings)...) }); err != nil {
		return out, err
	}
	out.Commits = len(h.commits)
	for _, r := range rs {
		out.Rows = append(out.Rows, r.Row)
	}
	return out, nil
}

// explainTrailers begins the way out for a commit that only its trailers make a machine's. Whoever made it may not know
// that they do.
func (h *history) explainTrailers(a *rules.Act) string {
	laws := h.agentLaws(a.Commit)
	if a.Kind == rules.Person || a.IsSquash() || slices.ContainsFunc(laws, func(law *config.Config) bool { return rules.IsByAgent(a.Commit, law) }) {
		return ""
	}
	trailers := "trailer Odd-Run"
	if len(a.Trailer("Odd-Approval")) > 0 {
		trailers = "trailers Odd-Run and Odd-Approval"
	}
	return fmt.Sprintf("commit %s by %s counts as a machine's for its %s: where a person made it, make it again without (git commit --amend, before a push), else ",
		rules.ShortID(string(a.OID)), a.Author.Email, trailers)
}
