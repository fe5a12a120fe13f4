package verify

import "slices"

func verifiedRule() rule {
	return rule{Row{
		Invariant: 16, Name: "Verified bytes", Unit: "files",
		Way:        "put the old file back in a commit of your own: git checkout COMMIT^ -- FILE",
		Evidence:   "the verified entries of every file a commit by odd or an agent changes, as its parent has it",
		Recomputed: "After a commit by odd or an agent, a file that a person verified has the same bytes, mode and path. A task may differ only in its state on the board.",
		Attested:   "that a person who changed what another verified meant to",
	}, judgeVerified}
}

// judgeVerified checks invariant 16: no machine changes a file that a person verified.
func judgeVerified(j *judge) {
	if j.kind == person || len(j.Parents) == 0 {
		return
	}
	for _, f := range j.files {
		if f.Old == "" || f.old == nil {
			continue
		}
		j.checked++
		by := humanStamps(f.old)
		if len(by) == 0 || f.New == f.Old && f.NewMode == f.OldMode {
			continue
		}
		if isTask(f.old) && findOtherKey(f, slices.Concat(runKeys, syncKeys)) == "" {
			continue // its place on the board is not verified
		}
		what := "changes"
		if f.New == "" {
			what = "deletes"
		}
		j.addFinding(f.Path, 1, "a commit by odd or an agent %s what %s verified", what, by[0])
		j.suggestCheckout(f.Path)
	}
}
