package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/bench"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/reconcile/policy"
)

// validate holds the candidate to the iron gate, to the session's permit and the
// commitment lease, and to the project's commands in a tree of its own.
func (ch *change) validate(ctx context.Context, _ pipeline.Op) (pipeline.Out, error) {
	if len(ch.unpermittedPaths(ch.candidate.Paths(), ch.candidate.Paths())) > 0 {
		return ch.endFor(pipeline.RuleRefused, 0, "%s", ch.describeUnpermitted())
	}
	if ch.checked != ch.candidate.commit || !ch.report.Passed() { // else repair has just run the checks on it
		if _, err := ch.runChecks(ctx); err != nil {
			return pipeline.Out{}, err
		}
	}
	f, failed := ch.report.Failure()
	if failed && len(ch.others) > 0 {
		set, err := ch.takeNext(ctx)
		if no := (pipeline.Unusable)(nil); !errors.As(err, &no) {
			return pipeline.Out{Next: pipeline.Validate, Set: set, Note: fmt.Sprintf("%s; the agent's next candidate, %s, is tried", f, ch.candidate.ID)}, err
		}
	}
	switch {
	case !failed:
		return pipeline.Out{Next: pipeline.Gate, Set: sandboxFact(ch.report), Note: reportLine(ch.report)}, nil
	case f.Sub == pipeline.EnvRule:
		return ch.endFor(pipeline.RuleRefused, 0, "%s", strings.Join(pipeline.Refusals(ch.report.Findings), "; "))
	case !f.Retryable(), ch.remade != nil: // nobody is there to mend it
		said, where := ch.describeFailure()
		ch.why = said + where
		return pipeline.Out{Reason: pipeline.ValidationFailed, Note: said}, nil
	}
	return pipeline.Out{Next: pipeline.Repair, Set: sandboxFact(ch.report), Note: f.String()}, nil
}

// describeFailure returns what failed, and where all that a check printed is shown, "" where no check ran and failed.
func (ch *change) describeFailure() (said, where string) {
	said = strings.Join(ch.report.Failures(), "; ")
	if slices.ContainsFunc(ch.report.Ran, func(r pipeline.Ran) bool { return !r.Passed() && len(r.Output) > 0 }) {
		where = fmt.Sprintf(" (odd op show %s shows all of it)", ch.c.task.ID)
	}
	return string(agent.Lent(ch.d.at.cfg, ch.d.Environ).Hide([]byte(said))), where
}

func sandboxFact(r pipeline.Report) map[string]string {
	if r.Sandbox() == "" {
		return nil
	}
	return map[string]string{pipeline.FactSandbox: r.Sandbox()}
}

func reportLine(r pipeline.Report) string { return oneLine(r.String()) }

// describeUnpermitted says why the candidate may not write its files. A file outside of the
// task's paths is named once, although the permit does not cover it either. If nothing else
// is wrong, it ends with the command by which a person allows those files; not for a name
// that would be a pattern there and mean other files.
func (ch *change) describeUnpermitted() string {
	said, others := pipeline.Refusals(ch.candidate.gate.Findings), ch.candidate.Paths()
	way := append([]string{"odd task edit", string(ch.c.task.ID)}, shellPaths(ch.c.task.Paths)...)
	outside, pattern := 0, false
	for _, f := range ch.candidate.gate.Findings {
		if f.Code == "coverage_outside" && ch.grant.Denies(f.Path) == "" {
			others = slices.DeleteFunc(others, func(p string) bool { return p == f.Path })
			way = append(way, shellPaths([]string{f.Path})...)
			outside++
			pattern = pattern || strings.ContainsAny(f.Path, "[]{}")
		}
	}
	no := ch.unpermittedPaths(others, ch.candidate.Paths())
	if outside == len(said) && !pattern && len(no)+len(ch.bound.outOfScope(ch.candidate.Candidate)) == 0 {
		no = []string{fmt.Sprintf("to allow this, run %s, then odd task ready %s", strings.Join(way, " "), ch.c.task.ID)}
	}
	return strings.Join(append(said, no...), "; ")
}

// shellPaths returns a flag --path for each path, as a shell takes it.
func shellPaths(paths []string) []string {
	var out []string
	for _, p := range paths {
		out = append(out, "--path '"+strings.ReplaceAll(p, "'", `'\''`)+"'")
	}
	return out
}

// unpermittedPaths returns why the session's permit does not cover some of paths, and why the commitment
// lease does not cover some file of the candidate.
func (a attempt) unpermittedPaths(paths, candidate []string) []string {
	var no []string
	if why := a.whyRefused(policy.Emit, paths); why != "" {
		no = append(no, why)
	}
	if why := a.whyRefused(policy.Land, candidate); why != "" {
		no = append(no, why)
	}
	return no
}

// runChecks runs the checks of the candidate, and keeps their report.
func (ch *change) runChecks(ctx context.Context) (_ pipeline.Report, err error) {
	t := bench.Job{Commit: ch.candidate.commit, Task: ch.c.task, Cfg: ch.d.at.cfg, Files: ch.candidate.Files, Findings: append(ch.ground.Refusing(ch.candidate.gate.Findings), ch.bound.outOfScope(ch.candidate.Candidate)...), Parse: true}
	b := bench.Bench{Host: ch.d.Host, Say: func(s string) { ch.d.say(fmt.Sprintf("%s: %s", ch.c.task.ID, s)) }}
	ch.report, err = b.ExamineAgainst(ctx, ch.d.repo, t, ch.c.base)
	ch.checked = ch.candidate.commit
	return ch.report, err
}

// repair does one iteration of a repair: it begins with the candidate that failed
// and asks the same substrate for another one, with what failed in its brief.
func (ch *change) repair(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	if ch.repairer == nil {
		ch.repairer = &pipeline.Repairer{
			Timebox: ch.d.at.cfg.Pipeline.RepairTimebox, Now: ch.d.Now, Files: ch.candidate.Files, Generate: ch.generateRepair, Run: ch.runChecks,
		}
		if f, failed := ch.report.Failure(); failed && f.Steady {
			ch.repairer.Last = &f
		}
	}
	out, err := ch.repairer.Work(ctx, op)
	if out.Reason == pipeline.RepairStopped {
		said, where := ch.describeFailure()
		ch.why = said + where + "; not repaired: " + ch.repairer.Unrepaired()
	}
	return out, err
}

func (ch *change) generateRepair(ctx context.Context, failed pipeline.Failure) ([]pipeline.Edit, pipeline.Out, error) {
	if why := ch.whyExhausted(); why != "" {
		end, err := ch.endFor(pipeline.CostCapExceeded, 0, "%s failed, and %s", failed, why)
		return nil, end, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Your change was checked and failed, %s. Fix it and deliver all of it again, atoms included; every file of it:\n", failed)
	for _, name := range ch.candidate.Paths() {
		fmt.Fprintf(&b, "- %s\n", name)
	}
	fmt.Fprintf(&b, "\nYour tree, where you have one, holds the change as it was. %s said:\n\n%s\n", cmp.Or(failed.Check, "It"), failed.Excerpt)
	ch.wrong, ch.unusable, ch.begin = b.String(), ch.report.String(), nil
	for _, e := range ch.candidate.Files {
		ch.begin = append(ch.begin, repo.FileEdit(e))
	}
	c, out, err := ch.makeCandidate(ctx, pipeline.Repair)
	ch.others = nil // a repair takes one
	if err == nil && c.Noop() {
		err = errors.New("the agent says that there is nothing to change, but its change fails the checks")
	}
	if err != nil {
		err = errors.New(oneLine(err.Error()))
	}
	return c.Files, out, err
}
