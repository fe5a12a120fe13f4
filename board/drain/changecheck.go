package drain

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"runtime"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/irongate"
)

// validate holds the candidate to the iron gate, to the session's permit and the
// commitment lease, and to the project's commands in a tree of its own.
func (ch *change) validate(ctx context.Context, _ pipeline.Op) (pipeline.Out, error) {
	ch.verdict = ch.judged(ch.candidate)
	if no := ch.unpermitted(); len(no) > 0 {
		return ch.stop(pipeline.RuleRefused, 0, "%s", strings.Join(append(hardOf(ch.verdict.Findings), no...), "; "))
	}
	var err error
	if ch.report, err = ch.examine(ctx, ch.draft, ch.candidate.Files, ch.d.at.cfg.Pipeline.Validate, ch.ground.Refusing(ch.verdict.Findings), false); err != nil {
		return pipeline.Out{}, err
	}
	f, failed := ch.report.Failure()
	switch {
	case !failed:
		return pipeline.Out{Next: pipeline.Gate, Note: inLine(ch.report)}, nil
	case f.Sub == pipeline.EnvRule:
		return ch.stop(pipeline.RuleRefused, 0, "%s", strings.Join(hardOf(ch.report.Findings), "; "))
	case !f.Retryable():
		return ch.stop(pipeline.ValidationFailed, 0, "%s", strings.Join(failures(ch.report), "; "))
	}
	return pipeline.Out{Next: pipeline.Repair, Note: f.String()}, nil
}

// hardOf are the hard findings, a line each.
func hardOf(all []irongate.Finding) []string {
	var out []string
	for _, f := range all {
		if f.Severity == irongate.Hard {
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
	return out
}

// inLine is a report on one line.
func inLine(r pipeline.Report) string { return oneLine(r.String()) }

// unpermitted is what the session's permit and the lease do not let the candidate
// write.
func (ch *change) unpermitted() []string {
	var no []string
	paths := ch.candidate.Paths()
	if why := ch.w.anchor.refuses(ch.d, ch.w.anchor.permit(), paths); why != "" {
		no = append(no, why)
	}
	if why := ch.d.offScope(ch.c.task, paths); why != "" {
		no = append(no, why)
	}
	return no
}

// examine runs the checks of a commit in a scratch repository of it. Where there
// is no check, none is made.
func (ch *change) examine(ctx context.Context, commit repo.OID, files []pipeline.Edit, commands [][]string, findings []irongate.Finding, again bool) (pipeline.Report, error) {
	d := ch.d
	tree, err := d.repo.Tree(commit)
	if err != nil {
		return pipeline.Report{}, err
	}
	graph, err := pipeline.ReadGraph(tree)
	if err != nil {
		return pipeline.Report{}, err
	}
	checks, more := pipeline.Checks(files, pipeline.Project{Files: tree, Commands: commands, Accept: ch.c.task.Commands, Graph: graph, Build: native(d.at.cfg.Pipeline.CheckEnv), Timeout: d.at.cfg.Pipeline.CheckTimeout})
	findings = append(slices.Clip(findings), more...)
	if len(checks) == 0 {
		return pipeline.Examine(ctx, nil, findings, false, nil), nil
	}
	if d.Temp == "" {
		return pipeline.Report{}, errors.New("there is no place for the tree in which a change is checked")
	}
	s, err := d.repo.Bench(ctx, d.Temp, commit, d.agent())
	if err != nil {
		return pipeline.Report{}, err
	}
	defer func() {
		if err := s.Close(); err != nil {
			d.note(err.Error())
		}
	}()
	desk := session.Desk{Tree: s.Tree(), Home: s.Home(), Temp: s.Temp()}
	env := exec.Environment(d.Environ, d.at.cfg.Pipeline.CheckEnv, desk, d.Run)
	return pipeline.Examine(ctx, checks, findings, again, func(ctx context.Context, c pipeline.Check) pipeline.Ran {
		return d.check(ctx, c, desk.Tree, env)
	}), nil
}

// native is what go builds for in a check: this machine, unless a person lets it
// see settings of go's that may say otherwise.
func native(env []string) *build.Context {
	if slices.ContainsFunc(env, func(name string) bool { return strings.HasPrefix(name, "GO") }) {
		return nil
	}
	return &build.Context{GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, Compiler: build.Default.Compiler, ReleaseTags: build.Default.ReleaseTags, ToolTags: build.Default.ToolTags}
}

// check runs one check.
func (d *drain) check(ctx context.Context, c pipeline.Check, tree string, env []string) pipeline.Ran {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	d.Progress(fmt.Sprintf("checking: %s", c.Name))
	began := d.Now()
	r := exec.Run(ctx, exec.Command{Argv: c.Argv, Tree: tree, Dir: c.Dir, Env: env})
	return pipeline.Ran{Check: c, Done: r.Done, Exit: r.Exit, Fault: r.Fault, Detail: r.Detail, Output: r.Output, Took: d.Now().Sub(began)}
}

// repair does one iteration of a repair: it begins with the candidate that failed
// and asks the same substrate for another one, with what failed in its brief.
func (ch *change) repair(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	if ch.repairer == nil {
		var late *pipeline.Failure
		if f, failed := ch.report.Failure(); failed && f.Late {
			late = &f
		}
		ch.repairer = &pipeline.Repairer{
			Now: ch.d.Now, Files: ch.candidate.Files, Tree: op.Fact(pipeline.FactCandidate), Late: late,
			Generate: ch.mend,
			Run: func(ctx context.Context, files []pipeline.Edit, again bool) (pipeline.Report, error) {
				findings := ch.judged(ch.candidate).Findings
				r, err := ch.examine(ctx, ch.draft, files, ch.d.at.cfg.Pipeline.Validate, ch.ground.Refusing(findings), again)
				ch.report = r
				return r, err
			},
		}
	}
	out, err := ch.repairer.Work(ctx, op)
	if out.Next == pipeline.FailedPermanent {
		ch.why = strings.Join(append([]string{out.Note}, failures(ch.report)...), "; ")
	}
	return out, err
}

// mend is another candidate from what failed.
func (ch *change) mend(ctx context.Context, ask pipeline.RepairAsk) (pipeline.RepairAnswer, error) {
	if why := ch.exhausted(); why != "" {
		_, err := ch.stop(pipeline.CostCapExceeded, 0, "%s failed, and %s", ask.Failure, why)
		return pipeline.RepairAnswer{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Your change was checked and failed, %s. Mend it and deliver the whole of it again, atoms included; every file of it:\n", ask.Failure)
	for _, f := range ask.Files {
		fmt.Fprintf(&b, "- %s\n", f.Path)
	}
	fmt.Fprintf(&b, "\nYour tree, where you have one, holds the change as it was. %s said:\n\n%s\n", or(ask.Failure.Check, "It"), ask.Failure.Excerpt)
	ch.wrong, ch.mending = b.String(), true
	spent, ok := ch.session(ctx, pipeline.Repair)
	if !ok {
		_, err := ch.unmade(spent)
		return pipeline.RepairAnswer{}, err
	}
	c, err := ch.delivered()
	if err == nil && c.Noop() {
		err = errors.New("the session says that there is nothing to change, and what it made fails")
	}
	if err == nil {
		err = ch.take(ctx, c)
	}
	if err != nil {
		return pipeline.RepairAnswer{Spent: spent}, errors.New(oneLine(err.Error()))
	}
	tree, err := ch.d.repo.TreeOID(ch.draft, "")
	return pipeline.RepairAnswer{Files: c.Files, Tree: string(tree), Spent: spent}, err
}

// verify runs the checks on exactly the commit that would land, and holds what
// they measure against the base.
func (ch *change) verify(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	d, commit := ch.d, ch.sealed.effect.New
	tree, err := d.repo.TreeOID(commit, "")
	if err != nil {
		return pipeline.Out{}, err
	}
	if string(tree) != op.Fact(pipeline.FactCandidate) {
		return ch.stop(pipeline.VerifyFailed, 0, "the commit that would land has another tree than the candidate that was judged; this is a fault of odd's")
	}
	commands := d.at.cfg.Pipeline.Verify
	if commands == nil {
		commands = d.at.cfg.Pipeline.Validate
	}
	report, err := ch.examine(ctx, commit, ch.candidate.Files, commands, nil, false)
	if err != nil {
		return pipeline.Out{}, err
	}
	base, err := ch.measured(ctx, report, commands)
	if err != nil {
		return pipeline.Out{}, err
	}
	if bad := pipeline.Verified(report, base, ch.candidate.Files, pipeline.Thresholds{}); len(bad) > 0 {
		var lines []string
		for _, b := range bad {
			lines = append(lines, b.Error())
		}
		return ch.stop(pipeline.VerifyFailed, 0, "%s", strings.Join(lines, "; "))
	}
	return pipeline.Out{Next: pipeline.Waiting, Note: inLine(report)}, nil
}

// measured is what the same checks say of the base, nil where the project
// measures nothing that could be worse than there.
func (ch *change) measured(ctx context.Context, is pipeline.Report, commands [][]string) (*pipeline.Report, error) {
	if !slices.ContainsFunc(pipeline.Measured(is.Ran), func(m pipeline.Measure) bool {
		return m.Name == pipeline.MeasureCoverage || m.Name == pipeline.MeasureLint
	}) {
		return nil, nil
	}
	r, err := ch.examine(ctx, ch.c.base, ch.candidate.Files, commands, nil, false)
	return &r, err
}
