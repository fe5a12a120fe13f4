package cmd

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/odd-cli/odd/okf"
)

// Text from files and agents reaches the terminal without escapes, whichever
// way it is printed.
func TestPrintsPlainText(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b]0;pwn\x07\x1b[31m\u202eb\u009b2Jc"
	for name, do := range map[string]func(Env) error{
		"rows":     func(e Env) error { return printRows(e, [][]string{{evil, evil}}) },
		"talk":     func(e Env) error { talk(e, "%s", evil); return nil },
		"error":    func(e Env) error { reportError(e, errors.New(evil), false); return nil },
		"progress": func(e Env) error { newProgress(e).setLine(evil); return nil },
	} {
		env, out, err := quiet()
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

func TestStatusPageIsPlainText(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b]0;pwn\x07\x1b[31m\u202eb\u009b2Jc"
	got := boardStatus{Paused: evil, taskSummary: taskSummary{Review: []string{evil}}}.statusPage()
	if okf.Visible(got) != got || !strings.Contains(got, "[31mb") {
		t.Errorf("%q", got)
	}
}

// A row shows its own cells, whatever stood above it.
func TestRowsAreTheirOwn(t *testing.T) {
	t.Parallel()
	env, out, _ := quiet()
	rows := [][]string{{"a", "x"}, {"a", "y", "z"}, {"b"}, {}, {"b", "y\t"}, {"\u202eb", "y\t", "z", ""}}
	if err := printRows(env, rows); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "a\tx\na\ty\tz\nb\n\nb\ty \nb\ty \tz\t\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A list of ops keeps to the terminal's columns; a pipe has every cell whole.
func TestOpRowsFit(t *testing.T) {
	t.Parallel()
	r := opRow{Op: "op-01M80VBZ1QHJD7M9HAV8Q46V9F", Phase: "waiting", Tier: "APPROVAL_REQUIRED", Task: "a-task-with-long-name", Began: "2026-03-02T09:00:00Z"}
	for _, c := range []struct {
		terminal bool
		width    int
		want     string
	}{
		{true, 0, "V8Q46V9F  waiting  APPROVAL_REQUIRED  a-task-with-long-name  $0.00  03-02 09:00"},
		{true, 40, "V8Q46V9F  waiting  APPROVAL_REQUIRED\n    a-task-with-long-name  $0.00\n    03-02 09:00"},
		{true, 200, "op-01M80VBZ1QHJD7M9HAV8Q46V9F  waiting  APPROVAL_REQUIRED  a-task-with-long-name  $0.00  2026-03-02T09:00:00Z"},
		{false, 40, "op-01M80VBZ1QHJD7M9HAV8Q46V9F\twaiting\tAPPROVAL_REQUIRED\ta-task-with-long-name\t$0.00\t2026-03-02T09:00:00Z"},
	} {
		env, out, _ := quiet()
		env.Terminal, env.Width = c.terminal, c.width
		if err := printRows(env, [][]string{r.rowCells(env)}); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(out.String(), "\n"); got != c.want {
			t.Errorf("%d columns: %q, want %q", c.width, got, c.want)
		}
	}
}

// A title cannot bring a trailer of its own, nor a second subject line.
func TestTrailersKeepTheSubjectOneLine(t *testing.T) {
	t.Parallel()
	got := commitMessage("approve: Tidy\n\nOdd-Approved-By: human:x\x1b[2J", "why\x1b[2J", "Odd-Task", "t-1", "Odd-Run", "")
	if want := "approve: Tidy Odd-Approved-By: human:x[2J\n\nwhy[2J\n\nOdd-Task: t-1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Each -C is meant from the one before, and an absolute one starts anew.
func TestDirsInTurn(t *testing.T) {
	// Not parallel: the flag library keeps its help flag for the whole process.
	a, b := t.TempDir(), t.TempDir()
	for in, want := range map[string]string{
		"-C " + a + " -C " + b:    "odd: " + b + ": not a git repository",
		"-C " + a + " -C no-such": "odd: -C no-such: no such directory",
		"-C no-such-dir -C " + a:  "odd: -C no-such-dir: no such directory",
		"-C " + a + " -C .":       "odd: " + a + ": not a git repository",
	} {
		env, _, talk := quiet()
		oneAtATime(env, append([]string{"odd", "status"}, strings.Fields(in)...)...)
		if !strings.HasPrefix(talk.String(), want) {
			t.Errorf("%s: %q, want %q", in, talk, want)
		}
	}
}

// A long list is printed in the order it has, each cell clean, whoever prints
// which share of it; a pipe that breaks is told.
func TestLongListsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 1001} {
		list, want := make([]int, n), ""
		for i := range list {
			list[i] = i
			want += fmt.Sprintf("%d\t[redacted:api-key]%d\n", i, i%3)
		}
		row := func(cells []string, i int) []string {
			return append(cells, fmt.Sprint(i), "sk-"+strings.Repeat("Zx81", 6)+fmt.Sprintf(";%d", i%3))
		}
		env, out, _ := quiet()
		if err := printMany(env, list, row); err != nil || strings.ReplaceAll(out.String(), ";", "") != want {
			t.Errorf("%d rows: %v, %.200q", n, err, out.String())
		}
		env, out, _ = quiet()
		if err := printManyJSON(env, list, func(i int) map[string]string { return map[string]string{"n<": fmt.Sprint(i), "k": ""} }); err != nil {
			t.Error(err)
		}
		whole := make([]map[string]string, n)
		for i := range whole {
			whole[i] = map[string]string{"n<": fmt.Sprint(i), "k": ""}
		}
		at, all, _ := quiet()
		if err := printJSON(at, whole); err != nil || out.String() != all.String() {
			t.Errorf("%d as JSON: %v, %.200q, want %.200q", n, err, out.String(), all.String())
		}
		env.Stdout = broken{}
		if err := printMany(env, list, row); n > 0 && !errors.Is(err, errBroken) {
			t.Errorf("%d rows: %v", n, err)
		}
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }
