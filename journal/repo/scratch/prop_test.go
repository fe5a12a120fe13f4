package scratch

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/repotest"
)

// Whatever is done to the files, what Edits reads makes the tree that git's own
// add -A -f makes with a git directory and an index beside the work tree.
func TestScratchEditsAreGits(t *testing.T) {
	t.Parallel()
	files := []string{"a", "1\n", "b/c", "2\n", "b/d/e", "3\n", "x.sh", "#!\n", "crlf", "a\r\nb\r\n", "f/g", ""}
	r, base := fresh(t, files...)
	s := scratch(t, r, base)
	beside := t.TempDir()
	repotest.Git(t, beside, "init", "-q", "--bare", ".")
	names := []string{"a", "b", "b/c", "b/d", "b/d/e", "x.sh", "crlf", "f", "f/g", "new", "new/er", "-n", "sp ace", "ü", "b/[x]", ".gitignore", "f/.hidden"}
	rapid.Check(t, func(rt *rapid.T) {
		for _, name := range append(names, "nothing") {
			if err := os.RemoveAll(filepath.Join(s.Tree(), name)); err != nil {
				rt.Fatal(err)
			}
		}
		repotest.Write(t, s.Tree(), files...)
		for n := rapid.IntRange(0, 4).Draw(rt, "acts"); n >= 0; n-- {
			act(rt, filepath.Join(s.Tree(), rapid.SampledFrom(names).Draw(rt, "path")))
		}
		es, err := s.Edits(context.Background(), DefaultLimits())
		if err != nil {
			rt.Fatal(err)
		}
		oid, err := r.MakeEdits(context.Background(), []repo.OID{base}, es.Files, agent, "m")
		if err != nil {
			rt.Fatal(err)
		}
		want, err := repotest.Shell(s.Tree(), `export GIT_DIR="`+beside+`" GIT_WORK_TREE="$PWD"; rm -f "$GIT_DIR/index"; git add -A -f && git write-tree`)
		if err != nil {
			rt.Fatal(want)
		}
		if c, err := r.Commit(oid); err != nil || string(c.Tree)+"\n" != want {
			rt.Fatalf("got tree %s, git has %s, %v: %v", c.Tree, want, err, told(es))
		}
	})
}

// act does one thing to a path, where it can be done.
func act(rt *rapid.T, p string) {
	switch rapid.SampledFrom([]string{"write", "remove", "mode", "ignore"}).Draw(rt, "act") {
	case "write":
		if os.MkdirAll(filepath.Dir(p), 0o755) == nil {
			_ = os.WriteFile(p, []byte(rapid.SampledFrom([]string{"", "1\n", "2\n", "a\r\n", "$Id$\n\x00"}).Draw(rt, "bytes")), 0o644)
		}
	case "remove":
		_ = os.RemoveAll(p)
	case "mode":
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
			_ = os.Chmod(p, rapid.SampledFrom([]os.FileMode{0o755, 0o644}).Draw(rt, "mode"))
		}
	case "ignore":
		_ = os.WriteFile(filepath.Join(filepath.Dir(p), ".gitignore"), []byte("*\n"), 0o644)
	}
}
