package config

import (
	"strings"
	"testing"
)

// TestServers breaks each rule of [[mcp]], at its line.
func TestServers(t *testing.T) {
	t.Parallel()
	const good = "argv = [\"x\"]\ntools = [\"*\"]\n"
	for text, want := range map[string]string{
		"[[mcp]]\nname = \"a\"\n" + good + "[[mcp]]\nname = \"b\"\nnmae = 1\n" + good: `odd.toml:7: unknown key "mcp.nmae"; did you mean "mcp.name"?`,
		"[[mcp]]\nname = \"a\"\n" + good + "# x\n[[mcp]]\n" + good:                    `odd.toml:6: mcp: a server without a name; write name = "files"`,
		"[[mcp]]\nname = \"a\"\n" + good + "[[mcp]]\nname = \"a\"\n" + good:           `odd.toml:6: mcp: server "a" stands twice`,
		"[mcp]\nname = \"a\"\n":                                                                    "odd.toml:1: mcp: want tables",
		"mcp = 7\n":                                                                                "odd.toml:1: mcp: want tables",
		"[[mcp]]\nname = \"a_b\"\n" + good:                                                         `odd.toml:2: mcp.name: "a_b": want at most 24`,
		"[[mcp]]\nname = \"odd\"\n" + good:                                                         `is odd itself`,
		"[[mcp]]\nname = \"a\"\ntools = [\"*\"]\n":                                                 "odd.toml:1: mcp: server \"a\": write argv",
		"[[mcp]]\nname = \"a\"\nurl = \"https://x.example\"\n" + good:                              "odd.toml:3: mcp: server \"a\": has both",
		"[[mcp]]\nname = \"a\"\nurl = \"http://x.example\"\ntools = [\"*\"]\n":                     "odd.toml:3: mcp.url: want https",
		"[[mcp]]\nname = \"a\"\nurl = \"https://x.example\"\ntree = true\ntools = [\"*\"]\n":       "odd.toml:4: mcp: server \"a\": tree is for a server with argv",
		"[[mcp]]\nname = \"a\"\ntoken_env = \"K\"\n" + good:                                        "odd.toml:3: mcp: server \"a\": token_env is for a server with url",
		"[[mcp]]\nname = \"a\"\nargv = [\"x\"]\n":                                                  "odd.toml:1: mcp: server \"a\": write tools",
		"[[mcp]]\nname = \"a\"\nargv = [\"x\"]\ntools = [\"l\"]\nreads = [\"m\"]\n":                `odd.toml:5: mcp: server "a": reads names "m"`,
		"[[mcp]]\nname = \"a\"\nkinds = [\"fix\"]\n" + good:                                        `odd.toml:3: mcp: server "a": kinds says for which tasks`,
		"[[mcp]]\nname = \"a\"\nwhen = \"task_relevant\"\nkinds = [\"fixx\"]\n" + good:             `odd.toml:4: mcp.kinds:`,
		"[[mcp]]\nname = \"a\"\nroles = [\"validator\"]\n" + good:                                  "odd.toml:3: mcp.roles: a validator judges",
		"[[mcp]]\nname = \"a\"\nread = [\"/\"]\n" + good:                                           "odd.toml:3: mcp.read:",
		"[[mcp]]\nname = \"a\"\npin_sha256 = \"ab\"\n" + good:                                      "odd.toml:3: mcp.pin_sha256: want the list_sha256",
		"[[mcp]]\nname = \"a\"\nenv = [\"A=b\"]\n" + good:                                          "odd.toml:3: mcp.env: want names",
		"mcp = [{name = \"a\", argv = [\"x\"], tools = [\"*\"]}, {name = \"a\", tools = [\"*\"]}]": "odd.toml:1: mcp: server \"a\" stands twice",
		"x = '''\n[[mcp]]\n'''\n[[mcp]]\nname = \"a\"\nnope = 1\n" + good:                          `unknown key "mcp.nope"`,
	} {
		_, err := Parse("odd.toml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got: %v\nwant: %s", text, err, want)
		}
	}
	c, err := Parse("odd.toml", []byte("mcp = [{name = \"a\", argv = [\"x\"], tools = [\"*\"]}]\n"))
	if err != nil || len(c.Servers) != 1 || c.ServerNames()[0] != "a" {
		t.Errorf("%+v, %v", c.Servers, err)
	}
}
