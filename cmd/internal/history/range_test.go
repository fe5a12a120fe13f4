package history

import "testing"

func TestProgressIsTenLinesAtMost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		all, lines int
		live       bool
	}{{499, 0, false}, {2500, 5, false}, {52_024, 9, false}, {52_024, 104, true}} {
		if got := test.all / tellEvery(test.all, test.live); got != test.lines {
			t.Errorf("%d commits: %d lines, want %d", test.all, got, test.lines)
		}
	}
}
