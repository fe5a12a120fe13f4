package drain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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
	switch h, why := ch.whyHindered(ctx); {
	case h != "":
		ch.holdBack(h, why)
	case len(ch.files) > len(ch.candidate.Files):
		ch.holdBack(pipeline.HeldAtoms, "")
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
		ch.holdBack(pipeline.HeldUnseen, "")
		return "", nil
	}
	patch, err := ch.d.repo.Patch(ctx, ch.c.base, ch.draft)
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
		ch.holdBack(pipeline.HeldUnseen, err.Error())
		return "", nil
	case by == "":
		ch.holdBack(pipeline.HeldDeclined, "")
	}
	return by, nil
}

// holdBack makes a change wait that might have landed by itself.
func (ch *change) holdBack(h pipeline.Held, why string) {
	ch.mayLand, ch.held, ch.heldFor = false, h, why
	ch.d.say(describeHeld(ch.c.task.ID, h, why))
}

func describeHeld(task okf.ID, h pipeline.Held, why string) string {
	return fmt.Sprintf("%s: waits for your review instead of being merged: %s [%s]", task, cmp.Or(why, pipeline.ExplainHeld(h)), h)
}

// landingBranch returns the branch that changes land on.
func (bw *boardWriter) landingBranch() string { return cmp.Or(bw.target(), bw.line.Name()) }

// verify checks the commit that would land: it holds exactly the files that were
// checked. Then the change lands, or waits.
func (ch *change) verify(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	commit := ch.sealed.effect.New
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
	case ch.held != "":
		out.Set = map[string]string{pipeline.FactHeld: string(ch.held)}
		out.Note = strings.TrimSuffix(ch.heldFor+"; "+out.Note, "; ")
	}
	return out, nil
}

// whyHindered says what keeps a change from landing by itself now: the target is not
// where it was verified on, or a person is at work there. Where that cannot be
// told, it does not land.
func (ch *change) whyHindered(ctx context.Context) (h pipeline.Held, why string) {
	if err := ch.d.at.refuseWhilePaused(); err != nil {
		return pipeline.HeldRefused, err.Error()
	}
	tip, err := ch.d.landingTip(ctx)
	switch {
	case err != nil:
		return pipeline.HeldMoved, err.Error()
	case tip != ch.c.base:
		return pipeline.HeldMoved, fmt.Sprintf("%s got new commits: it was at %.10s and is at %.10s", ch.d.landingBranch(), ch.c.base, tip)
	}
	if gate.Distrusted(state.Results(ch.d.at.tasks()), ch.c.task.Kind) {
		return pipeline.HeldKind, ""
	}
	signs, err := ch.d.repo.Active(ctx, "refs/heads/"+ch.d.landingBranch(), ch.candidate.Paths(), ch.d.Now().Add(-activeFor))
	if err != nil {
		return pipeline.HeldActive, err.Error()
	}
	if len(signs) > 0 {
		return pipeline.HeldActive, strings.Join(signs, "; ")
	}
	return "", ""
}

// isLanding reports a change whose op says that it lands with the result.
func (l opLog) isLanding() bool {
	return l.sealed != nil && l.op.Reason == pipeline.Landed
}

// asWaiting is l where its op was to land and waits after all: none of it is recorded yet.
func (l opLog) asWaiting(run string, limits pipeline.Limits, h pipeline.Held, why string) opLog {
	at := slices.IndexFunc(l.ops, func(o pipeline.Op) bool { return o.Phase == pipeline.Verify })
	wait, err := pipeline.Wait(l.ops[at], run, l.ops[at].At, limits, h, why)
	if err != nil {
		panic("unreachable: " + err.Error()) // an op in verify can wait at the moment it came there
	}
	return opLog{op: wait, ops: append(l.ops[:at+1:at+1], wait), sealed: l.sealed}
}

// addLanding adds to the draft of a result the landing of its change. It looks once more whether that
// can land; else it waits after all.
func (rec recorder) addLanding(ctx context.Context, p *draft, r *result, barred error) {
	ch, proposed := r.w.change, r.w.sealed.effect.New
	h, why := ch.whyHindered(ctx)
	if barred != nil {
		h, why = pipeline.HeldRefused, barred.Error()
	}
	if h != "" {
		r.w.opLog = r.w.asWaiting(rec.log.id, ch.limits(), h, why)
		p.held = describeHeld(r.c.task.ID, h, why)
		return
	}
	p.lands, r.out.Landed = true, rec.landingBranch()
	if rec.target() == "" {
		p.onto = proposed
		return
	}
	p.refs = []repo.RefUpdate{{Name: "refs/heads/" + rec.landingBranch(), Old: r.c.base, New: proposed}}
}
