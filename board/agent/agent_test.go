package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/refusal"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session/cage"
)

// What a substrate lacks is said before anything is claimed, all of it, under the
// code of the first.
func TestEquipped(t *testing.T) {
	t.Parallel()
	has := []string{"ANTHROPIC_API_KEY=x", "OPENAI_API_KEY=x", "MINE=x", "EMPTY="}
	for _, c := range []struct {
		name, file string
		environ    []string
		code       string
		says       []string
	}{
		{"a reader of documents", "[session]\nsubstrate = \"extract\"", nil, "", nil},
		{"a program without a name", "[session]\nsubstrate = \"exec\"", nil, "no-agent", []string{"set [substrate.exec] argv"}},
		{"a program with one", "[session]\nsubstrate = \"exec\"\n[substrate.exec]\nargv = [\"a\"]", nil, "", nil},
		{"an agent without a name", "[session]\nsubstrate = \"acp\"", nil, "no-agent", []string{"set [substrate.acp] argv"}},
		{"a recording without a file", "[session]\nsubstrate = \"replay\"", nil, "no-recording", []string{"set [substrate.replay] file"}},
		{"anthropic", "[session]\nsubstrate = \"anthropic\"\nmodel = \"m\"", has, "", nil},
		{"its own model", "[session]\nsubstrate = \"anthropic\"\n[substrate.anthropic]\nmodel = \"m\"", has, "", nil},
		{"nothing", "[session]\nsubstrate = \"anthropic\"", nil, "no-model", []string{"no model is named", "ANTHROPIC_API_KEY is not set"}},
		{"an empty key", "[session]\nsubstrate = \"anthropic\"\nmodel = \"m\"\n[substrate.anthropic]\nkey_env = \"EMPTY\"", has, "no-key", []string{"EMPTY is not set"}},
		{"another key", "[session]\nsubstrate = \"anthropic\"\nmodel = \"m\"\n[substrate.anthropic]\nkey_env = \"MINE\"", has[2:], "", nil},
		{"no price of the cache", "[session]\nsubstrate = \"anthropic\"\nmodel = \"m\"\n[prices.m]\ninput_usd = 1\noutput_usd = 2", has, "no-price", []string{"no cache_write_usd"}},
		{"openai", "[session]\nsubstrate = \"openai\"\nmodel = \"m\"", has, "", nil},
		{"openai without a key", "[session]\nsubstrate = \"openai\"\nmodel = \"m\"", nil, "no-key", []string{"OPENAI_API_KEY is not set"}},
		{"a server without a key", "[session]\nsubstrate = \"openai\"\nmodel = \"m\"\n[substrate.openai]\nbase_url = \"http://[::1]:8080/v1\"", nil, "", nil},
		{"a server with one", "[session]\nsubstrate = \"openai\"\nmodel = \"m\"\n[substrate.openai]\nbase_url = \"https://llm.example/v1\"\nkey_env = \"MINE\"", nil, "no-key", []string{"MINE is not set", "[substrate.openai] key_env"}},
	} {
		cfg, err := config.Parse("odd.toml", []byte(c.file))
		if err != nil {
			t.Fatal(c.name, err)
		}
		err = Equipped(cfg, c.environ)
		var no *refusal.Refusal
		if errors.As(err, &no) != (c.code != "") || no != nil && no.Code != c.code {
			t.Errorf("%s: got %v, want code %q", c.name, err, c.code)
		}
		for _, s := range c.says {
			if no != nil && !strings.Contains(no.Text, s) {
				t.Errorf("%s: %q does not say %q", c.name, no.Text, s)
			}
		}
	}
}

// A person sees who would get something of a session, and what, before it begins.
func TestReceivers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		toml    string
		servers []string
		want    []string
	}{
		{"substrate = \"extract\"\n[toolbox]\nweb_hosts = [\"sea.example\"]", []string{"sea"}, nil},
		{"substrate = \"exec\"\n[substrate.exec]\nargv = [\"mine\", \"-x\"]", nil, []string{`the program "mine -x" on this machine; network: `}},
		{"substrate = \"claude\"", nil, []string{`the program "claude" on this machine`}},
		{"substrate = \"anthropic\"\nmodel = \"m\"", nil, []string{"https://api.anthropic.com, model m, with the key in ANTHROPIC_API_KEY"}},
		{"substrate = \"openai\"\n[substrate.openai]\nmodel = \"o\"\nkey_env = \"MINE\"\nbase_url = \"http://[::1]:1/v1\"\n[toolbox]\nweb_hosts = [\"sea.example\", \"air.example\"]", []string{"sea"},
			[]string{"http://[::1]:1/v1, model o, with the key in MINE", "MCP server sea: run --it", "sea.example, air.example"}},
		{"substrate = \"exec\"\nfallback = [\"anthropic\"]\n[substrate.anthropic]\nmodel = \"m\"\n[substrate.exec]\nargv = [\"mine\"]\n[toolbox]\nweb_hosts = [\"sea.example\"]", []string{"air"},
			[]string{`the program "mine"`, "https://api.anthropic.com, model m, with the key in ANTHROPIC_API_KEY, if exec cannot be reached", "MCP server air: https://air.example", "sea.example"}},
	} {
		cfg, err := config.Parse("odd.toml", []byte("[session]\n"+c.toml+"\n[[mcp]]\nname = \"sea\"\nargv = [\"run\", \"--it\"]\ntools = [\"*\"]\n[[mcp]]\nname = \"air\"\nurl = \"https://air.example\"\ntools = [\"*\"]\n"))
		if err != nil {
			t.Fatal(c.toml, err)
		}
		got := Receivers(cfg.Chain("standard"), c.servers)
		for i, r := range got {
			if i >= len(c.want) || !strings.HasPrefix(r.To, c.want[i]) || r.Gets == "" {
				t.Errorf("%s: %+v", c.toml, r)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %d receivers, want %d", c.toml, len(got), len(c.want))
		}
	}
}

// What odd.toml says of an agent reaches it: its model, prices, key, environment and bounds.
func TestSubstrateHasItsSettings(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct{ toml, want string }{
		"extract":   {"", "extract.Substrate{}"},
		"replay":    {"file = \"r.md\"", `File:"r.md"`},
		"exec":      {"argv = [\"a\", \"-b\"]\nfree = true\nmax_bytes = 77", `Argv:[]string{"a", "-b"}, Dir:"/d"|Free:true, MaxBytes:77|Network:"allow"|"MINE=x"`},
		"claude":    {"argv = [\"c\"]\nmodel = \"o\"\nfree = true", `Argv:[]string{"c"}, Dir:"/d", Model:"o"|Free:true|Servers:[]servers.Spec{servers.Spec{Name:"sea"`},
		"acp":       {"argv = [\"g\"]\nmax_bytes = 77", `Argv:[]string{"g"}, Dir:"/d"|MaxBytes:77|Name:"sea"|Network:"allow", Commands:"loopback"`},
		"anthropic": {"model = \"o\"\nbase_url = \"http://[::1]:1\"\nmax_tokens = 999\ncontext_bytes = 100000", `Model:"o", BaseURL:"http://[::1]:1", Key:"k"|MaxTokens:999|ContextBytes:100000|"o":loop.Price{Input:1000000, Output:2000000, CacheRead:3000000, CacheWrite:4000000}`},
		"openai":    {"key_env = \"MINE\"\nmax_tokens_key = \"max_tokens\"", `Model:"m"|Key:"x", MaxTokensKey:"max_tokens"`},
	} {
		cfg, err := config.Parse("odd.toml", []byte("[session]\nsubstrate = \""+kind+"\"\nmodel = \"m\"\n[sandbox]\nnetwork = \"allow\"\n[substrate."+kind+"]\n"+c.toml+
			"\n[prices.o]\ninput_usd = 1\noutput_usd = 2\ncache_read_usd = 3\ncache_write_usd = 4\n[[mcp]]\nname = \"sea\"\nargv = [\"run\"]\nread = [\"~/charts\", \"/charts\"]\ntools = [\"*\"]\n"))
		if err != nil {
			t.Fatal(kind, err)
		}
		s, err := Host{Environ: []string{"ANTHROPIC_API_KEY=k", "MINE=x"}}.Substrate(cfg, nil, "/d", cage.Cage{})
		if err != nil {
			t.Fatal(kind, err)
		}
		for want := range strings.SplitSeq(c.want, "|") {
			if got := fmt.Sprintf("%#v", s); !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %s", kind, got, want)
			}
		}
		for home, want := range map[string]string{"": "[/charts]", "/home/ann": "[/home/ann/charts /charts]"} {
			if specs := Specs(cfg, home); len(specs) != 1 || fmt.Sprint(specs[0].Read) != want {
				t.Errorf("%q: %+v", home, specs)
			}
		}
	}
	_, err := Host{}.Substrate(config.Config{Session: config.Session{Substrate: "pigeon"}}, nil, "", cage.Cage{})
	var no *refusal.Refusal
	if !errors.As(err, &no) || no.Code != "substrate" {
		t.Error(err)
	}
}

// A session is given the servers that are always on, and those for its task's kind or tags.
func TestGranted(t *testing.T) {
	t.Parallel()
	cfg := config.Config{Servers: []config.Server{{Name: "always", When: config.Operational, Roles: []contract.Role{"shore-lead"}}, {Name: "kind", Kinds: []string{"extract"}}, {Name: "tag", Tags: []string{"sea"}}, {Name: "asked"}}}
	tagged := []string{"air", "sea"}
	taskOf := func(kind string, tags []string) (t board.Task) {
		t.Path, t.Kind, t.Atom = "tasks/a.md", kind, &okf.Atom{Tags: tags}
		return t
	}
	for want, task := range map[string]board.Task{
		"always":          taskOf("implement", nil),
		"always kind":     taskOf("extract", nil),
		"always tag":      taskOf("implement", tagged),
		"always kind tag": taskOf("extract", tagged),
	} {
		var got []string
		for _, g := range Granted(cfg, task) {
			got = append(got, g.Server)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	nowhere := taskOf("extract", tagged)
	nowhere.Path = ""
	if got := Granted(cfg, nowhere); len(got) != 1 || got[0].Server != "always" || len(got[0].Roles) != 1 {
		t.Errorf("of no task of the board: %+v", got)
	}
}

// A brief names the tools that its agent has, of odd's own ones.
func TestTools(t *testing.T) {
	t.Parallel()
	for toml, want := range map[string]string{
		"substrate = \"exec\"\n[substrate.exec]\nargv = [\"a\"]\n[toolbox]\nrun = [[\"go\"]]": "",
		"substrate = \"claude\"":                              "search fetch get related expand write edit why",
		"substrate = \"claude\"\n[toolbox]\nrun = [[\"go\"]]": "search fetch get related expand write edit why exec",
		"substrate = \"openai\"\nmodel = \"m\"":               "search fetch get related expand write edit say emit_deliverable finish emit_atom emit_change",
		"substrate = \"openai\"\nmodel = \"m\"\n[toolbox]\nrun = [[\"go\"]]\nweb_hosts = [\"sea.example\"]": "search fetch get related expand write edit say emit_deliverable finish emit_atom emit_change web-search exec",
	} {
		cfg, err := config.Parse("odd.toml", []byte("[session]\n"+toml+"\n"))
		if err != nil {
			t.Fatal(toml, err)
		}
		if got := strings.Join(Tools(cfg), " "); got != want {
			t.Errorf("%s: %q, want %q", toml, got, want)
		}
	}
}

// A place below the home of nobody known is left out, and never another place.
func TestExpandHome(t *testing.T) {
	t.Parallel()
	in := []string{"/srv", "~/.cache", "~x/y", "~"}
	if got := expandHome("/home/ann", in); !slices.Equal(got, []string{"/srv", "/home/ann/.cache", "~x/y", "~"}) {
		t.Error(got)
	}
	if got := expandHome("", in); !slices.Equal(got, []string{"/srv", "~x/y", "~"}) {
		t.Error(got)
	}
}
