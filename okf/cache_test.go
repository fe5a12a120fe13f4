package okf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// counted counts the files that are opened; folders are read another way.
type counted struct {
	fstest.MapFS
	opened atomic.Int64
}

func (c *counted) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".md") {
		c.opened.Add(1)
	}
	return c.MapFS.Open(name)
}

func (c *counted) put(name, text string, at time.Time) {
	c.MapFS[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644, ModTime: at}
}

func atomOf(title string) string {
	return "---\ntype: term\ntitle: " + title + "\n---\n\nSee [b](/b.md).\n"
}

// old is a bundle of ten atoms, an index, a symlink and two broken files, all
// an hour old.
func old() *counted {
	c := &counted{MapFS: fstest.MapFS{}}
	hour := noon().Add(-time.Hour)
	for i := range 10 {
		c.put(fmt.Sprintf("d%d/a%d.md", i%3, i), atomOf(fmt.Sprint("Number ", i)), hour)
	}
	c.put("index.md", "---\nokf_version: \"0.9\"\n---\n", hour)
	c.put("bad.md", "---\ntype: [x\n---\n", hour)
	c.put("big.md", strings.Repeat("x", MaxFileBytes+1), hour)
	c.put("b.md", "---\ntype: x\nid: same\nn: [1, -2, 1.5, true, false, null, {a: {b: c}}, \"\"]\nsources: [{resource: x}]\n---\n", hour)
	c.put("c.md", "---\ntype: x\nid: same\n---\n", hour)
	c.MapFS["link.md"] = &fstest.MapFile{Data: []byte("x"), Mode: fs.ModeSymlink | 0o777, ModTime: hour}
	return c
}

// same compares two loads of one bundle, bodies and links included.
func same(t interface {
	Helper()
	Fatalf(string, ...any)
}, want, got *Graph, wantPs, gotPs []Problem) {
	t.Helper()
	if d := cmp.Diff(wantPs, gotPs); d != "" {
		t.Fatalf("problems -want +got\n%s", d)
	}
	if d := cmp.Diff(want.Atoms(), got.Atoms(), cmpopts.IgnoreUnexported(Atom{})); d != "" {
		t.Fatalf("atoms -want +got\n%s", d)
	}
	for i, a := range want.Atoms() {
		b := got.Atoms()[i]
		if !bytes.Equal(a.Bytes(), b.Bytes()) || !bytes.Equal(a.Body(), b.Body()) {
			t.Fatalf("%s: bytes differ", a.Path)
		}
		if d := cmp.Diff(a.Links(), b.Links(), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%s: links -want +got\n%s", a.Path, d)
		}
		if d := cmp.Diff(want.Out(a.ID), got.Out(a.ID)); d != "" {
			t.Fatalf("%s: hops -want +got\n%s", a.Path, d)
		}
	}
}

func cached(t *testing.T, f fs.FS, cache []byte, now time.Time) (g *Graph, ps []Problem, fresh []byte) {
	t.Helper()
	g, ps, fresh, err := LoadCached(f, cache, now)
	if err != nil {
		t.Fatal(err)
	}
	want, wantPs, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	same(t, want, g, wantPs, ps)
	return g, ps, fresh
}

func TestCacheReadsNothingAgain(t *testing.T) {
	t.Parallel()
	f := old()
	_, _, cache := cached(t, f, nil, noon())
	if cache == nil {
		t.Fatal("no cache from nothing")
	}
	f.opened.Store(0)
	g, _, fresh, err := LoadCached(f, cache, noon())
	if err != nil || fresh != nil || f.opened.Load() != 0 {
		t.Errorf("%d files opened, fresh %t, %v", f.opened.Load(), fresh != nil, err)
	}
	for range 2 {
		if !strings.Contains(string(g.Atoms()[3].Body()), "See [b]") {
			t.Error("no body")
		}
	}
	if f.opened.Load() != 1 {
		t.Errorf("%d files opened for one body", f.opened.Load())
	}
	cached(t, f, cache, noon())
}

// Whatever happens to a file, a load with the cache is a load without it.
func TestCacheSeesChanges(t *testing.T) {
	t.Parallel()
	hour, late := noon().Add(-time.Hour), noon().Add(-time.Minute)
	tests := []struct {
		name   string
		change func(*counted)
		reads  int64
	}{
		{"other size", func(c *counted) { c.put("d0/a0.md", atomOf("Longer than before"), hour) }, 1},
		{"other time", func(c *counted) { c.put("d0/a0.md", atomOf("Digits 0"), late) }, 1},
		{"older time", func(c *counted) { c.put("d0/a0.md", atomOf("Digits 0"), hour.Add(-time.Hour)) }, 1},
		{"new", func(c *counted) { c.put("d0/a00.md", atomOf("x"), hour) }, 1},
		{"new at both ends", func(c *counted) { c.put("a.md", atomOf("x"), hour); c.put("z.md", atomOf("x"), hour) }, 2},
		{"gone", func(c *counted) { delete(c.MapFS, "d0/a0.md") }, 0},
		{"moved", func(c *counted) { c.MapFS["d9/a0.md"] = c.MapFS["d0/a0.md"]; delete(c.MapFS, "d0/a0.md") }, 1},
		{"mended", func(c *counted) { c.put("bad.md", atomOf("x"), late) }, 1},
		{"broken", func(c *counted) { c.put("d0/a0.md", "---\n", late) }, 1},
		{"the other of two ids", func(c *counted) { delete(c.MapFS, "b.md") }, 0},
		{"now a symlink", func(c *counted) { c.MapFS["d0/a0.md"].Mode |= fs.ModeSymlink }, 0},
		{"index", func(c *counted) { c.put("index.md", "# x\n", late) }, 1},
		{"everything", func(c *counted) {
			for _, f := range c.MapFS {
				f.ModTime = late
			}
		}, 15},
		{"no times", func(c *counted) {
			for _, f := range c.MapFS {
				f.ModTime = time.Time{}
			}
		}, 15},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := old()
			_, _, cache := cached(t, f, nil, noon())
			tt.change(f)
			f.opened.Store(0)
			if _, _, _, err := LoadCached(f, cache, noon()); err != nil || f.opened.Load() != tt.reads {
				t.Errorf("%d files read, want %d; %v", f.opened.Load(), tt.reads, err)
			}
			for i := range fewChanged { // with the change they are worth a new cache
				f.put(fmt.Sprintf("more/%d.md", i), atomOf("x"), hour)
			}
			_, _, fresh := cached(t, f, cache, noon().Add(time.Hour))
			if tt.name == "now a symlink" || tt.name == "no times" {
				return
			}
			if fresh == nil {
				t.Fatal("no new cache")
			}
			f.opened.Store(0)
			if _, _, _, err := LoadCached(f, fresh, noon()); err != nil || f.opened.Load() != 0 {
				t.Errorf("%d files read with the new cache; %v", f.opened.Load(), err)
			}
		})
	}
}

// A file written in the same moment as the cache may change once more without
// its time moving.
func TestCacheDoubtsTheLastMoment(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{-time.Hour, 0, time.Second, racyWindow, racyWindow + 1} {
		f := &counted{MapFS: fstest.MapFS{}}
		f.put("a.md", atomOf("One"), noon().Add(-age))
		_, _, cache := cached(t, f, nil, noon())
		f.put("a.md", atomOf("Two"), noon().Add(-age))
		g, _, _, err := LoadCached(f, cache, noon().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		want := "Two"
		if age > racyWindow {
			want = "One" // the documented limit: nobody can tell
		}
		if got := g.Atoms()[0].Title; got != want {
			t.Errorf("age %v: %s, want %s", age, got, want)
		}
	}
}

// A file of another inode is read, once: all of a bundle that was copied with its
// times, and the one of two that took the other's place.
func TestCacheSeesInodes(t *testing.T) {
	t.Parallel()
	f := timed{stream{shelves(many), "", new(atomic.Int64)}, map[string]uint64{}}
	cache := cacheOf(t, f.MapFS)
	load := func(want int64) {
		t.Helper()
		f.told.Store(0)
		_, _, fresh, err := LoadCached(f, cache, noon())
		if err != nil || f.told.Load() != want {
			t.Errorf("%d files read, want %d; %v", f.told.Load(), want, err)
		}
		if fresh != nil {
			cache = fresh
		}
	}
	load(0)
	f.inodes["shelf/book-00.md"] = 1
	load(1)
	for name := range f.MapFS {
		f.inodes[name] = 2
	}
	load(many)
	load(0)
}

// A few edits are not worth a new cache, and in a large bundle more are few.
func TestCacheIsKept(t *testing.T) {
	t.Parallel()
	f := &counted{MapFS: fstest.MapFS{}}
	for i := range 30 {
		f.put(fmt.Sprintf("a%d.md", i), atomOf("x"), noon().Add(-time.Hour))
	}
	_, _, cache := cached(t, f, nil, noon())
	for i := range fewChanged + 1 {
		f.put(fmt.Sprintf("a%d.md", i), atomOf("changed"), noon().Add(-time.Minute))
		if _, _, fresh := cached(t, f, cache, noon()); (fresh != nil) != (i == fewChanged) {
			t.Errorf("%d changed: new cache %t", i+1, fresh != nil)
		}
	}
	if needsNewCache(30, 30*256) || !needsNewCache(31, 30*256) {
		t.Error("what is few does not grow with the bundle")
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	f := old()
	want, wantPs, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	_, _, cache := cached(t, f, nil, noon())
	f.opened.Store(0)
	g, ps, err := Decode(cache, f)
	if err != nil || f.opened.Load() != 0 {
		t.Fatalf("%d files opened, %v", f.opened.Load(), err)
	}
	same(t, want, g, wantPs, ps)

	_, _, again := cached(t, f, nil, noon())
	if !bytes.Equal(cache, again) {
		t.Error("one bundle, two caches")
	}
	g, _, err = Decode(cache, nil)
	if err != nil || g.Atoms()[0].Bytes() != nil || g.Atoms()[0].Body() != nil {
		t.Errorf("bytes from nowhere, %v", err)
	}
}

// An atom never passes the bytes of another version for its own.
func TestCacheBytesOfAChangedFile(t *testing.T) {
	t.Parallel()
	f := old()
	_, _, cache := cached(t, f, nil, noon())
	g, _, _, err := LoadCached(f, cache, noon())
	if err != nil {
		t.Fatal(err)
	}
	f.put("d0/a0.md", atomOf("Digits 0"), noon())
	delete(f.MapFS, "d0/a3.md")
	for _, path := range []string{"d0/a0", "d0/a3"} {
		a, err := g.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		if a.Bytes() != nil || a.Body() != nil || a.Title == "" || len(a.Links()) != 1 {
			t.Errorf("%s: %q, title %q", path, a.Bytes(), a.Title)
		}
	}
}

func TestCacheIsDisposable(t *testing.T) {
	t.Parallel()
	f := old()
	_, _, cache := cached(t, f, nil, noon())
	damaged := map[string][]byte{"empty": {}, "text": []byte("hello"), "cut": cache[:len(cache)-1], "longer": append(bytes.Clone(cache), 0), "header": cache[:headerLen]}
	for _, at := range []int{0, len(cacheMagic), headerLen - 1, headerLen, headerLen + 200} {
		b := bytes.Clone(cache)
		b[at] ^= 0x10
		damaged[fmt.Sprint("byte ", at)] = b
	}
	for name, b := range damaged {
		if _, _, err := Decode(b, f); !errors.Is(err, ErrCache) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, fresh := cached(t, f, b, noon()); !bytes.Equal(fresh, cache) {
			t.Errorf("%s: not made anew", name)
		}
	}
	if _, _, _, err := LoadCached(bundle(nil), cache, noon()); err != nil {
		t.Error(err)
	}
}

// A cache is refused wherever it is cut off and whichever bit of it is wrong.
func TestDamagedCache(t *testing.T) {
	t.Parallel()
	f := fstest.MapFS{"a.md": {Data: []byte(atomOf("A")), Mode: 0o644}, "b.md": {Data: []byte("x"), Mode: 0o644}}
	_, _, cache := cached(t, f, nil, noon())
	for n := range cache {
		if _, err := openCache(cache[:n], f); !errors.Is(err, ErrCache) {
			t.Fatalf("cut off after %d bytes of %d: %v", n, len(cache), err)
		}
	}
	s, err := openCache(bytes.Clone(cache), f)
	if err != nil {
		t.Fatal(err)
	}
	want, records := newGraph(s.rows, nil).Atoms()[0].Fields, len(cache)-len(s.records)
	for bit := range 8 * len(cache) {
		cache[bit/8] ^= 1 << (bit % 8)
		s, err := openCache(cache, f)
		switch {
		case bit/8 < records:
			if !errors.Is(err, ErrCache) {
				t.Fatalf("bit %d of byte %d: %v", bit%8, bit/8, err)
			}
		case err != nil || !slices.EqualFunc(want, newGraph(s.rows, nil).Atoms()[0].Fields, func(a, b Field) bool { return a == b }):
			t.Fatalf("bit %d of byte %d, in a record: %v, not the file's atom", bit%8, bit/8, err)
		}
		cache[bit/8] ^= 1 << (bit % 8)
	}
}

// A record that no encoder wrote, in a cache whose checksum is right, makes its
// file be read.
func TestCacheWithAWrongRecord(t *testing.T) {
	t.Parallel()
	f := old()
	want, wantPs, cache := cached(t, f, nil, noon())
	s, err := openCache(cache, f)
	if err != nil {
		t.Fatal(err)
	}
	clear(s.records)
	same(t, want, newGraph(s.rows, nil), wantPs, mergeProblems(s.rows.problems, s.walk))
}

func TestCacheValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := fstest.MapFS{}
		for i := range rapid.IntRange(0, 4).Draw(t, "atoms") {
			a, err := New(fmt.Sprint(i, ".md"), []Field{{Key: "type", Value: "x"}, {Key: "v", Value: drawValue(t, 3)}, {Key: "w", Value: drawValue(t, 2)}}, "[x](y.md)")
			if err != nil {
				t.Fatal(err)
			}
			f[a.Path] = &fstest.MapFile{Data: a.Bytes(), Mode: 0o644, ModTime: time.Unix(1, 0)}
		}
		want, wantPs, cache, err := LoadCached(f, nil, noon())
		if err != nil {
			t.Fatal(err)
		}
		got, gotPs, err := Decode(cache, f)
		if err != nil {
			t.Fatal(err)
		}
		same(t, want, got, wantPs, gotPs)
	})
}

// Bytes that pass the checksum and were never written by encode are refused or
// read as something, and never panic, whatever the graph is asked.
func FuzzDecode(f *testing.F) {
	small := old()
	delete(small.MapFS, "big.md")
	_, _, cache, err := LoadCached(small, nil, noon())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(cache[headerLen:])
	f.Add([]byte{0, 0, 0, 1, 2, 'a', 0, 0, 4, 0, 1})
	f.Fuzz(func(t *testing.T, payload []byte) {
		b := append([]byte(cacheMagic), make([]byte, 12)...)
		binary.LittleEndian.PutUint64(b[len(cacheMagic):], parserVersion())
		b = append(b, payload...)
		if s := (&snapshot{rows: &rows{}}); cutSections(payload, s.sections()) {
			payload = payload[:len(payload)-len(s.records)]
		}
		binary.LittleEndian.PutUint32(b[headerLen-4:], checksum(payload))
		g, ps, err := Decode(b, fstest.MapFS{})
		if (g == nil) != (err != nil) {
			t.Fatal(g, err)
		}
		if g != nil {
			askAll(g)
			g, _ = Reload(small, g, ps, map[string]bool{"b.md": true, "d0/a0.md": true, "new.md": true})
			askAll(g)
		}
		if _, _, _, err := LoadCached(fstest.MapFS{}, b, noon()); err != nil {
			t.Fatal(err)
		}
	})
}

// askAll puts every kind of question to a graph.
func askAll(g *Graph) {
	for _, a := range g.Atoms() {
		g.In(a.ID)
		g.Dangling(a.ID)
		g.Expand(a.ID, 3, false)
		g.Backlinks(a.ID)
	}
	g.OfType(func(string) bool { return true })
	Check(g, noon())
	g.Search("number", 3)
	for _, name := range []string{"same", "b.md", "d0/a0", "nobody", "x://y"} {
		_, _ = g.Find(name)
		g.Broken(name)
		g.ByPath(name)
	}
}
