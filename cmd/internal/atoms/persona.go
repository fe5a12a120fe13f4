package atoms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
	"github.com/odd-cli/odd/persona/contract"
)

// PersonaVerb declares odd agent persona.
func PersonaVerb(env console.Env) *cli.Command {
	return verb.Group("persona", "list and show the personas that agents may speak as",
		"odd agent persona list\n"+
			"odd agent persona show audit-reviewer\n\n"+
			"A persona here is a profile: the name, voice and limits an agent speaks with.\n"+
			"It is an atom of type persona, or the first yaml block of a reference document\n"+
			"with the keys persona and version. The knowledge of a work role is something\n"+
			"else: see odd help compile-persona. odd check tells what is wrong in a\n"+
			"persona.",
		verb.New("list", "list every version of every persona",
			"odd agent persona list\n"+
				"odd agent persona list --at HEAD --json",
			workspace.OnBundle(env, runPersonaList), workspace.ReadFlags()...),
		verb.New("show NAME[@VERSION]", "show a persona as an agent gets it, with inherited values",
			"odd agent persona show audit-reviewer\n"+
				"odd agent persona show audit-reviewer@1 --json",
			workspace.OnBundle(env, runPersonaShow), workspace.ReadFlags()...))
}

// runPersonaList prints name, version, roles, surfaces, standing and place.
func runPersonaList(c *cli.Context, env console.Env, b workspace.Bundle) error {
	r := contract.LoadRoster(b.Graph)
	unread := slices.DeleteFunc(slices.Clone(r.Problems), func(p okf.Problem) bool { return p.Severity != okf.Error })
	if n := len(unread); n > 0 {
		console.Talk(env, "%s in profiles that were not read, odd check lists them", console.CountNoun(n, "error"))
	}
	for _, p := range b.UntypedPersonas() {
		console.Talk(env, "%s: %s; %s", b.ShownPlace(env, p.Path, p.Line), p.Message, p.Hint)
	}
	nothing := "no profile: no atom of type persona or of canon has one" + b.DescribeUntyped()
	return console.ShowList(env, c.Bool("json"), r.Profiles, nothing, func(p *contract.Profile) []string {
		return []string{
			p.Name, strconv.Itoa(p.Version), cmp.Or(console.JoinWords(p.Roles), "any role"), cmp.Or(console.JoinWords(contract.SurfacesOf(p)), "any surface"), describeStanding(p), b.ShownPlace(env, p.Path, p.Line),
		}
	})
}

func describeStanding(p *contract.Profile) string {
	if p.SupersededBy == "" {
		return string(p.Standing)
	}
	return string(p.Standing) + ", see " + p.SupersededBy
}

func runPersonaShow(c *cli.Context, env console.Env, b workspace.Bundle) error {
	p, err := contract.LoadRoster(b.Graph).Find(c.Args().First())
	if err != nil {
		return verb.AsFault(err)
	}
	if p.Standing != contract.InForce {
		console.Talk(env, "%s is %s", p.Ref(), describeStanding(p))
	}
	custom := ""
	if c := p.Custom; c != nil {
		custom = fmt.Sprintf("%s: tools of %s, freshness of %s, deliverable of %s, mode %s", c.Name, c.Tools, c.Freshness, c.Deliverable, cmp.Or(string(c.Mode), "none"))
	}
	rows := console.FieldRows("persona", p.Ref(), "standing", describeStanding(p), "uri", p.URI, "system prompt", p.SystemPromptURI,
		"roles", cmp.Or(console.JoinWords(p.Roles), "any role"), "custom role", custom,
		"operational servers", console.JoinWords(p.Operational), "task-relevant servers", console.JoinWords(p.TaskRelevant), "knowledge bases", console.JoinWords(p.KnowledgeBases))
	for _, s := range contract.SurfacesOf(p) {
		rows = append(rows, []string{"on " + string(s), describeSettings(p.Surfaces[s])})
	}
	rows = append(rows, console.FieldRows("brand discipline", p.BrandDiscipline, "signature", console.JoinWords(p.Glyphs.Signature))...)
	for _, name := range slices.Sorted(maps.Keys(p.Glyphs.Palettes)) {
		rows = append(rows, console.FieldRows("palette "+name, strings.Join(p.Glyphs.Palettes[name], " "))...)
	}
	rows = append(rows, console.FieldRows("inherits", console.JoinWords(p.Inheritance), "retracted when", strings.Join(p.Retraction, "; "), "place", b.ShownPlace(env, p.Path, p.Line))...)
	return console.Show(env, c.Bool("json"), p, rows...)
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
		out = append(out, "at most "+console.CountNoun(s.MaxEmissions, "emission"))
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
	return cmp.Or(strings.Join(out, ", "), "nothing set")
}

// CompilePersonaVerb declares odd compile-persona.
func CompilePersonaVerb(env console.Env) *cli.Command {
	return verb.New("compile-persona ROLE", "print the context that an agent gets for a role",
		"odd compile-persona shore-lead --inline > shore-lead.md\n"+
			"odd compile-persona shore-lead --at HEAD --json\n\n"+
			"A persona is the context compiled for a role atom: odd follows its links to\n"+
			"processes, policies, systems, artifacts, terms and decisions. As markdown, it\n"+
			"shows the stages of the workflows that the role takes part in. odd drain\n"+
			"refuses a role whose persona is below the floor in [persona.floor] of\n"+
			"odd.toml: too few atoms, no process, no policy or term, or too many broken\n"+
			"links.",
		workspace.OnBundle(env, runCompilePersona), workspace.ReadFlags(
			&cli.BoolFlag{Name: "inline", Usage: "include the text of the atoms"})...)
}

func runCompilePersona(c *cli.Context, env console.Env, b workspace.Bundle) error {
	if n := len(b.Problems); n > 0 {
		console.Talk(env, "%s while reading the atoms; odd check lists them", console.CountNoun(n, "finding"))
	}
	p, err := CompileRole(b, c.Args().First())
	if err != nil {
		return err
	}
	if err := warnOfChanged(c.Context, b, env, p); err != nil {
		return err
	}
	out := append(p.Markdown(b.Graph, c.Bool("inline")), p.Workflows(b.Graph)...)
	if c.Bool("json") {
		if out, err = p.JSON(); err != nil {
			return err
		}
	}
	_, err = env.Stdout.Write(out)
	return err
}

// warnOfChanged names the atoms of a persona whose sources changed since: what the persona
// calls verified or reviewed may say something that no longer holds.
func warnOfChanged(ctx context.Context, b workspace.Bundle, env console.Env, p persona.Persona) error {
	f := b.OpenRepoFiles(ctx)
	if f.Files == nil {
		return nil
	}
	atoms := []*okf.Atom{b.Graph.ByPath(p.Role.Path)}
	for _, i := range p.Items {
		atoms = append(atoms, b.Graph.ByPath(i.Path))
	}
	for _, a := range atoms {
		b.TellTwin(env, a)
	}
	var names []string
	for _, d := range okf.DriftedOf(atoms, f.Files, f.List) {
		if !d.Stands() {
			names = append(names, b.TrackedPath(d.Path))
		}
	}
	if names = slices.Compact(names); len(names) > 0 {
		console.Talk(env, "sources have changed since they were cited in %s; odd check shows what changed", console.FirstOf(names))
	}
	return f.Err
}

// belowFloor returns the refusal: every shortfall with its way out, then the gaps, each of
// which begins with a file.
func belowFloor(b workspace.Bundle, p persona.Persona, short []persona.Shortfall) error {
	role := b.TrackedPath(p.Role.Path)
	says := fmt.Sprintf("%s: the role %s has too little knowledge for an agent to work as it", role, p.Role.ID)
	for _, s := range short {
		says += fmt.Sprintf("\n  %s", s)
	}
	for _, g := range p.Gaps {
		says += fmt.Sprintf("\n  gap: %s%s", strings.TrimSuffix(role, p.Role.Path), g)
	}
	return verb.Refuse("persona-floor", "%s", says)
}

// CompileRole compiles a role of the bundle, and refuses below the floor of odd.toml, or the
// usual one where that is not the bundle's own.
func CompileRole(b workspace.Bundle, role string) (persona.Persona, error) {
	p, err := persona.Compile(b.Graph, role)
	if no := new(persona.NotRole); errors.As(err, &no) {
		no.Path = b.TrackedPath(no.Path)
	}
	if err != nil {
		return p, verb.AsFault(err)
	}
	p.Commit = string(b.Commit)
	floor := persona.DefaultFloor()
	if f := b.Config.Floor; !b.Named && (b.Top != "" || b.Rev != "") {
		floor = persona.Floor{MinAtoms: f.Atoms, MinProcesses: f.Processes, MinGuides: f.Guides, MaxUnresolvedPct: f.UnresolvedPct}
	}
	if short := p.Below(floor); len(short) > 0 {
		return p, belowFloor(b, p, short)
	}
	return p, nil
}
