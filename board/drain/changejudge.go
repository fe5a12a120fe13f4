package drain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/handoff"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
)

// judgeCandidate returns what the iron gate says of a candidate. Where that cannot be asked,
// nothing passes.
func judgeCandidate(g *risk.Ground, c pipeline.Candidate) lint.Verdict {
	v, err := g.Gate(c.Files)
	if err != nil {
		f := policy.Finding{Code: "guard_fault", Severity: policy.Hard, How: policy.ByBytes, Text: err.Error(), Fix: "mend what could not be read"}
		return lint.Verdict{Findings: []policy.Finding{f}, Hard: 1}
	}
	return v
}

// outOfScope is what the handoffs of the session refuse of the candidate.
func (b bound) outOfScope(c pipeline.Candidate) []policy.Finding {
	return handoff.OutOfScope(b.Role, b.handoffs, c.Paths())
}

// classify looks at what the task's paths allow before anything is spent: where no
// change in them is one that a machine may make, none is tried.
func (ch *change) classify(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	d := ch.d
	past, err := d.at.state.Trials(d.Now(), d.at.cfg.ReviewTTL)
	if err != nil {
		return pipeline.Out{}, err
	}
	if ch.ground, err = risk.Survey(ctx, d.repo, risk.Site{Base: ch.c.base, Board: d.at.tip, Law: d.at.cfg, Task: ch.c.task, Past: past}); err != nil {
		return pipeline.Out{}, err
	}
	v, _ := ch.ground.Foresee(op.Entered, d.at.cfg.Session.Substrate)
	if v.Tier == pipeline.NeverByMachine {
		return ch.endBlocked(v)
	}
	return pipeline.Out{Next: pipeline.Route, Note: "so far, " + risk.Describe(v)}, nil
}

func (ch *change) endBlocked(v pipeline.Verdict) (pipeline.Out, error) {
	out, err := ch.endFor(pipeline.TierBlocked, 0, "%s", risk.Describe(v))
	out.Set = map[string]string{pipeline.FactTier: string(v.Tier)}
	return out, err
}

// route tells the lane of the change, whose time and money its sessions have.
func (ch *change) route(context.Context, pipeline.Op) (pipeline.Out, error) {
	lane, why, complexity := risk.Lane(ch.d.at.cfg.Root, ch.c.task)
	ch.input.req.Complexity = string(complexity)
	next := pipeline.Generate
	switch {
	case ch.remade != nil: // what it is made from was read and planned before
	case complexity != pipeline.Trivial && complexity != pipeline.Simple && ch.d.at.cfg.Pipeline.Expand == "auto" && canBeAsked(ch.d.at.cfg):
		next = pipeline.Expand
	case shouldPlan(ch.d.at.cfg, ch.c.task):
		next = pipeline.Plan
	}
	return pipeline.Out{Next: next, Set: map[string]string{"lane": string(lane), "complexity": string(complexity)}, Note: why}, nil
}

func (ch *change) gate(_ context.Context, op pipeline.Op) (pipeline.Out, error) {
	if ch.remade == nil { // else what was handed over with the change was handed over
		ch.last = ch.encodeHandoff(ch.work())
		if ch.made.Seen {
			ch.made.Unread = describeShortfall(ch.last.emission.Exploration, ch.c.task, pipeline.Complexity(ch.input.req.Complexity), ch.candidate.Paths())
		}
	}
	if ch.last.reason != "" {
		return ch.endFor(pipeline.RuleRefused, 0, "%s", ch.last.reason)
	}
	j, err := ch.ground.Judge(ch.candidate.Files, op.Entered, cmp.Or(ch.last.leg.name, ch.d.at.cfg.Session.Substrate), ch.made)
	if err != nil {
		return pipeline.Out{}, err
	}
	ch.candidate.gate, ch.risk = j.Gate, j.Risk
	if j.Risk.Tier == pipeline.NeverByMachine {
		return ch.endBlocked(j.Risk)
	}
	set := map[string]string{
		pipeline.FactRules: j.Rules, pipeline.FactTier: string(j.Risk.Tier), "findings": fmt.Sprintf("%d hard, %d soft", j.Gate.Hard, j.Gate.Soft), "because": j.Risk.Code,
		"validation": fmt.Sprintf("%d of %d checks passed", len(ch.report.Want), len(ch.report.Want)),
	}
	maps.Copy(set, ch.made.Facts())
	if ch.candidate.Mended != "" {
		set[pipeline.FactMended] = ch.candidate.Mended
	}
	return pipeline.Out{Next: pipeline.Approve, Set: set, Note: risk.Describe(j.Risk)}, nil
}

// mostUnread bounds what an op says of what its session did not look at, in bytes.
const mostUnread = 200

// describeShortfall is what the session that made the candidate should have looked at besides:
// for the change it made, which may be a larger one than its task promised, and
// never for less than that. What odd did not see it cannot say anything of; the
// ladder has a rule of its own for that.
func describeShortfall(e *session.Exploration, task board.Task, expected pipeline.Complexity, files []string) string {
	var x session.Exploration
	if e != nil {
		x = *e
	}
	made := pipeline.ComplexityOf(task.Title, files)
	why, _, _ := strings.Cut(x.Shortfall(string(made.Of(expected))), ". ")
	return why[:min(len(why), mostUnread)]
}

// apply commits the proposal: the candidate and the session's atoms, in one commit
// on the base, with the trace of all that the ledger tells of it so far. Nothing
// is released or told before it stands that nothing moved under it.
func (ch *change) apply(ctx context.Context, _ pipeline.Op) (pipeline.Out, error) {
	d, c := ch.d, ch.c
	tip, err := d.landingTip(ctx)
	if err != nil {
		return pipeline.Out{}, err
	}
	if moved, err := ch.findMoved(ctx, tip); err != nil {
		return pipeline.Out{}, err
	} else if len(moved) > 0 {
		return ch.endFor(pipeline.StaleBase, 0, "stale: %s changed on %s while the agent worked; run odd task ready %s to have it made anew", strings.Join(moved, ", "), d.landingBranch(), c.task.ID)
	}
	if why := ch.last.findEmergency(); why != "" {
		return ch.endFor(pipeline.Abandoned, 0, "emergency: %s", why)
	}
	if why := cmp.Or(d.authority().whyRevoked(c), ch.anchor.whyLapsed(d.at)); why != "" {
		return ch.endFor(pipeline.Abandoned, 0, "%s", why)
	}
	if ch.fault != nil {
		return pipeline.Out{}, ch.fault
	}
	ch.anchor.releasePermit(releaseReason(ch.last))
	p, err := d.recorder().propose(ctx, c, ch.work())
	if err != nil {
		return pipeline.Out{}, err
	}
	ch.proposal = &p
	return pipeline.Out{Next: pipeline.Verify, Moved: pipeline.Effect{Ref: p.ref.Name, New: string(p.ref.New)}}, nil
}

// findMoved lists the files the change writes that are others now, where it would
// land, than those it was made from.
func (ch *change) findMoved(ctx context.Context, tip repo.OID) (moved []string, err error) {
	since, err := ch.d.repo.Diff(ctx, ch.c.base, tip)
	for _, c := range since {
		if slices.ContainsFunc(ch.candidate.files, func(f repo.FileEdit) bool { return f.Path == c.Path }) {
			moved = append(moved, c.Path)
		}
	}
	return moved, err
}

func (bw *boardWriter) landingTip(ctx context.Context) (repo.OID, error) {
	tip, err := bw.line.Latest(ctx)
	if err != nil || bw.target() == "" {
		return tip, err
	}
	return bw.repo.Ref(bw.line.Local(bw.target()))
}
