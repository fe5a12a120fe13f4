package exec

import (
	"context"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// Place is where a session's programs work: its desk, or an empty one where it has
// none. clear removes that; the session's own is its maker's to remove.
func Place(ctx context.Context, r session.Request) (d session.Desk, clear func(), err error) {
	return place(ctx, r)
}

// Surroundings are what an agent's program sees of the environment at a desk: PATH,
// LANG and those of names that environ has, and what odd sets.
func Surroundings(environ, names []string, d session.Desk, r session.Request) []string {
	return Substrate{Environ: environ, Env: names}.environment(d, r)
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
func (t *Talk) Text() []byte { return secrets.Redact(t.c.text()) }

// Words takes the relative parts of a command, as odd.toml has it, from dir: those
// that start with "./" or "../", and a first one with a slash. read is what the
// program must read of them.
func Words(argv []string, dir string) (words, read []string) {
	return Substrate{Argv: argv, Dir: dir}.argv()
}
