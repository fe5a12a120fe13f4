package audit

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/handoff"
	"github.com/odd-cli/odd/persona/invoke"
)

// Rules are what a change is judged by: the bundle at the change's base, and
// where that lies in the repository.
type Rules struct {
	Graph *okf.Graph
	Root  string
}

// Canon is what governs: every document of canon that is in force, with its text,
// in order of path.
func (r Rules) Canon() []invoke.Ref {
	var out []invoke.Ref
	for _, a := range r.Graph.Atoms() {
		if !isGoverning(a) || a.Status == "deprecated" || a.Status == "draft" {
			continue
		}
		if res, err := r.Graph.Resolve(string(a.ID)); err == nil && !slices.Contains(res.InForce, a) {
			continue
		}
		out = append(out, invoke.Ref{URI: a.URI, Path: path.Join(r.Root, a.Path), Blob: a.Blob, Title: a.Title, Text: a.Body()})
	}
	return out
}

func isGoverning(a *okf.Atom) bool {
	return slices.Contains([]string{"canon", "constraint", "principle", "method", "definition"}, strings.ToLower(a.Type))
}

// Prompts are the texts of the contract's system prompts by name@version: the
// base's, because what a session would fetch may be the change's.
func (r Rules) Prompts(c contract.Contract) map[string][]byte {
	out := map[string][]byte{}
	for _, p := range personProfiles(c) {
		if a := r.atomNamed(p.SystemPromptURI); a != nil {
			out[p.Ref()] = a.Body()
		}
	}
	return out
}

func personProfiles(c contract.Contract) []*contract.Profile {
	return slices.DeleteFunc(append([]*contract.Profile{c.Persona}, c.Participants...), func(p *contract.Profile) bool { return p == nil })
}

func (r Rules) atomNamed(uri string) *okf.Atom {
	if uri == "" {
		return nil
	}
	res, err := r.Graph.Resolve(uri)
	if err != nil {
		return nil
	}
	return res.Atom
}

// Own reports a file of odd's own records: a journal, a ledger, proposals or a
// handoff of the bundle, by folder, depth and extension. text is the file's, at
// the end of the change or, where that took it away, at its beginning: what lies
// among the handoffs and is none, canon say, is no record.
func (r Rules) Own(file string, text []byte) bool {
	file, ok := strings.CutPrefix(path.Clean(file), path.Clean(r.Root)+"/")
	if path.Clean(r.Root) == "." {
		file, ok = path.Clean(file), true
	}
	if !ok {
		return false
	}
	for _, pattern := range []string{"journal/*.tsv", "ledger/*/*.jsonl", "proposals/*.jsonl"} {
		if is, _ := path.Match(pattern, file); is {
			return true
		}
	}
	if is, _ := path.Match("handoffs/*.md", file); !is {
		return false
	}
	a, err := okf.Parse(file, text)
	return err == nil && a.Type == handoff.Type
}

// Touched lists what of the rules the change would alter, in order: the
// profiles, their prompts and brand disciplines, canon, odd.toml and workflows.
// The change is judged by the base's versions of them.
func (r Rules) Touched(c Change, by contract.Contract) []string {
	what := map[string]string{"odd.toml": "odd's configuration", "action.yml": "the action"}
	for _, ref := range r.Canon() {
		what[ref.Path] = "canon"
	}
	for _, p := range personProfiles(by) {
		what[path.Join(r.Root, p.Path)] = "the profile " + p.Ref()
		for _, of := range [][2]string{{"the brand discipline of ", p.BrandDiscipline}, {"the prompt of ", p.SystemPromptURI}} {
			if a := r.atomNamed(of[1]); a != nil {
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
