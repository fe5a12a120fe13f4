package verb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/journal/refusal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// The exit codes.
const (
	ExitDone      = 0
	ExitFault     = 1
	ExitUsage     = 2
	ExitRefused   = 3
	ExitBusy      = 4
	exitInterrupt = 130
)

// usageError is a command line that cannot be meant.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

// Usage returns the error of a command line that cannot be meant: exit code 2.
func Usage(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// ExitCode is a result that is told on stdout already and only sets the code.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Refuse returns the error of a rule that says no: exit code 3, and a reason code that odd explain knows.
func Refuse(code, format string, args ...any) error { return refusal.New(code, format, args...) }

// AsFault returns err without its refusal: for a person who only looks, it is no refusal.
func AsFault(err error) error { return errors.New(err.Error()) }

// Status returns the exit code of an error, and a reason: the code of a refusal, else a word for
// the exit code, "" for none.
func Status(err error) (code int, reason string) {
	var exit ExitCode
	var refused interface{ Refused() string }
	var busy interface{ Busy() string }
	var lib cli.ExitCoder
	var use usageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return ExitDone, ""
	case errors.As(err, &exit):
		return int(exit), ""
	case errors.Is(err, context.Canceled):
		return exitInterrupt, "interrupted"
	case errors.As(err, &use):
		return ExitUsage, "usage"
	case errors.As(err, &busy):
		return ExitBusy, busy.Busy()
	case errors.Is(err, repo.ErrBusy):
		return ExitBusy, "busy"
	case errors.As(err, &refused):
		return ExitRefused, refused.Refused()
	case errors.As(err, &lib):
		return ExitUsage, "usage"
	}
	return ExitFault, "fault"
}

// Report prints err to stderr, with asJSON to stdout too, and returns the exit code. An ExitCode
// has no text, and Shown's errors stand on stdout already.
func Report(env console.Env, err error, asJSON bool) int {
	code, reason := Status(err)
	var exit ExitCode
	if code == ExitDone || errors.As(err, &exit) {
		return code
	}
	if code == exitInterrupt {
		fmt.Fprintln(env.Stderr, "odd: interrupted")
		return code
	}
	tag := ""
	if code == ExitRefused || code == ExitBusy {
		tag = " [" + reason + "]"
	}
	var several interface{ Lines() []string } // each with a code
	if errors.As(err, &several) {
		for _, line := range several.Lines() {
			console.Talk(env, "%s", line)
		}
	} else {
		console.Talk(env, "%s%s%s", strings.TrimRight(err.Error(), "\n"), tag, wayOut(err))
	}
	var t shownError
	if asJSON && !errors.As(err, &t) {
		_ = console.PrintJSON(env, map[string]any{"error": ErrorJSON(err)})
	}
	return code
}

// wayOut returns what a person does about a disk that is full or fails; nothing where
// the error says so itself, or has another cause.
func wayOut(err error) string {
	if !repo.Faulty(err) {
		return ""
	}
	if errors.Is(err, syscall.EROFS) {
		return "; no file is half written: make it writable (mount), then run the command again"
	}
	return "; no file is half written: see to the disk (df -h, df -i), then run the command again"
}

// shownError is an error that stands in the JSON on stdout already: stdout is one document.
type shownError struct{ error }

func (t shownError) Unwrap() error { return t.error }

// Shown returns err, which the JSON on stdout tells already: stdout is one document.
func Shown(err error) error { return shownError{err} }

// ErrorJSON returns an error as JSON tells it.
func ErrorJSON(err error) map[string]any {
	code, reason := Status(err)
	return map[string]any{"code": code, "reason": reason, "message": secrets.RedactText(err.Error())}
}

// ShowRefused prints as console.Show does, then returns refused: why a rule says no to what was
// shown, nil for none.
func ShowRefused(env console.Env, asJSON bool, value any, rows [][]string, refused error) error {
	err := console.Show(env, asJSON, value, rows...)
	if err == nil && refused != nil && asJSON {
		return Shown(refused)
	}
	return cmp.Or(err, refused)
}

// OrFault returns err, or ExitCode(ExitFault) where err is nil and the result is bad.
func OrFault(err error, bad bool) error {
	if err == nil && bad {
		return ExitCode(ExitFault)
	}
	return err
}
