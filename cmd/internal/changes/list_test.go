package changes

import (
	"strings"
	"testing"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/console/consoletest"
)

// A list of ops keeps to the terminal's columns; a pipe has every cell whole.
func TestOpRowsFit(t *testing.T) {
	t.Parallel()
	r := opRow{Op: "op-01M80VBZ1QHJD7M9HAV8Q46V9F", Phase: "waiting", Tier: "APPROVAL_REQUIRED", Task: "a-task-with-long-name", Began: "2026-03-02T09:00:00Z"}
	for _, c := range []struct {
		terminal, all bool
		width         int
		want          string
	}{
		{true, false, 0, "V8Q46V9F  waiting  APPROVAL_REQUIRED  a-task-with-long-name  $0.00  03-02 09:00"},
		{true, true, 0, "V8Q46V9F  waiting  $0.00  a-task-with-long-name"},
		{true, false, 40, "V8Q46V9F  waiting  APPROVAL_REQUIRED\n    a-task-with-long-name  $0.00\n    03-02 09:00"},
		{true, true, 200, "op-01M80VBZ1QHJD7M9HAV8Q46V9F  waiting  APPROVAL_REQUIRED  a-task-with-long-name  $0.00  2026-03-02T09:00:00Z"},
		{false, true, 40, "op-01M80VBZ1QHJD7M9HAV8Q46V9F\twaiting\tAPPROVAL_REQUIRED\ta-task-with-long-name\t$0.00\t2026-03-02T09:00:00Z"},
	} {
		env, out, _ := consoletest.Quiet()
		env.Terminal, env.Width = c.terminal, c.width
		if err := console.PrintRows(env, [][]string{r.rowCells(env, c.all)}); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(out.String(), "\n"); got != c.want {
			t.Errorf("%d columns: %q, want %q", c.width, got, c.want)
		}
	}
}
