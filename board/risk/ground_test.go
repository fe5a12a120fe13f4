package risk

import (
	"slices"
	"testing"
)

// A change does not write what is to judge it; what a check only reads it may.
func TestPrograms(t *testing.T) {
	t.Parallel()
	got := programs([][]string{{"sh", "./check.sh"}, {"python3", "tool/lint.py", "x"}, {"./bin/run"}, {"sh", "-c", "true"}, {"/bin/true"}, {"grep", "-q", "x", "tool/a.txt"}, {"go", "test"}, {"sh", "check.sh"}})
	if want := []string{"bin/run", "check.sh", "tool/lint.py"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
