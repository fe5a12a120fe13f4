package okf

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
)

// lexiconOf is the words of a graph's rows as they are kept.
func lexiconOf(g *Graph) []byte {
	return readWords(g.rows.len(), g.skimRows).seal(string(make([]byte, markLen)))
}

// The words of files are the same bytes whoever has their texts: a load, its
// atoms, a cache in one go, in goes that break off, or file by file.
func TestWordsWhereverTheTextsAre(t *testing.T) {
	t.Parallel()
	f := shelves(many)
	f["shelf/flow.md"] = book(`"Quoted: title"`, "body\n")
	f["shelf/odd.md"] = &fstest.MapFile{Data: []byte("---\ntype: book\ntags: [red, 7, 2026-01-01]\ndescription: >-\n  Two\n  lines.\nid: other/name\n---\n\n```\n# no heading\n```\n# [Head](x.md) Résumés\n")}
	f["shelf/yaml.md"] = &fstest.MapFile{Data: []byte("---\ntype: book\ntags:\n  - !!str 5\n  - &a green\n---\ntext")}
	f["shelf/twin.md"] = &fstest.MapFile{Data: []byte("---\ntype: book\nid: shelf/book-03\n---\nunheard\n")}
	f["shelf/zbad.md"] = &fstest.MapFile{Data: []byte("no atom\n")}
	loaded, _, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	want := lexiconOf(loaded)
	if l := openLexicon(want, string(make([]byte, markLen)), loaded.rows.len()); l == nil || l.atoms != many+3 {
		t.Fatalf("want a lexicon of %d atoms", many+3)
	}
	cache := cacheOf(t, f)
	for name, from := range map[string]fs.FS{
		"file by file":     f,
		"in one go":        stream{f, "", new(atomic.Int64)},
		"breaks off":       stream{f, "shelf/book-07.md", new(atomic.Int64)},
		"breaks off first": stream{f, "shelf/book-00.md", new(atomic.Int64)},
	} {
		g, _, err := Decode(cache, from)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, lexiconOf(g)) {
			t.Errorf("%s: other words", name)
		}
		g.Atoms()
		if !bytes.Equal(want, lexiconOf(g)) {
			t.Errorf("%s, its atoms made: other words", name)
		}
	}
	loaded.Atoms()
	if !bytes.Equal(want, lexiconOf(loaded)) {
		t.Error("loaded, its atoms made: other words")
	}
}

// A first search reads every text once, and keeps none and no atom but those
// it found.
func TestFirstSearchKeepsNothing(t *testing.T) {
	t.Parallel()
	f := stream{shelves(many), "", new(atomic.Int64)}
	g, _, err := Decode(cacheOf(t, f.MapFS), f)
	if err != nil {
		t.Fatal(err)
	}
	if hits := g.Search("number7", 0); len(hits) != 1 || f.told.Load() != many {
		t.Errorf("%d hits in %d texts, want 1 in %d", len(hits), f.told.Load(), many)
	}
	made := 0
	for i := range g.atoms {
		if g.atoms[i].Load() != nil {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d atoms made, want 1", made)
	}
}

// A bundle that is laid out anew on top of its cache reads the texts that did
// not change in one go too.
func TestWordsOfRelaidRows(t *testing.T) {
	t.Parallel()
	f := stream{shelves(many), "", new(atomic.Int64)}
	cache := cacheOf(t, f.MapFS)
	for i := range 30 {
		f.MapFS[fmt.Sprintf("shelf/book-%02d.md", i)] = book("Brandnew", "other\n")
	}
	want, _, err := Load(f.MapFS)
	if err != nil {
		t.Fatal(err)
	}
	g, _, fresh, err := LoadCached(timed{stream: f}, cache, noon())
	if err != nil || fresh == nil {
		t.Fatalf("%d bytes kept, %v", len(fresh), err)
	}
	f.told.Store(0)
	if !bytes.Equal(lexiconOf(want), lexiconOf(g)) || f.told.Load() != many-30 {
		t.Errorf("%d texts read again, want %d, and the same words", f.told.Load(), many-30)
	}
}

// timed looks at many files in one go too, so that they have times, and inodes
// that a test may give them.
type timed struct {
	stream
	inodes map[string]uint64
}

func (t timed) StatMany(names []string, fn func(i int, size, changed int64, inode uint64)) {
	for i, n := range names {
		f := t.MapFS[n]
		fn(i, int64(len(f.Data)), f.ModTime.UnixNano(), t.inodes[n])
	}
}

// Every word of every text is found where it is, as often as it is there, and
// nothing else is.
func TestWordsAreAllCounted(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 3, 60} {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		atoms := make([]*Atom, n)
		want := map[string][]posting{}
		total := 0
		for i := range atoms {
			a := &Atom{Path: "x.md", ID: "x", Title: wordy(r, 3)}
			a.src = []byte(wordy(r, r.IntN(20)))
			for k := range 1000 * max(0, r.IntN(9)-4) { // pages of what is counted
				a.src = fmt.Appendf(a.src, " %d", k*i)
			}
			atoms[i] = a
			is := map[string]posting{}
			note := func(text string, fields, body uint32) {
				eachWord(text, func(w string) {
					is[w] = posting{int32(i), is[w].fields + fields, is[w].body + body}
					total += int(body)
				})
			}
			note(a.Title, weighTitle, 0)
			note("x", weighName, 0)
			note(string(a.src), 0, 1)
			for w, p := range is {
				want[w] = append(want[w], p)
			}
		}
		l := readWords(n, func(from, to int, tell func(int, *Atom)) {
			for i := from; i < to; i++ {
				tell(i, atoms[i])
			}
		})
		if l.len() != len(want) || l.atoms != n || l.total != total {
			t.Fatalf("%d words, %d atoms, %d in all; want %d, %d, %d", l.len(), l.atoms, l.total, len(want), n, total)
		}
		for w, ps := range want {
			k, ok := l.findWord(w)
			var got []posting
			l.eachPosting(k, func(p posting) bool { got = append(got, p); return true })
			if !ok || !slices.Equal(ps, got) {
				t.Fatalf("%q: %v %v, want %v", w, ok, got, ps)
			}
		}
	}
}

// wordy is n words, some of them more than once.
func wordy(r *rand.Rand, n int) string {
	var out []string
	for range n {
		out = append(out, []string{"a", "bee", "Bees", "cat", "dog7", "é", "漢字語", "VoteTypeId", "zzz"}[r.IntN(9)])
	}
	return strings.Join(out, " ")
}
