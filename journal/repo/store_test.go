package repo

import "testing"

// What was written is read again as it was, whatever becomes of the bytes that were
// handed in or out, and nothing long is remembered.
func TestWrittenLast(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a.txt", "one\n")
	b := []byte("two\n")
	oid := must[OID](t)(r.WriteBlob(b))
	b[0] = 'x'
	again := must[[]byte](t)(r.Blob(oid))
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
