package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// runner runs git without a shell. It builds the environment itself, so that a GIT_DIR or GIT_INDEX_FILE of the
// caller, such as a hook, cannot point git elsewhere.
type runner struct {
	dir  string   // where git runs: the work tree, or the git directory of a bare repository
	bare bool     // dir is a git directory; odd sets GIT_DIR, because safe.bareRepository may forbid git to find it
	base []string // environment of every call
	self []string // added to calls in a person's name: identity, signing, ssh, proxies
}

// call is one git process.
type call struct {
	args  []string
	dir   string   // "" = the runner's
	env   []string // added last
	stdin io.Reader
	read  bool // takes no optional lock
	self  bool // runs as the person: their identity, keys, hooks and terminal
}

// gitError is a git process that failed. Its text is git's error output.
type gitError struct {
	verb   string
	code   int // exit code, -1 when it did not exit
	stdout []byte
	stderr string
}

// Error names the git verb first, then git's own words.
func (e *gitError) Error() string {
	said := strings.TrimSpace(e.stderr)
	if said == "" {
		said = fmt.Sprintf("ended with code %d", e.code)
	}
	return "git " + e.verb + ": " + said
}

// exitCode returns git's exit code from err, -1 if err is not a gitError.
func exitCode(err error) int {
	if ge := (*gitError)(nil); errors.As(err, &ge) {
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

// newRunner returns a runner that keeps only the variables named above from environ.
func newRunner(dir string, environ []string) *runner {
	return &runner{
		dir:  dir,
		base: append(append(pickEnv(environ, baseNames), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0"), pickSafeDirectories(environ)...),
		self: pickEnv(environ, selfNames),
	}
}

// pickSafeDirectories returns the safe.directory settings from the GIT_CONFIG_* variables of environ, as CI systems
// set them. No other setting from there reaches git.
func pickSafeDirectories(environ []string) (out []string) {
	n, _ := strconv.Atoi(envValue(environ, "GIT_CONFIG_COUNT"))
	for i := range min(n, len(environ)) {
		if key := fmt.Sprint("GIT_CONFIG_KEY_", i); strings.EqualFold(envValue(environ, key), "safe.directory") {
			at := len(out) / 2
			out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=safe.directory", at),
				fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", at, envValue(environ, fmt.Sprint("GIT_CONFIG_VALUE_", i))))
		}
	}
	if out != nil {
		out = append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(out)/2))
	}
	return out
}

// envValue returns the value of an environment variable, "" if it is not set.
func envValue(environ []string, name string) string {
	_, v, _ := strings.Cut(strings.Join(pickEnv(environ, []string{name}), ""), "=")
	return v
}

// pickEnv returns the NAME=value pairs of environ with the given names, in the order of the names.
func pickEnv(environ, names []string) []string {
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

// newCommand prepares a process without starting it. A cancelled context kills its whole process group. Only a call
// in a person's name at a terminal stays in odd's own group, because ssh and gpg may have to ask there.
func (g *runner) newCommand(ctx context.Context, c call) *exec.Cmd {
	args := append([]string{"-c", "core.quotePath=false", "-c", "advice.detachedHead=false"}, c.args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = g.dir
	cmd.Env = append(cmd.Env, g.base...)
	if c.dir != "" {
		cmd.Dir = c.dir
	} else if g.bare {
		cmd.Env = append(cmd.Env, "GIT_DIR="+g.dir)
	}
	if c.read {
		cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", noGrafts)
	}
	if c.self {
		cmd.Env = append(cmd.Env, g.self...)
	}
	cmd.Env = append(cmd.Env, c.env...)
	cmd.Stdin = c.stdin
	cmd.WaitDelay = 5 * time.Second // a child of git may hold its pipes for a while
	if c.self && hasTerminal() {
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

// run runs one git process and returns its standard output. The error is a *gitError if git ran and failed, or the
// context's if it was cancelled.
func (g *runner) run(ctx context.Context, c call) ([]byte, error) {
	cmd := g.newCommand(ctx, c)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	return out.Bytes(), g.explainError(ctx, c, err, out.Bytes(), errs.String())
}

// explainError turns the error of cmd.Run into one a person can read.
func (g *runner) explainError(ctx context.Context, c call, err error, stdout []byte, stderr string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", gitCommandName(c.args), context.Cause(ctx))
	}
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("git: not found in PATH; install git 2.38 or newer")
	}
	if ee := (*exec.ExitError)(nil); errors.As(err, &ee) {
		if ee.ExitCode() < 0 && stderr == "" {
			stderr = "was stopped: " + ee.Error() // by a signal, which it names
		}
		return &gitError{verb: gitCommandName(c.args), code: ee.ExitCode(), stdout: stdout, stderr: stderr}
	}
	return fmt.Errorf("git %s: %w", gitCommandName(c.args), err)
}

// gitCommandName returns the first argument that is not a global option.
func gitCommandName(args []string) string {
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

// readGit runs a git command that only reads, and returns its output.
func (r *Repo) readGit(ctx context.Context, args ...string) ([]byte, error) {
	return r.git.run(ctx, call{args: args, read: true})
}

// readGitLine is readGit for commands that print one line.
func (r *Repo) readGitLine(ctx context.Context, args ...string) (string, error) {
	out, err := r.readGit(ctx, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// splitNUL splits NUL-terminated output into its fields.
func splitNUL(out []byte) []string {
	s := strings.TrimSuffix(string(out), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}
