package cmd

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
)

// gateEnv is a world in a repository of its own.
func gateEnv(t *testing.T, stdin io.Reader) (console.Env, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	if b, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	var out, errs bytes.Buffer
	return console.Env{
		Stdin: stdin, Stdout: &out, Stderr: &errs, Dir: dir, Getenv: func(string) string { return "" },
		Now: func() time.Time { return time.Date(2027, 1, 15, 8, 0, 0, 0, time.UTC) },
	}, &out, &errs
}

const writeCall = `{"tool_name": "Write", "tool_input": {"file_path": "a.md"}}`

// wire is a stdin that does what a test says.
type wire func([]byte) (int, error)

func (r wire) Read(b []byte) (int, error) { return r(b) }

// closed is a stdout that nobody reads.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }

// Whatever breaks inside the gate is exit 2 with a reason, and never a yes.
func TestGateFaultsAreDenied(t *testing.T) {
	t.Parallel()
	hook := []string{"odd", "anchor", "gate", "--hook", "claude"}
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	for _, c := range []struct {
		name  string
		stdin io.Reader
		alter func(*console.Env)
		want  string
	}{
		{"stdin fails", wire(func([]byte) (int, error) { return 0, errors.New("torn wire") }), nil, "torn wire"},
		{"a panic while judging", wire(func([]byte) (int, error) { panic("at sea") }), nil, "a fault of odd: at sea"},
		{"a panic before judging", strings.NewReader(writeCall), func(e *console.Env) { e.Stdout = nil }, "a fault of odd"},
		{"stdin never ends", wire(func([]byte) (int, error) { <-forever; return 0, io.EOF }), func(e *console.Env) {
			e.After = func(_ time.Duration, f func()) func() { f(); return func() {} }
		}, "no decision within 3s"},
		{"nobody reads the answer", strings.NewReader(writeCall), func(e *console.Env) { e.Stdout = closed{} }, "stdout: "},
		{"no such directory", strings.NewReader(writeCall), func(e *console.Env) { e.Dir = "/nowhere/at/all" }, "A_GATE_FAULT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			env, out, errs := gateEnv(t, c.stdin)
			if c.alter != nil {
				c.alter(&env)
			}
			if code := oneAtATime(env, hook...); code != verb.ExitUsage || out.Len() > 0 || !strings.Contains(errs.String(), c.want) {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, out, errs, c.want)
			}
		})
	}
}

// A command line that cannot be meant is denied too, as long as it asks for the hook.
func TestGateUsageIsDenied(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"odd anchor gate --hook", "odd anchor gate --hook=cursor", "odd anchor gate --hook claude x", "odd anchor gate --frob --hook claude",
		"odd -C /nowhere/at/all anchor gate --hook claude", "odd anchor gate -hook", "odd gate anchor --hook claude", "odd anchor --hook gate",
	} {
		env, out, errs := gateEnv(t, strings.NewReader(writeCall))
		if code := oneAtATime(env, strings.Fields(line)...); code != verb.ExitUsage || out.Len() > 0 || errs.Len() == 0 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", line, code, out, errs)
		}
	}
}
