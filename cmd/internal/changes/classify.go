package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
)

func opClassify(env console.Env) *cli.Command {
	return verb.New("classify [PATH…]", "print the risk tier of a change, and the result of each rule",
		"odd op classify\n"+
			"odd op classify docs/glossary.md docs/tools.md\n"+
			"odd op classify --base HEAD~1\n"+
			"odd op classify --task rename-the-tide-tool\n"+
			"odd op classify --limits\n\n"+
			"Without PATH and --task, odd judges every change in the working tree. From the\n"+
			"mildest, the tiers are SAFE_AUTO, NOTIFY_APPLY, APPROVAL_REQUIRED and BLOCKED\n"+
			"(exit 3).\n\n"+
			"--limits prints a row for each lane: the time of one session, the turns and\n"+
			"the cost of one attempt, the candidates in one answer, and what odd.toml sets\n"+
			"of them. A task's own --max-turns and --budget-usd go before these.",
		verb.Do(env, runOpClassify),
		&cli.StringFlag{Name: "task", Usage: "judge as a change for `TASK`: by who added it, and by its paths if no PATH is given"},
		&cli.StringFlag{Name: "base", Value: "HEAD", Usage: "judge what changed since commit `REV`"},
		&cli.StringFlag{Name: "substrate", Usage: "judge as a change by the agent `NAME` (default: [session] substrate)"},
		&cli.BoolFlag{Name: "limits", Usage: "print what the tasks of each lane may take, and judge nothing"})
}

// classification is a verdict with what it would mean for the work, as --json prints it.
type classification struct {
	pipeline.Verdict
	Complexity pipeline.Complexity `json:"complexity"`
	Lane       pipeline.Lane       `json:"lane"`
	LaneReason string              `json:"lane_reason"`
	CostCap    int64               `json:"cost_cap_micro_usd"` // 0 of agents that cost nothing
	Seconds    int64               `json:"session_s"`
	Foreseen   bool                `json:"foreseen"`              // from a task's paths, before there is a change
	Meant      int                 `json:"files_meant,omitempty"` // by those paths; the verdict is of the mildest of them
}

func runOpClassify(c *cli.Context, env console.Env) error {
	if c.Bool("limits") {
		if c.Args().Present() || c.IsSet("task") || c.IsSet("base") || c.IsSet("substrate") {
			return verb.Usage("op classify: --limits judges no change; leave out paths and other flags, or --limits")
		}
		return runLimits(c.Context, env, c.Bool("json"))
	}
	of, err := openChange(c, env)
	if err != nil {
		return err
	}
	if len(of.edits) == 0 && !of.foreseen {
		return console.ShowList[any](env, c.Bool("json"), nil, "nothing differs from "+c.String("base")+" below "+cmp.Or(strings.Join(c.Args().Slice(), ", "), "the top"), nil)
	}
	v, err := of.classifyChange(c.Context)
	if err != nil {
		return err
	}
	if v.Foreseen && v.Meant == 0 {
		where := ""
		if len(of.task.Paths) > 0 {
			where = " outside " + of.Config.Root
		}
		return console.ShowList[any](env, c.Bool("json"), nil, "the task has no paths"+where+"; set them with odd task edit TASK --path GLOB", nil)
	}
	var refused error
	if v.Tier == pipeline.NeverByMachine {
		refused = verb.Refuse(v.Code, "op classify: %s, %s; %s", v.Tier, v.Text(), v.Way)
	}
	return verb.ShowRefused(env, c.Bool("json"), v, v.tableRows(env.Terminal), refused)
}

// classifyChange judges the change, or what the task's paths allow.
func (c *change) classifyChange(ctx context.Context) (classification, error) {
	past, err := c.State.Trials(c.Env.Now(), c.Config.ReviewTTL)
	if err != nil {
		return classification{}, err
	}
	site := risk.Site{Base: c.base, Board: c.Tip, Bundle: c.Graph, Law: c.Config, Past: past}
	if c.task != nil {
		site.Task = *c.task
	}
	ground, err := risk.Survey(ctx, c.Repo, site)
	if err != nil {
		return classification{}, err
	}
	out, substrate := classification{Foreseen: c.foreseen}, cmp.Or(c.substrate, c.Config.Session.Substrate)
	if c.foreseen {
		out.Verdict, out.Meant = ground.Foresee(c.Env.Now(), substrate)
		c.addLane(&out)
		return out, nil
	}
	j, err := ground.Judge(c.edits, c.Env.Now(), substrate, pipeline.Made{Seen: !risk.Opaque(substrate)})
	out.Verdict = j.Risk
	c.addLane(&out)
	return out, err
}

// addLane adds the lane that a drain gives the task, or that a person's own change has.
func (c *change) addLane(out *classification) {
	if c.task == nil {
		out.Complexity = pipeline.ComplexityOf("", c.editPaths())
		s := pipeline.Signal{Source: "person", Files: len(c.edits), Complexity: out.Complexity, CrossRepo: len(out.Profile.Touches["crosses_repo_boundary"]) > 0}
		out.Lane, out.LaneReason = pipeline.LaneFor(s)
	} else {
		out.Lane, out.LaneReason, out.Complexity = risk.Lane(c.Config.Root, *c.task)
	}
	l := c.Config.Limits(string(out.Lane))
	if c.task != nil {
		l = risk.Limits(c.Config, *c.task)
	}
	if out.Seconds = int64(l.Timeout / time.Second); !c.Config.Free() {
		out.CostCap = int64(l.MaxCost)
	}
	if c.task != nil && !c.foreseen {
		out.Complexity = out.Complexity.Of(pipeline.ComplexityOf(c.task.Title, c.editPaths()))
	}
}

func describeCap(most budget.MicroUSD) string {
	if most == 0 {
		return "free"
	}
	return "at most $" + most.String()
}

// limit is what the tasks of a lane may take, as --json prints it.
type limit struct {
	Lane       string   `json:"lane"`
	Seconds    int64    `json:"session_s"`
	Turns      int      `json:"turns"`
	CostCap    int64    `json:"cost_cap_micro_usd"` // 0 of agents that cost nothing
	Candidates int      `json:"candidates"`
	From       []string `json:"from"` // the lines of odd.toml that set a limit; the others are odd's defaults
}

func runLimits(ctx context.Context, env console.Env, asJSON bool) error {
	v, err := workspace.OpenCommitted(ctx, env)
	if err != nil {
		return err
	}
	file, _ := fs.ReadFile(v.Files, "odd.toml") // without one, all are defaults
	list, rows := []limit{}, [][]string{{"lane", "session", "turns", "attempt", "candidates", "set in"}}
	for _, lane := range config.Lanes() {
		l := v.Config.Limits(lane)
		most := l.MaxCost
		if v.Config.Free() {
			most = 0
		}
		from := append([]string{}, config.LimitLines("odd.toml", file, lane)...)
		list = append(list, limit{lane, int64(l.Timeout / time.Second), l.Turns, int64(most), pipeline.MaxCandidates, from})
		rows = append(rows, []string{lane, l.Timeout.String(), strconv.Itoa(l.Turns), describeCap(most), strconv.Itoa(pipeline.MaxCandidates), cmp.Or(strings.Join(from, ", "), "default")})
	}
	return console.Show(env, asJSON, list, rows...)
}

// tableRows returns the profile, every rule and the verdict. A person sees of the rules
// those that say something.
func (v classification) tableRows(short bool) [][]string {
	p := v.Profile
	rows := [][]string{{"profile", "filed by", p.Filed}}
	if v.Foreseen {
		rows = append(rows, []string{"profile", "foreseen", fmt.Sprintf("at least this: it is the mildest of %s that the task's paths mean, and a change of others, or of more than one, can be judged higher", console.CountNoun(v.Meant, "file"))})
	}
	for _, f := range p.Files {
		what := f.Path
		if f.From != "" {
			what = f.From + " to " + f.Path
		}
		rows = append(rows, []string{"profile", string(f.Change), what})
	}
	for _, r := range v.Past {
		rows = append(rows, []string{"profile", "past", r.String()})
	}
	rows = append(rows,
		[]string{"profile", "packages", strings.Join(p.Packages, ", ")},
		[]string{"profile", "blast radius", fmt.Sprintf("%d: %s, %s", p.Blast, console.CountNoun(len(p.Dependents), "package"), console.CountNoun(len(p.Atoms), "atom"))},
		[]string{"profile", "test confidence", fmt.Sprintf("%d %%, %s tested", p.Confidence, p.Covered)},
		[]string{"profile", "work", fmt.Sprintf("%s, %s lane (%s), %s, at most %s a session", v.Complexity, v.Lane, v.LaneReason,
			describeCap(budget.MicroUSD(v.CostCap)), time.Duration(v.Seconds)*time.Second)})
	for i, list := range [][]pipeline.Ruling{v.Ladder, v.Raised} {
		for _, r := range list {
			said := map[bool]string{true: "yes", false: "no"}[r.Matched]
			if r.Error != "" {
				said = "failed"
			}
			if short && said == "no" {
				continue
			}
			rows = append(rows, []string{[]string{"rule", "raise"}[i], r.Code, string(r.Tier), said, cmp.Or(r.Error, strings.Join(r.Because, "; "))})
		}
	}
	return append(rows, []string{"verdict", string(v.Tier), v.Code, v.Text(), v.Way})
}

// change is what differs between a commit and the work tree, of the paths a
// person named; or the files that a task's paths allow to differ.
type change struct {
	*workspace.Board
	base      repo.OID
	task      *board.Task
	edits     []pipeline.Edit
	names     []string // the paths that a person named
	since     string   // the commit that they named
	substrate string
	foreseen  bool
}

func openChange(at *cli.Context, env console.Env) (*change, error) {
	v, err := workspace.OpenCommitted(at.Context, env)
	if err != nil {
		return nil, err
	}
	c := &change{Board: v, names: at.Args().Slice(), since: at.String("base"), substrate: at.String("substrate")}
	if c.base, err = v.Repo.Resolve(at.Context, c.since); err != nil {
		return nil, err
	}
	if v.Repo.Root() == "" {
		return nil, verb.Refuse("no-work-tree", "%s is a bare repository; run odd op classify in a clone with a work tree", env.Dir)
	}
	if name := at.String("task"); name != "" {
		t, err := v.FindTask(name)
		if err != nil {
			return nil, err
		}
		c.task = &t
	}
	if c.foreseen = c.task != nil && len(c.names) == 0; c.foreseen {
		return c, nil
	}
	return c, c.readDiffering(at.Context)
}

func (c *change) editPaths() []string { return pipeline.Candidate{Files: c.edits}.Paths() }

// readDiffering reads what differs. A path that a person named and that does not differ is
// judged as if it did.
func (c *change) readDiffering(ctx context.Context) error {
	named, err := c.namedPaths()
	if err != nil {
		return err
	}
	paths, err := c.Repo.Dirty(ctx)
	if err != nil {
		return err
	}
	head, err := c.Repo.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	between, err := c.Repo.Diff(ctx, c.base, head)
	if err != nil {
		return err
	}
	for _, d := range between {
		paths = append(paths, d.Path)
	}
	if len(named) > 0 {
		paths = slices.DeleteFunc(paths, func(p string) bool {
			return !slices.ContainsFunc(named, func(n string) bool { return n == "." || n == p || strings.HasPrefix(p, n+"/") })
		})
	}
	for _, n := range named {
		if st, err := os.Lstat(filepath.Join(c.Repo.Root(), filepath.FromSlash(n))); err != nil || !st.IsDir() {
			paths = append(paths, n)
		}
	}
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		if err := c.addPath(p, slices.Contains(named, p)); err != nil {
			return err
		}
	}
	return nil
}

func (c *change) namedPaths() (paths []string, err error) {
	for _, p := range c.names {
		rel, err := filepath.Rel(c.Repo.Root(), c.Env.AbsPath(p))
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return nil, verb.Usage("op classify: %s is outside the repository %s; name a path inside it", p, c.Repo.Root())
		}
		paths = append(paths, filepath.ToSlash(rel))
	}
	return paths, nil
}

func (c *change) addPath(p string, named bool) error {
	e := pipeline.Edit{Path: p}
	oid, mode, err := c.Repo.Find(c.base, p)
	if err != nil {
		return err
	}
	switch mode {
	case "", "040000", "40000":
	case "160000":
		e.OldMode, e.Before = mode, []byte(oid)
	default:
		if e.Before, err = c.Repo.Blob(oid); err != nil {
			return err
		}
		e.OldMode = mode
		if e.Before == nil {
			e.Before = []byte{}
		}
	}
	if e.After, e.NewMode, err = c.readWorkFile(p); err != nil {
		return err
	}
	same := e.OldMode == e.NewMode && string(e.Before) == string(e.After)
	switch {
	case same && !named:
		return nil
	case same && e.OldMode == "":
		console.Talk(c.Env, "%s does not exist; assessed as a new file", p)
		e.After, e.NewMode = []byte{}, "100644"
	case same:
		console.Talk(c.Env, "%s is unchanged since %s; assessed as if it were changed", p, c.since)
	}
	c.edits = append(c.edits, e)
	return nil
}

func (c *change) readWorkFile(p string) (b []byte, mode string, err error) {
	at := filepath.Join(c.Repo.Root(), filepath.FromSlash(p))
	st, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil
	case err != nil:
		return nil, "", err
	case st.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(at)
		return []byte(to), "120000", err
	case st.IsDir():
		head, err := repo.Open(at, c.Env.Environ)
		if err != nil || head.Root() == c.Repo.Root() {
			return nil, "", nil // a folder is no file
		}
		oid, err := head.Ref("HEAD")
		return []byte(oid), "160000", err
	case !st.Mode().IsRegular():
		return []byte{}, "120000", nil // a device or a socket is no file either
	}
	b, err = os.ReadFile(at)
	if b == nil {
		b = []byte{}
	}
	if mode = "100644"; st.Mode()&0o111 != 0 {
		mode = "100755"
	}
	return b, mode, err
}
