package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata"

	"github.com/odd-cli/odd/board/sense"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Pipeline is [pipeline], but for review_ttl. Globs are
// repository paths; what odd protects of itself is built in, and nothing here
// takes from it.
type Pipeline struct {
	MinTier        string         // "", SAFE_AUTO, NOTIFY_APPLY or APPROVAL_REQUIRED: no change has a lower tier
	Quiet          *Quiet         // quiet_hours; nil: none
	Zone           *time.Location // of quiet_hours, default UTC
	Autonomy       string         // "act" (default) or "observe": then nothing lands without a person
	Core           []string       // what the rest stands on
	Protected      []string       // what no machine changes
	Security       []string       // what is security-sensitive besides what its name says
	MaxFiles       int            // default 2; more need approval
	Blast          int            // default 5; more packages and atoms that depend on a change need approval
	MachineBlast   int            // default 3; the same where no person filed the task
	TestConfidence int            // default 75, percent; less needs approval
	Expand         string         // "off" (default) or "auto": a session says first what it wants to read, for work that is not small
	Plan           string         // "off" (default), "auto": a session plans what is more than one file, or "always"
	AutoApply      bool           // a change of a tier below APPROVAL_REQUIRED may land on the target by itself
	AutoKinds      []string       // the kinds of tasks whose changes may; none: all
	Validate       [][]string     // the commands a candidate must pass in a tree of its own; none: what its language offers
	Verify         [][]string     // those of the commit that would land; none: Validate's
	CheckTimeout   time.Duration  // of one of them, default 5m
	RepairTimebox  time.Duration  // of a whole repair, from its first iteration on; default 20m
	CheckEnv       []string       // names of the environment that they see besides the usual
}

// Quiet are the hours from From up to and without To, both 0 to 23: over midnight
// where To is smaller, all day where they are the same.
type Quiet struct{ From, To int }

// LandsAlone reports that a change for a task of this kind may land without a person.
func (p Pipeline) LandsAlone(kind string) bool {
	return p.AutoApply && (len(p.AutoKinds) == 0 || slices.Contains(p.AutoKinds, kind))
}

func defaultPipeline() Pipeline {
	return Pipeline{Zone: time.UTC, Autonomy: "act", MaxFiles: 2, Blast: 5, MachineBlast: 3, TestConfidence: 75, CheckTimeout: 5 * time.Minute, RepairTimebox: 20 * time.Minute, Expand: "off", Plan: "off"}
}

var hours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,2})-([0-9]{1,2})$`) })

// quietHours reads "22-7".
func quietHours(n node) (*Quiet, error) {
	s, _ := n.value.(string)
	m := hours().FindStringSubmatch(s)
	if m == nil {
		return nil, errors.New(`want two hours of the day, like "22-7"`)
	}
	from, _ := strconv.Atoi(m[1])
	to, _ := strconv.Atoi(m[2])
	if from > 23 || to > 23 {
		return nil, fmt.Errorf(`%q: want hours from 0 to 23, like "22-7"`, s)
	}
	return &Quiet{from, to}, nil
}

// readZone reads the name of a time zone. What a machine takes for local is none:
// two machines would judge one change differently.
func readZone(n node) (*time.Location, error) {
	s, err := readString(n, checkWord)
	if err != nil {
		return nil, err
	}
	z, err := time.LoadLocation(s)
	if err != nil || s == "Local" {
		return nil, fmt.Errorf(`%q: want the name of a time zone, like "UTC" or "Europe/Berlin"`, s)
	}
	return z, nil
}

// repoGlob accepts a path, a folder ending in "/", or a glob in which ** stands
// alone between slashes.
func repoGlob(s string) error {
	clean := strings.TrimSuffix(s, "/")
	bad := clean == "." || !fs.ValidPath(clean) || strings.ContainsAny(s, `\:`) || strings.ContainsFunc(s, isControl)
	for _, name := range strings.Split(clean, "/") {
		_, err := path.Match(name, "")
		bad = bad || err != nil || name != "**" && strings.Contains(name, "**")
	}
	if bad {
		return fmt.Errorf(`%q: want paths or globs from the top of the repository, like "cmd/**" or "docs/"`, s)
	}
	return refuseGitDir(s)
}

// Anchor is [anchor]: how sessions are bound before they may change anything.
// The words are those of package anchor.
type Anchor struct {
	Mode          string        // full, express (default), lite or untracked
	Strictness    string        // quick, default or deep; where odd.toml is silent, default under full and quick under the others
	State         string        // where sessions of the work tree are kept, below its top; default ".hestai/sessions"
	Constitutions []string      // folders that hold ROLE.oct.md; default .hestai-sys/agents and .hestai-sys/library/agents
	TTL           time.Duration // of a permit, default 1h
}

func defaultAnchor() Anchor {
	a := Anchor{Mode: "express", State: ".hestai/sessions", Constitutions: []string{".hestai-sys/agents", ".hestai-sys/library/agents"}, TTL: time.Hour}
	return a.withDefaults()
}

// withDefaults returns a with the strictness that follows from its mode, where it has none.
func (a Anchor) withDefaults() Anchor {
	if a.Strictness == "" {
		a.Strictness = "quick"
		if a.Mode == "full" {
			a.Strictness = "default"
		}
	}
	return a
}

func readFolders(n node) ([]string, error) {
	list, err := readStrings(n, func(s string) error {
		s = strings.TrimSuffix(s, "/")
		if s == "." || !fs.ValidPath(s) || strings.ContainsAny(s, `\:*?[`) || strings.ContainsFunc(s, isControl) {
			return fmt.Errorf(`%q: want folders below the top of the repository, like ".hestai-sys/agents", without ".."`, s)
		}
		return refuseGitDir(s)
	})
	for i := range list {
		list[i] = strings.TrimSuffix(list[i], "/")
	}
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("names no folder; leave the key out for %s", strings.Join(defaultAnchor().Constitutions, ", "))
	}
	return list, err
}

func refuseGitDir(s string) error {
	if first, _, _ := strings.Cut(s, "/"); strings.EqualFold(first, ".git") {
		return fmt.Errorf("%q: is git's own folder", s)
	}
	return nil
}

// checkAnchor holds [anchor] against [bundle]: sessions are no atoms.
func (p *parser) checkAnchor(line int) {
	state, root := p.c.Anchor.State+"/", p.c.Root+"/"
	if strings.HasPrefix(state, root) || strings.HasPrefix(root, state) {
		p.addError(line, "anchor.state: %q and the bundle %q lie in one another; sessions are kept apart from what is committed", p.c.Anchor.State, p.c.Root)
	}
	p.c.Anchor = p.c.Anchor.withDefaults()
}

// Toolbox is [toolbox]: what the tools may do that odd gives to models which have
// none of their own.
type Toolbox struct {
	Run     [][]string    // beginnings of the commands that a session may run; none: it runs the project's checks alone
	Hosts   []string      // web_hosts: exact names that it may read pages of; none: the web is off
	Timeout time.Duration // tool_timeout: of one call, default 30s
	Command time.Duration // command_timeout: of one call that runs a command, default 5m
}

var hostName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)
})

// checkHost accepts the name of a host on the Internet, as it stands in an address: no
// scheme, no port, no pattern and no number.
func checkHost(s string) error {
	if len(s) > 253 || !hostName().MatchString(s) {
		return fmt.Errorf(`%q: want the name of a host in lower case, like "pkg.go.dev"`, s)
	}
	if strings.HasSuffix(s, ".localhost") || strings.HasSuffix(s, ".local") || strings.HasSuffix(s, ".internal") {
		return fmt.Errorf("%q: is a name inside, want one of the open Internet", s)
	}
	return nil
}

// Sandbox is [sandbox]: how programs that sessions and checks run are held. The
// words are those of package cage; a limit of 0 is none.
type Sandbox struct {
	Enforce      string        // require, best-effort (default) or off
	Network      string        // of agents: allow (default), loopback or none
	CheckNetwork string        // of checks and of commands an agent asks odd to run: allow, loopback (default) or none
	UnixSockets  bool          // programs reach any unix socket by its path, default no
	Read         []string      // more that they may read: absolute, or below the user's home with "~/"
	Write        []string      // more that they may write, as Read
	FileMB       int           // one file, default 1024
	DiskMB       int           // what a session or a check leaves on its desk, default 4096
	MemoryMB     int           // one process, and where root's programs have a control group (cgroup v2) all of a program; default 0
	CPU          time.Duration // processor time of one process, default 1h
	OpenFiles    int           // of one process, default 4096
	Processes    int           // of the user as a whole, of root a program with all it starts; default 8192, which stops a program that multiplies
}

func defaultSandbox() Sandbox {
	return Sandbox{Enforce: "best-effort", Network: "allow", CheckNetwork: "loopback", FileMB: 1024, DiskMB: 4096, CPU: time.Hour, OpenFiles: 4096, Processes: 8192}
}

func networkNames() []string { return []string{"allow", "loopback", "none"} }

// checkPlace holds a file or folder of the machine to a form that means one thing.
func checkPlace(s string) error {
	rest, home := strings.CutPrefix(s, "~/")
	bad := strings.ContainsFunc(s, isControl) || slices.Contains(strings.Split(s, "/"), "..")
	if bad || !home && !path.IsAbs(s) || path.Clean("/"+rest) == "/" {
		return fmt.Errorf(`%q: want files or folders of this machine, like "/srv/tools" or "~/.cache/tool", without ".."; "/" and "~/" are too much`, s)
	}
	return nil
}

// sensorName accepts the name of a sensor of odd sense.
func sensorName(s string) error {
	if _, ok := sense.Find(s); ok {
		return nil
	}
	var all []string
	for _, known := range sense.Sensors() {
		all = append(all, known.Name)
	}
	return fmt.Errorf("%q is not a sensor; the sensors are %s, and custom runs a command of your own", s, strings.Join(all, ", "))
}

// sensorList reads what [sense.sensors] lists for a sensor.
func sensorList(name string, n node) ([]string, error) {
	if err := sensorName(name); err != nil {
		return nil, err
	}
	s, _ := sense.Find(name)
	var out []string
	var err error
	switch s.Takes {
	case sense.Command:
		return readArgv(n)
	case sense.Chores:
		out, err = readStrings(n, func(s string) error { _, _, err := sense.ParseChore(s); return err })
	default:
		out, err = readStrings(n, func(s string) error {
			if strings.ContainsAny(s, "{}") {
				return fmt.Errorf("%q: odd reads no braces; write a glob for each", s)
			}
			return repoGlob(s)
		})
	}
	if err == nil && len(out) == 0 {
		return nil, errors.New("lists nothing; name " + string(s.Takes) + `, like ["**"] for all, or take the line out`)
	}
	return out, err
}

// taskPath accepts a glob of files that a task may change.
func taskPath(s string) error {
	if err := policy.CheckGlob(s); err != nil {
		return err
	}
	return repoGlob(s)
}
