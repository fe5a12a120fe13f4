package replay

import (
	"fmt"
	"testing"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/sessiontest"
)

func TestSubstrate(t *testing.T) {
	t.Parallel()
	sessiontest.Table(t, func(t *testing.T, s sessiontest.Script) session.Substrate {
		if s.Hangs {
			t.Skip("a recording never hangs")
		}
		cost := ""
		if s.Cost >= 0 {
			cost = fmt.Sprintf("```json\n{\"schema\": \"odd.usage.1\", \"turns\": 1, \"cost_micro_usd\": %d}\n```\n", s.Cost)
		}
		return Substrate{files(s.Says + cost), "sessions/one.md"}
	})
}
