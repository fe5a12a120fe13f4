package audit

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/invoke"
)

// Rules are what a change is judged by: the bundle at the change's base, and
// where that lies in the repository.
type Rules struct {
	Graph *okf.Graph
	Root  string
}

// Canon is what governs: every document of canon that is in force, in order of
// path.
func (r Rules) Canon() []invoke.Ref {
	var out []invoke.Ref
	for _, a := range r.Graph.Atoms() {
		if !governs(a) || a.Status == "deprecated" || a.Status == "draft" {
			continue
		}
		if res, err := r.Graph.Resolve(string(a.ID)); err == nil && !slices.Contains(res.InForce, a) {
			continue
		}
		out = append(out, invoke.Ref{URI: a.URI, Path: path.Join(r.Root, a.Path), Blob: a.Blob, Title: a.Title})
	}
	return out
}

func governs(a *okf.Atom) bool {
	return slices.Contains([]string{"canon", "constraint", "principle", "method", "definition"}, strings.ToLower(a.Type))
}

// Prompts are the texts of the contract's system prompts by name@version: the
// base's, because what a session would fetch may be the change's.
func (r Rules) Prompts(c contract.Contract) map[string][]byte {
	out := map[string][]byte{}
	for _, p := range people(c) {
		if a := r.named(p.SystemPromptURI); a != nil {
			out[p.Ref()] = a.Body()
		}
	}
	return out
}

func people(c contract.Contract) []*contract.Profile {
	return slices.DeleteFunc(append([]*contract.Profile{c.Persona}, c.Participants...), func(p *contract.Profile) bool { return p == nil })
}

func (r Rules) named(uri string) *okf.Atom {
	if uri == "" {
		return nil
	}
	res, err := r.Graph.Resolve(uri)
	if err != nil {
		return nil
	}
	return res.Atom
}

// Touched lists what of the rules the change would alter, in order: the
// profiles, their prompts and brand disciplines, canon, odd.toml and workflows.
// The change is judged by the base's versions of them.
func (r Rules) Touched(c Change, by contract.Contract) []string {
	what := map[string]string{"odd.toml": "odd's configuration", "action.yml": "the action"}
	for _, ref := range r.Canon() {
		what[ref.Path] = "canon"
	}
	for _, p := range people(by) {
		what[path.Join(r.Root, p.Path)] = "the profile " + p.Ref()
		for _, of := range [][2]string{{"the brand discipline of ", p.BrandDiscipline}, {"the prompt of ", p.SystemPromptURI}} {
			if a := r.named(of[1]); a != nil {
				what[path.Join(r.Root, a.Path)] = of[0] + p.Ref()
			}
		}
	}
	var out []string
	for _, f := range c.Files {
		name := what[f.Path]
		if strings.HasPrefix(f.Path, ".github/workflows/") {
			name = "a workflow"
		}
		if name != "" {
			out = append(out, f.Path+": "+name)
		}
	}
	return out
}
