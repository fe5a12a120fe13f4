package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

func taskAdd(env Env) *cli.Command {
	return verb("add TITLE", "add a task in the state backlog",
		"odd task add \"Harvest the terms of the handbook\" --role shore-lead \\\n"+
			"  --kind extract --input docs/\n"+
			"odd task add \"Rename the tide tool\" --role boat-builder --kind change \\\n"+
			"  --path 'tool/**' --command 'go test ./...'\n\n"+
			"odd drain does not run it before a person marks it ready (odd task ready). To\n"+
			"change files that are not atoms, a task needs --path; without it, an agent can\n"+
			"only propose atoms. It warns of what odd drain would refuse as things are now.",
		do(env, runTaskAdd), append([]cli.Flag{&cli.StringFlag{Name: "id", Usage: "name the task `ID` (default: made from the title)"}, &cli.StringFlag{Name: "body", Usage: "describe the task in the text of `FILE`, - for stdin; the agent reads it"}}, taskFlags()...)...)
}

// maxBody is how much text a task may have.
const maxBody = 64 << 10

func readFiling(c *cli.Context, env Env) (board.Filing, error) {
	f := board.Filing{
		ID: okf.ID(c.String("id")), Title: c.Args().First(), Kind: c.String("kind"), Priority: c.String("priority"), Role: c.String("role"), Goal: c.String("goal"), Team: c.String("team"), Signal: c.String("signal"),
		Dependencies: c.StringSlice("depends"), Acceptance: c.StringSlice("accept"), Inputs: c.StringSlice("input"), Paths: c.StringSlice("path"), MaxTurns: c.Int("max-turns"),
		ContractRole: c.String("contract-role"), Persona: c.String("persona"), Surface: c.String("surface"), Engagement: c.String("engagement"),
		Voice: c.String("voice"), Handoffs: c.StringSlice("handoff"), Artifact: c.String("artifact"),
	}
	err := board.CheckTitle(f.Title)
	if err != nil {
		return f, usage("task add: %v", err)
	}
	if f.Commands, err = readCommands(c); err != nil {
		return f, err
	}
	if s := c.String("budget-usd"); s != "" {
		if f.Budget, err = budget.Parse(s); err != nil {
			return f, usage("task add: --budget-usd: %v", err)
		}
	}
	if name := c.String("body"); name != "" {
		b, err := readInput(env, name, maxBody)
		if err != nil {
			return f, fmt.Errorf("task add: --body: %w", err)
		}
		if len(b) > maxBody || !utf8.Valid(b) {
			return f, usage("task add: --body %s: want text in UTF-8 of at most %d KiB", name, maxBody>>10)
		}
		f.Body = string(b)
	}
	return f, nil
}

func runTaskAdd(c *cli.Context, env Env) error {
	f, err := readFiling(c, env)
	if err != nil {
		return err
	}
	w, err := openWorkspace(c.Context, env)
	if err != nil {
		return err
	}
	var t board.Task
	var lacks []string
	build := func(v *view) (repo.Changes, string, error) {
		who, err := w.repo.Identity(c.Context)
		if err != nil {
			return nil, "", err
		}
		f.By, f.At = "human:"+who.Email, env.Now()
		if env.agentSign() != "" {
			f.By = "odd/" + oddVersion()
		}
		if f.Goal, err = v.goalID("task add", f.Goal); err != nil {
			return nil, "", err
		}
		if err := v.checkNames("task add", f.Kind, f.Role); err != nil {
			return nil, "", err
		}
		a, err := v.newTask(f)
		if err != nil {
			return nil, "", usage("task add: %s", withoutPlace(err))
		}
		if t, err = board.Parse(&a); err != nil {
			return nil, "", err
		}
		lacks = v.preflightTask(c.Context, t)
		return v.fileTask("task add", a, "")
	}
	if err := w.landTask(c, build, &t); err != nil {
		return err
	}
	for _, m := range lacks {
		talk(env, "%s: warning: odd drain would refuse it: %s", t.ID, oneLine(okf.Visible(m)))
	}
	if dirty, err := w.repo.Dirty(c.Context, "odd.toml"); len(lacks) > 0 && err == nil && len(dirty) > 0 {
		talk(env, "odd.toml has uncommitted edits, which odd drain ignores: git commit odd.toml")
	}
	return nil
}

// newTask returns the task that f asks for. Where the task of the same title is done, and f
// names no id, it is the next one with a number.
func (v *view) newTask(f board.Filing) (okf.Atom, error) {
	a, err := board.New(f)
	title := a.ID
	for n := 2; err == nil && f.ID != title && v.isDone(a.ID); n++ {
		f.ID = okf.ID(fmt.Sprintf("%s-%d", title, n))
		a, err = board.New(f)
	}
	return a, err
}

func (v *view) isDone(id okf.ID) bool {
	a := v.graph.ByID(id)
	if a == nil {
		return false
	}
	t, err := board.ReadTask(v.graph, a)
	return err == nil && t.State == board.Done
}

// withoutPlace returns an error about a file that is not there yet, without its place.
func withoutPlace(err error) string {
	p := okf.Problem{}
	switch {
	case errors.As(err, &p) && p.Hint != "":
		return p.Message + "; " + p.Hint
	case p.Message != "":
		return p.Message
	}
	return err.Error()
}

// preflightTask returns what odd drain would refuse t for on the board as it is. It is no refusal
// here: who files a task may write the other task and the documents after it.
func (v *view) preflightTask(ctx context.Context, t board.Task) []string {
	o, err := v.drainOptions()
	if err != nil {
		return nil // the drain tells
	}
	no, err := drain.Preflight(ctx, v.repo, o, v.tip, t)
	if err != nil {
		return nil
	}
	return no
}

// checkNames refuses a kind that odd does not know and what is no role; "" is neither.
func (v *view) checkNames(verb, kind, role string) error {
	if kind != "" && !slices.Contains(board.Kinds(), kind) {
		way := "use one of " + strings.Join(board.Kinds(), ", ")
		if near := okf.Nearest(kind, board.Kinds()); near != "" {
			way = "did you mean " + near + "?"
		}
		return usage("%s: unknown kind %q; %s", verb, kind, way)
	}
	if why := whyNoRole(v.graph, role); role != "" && why != "" {
		return usage("%s: %s", verb, why)
	}
	return nil
}

// whyNoRole says why a name is not that of a role, "" where it is.
func whyNoRole(g *okf.Graph, role string) string {
	if a, err := g.Find(role); err == nil && isRole(a.Type) {
		return ""
	}
	roles := rolesOf(g)
	way := "the roles are " + strings.Join(roles, ", ")
	if near := okf.Nearest(role, roles); near != "" {
		way = "did you mean " + near + "?"
	} else if len(roles) == 0 {
		way = "there is none yet; a role is an atom of type role"
	}
	return fmt.Sprintf("no role %q; %s", role, way)
}

func isRole(typ string) bool { return strings.EqualFold(typ, "role") }

// rolesOf returns the ids of the atoms of type role.
func rolesOf(g *okf.Graph) (ids []string) {
	for _, a := range g.OfType(isRole) {
		ids = append(ids, string(a.ID))
	}
	return ids
}

// fileTask returns the changes that file a new task, and their message.
func (v *view) fileTask(verb string, a okf.Atom, why string) (repo.Changes, string, error) {
	b := v.graph.ByID(a.ID)
	if b == nil {
		b = v.graph.ByPath(a.Path)
	}
	if b != nil {
		return nil, "", refuse("exists", "%s %s: %s already has this id; odd task edit %[2]s changes it, git rm and git commit remove it, --id ID names this one otherwise", verb, a.ID, v.repoPath(b.Path))
	}
	if _, err := fs.Stat(v.bundle, a.Path); !errors.Is(err, fs.ErrNotExist) {
		return nil, "", refuse("exists", "%s %s: the file %s already exists and cannot be read as an atom; run odd check to see why, or choose another --id", verb, a.ID, v.repoPath(a.Path))
	}
	text := a.Bytes()
	if !a.Generated.Human() && !bytes.Equal(secrets.Redact(text), text) {
		return nil, "", refuse("credential", "%s: the text contains something that looks like a credential; leave it out, and revoke it if it is real", verb)
	}
	return repo.Changes{v.repoPath(a.Path): text}, commitMessage("board: add "+string(a.ID), why, "Odd-Task", string(a.ID)), nil
}

func taskEdit(env Env) *cli.Command {
	return verb("edit TASK", "change the fields of a task, but not its state",
		"odd task edit read-the-handbook --priority p0 --input docs/ --input README.md\n\n"+
			"A flag replaces the whole field; give a repeatable one for each value. An\n"+
			"empty value, as in --path '', removes the list. The state changes with\n"+
			"odd task ready, odd drain, odd approve and odd reject.",
		onTask(env, runTaskEdit), append([]cli.Flag{&cli.StringFlag{Name: "title", Usage: "set the title to `TITLE`"}}, taskFlags()...)...)
}

func runTaskEdit(c *cli.Context, env Env, name string) error {
	sets, err := taskSets(c)
	long := board.CheckTitle(c.String("title"))
	switch {
	case err != nil:
		return err
	case long != nil:
		return usage("task edit %s: %v", name, long)
	case len(sets) == 0:
		return usage("task edit %s: name at least one thing to change, like --priority p1; see odd help task edit", name)
	case env.agentSign() != "":
		return refuse("not-a-person", "task edit %s: refused inside an agent's session (%s); file a new task with odd task add", name, env.agentSign())
	}
	w, err := openWorkspace(c.Context, env)
	if err != nil {
		return err
	}
	w.tasksOnly = !c.IsSet("goal") && !c.IsSet("role")
	var t board.Task
	build := func(v *view) (repo.Changes, string, error) {
		var err error
		for i, s := range sets {
			if goal, is := s.Value.(string); is && s.Key == "goal" {
				if sets[i].Value, err = v.goalID("task edit", goal); err != nil {
					return nil, "", err
				}
			}
		}
		if t, err = v.findTask(name); err != nil {
			return nil, "", err
		}
		if err := v.checkNames("task edit", c.String("kind"), c.String("role")); err != nil {
			return nil, "", err
		}
		switch t.State {
		case board.InProgress:
			return nil, "", refuse("state", "task edit %s: %s; edit it after that", t.ID, t.Held())
		case board.Done:
			return nil, "", refuse("state", "task edit %s: the task is done, and done tasks stay as they are; file a new one with odd task add", t.ID)
		}
		b, err := okf.Edit(t.Atom.Bytes(), sets...)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", v.repoPath(t.Path), err)
		}
		a, err := okf.Parse(t.Path, b)
		if err != nil {
			return nil, "", err
		}
		if _, err := board.Parse(&a); err != nil {
			return nil, "", usage("task edit: %v", err)
		}
		return repo.Changes{v.repoPath(t.Path): b}, commitMessage("board: edit "+string(t.ID), "", "Odd-Task", string(t.ID)), nil
	}
	return w.landTask(c, build, &t)
}
