package verify

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/repo"
)

// readProposals returns all proposals as a commit has them. It skips what cannot be read:
// that is reported at the commit that wrote it.
func (h *history) readProposals(commit repo.OID) gate.Buffer {
	law := h.lawAfter(commit)
	tree, mode := h.find(commit, law.Root+"/proposals")
	if mode != folder {
		return gate.Buffer{}
	}
	if b, ok := h.buffers.get(tree); ok {
		return b
	}
	bundle := h.bundleFiles(commit)
	all, err := state.ReadProposals(bundle)
	if err = ignoreDamaged(err); err == nil {
		h.buffers.put(tree, all)
	}
	must(err)
	return all
}

// findEmergency returns the emergency proposal that is open in a commit, "" for none.
func (h *history) findEmergency(commit repo.OID) string {
	b := h.readProposals(commit)
	return b.Emergency()
}

func proposeRule() rule {
	return rule{Row{
		Invariant: 9, Name: "Propose only", Unit: "proposals",
		Way:        "a person answers it with odd gate proposals",
		Evidence:   "proposals/*.jsonl in every commit, against its parents; the proposals a gate's row answers",
		Recomputed: "A run writes only its own file, and proposes nothing in a person's name. Only a person accepts or rejects a proposal, in a commit and name of their own. An accepted proposal names a row of governance/gates.jsonl. A row there answers only proposals that were open before it.",
		Attested:   "that what a proposal reports was really there",
	}, judgeProposeOnly}
}

// judgeProposeOnly checks invariant 9: machines only propose, and people decide about
// proposals.
func judgeProposeOnly(j *judge) {
	if len(j.Parents) == 0 {
		return // the history begins here
	}
	for _, f := range j.files {
		if ok, _ := path.Match("proposals/*.jsonl", f.rel); ok && f.New != "" {
			j.judgeProposals(f)
		}
	}
	j.checkAnswered()
}

// judgeProposals checks what a commit adds to one writer's file. Invariant 14 checks that
// the file only grows.
func (j *judge) judgeProposals(f *file) {
	now := j.readFile(f.New, f.NewMode)
	var is gate.Buffer
	if err := is.ReadProposals(now); err != nil {
		j.checked++
		j.addFinding(f.Path, lineNumberIn(err.Error()), "%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("line %d: ", lineNumberIn(err.Error()))))
		return
	}
	was := j.readProposedBefore(f)
	run := strings.TrimSuffix(path.Base(f.rel), ".jsonl")
	if strings.HasPrefix(run, "run-") {
		if good := j.findPutBack(j.Commit, f.rel, f.Change); good != "" && good == f.New {
			return // a person puts back a version and adds nothing
		}
	}
	if own := j.kind != person && run == j.run; !own && (j.kind != person || strings.HasPrefix(run, "run-")) {
		j.addFinding(f.Path, 1, "the proposals of %s are written by another commit than its own", run)
	}
	if n := countOpen(is); j.kind != person && n > gate.MaxPerDrain {
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

// readProposedBefore returns the proposals of the file in the parents.
func (j *judge) readProposedBefore(f *file) (was gate.Buffer) {
	for _, oid := range j.parentBlobs(f) {
		old := j.blob(oid)
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
	case j.kind == person && p.Source == gate.TaskAgent:
		return fmt.Sprintf("a person's commit proposes %s as an agent", p.ID)
	case j.kind != person && p.Source == gate.UserSignal:
		return fmt.Sprintf("a commit by odd or an agent proposes %s as a person", p.ID)
	case j.kind != person && p.Run != "" && p.Run != j.run:
		return fmt.Sprintf("%s proposes %s for %s", cmp.Or(j.run, "no run"), p.ID, p.Run)
	}
	return ""
}

// judgeDispositions checks what a commit says became of proposals.
func (j *judge) judgeDispositions(f *file, now []byte, is, was gate.Buffer) {
	for _, id := range sortedKeys(is.Dispositions) {
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
	all := j.readProposals(j.OID)
	s := j.readGovernance(j.OID)
	_, exists := all.ByID(d.ID)
	row := slices.IndexFunc(s.Chain.Rows, func(r gate.Row) bool { return r.ID == d.Act })
	switch {
	case j.kind != person:
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

// checkAnswered checks that the proposals which a gate's new rows answer were open before
// the act.
func (j *judge) checkAnswered() {
	now := j.readGovernance(j.OID)
	if j.kind != person || len(j.Trailer("Odd-Gate")) == 0 {
		return
	}
	was := j.readGovernance(j.Parents[0])
	before := j.readProposals(j.Parents[0])
	for i := len(was.Chain.Rows); i < len(now.Chain.Rows); i++ {
		r := now.Chain.Rows[i]
		for _, id := range r.Proposals {
			j.checked++
			_, exists := before.ByID(id)
			d, settled := before.Dispositions[id]
			switch {
			case !exists:
				j.addFinding(j.root+gate.GatesPath, i+1, "%s answers %s, which nobody had proposed", r.ID, id)
			case settled:
				j.addFinding(j.root+gate.GatesPath, i+1, "%s answers %s, which was %s already", r.ID, id, d.Decision)
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
