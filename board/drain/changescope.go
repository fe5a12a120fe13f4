package drain

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/reconcile/irongate"
)

// beyond are the files of a candidate that the handoffs of its session do not name. Of a
// plan whose scope names paths that is told to the person who reviews; what a resolver
// changes besides the places of the findings is refused.
func (ch *change) beyond(c pipeline.Candidate) (out []irongate.Finding) {
	f := irongate.Finding{Code: "beyond_plan", Severity: irongate.Soft, How: irongate.ByBytes, Text: "the plan that this was made from does not name the file", Fix: "review it with that in mind"}
	var scope []string
	for _, h := range ch.w.bound.handoffs {
		if p := h.Deliverable.Plan; p != nil {
			if in := places(p.ScopeIn); len(in) > 0 {
				scope = append(append(scope, in...), places([]string{p.Artifact})...)
			}
		}
		if r := h.Deliverable.Findings; r != nil && ch.w.bound.Role == contract.Resolver {
			f.Code, f.Severity, f.Text, f.Fix = "beyond_findings", irongate.Hard, "no finding of the handoff is about the file", "change only what the findings name; a new problem is a new task"
			scope = append(scope, places([]string{r.Artifact})...)
			for _, one := range r.Findings {
				scope = append(scope, places([]string{one.Location})...)
			}
		}
	}
	for _, p := range c.Paths() {
		if len(scope) > 0 && !slices.ContainsFunc(scope, func(s string) bool { return irongate.MatchAny([]string{s, s + "/**"}, p) }) {
			f.Path = p
			out = append(out, f)
		}
	}
	return out
}

// places are the paths and globs of files among what a handoff names, without lines.
func places(all []string) (out []string) {
	for _, s := range all {
		s, _, _ = strings.Cut(s, ":")
		if s = strings.TrimSuffix(s, "/"); s != "" && !strings.ContainsAny(s, " \t") && (strings.Contains(s, "/") || path.Ext(s) != "") {
			out = append(out, s)
		}
	}
	return out
}
