package drain

import (
	"slices"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/persona/handoff"
	"github.com/odd-cli/odd/reconcile/irongate"
)

// beyond are the files of a candidate that the handoffs of its session do not name. Of a
// plan whose scope names paths that is told to the person who reviews; what a resolver
// changes besides the places of the findings is refused.
func (ch *change) beyond(c pipeline.Candidate) (out []irongate.Finding) {
	f := irongate.Finding{Code: "beyond_plan", Severity: irongate.Soft, How: irongate.ByBytes, Text: "the plan that this was made from does not name the file", Fix: "review it with that in mind"}
	scope, only := handoff.Scope(ch.w.bound.Role, ch.w.bound.handoffs)
	if only {
		f.Code, f.Severity, f.Text, f.Fix = "beyond_findings", irongate.Hard, "no finding of the handoff is about the file", "change only what the findings name; a new problem is a new task"
	}
	for _, p := range c.Paths() {
		if len(scope) > 0 && !slices.ContainsFunc(scope, func(s string) bool { return irongate.MatchAny([]string{s, s + "/**"}, p) }) {
			f.Path = p
			out = append(out, f)
		}
	}
	return out
}
