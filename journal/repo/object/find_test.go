package object

import (
	"testing"
)

func TestFind(t *testing.T) {
	t.Parallel()
	r, c := fresh(t, "a/b/file", "one", "a/link", "two", "top", "three")
	dir, err := r.TreeOID(c, "a/b")
	if err != nil {
		t.Fatal(err)
	}
	blob, err := r.WriteBlob([]byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // read, then remembered
		for _, f := range []struct {
			at        OID
			path      string
			oid, mode string
		}{
			{c, "a/b/file", string(blob), ModeFile},
			{c, "a/b", string(dir), ModeDir},
			{dir, "file", string(blob), ModeFile},
			{c, "a/b/file/below", "", ""},
			{c, "a/none", "", ""},
			{c, "", "", ""},
			{"", "a", "", ""},
		} {
			oid, mode, err := r.Find(f.at, f.path)
			if err != nil || string(oid) != f.oid || mode != f.mode {
				t.Errorf("Find %q: %s %s %v, want %s %s", f.path, mode, oid, err, f.mode, f.oid)
			}
		}
	}
	if _, _, err := r.Find(blob, "a"); err == nil {
		t.Error("found something in a blob")
	}
}
