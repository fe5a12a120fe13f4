// Package testscripts holds the stories that need the whole program, and the
// rules about the code itself.
//
// A story is one txtar file in testdata: shell-like lines, then the files they
// start from. Its name begins with the area it is about. The odd it runs is
// this test binary, with the clock and the entropy fixed, so that two runs of
// a script make the same bytes and the same commit ids:
//
//	git init -q repo
//	cd repo
//	exits 0 odd init
//	git add .
//	git commit -qm 'begin'
//	advance 40m
//	exits 3 odd approve T-9
//	stderr 'already done'
//
// Besides testscript's own commands, and the condition [landlock] for a machine
// that can hold a program in the kernel, there are
//
//	exits N CMD ARG…    run CMD and require exit code N; odd runs inside the test's own process,
//	                    unless the script changed PATH
//	exits N exec odd …  run odd as a process: it reads stdin and ttyin, and an agent can call it back
//	types FILE          the person who sits at the terminal of the next odd types FILE
//	[!] typed PATTERN   look for PATTERN in what odd showed on that terminal
//	[!] git ARG…        run git
//	settime RFC3339     set the clock of odd and of git
//	advance DURATION    move that clock, 40m or 24h; -1h moves it back
//	capture NAME        put the last stdout, trimmed, into $NAME
//	show N FILE CMD …   exits N CMD …, and add both to FILE as a terminal shows them, object ids as …
//	edit OLD NEW FILE…  replace the first OLD in each file, as a person's editor would
//	model NAME FILE     start a model's API that answers from a recording, as package
//	                    modeltest reads it; its address is in $NAME
//	state FILE          write refs, index and edits of the repository here to FILE, which lies outside it
//
// State before and after, compared, is how a script shows that nothing was
// written. A typed confirmation is given with types. With ttyin and exec instead, odd has
// a terminal of the system's and opens /dev/tty. Without either there is no terminal,
// also when the tests are started from one.
//
//	go test ./testscripts -run Script/approve      the scripts of one area
//	go test ./testscripts -update                  rewrite what cmp compares with
package testscripts

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/term"

	"github.com/odd-cli/odd/cmd"
	"github.com/odd-cli/odd/persona/session/agenttest"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/modeltest"
)

var update = flag.Bool("update", false, "rewrite the files that scripts compare with")

// The variables that carry a script's clock and its place for entropy into the
// odd it starts. Only this test binary reads them.
const (
	varNow     = "ODD_TEST_NOW"     // a moment, or @FILE that holds one and is read at every look
	varSeed    = "ODD_TEST_SEED"    // the file that counts the odds of a script
	varAbove   = "ODD_TEST_ABOVE"   // the programs that odd was started from; whatever runs the tests is none of them
	varVersion = "ODD_TEST_VERSION" // the version that odd takes itself for
	varScreen  = "ODD_TEST_SCREEN"  // where it is set, stdout counts as a terminal
	varAnswer  = "ODD_TEST_ANSWER"  // what a person types where there is no terminal; "" is nobody

	whateverIsAsked = "*" // the answer that confirms every question
)

// ttyFD is where testscript leaves the terminal of ttyin.
const ttyFD = 3

// begin is when every script begins.
const begin = "2026-03-02T09:00:00Z"

// aPersons are the tests as a person starts them, whoever does.
type aPersons struct{ *testing.M }

// Run takes out what would tell odd that an agent asks. An agent that calls back the odd
// of inside calls this binary, which is none.
func (m aPersons) Run() int {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "these are the tests, not odd; in the story write exits N exec odd")
		return 2
	}
	for _, name := range cmd.AgentVars() {
		os.Unsetenv(name)
	}
	defer func() { os.RemoveAll(demos.home) }()
	return m.M.Run()
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // what odd allots does not live long
	testscript.Main(aPersons{m}, map[string]func(){"odd": oddMain, "claude": claudeMain, "acp-agent": acpMain, "asked": askedMain})
}

// oddMain is odd with the script's clock and entropy.
func oddMain() {
	cmd.SizeHeap()
	env := cmd.OS()
	asScripted(&env, term.IsTerminal(ttyFD))
	os.Exit(cmd.Main(env, os.Args...))
}

// asScripted gives odd the clock, the entropy and the person that the variables of a
// script tell of; terminal is whether the script gave it one with ttyin.
func asScripted(env *cmd.Env, terminal bool) {
	env.Now = clockOf(env.Getenv(varNow))
	env.Entropy = entropy(env.Getenv(varSeed))
	env.Version = cmp.Or(env.Getenv(varVersion), env.Version)
	env.Terminal = env.Terminal || env.Getenv(varScreen) != ""
	above, stderr := env.Getenv(varAbove), env.Stderr
	env.Above = func() []string { return strings.Fields(above) }
	if answer := env.Getenv(varAnswer); answer == whateverIsAsked {
		env.TTY = func() (io.ReadWriteCloser, error) { return &confirmer{terminal: stderr}, nil }
	} else if answer != "" {
		env.TTY = func() (io.ReadWriteCloser, error) { return typist{strings.NewReader(answer + "\n")}, nil }
	} else if !terminal {
		env.TTY = func() (io.ReadWriteCloser, error) {
			return nil, &os.PathError{Op: "open", Path: "/dev/tty", Err: syscall.ENXIO}
		}
	}
}

// inside runs odd in this process, which spares its start: nothing on its standard
// input, no terminal, and of the world only what the script's variables say.
func inside(ts *testscript.TestScript, args []string) (code int, stdout, stderr string) {
	env := cmd.OS()
	var out, err strings.Builder
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), io.MultiWriter(&out, ts.Stdout()), io.MultiWriter(&err, ts.Stderr())
	env.Dir, env.Temp, env.Getenv = ts.MkAbs("."), ts.Getenv("TMPDIR"), ts.Getenv
	env.Cage.Home = ts.Getenv("HOME")
	env.Terminal, env.Keyboard, env.Live, env.Width = false, false, false, 0
	env.Environ = nil
	for _, name := range ts.Value(variables).([]string) {
		if v := ts.Getenv(name); v != "" {
			env.Environ = append(env.Environ, name+"="+v)
		}
	}
	asScripted(&env, false)
	if at := ts.Value(terminal).(*screen); at.typing != nil {
		env.TTY = func() (io.ReadWriteCloser, error) { return at, nil }
		at.shown.Reset()
		defer func() { at.typing = nil }()
	}
	code = cmd.Main(env, args...)
	return code, out.String(), err.String()
}

// clockOf is the clock that varNow asks for; begin where it asks for none.
func clockOf(at string) func() time.Time {
	name, moves := strings.CutPrefix(at, "@")
	read := func() time.Time {
		if b, err := os.ReadFile(name); moves && err == nil {
			at = strings.TrimSpace(string(b))
		}
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			now, _ = time.Parse(time.RFC3339, begin)
		}
		return now
	}
	if moves {
		return read
	}
	now := read()
	return func() time.Time { return now }
}

// typist is a person at a terminal who types one answer and reads what comes.
type typist struct{ io.Reader }

func (typist) Write(b []byte) (int, error) { return len(b), nil }
func (typist) Close() error                { return nil }

// terminal is where a script has its screen.
const terminal = "terminal"

// screen is a terminal where a person types line after line, and what it showed.
type screen struct {
	typing *bufio.Reader // nil where nobody sits there
	shown  strings.Builder
}

func (s *screen) Write(b []byte) (int, error) { return s.shown.Write(b) }
func (*screen) Close() error                  { return nil }

// Read gives a line, as a terminal does.
func (s *screen) Read(b []byte) (int, error) {
	line, err := s.typing.ReadSlice('\n')
	if len(line) > 0 {
		err = nil
	}
	return copy(b, line), err
}

func typesAt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: types FILE")
	}
	ts.Value(terminal).(*screen).typing = bufio.NewReader(strings.NewReader(ts.ReadFile(args[0])))
}

func typedAt(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: typed PATTERN")
	}
	shown := ts.Value(terminal).(*screen).shown.String()
	if regexp.MustCompile("(?m)"+args[0]).MatchString(shown) == neg {
		ts.Fatalf("%s: found %t in what the terminal showed:\n%s", args[0], neg, shown)
	}
}

// confirmer is a person at a terminal who types what each question asks for. The
// terminal shows both.
type confirmer struct {
	terminal io.Writer
	asked    []byte
}

func (c *confirmer) Write(b []byte) (int, error) {
	c.asked = append(c.asked, b...)
	return c.terminal.Write(b)
}

func (c *confirmer) Read(b []byte) (int, error) {
	m := regexp.MustCompile(`type (.+) to confirm: $`).FindSubmatch(c.asked)
	if m == nil {
		return 0, io.EOF
	}
	c.asked = nil
	n := copy(b, string(m[1])+"\n")
	return c.terminal.Write(b[:n])
}

func (*confirmer) Close() error { return nil }

// acpMain plays an agent of the Agent Client Protocol.
func acpMain() { os.Exit(agenttest.ACP(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// claudeMain plays the Claude Code command line from recordings.
func claudeMain() {
	os.Exit(agenttest.Claude(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// entropy is the same for the nth odd of a script, and another for each n. The
// file at path counts them; an append of one byte is the count, so that odds
// running at once get different numbers.
func entropy(path string) io.Reader {
	n := int64(0)
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		_, _ = f.Write([]byte{'.'})
		n, _ = f.Seek(0, io.SeekCurrent)
		_ = f.Close()
	}
	return rand.NewChaCha8(sha256.Sum256([]byte("odd " + strconv.FormatInt(n, 10))))
}

func TestScript(t *testing.T) {
	t.Parallel()
	if *update {
		t.Cleanup(func() { outputs().writeLearned(t) })
	}
	testscript.Run(t, testscript.Params{
		Dir:                "testdata",
		Setup:              setup,
		UpdateScripts:      *update,
		RequireUniqueNames: true,
		Condition:          condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"git":     git,
			"settime": settime,
			"advance": advance,
			"capture": capture,
			"show":    show,
			"edit":    edit,
			"state":   state,
			"typed":   typedAt,
			"types":   typesAt,
			"model":   model,
		},
	})
}

// condition is [landlock]: this machine holds a program as [sandbox] enforce =
// "require" asks.
func condition(name string) (bool, error) {
	if name != "landlock" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	c := cage.Cage{Self: []string{"odd", cage.Verb}, Enforce: cage.Require, Limits: cage.Limits{Processes: 8192}}
	return c.Demand(context.Background(), os.TempDir(), cage.Loopback) == nil, nil
}

// gitConfig is the git of the person in every script, Ann. Nothing of the
// developer's own git comes through.
const gitConfig = `[user]
	name = Ann
	email = ann@example.org
[init]
	defaultBranch = main
[core]
	excludesFile = %s
	autocrlf = false
[commit]
	gpgSign = false
[gc]
	auto = 0
[maintenance]
	auto = false
[receive]
	autogc = false
[protocol "file"]
	allow = always
[advice]
	detachedHead = false
`

// setup gives a script a home, a git and a clock of its own. They lie under
// .tmp, which git is told to ignore, so that $WORK itself can be a repository.
func setup(e *testscript.Env) error {
	e.Values[confirmation] = new(string)
	e.Values[terminal] = new(screen)
	defer func() { e.Values[variables] = names(e.Vars) }()
	home := filepath.Join(e.WorkDir, ".tmp", "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	excludes := filepath.Join(home, "ignore")
	if err := os.WriteFile(excludes, []byte("/.tmp/\n"), 0o600); err != nil {
		return err
	}
	config := filepath.Join(home, "gitconfig")
	if err := os.WriteFile(config, fmt.Appendf(nil, gitConfig, excludes), 0o600); err != nil {
		return err
	}
	recordings, err := filepath.Abs(filepath.Join("..", "persona", "session"))
	if err != nil {
		return err
	}
	e.Vars = append(e.Vars,
		"HOME="+home, "GOCACHE="+goCache(), "RECORDINGS="+recordings,
		"XDG_CONFIG_HOME="+filepath.Join(home, "config"),
		"GIT_CONFIG_GLOBAL="+config,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(e.WorkDir),
		"TZ=UTC",
		"LC_ALL=C",
		"NO_COLOR=1",
		"CI=", "GITHUB_ACTIONS=",
		varSeed+"="+filepath.Join(e.WorkDir, ".tmp", "odds"),
	)
	for _, v := range clock(begin) {
		e.Vars = append(e.Vars, v[0]+"="+v[1])
	}
	return nil
}

// variables are the names of all that the environment of a script may set, which
// testscript keeps to itself: those of its setup, and what the words of a story name.
const variables = "variables"

// names are the names of variables, and those that some story sets.
func names(vars []string) []string {
	out := slices.Clone(storyNames())
	for _, v := range vars {
		name, _, _ := strings.Cut(v, "=")
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// storyNames are the variables that the stories set.
var storyNames = sync.OnceValue(func() (out []string) {
	sets := regexp.MustCompile(`(?m)^(?:\[.*\] *)?env (.*)$`)
	stories, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range stories {
		b, _ := os.ReadFile(name)
		for _, m := range sets.FindAllStringSubmatch(string(b), -1) {
			for _, v := range strings.Fields(m[1]) {
				name, _, _ := strings.Cut(v, "=")
				out = append(out, strings.Trim(name, "'"))
			}
		}
	}
	return out
})

// clock is one moment as every program of a script reads it.
func clock(now string) [][2]string {
	return [][2]string{{varNow, now}, {"GIT_AUTHOR_DATE", now}, {"GIT_COMMITTER_DATE", now}}
}

func exits(ts *testscript.TestScript, neg bool, args []string) { told(ts, neg, args) }

// told is exits, and what the command printed, first to stdout.
func told(ts *testscript.TestScript, neg bool, args []string) string {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got, stdout, stderr := 0, "", ""
	if args[1] == "odd" && ts.Getenv("PATH") == os.Getenv("PATH") { // whoever looks up a program asks the process
		var copied bool
		if got, stdout, stderr, copied = fromDemo(ts, args[1:]); !copied {
			got, stdout, stderr = inside(ts, args[1:])
		}
		holdOutput(ts, args[1:], stdout)
	} else {
		args = slices.DeleteFunc(args, func(a string) bool { return a == "exec" })
		var ee *exec.ExitError
		if err = ts.Exec(args[1], args[2:]...); errors.As(err, &ee) {
			got = ee.ExitCode()
		} else if err != nil {
			ts.Fatalf("%s: %v", args[1], err)
		}
		stdout, stderr = ts.ReadFile("stdout"), ts.ReadFile("stderr")
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
	return stdout + stderr
}

func git(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("git", args...)
	if err != nil && !neg {
		ts.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	if err == nil && neg {
		ts.Fatalf("git %s: unexpected success", strings.Join(args, " "))
	}
}

func settime(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: settime 2026-03-02T09:00:00Z")
	}
	_, err := time.Parse(time.RFC3339, args[0])
	ts.Check(err)
	for _, v := range clock(args[0]) {
		ts.Setenv(v[0], v[1])
	}
}

func advance(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: advance 40m")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	now, err := time.Parse(time.RFC3339, ts.Getenv(varNow))
	ts.Check(err)
	settime(ts, false, []string{now.Add(d).Format(time.RFC3339)})
}

func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: capture NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

func model(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: model NAME FILE")
	}
	b, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	srv := httptest.NewServer(modeltest.Read(b))
	ts.Defer(srv.Close)
	ts.Setenv(args[0], srv.URL)
}

// oid is an object id, short or whole, or a hash.
var oid = regexp.MustCompile(`\b[0-9a-f]{10,64}\b`)

// confirmation is a typed confirmation on the terminal: the act and its person, then the prompt.
var confirmation = regexp.MustCompile(`(?m)^(.+ as .+ <.+>)\r?\n(type (\S+) to confirm: )`)

// question is what a command asked on its terminal, with the answer, "" where
// it asked nothing since the last one that show showed.
func question(ts *testscript.TestScript) string {
	last := ts.Value(confirmation).(*string)
	m := confirmation.FindStringSubmatch(ts.Value(terminal).(*screen).shown.String())
	if m == nil || m[0] == *last {
		return ""
	}
	*last = m[0]
	return m[1] + "\n" + m[2] + m[3] + "\n"
}

func show(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: show code file command [args...]")
	}
	text := told(ts, false, append([]string{args[0]}, args[2:]...))
	f, err := os.OpenFile(ts.MkAbs(args[1]), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	defer f.Close()
	for i, a := range args {
		if strings.ContainsAny(a, " $*") {
			args[i] = strconv.Quote(a)
		}
	}
	args = slices.DeleteFunc(args, func(a string) bool { return a == "exec" })
	fmt.Fprintf(f, "$ %s\n%s", strings.Join(args[2:], " "), oid.ReplaceAllString(question(ts)+text, "…"))
	if args[0] != "0" {
		fmt.Fprintf(f, "exit %s\n", args[0])
	}
}

func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: edit old new file...")
	}
	old, err := strconv.Unquote(`"` + args[0] + `"`)
	ts.Check(err)
	now, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	for _, name := range args[2:] {
		was := ts.ReadFile(name)
		if !strings.Contains(was, old) {
			ts.Fatalf("%s: no %q to replace", name, old)
		}
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(strings.Replace(was, old, now, 1)), 0o644))
	}
}

func state(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: state FILE")
	}
	var b strings.Builder
	for _, look := range [][]string{
		{"for-each-ref", "--format=%(refname) %(objectname)"},
		{"ls-files", "-s"},
		{"status", "--porcelain=v1", "-z", "--untracked-files=all"},
		{"diff"},
	} {
		ts.Check(ts.Exec("git", look...))
		fmt.Fprintf(&b, "%s\n%s\n", strings.Join(look, " "), ts.ReadFile("stdout"))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// goCache is go's build cache of whoever runs the tests: a home of a script's own
// has none, and go would compile its library for every script.
func goCache() string {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "go-build")
}
