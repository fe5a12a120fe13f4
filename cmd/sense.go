package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/sense"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// maxReport is the most bytes of a report, 64 MiB: the events of a large project's tests.
const maxReport = 64 << 20

func senseVerb(env Env) *cli.Command {
	return verb("sense [REPORT…]", "file tasks for failing tests, linter findings and new to-do comments",
		"go test -json ./... >tests.json; odd sense tests.json\n"+
			"odd sense --range origin/main..HEAD --dry-run\n"+
			"govulncheck -format sarif ./... | odd sense -\n\n"+
			"odd detects the format of a REPORT from its content:\n"+reportFormats()+".\n"+
			"A line of JSON has subject, signature, message and priority.\n\n"+
			"What is wrong with one package or file becomes one task in backlog. While\n"+
			"that task is not done, odd files no second one for it. When you fix the\n"+
			"problem, delete the task's file in the same commit. If you delete only the\n"+
			"task's file, odd takes that as a no, and files it again only when its\n"+
			"findings change.\n\n"+
			"[sense] in odd.toml has the limits and the role of the tasks. A later run\n"+
			"files what the limits keep out now.",
		on(env, openWorkspace, runSense),
		&cli.StringFlag{Name: "range", Usage: "find to-do comments (" + strings.Join(sense.MarkWords(), ", ") + ") that the commits `A..B` add"},
		&cli.BoolFlag{Name: "dry-run", Usage: "print what would be filed, and write nothing"},
		jsonFlag())
}

// reportFormats returns the formats that odd sense reads, from the table of sensors.
func reportFormats() string {
	var out []string
	for _, s := range sense.Sensors() {
		if s.Name != "mark" && s.Name != "custom" {
			out = append(out, s.Reads)
		}
	}
	return strings.Join(out, ",\n") + ", or lines of JSON"
}

// senseReport is what odd sense prints with --json.
type senseReport struct {
	Filed  []sensedTask `json:"filed"`
	Left   []sense.Left `json:"left"`
	Commit string       `json:"commit,omitempty"`
}

type sensedTask struct {
	ID       okf.ID `json:"id"`
	Priority string `json:"priority"`
	Title    string `json:"title"`
	Found    string `json:"found"`
}

func runSense(c *cli.Context, env Env, w *workspace) error {
	if c.NArg() == 0 && !c.IsSet("range") {
		return usage("sense: want a report, - for standard input, or --range A..B; see odd help sense")
	}
	if w.repo.Shallow() {
		return refuse("shallow", "sense: a shallow clone does not tell which tasks people deleted; run git fetch --unshallow first")
	}
	src := sense.Source{Repo: w.repo, Root: w.cfg.Root, Agent: w.cfg.AgentEmail}
	found, err := readFindings(c.Context, w, src, c.Args().Slice(), c.String("range"))
	if err != nil {
		return err
	}
	var in sense.Intake
	build := func(v *view) (repo.Changes, string, error) {
		src.Root, src.Agent = v.cfg.Root, v.cfg.AgentEmail
		before, err := src.Filed(c.Context, v.tip, v.taskRows(), v.graph, v.bundle)
		if err != nil {
			return nil, "", err
		}
		lim := v.cfg.Sense
		in = sense.Plan(found, before, sense.Limits{Run: lim.Run, Day: lim.Day, Open: lim.Open}, "odd/"+oddVersion(), env.Now())
		return v.fileAll(in.New)
	}
	out, did := senseReport{Filed: []sensedTask{}, Left: []sense.Left{}}, "filed"
	if c.Bool("dry-run") {
		did = "to file"
	}
	oid, err := w.writeOrStage(c, (*view).byMachine, build)
	if err != nil {
		return err
	}
	out.Commit = string(oid)
	var rows [][]string
	for _, f := range in.New {
		out.Filed = append(out.Filed, sensedTask{f.ID, f.Priority, f.Title, f.Description})
		rows = append(rows, []string{string(f.ID), f.Priority, f.Title, f.Description})
	}
	out.Left = append(out.Left, in.Left...)
	for _, l := range in.Left {
		rows = append(rows, []string{string(l.ID), "-", l.Subject, l.Why})
	}
	if len(rows) == 0 {
		talk(env, "sense: nothing is wrong in what was read")
	} else {
		talk(env, "sense: %s; %s %s, %d left", countNoun(len(found), "finding"), countNoun(len(in.New), "task"), did, len(in.Left))
	}
	return show(env, c.Bool("json"), out, rows...)
}

// readFindings returns the findings of reports and of a range of commits, without credentials.
func readFindings(ctx context.Context, w *workspace, src sense.Source, files []string, spec string) ([]sense.Finding, error) {
	var out []sense.Finding
	for _, name := range files {
		b, err := readInput(w.env, name, maxReport)
		if err != nil {
			return nil, fmt.Errorf("sense: %w", err)
		}
		if len(b) > maxReport {
			return nil, fmt.Errorf("sense: %s: has more than %d MiB; split the report", name, maxReport>>20)
		}
		if name == "-" {
			name = "stdin"
		}
		found, err := sense.Read(name, b)
		if err != nil {
			return nil, fmt.Errorf("sense: %w", err)
		}
		out = append(out, found...)
	}
	if spec != "" {
		from, to, err := resolveRange(ctx, w.repo, spec)
		if err != nil {
			return nil, fmt.Errorf("sense: %w", err)
		}
		marks, err := src.Marks(ctx, from, to)
		if err != nil {
			return nil, err
		}
		out = append(out, marks...)
	}
	src.Clean(out)
	return out, nil
}

func (v *view) fileAll(tasks []board.Filing) (repo.Changes, string, error) {
	all, why := repo.Changes{}, ""
	pairs := []string{}
	for _, f := range tasks {
		f.Role = v.cfg.Sense.Role
		a, err := board.New(f)
		if err != nil {
			return nil, "", err
		}
		ch, _, err := v.fileTask("sense", a, "")
		if err != nil {
			return nil, "", err
		}
		for name, b := range ch {
			all[name] = b
		}
		why += f.Title + ": " + f.Description + "\n"
		pairs = append(pairs, "Odd-Task", string(a.ID))
	}
	return all, commitMessage("board: file "+countNoun(len(tasks), "task")+" of odd sense", why, pairs...), nil
}
