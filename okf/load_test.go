package okf

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"pgregory.net/rapid"
)

// bundle is a file system of texts.
func bundle(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return out
}

func show(ps []Problem) []string {
	var out []string
	for _, p := range ps {
		out = append(out, fmt.Sprintf("%s %s:%d", p.Code, p.Path, p.Line))
	}
	return out
}

func paths(g *Graph) []string {
	var out []string
	for _, a := range g.Atoms() {
		out = append(out, a.Path)
	}
	return out
}

// One bad file of each kind costs only itself.
func TestLoadKeepsTheRest(t *testing.T) {
	t.Parallel()
	f := bundle(map[string]string{
		"index.md":         "---\nokf_version: \"0.2\"\n---\n\n# Role\n",
		"roles/index.md":   "# Role\n",
		"log.md":           "## 2026-05-22\n* **Creation**: x\n",
		"roles/editor.md":  "---\ntype: role\n---\n",
		"roles/open.md":    "---\ntype: role\n",
		"roles/twice.md":   "---\ntype: role\ntype: role\n---\n",
		"roles/bom.md":     "\ufeff---\ntype: role\n---\n",
		"roles/latin.md":   "---\ntype: role\n---\ncaf\xe9\n",
		"roles/binary.md":  "\x89PNG\r\n\x1a\n\x00",
		"roles/big.md":     "---\ntype: role\n---\n" + strings.Repeat("x", MaxFileBytes),
		"roles/climb.md":   "---\ntype: role\nid: ../../etc\n---\n",
		"terms/one.md":     "---\ntype: term\nid: t\n---\n",
		"terms/two.md":     "---\n# c\ntype: term\nid: t\n---\n",
		"README.md":        "# Hello\n",
		".git/x.md":        "no atom",
		"terms/.hidden.md": "no atom",
		"terms/notes.txt":  "no atom",
		"terms/pic.MD":     "no atom",
	})
	f["terms/link.md"] = &fstest.MapFile{Data: []byte("../x"), Mode: 0o777 | fs.ModeSymlink}
	f["terms/latest"] = &fstest.MapFile{Data: []byte("../x"), Mode: 0o777 | fs.ModeSymlink}
	g, ps, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"okf-frontmatter README.md:1",
		"odd-too-big roles/big.md:1",
		"okf-frontmatter roles/binary.md:3",
		"odd-bom roles/bom.md:1",
		"odd-id roles/climb.md:3",
		"okf-frontmatter roles/latin.md:4",
		"okf-frontmatter roles/open.md:1",
		"okf-frontmatter roles/twice.md:3",
		"odd-symlink terms/latest:1",
		"odd-symlink terms/link.md:1",
		"odd-duplicate-id terms/one.md:3",
		"odd-duplicate-id terms/two.md:4",
	}
	if d := cmp.Diff(want, show(ps)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	for _, p := range ps {
		if p.Code == codeDuplicateID && !strings.Contains(p.Message, map[string]string{"terms/one.md": "terms/two.md:4", "terms/two.md": "terms/one.md:3"}[p.Path]) {
			t.Errorf("%v does not name the other place", p)
		}
	}
	if d := cmp.Diff([]string{"roles/editor.md", "terms/one.md"}, paths(g)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestLoadReserved(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, src, want string }{
		{"nested index with frontmatter", "a/index.md", "---\nokf_version: \"0.2\"\n---\n", "error okf-reserved :1"},
		{"root index with more", "index.md", "---\nokf_version: \"0.2\"\ntitle: x\n---\n", "error okf-reserved :3"},
		{"root index unclosed", "index.md", "---\nokf_version: \"0.2\"\n", "error okf-reserved :1"},
		{"root index broken", "index.md", "---\na: [\n---\n", "error okf-reserved :"},
		{"newer version", "index.md", "---\nokf_version: \"0.9\"\n---\n", "info odd-okf-version :2"},
		{"version as a number", "index.md", "---\nokf_version: 0.2\n---\n", ""},
		{"empty index", "index.md", "", ""},
		{"index in Latin-1", "index.md", "\xe9", "error okf-reserved :1"},
		{"rule in an index", "index.md", "text\n---\n", ""},
		{"log with frontmatter", "log.md", "---\ntype: Log\n---\n## 2026-01-01\n", "warning okf-reserved :1"},
		{"log by name", "log.md", "# Log\n\n## January\n", "error okf-reserved :3"},
		{"log with a bad day", "log.md", "## 2026-13-01\n", "error okf-reserved :1"},
		{"log with a summary", "log.md", "## 2026-01-01: x\n", "error okf-reserved :1"},
		{"log oldest first", "log.md", "## 2026-01-01\n\n## 2026-01-02\n", "warning okf-reserved :3"},
		{"log with code", "log.md", "## 2026-01-02\n```\n## x\n```\n## 2026-01-01\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, ps, err := Load(bundle(map[string]string{tt.file: tt.src}))
			if err != nil || len(g.Atoms()) != 0 {
				t.Fatal(g, err)
			}
			var got string
			for _, p := range ps {
				got += fmt.Sprintf("%s %s :%d", p.Severity, p.Code, p.Line)
			}
			if !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") || len(ps) > 1 {
				t.Errorf("%v, want %s", ps, tt.want)
			}
		})
	}
}

func TestLoadOrder(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/e-%d/f%d.md", i%7, i%3, i)] = "---\ntype: x\n---\n"
	}
	for i := range 50 {
		files[fmt.Sprintf("d%d.md", i)] = "---\n"
	}
	g, ps, err := Load(bundle(files))
	if err != nil || len(g.Atoms()) != 300 || len(ps) != 50 {
		t.Fatal(len(g.Atoms()), len(ps), err)
	}
	got := paths(g)
	for i := 1; i < len(got); i++ {
		if got[i-1] >= got[i] {
			t.Fatalf("%s before %s", got[i-1], got[i])
		}
	}
}

func TestLoadDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.md"), []byte("---\ntype: x\n---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	write("a.md", "---\ntype: x\n---\n\nB.\n")
	for _, l := range []string{"out.md", "outdir"} {
		if err := os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, l)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "a.md"), 20); err != nil {
		t.Fatal(err)
	}
	write("big.md", "---\ntype: x\n---\n")
	if err := os.Truncate(filepath.Join(dir, "big.md"), 50<<20); err != nil {
		t.Fatal(err)
	}
	g, ps, err := Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a.md"}, paths(g)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"odd-too-big big.md:1", "odd-symlink out.md:1", "odd-symlink outdir:1"}, show(ps)); d != "" {
		t.Error(d)
	}
	if _, _, err := Load(os.DirFS(filepath.Join(dir, "gone"))); err == nil {
		t.Error("a folder that is not there loads")
	}
}

// A name that is not UTF-8 is told: no commit's file could be read by it.
func TestLoadNotUTF8(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"caf\xe9.md", "d\xe9", "caf\xe9.txt", "a.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("---\ntype: x\n---\n"), 0o644); err != nil {
			t.Skip(err) // not every file system takes such a name
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "e\xe9"), 0o755); err != nil {
		t.Fatal(err)
	}
	g, ps, err := Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a.md"}, paths(g)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"odd-file-name caf\ufffd.md:1", "odd-file-name e\ufffd:1"}, show(ps)); d != "" {
		t.Error(d)
	}
}

// stream is a file system that reads many files in one go and breaks off
// before the file bad.
type stream struct {
	fstest.MapFS
	bad  string
	told *atomic.Int64
}

func (s stream) ReadMany(names []string, fn func(string, []byte) error) error {
	for _, n := range names {
		if n == s.bad {
			return fs.ErrInvalid
		}
		s.told.Add(1)
		if err := fn(n, s.MapFS[n].Data); err != nil {
			return err
		}
	}
	return nil
}

func TestLoadMany(t *testing.T) {
	t.Parallel()
	files := map[string]string{"index.md": "# x\n", "bad.md": "---\n"}
	for i := range 200 {
		files[fmt.Sprintf("a%03d.md", i)] = fmt.Sprintf("---\ntype: x\ntitle: T%d\n---\n\n[b](a000.md)\n", i)
	}
	want, wantPs, err := Load(bundle(files))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "a000.md", "a150.md"} {
		s := stream{bundle(files), bad, new(atomic.Int64)}
		g, ps, err := Load(s)
		if err != nil || s.told.Load() < 50 {
			t.Fatal(s.told.Load(), err)
		}
		same(t, want, g, wantPs, ps)
		g, ps, cache, err := LoadCached(s, nil, noon())
		if err != nil {
			t.Fatal(err)
		}
		same(t, want, g, wantPs, ps)
		if g, ps, err = Decode(cache, s); err != nil {
			t.Fatal(err)
		}
		same(t, want, g, wantPs, ps)
	}
}

// Files are found in order of path, however the names of folders and files lie
// between each other.
func TestListFilesInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, want := fstest.MapFS{}, []string{}
		name := rapid.SampledFrom([]string{"a", "a-", "a.b", "a0", "a b", "é", "b"})
		for range rapid.IntRange(0, 30).Draw(t, "files") {
			file := name.Draw(t, "name") + ".md"
			for range rapid.IntRange(0, 3).Draw(t, "depth") {
				file = name.Draw(t, "folder") + "/" + file
			}
			f[file] = &fstest.MapFile{Mode: 0o644}
		}
		for file := range f {
			want = append(want, file)
		}
		slices.Sort(want)
		l, err := listFiles(f)
		if err != nil || !slices.Equal(want, l.files) || len(l.problems) > 0 {
			t.Fatalf("%v, %v\nwant %q\n got %q", err, l.problems, want, l.files)
		}
	})
}
