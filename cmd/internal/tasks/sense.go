package tasks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/sense"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// maxReport is the most bytes of a report, 64 MiB: the events of a large project's tests.
const maxReport = 64 << 20

// SenseVerb declares odd sense.
func SenseVerb(env console.Env) *cli.Command {
	return verb.New("sense [REPORT…]", "file tasks for failing tests, linter findings, to-do comments and more",
		"go test -json ./... >tests.json; odd sense tests.json\n"+
			"odd sense --range origin/main..HEAD --dry-run\n"+
			"govulncheck -format sarif ./... | odd sense -\n\n"+
			"Without a REPORT, odd runs the sensors that [sense.sensors] in odd.toml\n"+
			"names. Those that look at files look at what --range brings, or at all:\n\n"+
			sensorList(func(s sense.Sensor) bool { return s.Takes == sense.Files || s.Takes == sense.Chores })+"\n"+
			"odd detects the format of a REPORT from its content:\n\n"+
			sensorList(func(s sense.Sensor) bool { return s.Takes == sense.Reports || s.Takes == sense.Command })+"\n"+
			"A line of JSON has subject, signature, message and priority.\n\n"+
			"What is wrong with one package or file becomes one task. While that task is\n"+
			"not done, odd files no second one for it. When you fix the problem, delete\n"+
			"the task's file in the same commit. If you delete only the task's file, odd\n"+
			"takes that as a no, and files it again only when its findings change.\n\n"+
			"A task is in backlog until a person makes it ready. A sensor that [sense]\n"+
			"ready names files its tasks ready, so odd drain works on them at once; a\n"+
			"person approves the result. In an agent's session this does not apply.\n\n"+
			"[sense] also has the limits, and the role and paths of the tasks. A later\n"+
			"run files what the limits keep out now. What odd itself knows is not sensed:\n"+
			"odd gate decay asks about old atoms, atoms whose sources changed, and tasks\n"+
			"that fail again and again.",
		verb.On(env, workspace.Open, runSense),
		&cli.StringFlag{Name: "range", Usage: "look at what the commits `A..B` bring; without [sense.sensors] for to-do comments: " + strings.Join(sense.MarkWords(), ", ")},
		&cli.BoolFlag{Name: "dry-run", Usage: "print what would be filed, and write nothing"})
}

func sensorList(which func(sense.Sensor) bool) string {
	var b strings.Builder
	for _, s := range sense.Sensors() {
		if which(s) {
			fmt.Fprintf(&b, "  %-10s %s\n", s.Name, s.Reads)
		}
	}
	return b.String()
}

type senseReport struct {
	Filed  []sensedTask `json:"filed"`
	Left   []sense.Left `json:"left"`
	Commit string       `json:"commit,omitempty"`
}

type sensedTask struct {
	ID       okf.ID `json:"id"`
	State    string `json:"state"`
	Priority string `json:"priority"`
	Title    string `json:"title"`
	Found    string `json:"found"`
}

func runSense(c *cli.Context, env console.Env, w *workspace.Clone) error {
	if w.Repo.Shallow() {
		return verb.Refuse("shallow", "sense: a shallow clone does not tell which tasks people deleted; run git fetch --unshallow first")
	}
	now, err := w.ReadBoard(c.Context, false)
	if err != nil {
		return err
	}
	found, err := readFindings(c.Context, now, c.Args().Slice(), c.String("range"))
	if err != nil {
		return fmt.Errorf("sense: %w", err)
	}
	var in sense.Intake
	build := func(v *workspace.Board) (repo.Changes, string, error) {
		before, err := senseSource(v).Filed(c.Context, v.Tip, v.TaskRows(), v.Graph, v.Bundle)
		if err != nil {
			return nil, "", err
		}
		lim := v.Config.Sense
		in = sense.Plan(found, before, sense.Limits{Run: lim.Run, Day: lim.Day, Open: lim.Open}, "odd/"+console.Version(), env.Now())
		return fileAll(v, in.New)
	}
	out, did := senseReport{Filed: []sensedTask{}, Left: []sense.Left{}}, "filed"
	if c.Bool("dry-run") {
		did = "to file"
	}
	oid, err := land.WriteOrStage(c, w, land.AsMachine, build)
	if err != nil {
		return err
	}
	out.Commit = string(oid)
	var rows [][]string
	ready := 0
	for _, f := range in.New {
		state := board.Backlog
		if f.Ready {
			state = board.Ready
			ready++
		}
		out.Filed = append(out.Filed, sensedTask{f.ID, string(state), f.Priority, f.Title, f.Description})
		rows = append(rows, []string{string(f.ID), f.Priority, f.Title, f.Description})
	}
	out.Left = append(out.Left, in.Left...)
	for _, l := range in.Left {
		rows = append(rows, []string{string(l.ID), "-", l.Subject, l.Why})
	}
	if len(rows) == 0 {
		console.Talk(env, "sense: nothing is wrong in what was read")
	} else {
		if ready > 0 {
			did += fmt.Sprintf(" (%d ready, as [sense] ready allows)", ready)
		}
		console.Talk(env, "sense: %s; %s %s, %d left", console.CountNoun(len(found), "finding"), console.CountNoun(len(in.New), "task"), did, len(in.Left))
		if len(in.New) > 0 && now.Config.Sense.Role == "" && !c.Bool("dry-run") {
			console.Talk(env, "the tasks have no role, and odd drain runs none without one: odd config set sense.role ROLE for those to come, odd task edit ID --role ROLE for these")
		}
	}
	return console.Show(env, c.Bool("json"), out, rows...)
}

func senseSource(v *workspace.Board) sense.Source {
	return sense.Source{Repo: v.Repo, Root: v.Config.Root, Agent: v.Config.AgentEmail}
}

// readFindings returns what the named reports hold, or the sensors of odd.toml find, without
// credentials.
func readFindings(ctx context.Context, v *workspace.Board, files []string, spec string) (out []sense.Finding, err error) {
	sensors := v.Config.Sense.Sensors
	if spec != "" && len(sensors) == 0 {
		sensors = map[string][]string{"mark": {"**"}}
	}
	if len(files) == 0 && len(sensors) == 0 {
		return nil, verb.Usage("name a report file, - for standard input, or --range A..B; to run odd sense without one, list sensors in odd.toml (odd config explain sense.sensors)")
	}
	for _, s := range sense.Sensors() {
		var more []sense.Finding
		switch list := sensors[s.Name]; {
		case len(list) == 0 || len(files) > 0:
			continue
		case s.Takes == sense.Reports:
			more, err = findReports(v, s.Name, list)
		case s.Takes == sense.Command:
			more, err = runSensor(ctx, v, list)
		case s.Takes == sense.Chores:
			more = sense.Due(list, v.Env.Now())
		}
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	if len(files) > 0 {
		if out, err = readReports(v.Env, files); err != nil {
			return nil, err
		}
	}
	if spec != "" || len(files) == 0 {
		var from, to repo.OID
		if spec != "" {
			from, to, err = workspace.ResolveRange(ctx, v.Repo, "--range", spec)
		} else {
			to, err = v.Repo.Resolve(ctx, "HEAD")
		}
		if err != nil {
			return nil, err
		}
		seen, err := senseSource(v).Look(ctx, from, to, sensors)
		if err != nil {
			return nil, err
		}
		out = append(out, seen...)
	}
	senseSource(v).Clean(out)
	return out, nil
}

func readReports(env console.Env, files []string) ([]sense.Finding, error) {
	var all []sense.Report
	for _, name := range files {
		b, err := console.ReadInput(env, name, maxReport)
		if err != nil {
			return nil, err
		}
		if len(b) > maxReport {
			return nil, fmt.Errorf("%s: has more than %d MiB; split the report", name, maxReport>>20)
		}
		if name == "-" {
			name = "stdin"
		}
		all = append(all, sense.Report{Name: name, Bytes: b})
	}
	return sense.Read(all...)
}

// findReports reads the reports that odd.toml names for a sensor.
func findReports(v *workspace.Board, sensor string, globs []string) ([]sense.Finding, error) {
	var files []string
	for _, glob := range globs {
		before, under := len(files), glob
		if i := strings.IndexAny(glob, "*?["); i >= 0 {
			under = path.Dir(glob[:i] + "x") // the folder that all matches are in
		}
		err := fs.WalkDir(os.DirFS(v.Repo.Root()), under, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir() && name == ".git":
				return fs.SkipDir
			case d.Type().IsRegular() && policy.MatchGlob(glob, name):
				files = append(files, filepath.Join(v.Repo.Root(), filepath.FromSlash(name)))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, fmt.Errorf("odd.toml: [sense.sensors] %s: no file matches %s; have its tool write the report first", sensor, glob)
		}
	}
	found, err := readReports(v.Env, files)
	for _, f := range found {
		if f.Sensor != sensor {
			return nil, fmt.Errorf("odd.toml: [sense.sensors] %s names a report of the sensor %s; write %[2]s = %[3]q instead", sensor, f.Sensor, globs)
		}
	}
	return found, err
}

// mostSaid is how many characters of what a command says on stderr an error repeats.
const mostSaid = 300

// bounded keeps what is written to it, up to a byte more than a report may have.
type bounded []byte

func (b *bounded) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), maxReport+1-len(*b))]...)
	return len(p), nil
}

// runSensor runs the command of the sensor custom.
func runSensor(ctx context.Context, v *workspace.Board, argv []string) ([]sense.Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, v.Config.Pipeline.CheckTimeout)
	defer cancel()
	var said, errs bounded
	_, err := cage.Cage{}.Run(ctx, cage.Program{Argv: argv, Dir: v.Repo.Root(), Env: drain.CommandEnv(v.Env.Environ, "sense"), Stdout: &said, Stderr: &errs})
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return nil, fmt.Errorf("odd.toml: [sense.sensors] custom: %s did not end within %s, [pipeline] check_timeout", argv[0], v.Config.Pipeline.CheckTimeout)
	case err != nil:
		return nil, fmt.Errorf("odd.toml: [sense.sensors] custom: %s failed: %w; it says: %s", argv[0], err, layout.Clip(console.OneLine(secrets.RedactText(string(errs))), mostSaid))
	case len(said) > maxReport:
		return nil, fmt.Errorf("odd.toml: [sense.sensors] custom: %s printed more than %d MiB; let it print less", argv[0], maxReport>>20)
	case len(bytes.TrimSpace(said)) == 0:
		return nil, nil
	}
	found, err := sense.Read(sense.Report{Name: argv[0], Bytes: said})
	for _, f := range found {
		if f.Sensor != "custom" {
			return nil, fmt.Errorf("odd.toml: [sense.sensors] custom: %s printed a report of the sensor %s; write that to a file, and name the file as [sense.sensors] %[2]s", argv[0], f.Sensor)
		}
	}
	return found, err
}

// fileAll returns the files of the tasks. It gives each the role and paths of [sense], and
// makes those ready that [sense] ready allows. An agent's session makes none ready.
func fileAll(v *workspace.Board, tasks []board.Filing) (repo.Changes, string, error) {
	all, why := repo.Changes{}, ""
	pairs := []string{}
	for i := range tasks {
		f := &tasks[i]
		f.Role, f.Paths = v.Config.Sense.Role, v.Config.Sense.Paths
		f.Ready = v.Env.AgentSign() == "" && slices.Contains(v.Config.Sense.Ready, f.Tags[1])
		a, err := board.New(*f)
		if err != nil {
			return nil, "", err
		}
		ch, _, err := FileTask(v, "sense", a, "")
		if err != nil {
			return nil, "", err
		}
		for name, b := range ch {
			all[name] = b
		}
		why += f.Title + ": " + f.Description + "\n"
		pairs = append(pairs, "Odd-Task", string(a.ID))
	}
	return all, land.Message("board: file "+console.CountNoun(len(tasks), "task")+" of odd sense", why, pairs...), nil
}
