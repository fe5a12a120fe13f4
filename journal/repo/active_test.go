package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A person at work on a file is seen by their edits, their editor and the clock,
// in the checkouts of the branch alone.
func TestActive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(t *testing.T, dir string)
		ref  string
		want string
	}{
		"nobody":        {func(*testing.T, string) {}, "refs/heads/main", ""},
		"another file":  {leaves("b.txt", "mine\n"), "refs/heads/main", ""},
		"another ref":   {leaves("a.txt", "mine\n"), "refs/heads/other", ""},
		"edited":        {leaves("a.txt", "mine\n"), "refs/heads/main", "a.txt is edited and not committed"},
		"deleted":       {func(t *testing.T, dir string) { okay(t, os.Remove(filepath.Join(dir, "a.txt"))) }, "refs/heads/main", "a.txt is edited and not committed"},
		"untracked":     {leaves("docs/new.md", "mine\n"), "refs/heads/main", "docs/new.md is edited and not committed"},
		"vi":            {leaves(".a.txt.swp", "x"), "refs/heads/main", "a.txt is open in an editor, which keeps .a.txt.swp"},
		"Emacs":         {func(t *testing.T, dir string) { okay(t, os.Symlink("ann@host.1", filepath.Join(dir, ".#a.txt"))) }, "refs/heads/main", "a.txt is open in an editor, which keeps .#a.txt"},
		"saved now":     {touched(180*time.Second - time.Second), "refs/heads/main", "a.txt was written at "},
		"saved ahead":   {touched(-time.Hour), "refs/heads/main", "a.txt was written at "},
		"saved earlier": {touched(180 * time.Second), "refs/heads/main", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, dir := checkedOutRepo(t)
			c.do(t, dir)
			got, err := r.Active(t.Context(), c.ref, []string{"a.txt", "docs/new.md"}, activeNow.Add(-180*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			if s := strings.Join(got, "; "); !strings.HasPrefix(s, c.want) || (c.want == "") != (s == "") {
				t.Errorf("%q, want %q", s, c.want)
			}
		})
	}
}

var activeNow = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func okay(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// leaves is a person who writes a file, long ago.
func leaves(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		p := filepath.Join(dir, filepath.FromSlash(name))
		okay(t, os.MkdirAll(filepath.Dir(p), 0o755))
		okay(t, os.WriteFile(p, []byte(text), 0o644))
		okay(t, os.Chtimes(p, activeNow, activeNow.Add(-time.Hour)))
	}
}

// touched is a file that was saved so long ago.
func touched(ago time.Duration) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		okay(t, os.Chtimes(filepath.Join(dir, "a.txt"), activeNow, activeNow.Add(-ago)))
	}
}

// checkedOutRepo shows main with a.txt, which was written long ago.
func checkedOutRepo(t *testing.T) (*Repo, string) {
	t.Helper()
	r, err := Init(t.Context(), t.TempDir(), os.Environ())
	okay(t, err)
	oid, err := r.Make(t.Context(), nil, Changes{"a.txt": []byte("a\n"), "b.txt": []byte("b\n")}, Signature{Name: "Ann", Email: "ann@example.org", When: activeNow}, "begin\n")
	okay(t, err)
	okay(t, r.Move(t.Context(), RefUpdate{Name: "refs/heads/main", New: oid}))
	dir := r.Root()
	okay(t, os.Chtimes(filepath.Join(dir, "a.txt"), activeNow, activeNow.Add(-time.Hour)))
	return r, dir
}
