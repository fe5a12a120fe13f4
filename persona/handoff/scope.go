package handoff

import (
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/reconcile/policy"
)

// OutOfScope returns a finding for each changed path that the session's handoffs do not
// allow. For a resolver these are files that no finding names; with a plan, files outside
// its scope_in. Handoffs that name no file allow all.
func OutOfScope(role contract.Role, from []Handoff, changed []string) (out []policy.Finding) {
	f := policy.Finding{Code: "beyond_plan", Severity: policy.Hard, How: policy.ByBytes, Text: "the plan of the handoff does not name this file",
		Fix: "change only what scope_in of the plan names; a person can give the task a wider plan: odd task edit TASK --handoff PLAN"}
	var scope []string
	for _, h := range from {
		if p := h.Deliverable.Plan; p != nil {
			if in := filesIn(p.ScopeIn); len(in) > 0 {
				scope = append(append(scope, in...), filesIn([]string{p.Artifact})...)
			}
		}
		if r := h.Deliverable.Findings; r != nil && role == contract.Resolver {
			f.Code, f.Text, f.Fix = "beyond_findings", "no finding of the handoff is about this file", "change only what the findings name; a new problem is a new task"
			scope = append(scope, filesIn([]string{r.Artifact})...)
			for _, one := range r.Findings {
				scope = append(scope, filesIn([]string{one.Location})...)
			}
		}
	}
	for _, p := range changed {
		if len(scope) > 0 && !slices.ContainsFunc(scope, func(s string) bool { return policy.MatchAnyGlob([]string{s, s + "/**"}, p) }) {
			f.Path = p
			out = append(out, f)
		}
	}
	return out
}

// filesIn returns the paths and globs among what a handoff names, without lines.
func filesIn(all []string) (out []string) {
	for _, s := range all {
		s, _, _ = strings.Cut(s, ":")
		if s = strings.TrimSuffix(s, "/"); s != "" && !strings.ContainsAny(s, " \t") && (strings.Contains(s, "/") || path.Ext(s) != "") {
			out = append(out, s)
		}
	}
	return out
}
