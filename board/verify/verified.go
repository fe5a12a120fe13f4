package verify

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
		if !isVerifiedChanged(f) {
			continue
		}
		what := "changes"
		if f.New == "" {
			what = "deletes"
		}
		j.addFinding(f.Path, 1, "a commit by odd or an agent %s what %s verified", what, humanStamps(f.old)[0])
		j.suggestCheckout(f.Path)
	}
}
