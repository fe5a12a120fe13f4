package object

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func FuzzTree(f *testing.F) {
	f.Add([]byte("100644 a\x0012345678901234567890"))
	f.Add([]byte("40000 d\x0012345678901234567890120000 l\x0012345678901234567890"))
	f.Add([]byte("100644 \x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parseTree(string(b))
		if err != nil {
			return
		}
		var out []byte
		for _, e := range l.entryRange(0, l.len()) {
			if out, err = appendEntry(out, e); err != nil {
				t.Fatal(err)
			}
			if i := l.find(e.Name); i < 0 || l.entryAt(i).Name != e.Name {
				t.Errorf("%q is not found", e.Name)
			}
		}
		again, err := parseTree(string(out))
		if err != nil || again.len() != l.len() {
			t.Errorf("%d entries became %d: %v", l.len(), again.len(), err)
		}
	})
}

// A tree that two readers would read as two histories is none.
func TestATreeThatReadsTwoWays(t *testing.T) {
	t.Parallel()
	const id = "12345678901234567890"
	for _, c := range []struct {
		entries []string
		ok      bool
	}{
		{[]string{"100644 a", "40000 b"}, true},
		{[]string{"100644 b", "100644 a"}, false}, // out of order
		{[]string{"40000 a", "100644 a-"}, false},
		{[]string{"100644 a-", "40000 a"}, true},
		{[]string{"100644 a", "100644 a"}, false},
		{[]string{"100644 a", "40000 a"}, false},
		{[]string{"100644 a", "100644 a-", "40000 a"}, false},
		{[]string{"100644 a", "100644 b", "100644 a"}, false},
		{[]string{"100644 a/b"}, false},
	} {
		raw := ""
		for _, e := range c.entries {
			raw += e + "\x00" + id
		}
		if _, err := parseTree(raw); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.entries, err)
		}
	}
}

// names are such that git's order of folders is not that of their names.
var names = strings.Fields("a a- a. a/b a0 b b.c b0 ab abc c- c c.d d z")

// drawn is a directory of some names, sorted by git's rule said anew here.
func drawn(r *rand.Rand) map[string]Entry {
	es := map[string]Entry{}
	for _, n := range names {
		if n = strings.ReplaceAll(n, "/", "_"); r.IntN(2) == 0 {
			es[n] = drawnEntry(r, n)
		}
	}
	return es
}

func drawnEntry(r *rand.Rand, name string) Entry {
	return Entry{[]string{ModeFile, ModeExec, ModeDir, ModeLink}[r.IntN(4)], name, OID(fmt.Sprintf("%040x", r.IntN(3)))}
}

func printed(t *testing.T, es map[string]Entry) []byte {
	t.Helper()
	list := slices.Collect(maps.Values(es))
	whole := func(e Entry) string { return e.Name + map[bool]string{true: "/"}[e.IsDir()] }
	slices.SortFunc(list, func(a, b Entry) int { return cmp.Compare(whole(a), whole(b)) })
	var b []byte
	for _, e := range list {
		var err error
		if b, err = appendEntry(b, e); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// An edited directory is what sorting all that it holds gives, and what differs between two is what their entries say.
func TestListingEdits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		was := drawn(r)
		l, err := parseTree(string(printed(t, was)))
		if err != nil || l.len() != len(was) {
			t.Fatalf("%v, %d of %d", err, l.len(), len(was))
		}
		for _, n := range names {
			want, ok := was[n]
			if i := l.find(n); (i >= 0) != ok || ok && l.entryAt(i) != want {
				t.Fatalf("%q found at %d in %q", n, i, l.raw)
			}
		}
		edits, is := map[string]Entry{}, maps.Clone(was)
		for _, n := range names {
			switch n = strings.ReplaceAll(n, "/", "_"); r.IntN(6) {
			case 0:
				edits[n] = Entry{}
				delete(is, n)
			case 1:
				edits[n] = drawnEntry(r, n)
				is[n] = edits[n]
			}
		}
		want := printed(t, is)
		got, err := l.applyEdits(edits)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v:\n%q with %v is\n%q, want\n%q", err, l.raw, edits, got, want)
		}
		to, err := parseTree(string(want))
		if err != nil {
			t.Fatal(err)
		}
		differs(t, l, to, was, is)
	}
}

func differs(t *testing.T, a, b listing, was, is map[string]Entry) {
	t.Helper()
	ea, eb := dropShared(a, b)
	had, has := maps.Clone(was), maps.Clone(is)
	for _, e := range ea {
		if had[e.Name] != e {
			t.Fatalf("%v was not there", e)
		}
		delete(had, e.Name)
		if slices.Contains(eb, e) {
			t.Fatalf("%v is the same on both sides", e)
		}
	}
	for _, e := range eb {
		if has[e.Name] != e {
			t.Fatalf("%v is not there", e)
		}
		delete(has, e.Name)
	}
	if !maps.Equal(had, has) {
		t.Fatalf("between\n%q and\n%q: left are %v and %v", a.raw, b.raw, had, has)
	}
}
