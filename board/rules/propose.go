package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/repo"
)

// findEmergency returns the emergency proposal that is open in a commit, "" for none.
func (j *judge) findEmergency(commit repo.OID) string {
	return j.ReadProposals(commit).Emergency()
}

var proposeRule = Rule{Row{
	N: 9, Name: "Propose only", Unit: "proposals",
	Promise:  "Machines only propose, and people decide about proposals.",
	Reads:    "proposals/*.jsonl in every commit, against its parents; the proposals a gate's row answers",
	Compares: "A run writes only its own file, and proposes nothing in a person's name. Only a person accepts or rejects a proposal, in a commit and name of their own. An accepted proposal names a row of governance/gates.jsonl. A row there answers only proposals that were open before it.",
	Attested: "that what a proposal reports was really there",
	Remedy:   "a person answers it with odd gate proposals",
	Broken:   "A proposal was written or answered by somebody who may not do that.",
}, judgeProposeOnly, false}

func judgeProposeOnly(j *judge) {
	for _, f := range j.Files {
		if ok, _ := path.Match("proposals/*.jsonl", f.Rel); ok && f.New != "" {
			j.judgeProposals(f)
		}
	}
	j.checkAnswered()
}

// judgeProposals checks what a commit adds to one writer's file. Invariant 14 checks that the file only grows.
func (j *judge) judgeProposals(f *File) {
	now := j.ReadFile(f.New, f.NewMode)
	var is gate.Buffer
	if err := is.ReadProposals(now); err != nil {
		j.checked++
		j.addFinding(f.Path, lineNumberIn(err.Error()), "%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("line %d: ", lineNumberIn(err.Error()))))
		return
	}
	was := j.readProposedBefore(f)
	run := strings.TrimSuffix(path.Base(f.Rel), ".jsonl")
	if strings.HasPrefix(run, "run-") {
		if good := j.FindPutBack(j.Commit, f.Rel, f.Change); good != "" && good == f.New {
			return // a person puts back a version and adds nothing
		}
	}
	if own := j.Kind != Person && run == j.Run; !own && (j.Kind != Person || strings.HasPrefix(run, "run-")) {
		j.addFinding(f.Path, 1, "the proposals of %s are written by another commit than its own", run)
	}
	if n := countOpen(is); j.Kind != Person && n > gate.MaxPerDrain {
		j.addFinding(f.Path, len(is.Proposals), "%s proposes %d times, at most %d", run, n, gate.MaxPerDrain)
	}
	for _, p := range is.Proposals {
		if _, old := was.ByID(p.ID); old {
			continue
		}
		j.checked++
		if why := j.checkSpeaker(p); why != "" {
			j.addFinding(f.Path, findProposalLine(now, "proposal", p.ID), "%s", why)
		}
	}
	j.judgeDispositions(f, now, is, was)
}

func (j *judge) readProposedBefore(f *File) (was gate.Buffer) {
	for _, oid := range j.ParentBlobs(f) {
		old := j.Blob(oid)
		_ = was.ReadProposals(old)
	}
	return was
}

// countOpen counts the proposals without the emergencies, for which a drain always has room.
func countOpen(b gate.Buffer) int {
	n := 0
	for _, p := range b.Proposals {
		if p.Severity != gate.EmergencySeverity {
			n++
		}
	}
	return n
}

// checkSpeaker returns why the commit may not make the proposal.
func (j *judge) checkSpeaker(p gate.Proposal) string {
	switch {
	case j.Kind == Person && p.Source == gate.TaskAgent:
		return fmt.Sprintf("a person's commit proposes %s as an agent", p.ID)
	case j.Kind != Person && p.Source == gate.UserSignal:
		return fmt.Sprintf("a commit by odd or an agent proposes %s as a person", p.ID)
	case j.Kind != Person && p.Run != "" && p.Run != j.Run:
		return fmt.Sprintf("%s proposes %s for %s", cmp.Or(j.Run, "no run"), p.ID, p.Run)
	}
	return ""
}

// judgeDispositions checks what a commit says became of proposals.
func (j *judge) judgeDispositions(f *File, now []byte, is, was gate.Buffer) {
	for _, id := range SortedKeys(is.Dispositions) {
		if _, old := was.Dispositions[id]; old {
			continue
		}
		j.checked++
		why := j.checkDisposition(is.Dispositions[id])
		if why != "" {
			j.addFinding(f.Path, findProposalLine(now, "disposition", id), "%s", why)
		}
	}
}

// checkDisposition returns what is wrong with a disposition.
func (j *judge) checkDisposition(d gate.Disposition) string {
	all := j.ReadProposals(j.OID)
	s := j.ReadGovernance(j.OID)
	_, exists := all.ByID(d.ID)
	row := slices.IndexFunc(s.Chain.Rows, func(r gate.Row) bool { return r.ID == d.Act })
	switch {
	case j.Kind != Person:
		return fmt.Sprintf("a commit by odd or an agent says that %s is %s; only a person does", d.ID, d.Decision)
	case d.By != "human:"+j.Author.Email:
		return fmt.Sprintf("%s is %s by %s, in a commit by %s", d.ID, d.Decision, d.By, j.Author.Email)
	case !exists:
		return fmt.Sprintf("%s is %s, and nobody proposed it", d.ID, d.Decision)
	case d.Act != "" && row < 0:
		return fmt.Sprintf("%s is %s at %s, which is no row of the gates", d.ID, d.Decision, d.Act)
	case d.Decision == gate.Accepted && row == len(s.Chain.Rows)-1 && len(j.Trailer("Odd-Gate")) > 0 && !slices.Contains(s.Chain.Rows[row].Proposals, d.ID):
		return fmt.Sprintf("%s is accepted in the commit of %s, which does not answer it", d.ID, d.Act)
	}
	return ""
}

// checkAnswered checks that the proposals which a gate's new rows answer were open before the act.
func (j *judge) checkAnswered() {
	now := j.ReadGovernance(j.OID)
	if j.Kind != Person || len(j.Trailer("Odd-Gate")) == 0 {
		return
	}
	was := j.ReadGovernance(j.Parents[0])
	before := j.ReadProposals(j.Parents[0])
	for i := len(was.Chain.Rows); i < len(now.Chain.Rows); i++ {
		r := now.Chain.Rows[i]
		for _, id := range r.Proposals {
			j.checked++
			_, exists := before.ByID(id)
			d, settled := before.Dispositions[id]
			switch {
			case !exists:
				j.addFinding(j.Root+gate.GatesPath, i+1, "%s answers %s, which nobody had proposed", r.ID, id)
			case settled:
				j.addFinding(j.Root+gate.GatesPath, i+1, "%s answers %s, which was %s already", r.ID, id, d.Decision)
			}
		}
	}
}

// findProposalLine returns the line of a proposal or of its disposition in a writer's file.
func findProposalLine(b []byte, t, id string) int {
	n := 0
	for line := range bytes.Lines(b) {
		n++
		if bytes.Contains(line, []byte(`"t":"`+t+`"`)) && bytes.Contains(line, []byte(`"id":"`+id+`"`)) {
			return n
		}
	}
	return 1
}
