package knowledge_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/knowledge"
)

func TestArchivesUnpack(t *testing.T) {
	t.Parallel()
	for name, files := range map[string][]knowledge.File{"starter": knowledge.Starter(), "demo": knowledge.Demo()} {
		seen := fstest.MapFS{}
		for _, f := range files {
			if !fs.ValidPath(f.Path) || path.IsAbs(f.Path) {
				t.Errorf("%s: %q is not a path below a repository", name, f.Path)
			}
			if seen[f.Path] != nil {
				t.Errorf("%s: %s is there twice", name, f.Path)
			}
			if !strings.HasSuffix(string(f.Data), "\n") || strings.HasSuffix(string(f.Data), "\n\n") {
				t.Errorf("%s: %s does not end in one newline", name, f.Path)
			}
			seen[f.Path] = &fstest.MapFile{Data: f.Data}
		}
		for _, want := range []string{"knowledge/index.md"} {
			if seen[want] == nil {
				t.Errorf("%s: no %s", name, want)
			}
		}
		if seen["odd.toml"] != nil {
			t.Errorf("%s: odd.toml is written from the configuration's template", name)
		}
	}
}
