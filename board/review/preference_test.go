package review

import (
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

func TestPreference(t *testing.T) {
	task := board.Task{Row: board.Row{ID: "paint"}}
	task.Path = "tasks/paint.md"
	h := Human{Person{Email: "ann@example.org"}}
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct{ reason, path, title string }{
		{"Prefer table tests", "policies/prefer-table-tests.md", "Prefer table tests"},
		{"Never touch docs/api. It is generated from api.yaml.", "policies/never-touch-docs-api.md", "Never touch docs/api"},
		{`Say "no": --- [x] {y}`, "policies/say-no-x-y.md", `Say "no": --- [x] {y}`},
		{"E.g. use words. Never guess.", "policies/e-g-use-words.md", "E.g. use words"},
		{"Log", "", ""},
		{"index.", "", ""},
		{"---\n", "", ""},
		{"…", "", ""},
	} {
		if got := PreferencePath(c.reason); got != c.path {
			t.Errorf("%q: the path is %q, want %q", c.reason, got, c.path)
		}
		if c.path == "" {
			continue
		}
		a, err := Preference(task, c.reason, h, at)
		if err != nil {
			t.Errorf("%q: %v", c.reason, err)
			continue
		}
		if a.Title != c.title || !strings.Contains(string(a.Body()), c.reason) || len(a.Verified) != 1 || !a.Verified[0].Human() || a.Confidence() != okf.Verified {
			t.Errorf("%q: %s", c.reason, a.Bytes())
		}
	}
	if _, err := Preference(task, "Prefer table tests", Human{}, at); err == nil {
		t.Error("nobody confirmed it, and it is there")
	}
}
