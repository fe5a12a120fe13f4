// Package bench runs the checks of a commit in a scratch repository, and judges a proposed change of files
// once more on what is there now, before it is approved. It knows no board but the task that a change is of.
package bench

import (
	"context"
	"errors"
	"go/build"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/scratch"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Bench is where commits are checked, and what their checks may know.
type Bench struct {
	agent.Host
	Say func(string) // one line of talk
}

// Job is a commit that is checked, and by what.
type Job struct {
	Commit   repo.OID
	Task     board.Task
	Cfg      config.Config
	Files    []pipeline.Edit // the change in it
	Findings []policy.Finding
	Parse    bool // parsers of this machine read the files of the change first
}

// Examine runs the checks of a commit in a scratch repository of it. Where there
// is no check, none is made.
func (b Bench) Examine(ctx context.Context, r *repo.Repo, t Job) (pipeline.Report, error) {
	tree, err := r.Tree(t.Commit)
	if err != nil {
		return pipeline.Report{}, err
	}
	graph, err := pipeline.ReadGraph(tree)
	if err != nil {
		return pipeline.Report{}, err
	}
	law := t.Cfg.Pipeline
	checks, more := pipeline.Checks(t.Files, pipeline.Project{
		Files: tree, Commands: law.Validate, Verify: law.Verify, Accept: t.Task.Commands, Graph: graph, Build: nativeBuild(law.CheckEnv), Timeout: law.CheckTimeout,
	})
	findings := append(slices.Clip(t.Findings), more...)
	parse := t.Parse && isParseable(t.Files)
	if len(checks) == 0 && !parse {
		return pipeline.Examine(nil, findings, nil), nil
	}
	if b.Temp == "" {
		return pipeline.Report{}, errors.New("there is no temporary folder to check the change in")
	}
	s, err := scratch.Bench(ctx, r, b.Temp, t.Commit, repo.Signature{Name: t.Cfg.AgentName, Email: t.Cfg.AgentEmail, When: b.Now()})
	if err != nil {
		return pipeline.Report{}, err
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Say(err.Error())
		}
	}()
	as, err := b.newCommand(r, t.Cfg, s)
	if err != nil {
		return pipeline.Report{}, err
	}
	if parse {
		findings = append(findings, b.parseFiles(ctx, t.Files, as)...)
	}
	return pipeline.Examine(checks, findings, func(c pipeline.Check) pipeline.Ran { return b.runCheck(ctx, c, as) }), nil
}

// newCommand returns a command at a desk, held as a configuration says, without its words yet.
func (b Bench) newCommand(r *repo.Repo, cfg config.Config, s *scratch.Clone) (exec.Command, error) {
	desk, err := agent.DeskOf(s)
	var held cage.Cage
	if err == nil {
		held, err = agent.Hold(b.Cage, cfg.Sandbox, r.CommonDir())
	}
	if err == nil {
		desk.Cache, err = agent.CacheDir(r, held, agent.CheckCache)
	}
	return b.Command(cfg, held, desk), err
}

func (b Bench) runCheck(ctx context.Context, c pipeline.Check, as exec.Command) pipeline.Ran {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	b.Say("checking: " + c.Name)
	as.Argv, as.Dir = c.Argv, c.Dir
	r := agent.Run(ctx, as)
	return pipeline.Ran{Done: r.Done, Exit: r.Exit, Fault: r.Fault, Detail: r.Detail, Output: r.Output, Sandbox: r.Held.String()}
}

// ExamineAgainst is Examine. What the checks of a commit that passes them measure may not be worse
// than at base.
func (b Bench) ExamineAgainst(ctx context.Context, r *repo.Repo, t Job, base repo.OID) (pipeline.Report, error) {
	is, err := b.Examine(ctx, r, t)
	if err != nil || !is.Passed() {
		return is, err
	}
	if now := pipeline.Measured(is.Ran); len(now) > 0 { // else nothing could be worse than at base
		t.Commit, t.Parse = base, false
		was, err := b.Examine(ctx, r, t)
		if err != nil {
			return is, err
		}
		is.Breaches = pipeline.Worse(pipeline.Measured(was.Ran), now)
	}
	return is, nil
}

// nativeBuild is what go builds for in a check: this machine, unless a person lets it
// see settings of go's that may say otherwise.
func nativeBuild(env []string) *build.Context {
	if slices.ContainsFunc(env, func(name string) bool {
		return strings.HasPrefix(name, "GO") && name != "GOCACHE" && name != "GOMODCACHE"
	}) {
		return nil
	}
	return &build.Context{GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, Compiler: build.Default.Compiler, ReleaseTags: build.Default.ReleaseTags, ToolTags: build.Default.ToolTags}
}

// Bounds of what parsers are asked: files of a change, and the time for each of them.
const (
	mostParsed = 100
	parseTime  = 20 * time.Second
)

// isParseable reports a change with a file that a parser may be asked about.
func isParseable(files []pipeline.Edit) bool {
	return slices.ContainsFunc(files, func(e pipeline.Edit) bool { return e.After != nil && len(pipeline.Parsers(e.Path)) > 0 })
}

// parseFiles asks the parsers of this machine about the files of a change. A file that did
// not parse before either is passed over: it may be of another version of its language.
func (b Bench) parseFiles(ctx context.Context, files []pipeline.Edit, as exec.Command) (out []policy.Finding) {
	asked := 0
	for _, e := range files {
		if e.After == nil || len(pipeline.Parsers(e.Path)) == 0 || pipeline.Markup(e.After) || asked == mostParsed {
			continue
		}
		asked++
		b.Say("checking: " + e.Path + " parses")
		f, bad := findUnparsed(ctx, e.Path, e.After, as)
		if bad && e.Before != nil {
			_, was := findUnparsed(ctx, e.Path, e.Before, as)
			bad = !was
		}
		if bad {
			out = append(out, f)
		}
	}
	return out
}

// findUnparsed is a finding where every parser of a file's language is there and refuses
// the source.
func findUnparsed(ctx context.Context, name string, src []byte, as exec.Command) (last policy.Finding, bad bool) {
	for _, argv := range pipeline.Parsers(name) {
		as.Argv, as.Input = argv, src
		ctx, cancel := context.WithTimeout(ctx, parseTime)
		r := exec.Run(ctx, as)
		cancel()
		if last, bad = pipeline.Unreadable(name, r.Output); !bad {
			break
		}
	}
	return last, bad
}
