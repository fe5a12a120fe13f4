package rules

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/reconcile/policy"
)

// whyUnsigned returns what c lacks of the signature that law requires of a decision. The commit at has the file of who
// may sign. Without such a file any signature will do, and whose it is stays attested.
func (j *judge) whyUnsigned(c repo.Commit, law *config.Config, at repo.OID) string {
	if !law.RequireSigned {
		return ""
	}
	if law.AllowedSigners == "" {
		if c.Signed {
			return ""
		}
		return "is not signed, and odd.toml requires it"
	}
	blob, mode := j.Find(at, law.AllowedSigners)
	if !strings.HasPrefix(mode, "100") {
		return fmt.Sprintf("has %s to be signed by, which is not there", law.AllowedSigners)
	}
	why := j.VerifySignature(c.OID, blob)
	if why != "" {
		why += fmt.Sprintf("; odd.toml requires a key that %s gives its author", law.AllowedSigners)
	}
	return why
}

// checkSignatures reports a person's decision without the required signature. Invariant 8 asks about gates, invariant 3
// about everything else.
func (j *judge) checkSignatures(gates bool) {
	if j.Kind != Person || len(j.Parents) == 0 || !j.Law.RequireSigned && len(j.FindCrossed(j.OID)) == 0 {
		return
	}
	what := j.describeDecision()
	if what == "" || gates != (what == aGate) {
		return
	}
	j.checked++
	why := j.whyUnsigned(j.Commit, j.Law, j.Parents[0])
	if why == "" {
		why = j.whyUnsignedBeyond(j.Commit)
	}
	if why != "" {
		j.addFinding(j.anyPath(), 1, "%s by %s %s", what, j.Author.Email, why)
		j.setWay("git revert it and do it again with a signature")
	}
}

const aGate = "a gate passed"

// describeDecision names what a person's commit decides that needs a signature, "" for nothing.
func (j *judge) describeDecision() string {
	if len(j.Trailer("Odd-Gate")) > 0 {
		return aGate
	}
	for _, t := range [][2]string{{"Odd-Rejected-By", "a rejection"}, {"Odd-Resumed-By", "a resumption"}, {"Odd-Ready-By", "a task made ready"}} {
		if len(j.Trailer(t[0])) > 0 {
			return t[1]
		}
	}
	// A forge's squash repeats the words of an approval, and is none.
	if len(j.Trailer("Odd-Approved-By")) > 0 && (len(j.Parents) > 1 || len(j.Files) == 0) {
		return "an approval"
	}
	for _, f := range j.Files {
		switch {
		case f.Path == "odd.toml" || f.Path == j.Law.AllowedSigners:
			return "a change of " + f.Path
		case policy.InstructsAgents(f.Path) || policy.ConfiguresAgents(f.Path):
			return "a change of " + f.Path + ", which agents follow,"
		case f.Rel == "pause.toml" && f.New == "":
			return "a resumption"
		case strings.HasPrefix(f.Rel, "proposals/"):
			return "a word on proposals"
		case isPeoplesType(f.Was) || isPeoplesType(f.Is):
			return "a change of " + f.Path + ", which only people write,"
		case len(readEndorsements(f.Is)) > len(readEndorsements(f.Was)):
			return "an endorsement in " + f.Path
		case isNewlyVerified(f):
			return "a verification of " + f.Path
		case isVerifiedChanged(f):
			return "a change of " + f.Path + ", which a person verified,"
		case isWidened(f):
			return "a change of what the agent of " + f.Path + " may do"
		case taskState(f.Is) != taskState(f.Was) && slices.Contains([]board.State{board.Ready, board.Done}, taskState(f.Is)):
			return "a task made " + string(taskState(f.Is))
		}
	}
	return ""
}

// isNewlyVerified reports an atom that a person verified in the act.
func isNewlyVerified(f *File) bool {
	was := humanStamps(f.Was)
	return slices.ContainsFunc(humanStamps(f.Is), func(s string) bool { return !slices.Contains(was, s) })
}

// isVerifiedChanged reports a file that a person verified and that the act changes or deletes. A task's place on the
// board is not verified.
func isVerifiedChanged(f *File) bool {
	return len(humanStamps(f.Was)) > 0 && (f.New != f.Old || f.NewMode != f.OldMode) &&
		(!IsTask(f.Was) || findOtherKey(f, slices.Concat(runKeys, syncKeys)) != "")
}

// isWidened reports a task whose paths or commands changed.
func isWidened(f *File) bool {
	if !IsTask(f.Was) || f.Is == nil {
		return false // a person must make a new task ready first
	}
	return slices.ContainsFunc([]string{"paths", "commands"}, func(key string) bool {
		was, _ := f.Was.Field(key)
		is, _ := f.Is.Field(key)
		return !reflect.DeepEqual(was.Value, is.Value)
	})
}

// whyUnsignedBeyond returns what a decision lacks of the signatures that the other side of a merge requires. A key that
// was added only on the decision's own side counts.
func (j *judge) whyUnsignedBeyond(c repo.Commit) string {
	for _, other := range j.FindCrossed(c.OID) {
		law := j.LawAt(other)
		why := j.whyUnsigned(c, law, other)
		if why == "" {
			continue
		}
		if j.isKeyAddedHere(c, law, other) {
			continue
		}
		return why + ", as " + ShortID(string(other)) + " has it, which is merged with it"
	}
	return ""
}

// isKeyAddedHere reports a decision that is signed as its own side requires, with a key that the merge base did not
// know.
func (j *judge) isKeyAddedHere(c repo.Commit, law *config.Config, other repo.OID) bool {
	own := j.LawAt(c.Parents[0])
	if !own.RequireSigned || j.whyUnsigned(c, own, c.Parents[0]) != "" {
		return false
	}
	base := j.MergeBase(c.OID, other)
	return base != "" && j.whyUnsigned(c, law, base) != ""
}
