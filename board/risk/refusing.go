package risk

import (
	"slices"

	"github.com/odd-cli/odd/reconcile/irongate"
)

// forPerson are the hard findings about which a person may be of another mind:
// what a change does to code and to tests, which the person sees at the review.
// Every other hard finding sends the change back, or ends it.
func forPerson(f irongate.Finding) bool {
	return slices.Contains([]string{
		"function_body_collapsed", "guard_constant", "permission_loosened",
		"shell_exec_introduced", "dynamic_code_introduced", "generate_denied", "load_side_effect",
		"test_assertion_inverted", "test_assertion_weakened", "test_removed", "test_skipped", "test_main_bypass", "test_detected", "guard_fault",
	}, f.Code)
}

// Refusing are the findings that no person is asked about, soft ones among them.
func Refusing(all []irongate.Finding) []irongate.Finding {
	return slices.DeleteFunc(slices.Clone(all), forPerson)
}
