// Package okftest makes bundles of any size for benchmarks and tests.
//
// A generated bundle is a company of departments. A department is a folder of
// a hundred atoms:
//
//	dept-0007/role-0.md       the department's role
//	dept-0007/process-1.md    processes it owns (every fourth atom)
//	dept-0007/system-2.md     what the processes use
//	dept-0007/policy-3.md     what governs them
//	dept-0007/artifact-4.md   what they produce
//	dept-0007/term-5.md       the rest: words they use
//
// Atoms have no id key: dept-0007/role-0 is one's id. Each has a block of fourteen lines
// with its fences, three typed edges, three links and some 700 bytes, all edges
// and links lead to atoms of the bundle, and the same n makes the same bytes.
package okftest

import (
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"testing/fstest"
)

// PerFolder is the number of atoms in one department.
const PerFolder = 100

// Bundle yields the n files of a bundle, path and text, in no order that
// matters. A department that is cut short by n still links only to what is
// there.
func Bundle(n int) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := range n {
			path, text := Atom(i, n)
			if !yield(path, text) {
				return
			}
		}
	}
}

// FS is Bundle(n) as a file system in memory.
func FS(n int) fs.FS {
	f := fstest.MapFS{}
	for path, text := range Bundle(n) {
		f[path] = &fstest.MapFile{Data: text, Mode: 0o644}
	}
	return f
}

// Atom is file i of Bundle(n).
func Atom(i, n int) (path string, text []byte) {
	first := i - i%PerFolder
	at := func(k int) string { return name(min(first+k, n-1)) }
	typ := kind(i)
	var sb strings.Builder
	fmt.Fprintf(&sb, "---\ntype: %s\ntitle: The %s of number %d\n", typ, typ, i)
	fmt.Fprintf(&sb, "description: What number %d is for, in one sentence of ordinary length.\n", i)
	fmt.Fprintf(&sb, "tags: [generated, number-%d]\nstatus: stable\nconfidence: asserted\n", i%7)
	for _, e := range edges(typ, i%PerFolder) {
		fmt.Fprintf(&sb, "%s: %s\n", e.key, at(e.to))
	}
	fmt.Fprintf(&sb, "sources:\n  - {id: s1, resource: https://example.org/docs/%d}\n", i)
	fmt.Fprintf(&sb, "generated: {by: bench/1, at: 2026-03-02T09:00:00Z}\n---\n\n# The %s of number %d\n\n", typ, i)
	sb.WriteString("It says so in as many words as an ordinary atom has, and no more than that.\n\n## Where it stands\n\n")
	fmt.Fprintf(&sb, "It answers to [the role](/%s.md), reads [a term](/%s.md) and keeps to [its policy](../%s.md).\n", at(0), at(5), at(3))
	return name(i) + ".md", []byte(sb.String())
}

// name is the path of atom i without ".md", which is its id.
func name(i int) string {
	return fmt.Sprintf("dept-%04d/%s-%d", i/PerFolder, kind(i), i%PerFolder)
}

func kind(i int) string {
	switch k := i % PerFolder; {
	case k == 0:
		return "role"
	case k%4 == 1:
		return "process"
	case k < 12 && k%4 == 2:
		return "system"
	case k < 12 && k%4 == 3:
		return "policy"
	case k == 4:
		return "artifact"
	}
	return "term"
}

// edge leads to atom number to of the same department.
type edge struct {
	key string
	to  int
}

func edges(typ string, k int) []edge {
	switch typ {
	case "role":
		return []edge{{"governed_by", 3}, {"uses", 2}, {"relates_to", 1}}
	case "process":
		return []edge{{"owner", 0}, {"uses", 2}, {"produces", 4}}
	}
	return []edge{{"owner", 0}, {"governed_by", 3}, {"relates_to", max(1, k-k%4+1)}}
}
