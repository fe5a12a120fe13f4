package okftest

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Corpus is a bundle of N atoms as they grow in years: texts of some 700 bytes
// with a long tail, words and link targets drawn by Zipf's law (so a few atoms
// are hubs that thousands point at), and one block in forty with a folded text.
//
//	dept-0007/role-700.md                one role, systems, policies, an artifact
//	dept-0007/processes/process-713.md   what the role owns
//	dept-0007/terms/term-742.md          the words they use
//
// Owners, uses and policies are of the atom's own department of PerFolder
// atoms, so what a role rests on is as large in every bundle; relates_to and
// the links of a text lead anywhere. No edge or link is broken. The same Seed
// and N make the same bytes, atom by atom.
type Corpus struct {
	Seed uint64
	N    int
}

// Planted is a word that occurs in every 500th atom or task, and nowhere else.
const Planted = "kittiwake"

// Planting is how many atoms or tasks lie between two with Planted.
const Planting = 500

// All yields every file of the corpus, path and text.
func (c Corpus) All() iter.Seq2[string, []byte] { return all(c.N, c.Atom) }

// Write writes the corpus below dir, by as many workers as there are cores.
func (c Corpus) Write(dir string) error { return writeAll(dir, c.N, c.Atom) }

// Role is the id of department k's role.
func (c Corpus) Role(k int) string { return c.name(k * PerFolder) }

// Atom is file i of the corpus.
func (c Corpus) Atom(i int) (path string, text []byte) {
	r := rand.New(rand.NewPCG(c.Seed, uint64(i)))
	typ, title := kind(i), prose(r, 2+r.IntN(4))
	var sb strings.Builder
	fmt.Fprintf(&sb, "---\ntype: %s\ntitle: %s %d\n", typ, title, i)
	if r.IntN(40) == 0 {
		fmt.Fprintf(&sb, "description: >-\n  %s\n  %s.\n", prose(r, 5), prose(r, 6))
	} else {
		fmt.Fprintf(&sb, "description: %s.\n", prose(r, 6+r.IntN(8)))
	}
	fmt.Fprintf(&sb, "tags: [%s]\nstatus: stable\n", tags(r))
	c.edges(&sb, r, typ, i)
	fmt.Fprintf(&sb, "sources:\n  - {id: s1, resource: https://example.org/docs/%d}\n", i)
	if r.IntN(10) == 0 {
		sb.WriteString("confidence: verified\nverified:\n  - {by: \"human:ann@example.org\", at: 2026-02-03T10:00:00Z}\n")
	} else {
		sb.WriteString("confidence: asserted\n")
	}
	fmt.Fprintf(&sb, "generated: {by: corpus/1, at: 2026-03-02T09:00:00Z}\n---\n\n# %s\n\n", title)
	c.body(&sb, r, i)
	return c.name(i) + ".md", []byte(sb.String())
}

// name is the path of atom i without ".md", which is its id.
func (c Corpus) name(i int) string {
	typ, folder := kind(i), ""
	switch typ {
	case "process":
		folder = "processes/"
	case "term":
		folder = "terms/"
	}
	return fmt.Sprintf("dept-%04d/%s%s-%d", i/PerFolder, folder, typ, i)
}

// near is the id of atom k of i's own department.
func (c Corpus) near(i, k int) string { return c.name(min(i-i%PerFolder+k, c.N-1)) }

// far draws an atom by Zipf's law: the first hub is drawn once in ln N times.
// A stride that shares no factor with N spreads the hubs over the departments.
func (c Corpus) far(r *rand.Rand) int {
	stride := 7919
	for gcd(stride, c.N) != 1 {
		stride++
	}
	return (zipf(r, c.N)*stride + 17) % c.N
}

func (c Corpus) edges(sb *strings.Builder, r *rand.Rand, typ string, i int) {
	for _, e := range edges(typ, i%PerFolder) {
		fmt.Fprintf(sb, "%s: %s\n", e.key, c.near(i, e.to))
	}
	if typ == "artifact" || typ == "system" {
		fmt.Fprintf(sb, "decided_by: %s\n", c.name(c.far(r)))
	}
}

// body writes paragraphs whose length is log-normal, with up to four links.
func (c Corpus) body(sb *strings.Builder, r *rand.Rand, i int) {
	words := min(4000, int(8*math.Exp(1.5*r.NormFloat64())))
	links := r.IntN(5)
	for at := 9; at < words || links > 0; at += 9 {
		sb.WriteString(prose(r, 9))
		if links > 0 {
			to := c.far(r)
			if r.IntN(3) > 0 {
				to = min(i-i%PerFolder+r.IntN(PerFolder), c.N-1)
			}
			fmt.Fprintf(sb, " [%s](/%s.md)", prose(r, 2), c.name(to))
			links--
		}
		if sb.WriteString(".\n"); at%45 == 36 {
			fmt.Fprintf(sb, "\n## %s\n\n", prose(r, 3))
		}
	}
	if i%Planting == 0 {
		fmt.Fprintf(sb, "\nA %s was seen here.\n", Planted)
	}
}

// zipf draws from 0 to n-1; k is drawn about as often as 1/(k+1) says.
func zipf(r *rand.Rand, n int) int {
	return min(n-1, int(math.Exp(r.Float64()*math.Log(float64(n)+1)))-1)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// vocabulary is 8,000 words of two to four syllables.
var vocabulary = sync.OnceValue(func() []string {
	r, seen, words := rand.New(rand.NewPCG(1, 2)), map[string]bool{}, []string{}
	for len(words) < 8000 {
		w := ""
		for range 2 + r.IntN(3) {
			w += string("bdfghklmnprstvw"[r.IntN(15)]) + string("aeiou"[r.IntN(5)])
		}
		if !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
})

// prose is n words, common ones common, the first with a capital letter.
func prose(r *rand.Rand, n int) string {
	words, out := vocabulary(), make([]string, n)
	for i := range out {
		out[i] = words[zipf(r, len(words))]
	}
	out[0] = strings.ToUpper(out[0][:1]) + out[0][1:]
	return strings.Join(out, " ")
}

func tags(r *rand.Rand) string {
	out := make([]string, 1+r.IntN(3))
	for i := range out {
		out[i] = fmt.Sprintf("topic-%d", zipf(r, 60))
	}
	return strings.Join(out, ", ")
}

// all yields files 0 to n-1 of what file says.
func all(n int, file func(int) (string, []byte)) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := range n {
			if !yield(file(i)) {
				return
			}
		}
	}
}

// writeAll writes files 0 to n-1 below dir; a worker takes a department at a
// time, so that no two work in one folder.
func writeAll(dir string, n int, file func(int) (string, []byte)) error {
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for from := w * PerFolder; from < n && errs[w] == nil; from += workers * PerFolder {
				errs[w] = writeSome(dir, from, min(n, from+PerFolder), file)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func writeSome(dir string, from, to int, file func(int) (string, []byte)) error {
	made := map[string]bool{}
	for i := from; i < to; i++ {
		name, text := file(i)
		p := filepath.Join(dir, filepath.FromSlash(name))
		if d := filepath.Dir(p); !made[d] {
			if err := os.MkdirAll(d, 0o755); err != nil {
				return err
			}
			made[d] = true
		}
		if err := os.WriteFile(p, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
