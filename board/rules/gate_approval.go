package rules

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// checkApproval returns why a person's commit that sets a task to done is no approval, "" if it is one.
func (j *judge) checkApproval(f *File) string {
	t, why := parseInReview(f.Was)
	if why != "" {
		return why
	}
	p := Trailer(j.Commit, "Odd-Proposal")
	by := "human:" + j.Author.Email
	switch {
	case p == "" && len(j.Parents) == 2 && string(j.Parents[1]) == t.Result.Commit:
		j.way = fmt.Sprintf("git commit --amend -C OLD puts the message back (git reflog shows OLD); after a push, git revert -m 1 %s, then odd approve %s again", ShortID(string(j.OID)), t.ID)
		return "set to done without odd approve: its commit merges the proposal and lacks the trailers, as after git commit --amend with another message"
	case j.Task != string(t.ID) || p == "":
		return "set to done without odd approve: the commit lacks its trailers Odd-Task and Odd-Proposal"
	case Trailer(j.Commit, "Odd-Approved-By") != by:
		return fmt.Sprintf("set to done on the word of %s, in a commit by %s", cmp.Or(Trailer(j.Commit, "Odd-Approved-By"), "nobody"), j.Author.Email)
	case len(j.Parents) < 2 || !slices.Contains(j.Parents[1:], repo.OID(p)):
		again := j.explainRewrittenProposal(p)
		if again != "" {
			return again
		}
		return fmt.Sprintf("set to done, but the commit does not merge the proposal %s", ShortID(p))
	case !slices.ContainsFunc(f.Is.Verified, func(s okf.Stamp) bool { return s.By == by }):
		return "set to done without the entry verified by " + by
	}
	r, why := j.findWaitingRecord(t, p)
	if why != "" {
		return why
	}
	if trace := Trailer(j.Commit, "Odd-Trace"); trace != r.Trace {
		return fmt.Sprintf("the approval names the trace %s, the run recorded %s", cmp.Or(ShortID(trace), "none"), ShortID(r.Trace))
	}
	return j.checkMerged(t, r)
}

// parseInReview parses the task before an approval, and returns why it was not in review.
func parseInReview(old *okf.Atom) (board.Task, string) {
	if old == nil {
		return board.Task{}, "the task was added as done; only odd approve sets done"
	}
	t, err := board.Parse(old)
	switch {
	case err != nil:
		return t, "set to done from a task that cannot be read: " + err.Error()
	case t.State != board.Review:
		return t, fmt.Sprintf("set to done from %s; only odd approve sets done, from review", t.State)
	}
	return t, ""
}

func (j *judge) findWaitingRecord(t board.Task, p string) (*event.Record, string) {
	if t.Result.Commit != p || t.Result.Run != j.Run {
		return nil, fmt.Sprintf("done with proposal %s of %s, the task waited with %s of %s",
			cmp.Or(ShortID(p), "none"), cmp.Or(j.Run, "no run"), cmp.Or(ShortID(t.Result.Commit), "none"), cmp.Or(t.Result.Run, "no run"))
	}
	for _, r := range j.FindOutcomes(t.Result.Run, string(t.ID)) {
		if r.Outcome().Proposal == p && r.Outcome().Verdict == string(board.Review) {
			return r.Record, ""
		}
	}
	return nil, fmt.Sprintf("done with proposal %s, which no outcome of %s records", ShortID(p), t.Result.Run)
}

// checkMerged compares the bytes and modes that the approval merged with the recorded ones, and allows no other file.
func (j *judge) checkMerged(t board.Task, r *event.Record) string {
	proposal := repo.OID(r.Outcome().Proposal)
	if j.hadLanded(string(proposal)) {
		if name := j.findOutsideBundle(); name != "" {
			return fmt.Sprintf("the approval changes %s, and its proposal had landed before", name)
		}
		return j.checkApprovers(t, j.Commit, PathsOf(r), PathsOf(r), nil)
	}
	is, left, why := j.readApproval(j.Commit, proposal, j.Parents[0], PathsOf(r))
	if why != "" {
		return why
	}
	if why := j.checkApprovers(t, j.Commit, PathsOf(r), is, left); why != "" {
		return why
	}
	return j.checkExtraFiles(PathsOf(r))
}

// readApproval reads the approval c of a proposal. It returns the recorded paths with the blobs that c has, and the ids
// of the atoms that c leaves out, by path. why says where c does not do what its trailers say: an atom left out stays
// as in the commit before; an edited one has the blob that the trailer names; a verified one gets one more entry;
// everything else is as proposed.
func (j *judge) readApproval(c repo.Commit, proposal, before repo.OID, paths [][3]string) (is [][3]string, left map[string]okf.ID, why string) {
	if left, why = j.readOmitted(c, paths); why != "" {
		return nil, nil, why
	}
	edited, why := j.readEdited(c, paths, left)
	if why != "" {
		return nil, nil, why
	}
	verified := slices.Clone(c.Trailer("Odd-Verified"))
	named := slices.ContainsFunc(verified, func(s string) bool { return strings.Contains(s, "@") }) // older approvals say only how many
	for _, p := range paths {
		at := proposal
		if left[p[0]] != "" {
			at = before
		}
		want, wantMode := j.Find(at, p[0])
		have, mode := j.Find(c.OID, p[0])
		switch {
		case edited[p[0]] != "":
			want = edited[p[0]]
		case left[p[0]] == "":
			want = repo.OID(p[2])
		}
		if left[p[0]] == "" && len(verified) > 0 && have != repo.OID(p[2]) {
			if edited[p[0]] == "" {
				want = j.acceptStamp(want, have, p[0])
			}
			if have == want && named {
				a := j.ReadAtom(have, "100644", strings.TrimPrefix(p[0], j.Root))
				if i := slices.Index(verified, string(a.ID)+"@"+string(have)); i >= 0 {
					verified = slices.Delete(verified, i, i+1)
				} else if edited[p[0]] == "" {
					return nil, nil, fmt.Sprintf("the approval verifies %s, and does not name it", p[0])
				}
			}
		}
		switch {
		case left[p[0]] != "" && (have != want || mode != wantMode):
			why = fmt.Sprintf("the approval says that it leaves out %s, and brings it as %s", p[0], cmp.Or(ShortID(string(have)), "nothing"))
		case have != want && edited[p[0]] != "":
			why = fmt.Sprintf("the approval says that it edits %s to %s, and brings it as %s", p[0], ShortID(string(want)), cmp.Or(ShortID(string(have)), "nothing"))
		case have != want:
			why = fmt.Sprintf("the approval brings %s as %s, recorded was %s", p[0], cmp.Or(ShortID(string(have)), "nothing"), cmp.Or(ShortID(string(want)), "nothing"))
		case mode != wantMode:
			why = fmt.Sprintf("the approval brings %s with mode %s, its proposal has %s", p[0], mode, cmp.Or(wantMode, "none"))
		}
		if why != "" {
			return nil, nil, why
		}
		if left[p[0]] == "" {
			p[2] = string(have)
		}
		is = append(is, p)
	}
	if named && len(verified) > 0 {
		why = fmt.Sprintf("the approval says that it verifies %s, which it does not bring so", verified[0])
	}
	return is, left, why
}

// readEdited returns, by path, the blobs that a person edited according to the approval's trailers. why names a trailer
// that is no atom of the proposal.
func (j *judge) readEdited(c repo.Commit, paths [][3]string, left map[string]okf.ID) (map[string]repo.OID, string) {
	out := map[string]repo.OID{}
	for _, line := range c.Trailer("Odd-Edited") {
		i := max(strings.LastIndex(line, "@"), 0)
		name := line[:i]
		if !strings.HasPrefix(name, j.Root) || left[name] != "" || !slices.ContainsFunc(paths, func(p [3]string) bool { return p[0] == name }) {
			return nil, fmt.Sprintf("the approval edits %q, which is no atom that it takes", line)
		}
		out[name] = repo.OID(line[i+1:])
	}
	return out, ""
}

// checkExtraFiles returns why the approval may not change a file. It may change what it merges, its task, the ending of
// its op and indexes.
func (j *judge) checkExtraFiles(paths [][3]string) string {
	for _, f := range j.Files {
		own := IsTask(f.Is) && string(f.Is.ID) == j.Task || strings.HasPrefix(LedgerRun(f.Rel), "op-") || path.Base(f.Rel) == "index.md"
		if !own && !slices.ContainsFunc(paths, func(p [3]string) bool { return p[0] == f.Path }) {
			return fmt.Sprintf("the approval changes %s itself, which its proposal does not", f.Path)
		}
	}
	return ""
}

// readOmitted returns the atoms that an approval's trailers leave out, by path, or why a trailer names no atom of the
// proposal. An id may contain spaces, so the longest match counts.
func (j *judge) readOmitted(c repo.Commit, paths [][3]string) (map[string]okf.ID, string) {
	lines := c.Trailer("Odd-Without")
	if len(lines) == 0 {
		return nil, ""
	}
	ids := map[okf.ID]string{}
	for _, p := range paths {
		rel, in := strings.CutPrefix(p[0], j.Root)
		if !in {
			continue
		}
		a := j.ReadAtom(repo.OID(p[2]), "100644", rel)
		if a != nil {
			ids[a.ID] = p[0]
		}
	}
	out := map[string]okf.ID{}
	for _, line := range lines {
		named := okf.ID("")
		for id := range ids {
			if len(id) > len(named) && strings.HasPrefix(line+" ", string(id)+" ") {
				named = id
			}
		}
		if named == "" {
			return nil, fmt.Sprintf("the approval leaves out %q, which is no atom of its proposal", line)
		}
		out[ids[named]] = named
	}
	return out, ""
}

// acceptStamp returns have if it is the proposed atom with one more entry of a person who verified it. Otherwise it
// returns blob.
func (j *judge) acceptStamp(blob, have repo.OID, name string) repo.OID {
	rel, in := strings.CutPrefix(name, j.Root)
	if !in || have == "" || blob == "" {
		return blob
	}
	was := j.ReadAtom(blob, "100644", rel)
	if was == nil {
		return blob
	}
	landed := j.Blob(have)
	if okf.VerifiedOnly(was, landed) {
		return have
	}
	return blob
}

// hadLanded reports an approval of a proposal that its op landed by itself before. Such an approval decides about files
// that people may have changed since.
func (j *judge) hadLanded(proposal string) bool {
	if !j.IsAncestor(repo.OID(proposal), j.Parents[0]) {
		return false
	}
	return j.landedByItself(j.ReadCommit(repo.OID(proposal)))
}

// findOutsideBundle returns a file outside the bundle that the act changes against its first parent, "" for none.
func (j *judge) findOutsideBundle() string {
	i := slices.IndexFunc(j.Sides[0], func(ch repo.Change) bool { return !strings.HasPrefix(ch.Path, j.Root) })
	if i < 0 {
		return ""
	}
	return j.Sides[0][i].Path
}
