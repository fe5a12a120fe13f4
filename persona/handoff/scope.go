package handoff

import (
	"path"
	"strings"

	"github.com/odd-cli/odd/persona/contract"
)

// Scope are the paths and globs of the files that the handoffs of a session name as what
// it is about, none where they name none. only tells that nothing else may be changed: a
// resolver mends what the findings are about. Of a plan the reviewer is told.
func Scope(role contract.Role, from []Handoff) (scope []string, only bool) {
	for _, h := range from {
		if p := h.Deliverable.Plan; p != nil {
			if in := filesIn(p.ScopeIn); len(in) > 0 {
				scope = append(append(scope, in...), filesIn([]string{p.Artifact})...)
			}
		}
		if r := h.Deliverable.Findings; r != nil && role == contract.Resolver {
			only = true
			scope = append(scope, filesIn([]string{r.Artifact})...)
			for _, one := range r.Findings {
				scope = append(scope, filesIn([]string{one.Location})...)
			}
		}
	}
	return scope, only && len(scope) > 0
}

// filesIn are the paths and globs of files among what a handoff names, without lines.
func filesIn(all []string) (out []string) {
	for _, s := range all {
		s, _, _ = strings.Cut(s, ":")
		if s = strings.TrimSuffix(s, "/"); s != "" && !strings.ContainsAny(s, " \t") && (strings.Contains(s, "/") || path.Ext(s) != "") {
			out = append(out, s)
		}
	}
	return out
}
