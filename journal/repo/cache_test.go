package repo

import (
	"context"
	"fmt"
	"os"
	"testing"
)

func TestCacheKeepsAFew(t *testing.T) {
	t.Parallel()
	r, err := Init(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if b := r.Cached("nothing"); b != nil {
		t.Errorf("Cached = %q", b)
	}
	for i := range cacheFiles + 3 {
		if err := r.Keep(fmt.Sprint("f", i), []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(r.oddDir("cache"))
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

func TestLiveIsWholeOrGone(t *testing.T) {
	t.Parallel()
	r, err := Init(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []string{"", "one\n", "two\n", "", ""} {
		if err := r.Show([]byte(b)); err != nil || string(r.Live()) != b {
			t.Errorf("Live = %q, %v, want %q", r.Live(), err, b)
		}
	}
}
