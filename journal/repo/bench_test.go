package repo

import (
	"context"
	"fmt"
	"io/fs"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// tenThousand is a repository of 10,000 files in 100 folders.
func tenThousand(b *testing.B) (*Repo, OID) {
	b.Helper()
	var files []string
	for i := range 10_000 {
		files = append(files, fmt.Sprintf("k/%02d/%04d.md", i%100, i), fmt.Sprintf("# Atom %d\n\nSome text.\n", i))
	}
	return fresh(b, files...)
}

func BenchmarkMakeAndMove(b *testing.B) {
	ctx := context.Background()
	r, at := tenThousand(b)
	for i := 0; b.Loop(); i++ {
		next, err := r.Make(ctx, []OID{at}, changes("k/00/0000.md", fmt.Sprint(i)), agent, "m")
		if err == nil {
			err = r.Move(ctx, RefUpdate{Name: "refs/heads/main", Old: at, New: next})
		}
		if err != nil {
			b.Fatal(err)
		}
		at = next
	}
}

func BenchmarkMake(b *testing.B) {
	r, at := tenThousand(b)
	for i := 0; b.Loop(); i++ {
		if _, err := r.Make(context.Background(), []OID{at}, changes("k/00/0000.md", fmt.Sprint(i)), agent, "m"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecoverNothing(b *testing.B) {
	r, _ := tenThousand(b)
	for b.Loop() {
		if _, err := r.Recover(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTreeReadMany(b *testing.B)     { benchTree(b, true) }
func BenchmarkTreeReadOneByOne(b *testing.B) { benchTree(b, false) }

func benchTree(b *testing.B, many bool) {
	r, at := tenThousand(b)
	repotest.Git(b, r.Root(), "gc", "-q")
	for b.Loop() {
		f, err := r.Tree(at)
		if err != nil {
			b.Fatal(err)
		}
		var names []string
		fs.WalkDir(f, ".", func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				names = append(names, p)
			}
			return err
		})
		if many {
			err = f.(TreeFS).ReadMany(names, func(string, []byte) error { return nil })
		} else {
			for _, n := range names {
				if _, err = fs.ReadFile(f, n); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPersonCommit(b *testing.B) {
	r, at := tenThousand(b)
	for i := 0; b.Loop(); i++ {
		if _, err := r.PersonCommit(context.Background(), []OID{at}, at, changes("k/00/0000.md", fmt.Sprint(i)), "m"); err != nil {
			b.Fatal(err)
		}
	}
}
