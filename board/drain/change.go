package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// change is the op of a claimed task whose session may change files, while it goes through the
// pipeline.
type change struct {
	asking
	log      pipeline.Log // of its op; only keepRecord writes it
	proposal *proposal    // once apply made it

	// What they made.
	candidate taken
	others    []pipeline.Candidate // that its session delivered as well, and that were not tried
	remade    *remade              // what is judged again, without a session; nil for a change that is made

	// What was found of it.
	ground   *risk.Ground
	risk     pipeline.Verdict
	report   pipeline.Report // of its checks
	checked  repo.OID        // the commit that they ran on
	repairer *pipeline.Repairer

	// Where it goes.
	mayLand bool      // it may land by itself
	held    hindrance // why it may not, though its tier lets it
}

// taken is a candidate as the op took it.
type taken struct {
	pipeline.Candidate
	files  []repo.FileEdit // its own and the atoms', as they are committed
	commit repo.OID        // of them on the base; no ref names it
	gate   lint.Verdict    // of the iron gate
}

// asking is how the sessions of a change are asked, one after the other.
type asking struct {
	attempt
	input    input       // of each session, but for what the sessions before it came to
	last     lastSession // the zero value before the first
	earlier  earlier
	sessions int
	works    int             // of them, those that make a candidate
	phase    pipeline.Phase  // of the last of them
	plan     string          // that is carried out
	read     []invoke.File   // that sessions asked for
	unread   string          // what they asked for and were not given
	wrong    string          // what the next session is told of the last one's work
	unusable string          // the same, for the task where the next one comes to nothing
	begin    []repo.FileEdit // the candidate that the next session begins with, to repair it
	made     pipeline.Made   // how they made it
	fault    error           // of the disk, in any of them or between
	why      string          // the op ended, in words of any length
}

// changesFiles reports a task that asks for files to be changed: a person gave it
// globs of which one means more than the bundle.
func (s *snapshot) changesFiles(t board.Task) bool {
	return slices.ContainsFunc(t.Paths, func(g string) bool { return !s.cfg.InBundle(g) })
}

// work is what became of the sessions so far.
func (q *asking) work() work {
	return work{attempt: q.attempt, lastSession: q.last, earlier: q.earlier}
}

// work is what became of the change so far.
func (ch *change) work() work {
	w := ch.asking.work()
	w.log, w.proposal, w.change = ch.log, ch.proposal, ch
	return w
}

// runChange takes a change through the pipeline, up to where it waits for a person or has
// its ending, and returns what became of it.
func runChange(ctx context.Context, ch *change) work {
	d, c := ch.d, ch.c
	l := ch.opLimits()
	id, op, err := c.op, pipeline.Op{}, error(nil)
	if id == "" { // judged again, under no claim
		id, err = newOpID(d.Now(), d.Random)
	}
	if err == nil {
		op, err = pipeline.Begin(id, string(c.task.ID), d.Run, d.Now(), l, map[string]string{pipeline.FactBase: string(c.base), pipeline.FactSignal: cmp.Or(c.task.Signal, cleanText(c.task.Atom.Generated.By), "the board")})
	}
	if err == nil {
		var done func()
		ctx, done = withStop(ctx, d.repo, id)
		defer done()
		d.say(fmt.Sprintf("%s: %s", c.task.ID, id))
		w := pipeline.World{Run: d.Run, Now: d.Now, Work: ch.doPhase, Keep: ch.keepRecord}
		pipeline.Run(ctx, w, l, op) // whose refs move with the task's result
	}
	if err != nil {
		ch.last = ch.last.asVoid(fmt.Sprintf("change: %v", err))
	} else {
		ch.last = ch.whenEnded(ctx)
	}
	ch.last.fault = cmp.Or(ch.last.fault, ch.fault)
	return ch.work()
}

// stopLook is how long a drain waits between two looks for who wants an op ended.
const stopLook = 200 * time.Millisecond

// withStop is ctx, ended as well when somebody asks this clone to end the op.
func withStop(ctx context.Context, r *repo.Repo, op string) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		look := time.NewTicker(stopLook)
		defer look.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				if why := r.StopAsked(op); why != "" {
					end(errors.New(why))
				}
			}
		}
	}()
	return ctx, func() { end(nil) }
}

// describeStop says why the work on t was broken off, and how it is tried again.
func describeStop(ctx context.Context, t board.Task) string {
	why := "interrupted"
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		why = cause.Error()
	}
	return fmt.Sprintf("%s; run odd task ready %s to try again", why, t.ID)
}

func newOpID(now time.Time, random func([]byte) error) (string, error) {
	var id ulid.ULID
	var entropy [10]byte
	err := errors.Join(random(entropy[:]), id.SetTime(ulid.Timestamp(now)), id.SetEntropy(entropy[:]))
	return "op-" + id.String(), err
}

// sessionGrace is what a phase has besides the time of its session, so that the
// session's own limit ends it.
const sessionGrace = 5 * time.Second

// opLimits are those of the attempt's op: it has as long as the claim, each session the time of
// its lane, and checks have what they may take besides.
func (a attempt) opLimits() pipeline.Limits {
	cfg := a.d.at.cfg.Pipeline
	return pipeline.Limits{
		Op:      max(a.c.until.Sub(a.d.Now()), time.Second),
		Session: risk.Limits(a.d.at.cfg, a.c.task).Timeout + sessionGrace,
		Checks:  readTime + 2*cfg.CheckTimeout*time.Duration(4+len(cfg.Validate)+len(cfg.Verify)+len(a.c.task.Commands)),
		Wait:    a.d.at.cfg.ReviewTTL,
	}
}

// doPhase does the work of the op's phase. The disk may break it off: then nothing is
// wrong with the task, and neither it nor the op comes to an ending for that.
func (ch *change) doPhase(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	work := map[pipeline.Phase]func(context.Context, pipeline.Op) (pipeline.Out, error){
		pipeline.Classify: ch.classify, pipeline.Route: ch.route, pipeline.Expand: ch.expand, pipeline.Plan: ch.askForPlan, pipeline.Generate: ch.generate,
		pipeline.Validate: ch.validate, pipeline.Repair: ch.repair, pipeline.Gate: ch.gate, pipeline.Approve: ch.approve, pipeline.Apply: ch.apply, pipeline.Verify: ch.verify,
	}[op.Phase]
	out, err := work(ctx, op)
	if repo.Faulty(err) {
		ch.fault = err
	}
	return out, err
}

// doingNow says for people what is done in a phase. As a session begins, that names its agent.
var doingNow = map[pipeline.Phase]string{
	pipeline.Expand:   "asking the agent which other files it needs",
	pipeline.Plan:     "asking the agent for a plan",
	pipeline.Validate: "running the checks on the change",
	pipeline.Repair:   "asking the agent to mend what failed",
	pipeline.Gate:     "judging the change by the rules, and its risk",
	pipeline.Approve:  "deciding whether a person must approve it first",
	pipeline.Apply:    "committing the change to its review branch",
	pipeline.Verify:   "comparing that commit with the files that were checked",
}

func (ch *change) keepRecord(o pipeline.Op) {
	ch.log = append(ch.log, o)
	if what := doingNow[o.Phase]; what != "" { // how it ended, the task's own line says
		ch.d.say(fmt.Sprintf("%s: %s", ch.c.task.ID, what))
	}
	_ = ch.d.repo.Show(o.Live()) // a run that cannot be shown goes on
}

// whenEnded is the last session with what the op came to.
func (ch *change) whenEnded(ctx context.Context) lastSession {
	switch o := ch.log.Op(); {
	case o.Phase == pipeline.Waiting, o.Phase == pipeline.Complete:
	case ctx.Err() != nil:
		return ch.last.asVoid(describeStop(ctx, ch.c.task))
	case ch.last.reason == "":
		why := cmp.Or(ch.why, o.Last().Note, pipeline.Explain(o.Reason))
		if !strings.HasSuffix(why, "]") { // else it ends with a code that says more
			why += fmt.Sprintf(" [%s]", o.Reason)
		}
		return ch.last.asVoid(why)
	}
	return ch.last
}

// endFor ends the op for a reason, in words that the task keeps whole.
func (q *asking) endFor(r pipeline.Reason, spent int64, format string, args ...any) (pipeline.Out, error) {
	q.why = fmt.Sprintf(format, args...)
	return pipeline.Out{Reason: r, Note: q.why, Spent: spent}, nil
}

// keepFiles adds to the run's tree what a person reads of the op: its dossier, and its
// candidate against its base.
func (ch *change) keepFiles(ctx context.Context) error {
	if ch == nil || len(ch.log) == 0 {
		return nil
	}
	findings := slices.Clone(ch.candidate.gate.Findings)
	for _, f := range ch.report.Findings { // what is to be said of the checks themselves
		if !slices.Contains(findings, f) {
			findings = append(findings, f)
		}
	}
	dossier := pipeline.Dossier{
		Op: ch.log.Op().ID, Rationale: ch.candidate.Rationale, Source: ch.candidate.Source, Tier: string(ch.risk.Tier), Because: ch.risk.Reasons(), Findings: findings,
		Checks: ch.report.Checked(pipeline.Validate),
	}
	files := map[string][]byte{"op.json": dossier.Encode()}
	if ch.candidate.commit != "" {
		patch, err := ch.d.repo.Patch(ctx, ch.c.base, ch.candidate.commit)
		if err != nil {
			return err
		}
		if len(patch) > 0 {
			files["op.patch"] = patch
		}
	}
	hide := agent.Lent(ch.d.at.cfg, ch.d.Environ)
	for name, b := range files {
		ch.d.tree[path.Join(ArtifactDir(ch.c.task), ch.log.Op().ID, name)] = secrets.Redact(hide.Hide(b))
	}
	return nil
}
