package state

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// A commit's bundle, and its tasks alone, are what their files say, from a cache
// of the commit, of an earlier one, of one that is gone or damaged, or of none.
func TestCommittedFromAnotherCommitsCache(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, err := repo.Init(ctx, t.TempDir(), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	who := repo.Signature{Name: "Ann", Email: "ann@example.org", When: time.Unix(1_800_000_000, 0)}
	ch := repo.Changes{"k/terms/tide.md": []byte("---\ntype: term\n---\n")}
	for i := range atomsWorthKeeping {
		ch[fmt.Sprintf("k/tasks/t%d.md", i)] = fmt.Appendf(nil, "---\ntype: task\nid: t%d\ndependencies: [t%d]\n---\n", i, max(i-1, 0))
	}
	first, err := r.Make(ctx, nil, ch, who, "first")
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Make(ctx, []repo.OID{first}, repo.Changes{
		"k/tasks/t1.md": []byte("---\ntype: task\nid: other\n---\n[t2](t2.md)\n"), "k/tasks/t3.md": nil, "k/tasks/new.md": []byte("no atom"), "k/terms/ebb.md": []byte("---\ntype: term\n---\n"),
	}, who, "second")
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string, oid repo.OID) {
		t.Helper()
		files, err := r.Tree(oid)
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := fs.Sub(files, "k")
		if err != nil {
			t.Fatal(err)
		}
		for _, tasks := range []bool{false, true} {
			s := Of(bundle, r)
			load, plain := s.Atoms, bundle
			if tasks {
				load, plain = s.TaskAtoms, board.Only(bundle)
			}
			g, ps, err := load()
			if err != nil {
				t.Fatal(err)
			}
			wg, wps, err := okf.Load(plain)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := describe(g, ps), describe(wg, wps); got != want {
				t.Errorf("%s, tasks alone %v:\n%s\nwant\n%s", when, tasks, got, want)
			}
		}
	}
	check("no cache", first)
	if names := r.CachedNames(""); len(names) != 2 {
		t.Fatalf("kept %v", names)
	}
	check("its own cache", first)
	check("the cache of the commit before", second)
	if names := r.CachedNames(""); len(names) != 2 {
		t.Errorf("a new cache for few changes: %v", names)
	}
	for _, damage := range []func(b []byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { b = slices.Clone(b); b[len(b)/2] ^= 1; return b },
		func([]byte) []byte { return nil },
	} {
		for _, name := range r.CachedNames("") {
			at := filepath.Join(r.CommonDir(), "odd", "cache", name)
			b, err := os.ReadFile(at)
			if err == nil {
				err = os.WriteFile(at, damage(b), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		check("a damaged cache", second)
		check("a damaged cache, its own commit", first)
	}
	os.WriteFile(filepath.Join(r.CommonDir(), "odd", "cache", "tree-0123456789012345678901234567890123456789"), []byte("x"), 0o644)
	check("the cache of a tree that is gone", second)
}
