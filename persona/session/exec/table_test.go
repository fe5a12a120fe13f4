package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/sessiontest"
)

func TestSubstrate(t *testing.T) {
	t.Parallel()
	sessiontest.Table(t, func(t *testing.T, s sessiontest.Script) session.Substrate {
		if s.Hangs {
			return Substrate{Argv: []string{"sleep", "600"}, Environ: os.Environ()}
		}
		if s.Cost >= 0 {
			s.Says = fmt.Sprintf("```json\n{\"schema\": \"odd.usage.1\", \"turns\": 1, \"cost_micro_usd\": %d}\n```\n", s.Cost) + s.Says
		}
		said := filepath.Join(t.TempDir(), "said")
		if err := os.WriteFile(said, []byte(s.Says), 0o600); err != nil {
			t.Fatal(err)
		}
		return Substrate{Argv: []string{"cat", said}, Environ: os.Environ()}
	})
}
