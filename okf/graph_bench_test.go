package okf_test

import (
	"testing"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/okftest"
)

// benchAtoms is a parsed bundle; its links are read.
func benchAtoms(b *testing.B) []okf.Atom {
	b.Helper()
	var atoms []okf.Atom
	for path, text := range okftest.Bundle(benchSize(b)) {
		a, err := okf.Parse(path, text)
		if err != nil {
			b.Fatal(err)
		}
		atoms = append(atoms, a)
	}
	okf.NewGraph(atoms)
	return atoms
}

func BenchmarkLinks(b *testing.B) {
	path, text := okftest.Atom(1, 100)
	a, err := okf.Parse(path, text)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(a.Links()) != 3 {
			b.Fatal(a.Links())
		}
	}
}

func BenchmarkGraph(b *testing.B) {
	atoms := benchAtoms(b)
	b.ReportAllocs()
	for b.Loop() {
		okf.NewGraph(atoms)
	}
}

func BenchmarkFirstSearch(b *testing.B) {
	atoms := benchAtoms(b)
	b.ReportAllocs()
	for b.Loop() {
		if okf.NewGraph(atoms).Search("policy of number 7", 10) == nil {
			b.Fatal("nothing found")
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	g := okf.NewGraph(benchAtoms(b))
	g.Search("x", 1)
	b.ReportAllocs()
	for b.Loop() {
		if g.Search("policy of number 7", 10) == nil {
			b.Fatal("nothing found")
		}
	}
}

func BenchmarkExpand(b *testing.B) {
	g := okf.NewGraph(benchAtoms(b))
	b.ReportAllocs()
	for b.Loop() {
		if g.Expand(g.Atoms()[0].ID, 2, false) == nil {
			b.Fatal("nothing reached")
		}
	}
}
