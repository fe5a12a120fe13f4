package repo

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
	f.Add([]byte("100644 a\x0012345678901234567890"), 20)
	f.Add([]byte("40000 d\x0012345678901234567890120000 l\x0012345678901234567890"), 20)
	f.Add([]byte("100644 \x00"), 32)
	f.Fuzz(func(t *testing.T, b []byte, idLen int) {
		if idLen != 20 && idLen != 32 {
			return
		}
		l, err := parseTree(string(b), idLen)
		if err != nil {
			return
		}
		var out []byte
		for _, e := range l.entryRange(0, l.len()) {
			if out, err = appendEntry(out, e); err != nil {
				t.Fatal(err)
			}
			if i := l.find(e.name); i < 0 || l.entryAt(i).name != e.name {
				t.Errorf("%q is not found", e.name)
			}
		}
		again, err := parseTree(string(out), idLen)
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
		{[]string{"100644 b", "100644 a"}, true}, // out of order, which some old programs wrote
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
		if _, err := parseTree(raw, len(id)); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.entries, err)
		}
	}
}

// names are such that git's order of folders is not that of their names.
var names = strings.Fields("a a- a. a/b a0 b b.c b0 ab abc c- c c.d d z")

// drawn is a directory of some names, sorted by git's rule said anew here.
func drawn(r *rand.Rand) map[string]entry {
	es := map[string]entry{}
	for _, n := range names {
		if n = strings.ReplaceAll(n, "/", "_"); r.IntN(2) == 0 {
			es[n] = drawnEntry(r, n)
		}
	}
	return es
}

func drawnEntry(r *rand.Rand, name string) entry {
	return entry{[]string{modeFile, modeExec, modeDir, modeLink}[r.IntN(4)], name, OID(fmt.Sprintf("%040x", r.IntN(3)))}
}

func printed(t *testing.T, es map[string]entry) []byte {
	t.Helper()
	list := slices.Collect(maps.Values(es))
	whole := func(e entry) string { return e.name + map[bool]string{true: "/"}[e.isDir()] }
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(whole(a), whole(b)) })
	var b []byte
	for _, e := range list {
		var err error
		if b, err = appendEntry(b, e); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// An edited directory is what sorting all that it holds gives, whatever order the
// old one was in, and what differs between two is what their entries say.
func TestListingEdits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		was := drawn(r)
		l, err := parseTree(string(printed(t, was)), 20)
		if err != nil || !l.sorted || l.len() != len(was) {
			t.Fatalf("%v, sorted %v, %d of %d", err, l.sorted, l.len(), len(was))
		}
		for _, n := range names {
			want, ok := was[n]
			if i := l.find(n); (i >= 0) != ok || ok && l.entryAt(i) != want {
				t.Fatalf("%q found at %d in %q", n, i, l.raw)
			}
		}
		edits, is := map[string]entry{}, maps.Clone(was)
		for _, n := range names {
			switch n = strings.ReplaceAll(n, "/", "_"); r.IntN(6) {
			case 0:
				edits[n] = entry{}
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
		if mixed := shuffled(t, r, l); mixed.len() > 0 {
			if got, err = mixed.applyEdits(edits); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%v: out of order:\n%q, want\n%q", err, got, want)
			}
		}
		to, err := parseTree(string(want), 20)
		if err != nil {
			t.Fatal(err)
		}
		differs(t, r, l, to, was, is)
	}
}

// shuffled is l in another order.
func shuffled(t *testing.T, r *rand.Rand, l listing) listing {
	t.Helper()
	parts := make([]string, l.len())
	for i := range parts {
		parts[i] = l.entryBytes(i)
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	mixed, err := parseTree(strings.Join(parts, ""), 20)
	if err != nil {
		t.Fatal(err)
	}
	return mixed
}

func differs(t *testing.T, r *rand.Rand, a, b listing, was, is map[string]entry) {
	t.Helper()
	for _, pair := range [][2]listing{{a, b}, {shuffled(t, r, a), b}, {a, shuffled(t, r, b)}} {
		ea, eb := dropShared(pair[0], pair[1])
		had, has := maps.Clone(was), maps.Clone(is)
		for _, e := range ea {
			if had[e.name] != e {
				t.Fatalf("%v was not there", e)
			}
			delete(had, e.name)
		}
		for _, e := range eb {
			if has[e.name] != e {
				t.Fatalf("%v is not there", e)
			}
			delete(has, e.name)
		}
		if !maps.Equal(had, has) {
			t.Fatalf("between\n%q and\n%q: left are %v and %v", pair[0].raw, pair[1].raw, had, has)
		}
		if pair[0].sorted && pair[1].sorted {
			for _, e := range ea {
				if slices.Contains(eb, e) {
					t.Fatalf("%v is the same on both sides", e)
				}
			}
		}
	}
}
