package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/mcp"
)

func mcpVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "mcp",
		Usage: "serve the atoms to agents as an MCP server",
		Description: "odd mcp\n" +
			"odd mcp --at HEAD\n" +
			"odd mcp --http 8931\n\n" +
			"MCP is the Model Context Protocol. Put this into the settings of an MCP\n" +
			"client; it talks to odd on stdin and stdout:\n" +
			"{\"mcpServers\": {\"odd\": {\"command\": \"odd\", \"args\": [\"mcp\"]}}}\n\n" +
			"Over HTTP, odd serves only this machine, and clients must send the header\n" +
			"\"Authorization: Bearer TOKEN\". Stderr names the url and the file with the\n" +
			"token.\n\n" +
			"The tools only read. With --session or the variable ODD_ANCHOR, and while the\n" +
			"permit of that session is valid (odd help anchor), the tool task_propose also\n" +
			"adds tasks to the backlog.",
		Subcommands: []*cli.Command{mcpServers(env)},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "at", Usage: "serve the atoms from commit `REV` instead of the working tree"},
			bundleFlag(),
			&cli.StringFlag{Name: "session", Usage: "let the anchor session `TOKEN` also add tasks, see below"},
			&cli.IntFlag{Name: "http", Value: -1, DefaultText: "stdin and stdout", Usage: "serve over HTTP on 127.0.0.1, port `PORT`; 0 takes a free port"},
			&cli.StringFlag{Name: "token-env", Usage: "take the HTTP token from the environment variable `NAME` (default: a random token)"},
		},
		Action: do(env, runMCP),
	})
}

func runMCP(c *cli.Context, env Env) error {
	src, port := sourceFor(c), c.Int("http")
	switch {
	case port < -1 || port > 65535:
		return usage("mcp: --http %d; want a port from 0 to 65535", port)
	case c.String("token-env") != "" && port < 0:
		return usage("mcp: --token-env is for --http")
	case c.IsSet("session") && src.rev != "":
		return usage("mcp: --at serves a past commit, which cannot be changed; leave out --session")
	}
	session := or(c.String("session"), env.Getenv("ODD_ANCHOR"))
	if src.rev != "" {
		session = ""
	}
	k, err := openKnowledge(c.Context, env, src, session)
	if err != nil {
		return err
	}
	go k.warm(c.Context)
	s := mcp.New(k.world())
	if port >= 0 {
		return serveHTTP(c.Context, env, s, port, c.String("token-env"))
	}
	if env.Terminal {
		talk(env, "mcp: waiting for JSON-RPC on stdin; an MCP client starts this command, and odd help mcp shows how to configure one")
	}
	return s.Run(c.Context, mcp.Stdio(env.Stdin, env.Stdout))
}
