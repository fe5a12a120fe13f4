package cmd

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A list of handoffs fits a terminal, a run's own included.
func TestHandoffListIsNarrow(t *testing.T) {
	t.Parallel()
	told := handoffJSON{ID: "handoffs/run-01m80dhfn900hbp9564vxgcj9j-slack-water", From: "validation", To: "resolution", Told: true,
		Artifact: "knowledge/agreements/a-very-long-name-of-an-agreement/slack-water.md", Missing: []string{"scope_in", "deferred"}}
	short := handoffJSON{ID: "handoffs/2026-03-02-slack-water", From: "planning", To: "execution", Artifact: "knowledge/terms/slack-water.md"}
	env, out, _ := quiet()
	env.Terminal, env.Width = true, 115
	if err := printRows(env, [][]string{told.briefCells("knowledge"), short.briefCells("knowledge")}); err != nil {
		t.Fatal(err)
	}
	const want = `run-01m80dhfn900hbp9564vxgcj9j-slack-water  validation → resolution  …an-agreement/slack-water.md  2 missing
2026-03-02-slack-water                      planning → execution     terms/slack-water.md          no entry
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(line); n > 115 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
