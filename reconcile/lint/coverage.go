package lint

import (
	"fmt"

	"github.com/odd-cli/odd/reconcile/policy"
)

// checkCoverage compares a change with what was asked for: each target is in it with
// its content, and nothing else is, where the policy says what may be. A target
// that the base holds may be deleted; that is for other rules to judge.
func checkCoverage(files []File, p Options) []policy.Finding {
	has := map[string]bool{}
	for _, f := range files {
		has[f.Path] = f.Before != nil || f.After != nil
	}
	var out []policy.Finding
	for _, t := range p.Targets {
		if !has[t] {
			out = append(out, newFinding("coverage_missing", policy.ByBytes, t, 0, fmt.Sprintf("the change must contain %q with its content, and does not", t)))
		}
	}
	for _, f := range files {
		if len(p.Paths) > 0 && !policy.MatchAnyGlob(p.Paths, f.Path) {
			out = append(out, newFinding("coverage_outside", policy.ByBytes, f.Path, 0, fmt.Sprintf("%q is outside of the task's paths", f.Path)))
		}
	}
	return out
}

// checkEntries judges what a change says about one file before it is read.
func checkEntries(_ *change, d *delta) []policy.Finding {
	switch {
	case d.Before == nil && d.After == nil:
		return d.oneFinding("file_without_content", policy.ByBytes, 0, "has no content, neither before nor after the change")
	case d.Before != nil && d.After != nil && string(d.Before) == string(d.After):
		return d.oneFinding("file_unchanged", policy.ByBytes, 0, "is unchanged")
	}
	return nil
}
