package cmd

import "github.com/urfave/cli/v2"

// knowledgeVerb holds the verbs that follow links between atoms and keep listings.
func knowledgeVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "knowledge",
		Usage: "follow links between atoms, draw the graph, write index files",
		Description: "odd knowledge related shore-lead\n" +
			"odd knowledge path shore-lead customer-data\n" +
			"odd knowledge graph --focus shore-lead\n\n" +
			"Atoms link to each other by fields of the front matter (owner, uses,\n" +
			"governed_by, …) and by markdown links. odd calls each such link an edge, and\n" +
			"its name its kind.",
		Subcommands: []*cli.Command{
			related(env), backlinks(env), expand(env), why(env), graph(env), index(env), canonVerb(env),
		},
	})
}
