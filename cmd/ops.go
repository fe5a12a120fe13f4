package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// findWaiting returns the op that waits with what t proposes. Most tasks have none: an op is
// a change to files that are no atoms.
func (v *view) findWaiting(t board.Task) (pipeline.Story, bool, error) {
	if t.Result.Commit == "" {
		return pipeline.Story{}, false, nil
	}
	return v.state.Waiting(string(t.ID), t.Result.Commit)
}

// findDecidable returns the op that a person's word about p is the ending of, nil for none. It is refused
// where its records do not hold, where the proposal is not what was judged, and
// once its time is over.
func (v *view) findDecidable(ctx context.Context, t board.Task, p review.Proposal, at landingSite) (*pipeline.Op, error) {
	c, err := v.repo.Commit(repo.OID(p.Commit))
	if err != nil {
		return nil, err
	}
	s, ok, err := v.findWaiting(t)
	if err != nil {
		return nil, err
	}
	named, tier := strings.Join(c.Trailer("Odd-Op"), ", "), strings.Join(c.Trailer("Odd-Tier"), ", ")
	switch {
	case !ok && named == "":
		return nil, nil
	case !ok && at.landed != nil:
		if all := at.landed.Unbound(p.Commit, p.Branch, p.Base, named, tier); len(all) > 0 {
			return nil, refuse("unbound", "%s: the proposal is not the one that %s merged: %s; odd reject %[1]s --reason \"why\"", t.ID, at.landed.ID, strings.Join(all, "; "))
		}
		return nil, nil
	case !ok:
		return nil, refuse("state", "%s: its change %s no longer waits for approval; odd op show %[2]s says how it ended", t.ID, named)
	case !s.Sound:
		return nil, refuse("records", "%s: the ledger entries of its change %s are inconsistent; run odd check to see why", t.ID, s.Op().ID)
	}
	o := s.Op()
	if all := o.Unbound(p.Commit, p.Branch, p.Base, named, tier); len(all) > 0 {
		return nil, refuse("unbound", "%s: the proposal is not the one that was checked as %s: %s; odd reject %s --reason \"why\"", t.ID, o.ID, strings.Join(all, "; "), t.ID)
	}
	if until := o.Until; !v.env.Now().Before(until) {
		return nil, refuse("expired", "%s: the time to approve it ended at %s; odd drain moves the task back to backlog, then odd task ready %[1]s tries again", t.ID, until.Format("2006-01-02 15:04Z"))
	}
	return &o, v.checkJudged(ctx, t, p, o, at)
}

// checkJudged refuses a proposal that is not the tree that was judged, was judged by
// other rules than hold now, or does not pass them any more on what is there now.
func (v *view) checkJudged(ctx context.Context, t board.Task, p review.Proposal, o pipeline.Op, at landingSite) error {
	tree, err := v.repo.TreeOID(repo.OID(p.Commit), "")
	if err != nil {
		return err
	}
	if is := o.Fact(pipeline.FactCandidate); is != string(tree) {
		return refuse("unbound", "%s: its files (tree %s) are not those that were checked (tree %s); odd reject %s --reason \"why\"", t.ID, shortID(tree), shortID(repo.OID(is)), t.ID)
	}
	if rules := risk.Rules(v.repo, repo.OID(p.Base), t, v.cfg); rules != o.Fact(pipeline.FactRules) {
		return refuse("rules", "%s: the rules changed since it was checked (the task's paths, odd.toml or odd itself; hash %s, now %s); %s",
			t.ID, shortID(repo.OID(o.Fact(pipeline.FactRules))), shortID(repo.OID(rules)), v.wayOut(p))
	}
	l := v.newLanding(t, p, at)
	l.Made = o.Made()
	why, err := drain.Rejudge(ctx, v.repo, l, o.Fact(pipeline.FactTier))
	if err == nil && len(why) > 0 {
		return refuse("moved", "%s: the files changed since it was checked, and now it would be refused: %s; %s", t.ID, strings.Join(why, "; "), v.makeAgain(p))
	}
	return err
}

// newLanding returns what drain needs to judge p where it would land.
func (v *view) newLanding(t board.Task, p review.Proposal, at landingSite) drain.Landing {
	return drain.Landing{
		Task: t, Cfg: v.cfg, Bundle: v.graph, Base: repo.OID(p.Base), Tip: at.tip, Board: v.tip, Proposal: repo.OID(p.Commit), Now: v.env.Now(),
	}
}

// checkApproval returns what the checks say of the tree that the approval of p would make.
// A tree that does not pass them is refused, whoever wants it.
func (v *view) checkApproval(ctx context.Context, t board.Task, p review.Proposal, o *pipeline.Op, at landingSite) (drain.Checked, error) {
	if o == nil {
		return drain.Checked{}, nil
	}
	act := "approve " + string(t.ID)
	if err := v.mayDecide(ctx, act); err != nil {
		return drain.Checked{}, err // before minutes are spent
	}
	pr := newProgress(v.env)
	defer pr.clearLine()
	c, err := drain.Check(ctx, v.repo, v.newLanding(t, p, at), drain.Bench{Temp: v.env.Temp, Cage: v.env.Cage, Environ: v.env.Environ, Run: o.ID, Now: v.env.Now, Say: pr.setLine})
	if err == nil && c.Why != "" {
		return c, refuse(string(pipeline.VerifyFailed), "%s: the checks fail on the merged files: %s; %s", act, c.Why, v.makeAgain(p))
	}
	return c, err
}

// wayOut returns what a person does with a proposal that cannot land as it was judged.
func (v *view) wayOut(p review.Proposal) string {
	if !v.isChange(p) {
		return fmt.Sprintf("odd review --refresh %s checks it again on the current files, odd reject %[1]s --reason \"why\" turns it down", p.Task)
	}
	return fmt.Sprintf("odd review --refresh %s merges it with the current files and checks it again, odd reject %[1]s --retry --reason \"why\" has it made anew", p.Task)
}

// makeAgain returns what a person does with a proposal that would not pass again either.
func (v *view) makeAgain(p review.Proposal) string {
	if !v.isChange(p) {
		return v.wayOut(p)
	}
	return fmt.Sprintf("odd reject %s --retry --reason \"why\" has it made anew on the current files", p.Task)
}

func (v *view) isChange(p review.Proposal) bool {
	c, err := v.repo.Commit(repo.OID(p.Commit))
	return err == nil && len(c.Trailer("Odd-Op")) > 0
}

// concludeOp adds the ending of an op on a person's word to the commit of the act:
// a file of the op's own, so that no run's is written by another.
func (v *view) concludeOp(ch repo.Changes, o *pipeline.Op, r pipeline.Reason, note string) error {
	if o == nil {
		return nil
	}
	now := v.env.Now()
	end, err := pipeline.End(*o, o.ID, now, r, note)
	if err != nil {
		return err
	}
	rec := end.Record()
	rec.Seq = 1
	b, err := event.Append(nil, rec)
	if err != nil {
		return err
	}
	ch[v.repoPath(event.Path(o.ID, now))] = b
	return nil
}

// endWaiting concludes the op that waits with t's proposal, however its records stand, and
// returns its id, "" for none: a person's no needs no more than that it can be told.
func (v *view) endWaiting(ch repo.Changes, t board.Task, r pipeline.Reason, note string) (id string, err error) {
	s, ok, err := v.findWaiting(t)
	if err != nil || !ok {
		return "", err
	}
	o := s.Op()
	return o.ID, v.concludeOp(ch, &o, r, note)
}

// findOp returns the story of an op by its id or the end of it, or by its task, whose last one is meant.
func (v *view) findOp(name string) (pipeline.Story, error) {
	all, err := v.state.Ops()
	if err != nil {
		return pipeline.Story{}, err
	}
	ids, last := make([]string, len(all)), ""
	for i, o := range all {
		ids[i] = o.ID
		if o.Task == name {
			last = o.ID
		}
	}
	name = or(last, name)
	id, err := pipeline.Match(ids, name)
	if err == nil {
		stories, err := v.state.Stories(func(o *state.Op) bool { return o.ID == id })
		return stories[0], err
	}
	if b, live := v.findBeat(name); live {
		return pipeline.Story{}, refuse("at-work", "%s: %s", b.Op, v.atWork(b.Run, b.Task))
	}
	return pipeline.Story{}, err
}

func (v *view) findBeat(name string) (pipeline.Beat, bool) {
	live, err := v.liveBeats()
	if err != nil {
		return pipeline.Beat{}, false
	}
	var ids []string
	for _, b := range live {
		ids = append(ids, b.Op)
	}
	id, err := pipeline.Match(ids, name)
	i := slices.IndexFunc(live, func(b pipeline.Beat) bool { return err == nil && b.Op == id })
	if i < 0 {
		return pipeline.Beat{}, false
	}
	return live[i], true
}

// isDraining reports that a drain holds the lock of this clone.
func (v *view) isDraining() bool {
	unlock, err := v.repo.LockDrain()
	if err == nil {
		_ = unlock()
	}
	return err != nil
}

// atWork says who works on a change of task, and what a person can do: a run that was
// killed in another clone holds its task until the claim ends.
func (v *view) atWork(run, task string) string {
	if v.isDraining() {
		return fmt.Sprintf("%s is working on it; wait for it (odd op watch), or end it: odd op cancel OP --reason \"why\"", run)
	}
	until := "the next odd drain frees the task " + task
	if a, err := v.graph.Find(task); err == nil {
		if t, err := board.ReadTask(v.graph, a); err == nil && t.ClaimedBy == run && !t.LeaseExpires.IsZero() {
			until = fmt.Sprintf("run odd drain after %s, which frees the task %s", t.LeaseExpires.Format(time.RFC3339), task)
		}
	}
	return fmt.Sprintf("no odd drain runs in this clone, so %s was killed or runs elsewhere; %s", run, until)
}

// freeKilled takes back what a killed drain of this clone held, and tells the tasks that
// are free now. What keeps it from that is told, and the tasks are held until their claims end.
func (w *workspace) freeKilled(ctx context.Context) []okf.ID {
	if w.repo.Draining() {
		return nil
	}
	o, err := w.drainOptions()
	if err != nil {
		return nil
	}
	o.Progress = func(s string) { talk(w.env, "%s", s) }
	freed, err := drain.Free(ctx, w.repo, o)
	if err != nil {
		talk(w.env, "%v", err)
	}
	return freed
}

// liveBeats returns what a drain of this clone is at work on and no ledger tells yet.
func (v *view) liveBeats() ([]pipeline.Beat, error) {
	if !v.repo.Draining() {
		return nil, nil
	}
	all, err := v.state.Ops()
	return slices.DeleteFunc(pipeline.Beats(v.repo.Live()), func(b pipeline.Beat) bool {
		return !b.Alive(v.env.Now()) || slices.ContainsFunc(all, func(o *state.Op) bool { return o.ID == b.Op })
	}), err
}

// findAttempt returns the folder of an op's attempt among the files of its run; ok is false where they
// are not here any more: artifacts of runs may be pruned.
func (v *view) findAttempt(o pipeline.Op) (tree fs.FS, dir string, ok bool) {
	oid, err := v.repo.Ref("refs/odd/run/" + o.Run)
	if err != nil {
		return nil, "", false
	}
	if tree, err = v.repo.Tree(oid); err != nil {
		return nil, "", false
	}
	own, err := fs.Glob(tree, "*/"+o.ID)
	if err != nil || len(own) != 1 {
		return nil, "", false
	}
	return tree, path.Dir(own[0]), true
}

// keptFile returns a file that the run of an op keeps of it.
func (v *view) keptFile(o pipeline.Op, name string) (b []byte, ok bool) {
	tree, dir, ok := v.findAttempt(o)
	if !ok {
		return nil, false
	}
	b, err := fs.ReadFile(tree, path.Join(dir, o.ID, name))
	return b, err == nil
}

// readFailure returns the last check of an op that failed, and the last lines that it printed;
// nothing where none did, or where the run's artifacts are not here.
func (v *view) readFailure(run, op string) (check string, tail []string) {
	b, ok := v.keptFile(pipeline.Op{ID: op, Run: run}, "op.json")
	if d, err := pipeline.ReadDossier(b); ok && err == nil {
		c, tail, _ := d.Failing()
		return c.Says, tail
	}
	return "", nil
}

func (v *view) countOps(s *boardStatus) error {
	open, _, err := v.state.OpenOps()
	if err != nil {
		return err
	}
	for _, o := range open {
		if o.Phase == pipeline.Waiting {
			s.Waiting++
		}
	}
	live, err := v.liveBeats()
	s.AtWork = len(live)
	return err
}

// landedBy returns the op that landed by itself what t proposes, nil where none did: its
// records hold, and the branch that changes land on has the proposal.
func (v *view) landedBy(ctx context.Context, t board.Task) (*pipeline.Op, error) {
	if t.Result.Commit == "" {
		return nil, nil
	}
	c, err := v.repo.Commit(repo.OID(t.Result.Commit))
	if err != nil || len(c.Trailer("Odd-Op")) == 0 {
		return nil, nil // whoever asks has its own word for a proposal that is not here
	}
	all, err := v.state.Stories(func(o *state.Op) bool {
		return o.Task == string(t.ID) && o.Reason == pipeline.Landed && o.Proposal == t.Result.Commit
	})
	if err != nil || len(all) == 0 || !all[0].Sound {
		return nil, err
	}
	_, tip, err := v.landsOn()
	if err != nil {
		return nil, err
	}
	if in, err := v.repo.Ancestor(ctx, c.OID, tip); err != nil || !in {
		return nil, err
	}
	o := all[0].Op()
	return &o, nil
}

// landedOn says where an op's change is, and how it goes again.
func landedOn(o pipeline.Op) string {
	at := o.Moved[1]
	return fmt.Sprintf("%.10s on %s; git revert %.10s undoes it", at.New, strings.TrimPrefix(at.Ref, "refs/heads/"), at.New)
}

// confirmPreview shows the person at the terminal a change that would land by itself; by
// is who typed that it may. Nobody fit to be asked is an error, and so is a time
// that ran out; any other answer is a no.
func (w *workspace) confirmPreview(ctx context.Context, p drain.Preview) (by string, err error) {
	act := fmt.Sprintf("merge the change of %s into %s without approval", p.Task, p.Target)
	person, err := w.checkDecider(ctx, act, w.personPlace())
	if err != nil {
		return "", err
	}
	tty, err := w.env.TTY()
	if err != nil {
		return "", errors.New("there is no terminal to show it on")
	}
	defer tty.Close()
	about := fmt.Sprintf("\n%s\n%s\n\n%s\nType land to merge it now. Anything else, or Enter, leaves it for odd review.\n", p.Op, strings.Join(p.Because, "\n"), p.Diff)
	if _, err := io.WriteString(tty, okf.Visible(about)); err != nil {
		return "", err
	}
	h, err := awaitAnswer(ctx, tty, func() (review.Human, error) { return review.Confirm(tty, act, "land", person, w.personPlace()) })
	switch {
	case err == nil:
		return h.By(), nil
	case ctx.Err() != nil:
		return "", errors.New("nobody answered in time")
	}
	return "", nil
}
