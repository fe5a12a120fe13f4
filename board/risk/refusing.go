package risk

import (
	"slices"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/reconcile/policy"
)

// isForPerson are the hard findings about which a person may be of another mind:
// what a change does to code, which the person sees at the review.
func isForPerson(f policy.Finding) bool {
	return slices.Contains([]string{
		"function_body_collapsed", "guard_constant", "permission_loosened",
		"shell_exec_introduced", "dynamic_code_introduced", "generate_denied", "load_side_effect", "guard_fault",
	}, f.Code)
}

// Refusing are the findings of a change that no person is asked about, soft ones among them:
// they send the change back, or end it. A test that vouches for less than it did
// is one, unless a person filed the task and named that very file in its paths;
// then a person sees it at the review.
func (g *Ground) Refusing(all []policy.Finding) []policy.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f policy.Finding) bool {
		asked := g.all.Filed == pipeline.FiledByPerson && slices.Contains(g.all.Scope, f.Path)
		return isForPerson(f) || asked && pipeline.WeakensTests(f.Code)
	})
}
