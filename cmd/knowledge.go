package cmd

import "github.com/urfave/cli/v2"

// knowledgeVerb holds the verbs that follow links between atoms and keep listings.
func knowledgeVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "knowledge",
		Usage: "follow links between atoms, draw the graph, write index files",
		Description: "odd knowledge related editor\n" +
			"odd knowledge path editor style-policy\n" +
			"odd knowledge graph --focus editor",
		Subcommands: []*cli.Command{
			related(env), backlinks(env), expand(env), why(env), graph(env), index(env), canonVerb(env),
		},
	})
}
