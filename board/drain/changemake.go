package drain

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// generate runs a session and takes its candidate. What cannot be used is sent
// back once with everything that is wrong with it.
func (ch *change) generate(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	if ch.remade != nil {
		return ch.retakeCandidate(ctx)
	}
	spent, ok := ch.askSession(ctx, op.Phase)
	switch {
	case isLate(ctx):
		return pipeline.Out{Spent: spent}, ctx.Err()
	case !ok:
		return ch.endUnmade(spent)
	}
	c, err := ch.readCandidate()
	if err == nil && c.Noop() {
		return pipeline.Out{Reason: pipeline.Noop, Spent: spent, Note: c.Reason}, nil
	}
	var set map[string]string
	if err == nil {
		set, err = ch.takeCandidate(ctx, c)
	}
	var no pipeline.Unusable
	switch {
	case err == nil:
	case !errors.As(err, &no):
		return pipeline.Out{Spent: spent}, err
	case op.Tries > pipeline.Generate.Retries() || ch.whyExhausted() != "":
		why := strings.ReplaceAll(err.Error(), "\n", "; ")
		if no := ch.whyExhausted(); no != "" {
			why += "; " + no
		}
		return ch.endFor(pipeline.CandidateUnusable, spent, "%s", why)
	default:
		ch.wrong, ch.unusable = "Your answer cannot be used. Deliver all of it again:\n"+err.Error(), err.Error()
		return pipeline.Out{Next: pipeline.Generate, Spent: spent, Note: err.Error()}, nil
	}
	if no := pipeline.Mendable(append(judgeCandidate(ch.ground, ch.candidate).Findings, ch.w.bound.outOfScope(ch.candidate)...)); len(no) > 0 && op.Tries <= pipeline.Generate.Retries() && ch.whyExhausted() == "" {
		return ch.sendBack(no, spent), nil
	}
	return pipeline.Out{Next: pipeline.Validate, Spent: spent, Set: set, Note: ch.w.left.describeProducts()}, nil
}

// sendBack has the session asked once more, without what rules refuse of its candidate.
func (ch *change) sendBack(no []policy.Finding, spent int64) pipeline.Out {
	var codes []string
	for _, f := range no {
		codes = append(codes, f.Code)
	}
	slices.Sort(codes)
	ch.refused, ch.unusable = strings.Join(slices.Compact(codes), ", "), strings.Join(hardFindings(no), "\n")
	ch.wrong = "Your change is refused. Deliver all of it again, without this:\n" + ch.unusable
	return pipeline.Out{Next: pipeline.Generate, Spent: spent, Note: oneLine(ch.unusable)}
}

// whyExhausted says why there may be no further session, "" while there may.
func (q *asking) whyExhausted() string {
	switch most, used := q.req.MaxTurns, q.w.countTurns(); {
	case most > 0 && used >= most:
		return fmt.Sprintf("no turn is left for another try; raise it with odd task edit %s --max-turns N", q.c.task.ID)
	case q.req.MaxCost > 0 && int64(q.w.cost) >= q.req.MaxCost:
		return fmt.Sprintf("no money is left for another try; raise it with odd task edit %s --budget-usd USD", q.c.task.ID)
	}
	return ""
}

// askSession runs the next session of the op, on what the earlier ones have left of
// the task's turns and money, and judges the atoms it emits. Not ok means that the
// work is blocked and says why.
func (q *asking) askSession(ctx context.Context, phase pipeline.Phase) (spent int64, ok bool) {
	d, w := q.d, q.w
	if q.sessions > 0 {
		q.keepSession()
		if w.ran {
			w.earlierSessions = append(w.earlierSessions, d.recorder().sessionRecord(q.c, w))
		}
		w.turned, w.paid = q.w.countTurns(), w.cost
	}
	q.sessions, q.phase = q.sessions+1, phase
	asked := w.emission.Proposals
	q.req.Explored = append(q.req.Explored, w.emission.Calls...)
	w.verdict, w.reason, w.lastSession = board.ToReview, "", lastSession{brief: q.nextBrief(phase)}
	req := q.req
	req.Step = map[pipeline.Phase]string{pipeline.Plan: session.StepPlan, pipeline.Expand: session.StepExpand}[phase]
	if req.Step == "" {
		req.Try = q.works
		q.works++
	}
	if req.MaxTurns > 0 {
		req.MaxTurns -= w.turned
	}
	if req.MaxCost > 0 {
		req.MaxCost -= int64(w.paid)
	}
	q.runSubstrate(ctx, req)
	q.unseen = q.unseen || !w.emission.Seen
	if isLate(ctx) {
		w.verdict, w.reason = board.ToReview, "" // the op's ending says why
	}
	w.emission.Proposals = append(asked, w.emission.Proposals...)
	if req.Step == "" {
		d.authority().judgeEmission(w, req.Graph, d.By)
	}
	return int64(w.cost - w.paid), w.verdict == board.ToReview
}

// isLate reports a phase whose time is over; its op ends for that.
func isLate(ctx context.Context) bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) }

func (ch *change) endUnmade(spent int64) (pipeline.Out, error) {
	first := ch.unusable
	if ch.mending {
		first = ch.report.String()
	}
	if ch.sessions > 1 && ch.w.died == "" {
		ch.w.voidWork(fmt.Sprintf("%s; the next try: %s", strings.TrimRight(strings.ReplaceAll(strings.TrimSpace(first), "\n", "; "), "; "), ch.w.reason))
	}
	switch {
	case ch.w.tampered:
		return ch.endFor(pipeline.RuleRefused, spent, "%s", ch.w.reason)
	case ch.w.died != "":
		return ch.endFor(pipeline.Abandoned, spent, "%s", ch.w.reason)
	case strings.Contains(ch.w.reason, "emission refused: "):
		return ch.endFor(pipeline.RuleRefused, spent, "%s", ch.w.reason)
	}
	return ch.endFor(cmp.Or(ch.w.cut, pipeline.StepFailed), spent, "%s", strings.TrimPrefix(ch.w.reason, string(ch.w.cut)+": "))
}

// readCandidate returns the candidate that the session said, or made by editing its tree,
// with what can safely be mended in its names.
func (ch *change) readCandidate() (pipeline.Candidate, error) {
	left, said := ch.w.left, ch.w.emission.Change
	if left.fault != "" {
		return pipeline.Candidate{}, fmt.Errorf("the agent's files could not be read: %s", left.fault)
	}
	var no pipeline.Unusable
	for _, u := range left.refused {
		no = append(no, pipeline.Fault{Code: u.Code, At: u.Path, Text: u.Text, Fix: "remove it from your tree"})
	}
	if len(no) > 0 {
		return pipeline.Candidate{}, no
	}
	given := pipeline.Given{At: ch.base().readFile}
	for _, f := range left.edits.Files {
		given.Wrote = append(given.Wrote, f.Path)
	}
	var before []pipeline.Edit
	if ch.mending {
		before = ch.candidate.Files
	}
	edits, err := ch.base().collectEdits(before, left.edits.Files)
	if err != nil {
		return pipeline.Candidate{}, err
	}
	switch {
	case said != nil:
		list, err := pipeline.ParseCandidate(said.Text, given)
		if err != nil {
			return pipeline.Candidate{}, err
		}
		for i, c := range list {
			list[i] = c.Mend()
		}
		var best pipeline.Candidate
		best, ch.others = chooseBest(ch.ground, list)
		return best, nil
	case len(given.Wrote) > 0:
		c, err := pipeline.FromEdits(edits)
		return c.Mend(), err
	case len(ch.w.emission.Atoms) > 0:
		return pipeline.Candidate{Source: pipeline.FromNoop, Reason: "the agent delivered atoms and no file changes"}, nil
	}
	text := "the task asks for file changes, and the agent made none"
	if ch.mending {
		text = "asked again, the agent changed nothing"
	}
	return pipeline.Candidate{}, pipeline.Unusable{{Code: "nothing_delivered", At: session.Source, Text: text,
		Fix: "edit files in your tree, or write one ```change block; if nothing needs to change, write one with schema 2b.1-noop that says why"}}
}

// collectEdits are what the session made of its tree, against the base: on top of the
// candidate before, where its tree began with that.
func (b baseFiles) collectEdits(before []pipeline.Edit, left []repo.FileEdit) ([]pipeline.Edit, error) {
	byPath := map[string]pipeline.Edit{}
	for _, e := range before {
		byPath[e.Path] = e
	}
	for _, f := range left {
		e := pipeline.Edit(f)
		var err error
		if e.Before, e.OldMode, err = b.readFile(f.Path); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		byPath[f.Path] = e
	}
	var out []pipeline.Edit
	for _, name := range slices.Sorted(maps.Keys(byPath)) {
		e := byPath[name]
		if (e.Before == nil) == (e.After == nil) && bytes.Equal(e.Before, e.After) && e.OldMode == e.NewMode {
			continue
		}
		out = append(out, e)
	}
	return out, nil
}

// layOut is the commit that a session's tree begins with: the base, or the candidate
// it is to mend.
func (ch *change) layOut(ctx context.Context) (repo.OID, error) {
	if ch == nil || !ch.mending {
		return "", nil
	}
	var files []repo.FileEdit
	for _, e := range ch.candidate.Files {
		files = append(files, repo.FileEdit(e))
	}
	return ch.d.repo.MakeEdits(ctx, []repo.OID{ch.c.base}, files, ch.d.agentSignature(), "what "+ch.op.ID+" made\n")
}

func (b baseFiles) readFile(name string) ([]byte, string, error) {
	return fileAt(b.repo, b.commit, name)
}

// editBetween returns a file as one commit has it, changed to what it is in another.
func editBetween(r *repo.Repo, before, after repo.OID, name string) (pipeline.Edit, error) {
	e := pipeline.Edit{Path: name}
	var err error
	if e.Before, e.OldMode, err = fileAt(r, before, name); err == nil {
		e.After, e.NewMode, err = fileAt(r, after, name)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return e, err
}

func fileAt(r *repo.Repo, commit repo.OID, name string) ([]byte, string, error) {
	oid, mode, err := r.Find(commit, name)
	if err != nil || oid == "" {
		return nil, "", err
	}
	if !strings.HasPrefix(mode, "100") {
		return nil, "", fmt.Errorf("is not a file (mode %s)", mode)
	}
	b, err := r.Blob(oid)
	if b == nil && err == nil {
		b = []byte{}
	}
	return b, mode, err
}

// chooseBest is the first candidate that the iron gate has nothing hard against, or else the
// first. The others that it has nothing against are kept, to be tried where this one
// fails its checks.
func chooseBest(g *risk.Ground, list []pipeline.Candidate) (best pipeline.Candidate, others []pipeline.Candidate) {
	fit := slices.DeleteFunc(slices.Clone(list), func(c pipeline.Candidate) bool { return !c.Noop() && judgeCandidate(g, c).Refused() })
	if len(fit) == 0 {
		fit = list[:1]
	}
	return fit[0], fit[1:]
}

// takeNext takes the next of the candidates that the last session delivered besides the one
// that failed, and says so in what the op records; false where there is none.
func (ch *change) takeNext(ctx context.Context, failed string) (pipeline.Out, bool, error) {
	for len(ch.others) > 0 {
		c := ch.others[0]
		ch.others = ch.others[1:]
		var no pipeline.Unusable
		set, err := ch.takeCandidate(ctx, c)
		if errors.As(err, &no) {
			continue
		}
		return pipeline.Out{Next: pipeline.Validate, Set: set, Note: fmt.Sprintf("%s; the agent's next candidate, %s, is tried", failed, c.ID)}, true, err
	}
	return pipeline.Out{}, false, nil
}

// takeCandidate makes the candidate the op's: with the session's atoms as a commit on the
// base that no ref names. It returns what the op's record says of it. If it cannot be used, the
// op keeps the one it had.
func (ch *change) takeCandidate(ctx context.Context, c pipeline.Candidate) (map[string]string, error) {
	no := lentSecrets(ch.d.at.cfg, ch.d.Environ).refuseValues(&c)
	var files []repo.FileEdit
	for _, e := range c.Files {
		if ch.d.at.inBundle(e.Path) {
			no = append(no, pipeline.Fault{Code: "in_bundle", At: e.Path, Text: "is in the folder of atoms, which file changes may not touch", Fix: "deliver it as an ```atom block"})
		}
		files = append(files, repo.FileEdit(withoutSecrets(e)))
	}
	misplaced, err := ch.base().findMisplaced(c)
	if err != nil {
		return nil, err
	}
	converted, err := ch.base().findConverted(ctx, files)
	if err != nil {
		return nil, err
	}
	if no = append(append(no, misplaced...), converted...); len(no) > 0 {
		return nil, no
	}
	for _, it := range ch.w.items {
		if !it.Effect.Lands() {
			continue
		}
		name := ch.d.at.pathOf(it.Path)
		before, mode, err := ch.base().readFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, repo.FileEdit{Path: name, Before: before, OldMode: mode, After: it.Bytes, NewMode: cmp.Or(mode, "100644")})
	}
	made, err := ch.d.repo.MakeEdits(ctx, []repo.OID{ch.c.base}, files, ch.d.agentSignature(), "candidate of "+ch.op.ID+"\n")
	if err != nil {
		return nil, err
	}
	tree, err := ch.d.repo.TreeOID(made, "")
	if err != nil {
		return nil, err
	}
	ch.candidate, ch.files, ch.draft = c, files, made
	set := pipeline.FactsOf(c.Files)
	set[pipeline.FactCandidate] = string(tree)
	return set, nil
}

// withoutSecrets is an edit as the repository may hold it. One that brings a credential in is
// refused when it is judged, as it was delivered; but its object would stay, and be
// shown, so that it is written without.
func withoutSecrets(e pipeline.Edit) pipeline.Edit {
	if len(lint.FindSecrets([]lint.File{{Path: e.Path, Before: e.Before, After: e.After}})) > 0 {
		e.After = secrets.Redact(e.After)
	}
	return e
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
