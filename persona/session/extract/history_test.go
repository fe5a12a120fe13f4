package extract_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/extract"
	"github.com/odd-cli/odd/reconcile"
)

// word is what a document defines; version counts what its definition said.
type word struct {
	name    string
	version int
}

func (w word) says() string {
	return fmt.Sprintf("A part numbered %d that hangs beside the %s door.", w.version, strings.ToLower(w.name))
}

// document is a page of a handbook.
type document struct {
	path  string
	notes int // paragraphs above the words
	words []word
}

func (d document) text() string {
	var b strings.Builder
	b.WriteString("# Glossary\n\n")
	for i := range d.notes {
		fmt.Fprintf(&b, "Read on, this is paragraph %d.\n\n", i)
	}
	for _, w := range d.words {
		fmt.Fprintf(&b, "**%s**: %s\n\n", w.name, w.says())
	}
	return b.String()
}

// handbook is a documentation tree and what was made of it.
type handbook struct {
	t     *testing.T
	rng   *rand.Rand
	docs  []document
	atoms []okf.Atom
	words int      // made so far
	gone  []string // words that nobody defines any more
	notes []string // of all runs
	count map[string]int
}

func (h *handbook) files() fs.FS {
	f := fstest.MapFS{}
	for _, d := range h.docs {
		f[d.path] = &fstest.MapFile{Data: []byte(d.text())}
	}
	return f
}

func (h *handbook) newWord() word {
	first := []string{"Bow", "Stern", "Keel", "Mast", "Hatch", "Cabin", "Deck", "Galley", "Rudder", "Tiller"}
	second := []string{"line", "board", "rack", "lamp", "rope", "pin", "hook", "chest", "brush", "cover", "plate", "rail"}
	h.words++
	return word{name: first[h.words%len(first)] + " " + second[h.words/len(first)%len(second)]}
}

// edit changes the tree as people do, and says how.
func (h *handbook) edit() string {
	d := &h.docs[h.rng.IntN(len(h.docs))]
	n := h.rng.IntN(max(len(d.words), 1))
	switch kind := h.rng.IntN(12); {
	case kind < 2:
		d.words = slices.Insert(d.words, n, h.newWord())
		return "add"
	case kind < 4 && len(d.words) > 0:
		d.words[n].version++
		return "reword"
	case kind < 6:
		d.notes++
		return "move lines"
	case kind == 6 && len(d.words) > 1:
		h.gone = append(h.gone, d.words[n].name)
		d.words = slices.Delete(d.words, n, n+1)
		return "remove"
	case kind == 7:
		d.path = path.Join(path.Dir(d.path), fmt.Sprintf("page%d.md", h.rng.IntN(1e6)))
		return "rename"
	case kind == 8 && len(d.words) > 0:
		d.path, d.words[n].version = fmt.Sprintf("docs/new/page%d.md", h.rng.IntN(1e6)), d.words[n].version+1
		return "rename and reword"
	case kind == 9 && len(d.words) > 2:
		half := slices.Clone(d.words[len(d.words)/2:])
		d.words = d.words[:len(d.words)/2]
		h.docs = append(h.docs, document{path: fmt.Sprintf("docs/part%d.md", h.rng.IntN(1e6)), words: half})
		return "split"
	case kind == 10 && len(h.docs) > 3:
		for _, w := range d.words {
			h.gone = append(h.gone, w.name)
		}
		h.docs = slices.DeleteFunc(h.docs, func(o document) bool { return o.path == d.path })
		return "delete"
	case kind == 11 && len(d.words) > 1:
		to := &h.docs[h.rng.IntN(len(h.docs))]
		w := d.words[n]
		d.words = slices.Delete(d.words, n, n+1)
		to.words = append(to.words, w)
		return "move"
	}
	d.notes++
	return "move lines"
}

// read has the reader read inputs, and lands what it emits.
func (h *handbook) read(inputs ...string) {
	h.t.Helper()
	g, files := okf.NewGraph(slices.Clone(h.atoms)), h.files()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e, err := session.Run(h.t.Context(), extract.Substrate{}, session.Request{Files: files, Graph: g, Inputs: inputs, BundleRoot: "knowledge", By: "odd/0.1.0", Now: now, MaxAtoms: 200})
	if err != nil || e.Outcome != session.Completed {
		h.t.Fatal(err, e.Failure, inputs)
	}
	for _, n := range e.Notes {
		h.notes = append(h.notes, n.Title+" "+n.Content)
	}
	var in []reconcile.Incoming
	for _, a := range e.Atoms {
		in = append(in, reconcile.Incoming{Atom: a.Atom, Base: a.Base, At: a.At})
	}
	items, err := reconcile.Merge(g, in, reconcile.Options{Cap: okf.Inferred, By: "odd/0.1.0", Now: now, Drifted: func(a *okf.Atom) []okf.Drift {
		return okf.Drifted(okf.NewGraph([]okf.Atom{*a}), files, nil)
	}})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, it := range items {
		h.land(it, g.ByPath(it.Path))
	}
}

// land writes an atom. One that is updated must say something else, or rest on another file.
func (h *handbook) land(it reconcile.Item, prior *okf.Atom) {
	h.t.Helper()
	h.count[string(it.Effect)]++
	if !it.Effect.Lands() {
		h.t.Errorf("%s is %s: %s", it.ID, it.Effect, it.Reason)
		return
	}
	a, err := okf.Parse(it.Path, it.Bytes)
	if err != nil {
		h.t.Fatal(err)
	}
	if prior == nil {
		h.atoms = append(h.atoms, a)
		return
	}
	deprecated := a.Status == "deprecated"
	if deprecated {
		h.count["deprecated"]++
	}
	if deprecated != slices.Contains(h.gone, a.Title) {
		h.t.Errorf("%s is %q, and the words that are gone are %q", a.Title, a.Status, h.gone)
	}
	rests := func(a *okf.Atom) (out []string) {
		for _, s := range a.Sources {
			out = append(out, s.Resource)
		}
		return out
	}
	if !deprecated && okf.Grounds(&a) == okf.Grounds(prior) && slices.Equal(rests(&a), rests(prior)) {
		h.count["false updates"]++
		h.t.Errorf("a false update of %s:\n%s\n%s", a.ID, prior.Bytes(), a.Bytes())
	}
	h.atoms[slices.IndexFunc(h.atoms, func(o okf.Atom) bool { return o.Path == a.Path })] = a
}

// sound fails where an atom in force refers to what is not there; whole says that all was
// read again, so that nothing may even stand elsewhere.
func (h *handbook) sound(whole bool) {
	h.t.Helper()
	files := h.files()
	g := okf.NewGraph(slices.Clone(h.atoms))
	for _, d := range okf.Drifted(g, files, nil) {
		if a := g.ByPath(d.Path); (d.Lost || whole && !d.Stands()) && len(a.Verified) == 0 {
			h.t.Errorf("%s cites what is not there: %+v", d.Path, d)
		}
	}
	mark := regexp.MustCompile(`\[\^([^\]]+)\](:?)`)
	for _, a := range h.atoms {
		if a.Status == "deprecated" || len(a.Verified) > 0 {
			continue
		}
		refers, defines := map[string]bool{}, map[string]bool{}
		for _, m := range mark.FindAllStringSubmatch(string(a.Body()), -1) {
			if refers[m[1]] = true; m[2] == ":" {
				defines[m[1]] = true
			}
		}
		for id := range refers {
			if !defines[id] || !slices.ContainsFunc(a.Sources, func(s okf.Source) bool { return s.ID == id }) {
				h.t.Errorf("%s: the footnote %s has no source:\n%s", a.Path, id, a.Bytes())
			}
		}
	}
}

// TestYear replays a year of edits of a documentation tree, and reads it again where the
// sources of atoms drifted, and all of it once in a while: no update without another text,
// nothing that refers to what is gone, and every orphan named.
func TestYear(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		h := &handbook{t: t, rng: rand.New(rand.NewPCG(seed, 27)), count: map[string]int{}}
		for i := range 4 {
			d := document{path: fmt.Sprintf("docs/page%d.md", i)}
			for range 4 {
				d.words = append(d.words, h.newWord())
			}
			h.docs = append(h.docs, d)
		}
		h.read("docs/")
		h.verify(2)
		for step := range 60 {
			h.count[h.edit()]++
			m := overview.Memory{Root: "knowledge", Files: h.files(), Graph: okf.NewGraph(slices.Clone(h.atoms))}
			if ids, docs := m.Reread(); len(ids) > 0 && len(docs) > 0 {
				h.read(docs...)
			}
			if h.sound(false); step%6 == 5 {
				h.read("docs/")
				h.sound(true)
			}
			if t.Failed() {
				t.Fatalf("seed %d, step %d: %v", seed, step, h.count)
			}
		}
		h.read("docs/")
		h.end()
		t.Logf("seed %d: %v", seed, h.count)
	}
}

// verify makes a person verify the first n atoms.
func (h *handbook) verify(n int) {
	for i := range n {
		b, err := okf.Edit(h.atoms[i].Bytes(), okf.Set{Key: "verified", Value: []any{map[string]any{"by": "human:ann@example.org", "at": "2026-01-03T00:00:00Z"}}})
		if err != nil {
			h.t.Fatal(err)
		}
		if h.atoms[i], err = okf.Parse(h.atoms[i].Path, b); err != nil {
			h.t.Fatal(err)
		}
	}
}

// end compares the atoms with the words that the documents define.
func (h *handbook) end() {
	defined := map[string]string{}
	for _, d := range h.docs {
		for _, w := range d.words {
			defined[w.name] = w.says()
		}
	}
	notes := strings.Join(h.notes, "\n")
	for _, a := range h.atoms {
		says, alive := defined[a.Title]
		switch {
		case len(a.Verified) > 0:
			if !alive && !regexp.MustCompile(`orphaned, left as is: .*\b`+string(a.ID)+`\b`).MatchString(notes) {
				h.t.Errorf("%s is verified and orphaned, and nobody said so", a.ID)
			}
		case alive && (a.Status == "deprecated" || a.Description != says):
			h.t.Errorf("%s is %q and says %q, not %q", a.ID, a.Status, a.Description, says)
		case !alive && a.Status != "deprecated":
			h.t.Errorf("%s is an orphan and in force", a.ID)
		case !alive && !strings.Contains(notes, string(a.ID)):
			h.t.Errorf("%s is an orphan, and nobody said so", a.ID)
		}
		delete(defined, a.Title)
	}
	if len(defined) > 0 {
		h.t.Errorf("nobody read %v", defined)
	}
}
