package object

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// What odd writes, git reads, under the id git gives it; what is there is not written again but kept from a gc.
func TestLooseObjects(t *testing.T) {
	r, _ := fresh(t)
	for _, data := range [][]byte{nil, []byte("a\n"), bytes.Repeat([]byte("long "), 100_000)} {
		oid := repotest.Must[OID](t)(r.objs.put("blob", data))
		file := filepath.Join(r.common, "objects", string(oid[:2]), string(oid[2:]))
		old := time.Now().Add(-30 * 24 * time.Hour)
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
		before := repotest.Must[os.FileInfo](t)(os.Stat(file))
		repotest.Eq(t, "again", repotest.Must[OID](t)(r.objs.put("blob", data)), oid)
		after := repotest.Must[os.FileInfo](t)(os.Stat(file))
		repotest.Eq(t, "the same file", os.SameFile(before, after), true)
		repotest.Eq(t, "young", time.Since(after.ModTime()) < time.Hour, true)
		repotest.Git(t, r.root, "prune", "--expire=1.day.ago")
		repotest.Write(t, r.root, "want", string(data))
		repotest.Eq(t, "id", string(oid), repotest.Git(t, r.root, "hash-object", "want"))
		repotest.Eq(t, "kind", repotest.Git(t, r.root, "cat-file", "-t", string(oid)), "blob")
	}
	repotest.Git(t, r.root, "fsck", "--strict")
	repotest.Eq(t, "temporaries", len(repotest.Must[[]string](t)(filepath.Glob(filepath.Join(r.common, "objects", "??", "tmp*")))), 0)
}
