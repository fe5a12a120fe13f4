package cmd

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/contract"
)

func personaVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "persona",
		Usage: "list, show and check the personas that agents may speak as",
		Description: "odd agent persona list\n" +
			"odd agent persona show audit-reviewer\n" +
			"odd agent persona check\n\n" +
			"A persona here is a profile: the name, voice and limits an agent speaks with.\n" +
			"It is an atom of type persona, or the first yaml block of a reference document\n" +
			"with the keys persona and version. The knowledge of a work role is something\n" +
			"else: see odd help compile-persona.",
		Subcommands: []*cli.Command{personaList(env), personaShow(env), personaCheck(env)},
	})
}

func personaList(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "list",
		Usage: "list every version of every persona",
		Description: "odd agent persona list\n" +
			"odd agent persona list --at HEAD --json",
		Flags:  readFlags(),
		Action: do(env, runPersonaList),
	})
}

// runPersonaList prints name, version, roles, surfaces, standing and place.
func runPersonaList(c *cli.Context, env Env) error {
	b, err := sourceFor(c).open(c.Context, env)
	if err != nil {
		return err
	}
	r := contract.LoadRoster(b.graph)
	if n := unreadable(r); n > 0 {
		talk(env, "%s in profiles that were not read, odd agent persona check lists them", count(n, "error"))
	}
	for _, p := range b.untypedPersonas() {
		talk(env, "%s: %s; %s", b.place(env, p.Path, p.Line), p.Message, p.Hint)
	}
	nothing := "no profile: no atom of type persona or of canon has one" + b.untyped()
	return showList(env, c.Bool("json"), r.Profiles, nothing, func(p *contract.Profile) []string {
		return []string{
			p.Name, strconv.Itoa(p.Version), or(joined(p.Roles), "any role"), or(joined(contract.SurfacesOf(p)), "any surface"), standing(p), b.place(env, p.Path, p.Line),
		}
	})
}

func unreadable(r contract.Roster) int {
	n := 0
	for _, p := range r.Problems {
		if p.Severity == "error" {
			n++
		}
	}
	return n
}

// standing is whether a profile governs, and what does in its place.
func standing(p *contract.Profile) string {
	if p.SupersededBy == "" {
		return string(p.Standing)
	}
	return string(p.Standing) + ", see " + p.SupersededBy
}

func joined[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}
