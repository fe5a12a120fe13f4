package cmd

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/contract"
)

func personaShow(env Env) *cli.Command {
	return command(&cli.Command{
		Name:         "show",
		Usage:        "show a persona as an agent gets it, with inherited values",
		ArgsUsage:    "NAME[@VERSION]",
		BashComplete: completePersonas(env),
		Description: "odd agent persona show audit-reviewer\n" +
			"odd agent persona show audit-reviewer@1 --json",
		Flags:  readFlags(),
		Action: one("a persona as NAME or NAME@VERSION", do(env, runPersonaShow)),
	})
}

// completePersonas completes an argument with every version of every profile.
func completePersonas(env Env) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		b, err := openBundle(c.Context, env, "")
		if err != nil {
			return // a completion has nobody to tell
		}
		for _, p := range contract.LoadRoster(b.graph).Profiles {
			offer(env, p.Ref(), "")
		}
	}
}

func runPersonaShow(c *cli.Context, env Env) error {
	name := c.Args().First()
	b, err := sourceFor(c).open(c.Context, env)
	if err != nil {
		return err
	}
	p, err := contract.LoadRoster(b.graph).Find(name)
	if err != nil {
		return fault(err)
	}
	if p.Standing != contract.InForce {
		talk(env, "%s is %s", p.Ref(), standing(p))
	}
	rows := fields("persona", p.Ref(), "standing", standing(p), "uri", p.URI, "system prompt", p.SystemPromptURI,
		"roles", or(joined(p.Roles), "any role"), "custom role", customRole(p.Custom),
		"operational servers", joined(p.Operational), "task-relevant servers", joined(p.TaskRelevant), "knowledge bases", joined(p.KnowledgeBases))
	for _, s := range contract.SurfacesOf(p) {
		rows = append(rows, []string{"on " + string(s), settings(p.Surfaces[s])})
	}
	rows = append(rows, fields("brand discipline", p.BrandDiscipline, "signature", joined(p.Glyphs.Signature))...)
	for _, name := range slices.Sorted(maps.Keys(p.Glyphs.Palettes)) {
		rows = append(rows, fields("palette "+name, strings.Join(p.Glyphs.Palettes[name], " "))...)
	}
	rows = append(rows, fields("inherits", joined(p.Inheritance), "retracted when", strings.Join(p.Retraction, "; "), "place", b.place(env, p.Path, p.Line))...)
	return show(env, c.Bool("json"), p, rows...)
}

func customRole(c *contract.Custom) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s: tools of %s, freshness of %s, deliverable of %s, mode %s", c.Name, c.Tools, c.Freshness, c.Deliverable, or(string(c.Mode), "none"))
}

// settings says what a profile sets for a surface.
func settings(s contract.Settings) string {
	var out []string
	if s.Density != "" {
		out = append(out, "density "+s.Density)
	}
	if s.MaxTokens > 0 {
		out = append(out, "at most "+strconv.Itoa(s.MaxTokens)+" tokens an emission")
	}
	if s.MaxEmissions > 0 {
		out = append(out, "at most "+count(s.MaxEmissions, "emission"))
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
