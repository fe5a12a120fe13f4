package verify

import (
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

func capRule() rule {
	return rule{Row{
		Invariant: 1, Name: "Cap", Unit: "atoms",
		Way:        "lower its confidence, or have a person verify it in a commit of their own",
		Evidence:   "confidence and verified of each atom that a commit by odd or an agent changes; [session] cap in the odd.toml of its parent (for a proposal: of the board when the task was claimed)",
		Recomputed: "The confidence of each changed atom, before and after the commit, is compared with the cap. No commit by odd or an agent adds a human: entry to verified. The exception is odd sync, which adds the entry of an approval that is itself proved.",
		Attested:   "that a commit with a person's address was made by that person; signed commits prove it",
	}, judgeCap}
}

// judgeCap checks invariant 1: no machine raises an atom above its cap or verifies in a
// person's name.
func judgeCap(j *judge) {
	if j.kind == person {
		j.checkVerifiedNames()
		return
	}
	limit := j.readCap()
	for _, f := range j.files {
		if f.new == nil {
			continue
		}
		j.checked++
		was := okf.Unset
		if f.old != nil && (isTask(f.old) || j.kind == mergeCommit || len(humanStamps(f.old)) > 0) {
			was = highestConfidence(f.old) // invariant 16 keeps what is verified
		}
		if now := highestConfidence(f.new); now > limit && now > was {
			j.addFinding(f.Path, f.new.Line("confidence"), "a commit by odd or an agent makes the atom %s; agents may set at most %s", describeConfidence(f.new), limit)
		}
		j.checkHumanStamps(f)
	}
}

// checkHumanStamps reports a verified entry of a person that a machine's commit adds.
func (j *judge) checkHumanStamps(f *file) {
	if j.kind == syncCommit && taskState(f.old) == board.Review && taskState(f.new) == board.Done {
		return // invariant 3 checks the one entry it may write
	}
	for _, by := range humanStamps(f.new) {
		if !slices.Contains(humanStamps(f.old), by) {
			j.addFinding(f.Path, f.new.Line("verified"), "a commit by odd or an agent adds verified by %s", by)
		}
	}
}

// readCap returns the cap in force. A proposal has the cap of the board when its session was
// claimed, because its branch may have another odd.toml. Without that claim it has the
// lowest.
func (j *judge) readCap() okf.Confidence {
	law := j.law
	if j.kind == proposal {
		law = j.readClaimLaw()
	}
	limit, ok := okf.ParseConfidence(law.Session.Cap)
	if !ok || limit == okf.Unset || limit > okf.Asserted {
		limit = okf.Inferred
	}
	return limit
}

// checkVerifiedNames reports a verified entry that an approval adds in another person's
// name.
func (j *judge) checkVerifiedNames() {
	by := singleTrailer(j.Commit, "Odd-Approved-By")
	for _, f := range j.files {
		if by == "" || f.new == nil {
			continue
		}
		j.checked++
		for _, s := range humanStamps(f.new) {
			if !slices.Contains(humanStamps(f.old), s) && !strings.HasPrefix(s, by+" at ") {
				j.addFinding(f.Path, f.new.Line("verified"), "an approval by %s adds verified by %s", by, s)
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
