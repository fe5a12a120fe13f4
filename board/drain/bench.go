package drain

import (
	"context"
	"errors"
	"go/build"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Bench is where commits are checked, and what their checks may know.
type Bench struct {
	Temp    string           // where scratch repositories are made, outside the repository; "" makes none
	Environ []string         // odd's own environment, of which checks see what odd.toml names
	Cage    cage.Cage        // by what odd can hold checks
	Run     string           // who asks: ODD_RUN of the checks
	Now     func() time.Time // the clock
	Say     func(string)     // one line of talk
}

func (pl place) bench() Bench {
	return Bench{Temp: pl.Temp, Environ: pl.Environ, Cage: pl.Cage, Run: pl.Run, Now: pl.Now, Say: pl.say}
}

// checkJob is a commit that is checked, and by what.
type checkJob struct {
	commit   repo.OID
	task     board.Task
	cfg      config.Config
	files    []pipeline.Edit // the change in it
	findings []policy.Finding
	again    bool // checks that failed are run once more, to tell a flake
	parse    bool // parsers of this machine read the files of the change first
}

// examine runs the checks of a commit in a scratch repository of it. Where there
// is no check, none is made.
func (b Bench) examine(ctx context.Context, r *repo.Repo, t checkJob) (pipeline.Report, error) {
	tree, err := r.Tree(t.commit)
	if err != nil {
		return pipeline.Report{}, err
	}
	graph, err := pipeline.ReadGraph(tree)
	if err != nil {
		return pipeline.Report{}, err
	}
	law := t.cfg.Pipeline
	checks, more := pipeline.Checks(t.files, pipeline.Project{
		Files: tree, Commands: law.Validate, Verify: law.Verify, Accept: t.task.Commands, Graph: graph, Build: nativeBuild(law.CheckEnv), Timeout: law.CheckTimeout,
	})
	findings := append(slices.Clip(t.findings), more...)
	parse := t.parse && isParseable(t.files)
	if len(checks) == 0 && !parse {
		return pipeline.Examine(ctx, nil, findings, false, nil), nil
	}
	if b.Temp == "" {
		return pipeline.Report{}, errors.New("there is no temporary folder to check the change in")
	}
	s, err := r.Bench(ctx, b.Temp, t.commit, repo.Signature{Name: t.cfg.AgentName, Email: t.cfg.AgentEmail, When: b.Now()})
	if err != nil {
		return pipeline.Report{}, err
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Say(err.Error())
		}
	}()
	as, err := b.newCommand(r, t.cfg, s)
	if err != nil {
		return pipeline.Report{}, err
	}
	if parse {
		findings = append(findings, b.parseFiles(ctx, t.files, as)...)
	}
	return pipeline.Examine(ctx, checks, findings, t.again, func(ctx context.Context, c pipeline.Check) pipeline.Ran {
		return b.runCheck(ctx, c, as)
	}), nil
}

// newCommand returns a command at a desk, held as a configuration says, without its words yet.
func (b Bench) newCommand(r *repo.Repo, cfg config.Config, s *repo.Scratch) (exec.Command, error) {
	desk, err := deskOf(s)
	var held cage.Cage
	if err == nil {
		held, err = Caged(b.Cage, cfg.Sandbox, r.CommonDir())
	}
	if err == nil {
		desk.Cache, err = cacheDir(r, held, checkCache)
	}
	return sessionCommand(b.Environ, cfg, held, desk, b.Run), err
}

func (b Bench) runCheck(ctx context.Context, c pipeline.Check, as exec.Command) pipeline.Ran {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	b.Say("checking: " + c.Name)
	as.Argv, as.Dir = c.Argv, c.Dir
	r := exec.Run(ctx, as)
	r.Output = envCredentials(as.Env).hideValues(r.Output)
	return pipeline.Ran{Check: c, Done: r.Done, Exit: r.Exit, Fault: r.Fault, Detail: r.Detail, Output: r.Output, Held: r.Held.String()}
}

// examineAgainst is examine. What the checks of a commit that passes them measure may not be worse
// than at base.
func (b Bench) examineAgainst(ctx context.Context, r *repo.Repo, t checkJob, base repo.OID) (pipeline.Report, error) {
	is, err := b.examine(ctx, r, t)
	if err != nil || !is.Passed() {
		return is, err
	}
	var was pipeline.Report
	if slices.ContainsFunc(pipeline.Measured(is.Ran), func(m pipeline.Measure) bool {
		return m.Name == pipeline.MeasureCoverage || m.Name == pipeline.MeasureLint
	}) { // else the project measures nothing that could be worse than there
		t.commit, t.parse, t.again = base, false, false
		if was, err = b.examine(ctx, r, t); err != nil {
			return is, err
		}
	}
	is.Breaches = pipeline.Hold(is, was, t.files)
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
