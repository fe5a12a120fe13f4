package verify

import (
	"context"
	"fmt"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// Checker judges ranges of one repository that share commits, as the refs of a push do. It judges each commit once, and
// again only for a range that answers the questions about it differently.
type Checker struct{ facts *repoFacts }

// NewChecker returns a Checker. Nothing may write to the repository while it is used.
func NewChecker(ctx context.Context, r *repo.Repo) Checker {
	g := newGround(ctx, r)
	g.verdicts = map[repo.OID]verdict{}
	return Checker{g}
}

// Check is CheckScope with what earlier ranges showed.
func (c Checker) Check(s Scope) (Report, error) {
	h, err := c.facts.readHistory(s)
	if err != nil {
		return Report{Findings: []rules.Finding{}, Known: []Known{}}, err
	}
	return h.reportFolded(s.Tell)
}

// verdict is what the rules said about a commit.
type verdict struct {
	machine bool
	anchors bool  // it records an anchored run
	checked []int // by rule
	found   []rules.Finding
	asked   []answer
}

// question asks something about the range that a commit is judged in.
type question func(*history) string

// answer is a question with what a range answered.
type answer struct {
	question
	was string
}

// dependOn notes a question on whose answer the verdict about the commit depends.
func (h *history) dependOn(q question) {
	if h.verdicts == nil {
		return
	}
	h.answers = append(h.answers, answer{q, q(h)})
}

// judgeCommit returns the verdict on a commit. It reuses one from another range if this range gives the same answers.
// Its error is one of reading.
func (h *history) judgeCommit(c repo.Commit, rs []rules.Rule) (v verdict, err error) {
	if err = tryReading(func() { v = h.judgeOne(c, rs) }); err != nil {
		err = fmt.Errorf("%s: %w", rules.ShortID(string(c.OID)), err)
	}
	return v, err
}

func (h *history) judgeOne(c repo.Commit, rs []rules.Rule) verdict {
	if v, ok := h.verdicts[c.OID]; ok && h.answersAs(v.asked) {
		h.noteAnchored(c, v.anchors)
		return v
	}
	h.judged++
	h.answers, h.own = nil, false
	a := h.readAct(c)
	v := verdict{machine: a.Kind != rules.Person}
	v.anchors = slices.ContainsFunc(a.Lines, func(l rules.Line) bool { return l.Record.Kind == event.Anchor })
	h.noteAnchored(c, v.anchors)
	v.found, v.checked = rules.Judge(a, h, rs)
	if named := h.explainTrailers(a); named != "" {
		for i := range v.found {
			v.found[i].Way = named + v.found[i].Way
		}
	}
	if h.verdicts != nil && !h.own {
		v.asked = h.answers
		h.verdicts[c.OID] = v
	}
	return v
}

// answersAs reports whether this range gives the same answers.
func (h *history) answersAs(all []answer) bool {
	return !slices.ContainsFunc(all, func(a answer) bool {
		return a.question(h) != a.was
	})
}

// endCommits returns the commits that know what became of a run: the end of the range and the branches.
func (h *history) endCommits() []repo.OID { return append([]repo.OID{h.to}, h.tips...) }

// LedgerCommits yields the commits that may have the ledger of a run. First come the ends, then every commit of the
// range that wrote it, newest first, in case lines were deleted since.
func (h *history) LedgerCommits(run string) iter.Seq[repo.OID] {
	return func(yield func(repo.OID) bool) {
		h.dependOn(ledgersQuestion(run))
		for _, at := range h.endCommits() {
			if !yield(at) {
				return
			}
		}
		h.own = true
		for _, at := range slices.Backward(h.findLedgerWrites(run)) {
			if !yield(at) {
				return
			}
		}
	}
}

// findLedgerWrites returns the commits that changed the ledger of a run, oldest first, preceded by an edge of the range
// that has it. It reads the range once for all runs. Unreadable objects are skipped, so that what needs them is
// reported as missing.
func (h *history) findLedgerWrites(run string) []repo.OID {
	if h.wrote == nil {
		h.wrote = map[string][]repo.OID{}
		seen := map[repo.OID]bool{}
		for _, at := range h.edges {
			_ = tryReading(func() {
				if all, _ := h.Find(at, h.LawAt(at).Root+"/ledger"); all != "" && !seen[all] {
					seen[all] = true
					h.noteLedgers(at, "", all, "")
				}
			})
		}
		for _, c := range h.commits {
			var before repo.OID
			if len(c.Parents) > 0 {
				before = c.Parents[0]
			}
			_ = tryReading(func() { h.noteLedgers(c.OID, before, c.OID, h.LawAt(c.OID).Root+"/ledger/") })
		}
	}
	return h.wrote[run]
}

// noteLedgers notes for commit at the ledgers below a folder that differ between two trees.
func (h *history) noteLedgers(at, from, to repo.OID, below string) {
	for _, ch := range h.Diff(from, to) {
		name, in := strings.CutPrefix(ch.Path, below)
		if run, is := strings.CutSuffix(path.Base(name), ".jsonl"); in && is && ch.New != "" {
			h.wrote[run] = append(h.wrote[run], at)
		}
	}
}

// claimQuestion asks which commit claimed a task, for a proposal on another line than its claim.
func claimQuestion(proposal repo.Commit, run, task string) question {
	return func(h *history) string {
		c, _ := h.findClaimAside(proposal, run, task)
		return string(c.OID)
	}
}

// claimBesideQuestion asks which commit makes the same claim on a parallel line.
func claimBesideQuestion(claim repo.Commit, run, task string) question {
	return func(h *history) string {
		return string(h.findClaimBeside(claim, run, task))
	}
}

// ledgersQuestion asks for the ledger of a run at every end.
func ledgersQuestion(run string) question {
	return func(h *history) string {
		var all []string
		for _, at := range h.endCommits() {
			all = append(all, string(h.findLedger(at, run)))
		}
		return strings.Join(all, " ")
	}
}

// onTargetQuestion asks whether the target branch has a commit.
func onTargetQuestion(law *config.Config, oid repo.OID) question {
	return func(h *history) string {
		return strconv.FormatBool(h.isOnTargetNow(law, oid))
	}
}

// takenQuestion asks whether a person builds on a proposal.
func takenQuestion(p repo.Commit, own bool) question {
	return func(h *history) string {
		if h.isTakenByPerson(p, own) {
			return "yes"
		}
		return "no"
	}
}
