package verb

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/console/consoletest"
	"github.com/odd-cli/odd/okf"
)

// Text from files and agents reaches the terminal without escapes, whichever
// way it is printed.
func TestPrintsPlainText(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b]0;pwn\x07\x1b[31m\u202eb\u009b2Jc"
	for name, do := range map[string]func(console.Env) error{
		"rows":     func(e console.Env) error { return console.PrintRows(e, [][]string{{evil, evil}}) },
		"talk":     func(e console.Env) error { console.Talk(e, "%s", evil); return nil },
		"error":    func(e console.Env) error { Report(e, errors.New(evil), false); return nil },
		"progress": func(e console.Env) error { console.NewProgress(e).SetLine(evil); return nil },
	} {
		env, out, err := consoletest.Quiet()
		env.Terminal = true
		if e := do(env); e != nil {
			t.Fatal(e)
		}
		got := out.String() + err.String()
		if okf.Visible(got) != got || !strings.Contains(got, "[31mb") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{
		"": 0, "3d": 72 * time.Hour, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute,
		"d": -1, "soon": -1, "-3d": -1, "0h": -1, "3": -1, "400d": -1, "9999999d": -1, "1d1d": -1,
	} {
		if got, ok := readSpan(s); ok != (want >= 0) || ok && got != want {
			t.Errorf("%s: %v, %v, want %v", s, got, ok, want)
		}
	}
}
