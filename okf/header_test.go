package okf

import (
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// leanAsParsed fails where a leaf says something else than its atom does, and
// reports whether src is a leaf.
func leanAsParsed(t interface{ Fatalf(string, ...any) }, file, src string) bool {
	var s scanner
	var refs []ref
	got, ok := s.readHeader(file, []byte(src), &refs)
	if !ok {
		return false
	}
	a, p := parse(file, []byte(src))
	if p != nil {
		t.Fatalf("a leaf that is no atom: %v\n%s", p, src)
	}
	a.readLinks()
	if got.id != a.ID || got.typ != a.Type || got.uri != a.URI || int(got.bodyLine) != a.BodyLine || got.text[got.body:] != string(a.Body()) {
		t.Fatalf("%q\nleaf %+v\natom %+v", src, got, a)
	}
	want := referencesOf(&a)
	if d := cmp.Diff(want.refs, got.refs, cmp.AllowUnexported(ref{}), cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%q: references -atom +leaf\n%s", src, d)
	}
	links, ok := new(rowReader).readLinks(file, &got.rawFile)
	if d := cmp.Diff(want.links, links, cmpopts.EquateEmpty()); ok && d != "" {
		t.Fatalf("%q: links -atom +leaf\n%s", src, d)
	}
	return true
}

// drawRefs draws lines of the keys that rows know, with values of every kind.
func drawRefs(t *rapid.T) string {
	value := rapid.SampledFrom([]string{
		" x", " a b", " 'it''s'", " \"q\"", " ''", "", " ~", " 7", " true", " 1.50", " [a, b]", " [a, '', c]", " [a, 2]", " [[a]]", " []", " {a: b}", " {resource: b.md}", " [{id: x, resource: b.md}, y, {title: z}]",
		" [{resource: 5}]", " a, b (c, d), e", "\n- a\n- b", "\n  - a", "\n- resource: c.md\n  id: y\n- id: z", "\n  resource: d.md", " |\n  x", " &a b", " on", " -", " a/b", " a: b", " 'a'  # c",
	})
	key := rapid.SampledFrom([]string{"type", "id", "uri", "sources", "derives_from", "complements", "owner", "uses", "supersedes", "superseded_by", "relates_to", "title", "tags", "x"})
	var sb strings.Builder
	for range rapid.IntRange(0, 6).Draw(t, "fields") {
		sb.WriteString(key.Draw(t, "key") + ":" + value.Draw(t, "value") + "\n")
	}
	return sb.String()
}

func drawLeaf(t *rapid.T) string {
	head := rapid.SampledFrom([]string{"type: x\n", "type: x\n", "type: x\n", "", "type: on\n", "# c\ntype: \"x\"\n\n"}).Draw(t, "head")
	block := rapid.OneOf(rapid.Custom(drawRefs), rapid.Custom(drawBlock)).Draw(t, "block")
	src := "---\n" + head + block + rapid.SampledFrom([]string{"---\n", "---", "--- \n", " ---\n", ""}).Draw(t, "close") + rapid.Custom(drawBody).Draw(t, "body")
	if rapid.IntRange(0, 9).Draw(t, "CRLF") == 0 {
		src = strings.ReplaceAll(src, "\n", "\r\n")
	}
	return src
}

func TestLeafIsItsAtom(t *testing.T) {
	t.Parallel()
	leaves := 0
	rapid.Check(t, func(t *rapid.T) {
		if leanAsParsed(t, "d/x.md", drawLeaf(t)) {
			leaves++
		}
	})
	if leaves == 0 {
		t.Error("not one file was a leaf")
	}
}

func FuzzLeaf(f *testing.F) {
	for _, s := range []string{"---\ntype: x\n---\n", "---\ntype: x\nuses: [a, b]\nsources: [{resource: b.md}]\n---\n[a](b.md)\n", "---\r\ntype: x\r\nid: y\r\n---", "---\ntype: 1\n---\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) { leanAsParsed(t, "d/x.md", src) })
}

// The common shapes must not be parsed before somebody asks.
func TestLeafAccepts(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		"---\ntype: x\n---\n", "---\ntype: x\nid: a/b\nuri: odd://x/y\n---", "---\ntype: x\r\nowner: r\r\nuses:\r\n- a\r\n- b\r\n---\r\n[a](b.md)\r\n",
		"---\ntype: x\nsources:\n- title: t\n  resource: https://e.org\nderives_from: a, b\ncomplements: [c]\nsupersedes:\nid: ~\nuri: null\nowner: ~\n---\n",
	} {
		if !leanAsParsed(t, "d/x.md", src) {
			t.Errorf("%q is parsed at once", src)
		}
	}
}

// A graph whose atoms are made when somebody asks is the one of the same atoms
// made before, in all they say, whoever asks and in whatever order.
func TestLateAtomsAreEarlyOnes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := fstest.MapFS{}
		var early []Atom
		for _, path := range drawnPaths() {
			src := rapid.OneOf(rapid.Custom(drawFile), rapid.Custom(drawLeaf)).Draw(t, "file")
			f[path] = &fstest.MapFile{Data: []byte(src), Mode: 0o644}
			if a, err := Parse(path, []byte(src)); err == nil && !isReserved(path) {
				early = append(early, a)
			}
		}
		got, _, err := Load(f)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "one first") && len(early) > 0 {
			got.ByPath(early[rapid.IntRange(0, len(early)-1).Draw(t, "which")].Path)
		}
		want := NewGraph(early)
		if d := cmp.Diff(want.Atoms(), got.Atoms(), cmp.AllowUnexported(Atom{}), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("-early +late\n%s", d)
		}
		for _, a := range want.Atoms() {
			if d := cmp.Diff(want.Out(a.ID), got.Out(a.ID)); d != "" {
				t.Fatalf("%s: hops -early +late\n%s", a.Path, d)
			}
		}
	})
}

// However many ask at once, there is one atom a file.
func TestLateAtomIsOne(t *testing.T) {
	t.Parallel()
	g, _, err := Load(bundle(map[string]string{"a.md": "---\ntype: x\n---\n[b](b.md)\n", "b.md": "---\ntype: x\nowner: a\n---\n"}))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]*Atom, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			if i%2 == 0 {
				got[i] = g.ByID("a")
			} else {
				got[i] = g.Atoms()[0]
			}
		})
	}
	wg.Wait()
	for _, a := range got {
		if a == nil || a != got[0] || len(a.Links()) != 1 {
			t.Fatalf("%p and %p", a, got[0])
		}
	}
}
