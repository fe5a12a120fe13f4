package approval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/cmd/internal/ops"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile"
	"github.com/odd-cli/odd/reconcile/policy"
)

// changeCard is what a person is shown of the op that waits with a proposal.
type changeCard struct {
	Op        string             `json:"op"`
	Tier      string             `json:"tier"`
	Because   []string           `json:"because,omitempty"`
	Until     string             `json:"until,omitempty"`  // it expires
	Landed    string             `json:"landed,omitempty"` // by itself: where, and how it goes again
	Held      string             `json:"held,omitempty"`   // why it did not land by itself, a code
	Mended    string             `json:"mended,omitempty"` // what odd wrote otherwise in its names
	Rationale string             `json:"rationale,omitempty"`
	Findings  []policy.Finding   `json:"findings,omitempty"`
	Checks    []pipeline.Checked `json:"checks,omitempty"`
	Lost      bool               `json:"dossier_lost,omitempty"` // what the run kept is not in this clone
}

// readJudgement returns what t's op was judged on, which waits with the proposal or landed
// it; nil where the proposal holds atoms alone.
func readJudgement(v *workspace.Board, t board.Task, landed *pipeline.Op) (*changeCard, error) {
	s, ok, err := v.State.Waiting(string(t.ID), t.Result.Commit)
	if err != nil || !ok && landed == nil {
		return nil, err
	}
	var o pipeline.Op
	j := &changeCard{}
	if ok {
		o = s.Op()
		j.Until, j.Held = console.FormatTime(o.Until), o.Fact(pipeline.FactHeld)
	} else {
		o = *landed
		j.Landed = landedOn(o)
	}
	j.Op, j.Tier, j.Mended = o.ID, o.Fact(pipeline.FactTier), o.Fact(pipeline.FactMended)
	b, ok := ops.KeptFile(v.Repo, o, "op.json")
	d, err := pipeline.ReadDossier(b)
	if !ok || err != nil || d.Op != o.ID {
		j.Lost = true
		return j, nil
	}
	j.Rationale, j.Because, j.Findings, j.Checks = d.Rationale, d.Because, d.Findings, d.Checks
	return j, nil
}

// addLines adds its lines to the card of its proposal, at most so many of one kind.
func (j *changeCard) addLines(b *console.Card) {
	if j == nil {
		return
	}
	const most, readable, more = 12, 96, "; odd review --json lists all"
	until := ""
	if j.Landed == "" {
		until = ", can be approved until " + j.Until
	}
	b.Line("change", "%s%s", j.Op, until)
	b.Line("risk tier", "%s%s", j.Tier, tierAsks[pipeline.Tier(j.Tier)])
	if j.Landed != "" {
		b.Line("merged", "without approval, as odd.toml allows, as %s", j.Landed)
	}
	if j.Held != "" {
		b.Line("not merged", "because %s [%s]", pipeline.ExplainHeld(pipeline.Held(j.Held)), j.Held)
	}
	b.Line("odd fixed", "%s", j.Mended)
	b.List("because", decidingReasons(j.Because, j.Tier), most, more)
	b.List("reasoning", strings.Split(layout.Fold(console.OneLine(j.Rationale), readable), "\n"), most, more)
	var findings, checks []string
	for _, f := range j.Findings {
		word := "warning: "
		if f.Severity == policy.Hard {
			word = "error: "
		}
		findings = append(findings, word+f.Error())
	}
	for _, c := range j.Checks {
		checks = append(checks, string(c.Phase)+": "+c.Says)
		if c.Output != "" {
			checks = append(checks, strings.Split(strings.TrimSpace(c.Output), "\n")...)
		}
	}
	b.List("finding", findings, most, more)
	b.List("checks", checks, most, more)
	switch {
	case j.Lost:
		b.Line("reasoning", "its reasons and checks are not in this clone; run git fetch origin 'refs/odd/run/*:refs/odd/run/*'")
	case len(checks) == 0:
		b.Line("checks", "no check ran; set [pipeline] validate in odd.toml to run your tests")
	}
}

// tierAsks says what a risk tier asks of a person.
var tierAsks = map[pipeline.Tier]string{
	pipeline.SafeAuto:         ": no rule asks for a person",
	pipeline.NotifyApply:      ": a person must see it before it is merged",
	pipeline.ApprovalRequired: ": a person must approve it",
}

// decidingReasons returns the reasons that made the tier, in words; JSON lists all, as codes.
func decidingReasons(because []string, tier string) (out []string) {
	rules := pipeline.RiskRules()
	for _, line := range because {
		code, rest, _ := strings.Cut(line, " (")
		of, met, _ := strings.Cut(rest, ")")
		switch i := slices.IndexFunc(rules, func(r pipeline.Ruling) bool { return r.Code == code }); {
		case i < 0:
			out = append(out, line)
		case of == tier || len(because) == 1:
			out = append(out, rules[i].Meaning+met+" ["+code+"]")
		}
	}
	return out
}

// printNotes prints the open notes of an emission in full.
func printNotes(env console.Env, task string, e ops.Prompt, asJSON bool) error {
	type note struct {
		Title   string `json:"title"`
		Content string `json:"content"`
	}
	notes, page := []note{}, &strings.Builder{}
	for _, n := range session.Read([]byte(e.Text)).Notes {
		if n.Facet != "open" {
			continue
		}
		notes = append(notes, note{n.Title, n.Content})
		fmt.Fprintf(page, "%s\n", console.Cell(n.Title))
		for line := range strings.Lines(n.Content) {
			fmt.Fprintf(page, "    %s\n", console.Cell(strings.TrimSuffix(line, "\n")))
		}
	}
	if len(notes) == 0 && !asJSON {
		console.Talk(env, "review: the agent left no open note; odd review %s --emission shows all that it printed", task)
	}
	return console.ShowPage(env, asJSON, notes, page.String())
}

// readEmission returns what the agent of a task's last attempt printed, and tells which attempt that is; flag is the one
// of odd review that asks.
func readEmission(ctx context.Context, env console.Env, name, flag string) (ops.Prompt, error) {
	v, t, err := workspace.Options{Current: true, Tasks: true}.OpenTask(ctx, env, name)
	if err != nil {
		return ops.Prompt{}, err
	}
	last, err := lastAttempt(v.State, t)
	switch {
	case err != nil:
		return ops.Prompt{}, err
	case last.run == "":
		return ops.Prompt{}, verb.Refuse("state", "review %s %s: no agent has worked on the task yet; run odd drain", flag, t.ID)
	case last.died:
		return ops.Prompt{}, verb.Refuse("state", "review %s %s: attempt %d ended without a result, so what its agent printed is not kept; odd task show %[2]s tells what is next", flag, t.ID, last.number)
	}
	if _, err := v.Repo.Ref("refs/odd/run/" + last.run); errors.Is(err, repo.ErrNoRef) && last.kept != "" {
		return ops.Prompt{}, verb.Refuse("artifacts", "review %s %s: the output of %s is not in this clone; run git fetch origin 'refs/odd/run/*:refs/odd/run/*'", flag, t.ID, last.run)
	}
	t.Attempts = last.number
	file := path.Join(drain.ArtifactDir(t), "emission.md")
	b, err := readKept(v.Repo, last.kept, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ops.Prompt{}, verb.Refuse("state", "review %s %s: the agent printed nothing in attempt %d; odd task show %[2]s tells how it ended", flag, t.ID, last.number)
	case err != nil:
		return ops.Prompt{}, fmt.Errorf("review %s %s: %w", flag, t.ID, err)
	}
	console.Talk(env, "review: attempt %d at %s, in %s", last.number, t.ID, last.run)
	return ops.Prompt{File: file, Text: string(b)}, nil
}

// readKept reads a file of the tree that a run kept; the tree "" has none.
func readKept(r *repo.Repo, tree repo.OID, file string) ([]byte, error) {
	if tree == "" {
		return nil, fs.ErrNotExist
	}
	kept, err := r.Tree(tree)
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(kept, file)
}

// attempt is one attempt at a task that has ended.
type attempt struct {
	run    string
	number int
	kept   repo.OID // the tree of its run's files, "" for none
	died   bool     // with its run, without a result
	ended  time.Time
}

// lastAttempt returns the attempt at t that ended last, with its result or as that of a dead run;
// its run is "" where none did.
func lastAttempt(s *state.State, t board.Task) (last attempt, err error) {
	files, err := s.RunFiles("", func(_ string, tasks []string) bool { return slices.Contains(tasks, string(t.ID)) })
	if err != nil {
		return attempt{}, err
	}
	numbers := map[string]int{}
	for f := range files {
		for _, r := range f.Records {
			switch {
			case r.Task != string(t.ID):
			case r.Kind == event.Claim:
				numbers[r.Run] = r.Claim().Attempt
			case r.Kind == event.Outcome && !r.TS.Before(last.ended):
				last = attempt{run: r.Run, number: numbers[r.Run], kept: repo.OID(r.Outcome().Artifacts), ended: r.TS}
			case r.Kind == event.Abandoned && !r.TS.Before(last.ended):
				last = attempt{run: r.DeadRun, died: true, ended: r.TS}
			}
		}
	}
	if last.died { // its claim may be in a file that comes later
		last.number = numbers[last.run]
	}
	return last, nil
}

// heldBack shows what an emission wanted and reconcile kept out, as diffs against
// the board: two-way, and where the atom was made against bytes the board no
// longer has, first what happened to them since. It is empty where the run's
// artifacts are not in this clone.
func heldBack(v *workspace.Board, t board.Task, p review.Proposal) string {
	if len(p.Held) == 0 || p.Artifacts == "" {
		return ""
	}
	tree, err := v.Repo.Tree(repo.OID(p.Artifacts))
	if err != nil {
		return ""
	}
	dir := drain.ArtifactDir(t)
	emission, _ := fs.ReadFile(tree, path.Join(dir, "emission.md"))
	bases := map[string]string{}
	for _, a := range session.Read(emission).Atoms {
		bases[string(a.Atom.ID)] = a.Base
	}
	var b strings.Builder
	for _, h := range p.Held {
		if h.Effect == string(reconcile.Declined) {
			continue // a person has seen it
		}
		wanted, err := fs.ReadFile(tree, path.Join(dir, "kept", strings.TrimPrefix(h.Path, v.Config.Root+"/")))
		if err != nil {
			continue
		}
		now, _ := fs.ReadFile(v.Files, h.Path)
		fmt.Fprintf(&b, "\nkept out: %s, because %s (%s)\n", h.ID, h.Reason, h.Effect)
		from := now
		if base, err := v.Repo.Blob(repo.OID(bases[h.ID])); err == nil && bases[h.ID] != okf.BlobID(now) {
			b.Write(diff.Diff("base/"+h.Path, base, "board/"+h.Path, now))
			from = base
		}
		name := "board/"
		if string(from) != string(now) {
			name = "base/"
		}
		b.Write(diff.Diff(name+h.Path, from, "wanted/"+h.Path, wanted))
	}
	return okf.Visible(b.String())
}
