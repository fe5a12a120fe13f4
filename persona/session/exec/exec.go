// Package exec is the substrate that runs any program: the brief on its standard
// input, a text emission (package session) on its standard output, talk on its
// standard error.
//
//	[substrate.exec]
//	argv = ["python3", "./tools/agent.py"]
//	env  = ["ACME_API_KEY"]
//
// What the program gets:
//
//   - argv as written, never through a shell. Elements that start with "./" or
//     "../", and a first element with a slash, are taken from Dir.
//   - the session's desk: a scratch repository with the base checked out as its
//     working directory, a home and a TMPDIR of its own, all removed afterwards.
//     Git looks for no repository above it. Where the session has no desk, as a
//     validator's has none, the working directory is empty.
//   - PATH, LANG and the names in Env; HOME and TMPDIR, which are the desk's; ODD_RUN and ODD_TASK, by which a person's verbs know that they are
//     inside a session, and ODD_STEP, plan or expand, where it is asked for that
//     before its work. Nothing else of the environment.
//   - caches that stay for later sessions, where its desk has them: go, npm, pip, uv and
//     cargo keep there what they build and fetch. go takes modules from the user's own
//     cache first. A name of these in Env has the user's value.
//
// What holds:
//
//  1. It is held by its Cage, and ends with all it started when the time is up,
//     the drain is interrupted or the output is too large. One that fills its
//     desk failed ("disk-full").
//  2. The declared outcome decides. A program that exits with a fault and
//     declared nothing failed ("exit"), and Detail has the last line it said on
//     standard error, without credentials and with all of it in sight; one that
//     declared an outcome has it, whatever its exit code, and the code is noted
//     in Detail.
//  3. Output over MaxBytes is a failure; a standard error over 256 KiB is cut
//     and says so.
package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// DefaultMaxBytes bounds standard output where the configuration does not.
const DefaultMaxBytes = 4 << 20

const maxTranscript = 256 << 10

// Substrate runs one program a session.
type Substrate struct {
	Argv     []string
	Dir      string   // absolute; where relative parts of Argv start: the repository's root
	Env      []string // names the program may see besides PATH and LANG
	Environ  []string // the environment of odd itself, "NAME=value"
	Free     bool     // the configuration says that a run costs no money
	MaxBytes int      // of standard output; 0 is DefaultMaxBytes
	Cage     cage.Cage
	Network  cage.Network // what the program reaches
}

// Run runs the program once, as one turn. An Argv that cannot be started is an error.
func (s Substrate) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	if len(s.Argv) == 0 {
		return session.Emission{}, errors.New("substrate exec: no argv; set [substrate.exec] argv in odd.toml")
	}
	if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
		return e, nil
	}
	desk, clear, err := openDesk(ctx, r)
	if err != nil {
		return session.Emission{}, fmt.Errorf("substrate exec: %w", err)
	}
	defer clear()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &capped{max: s.maxBytes(), full: func() { cancel(errTooLarge) }}
	talk := &capped{max: maxTranscript}
	argv, scripts := s.absoluteArgv()
	held, err := s.Cage.Run(ctx, cage.Program{Argv: argv, Dir: desk.Tree, Env: s.buildEnv(desk, r), Stdin: bytes.NewReader(r.Brief),
		Stdout: out, Stderr: talk, Desk: desk, Network: s.Network, Read: scripts})
	var never *cage.NotStarted
	var unheld *cage.Unheld
	if errors.As(err, &unheld) || errors.As(err, &never) && ctx.Err() == nil {
		return session.Emission{}, fmt.Errorf("substrate exec: %w", err)
	}
	e := s.readOutcome(ctx, out, err)
	if e.Failure == session.BadExit {
		e.Detail += talk.lastLine()
	}
	e.Transcript, e.Sandbox = talk.keptText(), held.String()
	return e, nil
}

// errTooLarge is the cause the context ends with when standard output is full.
var errTooLarge = errors.New(session.TooLarge)

// readOutcome reads what was said and how the program ended.
func (s Substrate) readOutcome(ctx context.Context, out *capped, err error) session.Emission {
	said := out.b.Bytes()
	e := session.Read(said)
	var full *cage.Full
	switch {
	case errors.Is(context.Cause(ctx), errTooLarge):
		e = session.Fail(session.TooLarge, fmt.Sprintf("standard output is over %d bytes; raise max_bytes or say less", out.max))
	case session.Interruption(ctx) != "":
		e = session.Fail(session.Interruption(ctx), "")
	case errors.As(err, &full):
		e = session.Fail(session.DiskFull, err.Error())
	case e.Failure == session.Silent && exitFault(err) != "":
		e = session.Fail(session.BadExit, exitFault(err))
	case exitFault(err) != "":
		e.Detail = strings.TrimPrefix(e.Detail+"; "+exitFault(err), "; ")
	}
	e.Raw = said
	e.Usage.Turns = max(e.Usage.Turns, 1)
	if s.Free && !e.Usage.CostKnown {
		e.Usage.Cost, e.Usage.CostKnown = 0, true
	}
	return e
}

// exitFault is how the program ended when it did not end well.
func exitFault(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (s Substrate) maxBytes() int {
	if s.MaxBytes > 0 {
		return s.MaxBytes
	}
	return DefaultMaxBytes
}

// openDesk returns the session's desk, or an empty one where it has none. clear removes
// that; the session's own is its maker's to remove.
func openDesk(ctx context.Context, r session.Request) (d session.Desk, clear func(), err error) {
	if r.Desk != nil {
		d, err = r.Desk(ctx)
		return d, func() {}, err
	}
	tmp, err := os.MkdirTemp("", "odd-session-")
	if err != nil {
		return d, nil, err
	}
	clear = func() { os.RemoveAll(tmp) }
	d = session.Desk{Tree: filepath.Join(tmp, "work"), Home: filepath.Join(tmp, "home"), Temp: tmp}
	if err := errors.Join(os.Mkdir(d.Tree, 0o700), os.Mkdir(d.Home, 0o700)); err != nil {
		clear()
		return d, nil, err
	}
	return d, clear, nil
}

// buildEnv returns what the program sees at the desk.
func (s Substrate) buildEnv(d session.Desk, r session.Request) []string {
	env := append(s.allowedEnviron(), "HOME="+d.Home, "TMPDIR="+d.Temp, "GIT_CEILING_DIRECTORIES="+filepath.Dir(d.Tree),
		"ODD_RUN="+r.Run, "ODD_TASK="+r.Task)
	if r.Step != "" {
		env = append(env, "ODD_STEP="+r.Step)
	}
	set := cacheDirs(d)
	if d.Cache != "" {
		set["GOMODCACHE"], set["GOFLAGS"] = filepath.Join(d.Cache, "go-mod"), "-modcacherw"
		set["GOPROXY"] = (&url.URL{Scheme: "file", Path: Modules(s.Environ)}).String() + "|direct"
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(s.Env, name) {
			env = append(env, name+"="+set[name])
		}
	}
	return env
}

// absoluteArgv takes the relative parts of Argv from Dir, because the program does not
// start there. scripts are those parts, which it must read, with the folders they
// lie in; but for Dir itself, which holds more than programs.
func (s Substrate) absoluteArgv() (argv, scripts []string) {
	argv = slices.Clone(s.Argv)
	for i, a := range argv {
		if strings.HasPrefix(a, "./") || strings.HasPrefix(a, "../") ||
			i == 0 && strings.Contains(a, "/") && !filepath.IsAbs(a) {
			argv[i] = filepath.Join(s.Dir, a)
			scripts = append(scripts, argv[i])
			if dir := filepath.Dir(argv[i]); dir != filepath.Clean(s.Dir) && filepath.IsLocal(a) {
				scripts = append(scripts, dir)
			}
		}
	}
	return argv, scripts
}

// allowedEnviron returns the part of Environ the program may see, in Environ's order.
func (s Substrate) allowedEnviron() []string {
	var env []string
	for _, kv := range s.Environ {
		name, _, _ := strings.Cut(kv, "=")
		if name == "PATH" || name == "LANG" || slices.Contains(s.Env, name) && !isPrivate(name) {
			env = append(env, kv)
		}
	}
	return env
}

// isPrivate reports a name that odd sets, or that would point git elsewhere than
// at the desk; none is let through.
func isPrivate(name string) bool {
	switch name {
	case "HOME", "TMPDIR", "ODD_RUN", "ODD_TASK", "ODD_STEP", "GIT_CEILING_DIRECTORIES", "GIT_DIR", "GIT_WORK_TREE",
		"GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES":
		return true
	}
	return false
}

// Place is where a session's programs work: its desk, or an empty one where it has
// none. clear removes that; the session's own is its maker's to remove.
func Place(ctx context.Context, r session.Request) (d session.Desk, clear func(), err error) {
	return openDesk(ctx, r)
}

// Surroundings are what an agent's program sees of the environment at a desk: PATH,
// LANG and those of names that environ has, and what odd sets.
func Surroundings(environ, names []string, d session.Desk, r session.Request) []string {
	return Substrate{Environ: environ, Env: names}.buildEnv(d, r)
}

// Talk keeps the beginning of what a program says on its standard error.
type Talk struct{ c capped }

// NewTalk makes an empty one.
func NewTalk() *Talk { return &Talk{capped{max: maxTranscript}} }

// Write implements io.Writer; it never refuses.
func (t *Talk) Write(p []byte) (int, error) { return t.c.Write(p) }

// LastLine is "; stderr: " and the last line that is not blank, as a failure may
// tell it; "" where there is none.
func (t *Talk) LastLine() string { return t.c.lastLine() }

// Text is all that was kept, without credentials, and says where it was cut.
func (t *Talk) Text() []byte { return secrets.Redact(t.c.keptText()) }

// Words takes the relative parts of a command, as odd.toml has it, from dir: those
// that start with "./" or "../", and a first one with a slash. read is what the
// program must read of them.
func Words(argv []string, dir string) (words, read []string) {
	return Substrate{Argv: argv, Dir: dir}.absoluteArgv()
}
