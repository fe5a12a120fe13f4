package history

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/canon"
)

// TestCheckShapes holds what the help of odd check says of --json to what is printed:
// no key more, none less, in that order.
func TestCheckShapes(t *testing.T) {
	t.Parallel()
	var told [][]string
	for line := range strings.Lines(CheckVerb(console.Env{}).Description) {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "  of "):
			told = append(told, f[2+strings.Count(line, "of a "):])
		case strings.HasPrefix(line, "    "):
			told = append(told, f[1:])
		}
	}
	empty, _, _ := okf.Load(fstest.MapFS{})
	report := newHistoryResult(verify.Report{Rows: rules.Table(), Findings: []rules.Finding{{Also: []rules.Finding{{}}}}})
	canons := canon.Report{Findings: []canon.Finding{{}}}
	want := [][]string{
		keysOf(t, checkResult(empty, nil)), keysOf(t, okf.Problem{Hint: "x"}),
		keysOf(t, canons), keysOf(t, canons.References), keysOf(t, canons.Findings[0]), keysOf(t, canons.Findings[0].Location),
		keysOf(t, report), keysOf(t, report.Rows[0]), keysOf(t, report.Findings[0]),
	}
	if d := cmp.Diff(want, told); d != "" {
		t.Errorf("printed (-) and told (+):\n%s", d)
	}
	if slices.ContainsFunc(want, func(keys []string) bool { return len(keys) < 2 }) {
		t.Errorf("%v", want)
	}
}

// keysOf are the keys of the object that v is printed as, in their order.
func keysOf(t *testing.T, v any) []string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			t.Fatal(err)
		}
		out = append(out, key.(string))
	}
	return out
}
