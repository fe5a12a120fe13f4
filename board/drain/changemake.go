package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/bench"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// generate runs a session and takes its candidate. What cannot be used, or rules refuse for
// something that the change does not need, is sent back once with everything that is wrong with it.
func (ch *change) generate(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	if ch.remade != nil {
		return ch.retakeCandidate(ctx)
	}
	c, out, err := ch.makeCandidate(ctx, op.Phase)
	mayAsk := ch.mayAskAgain(op)
	var no pipeline.Unusable
	switch {
	case isLate(ctx), out.Reason != "":
		return out, err
	case errors.As(err, &no) && mayAsk:
		return ch.askAgain("Your answer cannot be used. Deliver all of it again:\n", err.Error(), out.Spent), nil
	case errors.As(err, &no):
		return ch.endFor(pipeline.CandidateUnusable, out.Spent, "%s", strings.TrimSuffix(oneLine(err.Error())+"; "+ch.whyExhausted(), "; "))
	case err != nil:
		return out, err
	case c.Noop():
		return pipeline.Out{Reason: pipeline.Noop, Spent: out.Spent, Note: c.Reason}, nil
	}
	if no := pipeline.Mendable(append(ch.candidate.gate.Findings, ch.bound.outOfScope(ch.candidate.Candidate)...)); len(no) > 0 && mayAsk {
		var codes []string
		for _, f := range no {
			codes = append(codes, f.Code)
		}
		slices.Sort(codes)
		ch.made.Refused = strings.Join(slices.Compact(codes), ", ")
		return ch.askAgain("Your change is refused. Deliver all of it again, without this:\n", strings.Join(pipeline.Refusals(no), "\n"), out.Spent), nil
	}
	out.Next, out.Note = pipeline.Validate, ch.last.left.describeProducts()
	return out, nil
}

// askAgain has the next session told what is wrong with the work of the last.
func (q *asking) askAgain(intro, wrong string, spent int64) pipeline.Out {
	q.wrong, q.unusable = intro+wrong, wrong
	return pipeline.Out{Next: pipeline.Generate, Spent: spent, Note: oneLine(wrong)}
}

// makeCandidate runs a session and takes its candidate, with the op's facts of it and what it
// cost. Where the session made none, it says how the op ends.
func (ch *change) makeCandidate(ctx context.Context, phase pipeline.Phase) (c pipeline.Candidate, out pipeline.Out, err error) {
	spent, ok := ch.askSession(ctx, phase)
	out.Spent = spent
	switch {
	case isLate(ctx):
		return c, out, ctx.Err()
	case !ok:
		out, err = ch.endUnmade(spent)
		return c, out, err
	}
	list, err := ch.readCandidates()
	switch {
	case err != nil:
		return c, out, err
	case list[0].Noop():
		return list[0], out, nil
	}
	ch.others = slices.DeleteFunc(slices.Clone(list), func(c pipeline.Candidate) bool { return judgeCandidate(ch.ground, c).Refused() })
	if len(ch.others) == 0 {
		ch.others = list[:1]
	}
	out.Set, err = ch.takeNext(ctx)
	return ch.candidate.Candidate, out, err
}

// mayAskAgain reports that the op's phase may be tried again, with another session.
func (q *asking) mayAskAgain(op pipeline.Op) bool {
	return op.Tries <= op.Phase.Retries() && q.whyExhausted() == ""
}

// whyExhausted says why there may be no further session, "" while there may.
func (q *asking) whyExhausted() string {
	switch most, w := q.input.req, q.work(); {
	case most.MaxTurns > 0 && w.countTurns() >= most.MaxTurns:
		return fmt.Sprintf("no turn is left for another try; raise it with odd task edit %s --max-turns N", q.c.task.ID)
	case most.MaxCost > 0 && int64(w.cost()) >= most.MaxCost:
		return fmt.Sprintf("no money is left for another try; raise it with odd task edit %s --budget-usd USD", q.c.task.ID)
	}
	return ""
}

// askSession runs the next session of the op, on what the earlier ones have left of
// the task's turns and money, and judges the atoms it emits. Not ok means that the
// work is blocked and says why.
func (q *asking) askSession(ctx context.Context, phase pipeline.Phase) (spent int64, ok bool) {
	if q.sessions > 0 {
		w := q.work()
		q.d.keepSession(path.Join(ArtifactDir(q.c.task), fmt.Sprintf("%s.%d", q.phase, q.sessions)), w, agent.Lent(q.d.at.cfg, q.d.Environ))
		q.earlier = earlier{w.countTurns(), w.cost(), q.d.recorder().sessionRecords(q.c, w)}
	}
	asked := q.last.emission.Proposals
	q.input.req.Explored = append(q.input.req.Explored, q.last.emission.Calls...)
	q.sessions, q.phase = q.sessions+1, phase
	in := q.nextInput(phase)
	if in.req.Step == "" {
		q.works++
	}
	s := q.runSubstrate(ctx, in)
	if isLate(ctx) {
		s.reason = "" // the op's ending says why
	}
	s.emission.Proposals = append(asked, s.emission.Proposals...)
	if in.req.Step == "" {
		s = q.judgeEmission(s, in.req.Graph)
	}
	q.last, q.made.Seen, q.fault = s, q.made.Seen && s.emission.Seen, cmp.Or(q.fault, s.fault)
	return int64(s.spent), s.reason == ""
}

// nextInput is what the next session of the op begins with.
func (q *asking) nextInput(phase pipeline.Phase) input {
	in := q.input
	in.brief, in.before, in.begin = q.nextBrief(phase), q.earlier, q.begin
	in.req.Step = map[pipeline.Phase]string{pipeline.Plan: session.StepPlan, pipeline.Expand: session.StepExpand}[phase]
	if in.req.Step == "" {
		in.req.Try = q.works
	}
	if in.req.MaxTurns > 0 {
		in.req.MaxTurns -= in.before.turns
	}
	if in.req.MaxCost > 0 {
		in.req.MaxCost -= int64(in.before.paid)
	}
	return in
}

// isLate reports a phase whose time is over; its op ends for that.
func isLate(ctx context.Context) bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) }

func (q *asking) endUnmade(spent int64) (pipeline.Out, error) {
	if q.sessions > 1 && q.last.died == "" {
		q.last = q.last.asVoid(fmt.Sprintf("%s; the next try: %s", strings.TrimRight(strings.ReplaceAll(strings.TrimSpace(q.unusable), "\n", "; "), "; "), q.last.reason))
	}
	s := q.last
	ends := cmp.Or(s.cut, pipeline.StepFailed)
	switch {
	case s.died != "" && !s.tampered:
		ends = pipeline.Abandoned
	case s.tampered, strings.Contains(s.reason, "emission refused: "):
		ends = pipeline.RuleRefused
	}
	return q.endFor(ends, spent, "%s", strings.TrimPrefix(s.reason, string(s.cut)+": "))
}

// readCandidates returns the candidates that the session said, or the one that it made by editing
// its tree, with what can safely be mended in their names.
func (ch *change) readCandidates() (list []pipeline.Candidate, err error) {
	left, said := ch.last.left, ch.last.emission.Change
	if left.fault != "" {
		return nil, fmt.Errorf("the agent's files could not be read: %s", left.fault)
	}
	var no pipeline.Unusable
	for _, u := range left.refused {
		no = append(no, pipeline.Fault{Code: u.Code, At: u.Path, Text: u.Text, Fix: "remove it from your tree"})
	}
	if len(no) > 0 {
		return nil, no
	}
	given := pipeline.Given{At: ch.readBase}
	for _, f := range left.edits.Files {
		given.Wrote = append(given.Wrote, f.Path)
	}
	switch {
	case said != nil:
		list, err = pipeline.ParseCandidate(said.Text, given)
	case len(given.Wrote) > 0:
		list, err = ch.collectEdits()
	case len(ch.last.emission.Atoms) > 0:
		return []pipeline.Candidate{{Source: pipeline.FromNoop, Reason: "the agent delivered atoms and no file changes"}}, nil
	default:
		text := "the task asks for file changes, and the agent made none"
		if len(ch.begin) > 0 {
			text = "asked again, the agent changed nothing"
		}
		return nil, pipeline.Unusable{{Code: "nothing_delivered", At: session.Source, Text: text,
			Fix: "edit files in your tree, or write one ```change block; if nothing needs to change, write one with schema 2b.1-noop that says why"}}
	}
	for i, c := range list {
		list[i] = c.Mend()
	}
	return list, err
}

// collectEdits are what the session made of its tree, against the base: on top of the
// candidate before, where its tree began with that.
func (ch *change) collectEdits() ([]pipeline.Candidate, error) {
	byPath := map[string]pipeline.Edit{}
	if len(ch.begin) > 0 {
		for _, e := range ch.candidate.Files {
			byPath[e.Path] = e
		}
	}
	for _, f := range ch.last.left.edits.Files {
		var err error
		if f.Before, f.OldMode, err = ch.readBase(f.Path); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		byPath[f.Path] = pipeline.Edit(f)
	}
	var out []pipeline.Edit
	for _, name := range slices.Sorted(maps.Keys(byPath)) {
		if e := byPath[name]; !e.Unchanged() {
			out = append(out, e)
		}
	}
	c, err := pipeline.FromEdits(out)
	return []pipeline.Candidate{c}, err
}

// readBase is a file of the base, with its mode; nil for none.
func (a attempt) readBase(name string) ([]byte, string, error) {
	return bench.FileAt(a.d.repo, a.c.base, name)
}

// takeNext takes the next candidate of the session that can be used, of those that the iron gate
// has nothing hard against. It returns the facts of it, or why none can be used; then the op keeps
// the one it had.
func (ch *change) takeNext(ctx context.Context) (set map[string]string, err error) {
	var no pipeline.Unusable
	for len(ch.others) > 0 {
		c := ch.others[0]
		ch.others = ch.others[1:]
		if set, err = ch.takeCandidate(ctx, c); err == nil || !errors.As(err, &no) {
			break
		}
	}
	return set, err
}

// takeCandidate makes the candidate the op's: with the session's atoms as a commit on the
// base that no ref names. It returns what the op's record says of it. If it cannot be used, the
// op keeps the one it had.
func (ch *change) takeCandidate(ctx context.Context, c pipeline.Candidate) (map[string]string, error) {
	no := refuseLent(agent.Lent(ch.d.at.cfg, ch.d.Environ), &c)
	var files []repo.FileEdit
	for _, e := range c.Files {
		if ch.d.at.cfg.InBundle(e.Path) {
			no = append(no, pipeline.Fault{Code: "in_bundle", At: e.Path, Text: "is in the folder of atoms, which file changes may not touch", Fix: "deliver it as an ```atom block"})
		}
		if len(lint.FindSecrets([]lint.File{{Path: e.Path, Before: e.Before, After: e.After}})) > 0 {
			e.After = secrets.Redact(e.After) // it is refused when it is judged, as it was delivered; but its object would stay
		}
		files = append(files, repo.FileEdit(e))
	}
	no = append(no, findTakenPaths(ch.ground.Paths(), c.Files)...)
	converted, err := ch.findConverted(ctx, files)
	if err != nil {
		return nil, err
	}
	if no = append(no, converted...); len(no) > 0 {
		return nil, no
	}
	for _, it := range ch.last.items {
		if !it.Effect.Lands() {
			continue
		}
		name := ch.d.at.pathOf(it.Path)
		before, mode, err := ch.readBase(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, repo.FileEdit{Path: name, Before: before, OldMode: mode, After: it.Bytes, NewMode: cmp.Or(mode, "100644")})
	}
	made, err := ch.d.repo.MakeEdits(ctx, []repo.OID{ch.c.base}, files, ch.d.agentSignature(), "candidate of "+ch.log.Op().ID+"\n")
	if err != nil {
		return nil, err
	}
	tree, err := ch.d.repo.TreeOID(made, "")
	if err != nil {
		return nil, err
	}
	ch.candidate = taken{c, files, made, judgeCandidate(ch.ground, c)}
	set := pipeline.FactsOf(c.Files)
	set[pipeline.FactCandidate] = string(tree)
	return set, nil
}

// refuseLent says which files of a candidate hold a credential that was lent, and leaves the candidate
// without it.
func refuseLent(l agent.Credentials, c *pipeline.Candidate) (no pipeline.Unusable) {
	c.Files = slices.Clone(c.Files)
	for i, e := range c.Files {
		if name := l.Find(e.After); name != "" {
			c.Files[i].After = l.Hide(e.After)
			no = append(no, pipeline.Fault{Code: agent.LentSecret, At: e.Path, Text: "contains the value of the environment variable " + name, Fix: "read it from the environment where it is needed"})
		}
	}
	return no
}

func proposedPaths(files []pipeline.Edit) []event.ProposedPath {
	var out []event.ProposedPath
	for _, f := range files {
		p := event.ProposedPath{Path: f.Path}
		if f.Before != nil {
			p.Base = okf.BlobID(f.Before)
		}
		if f.After != nil {
			p.Result = okf.BlobID(f.After)
		}
		out = append(out, p)
	}
	return out
}
