package proof

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// approved says what a person's commit that writes done lacks to be an approval.
func (j *judge) approved(f *file) (string, error) {
	t, why := inReview(f.old)
	if why != "" {
		return why, nil
	}
	p := one(j.Commit, "Odd-Proposal")
	by := "human:" + j.Author.Email
	switch {
	case j.task != string(t.ID) || p == "":
		return "set to done without odd approve: the commit lacks its trailers Odd-Task and Odd-Proposal", nil
	case one(j.Commit, "Odd-Approved-By") != by:
		return fmt.Sprintf("set to done on the word of %s, in a commit by %s", or(one(j.Commit, "Odd-Approved-By"), "nobody"), j.Author.Email), nil
	case len(j.Parents) < 2 || !slices.Contains(j.Parents[1:], repo.OID(p)):
		return fmt.Sprintf("set to done, but the commit does not merge the proposal %s", short(p)), nil
	case !slices.ContainsFunc(f.new.Verified, func(s okf.Stamp) bool { return s.By == by }):
		return "set to done without the entry verified by " + by, nil
	}
	r, why, err := j.waited(t, p)
	if why != "" || err != nil {
		return why, err
	}
	if trace := one(j.Commit, "Odd-Trace"); trace != r.Trace {
		return fmt.Sprintf("the approval names the trace %s, the run recorded %s", or(short(trace), "none"), short(r.Trace)), nil
	}
	return j.brought(r)
}

// inReview reads the task an approval found, and says why it found none.
func inReview(old *okf.Atom) (board.Task, string) {
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

// waited is the record of the proposal that t waited in review with.
func (j *judge) waited(t board.Task, p string) (*event.Record, string, error) {
	if t.Result.Commit != p || t.Result.Run != j.run {
		return nil, fmt.Sprintf("done with proposal %s of %s, the task waited with %s of %s",
			or(short(p), "none"), or(j.run, "no run"), or(short(t.Result.Commit), "none"), or(t.Result.Run, "no run")), nil
	}
	all, err := j.outcomes(t.Result.Run, string(t.ID))
	for _, r := range all {
		if r.Outcome().Proposal == p && r.Outcome().Verdict == string(board.Review) {
			return r.Record, "", nil
		}
	}
	if err != nil {
		return nil, "", err
	}
	return nil, fmt.Sprintf("done with proposal %s, which no outcome of %s records", short(p), t.Result.Run), nil
}

// brought compares what the approval merged with what was recorded: bytes, modes,
// and no file outside of the bundle besides. With --verify the person's own entry
// changes the bytes of an atom, which must still be there.
func (j *judge) brought(r *event.Record) (string, error) {
	if before, err := j.bringsNothing(r.Outcome().Proposal); err != nil {
		return "", err
	} else if before {
		if name := j.besideBoard(); name != "" {
			return fmt.Sprintf("the approval changes %s, and its proposal had landed before", name), nil
		}
		return "", nil
	}
	for _, p := range pathsOf(r) {
		have, mode, err := j.trees.Find(j.OID, p[0])
		if err != nil {
			return "", err
		}
		_, said, err := j.trees.Find(repo.OID(r.Outcome().Proposal), p[0])
		if err != nil {
			return "", err
		}
		verified := len(j.Trailer("Odd-Verified")) > 0 && have != "" && p[2] != "" && strings.HasPrefix(p[0], j.root)
		switch {
		case string(have) != p[2] && !verified:
			return fmt.Sprintf("the approval brings %s as %s, recorded was %s", p[0], or(short(string(have)), "nothing"), short(p[2])), nil
		case mode != said:
			return fmt.Sprintf("the approval brings %s with mode %s, its proposal has %s", p[0], mode, or(said, "none")), nil
		}
	}
	if i := slices.IndexFunc(j.files, func(f *file) bool { return f.rel == "" }); i >= 0 {
		return fmt.Sprintf("the approval changes %s itself, which its proposal does not", j.files[i].Path), nil
	}
	return "", nil
}

// bringsNothing reports an approval of a proposal that its first parent holds: it
// decides about what had landed before.
func (j *judge) bringsNothing(proposal string) (bool, error) {
	return j.ancestor(repo.OID(proposal), j.Parents[0])
}

// besideBoard is a file outside of the bundle that the act changes against its
// first parent, "" for none.
func (j *judge) besideBoard() string {
	i := slices.IndexFunc(j.sides[0], func(ch repo.Change) bool { return !strings.HasPrefix(ch.Path, j.root) })
	if i < 0 {
		return ""
	}
	return j.sides[0][i].Path
}
