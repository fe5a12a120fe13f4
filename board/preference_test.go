package board_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/board"
)

// TestForbiddenPaths: only what a prohibition names and the board has, and never odd's own folder.
func TestForbiddenPaths(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"docs/api/a.md": {}, "docs/b.md": {}, "knowledge/x.md": {}, "go.mod": {}}
	for text, want := range map[string][]string{
		"Never touch docs/api, please.":              {"docs/api/**"},
		"Prefer tables.\n- don't edit docs/b.md":     {"docs/b.md"},
		"Do not change `go.mod` or `docs/api/a.md`.": {"go.mod", "docs/api/a.md"},
		"never touch docs":                           nil, // also a word
		"Never touch knowledge/ or docs/gone":        nil,
		"Read docs/b.md":                             nil,
	} {
		if got := board.ForbiddenPaths(text, files, "knowledge"); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
