package start

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/cmd/internal/approval"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/history"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session/cage"
)

// DoctorVerb declares odd doctor.
func DoctorVerb(env console.Env) *cli.Command {
	return verb.New("doctor", "check git, odd.toml, the agent, sandbox, hooks and CI, and say what to do",
		"odd doctor\n"+
			"odd doctor --remote\n\n"+
			"Each line is ok, warn or fault: what was checked, what odd found, and what to\n"+
			"do about it. A fault keeps odd from working here; then the exit code is 1.\n"+
			"odd doctor changes nothing, and asks the remote only with --remote.",
		verb.Do(env, runDoctor), &cli.BoolFlag{Name: "remote", Usage: "also ask the remote of [board] remote for the branches that odd uses"})
}

// The levels of a diagnosis.
const (
	wellLevel  = "ok"
	warnLevel  = "warn"
	faultLevel = "fault"
)

type diagnosis struct {
	Check string `json:"check"`
	Level string `json:"level"`
	Found string `json:"found"`
	Mend  string `json:"mend,omitempty"` // what to do, a command where there is one
}

type examination struct {
	env  console.Env
	repo *repo.Repo
	cfg  config.Config
	all  []diagnosis
}

func (e *examination) addDiagnosis(level, check, found, mend string) {
	e.all = append(e.all, diagnosis{check, level, found, mend})
}

// addError says an error, whose last part is what to do about it.
func (e *examination) addError(level, check string, err error) {
	for text := range strings.SplitSeq(err.Error(), "\n") {
		found, mend := text, ""
		if i := strings.LastIndex(text, "; "); i >= 0 {
			found, mend = text[:i], text[i+2:]
		}
		e.addDiagnosis(level, check, found, mend)
	}
}

func runDoctor(c *cli.Context, env console.Env) error {
	e := &examination{env: env, cfg: config.Default()}
	if e.checkRepository(c.Context) {
		set := e.checkSettings(c.Context)
		e.checkIdentity(c.Context)
		if set {
			e.checkSigning(c.Context)
			e.checkAgents()
			e.checkPrograms(c.Context)
			e.checkSandbox(c.Context)
			e.checkHooks(c.Context)
			e.checkWorkflows()
			e.checkRemote(c.Context, c.Bool("remote"))
		}
	}
	faults := 0
	err := console.ShowList(env, c.Bool("json"), e.all, "", func(d diagnosis) []string {
		if d.Level == faultLevel {
			faults++
		}
		return []string{d.Level, d.Check, strings.TrimSuffix(d.Found+"; "+d.Mend, "; ")}
	})
	if err == nil && faults > 0 {
		console.Talk(env, "doctor: %s to mend", console.CountNoun(faults, "fault"))
	}
	return verb.OrFault(err, faults > 0)
}

// checkRepository checks git and the repository, and reports whether more can be checked.
func (e *examination) checkRepository(ctx context.Context) bool {
	r, err := workspace.OpenWorkTree(e.env)
	if err != nil {
		e.addError(faultLevel, "repository", err)
		return false
	}
	e.repo = r
	v, err := r.Version(ctx)
	var major, minor int
	switch _, bad := fmt.Sscanf(v, "%d.%d", &major, &minor); {
	case err != nil:
		e.addError(faultLevel, "git", err)
		return false
	case bad != nil || major < 2 || major == 2 && minor < 38:
		e.addDiagnosis(faultLevel, "git", "this is git "+v, "install git 2.38 or newer")
	default:
		e.addDiagnosis(wellLevel, "git", v, "")
	}
	switch _, err := r.Resolve(ctx, "HEAD"); {
	case r.Shallow():
		e.addDiagnosis(faultLevel, "repository", r.Root()+" is a shallow clone, in which odd runs no tasks", "git fetch --unshallow")
	case err != nil:
		e.addDiagnosis(faultLevel, "repository", r.Root()+" has no commit yet", `git add -A && git commit -m "odd: begin"`)
	default:
		if err := r.CheckWritable(); err != nil {
			e.addError(faultLevel, "repository", err)
			break
		}
		e.addDiagnosis(wellLevel, "repository", r.Root(), "")
	}
	return true
}

func (e *examination) checkIdentity(ctx context.Context) {
	who, err := e.repo.Identity(ctx)
	if err != nil {
		e.addDiagnosis(faultLevel, "identity", "git does not know who you are", "git config --global user.name \"NAME\" && git config --global user.email YOU@EXAMPLE.ORG")
		return
	}
	w := workspace.Clone{Env: e.env, Config: e.cfg}
	at := land.PersonPlace(&w)
	at.CI, at.Session = false, ""
	if err := review.Allowed("approve", review.Person{Name: who.Name, Email: who.Email}, at); err != nil {
		e.addError(faultLevel, "identity", err)
		return
	}
	e.addDiagnosis(wellLevel, "identity", fmt.Sprintf("%s <%s>", who.Name, who.Email), "")
	if why := e.env.AgentSign(); why != "" {
		e.addDiagnosis(warnLevel, "person", "this looks like an agent's session ("+why+"), where nobody can approve", "use a terminal of your own")
	}
}

// checkSettings reads odd.toml, and reports whether more can be checked.
func (e *examination) checkSettings(ctx context.Context) bool {
	w, err := workspace.OpenConfigured(e.env, e.repo)
	if err != nil {
		e.addError(faultLevel, "odd.toml", err)
		return false
	}
	e.cfg = w.Config
	w.Looking = true
	v, err := w.ReadBoard(ctx, false)
	switch {
	case err != nil:
		e.addError(faultLevel, "board", err)
		return true
	case len(v.Problems) > 0:
		e.addDiagnosis(warnLevel, "board", v.Line.Name()+": "+console.CountNoun(len(v.Problems), "problem"), "odd check")
	default:
		e.addDiagnosis(wellLevel, "board", fmt.Sprintf("branch %s, %s", v.Line.Name(), console.CountNoun(len(v.TaskRows()), "task")), "")
	}
	e.checkRuns(v)
	if dirty, err := e.repo.Dirty(ctx, "odd.toml"); err == nil && len(dirty) > 0 {
		e.addDiagnosis(warnLevel, "odd.toml", "has uncommitted edits, which odd ignores", "git commit odd.toml")
	} else {
		e.addDiagnosis(wellLevel, "odd.toml", "committed", "")
	}
	lines, err := history.MissingUnions(ctx, e.repo, e.cfg.Root)
	if err == nil && len(lines) > 0 {
		e.addDiagnosis(warnLevel, "merges", e.cfg.Root+"/"+workspace.AttributesFile+" lacks "+strings.Join(lines, " and "), "add each as a line")
	}
	ignored, err := e.repo.Ignored(ctx, bundleSamples(e.cfg.Root)...)
	if len(ignored) > 0 {
		name := slices.Min(slices.Collect(maps.Keys(ignored)))
		e.addDiagnosis(warnLevel, "ignored", "git ignores files such as "+name+" by "+ignored[name],
			"take that line out, or add the lines !*/ and !*"+path.Ext(name)+" to "+e.cfg.Root+"/.gitignore")
	}
	if err != nil {
		e.addError(faultLevel, "ignored", err)
	}
	return true
}

// checkRuns tells the tasks whose run was killed in this clone.
func (e *examination) checkRuns(v *workspace.Board) {
	killed, err := e.repo.KilledRuns()
	if err != nil {
		e.addError(faultLevel, "runs", err)
	}
	for _, h := range firstOfRows(v.TaskRows()).Held {
		if slices.Contains(killed, h.Run) {
			e.addDiagnosis(warnLevel, "runs", h.Run+" was killed while it worked on "+h.Task, "odd drain frees the task")
		}
	}
}

func (e *examination) checkSigning(ctx context.Context) {
	signs, _ := e.repo.Config(ctx, "commit.gpgsign")
	key, _ := e.repo.Config(ctx, "user.signingkey")
	switch on := strings.EqualFold(signs, "true"); {
	case e.cfg.RequireSigned && !on:
		e.addDiagnosis(faultLevel, "keys", "[governance] require_signed is set, and your git signs no commits", "git config commit.gpgsign true")
	case on && key == "":
		e.addDiagnosis(warnLevel, "keys", "git signs commits, and no key is named", "git config user.signingkey KEY")
	case on:
		e.addDiagnosis(wellLevel, "keys", "git signs your commits", "")
	default:
		e.addDiagnosis(wellLevel, "keys", "commits need no signature; [governance] require_signed asks for one", "")
	}
	if name := e.cfg.AllowedSigners; name != "" {
		if _, err := os.Stat(filepath.Join(e.repo.Root(), filepath.FromSlash(name))); err != nil {
			e.addDiagnosis(faultLevel, "keys", name+": [governance] allowed_signers names it, and it is not there", "write it: one line a person, ADDRESS KEYTYPE KEY")
		}
	}
}

func (e *examination) checkAgents() {
	if !e.cfg.Free() && !e.cfg.HasBudget {
		mend := "odd config set budget.monthly_usd 20"
		if e.cfg.Costly() == "exec" {
			mend += ", or, for a program that costs nothing, odd config set substrate.exec.free true"
		}
		e.addDiagnosis(faultLevel, "budget", "the agent "+e.cfg.Costly()+" can cost money, and no budget is set", mend)
	}
	for _, name := range append([]string{e.cfg.Session.Substrate}, e.cfg.Session.Fallback...) {
		cfg := e.cfg.Using(name, "")
		level := faultLevel
		if name != e.cfg.Session.Substrate {
			level = warnLevel
		}
		argv := cfg.Agent(name).Argv
		if name == "claude" && len(argv) == 0 {
			argv = []string{"claude"}
		}
		err := agent.Equipped(cfg, e.env.Environ)
		if err != nil {
			e.addError(level, "agent", err)
		}
		if len(argv) > 0 {
			if bad := cage.Installed(argv[0], e.repo.Root()); bad != nil {
				err = bad
				e.addDiagnosis(level, "agent", fmt.Sprintf("%s: its program %s %v", name, argv[0], bad), "install it, or odd config set substrate."+name+".argv PROGRAM")
			}
		}
		if err == nil {
			e.addDiagnosis(wellLevel, "agent", approval.MadeBy(name), "")
		}
	}
}

func (e *examination) checkPrograms(ctx context.Context) {
	for _, of := range []struct {
		key   string
		argvs [][]string
	}{{"pipeline.validate", e.cfg.Pipeline.Validate}, {"pipeline.verify", e.cfg.Pipeline.Verify}} {
		for _, argv := range of.argvs {
			if bad := cage.Installed(argv[0], e.repo.Root()); bad != nil {
				e.addDiagnosis(faultLevel, "checks", fmt.Sprintf("%s: its program %s %v", of.key, argv[0], bad), "install it, or odd config set "+of.key+" COMMAND")
				return
			}
		}
	}
	if len(e.cfg.Pipeline.Validate) > 0 {
		e.addDiagnosis(wellLevel, "checks", "programs found", "")
		return
	}
	paths, err := e.repo.WorkFiles(ctx)
	if err != nil {
		e.addError(faultLevel, "checks", err)
		return
	}
	level := wellLevel
	if e.cfg.Session.Substrate != "extract" && !slices.ContainsFunc(paths, func(p string) bool { return path.Base(p) == "go.mod" }) {
		level = warnLevel
	}
	e.addDiagnosis(level, "checks", "go build, vet and test of changed Go code, and none of other code", "odd config set pipeline.validate COMMAND names yours")
}

func (e *examination) checkSandbox(ctx context.Context) {
	held, err := agent.Hold(e.env.Cage, e.cfg.Sandbox, e.repo.CommonDir())
	if err == nil {
		err = agent.Demand(ctx, held, e.env.Temp, e.cfg.Sandbox)
	}
	if err != nil {
		e.addError(faultLevel, "sandbox", err)
		return
	}
	tried, err := held.Try(ctx, e.env.Temp)
	switch {
	case err != nil:
		e.addDiagnosis(warnLevel, "sandbox", "nothing could be tried: "+err.Error(), "odd status --sandbox")
	case tried.Held.Landlock == 0:
		e.addDiagnosis(warnLevel, "sandbox", "agents' programs can read and write what you can", "odd status --sandbox says why")
	default:
		e.addDiagnosis(wellLevel, "sandbox", approval.DescribeSandbox(tried.Held.String()), "")
	}
}

func (e *examination) checkHooks(ctx context.Context) {
	in := e.env
	in.Dir = e.repo.Root()
	h, err := history.HookHere(ctx, in)
	var own []byte
	if err == nil {
		own, err = h.ReadOwn()
	}
	switch {
	case err != nil:
		e.addError(warnLevel, "hooks", err)
	case own == nil:
		e.addDiagnosis(wellLevel, "hooks", "none; odd hook install checks before each push of this clone", "")
	case e.env.FindProgram("odd") == "":
		e.addDiagnosis(faultLevel, "hooks", h.Path+" refuses every push: odd is not on the PATH", "put odd there, or odd hook uninstall")
	default:
		e.addDiagnosis(wellLevel, "hooks", h.Name, "")
	}
}

func (e *examination) checkWorkflows() {
	files := os.DirFS(e.repo.Root())
	names, _ := fs.Glob(files, ".github/workflows/*.y*ml")
	var found []string
	for _, name := range names {
		if b, err := fs.ReadFile(files, name); err == nil && (strings.Contains(string(b), "odd check") || strings.Contains(string(b), "odd-cli/odd") || strings.Contains(string(b), "odd drain")) {
			found = append(found, path.Base(name))
		}
	}
	if len(found) == 0 {
		e.addDiagnosis(wellLevel, "CI", "no workflow runs odd; odd init --ci github adds one that checks each push", "")
		return
	}
	e.addDiagnosis(wellLevel, "CI", strings.Join(found, ", "), "")
}

func (e *examination) checkRemote(ctx context.Context, ask bool) {
	name := e.cfg.Remote
	if name == "" {
		e.addDiagnosis(wellLevel, "remote", "none: this clone alone has the board; odd config set board.remote origin shares it", "")
		return
	}
	if url, err := e.repo.Config(ctx, "remote."+name+".url"); err != nil || url == "" {
		e.addDiagnosis(faultLevel, "remote", "[board] remote is "+name+", and git knows no such remote", "git remote add "+name+" ADDRESS")
		return
	}
	w := workspace.Clone{Env: e.env, Repo: e.repo, Config: e.cfg, Looking: true}
	board, err := w.BoardRef()
	if err != nil {
		e.addError(faultLevel, "remote", err)
		return
	}
	branch := strings.TrimPrefix(board, "refs/heads/")
	if !ask {
		e.addDiagnosis(wellLevel, "remote", name+"; odd doctor --remote asks it for "+branch, "")
	} else if tip, err := e.repo.RemoteRef(ctx, name, board); err != nil {
		e.addDiagnosis(faultLevel, "remote", name+" does not answer: "+console.OneLine(err.Error()), "git ls-remote "+name)
	} else if tip == "" {
		e.addDiagnosis(faultLevel, "remote", name+" has no branch "+branch, "git push "+name+" "+branch)
	} else {
		e.addDiagnosis(wellLevel, "remote", name+" has "+branch+" at "+console.ShortID(tip), "")
	}
	if e.cfg.Target == "" || e.cfg.Target == branch {
		e.addDiagnosis(warnLevel, "protection", "odd pushes to "+branch+" itself; a forge that protects this branch refuses that",
			"if yours does: odd config set board.branch odd/board && odd config set board.target "+branch)
	} else {
		e.addDiagnosis(wellLevel, "protection", e.cfg.Target+" may be protected: odd pushes to "+branch, "")
	}
}
