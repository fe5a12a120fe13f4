package tasks

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
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/runs"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
	"github.com/odd-cli/odd/reconcile/secrets"
)

func taskAdd(env console.Env) *cli.Command {
	return verb.New("add TITLE", "add a task in the state backlog",
		"odd task add \"Harvest the terms of the handbook\" --role shore-lead \\\n"+
			"  --kind extract --input docs/\n"+
			"odd task add \"Rename the tide tool\" --role boat-builder --kind change \\\n"+
			"  --path 'tool/**' --command 'go test ./...'\n\n"+
			"odd drain does not run it before a person marks it ready (odd task ready). To\n"+
			"change files that are not atoms, a task needs --path; without it, an agent can\n"+
			"only propose atoms. It warns of what odd drain would refuse as things are now.",
		verb.Do(env, runTaskAdd), append([]cli.Flag{&cli.StringFlag{Name: "id", Usage: "name the task `ID` (default: made from the title)"}}, taskFlags()...)...)
}

// maxBody is how much text a task may have.
const maxBody = 64 << 10

func readFiling(c *cli.Context, env console.Env) (board.Filing, error) {
	f := board.Filing{
		ID: okf.ID(c.String("id")), Title: c.Args().First(), Kind: c.String("kind"), Priority: c.String("priority"), Role: c.String("role"), Goal: c.String("goal"), Team: c.String("team"), Signal: c.String("signal"),
		Dependencies: c.StringSlice("depends"), Acceptance: c.StringSlice("accept"), Inputs: c.StringSlice("input"), Paths: c.StringSlice("path"), MaxTurns: c.Int("max-turns"),
		ContractRole: c.String("contract-role"), Persona: c.String("persona"), Surface: c.String("surface"), Engagement: c.String("engagement"),
		Voice: c.String("voice"), Handoffs: c.StringSlice("handoff"), Artifact: c.String("artifact"),
	}
	err := board.CheckTitle(f.Title)
	if err != nil {
		return f, verb.Usage("task add: %v", err)
	}
	if f.Commands, err = readCommands(c); err != nil {
		return f, err
	}
	if s := c.String("budget-usd"); s != "" {
		if f.Budget, err = budget.Parse(s); err != nil {
			return f, verb.Usage("task add: --budget-usd: %v", err)
		}
	}
	f.Body, err = readBody(c, env)
	return f, err
}

// readBody reads the text that --body names, "" for none.
func readBody(c *cli.Context, env console.Env) (string, error) {
	name := c.String("body")
	if name == "" {
		return "", nil
	}
	b, err := console.ReadInput(env, name, maxBody)
	if err != nil {
		return "", fmt.Errorf("%s: --body: %w", verb.Name(c), err)
	}
	if len(b) > maxBody || !utf8.Valid(b) {
		return "", verb.Usage("%s: --body %s: want text in UTF-8 of at most %d KiB", verb.Name(c), name, maxBody>>10)
	}
	return string(b), nil
}

func runTaskAdd(c *cli.Context, env console.Env) error {
	f, err := readFiling(c, env)
	if err != nil {
		return err
	}
	w, err := workspace.Open(c.Context, env)
	if err != nil {
		return err
	}
	var t board.Task
	var lacks []string
	build := func(v *workspace.Board) (repo.Changes, string, error) {
		who, err := w.Repo.Identity(c.Context)
		if err != nil {
			return nil, "", err
		}
		f.By, f.At = "human:"+who.Email, env.Now()
		if env.AgentSign() != "" {
			f.By = "odd/" + console.Version()
		}
		if f.Goal, err = goalID(v, "task add", f.Goal); err != nil {
			return nil, "", err
		}
		if err := checkNames(v.Graph, "task add", f.Kind, f.Role); err != nil {
			return nil, "", err
		}
		a, err := board.NewOn(v.Graph, f)
		if err != nil {
			return nil, "", verb.Usage("task add: %s", withoutPlace(err))
		}
		if t, err = board.Parse(&a); err != nil {
			return nil, "", err
		}
		lacks = PreflightTask(c.Context, v, t)
		return FileTask(v, "task add", a, "")
	}
	if err := landTask(w, c, build, &t); err != nil {
		return err
	}
	for _, m := range lacks {
		console.Talk(env, "%s: warning: odd drain would refuse it: %s", t.ID, console.OneLine(okf.Visible(m)))
	}
	if c.IsSet("kind") && len(t.Paths) == 0 && slices.Contains([]string{"change", "fix", "implement", "prototype"}, string(t.Kind)) {
		console.Talk(env, "%s has no paths, so its agent can only propose atoms; to let it change files: odd task edit %[1]s --path GLOB", t.ID)
	}
	if dirty, err := w.Repo.Dirty(c.Context, "odd.toml"); len(lacks) > 0 && err == nil && len(dirty) > 0 {
		console.Talk(env, "odd.toml has uncommitted edits, which odd drain ignores: git commit odd.toml")
	}
	return nil
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

// PreflightTask returns what odd drain would refuse t for on the board as it is. It is no refusal
// here: who files a task may write the other task and the documents after it.
func PreflightTask(ctx context.Context, v *workspace.Board, t board.Task) []string {
	o, err := runs.Options(v.Clone)
	if err != nil {
		return nil // the drain tells
	}
	no, err := drain.Preflight(ctx, v.Repo, o, v.Tip, t)
	if err != nil {
		return nil
	}
	return no
}

// checkNames refuses a kind that odd does not know and what is no role; "" is neither.
func checkNames(g *okf.Graph, verbName, kind, role string) error {
	if kind != "" && !slices.Contains(board.Kinds(), kind) {
		way := "use one of " + strings.Join(board.Kinds(), ", ")
		if near := okf.Nearest(kind, board.Kinds()); near != "" {
			way = "did you mean " + near + "?"
		}
		return verb.Usage("%s: unknown kind %q; %s", verbName, kind, way)
	}
	if why := persona.WhyNoRole(g, role); role != "" && why != "" {
		return verb.Usage("%s: %s", verbName, why)
	}
	return nil
}

// FileTask returns the changes that file a new task, and their message.
func FileTask(v *workspace.Board, verbName string, a okf.Atom, why string) (repo.Changes, string, error) {
	b := v.Graph.ByID(a.ID)
	if b == nil {
		b = v.Graph.ByPath(a.Path)
	}
	if b != nil {
		return nil, "", verb.Refuse("exists", "%s %s: %s already has this id; odd task edit %[2]s changes it, git rm and git commit remove it, --id ID names this one otherwise", verbName, a.ID, v.RepoPath(b.Path))
	}
	if _, err := fs.Stat(v.Bundle, a.Path); !errors.Is(err, fs.ErrNotExist) {
		return nil, "", verb.Refuse("exists", "%s %s: the file %s already exists and cannot be read as an atom; run odd check to see why, or choose another --id", verbName, a.ID, v.RepoPath(a.Path))
	}
	text := a.Bytes()
	if !a.Generated.Human() && !bytes.Equal(secrets.Redact(text), text) {
		return nil, "", verb.Refuse("credential", "%s: the text contains something that looks like a credential; leave it out, and revoke it if it is real", verbName)
	}
	return repo.Changes{v.RepoPath(a.Path): text}, land.Message("board: add "+string(a.ID), why, "Odd-Task", string(a.ID)), nil
}

func taskEdit(env console.Env) *cli.Command {
	return verb.New("edit TASK", "change the fields or the text of a task, but not its state",
		"odd task edit read-the-handbook --priority p0 --input docs/ --input README.md\n\n"+
			"A flag replaces the whole field or text; give a repeatable one for each value.\n"+
			"An empty value, as in --path '', removes what is there. The state changes with\n"+
			"odd task ready, odd drain, odd approve and odd reject.",
		workspace.OnTask(env, runTaskEdit), append([]cli.Flag{&cli.StringFlag{Name: "title", Usage: "set the title to `TITLE`"}}, taskFlags()...)...)
}

func runTaskEdit(c *cli.Context, env console.Env, name string) error {
	sets, err := taskSets(c)
	text, unread := readBody(c, env)
	long := board.CheckTitle(c.String("title"))
	switch {
	case err != nil:
		return err
	case unread != nil:
		return unread
	case long != nil:
		return verb.Usage("task edit %s: %v", name, long)
	case len(sets) == 0 && !c.IsSet("body"):
		return verb.Usage("task edit %s: name at least one thing to change, like --priority p1; see odd help task edit", name)
	case env.AgentSign() != "":
		return verb.Refuse("not-a-person", "task edit %s: refused inside an agent's session (%s); file a new task with odd task add", name, env.AgentSign())
	}
	w, err := workspace.Open(c.Context, env)
	if err != nil {
		return err
	}
	w.TasksOnly = !c.IsSet("goal") && !c.IsSet("role")
	var t board.Task
	build := func(v *workspace.Board) (repo.Changes, string, error) {
		var err error
		for i, s := range sets {
			if goal, is := s.Value.(string); is && s.Key == "goal" {
				if sets[i].Value, err = goalID(v, "task edit", goal); err != nil {
					return nil, "", err
				}
			}
		}
		if t, err = v.FindTask(name); err != nil {
			return nil, "", err
		}
		if err := checkNames(v.Graph, "task edit", c.String("kind"), c.String("role")); err != nil {
			return nil, "", err
		}
		switch t.State {
		case board.InProgress:
			return nil, "", verb.Refuse("state", "task edit %s: %s; edit it after that", t.ID, t.Held())
		case board.Done:
			return nil, "", verb.Refuse("state", "task edit %s: the task is done, and done tasks stay as they are; file a new one with odd task add", t.ID)
		}
		b, err := okf.Edit(t.Atom.Bytes(), sets...)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", v.RepoPath(t.Path), err)
		}
		a, err := okf.Parse(t.Path, b)
		if err == nil && c.IsSet("body") {
			a, err = okf.Parse(t.Path, okf.ReplaceBody(b, []byte(board.PrintBody(a.Title, text))))
		}
		if err != nil {
			return nil, "", err
		}
		if _, err := board.Parse(&a); err != nil {
			return nil, "", verb.Usage("task edit: %v", err)
		}
		return repo.Changes{v.RepoPath(t.Path): a.Bytes()}, land.Message("board: edit "+string(t.ID), "", "Odd-Task", string(t.ID)), nil
	}
	return landTask(w, c, build, &t)
}
