package drain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile"
)

// Refresh judges the emission of a task in review again, under today's base and
// rules, and puts the result on a review branch of its own: of a change of files
// what its op made, in another op that takes its place. No agent runs and nothing is
// spent. The task stays in review; an emission that today's rules
// refuse, or that has nothing new, is refused, and changes nothing.
func Refresh(ctx context.Context, r *repo.Repo, o Options) (out Outcome, err error) {
	err = underLock(ctx, r, o, func(d *drain) error {
		t, err := d.at.findTask(o.Task)
		if err != nil {
			return err
		}
		if t.State != board.Review {
			return refuse("state", "review --refresh %s: %s", t.ID, t.NoProposal())
		}
		if err := d.refresh(ctx, t); err != nil {
			return err
		}
		out = d.report.Tasks[0]
		return nil
	})
	return out, err
}

// refresh judges t's emission again and commits what becomes of it.
func (d *drain) refresh(ctx context.Context, t board.Task) error {
	c, w, err := d.judgeAgain(ctx, t)
	if err != nil {
		return err
	}
	if w.fault != nil {
		return fmt.Errorf("review --refresh %s: the result was not saved: %w", t.ID, w.fault)
	}
	if w.reason != "" {
		return refuse("emission", "review --refresh %s: %s; odd reject %[1]s --reason \"why\"", t.ID, w.reason)
	}
	if n := countEffects(w.items); w.change == nil && len(w.proposedChanges(d.at)) == 0 && n[reconcile.Conflict]+n[reconcile.Guarded] > 0 {
		return refuse("emission", "review --refresh %s: the proposal no longer fits the current files (conflicts: %d, atoms that only a person may change: %d); odd reject %[1]s --reason \"why\"", t.ID, n[reconcile.Conflict], n[reconcile.Guarded])
	}
	if w.change == nil && w.handed == nil && w.emission.Deliverable == nil && len(w.proposedChanges(d.at)) == 0 {
		return refuse("nothing", "review --refresh %s: nothing is new: the board has every atom of the proposal already; odd reject %[1]s --reason \"nothing new\" takes it out of review", t.ID)
	}
	return d.settle(ctx, c, w)
}

// judgeAgain reads the emission of t's last run and judges it on today's base.
func (d *drain) judgeAgain(ctx context.Context, t board.Task) (c *claim, w work, err error) {
	c = &claim{task: t, until: d.Now().Add(time.Hour), repo: d.repo}
	if c.base, err = d.base(); err != nil {
		return nil, w, err
	}
	kept, err := d.keptTree(t)
	if err != nil {
		return nil, w, err
	}
	m, err := d.readRemade(ctx, t, c.base, kept)
	if err != nil {
		return nil, w, err
	}
	said, under, err := d.lastEmission(t, kept)
	if err != nil {
		return nil, w, err
	}
	s := lastSession{emission: said}
	if said.Outcome != session.Completed {
		return c, work{lastSession: s.asBlocked("the stored output of the agent cannot be read: %s", joinDetail(said.Failure, said.Detail))}, nil
	}
	g, err := d.baseGraph(c.base)
	if err != nil {
		return nil, w, err
	}
	a := attempt{d: d, c: c, bound: d.contracts().boundBefore(t)}
	if a.declines, err = d.findDeclines(ctx, t, c.base); err != nil {
		return nil, w, err
	}
	c.startDraft = d.newDraft()
	c.startDraft.record(event.Record{Kind: event.Claim, Task: string(t.ID), Role: t.Role, Team: t.Team,
		Data: event.ClaimData{Attempt: t.Attempts, Base: string(c.base), Blob: t.Blob, RefreshOf: t.Result.Run}})
	mode := anchor.Untracked
	if d.at.bindsSessions() {
		mode = anchor.Express // no session is there to prove anything
	}
	under.Mutates = under.Mutates || under.Role == ""
	if a.anchor, err = d.beginHandshake(t, under, mode); err != nil {
		return nil, w, refuse("anchor", "review --refresh %s: %s", t.ID, oneLine(err.Error()))
	}
	defer func() { a.anchor.releasePermit(releaseReason(w.lastSession)) }()
	a.grant = a.compileGrant()
	s = a.mergeEmission(s, g)
	a.anchor.markRead()
	if s.reason == "" && m != nil {
		w, err = a.runChangeAgain(ctx, m, s)
		return c, w, err
	}
	return c, work{attempt: a, lastSession: s}, nil
}

// lastEmission returns what t's last run kept: its emission, bound to the contract it was made
// under. A run of before there were contracts has an empty one.
func (d *drain) lastEmission(t board.Task, kept fs.FS) (e session.Emission, under contract.Contract, err error) {
	emission, err := fs.ReadFile(kept, "emission.md")
	if err != nil {
		return e, under, fmt.Errorf("the stored output of %s: %w", t.Result.Run, err)
	}
	if b, err := fs.ReadFile(kept, "contract.json"); err == nil {
		if err := json.Unmarshal(b, &under); err != nil {
			return e, under, fmt.Errorf("the stored contract of %s: %w", t.Result.Run, err)
		}
		d.tree[path.Join(ArtifactDir(t), "contract.json")] = b // for who judges it after this
	}
	return invoke.Hold(under, d.at.cfg.Root, session.Read(emission)), under, nil
}

// boundBefore is what of the contract of t's session bears on judging it again: the
// proposal it was given, and what taints all it made. A run that was itself such a
// judgement goes back to the one it judged.
func (cs contracts) boundBefore(t board.Task) bound {
	was, _ := cs.resolveContract(t) // what it refuses today was asked before the session
	b := bound{built: was.built}
	for _, records := range recordsOf(cs.repo, cs.at).eachJudgement(t) {
		for _, r := range records {
			if c := r.Session().Contract; c != nil {
				b.Tainted = cmp.Or(b.Tainted, c.Tainted)
			}
		}
	}
	return b
}

// keptTree returns what the task's last run kept of it: the tree that its outcome on the
// board names, whatever its ref has become. The ref is what keeps git from
// pruning it.
func (bw *boardWriter) keptTree(t board.Task) (fs.FS, error) {
	ref := runRefs + t.Result.Run
	_, err := bw.repo.Ref(ref)
	if errors.Is(err, repo.ErrNoRef) && bw.line.Remote != "" {
		return nil, refuse("artifacts", "%s is not in this clone; run git fetch %s %s:%s", ref, bw.line.Remote, ref, ref)
	}
	if errors.Is(err, repo.ErrNoRef) {
		return nil, refuse("artifacts", "%s, which has the agent's output, is gone; odd reject %s --retry --reason \"why\" has it made anew", ref, t.ID)
	}
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(recordsOf(bw.repo, bw.at).runRecords(t.Result.Run)) {
		if r.Kind != event.Outcome || r.Task != string(t.ID) {
			continue
		}
		tree, err := bw.repo.Tree(repo.OID(r.Outcome().Artifacts))
		if err != nil {
			return nil, fmt.Errorf("%s: the files stored for %s differ from what its ledger names: %w", ref, t.Result.Run, err)
		}
		return fs.Sub(tree, ArtifactDir(t))
	}
	return nil, refuse("artifacts", "the ledger of %s names no stored output of %s; odd reject %[2]s --retry --reason \"why\" has it made anew", t.Result.Run, t.ID)
}
