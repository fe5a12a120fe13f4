// Package console is everything outside of the repository that a command sees: Env has its
// streams, clock, environment and terminal. Stdout is data: rows, JSON or a page. Stderr is talk.
// Text from files and agents reaches a terminal without control characters and credentials.
package console

import (
	"crypto/rand"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/odd-cli/odd/persona/session/cage"
)

// Env is the whole outside of odd: everything a command may see or touch
// besides the files of its repository. A test makes its own.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Dir            string           // where relative paths start; absolute
	Temp           string           // where what is thrown away is made
	Now            func() time.Time // the only clock
	Sleep          func(time.Duration)
	After          func(time.Duration, func()) (stop func()) // calls later unless stopped
	Entropy        io.Reader                                 // for run ids
	Getenv         func(string) string
	Above          func() []string                    // names of the programs that odd was started from, the nearest first; nil knows of none
	Cage           cage.Cage                          // by what programs are held
	Version        string                             // of this odd
	Environ        []string                           // all of it, for what odd.toml lets an exec session see
	TTY            func() (io.ReadWriteCloser, error) // the terminal itself, for typed confirmations
	Terminal       bool                               // stdout is a terminal: align, and colour unless NO_COLOR
	Keyboard       bool                               // stdin is a terminal: a person answers there, and is prompted
	Live           bool                               // stderr is a terminal: a live progress line
	ColorUI        string                             // git's color.ui, read where stdout is a terminal
	Width          int                                // columns of the terminal that stdout is, or else stderr; 0 where nobody knows
}

// OS returns the real environment.
func OS() Env {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	wide, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil { // piped: what is said is read at the terminal all the same
		wide, _, _ = term.GetSize(int(os.Stderr.Fd()))
	}
	home, _ := os.UserHomeDir()
	return Env{
		Version: Version(),
		Cage:    cage.Cage{Self: []string{"odd", cage.Verb}, Home: home, Tick: callEvery},
		Stdin:   os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Dir: dir, Temp: os.TempDir(), Now: time.Now, Sleep: time.Sleep, After: callAfter, Entropy: rand.Reader, Getenv: os.Getenv, Above: parentPrograms, Environ: os.Environ(),
		TTY:      func() (io.ReadWriteCloser, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) },
		Terminal: term.IsTerminal(int(os.Stdout.Fd())),
		Keyboard: term.IsTerminal(int(os.Stdin.Fd())),
		Live:     term.IsTerminal(int(os.Stderr.Fd())),
		Width:    wide,
	}
}

func callAfter(d time.Duration, f func()) (stop func()) {
	t := time.AfterFunc(d, f)
	return func() { t.Stop() }
}

// callEvery calls f every d until stop is called.
func callEvery(d time.Duration, f func()) (stop func()) {
	t, over := time.NewTicker(d), make(chan struct{})
	go func() {
		for {
			select {
			case <-t.C:
				f()
			case <-over:
				return
			}
		}
	}()
	return func() { t.Stop(); close(over) }
}

// Patience is how long odd works before it says at what.
const Patience = 500 * time.Millisecond

// AnnounceSlow says what odd is doing once it has taken longer than a person's patience.
func (e Env) AnnounceSlow(what string) (done func()) {
	if e.After == nil {
		return func() {}
	}
	return e.After(Patience, func() { Talk(e, "%s …", what) })
}

// TerminalWidth returns the columns of the terminal, 80 where it does not say.
func (e Env) TerminalWidth() int {
	if e.Width > 0 {
		return e.Width
	}
	return 80
}

// AbsPath makes a path a person typed absolute, against Dir.
func (e Env) AbsPath(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(e.Dir, p)
}

// hasColor reports whether stdout may carry escapes: never in a pipe, whose bytes are data.
func (e Env) hasColor() bool {
	if !e.Terminal || e.Getenv("NO_COLOR") != "" {
		return false
	}
	switch strings.ToLower(e.ColorUI) {
	case "never", "false", "no", "off", "0":
		return false
	case "always":
		return true
	}
	return e.Getenv("TERM") != "dumb"
}

// Paint returns a text in a style of the terminal, by the number of its escape; "" is none.
func (e Env) Paint(style, s string) string {
	if style == "" || !e.hasColor() {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

// InCI reports whether a CI system runs odd, where nobody answers.
func (e Env) InCI() bool { return e.Getenv("CI") != "" || e.Getenv("GITHUB_ACTIONS") != "" }

// ReadRandom fills b from Entropy.
func (e Env) ReadRandom(b []byte) error {
	_, err := io.ReadFull(e.Entropy, b)
	return err
}

// AgentVars returns the variables by which a command learns that an agent's harness
// started it. Only those are listed that a harness sets for what it runs: a person who
// has a harness's settings in their profile, or works in a terminal of an editor with
// an agent in it (CURSOR_TRACE_ID, CLAUDE_CODE_SSE_PORT), still decides.
//
// Sources: the environment pages of Claude Code, Gemini CLI, Codex, opencode, Cursor,
// Augment and Goose, and the tables of @vercel/detect-agent, unjs/std-env and
// huggingface_hub, which other programs use for the same question.
func AgentVars() []string {
	return []string{
		"ODD_RUN", "ODD_ANCHOR", // a session of odd drain, and one that holds a permit
		"AI_AGENT", "AGENT", // proposed for all of them
		"CLAUDECODE", "CLAUDE_CODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_IS_COWORK", "CLAUDE_CODE_REMOTE",
		"GEMINI_CLI", "ANTIGRAVITY_AGENT", "QWEN_CODE",
		"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_CI",
		"OPENCODE", "OPENCODE_CLIENT", "OPENCODE_PID", "OPENCODE_SESSION_ID",
		"CURSOR_AGENT", "CURSOR_CLI",
		"AMP_CURRENT_THREAD_ID", "AUGMENT_AGENT", "CLINE_ACTIVE", "COPILOT_CLI", "CRUSH", "GOOSE_TERMINAL", "HERMES_SESSION_ID",
		"OPENCLAW_SHELL", "PI_CODING_AGENT", "ROO_ACTIVE", "TRAE_AI_SHELL_ID",
	}
}

// agentPrograms are the programs of those harnesses that run in a terminal, by name.
// Editors are none of them: people type in their terminals too.
var agentPrograms = []string{
	"aider", "amp", "auggie", "claude", "cline", "codex", "copilot", "crush", "cursor-agent", "droid", "gemini", "goose", "kiro-cli", "opencode", "openhands", "qwen",
}

// AgentSign says what shows that an agent asks and not a person, "" where nothing does. It
// is the one answer for every act that only a person may take. A process that clears
// its variables and leaves its parents is not known by it.
func (e Env) AgentSign() string {
	for _, name := range AgentVars() {
		if e.Getenv(name) != "" {
			return name + " is set"
		}
	}
	if e.Above == nil {
		return ""
	}
	for _, name := range e.Above() {
		if slices.Contains(agentPrograms, name) {
			return name + " started this command"
		}
	}
	return ""
}

// programNames returns the names that a process goes by: that of its program, and of the
// script that an interpreter was given.
func programNames(comm string, argv []string) []string {
	names := []string{comm}
	for i, arg := range argv {
		if i == 0 || !strings.HasPrefix(arg, "-") {
			name := path.Base(arg)
			names = append(names, strings.TrimSuffix(strings.TrimSuffix(name, path.Ext(name)), "-cli"), name)
		}
		if i > 0 && !strings.HasPrefix(arg, "-") || !slices.Contains([]string{"node", "bun", "deno", "python", "python3"}, path.Base(argv[0])) {
			break
		}
	}
	return names
}

// Version returns the version of the module from the build info, "devel" where it has none.
func Version() string {
	if bi, ok := debug.ReadBuildInfo(); ok && bi.Main.Version != "" && bi.Main.Version != "(devel)" {
		return bi.Main.Version
	}
	return "devel"
}

// FindProgram returns the absolute path of a program on PATH, "" where there is none.
func (e Env) FindProgram(name string) string {
	for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
		at := filepath.Join(dir, name)
		if st, err := os.Stat(at); filepath.IsAbs(dir) && err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return at
		}
	}
	return ""
}
