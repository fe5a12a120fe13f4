package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/odd-cli/odd/reconcile/policy"
)

// checkStale compares the blob ids that a change was made from with those where it
// would land: a path that one of the two does not hold was not there. A file the
// change writes that has moved refuses it, for its content was made from
// another; one that was only read means that the change must be judged again.
// A path that was written and is in neither is new in both, and not stale.
func checkStale(files []File, then, now map[string]string) []policy.Finding {
	if then == nil && now == nil {
		return nil
	}
	written := map[string]bool{}
	paths := map[string]bool{}
	for _, f := range files {
		written[f.Path], paths[f.Path] = true, true
	}
	for p := range then {
		paths[p] = true
	}
	var out []policy.Finding
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		code := "stale_read"
		if written[p] {
			code = "stale_written"
		}
		if then[p] != now[p] {
			out = append(out, newFinding(code, policy.ByBytes, p, 0, fmt.Sprintf("changed since the agent read it: blob %s then, %s now", describeBlob(then[p]), describeBlob(now[p]))))
		}
	}
	return out
}

func describeBlob(id string) string { return cmp.Or(id[:min(len(id), 12)], "absent") }
