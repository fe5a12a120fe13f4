package drain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
)

// validate holds the candidate to the iron gate, to the session's permit and the
// commitment lease, and to the project's commands in a tree of its own.
func (ch *change) validate(ctx context.Context, _ pipeline.Op) (pipeline.Out, error) {
	ch.verdict = ch.judgeCandidate(ch.candidate)
	if no := ch.unpermittedPaths(); len(no) > 0 {
		return ch.stop(pipeline.RuleRefused, 0, "%s", strings.Join(append(hardOf(ch.verdict.Findings), no...), "; "))
	}
	if ch.checked != ch.draft || !ch.report.Passed() { // else repair has just run the checks on it
		if err := ch.check(ctx, ch.verdict, false); err != nil {
			return pipeline.Out{}, err
		}
	}
	f, failed := ch.report.Failure()
	if failed {
		if out, is, err := ch.next(ctx, f.String()); is || err != nil {
			return out, err
		}
	}
	switch {
	case !failed:
		return pipeline.Out{Next: pipeline.Gate, Set: heldBy(ch.report), Note: inLine(ch.report)}, nil
	case f.Sub == pipeline.EnvRule:
		return ch.stop(pipeline.RuleRefused, 0, "%s", strings.Join(hardOf(ch.report.Findings), "; "))
	case !f.Retryable(), ch.remade != nil: // nobody is there to mend it
		return ch.stop(pipeline.ValidationFailed, 0, "%s", strings.Join(failures(ch.report), "; "))
	}
	return pipeline.Out{Next: pipeline.Repair, Set: heldBy(ch.report), Note: f.String()}, nil
}

// heldBy is the fact that says what the kernel held of a report's checks.
func heldBy(r pipeline.Report) map[string]string {
	if r.Held() == "" {
		return nil
	}
	return map[string]string{pipeline.FactSandbox: r.Held()}
}

// hardOf are the hard findings, a line each.
func hardOf(all []policy.Finding) []string {
	var out []string
	for _, f := range all {
		if f.Severity == policy.Hard {
			out = append(out, f.Error())
		}
	}
	return out
}

// failures are what a report says against its tree, a line each.
func failures(r pipeline.Report) []string {
	out := hardOf(r.Findings)
	for _, ran := range r.Ran {
		if !ran.Passed() {
			out = append(out, ran.String())
		}
	}
	return append(out, r.Breaches...)
}

// inLine is a report on one line.
func inLine(r pipeline.Report) string { return oneLine(r.String()) }

// unpermittedPaths returns what the session's permit and the lease do not let the candidate
// write.
func (ch *change) unpermittedPaths() []string {
	var no []string
	paths := ch.candidate.Paths()
	if why := ch.w.anchor.whyRefused(ch.d, ch.w.anchor.livePermit(), paths); why != "" {
		no = append(no, why)
	}
	if why := ch.d.offScope(ch.c.task, paths); why != "" {
		no = append(no, why)
	}
	return no
}

// bench is the drain's, where it is said for whom and in which phase it is used.
func (ch *change) bench() Bench {
	b := ch.d.bench()
	b.Say = func(s string) {
		ch.doing = s
		ch.show()
		ch.d.Progress(fmt.Sprintf("%s: %s, %s", ch.c.task.ID, ch.op.Phase, s))
	}
	return b
}

// check runs the checks of the candidate, of which v is what the iron gate says, and
// keeps their report. With again, checks that failed are run twice, to tell a flake.
func (ch *change) check(ctx context.Context, v lint.Verdict, again bool) (err error) {
	t := trial{commit: ch.draft, task: ch.c.task, cfg: ch.d.at.cfg, files: ch.candidate.Files, findings: append(ch.ground.Refusing(v.Findings), ch.beyond()...), parse: true, again: again}
	ch.report, err = ch.bench().hold(ctx, ch.d.repo, t, ch.c.base)
	ch.checked = ch.draft
	return err
}

// repair does one iteration of a repair: it begins with the candidate that failed
// and asks the same substrate for another one, with what failed in its brief.
func (ch *change) repair(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	if ch.repairer == nil {
		ch.repairer = &pipeline.Repairer{
			Timebox: ch.d.at.cfg.Pipeline.RepairTimebox, Now: ch.d.Now, Files: ch.candidate.Files, Generate: ch.mend,
			Run: func(ctx context.Context, again bool) (pipeline.Report, error) {
				err := ch.check(ctx, ch.judgeCandidate(ch.candidate), again)
				return ch.report, err
			},
		}
		if f, failed := ch.report.Failure(); failed && f.Steady {
			ch.repairer.Last = &f
		}
	}
	out, err := ch.repairer.Work(ctx, op)
	if out.Reason == pipeline.RepairStopped {
		ch.why = strings.Join(append(failures(ch.report), "not repaired: "+pipeline.Unrepaired(out.Note)), "; ")
	}
	return out, err
}

// mend is another candidate for the one that failed so.
func (ch *change) mend(ctx context.Context, failed pipeline.Failure) ([]pipeline.Edit, pipeline.Out, error) {
	if why := ch.whyExhausted(); why != "" {
		end, err := ch.stop(pipeline.CostCapExceeded, 0, "%s failed, and %s", failed, why)
		return nil, end, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Your change was checked and failed, %s. Fix it and deliver all of it again, atoms included; every file of it:\n", failed)
	for _, name := range ch.candidate.Paths() {
		fmt.Fprintf(&b, "- %s\n", name)
	}
	fmt.Fprintf(&b, "\nYour tree, where you have one, holds the change as it was. %s said:\n\n%s\n", or(failed.Check, "It"), failed.Excerpt)
	ch.wrong, ch.mending = b.String(), true
	spent, ok := ch.session(ctx, pipeline.Repair)
	if !ok {
		end, err := ch.unmade(spent)
		return nil, end, err
	}
	c, err := ch.readCandidate()
	ch.others = nil // a repair takes one
	if err == nil && c.Noop() {
		err = errors.New("the agent says that there is nothing to change, but its change fails the checks")
	}
	if err == nil {
		err = ch.take(ctx, c)
	}
	if err != nil {
		return nil, pipeline.Out{Spent: spent}, errors.New(oneLine(err.Error()))
	}
	set, err := ch.facts()
	return c.Files, pipeline.Out{Set: set, Spent: spent}, err
}
