// Package config reads odd.toml, strictly.
//
// odd.toml lies at the top of the repository and is read from the board
// branch's commit. Template is what a new repository starts with, Reference shows
// every key, and Set changes one key and no other byte. A small one:
//
//	[bundle]
//	root = "knowledge"
//
//	[budget]
//	monthly_usd = 20.00       # a number or a string, exact to the sixth decimal
//	hard_stop_usd = "25"
//	[budget.teams]            # ids of capability atoms
//	docs = 5
//
//	[session]
//	substrate = "exec"
//	timeout = "15m"
//
//	[substrate.exec]
//	argv = ["my-agent", "--brief", "-"]
//	env = ["MY_AGENT_KEY"]    # the name of a variable, never a key itself
//
//	[governance]
//	lease = "off"             # without this key: "required"
//
// What it promises:
//
//   - A file is whole or refused. Unknown keys, wrong types and values out of
//     range are all reported at once, each with its line and the way out.
//   - An empty file is an error: it is never "no rules".
//   - Money is read from its digits and never passes through a float.
//   - A value that looks like a credential is refused, and is not repeated in
//     the message.
//   - argv is a list of words. There is no shell.
//
// The names in [contract] are held to the tables of package contract, but for
// profile: which profiles there are, the bundle says.
package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/persona/contract"
)

// Config is odd.toml with its defaults filled in.
type Config struct {
	Format        int      // [odd] format, default 1
	LeastVersion  string   // [odd] least_version, like "0.1.0"; "" means: any odd may write
	LeastLine     int      // the 1-based line of odd.toml that says so
	Root          string   // [bundle] root, default "knowledge"; slash-separated, below the top of the repository
	External      []string // [canon] external: authorities of uris whose documents are another repository's
	Branch        string   // [board] branch; "" means: the branch checked out
	Target        string   // [board] target; "" means: Branch
	Remote        string   // [board] remote, the name of a git remote; "" means: none
	AgentName     string   // default "odd-agent"
	AgentEmail    string   // default "odd@localhost"
	Tenant        string   // [tenant] id, default "default"
	Budget        budget.Envelope
	HasBudget     bool // [budget] monthly_usd is set
	Session       Session
	Substrates    map[string]Substrate // [substrate.NAME]
	Routes        map[string]Route     // [route.LANE]
	Prices        map[string]Price     // [prices."MODEL"]
	Contract      Contract
	Servers       []Server // the [[mcp]] tables, in their order
	Floor         Floor
	Lease         string // [governance] lease: "off" or "required" (the default when the key is absent)
	RequireSigned bool
	// AllowedSigners is [governance] allowed_signers: the file, in the
	// repository, of who may sign with which SSH key; "": whom git trusts here.
	AllowedSigners string
	// Approvers is [governance.approvers]: the addresses of who may approve a file, by a
	// glob of its path or the type of its atom; Approvals is how many of them must, by
	// default one.
	Approvers   map[string][]string
	Approvals   int
	Anchor      Anchor
	MaxTasks    int           // [drain] max_tasks, default 1
	RemoteTime  time.Duration // [board] remote_timeout, default 5m
	TaskLease   time.Duration // [drain] lease, default 1h
	MaxAttempts int           // [drain] max_attempts, default 3
	Notify      []string      // [drain] notify: the command that is told how each task ended; nil: none
	ReviewTTL   time.Duration // [pipeline] review_ttl, default 14 days
	Sense       Sense
	Pipeline    Pipeline
	Toolbox     Toolbox
	Sandbox     Sandbox
}

// Session is [session].
type Session struct {
	Substrate string // default "extract"
	Model     string
	Fallback  []string        // substrates that take over where a transport fails, in order
	MaxTurns  int             // default 20
	MaxCost   budget.MicroUSD // [session] max_usd, for what sets no amount of its own; default 0.50
	Timeout   time.Duration   // of a session on a lane that has no time of its own; 0: that of the lane
	Cap       string          // "inferred" (default) or "asserted"
	MaxAtoms  int             // default 40
}

// Substrate is [substrate.NAME].
type Substrate struct {
	Argv     []string // the command and its words
	File     string   // replay
	Env      []string // names passed through
	Free     bool     // costs no money
	MaxBytes int      // of output; 0: the substrate's own limit

	API
}

// Sense is [sense]: what odd sense does without an argument, what its tasks are like, and
// how many it files a run and a day, and may have open.
type Sense struct {
	Sensors        map[string][]string // by the sensor's name, what it takes: see sense.Takes
	Ready          []string            // sensors whose tasks wait for no odd task ready
	Role           string              // of the tasks, "" for none
	Paths          []string            // globs of what the tasks may change
	Run, Day, Open int
}

// Contract is [contract]: what a session's contract takes where neither its
// task nor its caller says. Names are as package contract spells them, "" where
// odd.toml is silent.
type Contract struct {
	Profile    string // a persona profile, "oddie" or "oddie@2"
	Surface    contract.Surface
	Voice      contract.Voice
	Engagement contract.Engagement
	Roles      map[string]contract.Role // [contract.roles], by kind of task
}

// Floor is [persona.floor]: what a persona needs before it may work. The
// defaults are those of DESIGN's notes on personas.
type Floor struct {
	Atoms         int // resolved atoms, default 5
	Processes     int // owned by the role, default 1
	Guides        int // policies or terms, default 1
	UnresolvedPct int // at most, default 20
}

// Allows says whether want more may be reserved in a month on top of spent. An agent that
// is free, where no budget is set, has no stop.
func (c Config) Allows(spent, want budget.MicroUSD) budget.Level {
	if c.Free() && !c.HasBudget {
		return budget.OK
	}
	return budget.Decide(c.Budget, spent, want)
}

// Default is the configuration of a repository without odd.toml.
func Default() Config {
	return Config{
		Format:     1,
		Root:       "knowledge",
		AgentName:  "odd-agent",
		AgentEmail: "odd@localhost",
		Tenant:     "default",
		Budget:     budget.Envelope{AlertPct: 80},
		Session: Session{
			Substrate: "extract", MaxTurns: 20, MaxCost: 500_000, Cap: "inferred", MaxAtoms: 40,
		},
		Floor:       Floor{Atoms: 5, Processes: 1, Guides: 1, UnresolvedPct: 20},
		Lease:       "required",
		Anchor:      defaultAnchor(),
		MaxTasks:    1,
		RemoteTime:  5 * time.Minute,
		Approvals:   1,
		TaskLease:   time.Hour,
		MaxAttempts: 3,
		ReviewTTL:   14 * 24 * time.Hour,
		Sense:       Sense{Run: 5, Day: 20, Open: 20},
		Pipeline:    defaultPipeline(),
		Toolbox:     Toolbox{Timeout: 30 * time.Second, Command: 5 * time.Minute},
		Sandbox:     defaultSandbox(),
	}
}

// Parse reads odd.toml. Every error is located ("odd.toml:12: unknown key "…", did you mean "…"?"). An empty file is an error.
// The error is an Errors with all of them in the order of the lines, and then the Config is the zero one; for a file
// that is not TOML it holds the one place where reading stopped. Of a format that this odd does not know it is a *Newer.
func Parse(file string, b []byte) (Config, error) {
	root, err := parseTree(b)
	if err != nil {
		return Config{}, Errors{syntaxError(file, b, err)}
	}
	if err := checkFormat(file, root); err != nil {
		return Config{}, err
	}
	p := parser{file: file, c: Default()}
	p.c.Anchor.Strictness = "" // it follows from the mode
	p.parseTable(root, nil)
	if len(p.errs) == 0 && p.values == 0 {
		p.addError(1, `empty; an empty odd.toml is never "no rules": write at least [governance] lease, or restore the file from git`)
	}
	p.checkAcross(root)
	if len(p.errs) > 0 {
		slices.SortStableFunc(p.errs, func(a, b Error) int { return cmp.Compare(a.Line, b.Line) })
		return Config{}, p.errs
	}
	return p.c, nil
}

// InBundle reports a path, or a glob of paths, that lies in the bundle.
func (c Config) InBundle(name string) bool {
	return name == c.Root || strings.HasPrefix(name, c.Root+"/")
}

// Folder is the bundle in files, the tree of a commit that odd.toml is of. Its error says how to
// correct the root. errors.Is(err, fs.ErrNotExist) says that the folder is not committed.
func (c Config) Folder(files fs.FS) (fs.FS, error) {
	root, err := fs.Sub(files, c.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notCommitted(cmp.Or(c.moved(files), fmt.Sprintf("the folder %s is not committed on the board branch; run odd init if it is missing, then git add %[1]s && git commit -m \"odd: %[1]s\"", c.Root)))
	}
	if err != nil {
		return nil, c.notFolder()
	}
	return root, nil
}

// OnDisk is the path of the bundle below top, the top of a work tree. No part of it may
// be a link, because git keeps where a link leads and not what is there.
func (c Config) OnDisk(top string) (string, error) {
	at := top
	for part := range strings.SplitSeq(c.Root, "/") {
		at = filepath.Join(at, part)
		if st, err := os.Lstat(at); err == nil && st.Mode()&fs.ModeSymlink != 0 {
			return "", c.notFolder()
		}
	}
	return at, nil
}

// Missing is the error of a work tree that does not have the bundle.
func (c Config) Missing(top string) error {
	return errors.New(cmp.Or(c.moved(os.DirFS(top)), fmt.Sprintf("%s: odd.toml names this folder, and it is not in this work tree; bring it back with git checkout -- %[1]s, make it with odd init, or in a sparse checkout run git sparse-checkout add %[1]s", c.Root)))
}

// moved says, where the bundle is not in files, which other folder at the top is one and how to
// name it; "" where none is.
func (c Config) moved(files fs.FS) string {
	tasks, _ := fs.Glob(files, "*/tasks")
	for _, at := range tasks {
		at = path.Dir(at)
		if b, _ := fs.ReadFile(files, at+"/index.md"); bytes.Contains(b, []byte("\nokf_version:")) {
			return fmt.Sprintf("the folder %s is missing, which odd.toml names, and %s looks like it; if it is, run odd config set bundle.root %[2]s, then git add odd.toml %[2]s && git commit -m \"odd: %[2]s\"", c.Root, at)
		}
	}
	return ""
}

// notCommitted is the error of a root that the commit does not have.
type notCommitted string

func (why notCommitted) Error() string { return string(why) }

func (notCommitted) Is(err error) bool { return err == fs.ErrNotExist }

func (c Config) notFolder() error {
	return fmt.Errorf("odd.toml: [bundle] root: %s is a link or a file in git, not a folder; set root to the folder itself", c.Root)
}
