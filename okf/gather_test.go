package okf

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// gatherAtoms reads the atoms that OfType makes, each as if it were the only one, and
// makes none for keeps; of a bundle that changed since its cache was made too.
func TestGatherReadsWhatOfTypeMakes(t *testing.T) {
	t.Parallel()
	f := fstest.MapFS{}
	write := func(i int, more string) {
		f[fmt.Sprintf("a/%03d.md", i)] = &fstest.MapFile{Data: []byte(fmt.Sprintf("---\ntype: %s\ntitle: Number %d\n%s---\n\nText %d, [next](%03d.md).\n", []string{"term", "role", "task"}[i%3], i, more, i, i+1))}
	}
	for i := range 300 {
		more := ""
		if i%4 == 0 {
			more = fmt.Sprintf("tags: [a, b%d]\nowner: x%d\ngenerated: {by: human:ann, at: now}\nsources: [{resource: y}]\nverified: {by: human:ann}\n", i, i)
		}
		if i%7 == 0 {
			more += "status: stale\nuri: u://" + fmt.Sprint(i) + "\n"
		}
		write(i, more)
	}
	loaded, ps, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	cache := Encode(loaded, ps)
	decoded := func() *Graph {
		g, _, err := Decode(cache, f)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := decoded()
	some := g.ByPath("a/030.md")
	fits := func(typ string) bool { return typ != "role" }
	tell := func(a *Atom) string {
		return fmt.Sprint(a.Path, a.ID, a.ExplicitID, a.Type, a.Title, a.URI, a.Status, a.Tags, a.Edges, a.Sources, a.Generated, a.Verified, a.Fields, a.Blob, a.Links(), string(a.Bytes()), a == some)
	}
	made := func(g *Graph) (n int) {
		for i := range g.atoms {
			if g.atoms[i].Load() != nil {
				n++
			}
		}
		return n
	}
	same := func(g *Graph, n int) {
		t.Helper()
		before := made(g)
		got := gatherAtoms(g, fits, tell)
		if n := made(g) - before; n > 0 || before > 10 {
			t.Errorf("%d atoms were made beside %d", n, before)
		}
		var want []string
		for _, a := range g.OfType(fits) {
			want = append(want, tell(a))
		}
		if d := cmp.Diff(want, got); d != "" || len(want) != n {
			t.Errorf("%d of %d: %s", len(got), len(want), d)
		}
	}
	same(g, 200)
	changed := map[string]bool{"a/004.md": true, "a/002.md": true, "a/003.md": true, "a/301.md": true}
	write(4, "tags: [new]\n")
	write(301, "") // a role
	delete(f, "a/002.md")
	f["a/003.md"].Data = []byte(strings.Replace(string(f["a/003.md"].Data), "type: term", "type: role", 1))
	f["a/0001.md"] = &fstest.MapFile{Data: []byte("---\ntype: first\n---\n")}
	changed["a/0001.md"] = true
	g, _ = Reload(f, decoded(), ps, changed)
	some = nil
	same(g, 199)
}

// titleForm keeps the title of an atom, unless it is a secret.
var titleForm = Form[string]{
	Name: "titles",
	Texts: func(s string) []string {
		if s == "Secret" {
			return nil
		}
		return []string{"title", s}
	},
	Value: func(s []string) (string, bool) { return "kept " + s[len(s)-1], len(s) == 2 && s[0] == "title" },
}

// What GatherKept stored is what it returns for atoms whose files are as they were. It reads
// the rest, and all where the store is damaged or of another bundle.
func TestGatherKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f fstest.MapFS, s *shelf)
		want   string // of titles 3 to 5, and how many of all are kept
	}{
		"nothing": {func(fstest.MapFS, *shelf) {}, "kept Book 3, Secret, kept Book 5: 299 of 300"},
		"edited":  {func(f fstest.MapFS, _ *shelf) { f["shelf/book-03.md"] = book("Other", "") }, "Other, Secret, kept Book 5: 298 of 300"},
		"new":     {func(f fstest.MapFS, _ *shelf) { f["shelf/book-03a.md"] = book("New", "") }, "kept Book 3, New, Secret: 299 of 301"},
		"gone":    {func(f fstest.MapFS, _ *shelf) { delete(f, "shelf/book-03.md") }, "Secret, kept Book 5, kept Book 6: 298 of 299"},
		"broken":  {func(f fstest.MapFS, _ *shelf) { f["shelf/book-05.md"].Data = []byte("no atom") }, "kept Book 3, Secret, kept Book 6: 298 of 299"},
		"damaged": {func(_ fstest.MapFS, s *shelf) {
			for _, b := range s.kept {
				b[len(b)/2] ^= 1
			}
		}, "Book 3, Secret, Book 5: 0 of 300"},
		"cut": {func(_ fstest.MapFS, s *shelf) {
			for k, b := range s.kept {
				s.kept[k] = b[:len(b)-1]
			}
		}, "Book 3, Secret, Book 5: 0 of 300"},
	} {
		t.Run(name, func(t *testing.T) {
			f, s := shelves(many), &shelf{kept: map[string][]byte{}}
			f["shelf/book-04.md"] = book("Secret", "")
			cache := cacheOf(t, f)
			titles := func() []string {
				return GatherKept(opened(t, f, cache, s), func(string) bool { return true }, func(a *Atom) string { return a.Title }, titleForm)
			}
			titles()
			if key, b := s.only(t); !strings.HasPrefix(key, "titles-") || strings.Contains(string(b), "Secret") {
				t.Errorf("%s holds %q", key, b)
			}
			c.change(f, s)
			got, kept := titles(), 0
			for _, title := range got {
				if strings.HasPrefix(title, "kept ") {
					kept++
				}
			}
			if told := fmt.Sprintf("%s: %d of %d", strings.Join(got[3:6], ", "), kept, len(got)); told != c.want {
				t.Errorf("%s, want %s", told, c.want)
			}
		})
	}
}

func FuzzKept(f *testing.F) {
	f.Add(sealKept([]int32{1, 4}, []string{"Ann", "Ben"}, titleForm.Texts)[keptHeader:])
	f.Add([]byte{3, 200, 200, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		sealed := append(sealKept(nil, nil, titleForm.Texts), b...)
		binary.LittleEndian.PutUint32(sealed, checksum(sealed[4:]))
		d := openKept(sealed)
		for row := int32(0); row < math.MaxInt32; {
			var texts []string
			if row, texts = d.nextKept(nil); row < 0 || len(texts) > len(b) {
				t.Fatalf("row %d has %d texts", row, len(texts))
			}
		}
	})
}
