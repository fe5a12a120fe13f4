package cmd

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/policy"
)

// feed is where a stream comes from: a file, stdin or a program.
type feed struct {
	file string // "-" is stdin
	argv []string
}

// feedNamed reads --source. A program is named by the word cmd before it and
// read as plain words: what a shell would expand, pipe or redirect is refused.
func feedNamed(s string) (feed, error) {
	line, program := strings.CutPrefix(s, "cmd ")
	switch {
	case strings.TrimSpace(s) == "":
		return feed{}, usage("agent observe: --source is needed: a file, - for stdin, or 'cmd PROGRAM ARGUMENTS'")
	case !program:
		return feed{file: s}, nil
	}
	argv, err := policy.ParseSimple(strings.TrimSpace(line))
	if err != nil {
		return feed{}, usage("agent observe: --source cmd: %v; put what needs a shell into a script and name that", err)
	}
	return feed{argv: argv}, nil
}

func (s feed) sourceName() string {
	if s.argv != nil {
		return s.argv[0]
	}
	return s.file
}

// isWhole reports a source that is there whole and can be read at leisure.
func (s feed) isWhole() bool { return s.argv == nil && s.file != "-" }

// batchClock returns the clock by which a batch goes out before it is full, nil for a
// source whose end is near.
func (s feed) batchClock(env Env) func(time.Duration, func()) func() {
	if s.isWhole() {
		return nil
	}
	return env.After
}

// feedReader is a source that can be begun once.
type feedReader struct {
	io.Closer
	begin func(context.Context) io.Reader
}

// openSource opens a file. A program is started when the session wants its first event.
func (s feed) openSource(env Env) (feedReader, error) {
	switch {
	case s.argv != nil:
		var closers lateCloser
		return feedReader{&closers, func(ctx context.Context) io.Reader {
			c := exec.Command{Argv: s.argv, Tree: env.Dir, Env: s.programEnv(env), Network: cage.Allow}
			r := exec.Pipe(ctx, c)
			closers.of = r
			return r
		}}, nil
	case s.file == "-":
		return feedReader{io.NopCloser(nil), func(context.Context) io.Reader { return env.Stdin }}, nil
	}
	f, err := os.Open(env.absPath(s.file))
	if err != nil {
		return feedReader{}, err
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		f.Close()
		return feedReader{}, usage("agent observe: --source %s is a folder; name a file", s.file)
	}
	return feedReader{f, func(context.Context) io.Reader { return f }}, nil
}

// programEnv returns what a program sees of the environment: it is the person's own, and
// needs no key to be read from.
func (s feed) programEnv(env Env) []string {
	home := env.Getenv("HOME")
	return exec.Environment(env.Environ, []string{"TERM", "TZ"}, session.Desk{Tree: env.Dir, Home: home, Temp: env.Temp}, "")
}

// lateCloser closes what is opened later.
type lateCloser struct{ of io.Closer }

// Close closes it, where it was opened.
func (c *lateCloser) Close() error {
	if c.of == nil {
		return nil
	}
	return c.of.Close()
}
