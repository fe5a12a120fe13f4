package drain

import (
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/persona/contract"
)

// A contract without an artifact has none: not the whole repository.
func TestNoArtifactIsNoFile(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"docs/a.md": {Data: []byte("a")}, "docs/b.md": {Data: []byte("b")}}
	d := &drain{}
	for artifact, want := range map[string]int{"": 0, "docs/a.md": 1, "docs": 2, "klappy://canon/x": 0} {
		got := d.artifacts(bound{Contract: contract.Contract{Artifact: artifact}}, files)
		if len(got) != want {
			t.Errorf("artifact %q: %d files, want %d", artifact, len(got), want)
		}
	}
}
