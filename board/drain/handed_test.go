package drain

import (
	"strings"
	"testing"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/servers"
)

// A session is told of the servers that its agent is not handed, and does not begin
// where a person said that it must not go without one.
func TestUnhanded(t *testing.T) {
	t.Parallel()
	through := func(names ...string) *relay {
		r := &relay{}
		for _, name := range names {
			r.legs = append(r.legs, leg{cfg: config.Config{Session: config.Session{Substrate: name}, Sandbox: config.Sandbox{Network: "allow"}}})
		}
		return r
	}
	open := servers.Spec{Name: "sea", Argv: []string{"sea"}, Network: cage.Allow}
	held := servers.Spec{Name: "air", Argv: []string{"air"}, Network: cage.None}
	needed := held
	needed.Required = true
	for _, c := range []struct {
		r         *relay
		specs     []servers.Spec
		lost, why string
	}{
		{through("claude"), []servers.Spec{open}, "", ""},
		{through("claude"), []servers.Spec{open, held}, "air: ", ""},
		{through("acp"), []servers.Spec{open, needed}, "", "acp does not get air: "},
		{through("anthropic", "claude"), []servers.Spec{held}, "", ""},
		{through("anthropic", "claude"), []servers.Spec{needed}, "", "claude does not get air: "},
		{through("openai"), []servers.Spec{needed}, "", ""},
	} {
		lost, why := c.r.missingServers(c.specs)
		if (lost == "") != (c.lost == "") || !strings.HasPrefix(lost, c.lost) || (why == "") != (c.why == "") || !strings.HasPrefix(why, c.why) {
			t.Errorf("%s: lost %q, %q; want %q, %q", c.r.currentName(), lost, why, c.lost, c.why)
		}
	}
}
