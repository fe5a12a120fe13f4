package repo

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReaderFinds(t *testing.T) {
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
	x := r.Reader()
	for range 2 { // read, then remembered
		for _, f := range []struct {
			at        OID
			path      string
			oid, mode string
		}{
			{c, "a/b/file", string(blob), modeFile},
			{c, "a/b", string(dir), modeDir},
			{dir, "file", string(blob), modeFile},
			{c, "a/b/file/below", "", ""},
			{c, "a/none", "", ""},
			{c, "", "", ""},
			{"", "a", "", ""},
		} {
			oid, mode, err := x.Find(f.at, f.path)
			if err != nil || string(oid) != f.oid || mode != f.mode {
				t.Errorf("Find %q: %s %s %v, want %s %s", f.path, mode, oid, err, f.mode, f.oid)
			}
		}
	}
	if _, _, err := x.Find(blob, "a"); err == nil {
		t.Error("found something in a blob")
	}
}

// A Reader that forgets between any two directories reads the same differences.
func TestReaderForgets(t *testing.T) {
	t.Parallel()
	r, first := fresh(t, "a/b/c", "1", "a/b/d", "1", "e", "1", "x/y", "1")
	at := first
	x := r.Reader()
	for i := range 6 {
		next, err := r.Make(t.Context(), []OID{at}, Changes{"a/b/d": []byte(fmt.Sprint(i)), fmt.Sprintf("n/%d", i): []byte("new"), "x/y": nil}, agent, "change")
		if err != nil {
			t.Fatal(err)
		}
		want, err := r.Diff(t.Context(), at, next)
		if err != nil {
			t.Fatal(err)
		}
		x.trees.weight = readerEntries + 1
		got, err := x.Diff(t.Context(), at, next)
		if d := cmp.Diff(want, got); err != nil || d != "" || len(want) < 2 {
			t.Fatal(i, err, d)
		}
		at = next
	}
}
