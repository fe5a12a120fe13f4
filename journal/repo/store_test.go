package repo

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What was written is read again as it was, whatever becomes of the bytes that were
// handed in or out, and nothing long is remembered.
func TestWrittenLast(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a.txt", "one\n")
	b := []byte("two\n")
	oid := must[OID](t)(r.WriteBlob(b))
	b[0] = 'x'
	tree := must[fs.FS](t)(r.Tree(must[OID](t)(r.Make(t.Context(), nil, changes("two.txt", "two\n"), agent, "x"))))
	again := must[[]byte](t)(fs.ReadFile(tree, "two.txt"))
	eq(t, "read again", string(again), "two\n")
	again[0] = 'y'
	eq(t, "read once more", string(must[[]byte](t)(r.Blob(oid))), "two\n")
	eq(t, "git reads", git(t, r.Root(), "cat-file", "-p", string(oid)), "two")

	empty := must[OID](t)(r.WriteBlob(nil))
	if kind, data, err := r.objs.get(empty); kind != "blob" || len(data) != 0 || err != nil {
		t.Errorf("the empty blob reads as a %q of %d bytes, %v", kind, len(data), err)
	}
	last := &r.objs.(*packStore).last
	long := must[OID](t)(r.WriteBlob(make([]byte, lastBytes/2+1)))
	if _, ok := last.get(long); ok {
		t.Error("an object is remembered that is too long")
	}
	if _, ok := last.get(oid); !ok {
		t.Error("what was written last is forgotten")
	}
	eq(t, "the long one", len(must[[]byte](t)(r.Blob(long))), lastBytes/2+1)
}

// What a file says need not be unpacked where a commit says the same, and what it
// says besides is in no commit.
func TestKnow(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "odd.toml", "same\n")
	git(t, r.Root(), "gc", "-q")
	same, other := []byte("same\n"), []byte("other\n")
	r.Know(same)
	r.Know(other)
	same[0] = 'g'
	packs := filepath.Join(r.common, "objects", "pack")
	if err := os.Rename(packs, packs+".away"); err != nil {
		t.Fatal(err)
	}
	oid := OID(git(t, r.Root(), "hash-object", "odd.toml"))
	eq(t, "known", string(must[[]byte](t)(r.Blob(oid))), "same\n")
	if err := os.Rename(packs+".away", packs); err != nil {
		t.Fatal(err)
	}
	tree := must[fs.FS](t)(r.Tree(must[OID](t)(r.Ref("HEAD"))))
	eq(t, "in the commit", string(must[[]byte](t)(fs.ReadFile(tree, "odd.toml"))), "same\n")
	large := strings.Repeat("x", knownBytes+1)
	r.Know([]byte(large))
	write(t, r.Root(), "large", large)
	if _, ok := r.objs.(*packStore).last.get(OID(git(t, r.Root(), "hash-object", "large"))); ok {
		t.Error("a large file is remembered")
	}
}
