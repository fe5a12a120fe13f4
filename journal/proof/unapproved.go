package proof

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
	"github.com/odd-cli/odd/journal/repo"
)

// findUnapproved reports the proposals that the board holds, byte for byte, while their tasks
// wait for a person: a merge or a squash of the review branch without odd approve brings
// them, and git pull --rebase leaves the approval out. What was reverted since, or changed,
// is no longer there.
func (h *history) findUnapproved(found []Finding) ([]Finding, error) {
	if len(h.commits) == 0 || len(h.boardTips()) > 0 && !slices.Contains(h.boardTips(), h.to) || !slices.ContainsFunc(h.commits, h.canBring) {
		return nil, nil
	}
	tasks, err := h.findInReview(h.to)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, t := range tasks {
		if slices.ContainsFunc(found, func(f Finding) bool { return f.Invariant == 3 && string(f.Commit) == t.Result.Commit }) {
			continue // it is told of at its own commit
		}
		f, err := h.findUnapprovedTask(t)
		if err != nil {
			return nil, err
		}
		if f != nil {
			out = append(out, *f)
		}
	}
	return out, nil
}

// canBring reports a commit on the line of the board that could bring a proposal: not an
// approval, and no claim or result as odd made it.
func (h *history) canBring(c repo.Commit) bool {
	asMade := h.machines[c.OID] && len(c.Parents) == 1 && strings.EqualFold(c.Committer.Email, c.Author.Email)
	return h.spine[c.OID] && len(c.Parents) > 0 && !isApproval(c) && !asMade
}

// findInReview are the tasks in review where odd files tasks, in a commit.
func (h *history) findInReview(at repo.OID) (out []board.Task, err error) {
	law, err := h.lawAfter(at)
	if err != nil {
		return nil, err
	}
	all, mode, err := h.trees.Find(at, law.Root+"/"+board.Folder)
	if err != nil || mode != folder {
		return nil, err
	}
	names, err := h.reviewCandidates(all)
	if err != nil {
		return nil, err
	}
	waiting := reviewFiles{Tree: all}
	for _, name := range names {
		blob, mode, err := h.trees.Find(at, law.Root+"/"+board.Folder+"/"+name)
		if err != nil {
			return nil, err
		}
		b, err := h.readFile(blob, mode)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(b, []byte(board.Review)) && !bytes.ContainsRune(b, '\\') { // YAML may spell it with escapes
			continue
		}
		if a, _ := parseAtom(board.Folder+"/"+name, b); isTask(a) {
			if t, err := board.Parse(a); err == nil && t.State == board.Review {
				out, waiting.Files = append(out, t), append(waiting.Files, name)
			}
		}
	}
	if len(names) >= manyRead {
		if b, err := json.Marshal(waiting); err == nil {
			_ = h.repo.Keep(reviewCache, b) // the next one reads them again
		}
	}
	return out, nil
}

// reviewFiles are the files of tasks in review in a folder of tasks, by their names in it.
type reviewFiles struct {
	Tree  repo.OID
	Files []string
}

const (
	reviewCache = "review"
	manyRead    = 64 // so many files cost more to read than a note of which wait
)

// reviewCandidates are the files of a folder of tasks that may be of tasks in review: those that
// were when it was last looked, and what changed since.
func (h *history) reviewCandidates(all repo.OID) (out []string, err error) {
	var known reviewFiles
	if json.Unmarshal(h.repo.Cached(reviewCache), &known) != nil {
		known = reviewFiles{}
	}
	files, err := h.trees.Diff(h.ctx, known.Tree, all)
	if err != nil && known.Tree != "" { // git pruned it
		known = reviewFiles{}
		files, err = h.trees.Diff(h.ctx, "", all)
	}
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
	return out, err
}

// findUnapprovedTask is the finding about the proposal that one task waits with, nil for none.
func (h *history) findUnapprovedTask(t board.Task) (*Finding, error) {
	all, err := h.findOutcomes(t.Result.Run, string(t.ID))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(r outcome) bool { return r.Outcome().Proposal == t.Result.Commit })
	if i < 0 {
		return nil, nil
	}
	want := map[string]string{}
	for _, p := range pathsOf(all[i].Record) {
		if want[p[0]] = p[2]; p[1] == p[2] {
			delete(want, p[0])
		}
	}
	by, err := Unapproved(h.ctx, h.repo, h.to, want)
	if err != nil || by == "" {
		return nil, err
	}
	if _, in := h.place[by]; !in {
		return nil, nil // another range's
	}
	c, err := h.readCommit(by)
	if err != nil {
		return nil, err
	}
	way := fmt.Sprintf("odd approve %s, or %s", t.ID, TakeOut(c))
	if law := h.endLaw(); law.Target != "" && law.Target != law.Branch {
		if waits, err := h.isApprovedAside(t); waits || err != nil {
			return nil, err
		}
		way = fmt.Sprintf("odd approve %s, or git revert the merge on %s, then odd sync", t.ID, law.Target)
	}
	if p, err := h.repo.Commit(repo.OID(t.Result.Commit)); err == nil { // it may have landed by itself
		j := &judge{history: h, act: &act{Commit: p, run: t.Result.Run, task: string(t.ID)}}
		if alone, err := j.landedByItself(p); alone || err != nil {
			return nil, err
		}
	}
	return &Finding{Invariant: 3, Commit: by, Path: sortedKeys(want)[0], Line: 1,
		Message: fmt.Sprintf("the proposal for %s is on the branch and its approval is not; a merge by hand or git pull --rebase leaves it out", t.ID),
		Way:     way}, nil
}

// isApprovedAside reports an approval that odd sync has not written down yet, on the review
// branch or where a forge merged it to.
func (h *history) isApprovedAside(t board.Task) (is bool, err error) {
	of := func(c repo.Commit) bool {
		return singleTrailer(c, "Odd-Proposal") == t.Result.Commit && len(c.Trailer("Odd-Approved-By")) > 0
	}
	tips := h.branchTips(t.Result.Branch, h.endLaw().Remote)
	if kept, err := h.repo.Ref(review.KeptApproval(t.Result.Branch)); err == nil {
		tips = append(tips, kept)
	}
	for _, tip := range tips {
		if c, err := h.readCommit(tip); err != nil || of(c) {
			return err == nil, err
		}
	}
	err = h.visitRunCommits(t.Result.Run, string(t.ID), func(c repo.Commit) (bool, error) { is = is || of(c); return is, nil })
	return is, err
}

// TakeOut is the command that takes out what a commit brought.
func TakeOut(c repo.Commit) string {
	if len(c.Parents) > 1 {
		return "git revert -m 1 " + shortID(string(c.OID))
	}
	return "git revert " + shortID(string(c.OID))
}

// isApproval reports a commit by odd that a person's word stands under: what it brings is
// approved, also where another proposal would bring the same.
func isApproval(c repo.Commit) bool {
	return len(c.Trailer("Odd-Approved-By")) > 0 && len(c.Parents) > 1 || len(c.Trailer("Odd-Approval")) > 0
}

// Unapproved is the commit on the first-parent line of tip that brought the last of some
// files, blobs by path, "" for one that is gone, which tip has all; "" where it has not, or
// an approval brought them.
func Unapproved(ctx context.Context, r *repo.Repo, tip repo.OID, want map[string]string) (repo.OID, error) {
	read := r.Reader()
	holds := func(at repo.OID) (bool, error) {
		for _, name := range sortedKeys(want) {
			oid, mode, err := read.Find(at, name)
			if is := string(oid); err != nil || (is != want[name] && (want[name] != "" || mode != folder)) {
				return false, err
			}
		}
		return len(want) > 0, nil
	}
	in, err := holds(tip)
	for at := tip; in && err == nil; {
		c, fault := r.Commit(at)
		if fault != nil {
			return "", fault
		}
		if len(c.Parents) == 0 {
			return "", nil
		}
		if in, err = holds(c.Parents[0]); err == nil && !in {
			if isApproval(c) {
				return "", nil
			}
			return c.OID, nil
		}
		if at = c.Parents[0]; ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	return "", err
}
