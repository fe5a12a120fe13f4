package repo

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What odd writes, git reads, under the id git gives it; what is there is not written again but kept from a gc.
func TestLooseObjects(t *testing.T) {
	r, _ := fresh(t)
	for _, data := range [][]byte{nil, []byte("a\n"), bytes.Repeat([]byte("long "), 100_000)} {
		oid := must[OID](t)(r.objs.put("blob", data))
		file := filepath.Join(r.common, "objects", string(oid[:2]), string(oid[2:]))
		old := time.Now().Add(-30 * 24 * time.Hour)
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
		before := must[os.FileInfo](t)(os.Stat(file))
		eq(t, "again", must[OID](t)(r.objs.put("blob", data)), oid)
		after := must[os.FileInfo](t)(os.Stat(file))
		eq(t, "the same file", os.SameFile(before, after), true)
		eq(t, "young", time.Since(after.ModTime()) < time.Hour, true)
		git(t, r.root, "prune", "--expire=1.day.ago")
		write(t, r.root, "want", string(data))
		eq(t, "id", string(oid), git(t, r.root, "hash-object", "want"))
		eq(t, "kind", git(t, r.root, "cat-file", "-t", string(oid)), "blob")
	}
	git(t, r.root, "fsck", "--strict")
	eq(t, "temporaries", len(must[[]string](t)(filepath.Glob(filepath.Join(r.common, "objects", "??", "tmp*")))), 0)
}
