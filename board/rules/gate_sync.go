package rules

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

// checkSync returns why the approval that odd sync names does not prove that the task is done.
func (j *judge) checkSync(f *File) string {
	t, why := parseInReview(f.Was)
	if why != "" {
		return why
	}
	p := Trailer(j.Commit, "Odd-Proposal")
	r, why := j.findWaitingRecord(t, p)
	if why != "" {
		return why
	}
	name := Trailer(j.Commit, "Odd-Approval")
	c, known := j.FindCommit(repo.OID(name))
	if !known {
		j.way = fmt.Sprintf("git fetch %s %s brings it; if that branch was deleted, push it again from a clone that has it", cmp.Or(j.Law.Remote, "origin"), cmp.Or(t.Result.Branch, "odd/review/TASK.N"))
		return fmt.Sprintf("set to done by odd sync, but the approval %s is not in this clone", cmp.Or(ShortID(name), "that it names"))
	}
	paths, left, why := j.readSyncApproval(c, p, PathsOf(r))
	if why != "" {
		return why
	}
	by := "human:" + c.Author.Email
	for _, s := range humanStamps(f.Is) {
		if !slices.Contains(humanStamps(f.Was), s) && !strings.HasPrefix(s, by+" at ") {
			return fmt.Sprintf("the machine writes verified by %s, the approval is by %s", s, by)
		}
	}
	for _, d := range readDeclines(f.Is) {
		if !slices.Contains(readDeclines(f.Was), d) && (d.By != by || !slices.Contains(slices.Collect(maps.Values(left)), d.ID)) {
			return fmt.Sprintf("the machine writes that %s declined %s, which the approval %s does not say", d.By, d.ID, ShortID(name))
		}
	}
	if why := j.checkApprovers(t, c, PathsOf(r), paths, left); why != "" {
		return why
	}
	return j.checkLandedBytes(c, paths, left)
}

// readDeclines returns the declines of a task, nil for any other atom.
func readDeclines(a *okf.Atom) []board.Decline {
	if !IsTask(a) {
		return nil
	}
	t, _ := board.Parse(a)
	return t.Declined
}

// readSyncApproval is readApproval for an approval on the review branch. It must be a person's commit on the proposal p
// that changes nothing but what its trailers name.
func (j *judge) readSyncApproval(c repo.Commit, p string, paths [][3]string) (is [][3]string, left map[string]okf.ID, why string) {
	refused := func(why string) ([][3]string, map[string]okf.ID, string) {
		return nil, nil, fmt.Sprintf("set to done by odd sync on the approval %s%s", ShortID(string(c.OID)), why)
	}
	if Trailer(c, "Odd-Proposal") != p || len(c.Parents) != 1 || string(c.Parents[0]) != p {
		return refused(", which is not upon the proposal " + ShortID(p))
	}
	for _, email := range []string{j.LawAt(c.Parents[0]).AgentEmail, j.Law.AgentEmail} {
		if strings.EqualFold(c.Author.Email, email) || strings.EqualFold(c.Committer.Email, email) {
			return refused(", which the agent made")
		}
	}
	if Trailer(c, "Odd-Approved-By") != "human:"+c.Author.Email {
		return refused(fmt.Sprintf(", which does not say that its author %s approved", c.Author.Email))
	}
	on := j.ReadCommit(c.Parents[0])
	if len(on.Parents) != 1 {
		return refused(", whose proposal is on no one commit")
	}
	if is, left, why = j.readApproval(c, on.OID, on.Parents[0], paths); why != "" {
		return refused(": " + why)
	}
	changes := j.Diff(on.OID, c.OID)
	for _, ch := range changes {
		if !slices.ContainsFunc(paths, func(p [3]string) bool { return p[0] == ch.Path }) {
			return refused(", which changes what was proposed: " + ch.Path)
		}
	}
	if why = j.whyUnsigned(c, j.Law, j.Parents[0]); why != "" {
		return refused(", which " + why)
	}
	return is, left, ""
}

// checkLandedBytes returns why the board does not have what the approval approves. The board must contain the approval,
// or its recorded bytes without the atoms it leaves out, or a person's squash of it.
func (j *judge) checkLandedBytes(c repo.Commit, all [][3]string, left map[string]okf.ID) string {
	if j.holdsApproved(c) {
		return ""
	}
	paths := slices.DeleteFunc(slices.Clone(all), func(p [3]string) bool { return left[p[0]] != "" })
	for _, p := range all {
		have, mode := j.Find(j.OID, p[0])
		if left[p[0]] != "" {
			if string(have) == p[2] {
				return fmt.Sprintf("set to done on the approval %s, and %s has landed, which it leaves out", ShortID(string(c.OID)), p[0])
			}
			continue
		}
		if string(have) == p[2] || mode == Folder && p[2] == "" {
			continue
		}
		if j.isSquashed(c, paths) {
			return ""
		}
		return fmt.Sprintf("set to done on the approval %s, and %s has not landed as approved", ShortID(string(c.OID)), p[0])
	}
	if len(paths) == 0 {
		return fmt.Sprintf("set to done on the approval %s, which has not landed", ShortID(string(c.OID)))
	}
	return ""
}

// holdsApproved reports that the act contains the approval c, or c's proposal if that landed by itself.
func (j *judge) holdsApproved(c repo.Commit) bool {
	if in := j.IsAncestor(c.OID, j.OID); in {
		return in
	}
	p, known := j.FindCommit(c.Parents[0])
	if !known {
		return false // the caller compares the bytes
	}
	if !j.IsAncestor(p.OID, j.OID) {
		return false
	}
	return j.landedByItself(p)
}

// isSquashed reports that a commit before the act squashes or rebases what the approval approves.
func (j *judge) isSquashed(approval repo.Commit, paths [][3]string) bool {
	p := j.ReadCommit(approval.Parents[0])
	if len(p.Parents) != 1 || len(paths) == 0 {
		return false
	}
	want := map[string][2]string{}
	for _, w := range paths {
		want[w[0]] = [2]string{w[1], w[2]}
	}
	for c := range j.Log(p.Parents[0], j.OID) {
		if j.isSquash(c, want) {
			return true
		}
	}
	return false
}

// isSquash reports a commit, not by a machine, that changes exactly the wanted paths, each from its base blob to its
// result blob.
func (j *judge) isSquash(c repo.Commit, want map[string][2]string) bool {
	if len(c.Parents) != 1 {
		return false
	}
	law := j.LawAt(c.Parents[0])
	if strings.EqualFold(c.Committer.Email, law.AgentEmail) || strings.EqualFold(c.Committer.Email, j.Law.AgentEmail) {
		return false
	}
	changes := j.Diff(c.Parents[0], c.OID)
	other := func(ch repo.Change) bool {
		w, ok := want[ch.Path]
		return !ok || w != [2]string{string(ch.Old), string(ch.New)} || ch.NewMode != "100644" && ch.NewMode != ch.OldMode
	}
	return len(changes) == len(want) && !slices.ContainsFunc(changes, other)
}
