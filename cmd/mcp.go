package cmd

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/mcp"
)

func mcpVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "mcp",
		Usage: "serve the bundle to agents over the Model Context Protocol",
		Description: "odd mcp\n" +
			"odd mcp --at HEAD\n" +
			"odd mcp --http 8931\n\n" +
			"A client starts it and speaks on stdin and stdout, as in its settings:\n" +
			"{\"mcpServers\": {\"odd\": {\"command\": \"odd\", \"args\": [\"mcp\"]}}}\n\n" +
			"Over HTTP it serves this machine only, to who sends Authorization: Bearer\n" +
			"TOKEN; the line on stderr names the url and the file the token is in. It only\n" +
			"reads, unless --session, or the environment's ODD_ANCHOR, names a session\n" +
			"whose permit holds: then task_propose files tasks in backlog.",
		Subcommands: []*cli.Command{mcpServers(env)},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "at", Usage: "serve the bundle as committed in `REV`, not the files"},
			&cli.StringFlag{Name: "bundle", Usage: bundleHelp},
			&cli.StringFlag{Name: "session", Usage: "the `TOKEN` of the bound session that asks"},
			&cli.IntFlag{Name: "http", Value: -1, DefaultText: "stdin and stdout", Usage: "serve over HTTP on 127.0.0.1 and `PORT`; 0 takes a free one"},
			&cli.StringFlag{Name: "token-env", Usage: "take the HTTP token from the environment's `NAME` (default: a random one)"},
		},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			o := mcpOptions{src: sourceFor(c), session: or(c.String("session"), env.Getenv("ODD_ANCHOR")), http: c.Int("http"), tokenEnv: c.String("token-env")}
			switch {
			case o.http < -1 || o.http > 65535:
				return usage("mcp: --http %d; want a port from 0 to 65535", o.http)
			case o.tokenEnv != "" && o.http < 0:
				return usage("mcp: --token-env is for --http")
			case c.IsSet("session") && o.src.rev != "":
				return usage("mcp: --at serves a past commit, which cannot be changed; leave out --session")
			}
			if o.src.rev != "" {
				o.session = ""
			}
			return runMCP(c.Context, env, o)
		},
	})
}

type mcpOptions struct {
	src      source
	session  string
	http     int // a port; -1 is stdin and stdout
	tokenEnv string
}

func runMCP(ctx context.Context, env Env, o mcpOptions) error {
	k, err := openKnowledge(ctx, env, o)
	if err != nil {
		return err
	}
	go k.warm(ctx)
	s := mcp.New(k.world())
	if o.http >= 0 {
		return serveHTTP(ctx, env, s, o)
	}
	if env.Terminal {
		talk(env, "mcp: waiting for JSON-RPC on stdin; an MCP client starts this command, and odd help mcp shows how to configure one")
	}
	return s.Run(ctx, mcp.Stdio(env.Stdin, env.Stdout))
}
