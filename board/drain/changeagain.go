package drain

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/bench"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
)

// remade is a change that waits for a person and is judged again: what its op made,
// for another op that takes its place. No session runs for that one; it goes through
// every phase with the candidate there is, and never lands by itself.
type remade struct {
	old       pipeline.Op
	candidate pipeline.Candidate
}

// readRemade reads what t's proposal changes besides atoms, on base, nil where that is
// nothing. kept are the artifacts of its run. A file that others changed since is merged
// with theirs; where both changed the same lines the change has to be made again.
func (bw *boardWriter) readRemade(ctx context.Context, t board.Task, base repo.OID, kept fs.FS) (*remade, error) {
	p, err := bw.repo.Commit(repo.OID(t.Result.Commit))
	if err != nil || len(p.Trailer("Odd-Op")) == 0 || len(p.Parents) != 1 {
		return nil, nil // a proposal of atoms needs no more than its emission
	}
	m := &remade{}
	if m.old, err = bw.waitingOp(t); err != nil {
		return nil, err
	}
	edits, moved, err := bw.editsUpon(ctx, p.OID, base)
	switch {
	case len(moved) > 0:
		return nil, refuse("moved", "review --refresh %s: %s: the same lines changed since the agent read them; odd reject %[1]s --retry --reason \"why\" has the change made anew", t.ID, strings.Join(moved, ", "))
	case err != nil:
		return nil, err
	case len(edits) == 0:
		return nil, refuse("emission", "review --refresh %s: the files already have all it changes; odd reject %[1]s --reason \"already there\"", t.ID)
	}
	if m.candidate, err = pipeline.FromEdits(edits); err != nil {
		return nil, refuse("emission", "review --refresh %s: the change no longer applies: %s; odd reject %[1]s --reason \"why\"", t.ID, oneLine(err.Error()))
	}
	m.candidate.Mended = m.old.Fact(pipeline.FactMended)
	b, _ := fs.ReadFile(kept, m.old.ID+"/op.json")
	if was, err := pipeline.ReadDossier(b); err == nil {
		m.candidate.Rationale, m.candidate.Source = was.Rationale, was.Source
	}
	return m, nil
}

// editsUpon are the files of a proposal as edits of base, as git merges them with what others
// changed there, without those that base has already. moved are those that do not merge.
func (bw *boardWriter) editsUpon(ctx context.Context, proposal, base repo.OID) (edits []pipeline.Edit, moved []string, err error) {
	tree, moved, err := bw.repo.MergeTree(ctx, base, proposal)
	moved = slices.DeleteFunc(moved, bw.at.cfg.InBundle)
	if err != nil && !errors.Is(err, repo.ErrConflict) || len(moved) > 0 {
		return nil, moved, err
	}
	changed, err := bench.DiffFiles(ctx, bw.repo, bw.at.cfg, base, tree)
	if err == nil {
		edits, err = bench.EditsOf(bw.repo, changed, base, tree)
	}
	return edits, nil, err
}

// runChangeAgain takes a change that waits through the pipeline again. Where it does not
// come out at a person, the refusal says why, and nothing is written.
func (a attempt) runChangeAgain(ctx context.Context, m *remade, s lastSession) (work, error) {
	w := runChange(ctx, &change{asking: asking{attempt: a, last: s, made: m.old.Made()}, remade: m})
	if w.log.Op().Phase != pipeline.Waiting {
		_ = a.d.repo.Show(nil)
		return w, refuse(cmp.Or(string(w.log.Op().Reason), "change"), "review --refresh %s: %s; nothing was done, odd reject %[1]s --retry --reason \"why\" has it made anew", a.c.task.ID, strings.TrimSuffix(w.reason, " ["+string(w.log.Op().Reason)+"]"))
	}
	return w, nil
}

func (ch *change) retakeCandidate(ctx context.Context) (pipeline.Out, error) {
	set, err := ch.takeCandidate(ctx, ch.remade.candidate)
	if err != nil {
		return ch.endFor(pipeline.CandidateUnusable, 0, "%s", oneLine(err.Error()))
	}
	set["again"] = ch.remade.old.ID
	return pipeline.Out{Next: pipeline.Validate, Set: set, Note: "what " + ch.remade.old.ID + " made"}, nil
}
