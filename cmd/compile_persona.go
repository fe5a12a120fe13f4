package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
)

func compilePersona(env Env) *cli.Command {
	return verb("compile-persona ROLE", "print the context that an agent gets for a role",
		"odd compile-persona shore-lead --inline > shore-lead.md\n"+
			"odd compile-persona shore-lead --at HEAD --format json\n\n"+
			"A persona is the context compiled for a role atom: odd follows its links to\n"+
			"processes, policies, systems, artifacts, terms and decisions. As markdown, it\n"+
			"shows the stages of the workflows that the role takes part in. odd drain\n"+
			"refuses a role whose persona is below the floor in [persona.floor] of\n"+
			"odd.toml: too few atoms, no process, no policy or term, or too many broken\n"+
			"links.",
		do(env, runCompilePersona),
		&cli.StringFlag{Name: "format", Value: "md", Usage: "print `FORMAT`: md, json or mermaid"},
		&cli.BoolFlag{Name: "inline", Usage: "include the text of the atoms"},
		atFlag(),
		bundleFlag(),
		jsonFlag())
}

func runCompilePersona(c *cli.Context, env Env) error {
	if c.String("at") != "" && c.String("bundle") != "" {
		return usage("compile-persona: --at reads the bundle that commit's odd.toml names; leave out --bundle")
	}
	format, err := formatNamed(c, "md", "json", "mermaid")
	if err != nil {
		return err
	}
	src, err := readSource(c.Context, env, sourceFor(c))
	if err != nil {
		return err
	}
	if n := len(src.problems); n > 0 {
		talk(env, "%s while reading the atoms; odd check lists them", countNoun(n, "finding"))
	}
	p, err := src.compileRole(c.Args().First())
	if err != nil {
		return err
	}
	if err := src.warnOfChanged(c.Context, env, p); err != nil {
		return err
	}
	var out []byte
	switch format {
	case "json":
		out, err = p.JSON()
	case "mermaid":
		out = p.Mermaid()
	default:
		out = append(p.Markdown(src.graph, c.Bool("inline")), p.Workflows(src.graph)...)
	}
	if err == nil {
		_, err = env.Stdout.Write(out)
	}
	return err
}

// warnOfChanged names the atoms of a persona whose sources changed since: what the persona
// calls verified or reviewed may say something that no longer holds.
func (src personaSource) warnOfChanged(ctx context.Context, env Env, p persona.Persona) error {
	f, err := src.openRepoFiles(ctx, env)
	if err != nil || f.files == nil {
		return err
	}
	atoms := []*okf.Atom{src.graph.ByPath(p.Role.Path)}
	for _, i := range p.Items {
		atoms = append(atoms, src.graph.ByPath(i.Path))
	}
	for _, a := range atoms {
		src.tellTwin(env, a)
	}
	var names []string
	for _, d := range okf.DriftedOf(atoms, f.files, f.list) {
		if !d.Stands() {
			names = append(names, src.tracked(d.Path))
		}
	}
	if names = slices.Compact(names); len(names) > 0 {
		talk(env, "sources have changed since they were cited in %s; odd check shows what changed", firstOf(names))
	}
	return f.err
}

// belowFloor returns the refusal: every shortfall with its way out, then the gaps, each of
// which begins with a file.
func (src personaSource) belowFloor(p persona.Persona, short []persona.Shortfall) error {
	var b strings.Builder
	role := src.tracked(p.Role.Path)
	top := strings.TrimSuffix(role, p.Role.Path)
	fmt.Fprintf(&b, "%s: the role %s has too little knowledge for an agent to work as it", role, p.Role.ID)
	for _, s := range short {
		fmt.Fprintf(&b, "\n  %s", s)
	}
	for _, g := range p.Gaps {
		fmt.Fprintf(&b, "\n  gap: %s%s", top, g)
	}
	return refuse("persona-floor", "%s", b.String())
}

// personaSource is a bundle, the floor its odd.toml asks for, and the commit it
// was read from, "" for a work tree.
type personaSource struct {
	bundle
	floor   persona.Floor
	commit  string
	tracked func(file string) string // a file of the bundle, as a person finds it
}

// readSource reads everything, the floor too, from one place.
func readSource(ctx context.Context, env Env, src source) (personaSource, error) {
	b, err := src.loadBundle(ctx, env)
	if err != nil {
		return personaSource{}, err
	}
	out := personaSource{bundle: b, floor: persona.DefaultFloor(), tracked: b.trackedPath(env)}
	if src.rev == "" {
		top, cfg, err := findConfig(env.Dir)
		if top != "" && src.dir == "" {
			out.floor = personaFloor(cfg)
		}
		return out, err
	}
	_, commit, files, err := src.openCommit(ctx, env)
	if err != nil || src.dir != "" {
		return out, err
	}
	out.commit = string(commit)
	cfg, err := committedConfig(files, src.rev)
	out.floor = personaFloor(cfg)
	return out, err
}

// compileRole compiles a role of the bundle, and refuses below the floor.
func (src personaSource) compileRole(role string) (persona.Persona, error) {
	p, err := persona.Compile(src.graph, role)
	if no := new(persona.NotRole); errors.As(err, &no) {
		no.Path = src.tracked(no.Path)
	}
	if err != nil {
		return p, asFault(err)
	}
	p.Commit = src.commit
	if short := p.Below(src.floor); len(short) > 0 {
		return p, src.belowFloor(p, short)
	}
	return p, nil
}

func personaFloor(c config.Config) persona.Floor {
	return persona.Floor{MinAtoms: c.Floor.Atoms, MinProcesses: c.Floor.Processes, MinGuides: c.Floor.Guides, MaxUnresolvedPct: c.Floor.UnresolvedPct}
}
