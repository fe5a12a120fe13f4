package servers

import (
	"strings"
	"testing"

	"github.com/odd-cli/odd/persona/session/cage"
)

// A server whose program odd would have to hold is not handed to an agent.
func TestHanded(t *testing.T) {
	t.Parallel()
	a := Agent{Env: []string{"SEA_KEY"}, Network: cage.Allow}
	for _, c := range []struct {
		s    Spec
		kept string
	}{
		{Spec{Argv: []string{"tides"}, Network: cage.Allow}, ""},
		{Spec{Argv: []string{"tides"}, Network: cage.Allow, Env: []string{"SEA_KEY"}, Tree: true}, ""},
		{Spec{URL: "https://tides.example/mcp"}, ""},
		{Spec{URL: "https://tides.example/mcp", TokenEnv: "SEA_KEY"}, ""},
		{Spec{URL: "https://tides.example/mcp", TokenEnv: "SEA_TOKEN"}, "SEA_TOKEN"},
		{Spec{Argv: []string{"tides"}, Network: cage.Allow, Env: []string{"SEA_KEY", "PASS"}}, "PASS"},
		{Spec{Argv: []string{"tides"}, Network: cage.None}, `network = "allow"`},
		{Spec{Argv: []string{"tides"}}, `network = "allow"`},
		{Spec{Argv: []string{"tides"}, Network: cage.Allow, Read: []string{"/srv/tides"}}, "read"},
		{Spec{Argv: []string{"tides"}, Network: cage.Allow, Pin: "00"}, "pin_sha256"},
	} {
		c.s.Name = "sea"
		out, kept := Handed([]Spec{c.s}, a)
		if (len(out) == 1) != (c.kept == "") || len(out)+len(kept) != 1 || !strings.Contains(strings.Join(kept, ""), c.kept) {
			t.Errorf("%+v: handed %d, kept %q; want %q", c.s, len(out), kept, c.kept)
		}
	}
	if out, _ := Handed([]Spec{{Name: "sea", Argv: []string{"tides"}, Network: cage.None}}, Agent{Network: cage.None}); len(out) != 1 {
		t.Error("an agent without a network is not handed a server without one")
	}
}

func TestCalled(t *testing.T) {
	t.Parallel()
	all := []Spec{{Name: "sea", Tools: []string{"level", "Dump.all"}}, {Name: "air", Tools: []string{Every}}}
	for name, want := range map[string]string{
		"mcp__sea__level": "mcp_sea_level", "mcp__sea__Dump.all": "mcp_sea_dump_all", "mcp__air__x__y": "mcp_air_x__y",
		"mcp__sea__Level": "", "mcp__sea__dump_all": "", "mcp__sea__": "", "mcp__sea": "", "mcp__air": "", "mcp__land__level": "", "sea level": "", "mcp_sea_level": "", "Mcp__sea__level": "", "": "",
		"sea_level": "mcp_sea_level", "mcp.sea.level": "mcp_sea_level", "level (sea MCP Server)": "mcp_sea_level", // as other agents write it
		"sea_": "", "sea_dump": "", "mcp.sea.": "", "level (land MCP Server)": "", "rm -r x (air MCP Server)": "", "level (sea MCP Server) ": "",
	} {
		if tool, ok := Called(all, name); tool != want || ok != (want != "") {
			t.Errorf("%q is %q, %v; want %q", name, tool, ok, want)
		}
	}
}

// Of a variable that stands twice in an environment the last one counts, as for every
// program.
func TestToken(t *testing.T) {
	t.Parallel()
	env := []string{"SEA=a", "SEA=b", "=c"}
	for name, want := range map[string]string{"SEA": "b", "LAKE": "", "": ""} {
		if got := (Spec{TokenEnv: name}).Token(env); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
