package okf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/odd-cli/odd/okf/okftest"
)

// tally counts the texts that may become words.
type tally map[string]int

func (n tally) text(s string) {
	if len(s) <= 64 {
		n[s]++
	}
}

func (n tally) value(v any) {
	switch v := v.(type) {
	case string:
		n.text(v)
	case []any:
		for _, e := range v {
			n.value(e)
		}
	case map[string]any:
		for k, e := range v {
			n.text(k)
			n.value(e)
		}
	}
}

// wordsOf are the texts that are at least three times in the atoms' fields and
// links, in order.
func wordsOf(atoms []*Atom) []string {
	n := tally{}
	for _, a := range atoms {
		for _, f := range a.Fields {
			n.text(f.Key)
			n.value(f.Value)
		}
		for _, l := range a.Links() {
			n.text(l.Target)
			n.text(l.URL)
			n.text(l.Text)
		}
	}
	maps.DeleteFunc(n, func(_ string, times int) bool { return times < 3 })
	return sortedKeys(n)
}

// plainRecord writes the record of an atom at once, as a cache holds it.
func plainRecord(a *Atom, words []string) []byte {
	b := make([]byte, 4)
	text := func(s string) {
		if i, ok := slices.BinarySearch(words, s); ok {
			b = binary.AppendUvarint(b, uint64(i)<<1|1)
			return
		}
		b = append(binary.AppendUvarint(b, uint64(len(s))<<1), s...)
	}
	count := func(n int) { b = binary.AppendUvarint(b, uint64(n)) }
	var value func(v any)
	value = func(v any) {
		switch v := v.(type) {
		case string:
			b = append(b, kindText)
			text(v)
		case []any:
			b = append(b, kindList)
			count(len(v))
			for _, x := range v {
				value(x)
			}
		case map[string]any:
			b = append(b, kindMap)
			count(len(v))
			for _, k := range sortedKeys(v) {
				text(k)
				value(v[k])
			}
		default:
			e := encoder{b: b}
			e.writeValue(v)
			b = e.b
		}
	}
	text(a.Blob)
	count(a.body)
	count(a.BodyLine)
	count(len(a.Fields))
	for _, f := range a.Fields {
		text(f.Key)
		count(f.Line)
		value(f.Value)
	}
	count(len(a.Links()))
	for _, l := range a.Links() {
		text(l.Target)
		text(l.URL)
		text(l.Text)
		text(l.Fragment)
		count(l.Line)
	}
	binary.LittleEndian.PutUint32(b, checksum(b[4:]))
	return b
}

// asOfAtoms fails where the cache of a bundle, which is written without making
// its atoms, is not the one of its atoms. It returns how many were not made, and
// how many there are.
func asOfAtoms(t interface {
	Helper()
	Fatalf(string, ...any)
}, f fs.FS) (late, all int) {
	t.Helper()
	g, ps, err := Load(f)
	if err != nil {
		t.Fatalf("%v", err)
	}
	made := func() (n int) {
		for i := range g.rows.atoms {
			if g.rows.atoms[i].Load() != nil {
				n++
			}
		}
		return n
	}
	early := made()
	cache := Encode(g, ps)
	if made() != early {
		t.Fatalf("%d atoms were made for a cache", made()-early)
	}
	g.rows.makeAll()
	if again := Encode(g, ps); !bytes.Equal(cache, again) {
		t.Fatalf("%d bytes without making atoms, and not the %d bytes with", len(cache), len(again))
	}
	s, err := openCache(cache, f)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var atoms []*Atom
	for i := range g.rows.atoms {
		if a := g.rows.atoms[i].Load(); a != nil {
			atoms = append(atoms, a)
		}
	}
	words := wordsOf(atoms)
	if got := string(s.wordText); got != strings.Join(words, "") || s.wordAt.len() != len(words)+1 {
		t.Fatalf("%d words %.500q, want %d %.500q", s.wordAt.len()-1, got, len(words), strings.Join(words, ""))
	}
	for i := range g.rows.atoms {
		var want []byte
		if a := g.rows.atoms[i].Load(); a != nil {
			want = plainRecord(a, words)
		}
		if from, to := s.recordAt.span(i, len(s.records)); !bytes.Equal(want, s.records[from:to]) {
			t.Fatalf("%s:\nwant %q\n got %q", g.rows.pathOf(int32(i)), want, s.records[from:to])
		}
	}
	mentions := g.rows.readMentions()
	if !bytes.Equal(s.mentions.rows, mentions.rows) || !bytes.Equal(s.mentions.starts, mentions.starts) {
		t.Fatalf("the cache has other mentions than the atoms")
	}
	return made() - early, len(atoms)
}

// A cache is the same to the byte whether its atoms were made before or not.
func TestCacheWithoutAtoms(t *testing.T) {
	t.Parallel()
	odd := fstest.MapFS{}
	for i, src := range []string{
		"type: x\nn: -12\nm: 0x1f\nf: 1.50\ng: -2e3\nb: true\nc: false\nd: ~\ne:\nq: 'it''s'\nz: \"\"\nl: []\no: {}\n",
		"type: x\nm: {z: 1, a: [x, {k: v, b: w}], m: ''}\nlist:\n- b: 1\n  a: two\n- c\n",
		"type: x\nmap:\n  z: 1\n  y: {b: 2, a: 3}\nid: named\nuri: odd://x/y\nsources: [{resource: b.md}]\n",
		"type: x\nfolded: >-\n  a\n  b\nliteral: |\n  c\n", "type: x\nanchor: &a [x]\nalias: *a\n", "type: x\nid: named\n", "type: [\n", "type: x\nt: " + strings.Repeat("w", 64) + "\nu: " + strings.Repeat("w", 65) + "\n",
	} {
		for k, body := range []string{"", "[a](b.md) [c](/d.md#" + strings.Repeat("f", 70) + ")\n", "[a][r]\n\n[r]: x.md \"t\"\n", strings.Repeat("w", 64) + "[w](" + strings.Repeat("w", 64) + ")\n"} {
			odd[fmt.Sprintf("d%d/%d.md", k, i)] = &fstest.MapFile{Data: []byte("---\n" + src + "---\n" + body), Mode: 0o644}
		}
	}
	corpus := fstest.MapFS{}
	for path, text := range (okftest.Corpus{Seed: 3, N: 400}).All() {
		corpus[path] = &fstest.MapFile{Data: text, Mode: 0o644}
	}
	for name, f := range map[string]fs.FS{
		"nothing": fstest.MapFS{}, "one": fstest.MapFS{"a.md": {Data: []byte("---\ntype: x\n---\n")}}, "old": old(), "odd": odd,
		"generated": okftest.FS(300), "corpus": corpus, "our own": os.DirFS("../knowledge"),
	} {
		late, all := asOfAtoms(t, f)
		if late == 0 && name == "corpus" || name == "odd" && (late == 0 || late == all) {
			t.Errorf("%s: %d atoms, %d of them late: nothing was compared", name, all, late)
		}
	}
}

func TestDrawnCacheWithoutAtoms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := fstest.MapFS{}
		for i := range rapid.IntRange(0, 8).Draw(t, "files") {
			src := rapid.OneOf(rapid.Custom(drawFile), rapid.Custom(drawLeaf)).Draw(t, "file")
			f[fmt.Sprintf("%d.md", i)] = &fstest.MapFile{Data: []byte(src), Mode: 0o644}
		}
		asOfAtoms(t, f)
	})
}

// Goroutines that met the same texts agree on the words, whoever met which.
func TestAgree(t *testing.T) {
	t.Parallel()
	if all, words := mergeVocabularies(nil); all != nil || words != nil {
		t.Error("words of nobody")
	}
	of := []*vocabulary{{}, {}, {}}
	want := tally{}
	for i := range 5000 {
		s := fmt.Sprint("text ", i*i%1999)
		want.text(s)
		of[i%3].addText(s, 1)
	}
	of[1].addText("never", 0)
	of[2].addText("twice", 2)
	maps.DeleteFunc(want, func(_ string, times int) bool { return times < 3 })
	all, words := mergeVocabularies(of)
	if !slices.Equal(words, sortedKeys(want)) || len(words) == 0 {
		t.Errorf("%d words, want %d", len(words), len(want))
	}
	for _, v := range of {
		for _, s := range v.texts {
			k, ok := slices.BinarySearch(words, s.text)
			if !ok {
				k = -1
			}
			if int(s.word) != k+1 || all.wordOf(s.text) != s.word {
				t.Fatalf("%s is %d and %d to all, want %d", s.text, s.word, all.wordOf(s.text), k+1)
			}
		}
	}
	if all.wordOf("nobody said it") != 0 || new(vocabulary).wordOf("x") != 0 {
		t.Error("a word that nobody said")
	}
}
