package testscripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board/pipeline"
)

// TestEveryRiskCodeHasAScript: a rule that no change can reach through the real
// command is a bug. Every code of a verdict is one that a script expects.
func TestEveryRiskCodeHasAScript(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/op_classify_*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range scripts {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(b), "\n-- ")
		all.WriteString(script)
	}
	for _, row := range pipeline.RiskRules() {
		code := row.Code
		if code == "exploration_insufficient" || code == "refused_before" { // of a session: drain_openai_land.txtar, change_again.txtar
			continue
		}
		if want := `stdout '^verdict\t` + string(row.Tier) + `\t` + code + `\t`; !strings.Contains(all.String(), want) {
			t.Errorf("%s: no script op_classify_* has the line %s", code, want)
		}
	}
}
