package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// checkSync returns why the approval that odd sync names does not prove that the task is
// done.
func (j *judge) checkSync(f *file) (string, error) {
	t, why := parseInReview(f.old)
	if why != "" {
		return why, nil
	}
	p := singleTrailer(j.Commit, "Odd-Proposal")
	r, why, err := j.findWaitingRecord(t, p)
	if why != "" || err != nil {
		return why, err
	}
	name := singleTrailer(j.Commit, "Odd-Approval")
	c, err := j.repo.Commit(repo.OID(name))
	if err != nil {
		j.way = fmt.Sprintf("git fetch %s %s brings it; if that branch was deleted, push it again from a clone that has it", cmp.Or(j.law.Remote, "origin"), cmp.Or(t.Result.Branch, "odd/review/TASK.N"))
		return fmt.Sprintf("set to done by odd sync, but the approval %s is not in this clone", cmp.Or(shortID(name), "that it names")), nil
	}
	paths, left, why, err := j.readSyncApproval(c, p, pathsOf(r))
	if why != "" || err != nil {
		return why, err
	}
	by := "human:" + c.Author.Email
	for _, s := range humanStamps(f.new) {
		if !slices.Contains(humanStamps(f.old), s) && !strings.HasPrefix(s, by+" at ") {
			return fmt.Sprintf("the machine writes verified by %s, the approval is by %s", s, by), nil
		}
	}
	for _, d := range readDeclines(f.new) {
		if !slices.Contains(readDeclines(f.old), d) && (d.By != by || !slices.Contains(slices.Collect(maps.Values(left)), d.ID)) {
			return fmt.Sprintf("the machine writes that %s declined %s, which the approval %s does not say", d.By, d.ID, shortID(name)), nil
		}
	}
	if why, err := j.checkApprovers(t, c, pathsOf(r), paths, left); why != "" || err != nil {
		return why, err
	}
	return j.checkLandedBytes(c, paths, left)
}

// readDeclines returns the declines of a task, nil for any other atom.
func readDeclines(a *okf.Atom) []board.Decline {
	if !isTask(a) {
		return nil
	}
	t, _ := board.Parse(a)
	return t.Declined
}

// readSyncApproval is readApproval for an approval on the review branch. It must be a
// person's commit on the proposal p that changes nothing but what its trailers name.
func (j *judge) readSyncApproval(c repo.Commit, p string, paths [][3]string) (is [][3]string, left map[string]okf.ID, why string, err error) {
	refused := func(why string) ([][3]string, map[string]okf.ID, string, error) {
		return nil, nil, fmt.Sprintf("set to done by odd sync on the approval %s%s", shortID(string(c.OID)), why), nil
	}
	if singleTrailer(c, "Odd-Proposal") != p || len(c.Parents) != 1 || string(c.Parents[0]) != p {
		return refused(", which is not upon the proposal " + shortID(p))
	}
	law, err := j.lawAfter(c.Parents[0])
	if err != nil {
		return nil, nil, "", err
	}
	for _, email := range []string{law.AgentEmail, j.law.AgentEmail} {
		if strings.EqualFold(c.Author.Email, email) || strings.EqualFold(c.Committer.Email, email) {
			return refused(", which the agent made")
		}
	}
	if singleTrailer(c, "Odd-Approved-By") != "human:"+c.Author.Email {
		return refused(fmt.Sprintf(", which does not say that its author %s approved", c.Author.Email))
	}
	on, err := j.repo.Commit(c.Parents[0])
	if err != nil {
		return nil, nil, "", err
	} else if len(on.Parents) != 1 {
		return refused(", whose proposal is on no one commit")
	}
	if is, left, why, err = j.readApproval(c, on.OID, on.Parents[0], paths); err != nil {
		return nil, nil, "", err
	} else if why != "" {
		return refused(": " + why)
	}
	changes, err := j.trees.Diff(j.ctx, on.OID, c.OID)
	if err != nil {
		return nil, nil, "", err
	}
	for _, ch := range changes {
		if !slices.ContainsFunc(paths, func(p [3]string) bool { return p[0] == ch.Path }) {
			return refused(", which changes what was proposed: " + ch.Path)
		}
	}
	if why, err = j.whyUnsigned(c, j.law, j.Parents[0]); why != "" {
		return refused(", which " + why)
	}
	return is, left, "", err
}

// checkLandedBytes returns why the board does not have what the approval approves. The board
// must contain the approval, or its recorded bytes without the atoms it leaves out, or a
// person's squash of it.
func (j *judge) checkLandedBytes(c repo.Commit, all [][3]string, left map[string]okf.ID) (string, error) {
	if in, err := j.holdsApproved(c); in || err != nil {
		return "", err
	}
	paths := slices.DeleteFunc(slices.Clone(all), func(p [3]string) bool { return left[p[0]] != "" })
	for _, p := range all {
		have, mode, err := j.trees.Find(j.OID, p[0])
		if err != nil {
			return "", err
		}
		if left[p[0]] != "" {
			if string(have) == p[2] {
				return fmt.Sprintf("set to done on the approval %s, and %s has landed, which it leaves out", shortID(string(c.OID)), p[0]), nil
			}
			continue
		}
		if string(have) == p[2] || mode == folder && p[2] == "" {
			continue
		}
		if squashed, err := j.isSquashed(c, paths); squashed || err != nil {
			return "", err
		}
		return fmt.Sprintf("set to done on the approval %s, and %s has not landed as approved", shortID(string(c.OID)), p[0]), nil
	}
	if len(paths) == 0 {
		return fmt.Sprintf("set to done on the approval %s, which has not landed", shortID(string(c.OID))), nil
	}
	return "", nil
}

// holdsApproved reports that the act contains the approval c, or c's proposal if that landed
// by itself.
func (j *judge) holdsApproved(c repo.Commit) (bool, error) {
	if in, err := j.isAncestor(c.OID, j.OID); in || err != nil {
		return in, err
	}
	p, err := j.repo.Commit(c.Parents[0])
	if err != nil {
		return false, nil // the caller compares the bytes
	}
	if in, err := j.isAncestor(p.OID, j.OID); !in || err != nil {
		return false, err
	}
	return j.landedByItself(p)
}

// isSquashed reports that a commit before the act squashes or rebases what the approval
// approves.
func (j *judge) isSquashed(approval repo.Commit, paths [][3]string) (bool, error) {
	p, err := j.repo.Commit(approval.Parents[0])
	if err != nil || len(p.Parents) != 1 || len(paths) == 0 {
		return false, err
	}
	want := map[string][2]string{}
	for _, w := range paths {
		want[w[0]] = [2]string{w[1], w[2]}
	}
	for c, err := range j.repo.Log(j.ctx, p.Parents[0], j.OID) {
		if err != nil {
			return false, err
		}
		if ok, err := j.isSquash(c, want); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// isSquash reports a commit, not by a machine, that changes exactly the wanted paths, each
// from its base blob to its result blob.
func (j *judge) isSquash(c repo.Commit, want map[string][2]string) (bool, error) {
	if len(c.Parents) != 1 {
		return false, nil
	}
	law, err := j.lawAfter(c.Parents[0])
	if err != nil {
		return false, err
	}
	if strings.EqualFold(c.Committer.Email, law.AgentEmail) || strings.EqualFold(c.Committer.Email, j.law.AgentEmail) {
		return false, nil
	}
	changes, err := j.trees.Diff(j.ctx, c.Parents[0], c.OID)
	if err != nil {
		return false, err
	}
	other := func(ch repo.Change) bool {
		w, ok := want[ch.Path]
		return !ok || w != [2]string{string(ch.Old), string(ch.New)} || ch.NewMode != "100644" && ch.NewMode != ch.OldMode
	}
	return len(changes) == len(want) && !slices.ContainsFunc(changes, other), nil
}
