package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

func TestCacheKeepsAFew(t *testing.T) {
	t.Parallel()
	r := New(t.TempDir())
	if b := r.Cached("nothing"); b != nil {
		t.Errorf("Cached = %q", b)
	}
	for i := range cacheFiles + 3 {
		if err := r.Keep(fmt.Sprint("f", i), []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(r.OddPath("cache"))
	if err != nil || len(entries) != cacheFiles {
		t.Errorf("%d files, %v, want %d", len(entries), err, cacheFiles)
	}
	if err := r.Keep("f1", []byte("again")); err != nil || string(r.Cached("f1")) != "again" {
		t.Errorf("Cached(f1) = %q, %v", r.Cached("f1"), err)
	}
	for _, bad := range []string{"", "../x", "a/b", ".lock"} {
		if err := r.Keep(bad, nil); err == nil {
			t.Errorf("Keep(%q) took it", bad)
		}
	}
}

// What one tree's cache says is of no use under another tree's name.
func TestCacheKnowsItsName(t *testing.T) {
	t.Parallel()
	r := New(t.TempDir())
	if err := r.Keep("tree-a", []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(r.OddPath("cache", "tree-a"), r.OddPath("cache", "tree-b")); err != nil {
		t.Fatal(err)
	}
	if b := r.Cached("tree-b"); b != nil {
		t.Errorf("Cached(tree-b) = %q", b)
	}
	if got := r.CachedNames("tree-"); !slices.Equal(got, []string{"tree-b"}) || r.CachedNames("dir-") != nil {
		t.Errorf("CachedNames = %q", got)
	}
}

// A writer that was killed leaves a file aside: nobody reads it, and the next
// one to write takes it away, unless it may still be at work.
func TestCacheAfterAKilledWriter(t *testing.T) {
	t.Parallel()
	r := New(t.TempDir())
	if err := r.Keep("f", []byte("first")); err != nil {
		t.Fatal(err)
	}
	dead, busy := r.OddPath("cache", ".f123"), r.OddPath("cache", ".f456")
	for _, file := range []string{dead, busy} {
		if err := os.WriteFile(file, []byte("f\nsec"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-abandonedAfter - time.Hour)
	if err := os.Chtimes(dead, long, long); err != nil {
		t.Fatal(err)
	}
	if got := r.CachedNames(""); !slices.Equal(got, []string{"f"}) || string(r.Cached("f")) != "first" {
		t.Errorf("CachedNames = %q, Cached = %q", got, r.Cached("f"))
	}
	if err := r.Keep("f", []byte("second")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Error("what a dead writer left is still there")
	}
	if _, err := os.Stat(busy); err != nil {
		t.Error("a writer lost its file")
	}
}

// Many may write one name at once; a reader finds what one of them wrote.
func TestCacheShared(t *testing.T) {
	t.Parallel()
	r := New(t.TempDir())
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 5 {
				if err := r.Keep("f", bytes.Repeat([]byte{'a' + byte(i)}, 100_000)); err != nil {
					t.Error(err)
				}
				b := r.Cached("f")
				if len(b) != 100_000 || bytes.Count(b, b[:1]) != len(b) {
					t.Errorf("%d bytes that nobody wrote", len(b))
				}
			}
		})
	}
	wg.Wait()
}

func TestLiveIsWholeOrGone(t *testing.T) {
	t.Parallel()
	r := New(t.TempDir())
	for _, b := range []string{"", "one\n", "two\n", "", ""} {
		if err := r.Show([]byte(b)); err != nil || string(r.Live()) != b {
			t.Errorf("Live = %q, %v, want %q", r.Live(), err, b)
		}
	}
}

// A room stays while it is small and somebody writes to it.
func TestClearRoom(t *testing.T) {
	t.Parallel()
	r := New(t.TempDir())
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	repotest.Eq(t, "no room", repotest.Must[string](t)(r.ClearRoom("build", 10, now)), "")
	for _, tt := range []struct {
		name, text, why string
		written         time.Time
	}{
		{"in use", "0123456789", "", now},
		{"too large", "0123456789a", "it has 0 MB, over the limit of 0 MB", now},
		{"unused", "0", "nothing was written to it since 2026-03-01", now.Add(-time.Second - 9*time.Hour)},
	} {
		dir := repotest.Must[string](t)(r.Room("build"))
		deep := filepath.Join(dir, "mod")
		if err := os.MkdirAll(deep, 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(deep, "a")
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Chtimes(file, tt.written, tt.written), os.Chmod(deep, 0o500)); err != nil { // as the Go tool leaves modules
			t.Fatal(err)
		}
		repotest.Eq(t, tt.name, repotest.Must[string](t)(r.ClearRoom("build", 10, now)), tt.why)
		if _, err := os.Stat(file); (err == nil) != (tt.why == "") {
			t.Errorf("%s: %v", tt.name, err)
		}
		_ = os.Chmod(deep, 0o700)
	}
}
