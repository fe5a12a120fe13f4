package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/handoff"
	"github.com/odd-cli/odd/reconcile/policy"
)

var ironGateRule = Rule{Row{
	N: 13, Name: "Iron gate", Unit: "changes",
	Promise:  "A change of files lands only by an op, and its bytes get the verdict that the op recorded.",
	Reads:    "the paths, modes and bytes of every proposal with Odd-Op, at its base and as it is; the op's records: base, candidate, rules, tier, findings; the task, odd.toml and board at its claim; the history of the task's file",
	Compares: "A proposal of files that are not atoms names an op of its own run and task. The op's base, tree, commit and tier are the proposal's. No file is outside of the task's paths, of another mode than a plain file's, or one that no machine may write. By the same rules, the same bytes have no finding that refuses them, as many findings as recorded, and no higher tier. A session changed only the files that its plan names; a resolver, only those that the findings of its handoffs name. What landed by itself contains no atom, and has a tier that may do so by the rules there.",
	Attested: "that the checks ran and passed; verdicts by rules that odd or odd.toml no longer has; a proposal that a forge rebased, but for its paths",
	Remedy:   "send it back with odd reject TASK, or judge it again with odd review --refresh TASK",
	Broken:   "A change of files landed against a rule about changes, or with a wrong record of it.",
}, judgeChange, true}

func judgeChange(j *judge) {
	if j.Kind == Board {
		j.checkOpsNamed()
		return
	}
	files := j.changedFiles()
	if j.Kind != Proposal || len(files) == 0 && Trailer(j.Commit, "Odd-Op") == "" {
		return
	}
	j.checked++
	if Trailer(j.Commit, "Odd-Op") == "" {
		j.addFinding(files[0].Path, 1, "a proposal changes a file that is no atom, and names no op")
		return
	}
	j.checkPlaces(files)
	r := j.findOutcome()
	if r.Record == nil {
		return // invariant 2 reports a proposal that no ledger records
	}
	exact := r.Outcome().Proposal == string(j.OID) // otherwise a forge rebased it
	s, found := j.findStory(Trailer(j.Commit, "Odd-Op"))
	switch {
	case !found:
		j.addFinding(j.anyPath(), 1, "a proposal by %s, which no ledger of its run tells of", Trailer(j.Commit, "Odd-Op"))
		return
	}
	if why := j.compareWithOp(s.Op(), r.Record, exact); why != "" {
		j.addFinding(j.anyPath(), 1, "%s", why)
		return
	}
	j.judgeAgain(s, files, exact)
}

// changedFiles returns the act's files outside the bundle.
func (j *judge) changedFiles() []*File {
	return slices.DeleteFunc(slices.Clone(j.Files), func(f *File) bool { return f.Rel != "" })
}

// checkPlaces reports a change that no op may make, whatever its verdict.
func (j *judge) checkPlaces(files []*File) {
	for _, f := range files {
		plain := func(mode string) bool { return mode == "" || mode == "100644" || mode == "100755" }
		if !plain(f.OldMode) || !plain(f.NewMode) {
			j.addFinding(f.Path, 1, "an op makes a file of mode %s out of one of mode %s", cmp.Or(f.NewMode, "none"), cmp.Or(f.OldMode, "none"))
		}
		for _, p := range policy.CheckProtected(f.Path, j.Law.Pipeline.Protected) {
			j.addFinding(f.Path, 1, "an op changes what no machine may: %s", p.Text)
		}
	}
}

// findStory returns an op as the ledger of the act's run records it, at the end of the range or on a branch.
func (j *judge) findStory(id string) (pipeline.Story, bool) {
	for at := range j.LedgerCommits(j.Run) {
		records := j.ReadLedger(at, j.Run)
		stories, _ := pipeline.ReadOps(records) // invariant 15 reports what is wrong in them
		if i := slices.IndexFunc(stories, func(s pipeline.Story) bool { return s.Op().ID == id }); i >= 0 {
			return stories[i], true
		}
	}
	return pipeline.Story{}, false
}

// compareWithOp returns how the proposal differs from the one that the op judged, "" for no difference.
func (j *judge) compareWithOp(o pipeline.Op, r *event.Record, exact bool) string {
	base := ""
	if len(j.Parents) > 0 {
		base = string(j.Parents[0])
	}
	moved := pipeline.Effect{}
	if len(o.Moved) > 0 {
		moved = o.Moved[0]
	}
	for _, c := range []struct {
		what, is, was string
		always        bool
	}{
		{"task", j.Task, o.Task, true},
		{"run", j.Run, o.Run, true},
		{"op in the outcome", r.Outcome().Op, o.ID, true},
		{"tier", Trailer(j.Commit, "Odd-Tier"), o.Fact(pipeline.FactTier), true},
		{"commit", string(j.OID), moved.New, false},
		{"base", base, o.Fact(pipeline.FactBase), false},
		{"tree", string(j.Tree), o.Fact(pipeline.FactCandidate), false},
	} {
		if c.is != c.was && (exact || c.always) {
			return fmt.Sprintf("the %s of the proposal is %s, %s was judged on %s", c.what, cmp.Or(shortenHash(c.is), "none"), o.ID, cmp.Or(shortenHash(c.was), "none"))
		}
	}
	if slices.Index(pipeline.Tiers(), o.Fact(pipeline.FactTier)) < 0 || o.Fact(pipeline.FactTier) == string(pipeline.NeverByMachine) {
		return fmt.Sprintf("%s is proposed with the tier %s", o.ID, cmp.Or(o.Fact(pipeline.FactTier), "none"))
	}
	return ""
}

func shortenHash(s string) string {
	if len(s) >= 40 {
		return ShortID(s)
	}
	return s
}

// judgeAgain judges the change again from its bytes, so that whoever has the history can repeat the verdict. If the rules
// have changed since, only the paths of the task, the landed tier and what handoffs name are checked.
func (j *judge) judgeAgain(s pipeline.Story, files []*File, exact bool) {
	o := s.Op()
	t, law, ok := j.readClaimedTask(o.Run, o.Task)
	if !ok {
		return // invariants 2 and 5 report a missing claim
	}
	for _, f := range files {
		if !policy.MatchAnyGlob(t.Paths, f.Path) {
			j.addFinding(f.Path, 1, "is outside of the paths that %s had when it was claimed", o.Task)
		}
	}
	c, ok := j.FindClaim(j.Commit, o.Run, o.Task)
	if !ok || !exact || len(j.Parents) != 1 {
		return
	}
	j.compareVerdict(s, t, law, c.OID, j.readEdits(files))
}

// compareVerdict compares the recorded verdict with the one that the same rules give now.
func (j *judge) compareVerdict(s pipeline.Story, t board.Task, law *config.Config, claim repo.OID, edits []pipeline.Edit) {
	o := s.Op()
	trials, err := j.ReadState(claim).Trials(lastGateTime(s), law.ReviewTTL)
	j.Must(err)
	ground := j.Survey(risk.Site{Base: j.Parents[0], Board: claim, Law: *law, Task: t, Past: trials})
	v, err := ground.Judge(edits, lastGateTime(s), law.Session.Substrate, o.Made())
	j.Must(err)
	j.checkLandedTier(o, v.Risk)
	j.checkHandoffScope(o, edits)
	if v.Rules != o.Fact(pipeline.FactRules) {
		return // the rules have changed, so the recorded verdict is attested
	}
	for _, f := range ground.Refusing(v.Gate.Findings) {
		if f.Severity == policy.Hard {
			j.addFinding(cmp.Or(f.Path, j.anyPath()), f.Line, "%s let pass what its rules refuse: %s", o.ID, f.Code)
		}
	}
	tiers := pipeline.Tiers()
	if slices.Index(tiers, string(v.Risk.Tier)) > slices.Index(tiers, o.Fact(pipeline.FactTier)) {
		j.addFinding(j.anyPath(), 1, "%s recorded the tier %s; by the same rules its bytes make it %s, %s", o.ID, o.Fact(pipeline.FactTier), v.Risk.Tier, v.Risk.Code)
	}
	if is := fmt.Sprintf("%d hard, %d soft", v.Gate.Hard, v.Gate.Soft); is != o.Fact("findings") {
		j.addFinding(j.anyPath(), 1, "%s recorded %s findings; by the same rules there are %s", o.ID, cmp.Or(o.Fact("findings"), "no"), is)
	}
}

// checkHandoffScope reports files that a session changed although its handoffs do not name them.
func (j *judge) checkHandoffScope(o pipeline.Op, edits []pipeline.Edit) {
	all := j.findRunSessions(o.Run, o.Task)
	for _, b := range all[:min(1, len(all))] { // the task's other sessions got the same handoffs
		var from []handoff.Handoff
		for _, named := range b.handoffs {
			h, ok := j.readGivenHandoff(b, named)
			if ok && h.fault == nil {
				from = append(from, h.Handoff)
			}
		}
		for _, f := range handoff.OutOfScope(b.role, from, pipeline.Candidate{Files: edits}.Paths()) {
			j.addFinding(f.Path, 1, "%s changed this file, and %s", o.ID, f.Text)
		}
	}
}

// lastGateTime returns when the op last entered its gate.
func lastGateTime(s pipeline.Story) (at time.Time) {
	for _, t := range s.Told {
		if last := t.Op.Last(); last.To == pipeline.Gate {
			at = last.At
		}
	}
	return at
}

// readEdits returns the files with their bytes before and after.
func (j *judge) readEdits(files []*File) []pipeline.Edit {
	var out []pipeline.Edit
	for _, f := range files {
		e := pipeline.Edit{Path: f.Path, OldMode: f.OldMode, NewMode: f.NewMode}
		for _, side := range []struct {
			oid  repo.OID
			mode string
			to   *[]byte
		}{{f.Old, f.OldMode, &e.Before}, {f.New, f.NewMode, &e.After}} {
			if side.oid == "" {
				continue
			}
			b := j.ReadFile(side.oid, side.mode)
			*side.to = append([]byte{}, b...)
		}
		out = append(out, e)
	}
	return out
}

// checkOpsNamed checks that an outcome which proposes files outside the bundle names an op of its ledger that waits
// with that proposal.
func (j *judge) checkOpsNamed() {
	for _, l := range j.Lines {
		if l.Record.Kind != event.Outcome {
			continue
		}
		i := slices.IndexFunc(PathsOf(&l.Record), func(p [3]string) bool { return !strings.HasPrefix(p[0], j.Root) })
		id := l.Record.Outcome().Op
		if i < 0 && id == "" {
			continue
		}
		j.checked++
		stories, _ := pipeline.ReadOps(j.ReadLedger(j.OID, l.Record.Run))
		at := slices.IndexFunc(stories, func(s pipeline.Story) bool { return s.Op().ID == id && s.Op().Task == l.Record.Task })
		switch {
		case id == "":
			j.addFinding(l.Path, l.N, "an outcome proposes %s, which is no atom, and names no op", PathsOf(&l.Record)[i][0])
		case at < 0:
			j.addFinding(l.Path, l.N, "an outcome of %s, of which its ledger tells nothing", id)
		case len(stories[at].Op().Moved) == 0 || stories[at].Op().Moved[0].New != l.Record.Outcome().Proposal:
			j.addFinding(l.Path, l.N, "an outcome of %s, which moved nothing to %s", id, cmp.Or(ShortID(l.Record.Outcome().Proposal), "nothing"))
		}
	}
}
