package rules

import (
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

var capRule = Rule{Row{
	N: 1, Name: "Cap", Unit: "atoms",
	Promise:  "No machine raises an atom's confidence above the cap, or verifies an atom in a person's name.",
	Reads:    "confidence and verified of each atom that a commit by odd or an agent changes; [session] cap in the odd.toml of its parent (for a proposal: of the board when the task was claimed)",
	Compares: "The confidence of each changed atom, before and after the commit, is compared with the cap. No commit by odd or an agent adds a human: entry to verified. The exception is odd sync, which adds the entry of an approval that is itself proved.",
	Attested: "that a commit with a person's address was made by that person; signed commits prove it",
	Remedy:   "lower its confidence, or have a person verify it in a commit of their own",
	Broken:   "An agent's commit gave an atom more confidence than an agent may.",
}, judgeCap, true}

func judgeCap(j *judge) {
	if j.Kind == Person {
		j.checkVerifiedNames()
		return
	}
	limit := j.readCap()
	for _, f := range j.Files {
		if f.Is == nil {
			continue
		}
		j.checked++
		was := okf.Unset
		if f.Was != nil && (IsTask(f.Was) || j.Kind == Merge || len(humanStamps(f.Was)) > 0) {
			was = highestConfidence(f.Was) // invariant 16 keeps what is verified
		}
		if now := highestConfidence(f.Is); now > limit && now > was {
			j.addFinding(f.Path, f.Is.Line("confidence"), "a commit by odd or an agent makes the atom %s; agents may set at most %s", describeConfidence(f.Is), limit)
		}
		j.checkHumanStamps(f)
	}
}

// checkHumanStamps reports a verified entry of a person that a machine's commit adds.
func (j *judge) checkHumanStamps(f *File) {
	if j.Kind == Sync && taskState(f.Was) == board.Review && taskState(f.Is) == board.Done {
		return // invariant 3 checks the one entry it may write
	}
	for _, by := range humanStamps(f.Is) {
		if !slices.Contains(humanStamps(f.Was), by) {
			j.addFinding(f.Path, f.Is.Line("verified"), "a commit by odd or an agent adds verified by %s", by)
		}
	}
}

// readCap returns the cap in force. A proposal has the cap of the board when its session was claimed, because its
// branch may have another odd.toml. Without that claim it has the lowest.
func (j *judge) readCap() okf.Confidence {
	law := j.Law
	if j.Kind == Proposal {
		var claim repo.OID
		if law, claim = j.findTerms(j.Run, j.Task); claim == "" {
			return okf.Inferred
		}
	}
	limit, ok := okf.ParseConfidence(law.Session.Cap)
	if !ok || limit == okf.Unset || limit > okf.Asserted {
		limit = okf.Inferred
	}
	return limit
}

// checkVerifiedNames reports a verified entry that an approval adds in another person's name.
func (j *judge) checkVerifiedNames() {
	by := Trailer(j.Commit, "Odd-Approved-By")
	for _, f := range j.Files {
		if by == "" || f.Is == nil {
			continue
		}
		j.checked++
		for _, s := range humanStamps(f.Is) {
			if !slices.Contains(humanStamps(f.Was), s) && !strings.HasPrefix(s, by+" at ") {
				j.addFinding(f.Path, f.Is.Line("verified"), "an approval by %s adds verified by %s", by, s)
			}
		}
	}
}

// highestConfidence returns the higher of what an atom claims and what it counts for.
func highestConfidence(a *okf.Atom) okf.Confidence {
	if a.Claimed == okf.Verified {
		return okf.Verified
	}
	return a.Confidence()
}

// describeConfidence names an atom's confidence as its file does.
func describeConfidence(a *okf.Atom) string {
	if a.Claimed == okf.Unset {
		return a.Confidence().String() + " by saying nothing of its confidence and naming no generator"
	}
	return a.Claimed.String()
}

// humanStamps returns the verified entries of people in an atom, each with its time.
func humanStamps(a *okf.Atom) []string {
	var out []string
	if a == nil {
		return nil
	}
	for _, s := range a.Verified {
		if s.Human() {
			out = append(out, s.By+" at "+s.At)
		}
	}
	return out
}
