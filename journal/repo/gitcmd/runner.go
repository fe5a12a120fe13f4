// Package gitcmd runs git, without a shell and with an environment of its own. Only journal/repo and the packages
// below it import this package.
package gitcmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Runner runs git without a shell. It builds the environment itself, so that a GIT_DIR or GIT_INDEX_FILE of the
// caller, such as a hook, cannot point git elsewhere.
type Runner struct {
	Dir  string   // where git runs: the work tree, or the git directory of a bare repository
	Bare bool     // dir is a git directory; odd sets GIT_DIR, because safe.bareRepository may forbid git to find it
	Base []string // environment of every call
	Self []string // added to calls in a person's name: identity, signing, ssh, proxies
}

// Call is one git process.
type Call struct {
	Args  []string
	Dir   string   // "" = the runner's
	Env   []string // added last
	Stdin io.Reader
	Read  bool // takes no optional lock
	Self  bool // runs as the person: their identity, keys, hooks and terminal
}

// Error is a git process that failed. Its text is git's error output.
type Error struct {
	verb   string
	code   int // exit code, -1 when it did not exit
	Stderr string
}

// Error names the git verb first, then git's own words.
func (e *Error) Error() string {
	said := strings.TrimSpace(e.Stderr)
	if said == "" {
		said = fmt.Sprintf("ended with code %d", e.code)
	}
	return "git " + e.verb + ": " + said
}

// ExitCode returns git's exit code from err, -1 if err is no *Error.
func ExitCode(err error) int {
	if ge := (*Error)(nil); errors.As(err, &ge) {
		return ge.code
	}
	return -1
}

var (
	baseNames = []string{"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH", "SUDO_UID"}
	selfNames = []string{"SSH_AUTH_SOCK", "SSH_ASKPASS", "GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT",
		"GPG_TTY", "GPG_AGENT_INFO", "GNUPGHOME", "TERM", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE", "TZ",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
		"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_NO_VERIFY", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"}
)

// noGrafts names a file that cannot exist, so that git reads no grafts and a commit's parents are those in the
// object.
const noGrafts = "GIT_GRAFT_FILE=" + os.DevNull + "/none"

// New returns a runner that keeps only the variables named above from environ.
func New(dir string, environ []string) *Runner {
	return &Runner{
		Dir:  dir,
		Base: append(append(PickEnv(environ, baseNames), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0"), pickSafeDirectories(environ)...),
		Self: PickEnv(environ, selfNames),
	}
}

// pickSafeDirectories returns the safe.directory settings from the GIT_CONFIG_* variables of environ, as CI systems
// set them. No other setting from there reaches git.
func pickSafeDirectories(environ []string) (out []string) {
	n, _ := strconv.Atoi(Env(environ, "GIT_CONFIG_COUNT"))
	for i := range min(n, len(environ)) {
		if key := fmt.Sprint("GIT_CONFIG_KEY_", i); strings.EqualFold(Env(environ, key), "safe.directory") {
			at := len(out) / 2
			out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=safe.directory", at),
				fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", at, Env(environ, fmt.Sprint("GIT_CONFIG_VALUE_", i))))
		}
	}
	if out != nil {
		out = append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(out)/2))
	}
	return out
}

// Env returns the value of an environment variable, "" if it is not set.
func Env(environ []string, name string) string {
	_, v, _ := strings.Cut(strings.Join(PickEnv(environ, []string{name}), ""), "=")
	return v
}

// PickEnv returns the NAME=value pairs of environ with the given names, in the order of the names.
func PickEnv(environ, names []string) []string {
	var out []string
	for _, n := range names {
		for _, kv := range environ {
			if strings.HasPrefix(kv, n+"=") {
				out = append(out, kv)
				break
			}
		}
	}
	return out
}

// Command prepares a process without starting it. A cancelled context kills its whole process group. Only a call
// in a person's name at a terminal stays in odd's own group, because ssh and gpg may have to ask there.
func (g *Runner) Command(ctx context.Context, c Call) *exec.Cmd {
	args := append([]string{"-c", "core.quotePath=false", "-c", "advice.detachedHead=false"}, c.Args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = g.Dir
	cmd.Env = append(cmd.Env, g.Base...)
	if c.Dir != "" {
		cmd.Dir = c.Dir
	} else if g.Bare {
		cmd.Env = append(cmd.Env, "GIT_DIR="+g.Dir)
	}
	if c.Read {
		cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", noGrafts)
	}
	if c.Self {
		cmd.Env = append(cmd.Env, g.Self...)
	}
	cmd.Env = append(cmd.Env, c.Env...)
	cmd.Stdin = c.Stdin
	cmd.WaitDelay = 5 * time.Second // a child of git may hold its pipes for a while
	if c.Self && hasTerminal() {
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		return cmd
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

func hasTerminal() bool {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// Run runs one git process and returns its standard output. The error is an *Error if git ran and failed, or the
// context's if it was cancelled.
func (g *Runner) Run(ctx context.Context, c Call) ([]byte, error) {
	cmd := g.Command(ctx, c)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	return out.Bytes(), Explain(ctx, c, err, errs.String())
}

// Explain turns the error of cmd.Run into one a person can read.
func Explain(ctx context.Context, c Call, err error, stderr string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", verb(c.Args), context.Cause(ctx))
	}
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("git: not found in PATH; install git 2.38 or newer")
	}
	if ee := (*exec.ExitError)(nil); errors.As(err, &ee) {
		if ee.ExitCode() < 0 && stderr == "" {
			stderr = "was stopped: " + ee.Error() // by a signal, which it names
		}
		return &Error{verb: verb(c.Args), code: ee.ExitCode(), Stderr: stderr}
	}
	return fmt.Errorf("git %s: %w", verb(c.Args), err)
}

// verb returns the first argument that is not a global option.
func verb(args []string) string {
	for i := 0; i < len(args); i++ {
		if args[i] == "-c" {
			i++
			continue
		}
		if !strings.HasPrefix(args[i], "-") {
			return args[i]
		}
	}
	return ""
}

// Read runs a git command that only reads, and returns its output.
func (g *Runner) Read(ctx context.Context, args ...string) ([]byte, error) {
	return g.Run(ctx, Call{Args: args, Read: true})
}

// ReadLine is Read for commands that print one line.
func (g *Runner) ReadLine(ctx context.Context, args ...string) (string, error) {
	out, err := g.Read(ctx, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// Lines yields git's output line by line as it arrives, and stops git when the loop ends.
func (g *Runner) Lines(ctx context.Context, args []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		c := Call{Args: args, Read: true}
		cmd := g.Command(ctx, c)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			yield("", Explain(ctx, c, err, ""))
			return
		}
		for sc := bufio.NewScanner(out); sc.Scan(); {
			if !yield(sc.Text(), nil) {
				cancel()
				cmd.Wait() // its error is our own cancellation
				return
			}
		}
		if err := cmd.Wait(); err != nil {
			yield("", Explain(ctx, c, err, errs.String()))
		}
	}
}

// Hardened returns a runner of git in dir without any configuration, attributes, identity or home.
func (g *Runner) Hardened(dir string) *Runner {
	return &Runner{Dir: dir, Base: append(PickEnv(g.Base, []string{"PATH", "TMPDIR", "GIT_EXEC_PATH"}),
		"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_ATTR_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))}
}

// ConfigHome returns the XDG directory of a person's configuration.
func (g *Runner) ConfigHome() string {
	if dir := Env(g.Base, "XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(Env(g.Base, "HOME"), ".config")
}

// SplitNUL splits NUL-terminated output into its fields.
func SplitNUL(out []byte) []string {
	s := strings.TrimSuffix(string(out), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}
