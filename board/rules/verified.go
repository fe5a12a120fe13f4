package rules

var verifiedRule = Rule{Row{
	N: 16, Name: "Verified bytes", Unit: "files",
	Promise:  "No machine changes a file that a person verified.",
	Reads:    "the verified entries of every file a commit by odd or an agent changes, as its parent has it",
	Compares: "After a commit by odd or an agent, a file that a person verified has the same bytes, mode and path. A task may differ only in its state on the board.",
	Attested: "that a person who changed what another verified meant to",
	Remedy:   "put the old file back in a commit of your own: git checkout COMMIT^ -- FILE",
	Broken:   "A commit of odd or of an agent changed a file that a person had verified.",
}, judgeVerified, false}

func judgeVerified(j *judge) {
	if j.Kind == Person {
		return
	}
	for _, f := range j.Files {
		if f.Old == "" || f.Was == nil {
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
		j.addFinding(f.Path, 1, "a commit by odd or an agent %s what %s verified", what, humanStamps(f.Was)[0])
		j.suggestCheckout(f.Path)
	}
}
