package risk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/memory"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Site is where the changes of one task are judged.
type Site struct {
	Base   repo.OID   // the commit they are made on
	Board  repo.OID   // the board's, whose history says who filed the task
	Bundle *okf.Graph // as the board has it; nil: it is read
	Law    config.Config
	Task   board.Task     // that asks for them; the zero one for none
	Past   []memory.Trial // that the ledgers of that board tell of
}

// Ground is what changes are judged on: a site, and what its history says of it.
// Whoever has that history has the same ground, and makes the same of the same bytes.
type Ground struct {
	Site
	r   *repo.Repo
	all pipeline.Evidence // without files
}

// Survey reads the ground of a site.
func Survey(ctx context.Context, r *repo.Repo, at Site) (*Ground, error) {
	g := &Ground{Site: at, r: r}
	if g.Bundle == nil {
		files, err := r.Tree(at.Board)
		if err != nil {
			return nil, err
		}
		bundle, err := fs.Sub(files, at.Law.Root)
		if err != nil {
			return nil, err
		}
		var problems []okf.Problem
		if g.Bundle, problems, err = okf.Load(bundle); err == nil {
			err = okf.Unread(problems)
		}
		if err != nil {
			return nil, err
		}
	}
	files, err := r.Tree(at.Base)
	if err != nil {
		return nil, err
	}
	if g.all.Graph, err = pipeline.ReadGraph(files); err != nil {
		return nil, err
	}
	if g.all.GoMod, err = bytesAt(r, at.Base, "go.mod"); err != nil {
		return nil, err
	}
	g.all.Bundle, g.all.Scope = at.Law.Root, at.Task.Paths
	if at.Task.Path != "" {
		g.all.Filed, err = whoFiled(ctx, r, at.Board, path.Join(at.Law.Root, at.Task.Path))
	}
	return g, err
}

// Paths are all paths of the base.
func (g *Ground) Paths() []string { return g.all.Graph.Files }

func (g *Ground) evidenceOf(files []pipeline.Edit, now time.Time, substrate string, made pipeline.Made) pipeline.Evidence {
	e := g.all
	e.Files, e.Policy, e.Now, e.Substrate, e.Made, e.Past = files, riskPolicy(g.Law), now, substrate, made, Past(g.Past, g.Law, now)
	e.Atoms = pipeline.AtomsNaming(g.Bundle, g.Law.Root, pipeline.Candidate{Files: files}.Paths())
	return e
}

// Judgement is what the rules make of one change.
type Judgement struct {
	Gate  lint.Verdict     // of its bytes
	Risk  pipeline.Verdict // of what it touches, the gate's findings heard
	Rules string           // SHA-256, hex, of both tables of rules and both policies
}

// Gate is what the iron gate says of a change.
func (g *Ground) Gate(files []pipeline.Edit) (lint.Verdict, error) {
	beside, err := g.filesBeside(files)
	if err != nil {
		return lint.Verdict{}, err
	}
	return g.gateVerdict(files, beside), nil
}

// gateVerdict leaves out files that are only said to change: they have nothing to be judged.
func (g *Ground) gateVerdict(files []pipeline.Edit, beside []lint.File) lint.Verdict {
	p := gatePolicy(g.all.GoMod, g.Task.Paths, g.Task.Commands, g.Law)
	p.Beside = beside
	changed := slices.DeleteFunc(slices.Clone(files), func(e pipeline.Edit) bool { return e.Before != nil && e.Unchanged() })
	return lint.Judge(pipeline.Candidate{Files: changed}.Gate(), p)
}

// gatePolicy is what a task with this scope and odd.toml ask of a change besides
// the gate's own rules. The programs of the repository that are to judge a change
// are protected from it.
func gatePolicy(mod []byte, scope []string, accept [][]string, law config.Config) lint.Options {
	judges := listPrograms(slices.Concat(law.Pipeline.Validate, law.Pipeline.Verify, accept))
	return lint.Options{Paths: scope, Protect: slices.Concat(policy.GatePackages(mod), law.Pipeline.Protected, judges)}
}

// listPrograms are the files that commands run, themselves or by what they run in turn:
// a program with a slash in its name, or the script that an interpreter is given.
func listPrograms(commands [][]string) []string {
	var out []string
	for _, argv := range commands {
		for _, run := range policy.JudgeArgv(argv, policy.CommandPolicy{}).Programs {
			p := scriptOf(run)
			if name := path.Clean(p); strings.Contains(p, "/") && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "-") {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// interpreter are the letters of a program's flags that take a value, also as the
// next word; those of which only what is behind them is their value; and those that
// give it what to run instead of a script.
type interpreter struct{ takes, ends, instead string }

// interpreters are known by their names without a version.
func interpreters() map[string]interpreter {
	shell, node := interpreter{"oO", "", "cs"}, interpreter{"rC", "", "ep"}
	return map[string]interpreter{
		"sh": shell, "bash": shell, "dash": shell, "zsh": shell, "ksh": shell, "node": node, "nodejs": node,
		"python": {"WX", "", "cm"}, "pypy": {"WX", "", "cm"}, "ruby": {"rICE", "iFxWKT", "e"}, "perl": {"I", "MmiFx", "eE"}, "php": {"cdz", "", "rBRE"},
	}
}

// valueFlags returns the long flags of an interpreter that take the next word.
func valueFlags() []string {
	return []string{"--rcfile", "--init-file", "--require", "--import", "--loader"}
}

// scriptOf is the file that a program runs, itself or its script; "" for none.
func scriptOf(argv []string) string {
	of, ok := interpreters()[strings.TrimRight(path.Base(argv[0]), "0123456789.")]
	if !ok {
		return argv[0]
	}
	for i := 1; i < len(argv); i++ {
		flag := argv[i]
		if strings.HasPrefix(flag, "--") {
			if slices.Contains(valueFlags(), flag) {
				i++
			}
			continue
		}
		if len(flag) < 2 || flag[0] != '-' && flag[0] != '+' {
			return "./" + flag
		}
		next, instead := of.readFlags(flag[1:])
		if instead {
			return ""
		}
		if next {
			i++
		}
	}
	return ""
}

// readFlags reports of the letters behind a dash that the last of them takes the next
// word, or that one of them gives what to run.
func (of interpreter) readFlags(letters string) (next, instead bool) {
	for i, c := range letters {
		switch {
		case strings.ContainsRune(of.instead, c):
			return false, true
		case strings.ContainsRune(of.takes, c):
			return i == len(letters)-1, false
		case strings.ContainsRune(of.ends, c):
			return false, false
		}
	}
	return false, false
}

// GatePolicy is what the iron gate holds a change of files to that a task asks
// for, on base.
func GatePolicy(r *repo.Repo, base repo.OID, t board.Task, law config.Config) lint.Options {
	mod, _ := bytesAt(r, base, "go.mod") // one that is no file protects what is protected without one
	return gatePolicy(mod, t.Paths, t.Commands, law)
}

// Rules is the hash of all that a change of the task on base is judged by; an
// approval is bound to it.
func Rules(r *repo.Repo, base repo.OID, t board.Task, law config.Config) string {
	return hashRules(lint.RulesHash(GatePolicy(r, base, t, law)), pipeline.RulesHash(riskPolicy(law)))
}

func hashRules(gate, risk string) string {
	sum := sha256.Sum256([]byte(gate + "\n" + risk + "\n"))
	return hex.EncodeToString(sum[:])
}

// Judge is the whole judgement of a change at a moment, made in such a way by sessions
// of a substrate.
func (g *Ground) Judge(files []pipeline.Edit, now time.Time, substrate string, made pipeline.Made) (Judgement, error) {
	beside, err := g.filesBeside(files)
	if err != nil {
		return Judgement{}, err
	}
	j, e := Judgement{Gate: g.gateVerdict(files, beside)}, g.evidenceOf(files, now, substrate, made)
	e.Findings = j.Gate.Findings
	for _, f := range beside {
		e.Texts = append(e.Texts, f.Before)
	}
	j.Risk = pipeline.Assess(e)
	j.Rules = hashRules(j.Gate.RulesHash, j.Risk.Rules)
	return j, nil
}

// Foresee judges what the task's paths allow, before there is a change: each file
// of the base outside the bundle that they mean, and each that they name and that
// is not there. No change within them can have a lower tier. meant counts the files.
func (g *Ground) Foresee(now time.Time, substrate string) (v pipeline.Verdict, meant int) {
	files := meantFiles(g.all.Graph.Files, g.all.Scope, g.Law.Root)
	return pipeline.Foresee(g.evidenceOf(files, now, substrate, pipeline.Made{Seen: !Opaque(substrate)})), len(files)
}

// meantFiles are the files that globs mean among those of a base, as if each were
// changed, and what they name without a sign of a glob, as if it were added. What
// lies in the bundle, whose folder is root, is left out.
func meantFiles(base, globs []string, root string) []pipeline.Edit {
	var out []pipeline.Edit
	met := map[string]bool{}
	for _, p := range base {
		i := slices.IndexFunc(globs, func(g string) bool { return policy.MatchGlob(g, p) })
		if i < 0 || strings.HasPrefix(p, root+"/") {
			continue
		}
		met[globs[i]] = true
		out = append(out, pipeline.Edit{Path: p, Before: []byte{}, After: []byte{}, OldMode: "100644", NewMode: "100644"})
	}
	for _, g := range globs {
		if !met[g] && !strings.ContainsAny(g, "*?[") && !strings.HasPrefix(g, root+"/") {
			out = append(out, pipeline.Edit{Path: g, After: []byte{}, NewMode: "100644"})
		}
	}
	return out
}

// Describe is a verdict in a line: what it is about and why, the way out, and its tier and rule.
func Describe(v pipeline.Verdict) string {
	return fmt.Sprintf("%s; %s [%s, %s]", v.Text(), v.Way, v.Tier, v.Code)
}

// Missing is an entry of [governance.approvers] too few of whose people approved a file.
type Missing struct {
	Path   string
	Of     string // the entry
	People []string
	More   int // of them, that must approve
}

// Approvers are the entries about a file that by, the addresses of who approve it, do not
// satisfy. types are those its atom had and has, none for another file.
func Approvers(cfg config.Config, path string, types, by []string) (out []Missing) {
	for _, of := range slices.Sorted(maps.Keys(cfg.Approvers)) {
		if !policy.MatchGlob(of, path) && !slices.Contains(types, of) {
			continue
		}
		m := Missing{path, of, nil, cfg.Approvals}
		for _, who := range cfg.Approvers[of] {
			if slices.ContainsFunc(by, func(s string) bool { return strings.EqualFold(s, who) }) {
				m.More--
			} else {
				m.People = append(m.People, who)
			}
		}
		if m.More > 0 {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b Missing) int { return cmp.Compare(len(a.People), len(b.People)) })
	return out
}

// isForPerson are the hard findings about which a person may be of another mind:
// what a change does to code, which the person sees at the review.
func isForPerson(f policy.Finding) bool {
	return slices.Contains([]string{
		"function_body_collapsed", "guard_constant", "permission_loosened",
		"shell_exec_introduced", "dynamic_code_introduced", "generate_denied", "load_side_effect", "guard_fault",
	}, f.Code)
}

// Refusing are the findings of a change that no person is asked about, soft ones among them:
// they send the change back, or end it. A test that vouches for less than it did
// is one, unless a person filed the task and named that very file in its paths;
// then a person sees it at the review.
func (g *Ground) Refusing(all []policy.Finding) []policy.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f policy.Finding) bool {
		asked := g.all.Filed == pipeline.FiledByPerson && slices.Contains(g.all.Scope, f.Path)
		return isForPerson(f) || asked && pipeline.WeakensTests(f.Code)
	})
}

// Lane is the way the work of a task takes, the row that says so, and how much work
// it is by the task's own words and paths. root is the bundle's folder: a task that
// changes nothing outside of it is background work where it is of low priority.
func Lane(root string, t board.Task) (lane pipeline.Lane, why string, complexity pipeline.Complexity) {
	complexity = pipeline.ComplexityOf(t.Title, t.Paths)
	s := pipeline.Signal{Source: cmp.Or(t.Signal, "task"), Priority: t.Priority, Complexity: complexity, Files: len(t.Paths)}
	outside := func(glob string) bool { return glob != root && !strings.HasPrefix(glob, root+"/") }
	if t.Priority == "p3" && t.Signal == "" && !slices.ContainsFunc(t.Paths, outside) {
		s.Source = "backlog"
	}
	lane, why = pipeline.LaneFor(s)
	return lane, why, complexity
}

// Limits are what the sessions for a task may take: those of its lane, and what the
// task itself says of turns and money.
func Limits(law config.Config, t board.Task) config.Limits {
	lane, _, _ := Lane(law.Root, t)
	l := law.Limits(string(lane))
	l.Turns, l.MaxCost = cmp.Or(t.MaxTurns, l.Turns), cmp.Or(t.Budget, l.MaxCost)
	return l
}

// Reservation is the most that the sessions for a task may cost, where its lease has left
// so much, in micro-USD: what a claim reserves, and what history is held to.
func Reservation(law config.Config, t board.Task, left int64) int64 {
	if law.Free() {
		return 0
	}
	return min(int64(Limits(law, t).MaxCost), left)
}
