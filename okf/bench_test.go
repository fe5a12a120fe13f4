package okf_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
	"github.com/odd-cli/odd/okf/okftest"
)

// benchSize is the number of atoms; ODD_BENCH_ATOMS overrides it.
func benchSize(b *testing.B) int {
	b.Helper()
	n := 2000
	if s := os.Getenv("ODD_BENCH_ATOMS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	return n
}

// benchDir is a bundle on disk, with its pages warm.
func benchDir(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	for path, text := range okftest.Bundle(benchSize(b)) {
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

func BenchmarkParse(b *testing.B) {
	path, text := okftest.Atom(1, 100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := okf.Parse(path, text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEdit(b *testing.B) {
	_, text := okftest.Atom(1, 100)
	for b.Loop() {
		if _, err := okf.Edit(text, okf.Set{Key: "status", Value: "draft"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	f := disk.Dir(benchDir(b))
	for b.Loop() {
		g, ps, err := okf.Load(f)
		if err != nil || len(ps) > 0 || len(g.Atoms()) != benchSize(b) {
			b.Fatal(fmt.Sprint(len(ps), err))
		}
	}
}

// BenchmarkLoadCached is a load when nothing changed: one list, one lstat a
// file, no reads.
func BenchmarkLoadCached(b *testing.B) {
	f, now := disk.Dir(benchDir(b)), time.Now().Add(time.Hour)
	_, _, cache, err := okf.LoadCached(f, nil, now)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(cache))/1e6, "MB")
	for b.Loop() {
		if _, _, fresh, err := okf.LoadCached(f, cache, now); err != nil || fresh != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecode is a load of a commit's tree, which needs no walk.
func BenchmarkDecode(b *testing.B) {
	f := okftest.FS(benchSize(b))
	_, _, cache, err := okf.LoadCached(f, nil, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := okf.Decode(cache, f); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncode is what a fresh cache costs beside a load.
func BenchmarkEncode(b *testing.B) {
	f := okftest.FS(benchSize(b))
	for b.Loop() {
		if _, _, _, err := okf.LoadCached(f, nil, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheck is the findings of a loaded bundle.
func BenchmarkCheck(b *testing.B) {
	g, _, err := okf.Load(okftest.FS(benchSize(b)))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		okf.Check(g, time.Unix(0, 0))
	}
}
