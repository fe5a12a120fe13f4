package console_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/console/consoletest"
)

// A row shows its own cells, whatever stood above it.
func TestRowsAreTheirOwn(t *testing.T) {
	t.Parallel()
	env, out, _ := consoletest.Quiet()
	rows := [][]string{{"a", "x"}, {"a", "y", "z"}, {"b"}, {}, {"b", "y\t"}, {"\u202eb", "y\t", "z", ""}}
	if err := console.PrintRows(env, rows); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "a\tx\na\ty\tz\nb\n\nb\ty \nb\ty \tz\t\n"; got != want {
		t.Errorf("%q, want %q", got, want)
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
		env, out, _ := consoletest.Quiet()
		if err := console.PrintMany(env, list, row); err != nil || strings.ReplaceAll(out.String(), ";", "") != want {
			t.Errorf("%d rows: %v, %.200q", n, err, out.String())
		}
		env, out, _ = consoletest.Quiet()
		if err := console.PrintManyJSON(env, list, func(i int) map[string]string { return map[string]string{"n<": fmt.Sprint(i), "k": ""} }); err != nil {
			t.Error(err)
		}
		whole := make([]map[string]string, n)
		for i := range whole {
			whole[i] = map[string]string{"n<": fmt.Sprint(i), "k": ""}
		}
		at, all, _ := consoletest.Quiet()
		if err := console.PrintJSON(at, whole); err != nil || out.String() != all.String() {
			t.Errorf("%d as JSON: %v, %.200q, want %.200q", n, err, out.String(), all.String())
		}
		env.Stdout = broken{}
		if err := console.PrintMany(env, list, row); n > 0 && !errors.Is(err, errBroken) {
			t.Errorf("%d rows: %v", n, err)
		}
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// TestTalkFits: talk and the last column of rows break between words on a terminal; what
// has no room in its column goes on below, and a pipe gets lines whole.
func TestTalkFits(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"a", "blocked", "one two three four five"}, {"b", "a column too wide by far", "x"}}
	for live, want := range map[bool]string{
		true:  "odd: one two three\n     four five six\n  seven\n|a  blocked\n    one two three four\n    five\nb\n    a column too wide\n    by far\n    x\na  one two three four\n   five six\n",
		false: "odd: one two three four five six\n  seven\n|a\tblocked\tone two three four five\nb\ta column too wide by far\tx\na\tone two three four five six\n",
	} {
		env, out, said := consoletest.Quiet()
		env.Live, env.Terminal, env.Width = live, live, 22
		console.Talk(env, "one two three four five six\n  seven")
		if err := errors.Join(console.PrintRows(env, rows), console.PrintRows(env, [][]string{{"a", "one two three four five six"}})); err != nil {
			t.Fatal(err)
		}
		if got := said.String() + "|" + out.String(); got != want {
			t.Errorf("live %t: got\n%s\nwant\n%s", live, got, want)
		}
	}
}

// TestQuestionFits: a question stands on the terminal whole, before the answer is read.
func TestQuestionFits(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{0: "which agent? [extract]: ", 80: "which agent? [extract]: ", 16: "which agent?\n[extract]: "} {
		env, _, said := consoletest.Quiet()
		env.Stdin, env.Width = strings.NewReader("\n"), width
		err := env.NewQuestions().AskUntil(t.Context(), "which agent?", "extract", func(string) error { return nil })
		if got := said.String(); err != nil || got != want {
			t.Errorf("width %d: %q, %v; want %q", width, got, err, want)
		}
	}
}

// TestProseFits: markdown on a terminal breaks between words; code, tables, diffs and pipes stay whole.
func TestProseFits(t *testing.T) {
	t.Parallel()
	const code = "```\none two three four\n```\n| one | two three |\n@@ -1 +1 @@ one two\n one two three four\n+one two three four\n"
	for width, want := range map[int]string{0: "one two three four\nwhy? ", 14: "one two three\nfour\nwhy? "} {
		env, out, _ := consoletest.Quiet()
		env.Terminal, env.Width = true, width
		if err := console.PrintText(env, code+"\none two three four\nwhy? "); err != nil || out.String() != code+"\n"+want {
			t.Errorf("width %d: %q, %v", width, out, err)
		}
	}
}

// TestProgressIsOneLine: whatever a name holds, and however narrow the terminal is.
func TestProgressIsOneLine(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{1: "\r…", 20: "\ra odd: approved", 0: "odd: a odd: approved\n"} {
		env, _, said := consoletest.Quiet()
		env.Live, env.Width = width > 0, width
		console.NewProgress(env).SetLine("a\nodd: approved")
		if got := said.String(); got != want {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
	}
}

func TestHowLong(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		72 * time.Hour: "3d", 50 * time.Hour: "2d 2h", 90 * time.Minute: "1h 30m", time.Second: "1m", 24*time.Hour - time.Second: "23h 59m",
	} {
		if got := console.HowLong(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
