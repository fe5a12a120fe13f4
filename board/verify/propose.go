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
func (h *history) readProposals(commit repo.OID) (gate.Buffer, error) {
	law, err := h.lawAfter(commit)
	if err != nil {
		return gate.Buffer{}, err
	}
	tree, mode, err := h.trees.Find(commit, law.Root+"/proposals")
	if err != nil || mode != folder {
		return gate.Buffer{}, err
	}
	if b, ok := h.buffers.get(tree); ok {
		return b, nil
	}
	bundle, err := h.bundleFiles(commit)
	if err != nil {
		return gate.Buffer{}, err
	}
	all, err := state.ReadProposals(bundle)
	if err = ignoreDamaged(err); err == nil {
		h.buffers.put(tree, all)
	}
	return all, err
}

// findEmergency returns the emergency proposal that is open in a commit, "" for none.
func (h *history) findEmergency(commit repo.OID) (string, error) {
	b, err := h.readProposals(commit)
	return b.Emergency(), err
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
func judgeProposeOnly(j *judge) error {
	if len(j.Parents) == 0 {
		return nil // the history begins here
	}
	for _, f := range j.files {
		if ok, _ := path.Match("proposals/*.jsonl", f.rel); ok && f.New != "" {
			if err := j.judgeProposals(f); err != nil {
				return err
			}
		}
	}
	return j.checkAnswered()
}

// judgeProposals checks what a commit adds to one writer's file. Invariant 14 checks that
// the file only grows.
func (j *judge) judgeProposals(f *file) error {
	now, err := j.readFile(f.New, f.NewMode)
	if err != nil {
		return err
	}
	var is gate.Buffer
	if err := is.ReadProposals(now); err != nil {
		j.checked++
		j.addFinding(f.Path, lineNumberIn(err.Error()), "%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("line %d: ", lineNumberIn(err.Error()))))
		return nil
	}
	was, err := j.readProposedBefore(f)
	if err != nil {
		return err
	}
	run := strings.TrimSuffix(path.Base(f.rel), ".jsonl")
	if strings.HasPrefix(run, "run-") {
		if good, err := j.findPutBack(j.Commit, f.rel, f.Change); err != nil || good != "" && good == f.New {
			return err // a person puts back a version and adds nothing
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
	return j.judgeDispositions(f, now, is, was)
}

// readProposedBefore returns the proposals of the file in the parents.
func (j *judge) readProposedBefore(f *file) (was gate.Buffer, err error) {
	for _, oid := range j.parentBlobs(f) {
		old, err := j.trees.Blob(oid)
		if err != nil {
			return was, err
		}
		_ = was.ReadProposals(old)
	}
	return was, nil
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
func (j *judge) judgeDispositions(f *file, now []byte, is, was gate.Buffer) error {
	for _, id := range sortedKeys(is.Dispositions) {
		if _, old := was.Dispositions[id]; old {
			continue
		}
		j.checked++
		why, err := j.checkDisposition(is.Dispositions[id])
		if err != nil {
			return err
		}
		if why != "" {
			j.addFinding(f.Path, findProposalLine(now, "disposition", id), "%s", why)
		}
	}
	return nil
}

// checkDisposition returns what is wrong with a disposition.
func (j *judge) checkDisposition(d gate.Disposition) (string, error) {
	all, err := j.readProposals(j.OID)
	if err != nil {
		return "", err
	}
	s, err := j.readGovernance(j.OID)
	if err != nil {
		return "", err
	}
	_, exists := all.ByID(d.ID)
	row := slices.IndexFunc(s.Chain.Rows, func(r gate.Row) bool { return r.ID == d.Act })
	switch {
	case j.kind != person:
		return fmt.Sprintf("a commit by odd or an agent says that %s is %s; only a person does", d.ID, d.Decision), nil
	case d.By != "human:"+j.Author.Email:
		return fmt.Sprintf("%s is %s by %s, in a commit by %s", d.ID, d.Decision, d.By, j.Author.Email), nil
	case !exists:
		return fmt.Sprintf("%s is %s, and nobody proposed it", d.ID, d.Decision), nil
	case d.Act != "" && row < 0:
		return fmt.Sprintf("%s is %s at %s, which is no row of the gates", d.ID, d.Decision, d.Act), nil
	case d.Decision == gate.Accepted && row == len(s.Chain.Rows)-1 && len(j.Trailer("Odd-Gate")) > 0 && !slices.Contains(s.Chain.Rows[row].Proposals, d.ID):
		return fmt.Sprintf("%s is accepted in the commit of %s, which does not answer it", d.ID, d.Act), nil
	}
	return "", nil
}

// checkAnswered checks that the proposals which a gate's new rows answer were open before
// the act.
func (j *judge) checkAnswered() error {
	now, err := j.readGovernance(j.OID)
	if err != nil || j.kind != person || len(j.Trailer("Odd-Gate")) == 0 {
		return err
	}
	was, err := j.readGovernance(j.Parents[0])
	if err != nil {
		return err
	}
	before, err := j.readProposals(j.Parents[0])
	if err != nil {
		return err
	}
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
	return nil
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
