package cmd

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
)

func personaVerb(env Env) *cli.Command {
	return group("persona", "list and show the personas that agents may speak as",
		"odd agent persona list\n"+
			"odd agent persona show audit-reviewer\n\n"+
			"A persona here is a profile: the name, voice and limits an agent speaks with.\n"+
			"It is an atom of type persona, or the first yaml block of a reference document\n"+
			"with the keys persona and version. The knowledge of a work role is something\n"+
			"else: see odd help compile-persona. odd check tells what is wrong in a\n"+
			"persona.",
		verb("list", "list every version of every persona",
			"odd agent persona list\n"+
				"odd agent persona list --at HEAD --json",
			do(env, runPersonaList), readFlags()...),
		verb("show NAME[@VERSION]", "show a persona as an agent gets it, with inherited values",
			"odd agent persona show audit-reviewer\n"+
				"odd agent persona show audit-reviewer@1 --json",
			do(env, runPersonaShow), readFlags()...))
}

// runPersonaList prints name, version, roles, surfaces, standing and place.
func runPersonaList(c *cli.Context, env Env) error {
	b, err := sourceFor(c).loadBundle(c.Context, env)
	if err != nil {
		return err
	}
	r := contract.LoadRoster(b.graph)
	unread := slices.DeleteFunc(slices.Clone(r.Problems), func(p okf.Problem) bool { return p.Severity != okf.Error })
	if n := len(unread); n > 0 {
		talk(env, "%s in profiles that were not read, odd check lists them", countNoun(n, "error"))
	}
	for _, p := range b.untypedPersonas() {
		talk(env, "%s: %s; %s", b.shownPlace(env, p.Path, p.Line), p.Message, p.Hint)
	}
	nothing := "no profile: no atom of type persona or of canon has one" + b.describeUntyped()
	return showList(env, c.Bool("json"), r.Profiles, nothing, func(p *contract.Profile) []string {
		return []string{
			p.Name, strconv.Itoa(p.Version), or(joinWords(p.Roles), "any role"), or(joinWords(contract.SurfacesOf(p)), "any surface"), describeStanding(p), b.shownPlace(env, p.Path, p.Line),
		}
	})
}

func describeStanding(p *contract.Profile) string {
	if p.SupersededBy == "" {
		return string(p.Standing)
	}
	return string(p.Standing) + ", see " + p.SupersededBy
}

func joinWords[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

func runPersonaShow(c *cli.Context, env Env) error {
	b, err := sourceFor(c).loadBundle(c.Context, env)
	if err != nil {
		return err
	}
	p, err := contract.LoadRoster(b.graph).Find(c.Args().First())
	if err != nil {
		return asFault(err)
	}
	if p.Standing != contract.InForce {
		talk(env, "%s is %s", p.Ref(), describeStanding(p))
	}
	custom := ""
	if c := p.Custom; c != nil {
		custom = fmt.Sprintf("%s: tools of %s, freshness of %s, deliverable of %s, mode %s", c.Name, c.Tools, c.Freshness, c.Deliverable, or(string(c.Mode), "none"))
	}
	rows := fieldRows("persona", p.Ref(), "standing", describeStanding(p), "uri", p.URI, "system prompt", p.SystemPromptURI,
		"roles", or(joinWords(p.Roles), "any role"), "custom role", custom,
		"operational servers", joinWords(p.Operational), "task-relevant servers", joinWords(p.TaskRelevant), "knowledge bases", joinWords(p.KnowledgeBases))
	for _, s := range contract.SurfacesOf(p) {
		rows = append(rows, []string{"on " + string(s), describeSettings(p.Surfaces[s])})
	}
	rows = append(rows, fieldRows("brand discipline", p.BrandDiscipline, "signature", joinWords(p.Glyphs.Signature))...)
	for _, name := range slices.Sorted(maps.Keys(p.Glyphs.Palettes)) {
		rows = append(rows, fieldRows("palette "+name, strings.Join(p.Glyphs.Palettes[name], " "))...)
	}
	rows = append(rows, fieldRows("inherits", joinWords(p.Inheritance), "retracted when", strings.Join(p.Retraction, "; "), "place", b.shownPlace(env, p.Path, p.Line))...)
	return show(env, c.Bool("json"), p, rows...)
}

func describeSettings(s contract.Settings) string {
	var out []string
	if s.Density != "" {
		out = append(out, "density "+s.Density)
	}
	if s.MaxTokens > 0 {
		out = append(out, "at most "+strconv.Itoa(s.MaxTokens)+" tokens an emission")
	}
	if s.MaxEmissions > 0 {
		out = append(out, "at most "+countNoun(s.MaxEmissions, "emission"))
	}
	for _, f := range []struct {
		name string
		is   *bool
	}{{"structured", s.Structured}, {"narrative", s.Narrative}, {"bidirectional", s.Bidirectional}} {
		switch {
		case f.is == nil:
		case *f.is:
			out = append(out, f.name)
		default:
			out = append(out, "not "+f.name)
		}
	}
	if s.OutputSchema != "" {
		out = append(out, "schema "+s.OutputSchema)
	}
	return or(strings.Join(out, ", "), "nothing set")
}
