package object

import (
	"compress/zlib"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is remembered of a directory that was written is what reading it gives, in git's order.
func TestRecentIsWhatIsWritten(t *testing.T) {
	t.Parallel()
	r, first := fresh(t, "a-", "1", "a/b", "2", "a0", "3", "c/d/e", "4")
	tree, err := r.TreeOID(first, "")
	if err != nil {
		t.Fatal(err)
	}
	next, err := r.WriteTree(t.Context(), tree, Changes{"a.": []byte("5"), "a/c": []byte("6"), "a-": nil})
	if err != nil {
		t.Fatal(err)
	}
	for _, oid := range []OID{tree, next} {
		read, err := readTree(r.objs, oid)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // read or written, then remembered
			had, err := r.readTree(oid)
			if err != nil || had.raw != read.raw || !slices.Equal(had.starts, read.starts) {
				t.Errorf("%s: %v %v, want %v", oid, had, err, read)
			}
		}
	}
	if _, ok := r.trees.get(next); !ok {
		t.Error("a tree that was written is forgotten")
	}
}

// Directories that are asked for stay; those that nobody asks for are forgotten.
func TestKeptForgets(t *testing.T) {
	t.Parallel()
	m := boundedCache[OID, listing]{most: keptEntries}
	l := listing{starts: make([]uint32, keptEntries/4)}
	var left []string
	for _, oid := range strings.Split("abcdefghijklmnop", "") {
		m.put(OID(oid), l, 1+l.len())
		m.get("a")
	}
	for _, oid := range strings.Split("abcdefghijklmnop", "") {
		if _, ok := m.get(OID(oid)); ok {
			left = append(left, oid)
		}
	}
	if len(left) > 11 || left[0] != "a" || !slices.Contains(left, "p") {
		t.Errorf("left is %v", left)
	}
}

// An object that git or odd wrote is read as git reads it; a damaged one is not read.
func TestReadLoose(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("a long text, ", 9999))
	var f strings.Builder
	if err := deflate(&f, "blob", text); err != nil {
		t.Fatal(err)
	}
	whole := f.String()
	for range 2 {
		o, err := inflate(strings.NewReader(whole))
		if err != nil || o.kind != "blob" || cmp.Diff(string(text), string(o.data)) != "" {
			t.Errorf("%s of %d bytes, %v", o.kind, len(o.data), err)
		}
	}
	for name, bad := range map[string]string{
		"nothing":       "",
		"cut":           whole[:len(whole)/2],
		"without a sum": whole[:len(whole)-4],
		"a wrong sum":   whole[:len(whole)-4] + "sum!",
		"no zlib":       "blob 1\x00a",
		"too short":     zlibbed(t, "blob 3\x00a"),
		"too long":      zlibbed(t, "blob 1\x00abc"),
		"no size":       zlibbed(t, "blob\x00a"),
		"no header":     zlibbed(t, strings.Repeat("x", 1<<16)),
		"huge":          zlibbed(t, "blob 9223372036854775807\x00a"),
	} {
		if o, err := inflate(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: read as a %s of %d bytes", name, o.kind, len(o.data))
		}
	}
}

func FuzzInflate(f *testing.F) {
	f.Add([]byte("blob 1\x00a"))
	f.Add([]byte("tree 0\x00"))
	f.Add([]byte("commit 99\x00a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := inflate(strings.NewReader(zlibbed(t, string(b))))
		if err == nil && !strings.HasSuffix(string(b), "\x00"+string(o.data)) {
			t.Errorf("%q was read as a %s %q", b, o.kind, o.data)
		}
		_, _ = inflate(strings.NewReader(string(b)))
	})
}

// zlibbed is text as zlib has it.
func zlibbed(t *testing.T, text string) string {
	t.Helper()
	var f strings.Builder
	z := zlib.NewWriter(&f)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return f.String()
}
