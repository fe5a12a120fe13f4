package drain

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// # What lands by itself
//
// Where odd.toml says auto_apply, a change of a tier that may lands on the target
// when verify is through: its proposal's commit, on the base it was made and
// verified on, by compare-and-swap in the transaction of the task's result. The
// task goes to review all the same. Whatever speaks against the landing makes the
// change wait for a person like every other, and the op's fact FactHeld says why.

// Preview is a change of the tier NOTIFY_APPLY that would land by itself.
type Preview struct {
	Task    okf.ID
	Op      string
	Target  string // the branch it would land on
	Because []string
	Diff    []byte // redacted
}

// activeFor is how long a file that was saved counts as one that a person is at
// work on.
const activeFor = 180 * time.Second

// previewTime is how long a person has to look at a preview.
const previewTime = 9 * time.Minute

// approve asks nobody: a person approves what lies on the review branch. What may
// land by itself a person may be shown first.
func (ch *change) approve(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	out := pipeline.Out{Next: pipeline.Apply, Note: "it waits on its review branch for a person's approval"}
	if !ch.d.at.cfg.Pipeline.LandsAlone(ch.c.task.Kind) || !pipeline.MayLand(string(ch.risk.Tier)) || ch.remade != nil {
		return out, nil
	}
	ch.mayLand = true
	switch h := ch.findHindrance(ctx); {
	case h.code != "":
		ch.holdBack(h)
	case len(ch.candidate.files) > len(ch.candidate.Files):
		ch.holdBack(hindrance{code: pipeline.HeldAtoms})
	case ch.risk.Tier == pipeline.NotifyApply:
		by, err := ch.showToPerson(ctx, op)
		if err != nil || by == "" {
			return out, err
		}
		out.Set = map[string]string{pipeline.FactPreviewed: by}
	}
	if ch.mayLand {
		out.Note = "it is merged without approval, as odd.toml allows; a person approves the task afterwards"
	}
	return out, nil
}

// showToPerson puts the change in front of the person at the terminal; by is who let it
// land.
func (ch *change) showToPerson(ctx context.Context, op pipeline.Op) (by string, err error) {
	if ch.d.Preview == nil {
		ch.holdBack(hindrance{code: pipeline.HeldUnseen})
		return "", nil
	}
	patch, err := ch.d.repo.Patch(ctx, ch.c.base, ch.candidate.commit)
	if err != nil {
		return "", err
	}
	ask, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	by, err = ch.d.Preview(ask, Preview{Task: ch.c.task.ID, Op: op.ID, Target: ch.d.landingBranch(), Because: ch.risk.Reasons(), Diff: secrets.Redact(patch)})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		ch.holdBack(hindrance{pipeline.HeldUnseen, err.Error()})
		return "", nil
	case by == "":
		ch.holdBack(hindrance{code: pipeline.HeldDeclined})
	}
	return by, nil
}

// hindrance is why a change that might have landed by itself is held back, the zero value where nothing
// speaks against it.
type hindrance struct {
	code pipeline.Held
	more string // in words, "" for those of the code
}

// holdBack makes a change wait that might have landed by itself.
func (ch *change) holdBack(h hindrance) {
	ch.mayLand, ch.held = false, h
	ch.d.say(h.describe(ch.c.task.ID))
}

func (h hindrance) describe(task okf.ID) string {
	return fmt.Sprintf("%s: waits for your review instead of being merged: %s [%s]", task, cmp.Or(h.more, pipeline.ExplainHeld(h.code)), h.code)
}

// landingBranch returns the branch that changes land on.
func (bw *boardWriter) landingBranch() string { return cmp.Or(bw.target(), bw.line.Name()) }

// verify checks the commit that would land: it holds exactly the files that were
// checked. Then the change lands, or waits.
func (ch *change) verify(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	commit := ch.proposal.ref.New
	tree, err := ch.d.repo.TreeOID(commit, "")
	if err != nil {
		return pipeline.Out{}, err
	}
	if string(tree) != op.Fact(pipeline.FactCandidate) {
		return ch.endFor(pipeline.VerifyFailed, 0, "the commit to merge differs from the change that was checked; this is a bug in odd, please report it")
	}
	out := pipeline.Out{Next: pipeline.Waiting, Note: reportLine(ch.report)}
	switch {
	case ch.mayLand:
		out.Reason, out.Moved = pipeline.Landed, pipeline.Effect{Ref: "refs/heads/" + ch.d.landingBranch(), Old: string(ch.c.base), New: string(commit)}
	case ch.held.code != "":
		out.Set = map[string]string{pipeline.FactHeld: string(ch.held.code)}
		out.Note = strings.TrimSuffix(ch.held.more+"; "+out.Note, "; ")
	}
	return out, nil
}

// findHindrance says what keeps a change from landing by itself now: the target is not
// where it was verified on, or a person is at work there. Where that cannot be
// told, it does not land.
func (ch *change) findHindrance(ctx context.Context) hindrance {
	if err := ch.d.at.refuseWhilePaused(); err != nil {
		return hindrance{pipeline.HeldRefused, err.Error()}
	}
	tip, err := ch.d.landingTip(ctx)
	switch {
	case err != nil:
		return hindrance{pipeline.HeldMoved, err.Error()}
	case tip != ch.c.base:
		return hindrance{pipeline.HeldMoved, fmt.Sprintf("%s got new commits: it was at %.10s and is at %.10s", ch.d.landingBranch(), ch.c.base, tip)}
	}
	if gate.Distrusted(state.Results(ch.d.at.tasks()), ch.c.task.Kind) {
		return hindrance{code: pipeline.HeldKind}
	}
	signs, err := ch.d.repo.Active(ctx, "refs/heads/"+ch.d.landingBranch(), ch.candidate.Paths(), ch.d.Now().Add(-activeFor))
	if err != nil {
		return hindrance{pipeline.HeldActive, err.Error()}
	}
	if len(signs) > 0 {
		return hindrance{pipeline.HeldActive, strings.Join(signs, "; ")}
	}
	return hindrance{}
}

// addLanding adds to the draft of a result the landing of its change. It looks once more whether that
// can land; else it waits after all.
func (rec recorder) addLanding(ctx context.Context, p *draft, r *result, barred error) {
	w := &r.done[0]
	ch, proposed := w.change, r.ref.New
	h := ch.findHindrance(ctx)
	if barred != nil {
		h = hindrance{pipeline.HeldRefused, barred.Error()}
	}
	if h.code != "" {
		w.log = w.log.Wait(rec.log.id, ch.opLimits(), h.code, h.more)
		r.held = h
		return
	}
	p.lands, r.out.Landed = true, rec.landingBranch()
	if rec.target() == "" {
		p.onto = proposed
		return
	}
	p.refs = []repo.RefUpdate{{Name: "refs/heads/" + rec.landingBranch(), Old: r.c.base, New: proposed}}
}
