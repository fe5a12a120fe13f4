package okf

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shelf is a Store in memory.
type shelf struct {
	kept  map[string][]byte
	full  bool
	asked int
}

func (s *shelf) Cached(name string) []byte {
	s.asked++
	return s.kept[name]
}

func (s *shelf) Keep(name string, b []byte) error {
	if s.full {
		return errors.New("no space")
	}
	s.kept[name] = b
	return nil
}

func (s *shelf) only(t *testing.T) (name string, b []byte) {
	t.Helper()
	if len(s.kept) != 1 {
		t.Fatalf("%d lexicons kept, want 1", len(s.kept))
	}
	for name, b = range s.kept {
	}
	return name, b
}

// many is so many files that one which changed is not worth a new cache.
const many = 300

// shelves is a bundle whose files can be told apart by their words.
func shelves(n int) fstest.MapFS {
	f := fstest.MapFS{}
	for i := range n {
		f[fmt.Sprintf("shelf/book-%02d.md", i)] = book(fmt.Sprintf("Book %d", i), fmt.Sprintf("Number%d among many words%d.\n\n# Chapter %c\n", i, i%3, 'a'+i%26))
	}
	return f
}

func book(title, body string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte("---\ntype: book\ntitle: " + title + "\n---\n" + body), ModTime: time.Unix(1, 0)}
}

// opened loads a bundle through its cache, as a second process would.
func opened(t *testing.T, f fstest.MapFS, cache []byte, s Store) *Graph {
	t.Helper()
	g, _, _, err := LoadCached(f, cache, time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	g.KeepWords(s)
	return g
}

func cacheOf(t *testing.T, f fstest.MapFS) []byte {
	t.Helper()
	_, _, cache, err := LoadCached(f, nil, time.Unix(1e9, 0))
	if err != nil || cache == nil {
		t.Fatal(len(cache), err)
	}
	return cache
}

// sameSearches compares what two graphs find, whole words, beginnings, misspelt
// ones, names and nothing.
func sameSearches(t *testing.T, want, got *Graph) {
	t.Helper()
	for _, q := range []string{"book", "number7", "words1 chapter", "chap", "many number", "numbr7", "shelf/book-03", "brandnew", "number3", "zzz"} {
		if d := cmp.Diff(want.Search(q, 20), got.Search(q, 20)); d != "" {
			t.Errorf("search %q: %s", q, d)
		}
		if w, g := want.Spell(q), got.Spell(q); w != g {
			t.Errorf("spell %q: %q, want %q", q, g, w)
		}
	}
}

// A search in what an earlier one kept finds what one in the files finds,
// also when files changed, came and went since.
func TestKeptWordsAreTheFiles(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(fstest.MapFS){
		"nothing": func(fstest.MapFS) {},
		"edited":  func(f fstest.MapFS) { f["shelf/book-03.md"] = book("Brandnew", "words2 once\n") },
		"new":     func(f fstest.MapFS) { f["shelf/a-new.md"] = book("Brandnew book", "number7 again and again\n") },
		"gone":    func(f fstest.MapFS) { delete(f, "shelf/book-07.md") },
		"broken":  func(f fstest.MapFS) { f["shelf/book-07.md"] = &fstest.MapFile{Data: []byte("no atom")} },
	} {
		t.Run(name, func(t *testing.T) {
			f, s := shelves(many), &shelf{kept: map[string][]byte{}}
			cache := cacheOf(t, f)
			opened(t, f, cache, s).Search("book", 1)
			key, kept := s.only(t)
			change(f)
			want, _, err := Load(f)
			if err != nil {
				t.Fatal(err)
			}
			sameSearches(t, want, opened(t, f, cache, s))
			if _, now := s.only(t); !bytes.Equal(now, kept) {
				t.Errorf("%s was written again", key)
			}
		})
	}
}

// A lexicon that was made while a file was edited lacks the file's words as
// they were, and a later search reads the file once it is back.
func TestUnreadAtomIsReadLater(t *testing.T) {
	t.Parallel()
	f, s := shelves(many), &shelf{kept: map[string][]byte{}}
	cache, before := cacheOf(t, f), f["shelf/book-03.md"]
	f["shelf/book-03.md"] = book("Brandnew", "other\n")
	opened(t, f, cache, s).Search("book", 1)
	f["shelf/book-03.md"] = before
	want, _, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	sameSearches(t, want, opened(t, f, cache, s))
}

// A lexicon that is damaged, or another bundle's, is as good as none.
func TestDamagedWordsAreReadAgain(t *testing.T) {
	t.Parallel()
	f, s := shelves(4), &shelf{kept: map[string][]byte{}}
	cache := cacheOf(t, f)
	want := opened(t, f, cache, s).Search("number3", 0)
	name, good := s.only(t)
	other := &shelf{kept: map[string][]byte{}}
	opened(t, shelves(4+1), cacheOf(t, shelves(4+1)), other).Search("book", 1)
	_, foreign := other.only(t)
	bad := [][]byte{nil, {}, []byte("x"), foreign, append(bytes.Clone(good), 0)}
	for i := 0; i < len(good); i += 7 {
		flipped := bytes.Clone(good)
		flipped[i] ^= 0x10
		bad = append(bad, flipped, good[:i])
	}
	for _, b := range bad {
		s.kept[name] = b
		if d := cmp.Diff(want, opened(t, f, cache, s).Search("number3", 0)); d != "" {
			t.Fatalf("with %d bytes kept: %s", len(b), d)
		}
		if _, now := s.only(t); !bytes.Equal(now, good) {
			t.Fatalf("%d damaged bytes stay", len(b))
		}
	}
}

// Words are kept for a graph with a cache, and that a disk is full is nobody's error.
func TestWordsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	f, s := shelves(4), &shelf{kept: map[string][]byte{}, full: true}
	if hits := opened(t, f, cacheOf(t, f), s).Search("number3", 0); len(hits) != 1 {
		t.Errorf("%d hits, want 1", len(hits))
	}
	g, _, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	s.asked = 0
	g.KeepWords(s)
	if hits := g.Search("number3", 0); len(hits) != 1 || s.asked != 0 {
		t.Errorf("%d hits, store asked %d times; want 1 and 0", len(hits), s.asked)
	}
}

// Places beyond 4 GiB are what they are: of rows, and of sections so long.
func TestBeyond32Bits(t *testing.T) {
	t.Parallel()
	const most uint64 = 1 << 32
	rowAt := offsets{}.add(0).add(2*most - 4).add(4*most - 8)
	if from, to := rowAt.span(1, 7); from != 7 || to != 7 {
		t.Errorf("the rows of b are from %d to %d of 7", from, to)
	}
	var part []byte
	if cutSections(append(offsets{}.add(most+1), 'x'), []*[]byte{&part}) {
		t.Errorf("a section of %d bytes in 1", most+1)
	}
}

// No bytes make a lexicon lead out of its rows, whatever their checksum says.
func FuzzLexicon(f *testing.F) {
	l := readWords(2, func(from, to int, tell func(int, *Atom)) {
		for i := from; i < to; i++ {
			tell(i, &Atom{Path: fmt.Sprintf("a%d.md", i), ID: "one", Title: "some words", src: []byte("# Head\nwords\n")})
		}
	})
	mark := strings.Repeat("m", markLen)
	f.Add([]byte(l.wordAt), l.words, []byte(l.rowAt), l.rows, []byte(l.length))
	f.Add([]byte(offsets{}.add(1<<63).add(1)), []byte("ab"), []byte(offsets{}.add(9).add(1)), []byte{0xff, 0x80, 1, 2, 3}, []byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, wordAt, words, rowAt, rows, length []byte) {
		made := lexicon{length: length, wordAt: wordAt, words: words, rowAt: rowAt, rows: rows, atoms: 3, total: 7}
		got := openLexicon(made.seal(mark), mark, made.length.len())
		if got == nil {
			return
		}
		got.findWord("words")
		for k := range got.len() {
			got.nthWord(k)
			got.eachPosting(k, func(p posting) bool {
				if p.row < 0 || int(p.row) >= got.length.len() {
					t.Fatalf("row %d of %d", p.row, got.length.len())
				}
				return true
			})
		}
	})
}
