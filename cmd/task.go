package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

func task(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "task",
		Usage:       "add, list, show, edit tasks; put one on the board",
		Description: "odd task add \"Harvest the terms of the handbook\" --role editor --kind extract --input docs\nodd task ready harvest-the-terms-of-the-handbook",
		Subcommands: []*cli.Command{taskAdd(env), taskList(env), taskShow(env), taskReady(env), taskEdit(env)},
	})
}

// taskFlags are the keys of a task that a person sets.
func taskFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "kind", Usage: "what sort of work: `KIND` such as extract, research, document"},
		&cli.StringFlag{Name: "role", Usage: "the `ROLE` whose persona works it"},
		&cli.StringFlag{Name: "priority", Usage: "p0, p1, p2 or p3"},
		&cli.StringFlag{Name: "team", Usage: "the capability `ID` whose budget pays"},
		&cli.StringSliceFlag{Name: "input", Usage: "a `PATH` the session reads; repeatable"},
		&cli.StringSliceFlag{Name: "accept", Usage: "an acceptance `SENTENCE`; repeatable"},
		&cli.StringSliceFlag{Name: "depends", Usage: "a task `ID` that must be done first; repeatable"},
		&cli.StringFlag{Name: "budget-usd", Usage: "the most a session may cost, in `USD`"},
		&cli.IntFlag{Name: "max-turns", Usage: "the most `TURNS` a session may take"},
		&cli.BoolFlag{Name: "no-commit", Usage: "write and stage, do not commit"},
		jsonFlag(),
	}
}

// taskSets are the frontmatter edits the given flags mean.
func taskSets(c *cli.Context) []okf.Set {
	var sets []okf.Set
	for _, f := range []struct{ flag, key string }{{"title", "title"}, {"kind", "kind"}, {"role", "role"}, {"priority", "priority"}, {"team", "team"}, {"budget-usd", "budget_usd"}} {
		if c.IsSet(f.flag) {
			sets = append(sets, okf.Set{Key: f.key, Value: c.String(f.flag)})
		}
	}
	for _, f := range []struct{ flag, key string }{{"input", "inputs"}, {"accept", "acceptance"}, {"depends", "dependencies"}} {
		if c.IsSet(f.flag) {
			sets = append(sets, okf.Set{Key: f.key, Value: c.StringSlice(f.flag)})
		}
	}
	if c.IsSet("max-turns") {
		sets = append(sets, okf.Set{Key: "max_turns", Value: c.Int("max-turns")})
	}
	return sets
}

func taskAdd(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "add",
		Usage:       "file a task; it lands in backlog",
		ArgsUsage:   "TITLE",
		Description: "odd task add \"Harvest the terms of the handbook\" --role editor --kind extract --input docs",
		Flags:       append([]cli.Flag{&cli.StringFlag{Name: "id", Usage: "the task's `ID` (default: from the title)"}}, taskFlags()...),
		Action: func(c *cli.Context) error {
			title, err := oneArg(c, "a title in quotes")
			if err != nil {
				return err
			}
			f, err := filing(c, title)
			if err != nil {
				return err
			}
			return runTaskAdd(c.Context, env, f, c.Bool("no-commit"), c.Bool("json"))
		},
	})
}

func filing(c *cli.Context, title string) (board.Filing, error) {
	f := board.Filing{
		ID: okf.ID(c.String("id")), Title: title, Kind: c.String("kind"), Priority: c.String("priority"), Role: c.String("role"), Team: c.String("team"),
		Dependencies: c.StringSlice("depends"), Acceptance: c.StringSlice("accept"), Inputs: c.StringSlice("input"), MaxTurns: c.Int("max-turns"),
	}
	var err error
	if s := c.String("budget-usd"); s != "" {
		if f.Budget, err = budget.Parse(s); err != nil {
			return f, usage("task add: --budget-usd: %v", err)
		}
	}
	return f, nil
}

func runTaskAdd(ctx context.Context, env Env, f board.Filing, noCommit, asJSON bool) error {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return err
	}
	who, err := w.repo.Identity(ctx)
	if err != nil {
		return err
	}
	f.By, f.At = "human:"+who.Email, env.Now()
	if env.Getenv("ODD_RUN") != "" {
		f.By = "odd/" + version()
	}
	a, err := board.New(f)
	if err != nil {
		return usage("%v", err)
	}
	build := func(v *view) (repo.Changes, string, error) {
		if b, err := v.graph.Find(string(a.ID)); err == nil && (b.ID == a.ID || b.Path == a.Path) {
			return nil, "", refuse("exists", "task add %s: %s has that id; choose another with --id", a.ID, v.file(b.Path))
		}
		return repo.Changes{v.file(a.Path): a.Bytes()}, trailers("board: add "+string(a.ID), "", "Odd-Task", string(a.ID)), nil
	}
	return w.apply(ctx, build, noCommit, asJSON, string(a.ID), string(board.Backlog))
}

// apply lands what build makes, or with noCommit writes and stages it, and
// prints one row.
func (w *workspace) apply(ctx context.Context, build func(*view) (repo.Changes, string, error), noCommit, asJSON bool, id, state string) error {
	var oid repo.OID
	var err error
	if noCommit {
		err = w.stage(ctx, build)
	} else {
		oid, err = w.write(ctx, build)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w.env, map[string]string{"task": id, "state": state, "commit": string(oid)})
	}
	return printRows(w.env, [][]string{{id, state, short(oid)}})
}

// stage writes the changes into the work tree and the index, on the board's own checkout only.
func (w *workspace) stage(ctx context.Context, build func(*view) (repo.Changes, string, error)) error {
	v, err := w.view(ctx, false)
	if err != nil {
		return err
	}
	if head, err := w.repo.Branch(); err != nil || head != v.line.Name() {
		return refuse("branch", "--no-commit: %s is not checked out here; check it out, or let odd commit", v.line.Name())
	}
	ch, _, err := build(v)
	if err != nil {
		return err
	}
	if err := w.repo.Write(ch); err != nil {
		return err
	}
	var paths []string
	for p := range ch {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return w.repo.Stage(ctx, paths...)
}

func taskList(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "list",
		Usage:       "list tasks in the order drain would take them",
		Description: "odd task list --state ready",
		Flags:       []cli.Flag{&cli.StringFlag{Name: "state", Usage: "only tasks in `STATE`"}, &cli.BoolFlag{Name: "all", Usage: "done ones too"}, jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			return runTaskList(c.Context, env, board.State(c.String("state")), c.Bool("all"), c.Bool("json"))
		},
	})
}

// taskRow is a task as --json lists it.
type taskRow struct {
	ID       okf.ID      `json:"id"`
	State    board.State `json:"state"`
	Priority string      `json:"priority"`
	Kind     string      `json:"kind,omitempty"`
	Role     string      `json:"role,omitempty"`
	Title    string      `json:"title"`
	Waits    string      `json:"waits,omitempty"` // why drain would not take it now
}

func runTaskList(ctx context.Context, env Env, state board.State, all, asJSON bool) error {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return err
	}
	v, err := w.current(ctx)
	if err != nil {
		return err
	}
	if state != "" && !slices.Contains(board.States(), state) {
		return usage("task list: unknown state %q; one of %s", state, stateNames())
	}
	list, rows := []taskRow{}, [][]string{}
	for _, t := range board.Order(v.tasks, board.ByID(v.tasks)) {
		if state != "" && t.State != state || state == "" && !all && t.State == board.Done {
			continue
		}
		r := taskRow{t.ID, t.State, t.Priority, t.Kind, t.Role, t.Title, ""}
		if t.State == board.Ready {
			r.Waits = string(board.Eligible(t, board.ByID(v.tasks), env.Now()))
		}
		if t.State == board.Blocked {
			r.Waits = t.BlockedReason
		}
		list = append(list, r)
		rows = append(rows, []string{string(r.ID), string(r.State), r.Priority, r.Role, r.Title, r.Waits})
	}
	for _, p := range v.unread {
		talk(env, "%v", p)
	}
	if asJSON {
		return printJSON(env, list)
	}
	return printRows(env, rows)
}

func stateNames() string {
	var s []string
	for _, st := range board.States() {
		s = append(s, string(st))
	}
	return strings.Join(s, ", ")
}

// current is the board as a person sees it: the work tree where the board is
// checked out, so that hand edits show, and the committed board elsewhere.
func (w *workspace) current(ctx context.Context) (*view, error) {
	v, err := w.view(ctx, false)
	if err != nil {
		return nil, err
	}
	head, err := w.repo.Branch()
	if err != nil || head != v.line.Name() || w.repo.Root() == "" {
		return v, err
	}
	v.bundle = os.DirFS(filepath.Join(w.repo.Root(), filepath.FromSlash(v.cfg.Root)))
	if v.graph, v.problems, err = okf.Load(v.bundle); err != nil {
		return nil, fmt.Errorf("%s: %w", v.cfg.Root, err)
	}
	v.tasks, v.unread = board.Tasks(v.graph)
	return v, nil
}

func taskShow(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "show",
		Usage:       "show one task, whether drain would take it, and why not",
		ArgsUsage:   "TASK",
		Description: "odd task show harvest-terms",
		Flags:       []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			name, err := oneArg(c, "a task")
			if err != nil {
				return err
			}
			return runTaskShow(c.Context, env, name, c.Bool("json"))
		},
	})
}

func runTaskShow(ctx context.Context, env Env, name string, asJSON bool) error {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return err
	}
	v, err := w.current(ctx)
	if err != nil {
		return err
	}
	t, err := v.task(name)
	if err != nil {
		return err
	}
	waits := string(board.Eligible(t, board.ByID(v.tasks), env.Now()))
	if asJSON {
		fields := map[string]any{}
		for _, f := range t.Atom.Fields {
			fields[f.Key] = f.Value
		}
		return printJSON(env, map[string]any{"id": t.ID, "path": v.file(t.Path), "state": t.State, "eligible": waits == "", "waits": waits, "fields": fields, "body": string(t.Atom.Body())})
	}
	if waits == "" {
		waits = "nothing, drain may take it"
	}
	talk(env, "%s waits for: %s", t.ID, waits)
	_, err = env.Stdout.Write(t.Atom.Bytes())
	return err
}

func taskReady(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "ready",
		Usage:       "put a task on the board for drain; only a person can",
		ArgsUsage:   "TASK",
		Description: "odd task ready harvest-terms",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "no typed confirmation; only with require_signed, for a signed commit"}, jsonFlag()},
		Action: func(c *cli.Context) error {
			name, err := oneArg(c, "a task")
			if err != nil {
				return err
			}
			return runTaskReady(c.Context, env, name, c.Bool("yes"), c.Bool("json"))
		},
	})
}

func runTaskReady(ctx context.Context, env Env, name string, yes, asJSON bool) error {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return err
	}
	v, err := w.view(ctx, true)
	if err != nil {
		return err
	}
	t, err := v.task(name)
	if err != nil {
		return err
	}
	if err := review.Readyable(t); err != nil {
		return err
	}
	h, err := w.human(ctx, "task ready "+string(t.ID), string(t.ID), yes)
	if err != nil {
		return err
	}
	b, err := review.Ready(t, h)
	if err != nil {
		return err
	}
	tree, err := v.repo.TreeOID(v.tip, "")
	if err != nil {
		return err
	}
	msg := trailers(fmt.Sprintf("board: %s is ready", t.ID), "", "Odd-Task", string(t.ID), "Odd-Ready-By", h.By())
	oid, err := v.personal(ctx, []repo.OID{v.tip}, tree, repo.Changes{v.file(t.Path): b}, msg)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env, map[string]string{"task": string(t.ID), "state": string(board.Ready), "by": h.By(), "commit": string(oid)})
	}
	return printRows(env, [][]string{{string(t.ID), string(board.Ready), h.By(), short(oid)}})
}

func taskEdit(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "edit",
		Usage:       "change a task's keys; its state moves by other verbs",
		ArgsUsage:   "TASK",
		Description: "odd task edit harvest-terms --priority p0 --input docs --input README.md",
		Flags:       append([]cli.Flag{&cli.StringFlag{Name: "title", Usage: "its `TITLE`"}}, taskFlags()...),
		Action: func(c *cli.Context) error {
			name, err := oneArg(c, "a task")
			if err != nil {
				return err
			}
			sets := taskSets(c)
			if len(sets) == 0 {
				return usage("task edit: nothing to change; see odd help task edit")
			}
			return runTaskEdit(c.Context, env, name, sets, c.Bool("no-commit"), c.Bool("json"))
		},
	})
}

func runTaskEdit(ctx context.Context, env Env, name string, sets []okf.Set, noCommit, asJSON bool) error {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return err
	}
	var id, state string
	build := func(v *view) (repo.Changes, string, error) {
		t, err := v.task(name)
		if err != nil {
			return nil, "", err
		}
		if t.State == board.InProgress || t.State == board.Done {
			return nil, "", refuse("state", "task edit %s: task is in %s; wait for it, or file a new task", t.ID, t.State)
		}
		b, err := okf.Edit(t.Atom.Bytes(), sets...)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", v.file(t.Path), err)
		}
		a, err := okf.Parse(t.Path, b)
		if err != nil {
			return nil, "", err
		}
		if _, err := board.Parse(&a); err != nil {
			return nil, "", usage("task edit: %v", err)
		}
		id, state = string(t.ID), string(t.State)
		return repo.Changes{v.file(t.Path): b}, trailers("board: edit "+id, "", "Odd-Task", id), nil
	}
	// id and state are known once build has run
	if noCommit {
		if err := w.stage(ctx, build); err != nil {
			return err
		}
		return printRows(env, [][]string{{id, state}})
	}
	oid, err := w.write(ctx, build)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env, map[string]string{"task": id, "state": state, "commit": string(oid)})
	}
	return printRows(env, [][]string{{id, state, short(oid)}})
}
