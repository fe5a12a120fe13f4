package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/repo"
)

// findUnapproved reports proposals whose bytes are on the board while their tasks still wait for a person. A merge or
// squash of the review branch without odd approve causes that, and so does git pull --rebase, which drops the approval.
// Proposals that were reverted or changed since do not count.
func (h *history) findUnapproved(found []rules.Finding) []rules.Finding {
	if len(h.commits) == 0 || len(h.boardTips()) > 0 && !slices.Contains(h.boardTips(), h.to) || !slices.ContainsFunc(h.commits, h.canBring) {
		return nil
	}
	tasks := h.findInReview(h.to)
	var out []rules.Finding
	for _, t := range tasks {
		if slices.ContainsFunc(found, func(f rules.Finding) bool { return f.Invariant == 3 && string(f.Commit) == t.Result.Commit }) {
			continue // it is reported at its own commit
		}
		f := h.findUnapprovedTask(t)
		if f != nil {
			out = append(out, *f)
		}
	}
	return out
}

// canBring reports a commit on the line of the board that could bring in a proposal: no approval, and no commit as odd
// itself makes it.
func (h *history) canBring(c repo.Commit) bool {
	asMade := h.machines[c.OID] && len(c.Parents) == 1 && strings.EqualFold(c.Committer.Email, c.Author.Email)
	return h.spine[c.OID] && len(c.Parents) > 0 && !isApproval(c) && !asMade
}

// findInReview returns the tasks in review, in the folder where odd files tasks, in a commit.
func (h *history) findInReview(at repo.OID) (out []board.Task) {
	law := h.LawAt(at)
	all, mode := h.Find(at, law.Root+"/"+board.Folder)
	if mode != rules.Folder {
		return nil
	}
	names := h.reviewCandidates(all)
	waiting := reviewFiles{Tree: all}
	for _, name := range names {
		blob, mode := h.Find(at, law.Root+"/"+board.Folder+"/"+name)
		b := h.ReadFile(blob, mode)
		if !bytes.Contains(b, []byte(board.Review)) && !bytes.ContainsRune(b, '\\') { // YAML may spell it with escapes
			continue
		}
		if a, _ := rules.ParseAtom(board.Folder+"/"+name, b); rules.IsTask(a) {
			if t, err := board.Parse(a); err == nil && t.State == board.Review {
				out, waiting.Files = append(out, t), append(waiting.Files, name)
			}
		}
	}
	if len(names) >= manyRead {
		if b, err := json.Marshal(waiting); err == nil {
			_ = h.repo.Keep(reviewCache, b) // without the note the next call reads them again
		}
	}
	return out
}

// reviewFiles are the names of the files in a folder of tasks whose tasks are in review.
type reviewFiles struct {
	Tree  repo.OID
	Files []string
}

const (
	reviewCache = "review"
	manyRead    = 64 // from so many files on a note is cheaper than reading them
)

// reviewCandidates returns the task files that may be in review: those that were at the last call, and those that
// changed since.
func (h *history) reviewCandidates(all repo.OID) (out []string) {
	var known reviewFiles
	if json.Unmarshal(h.repo.Cached(reviewCache), &known) != nil {
		known = reviewFiles{}
	}
	files := h.Diff(known.Tree, all)
	changed := map[string]bool{}
	for _, f := range files {
		if changed[f.Path] = true; f.New != "" && path.Ext(f.Path) == ".md" {
			out = append(out, f.Path)
		}
	}
	for _, name := range known.Files {
		if !changed[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// findUnapprovedTask returns the finding about the proposal that one task waits with, nil for none.
func (h *history) findUnapprovedTask(t board.Task) *rules.Finding {
	all := h.FindOutcomes(t.Result.Run, string(t.ID))
	i := slices.IndexFunc(all, func(r rules.Outcome) bool { return r.Outcome().Proposal == t.Result.Commit })
	if i < 0 {
		return nil
	}
	want := map[string]string{}
	for _, p := range rules.PathsOf(all[i].Record) {
		if want[p[0]] = p[2]; p[1] == p[2] {
			delete(want, p[0])
		}
	}
	by, err := Unapproved(h.ctx, h.repo, h.to, want)
	must(err)
	if _, in := h.place[by]; !in {
		return nil // nobody brought it, or another range did
	}
	way := fmt.Sprintf("odd approve %s, or %s", t.ID, TakeOut(h.ReadCommit(by)))
	if law := h.endLaw(); law.Target != "" && law.Target != law.Branch {
		if h.isApprovedAside(t) {
			return nil
		}
		way = fmt.Sprintf("odd approve %s, or git revert the merge on %s, then odd sync", t.ID, law.Target)
	}
	if p, known := h.FindCommit(repo.OID(t.Result.Commit)); known { // it may have landed by itself
		if rules.LandedByItself(&rules.Act{Commit: p, Run: t.Result.Run, Task: string(t.ID)}, h) {
			return nil
		}
	}
	return &rules.Finding{Invariant: 3, Commit: by, Path: rules.SortedKeys(want)[0], Line: 1,
		Message: fmt.Sprintf("the proposal for %s is on the branch and its approval is not; a merge by hand or git pull --rebase leaves it out", t.ID),
		Way:     way}
}

// isApprovedAside reports an approval that odd sync has not recorded on the board yet. It may be on the review branch
// or where a forge merged it.
func (h *history) isApprovedAside(t board.Task) (is bool) {
	of := func(c repo.Commit) bool {
		return rules.Trailer(c, "Odd-Proposal") == t.Result.Commit && len(c.Trailer("Odd-Approved-By")) > 0
	}
	tips := h.branchTips(t.Result.Branch, h.endLaw().Remote)
	if kept, err := h.repo.Ref(review.KeptApproval(t.Result.Branch)); err == nil {
		tips = append(tips, kept)
	}
	for _, tip := range tips {
		c := h.ReadCommit(tip)
		if of(c) {
			return true
		}
	}
	h.visitRunCommits(t.Result.Run, string(t.ID), func(c repo.Commit) bool { is = is || of(c); return is })
	return is
}

// TakeOut returns the git command that reverts a commit.
func TakeOut(c repo.Commit) string {
	if len(c.Parents) > 1 {
		return "git revert -m 1 " + rules.ShortID(string(c.OID))
	}
	return "git revert " + rules.ShortID(string(c.OID))
}

// isApproval reports an approval, or odd sync's commit for one.
func isApproval(c repo.Commit) bool {
	return len(c.Trailer("Odd-Approved-By")) > 0 && len(c.Parents) > 1 || len(c.Trailer("Odd-Approval")) > 0
}

// Unapproved returns the first-parent ancestor of tip that completed the wanted blobs, which tip still has. want maps
// paths to blobs, "" for a deleted file. It returns "" if tip lacks one, or if an approval brought them.
func Unapproved(ctx context.Context, r *repo.Repo, tip repo.OID, want map[string]string) (by repo.OID, err error) {
	h := &history{repoFacts: newGround(ctx, r)}
	return by, tryReading(func() { by = h.findBringing(tip, want) })
}

func (h *history) findBringing(tip repo.OID, want map[string]string) repo.OID {
	holds := func(at repo.OID) bool {
		for _, name := range rules.SortedKeys(want) {
			if oid, mode := h.Find(at, name); string(oid) != want[name] && (want[name] != "" || mode != rules.Folder) {
				return false
			}
		}
		return len(want) > 0
	}
	for at, in := tip, holds(tip); in; {
		c := h.ReadCommit(at)
		if len(c.Parents) == 0 {
			return ""
		}
		at = c.Parents[0]
		if in = holds(at); !in && !isApproval(c) {
			return c.OID
		}
		must(h.ctx.Err())
	}
	return ""
}
