package reconcile

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/odd-cli/odd/okf"
)

// drawAtom is an atom with few enough names that collisions are common.
func drawAtom(t *rapid.T, id string) []okf.Field {
	word := rapid.SampledFrom([]string{"alpha", "Beta", "beta ", "a: b # c", "", "- x", "é\u200b"})
	typ := rapid.SampledFrom([]string{"term", "system", "process", "task", "canon"})
	fields := []okf.Field{{Key: "type", Value: typ.Draw(t, "type")}, {Key: "id", Value: id}, {Key: "title", Value: word.Draw(t, "title")}}
	if c := rapid.SampledFrom([]string{"", "inferred", "asserted", "verified"}).Draw(t, "confidence"); c != "" {
		fields = append(fields, okf.Field{Key: "confidence", Value: c})
	}
	for _, k := range []okf.EdgeKind{okf.Uses, okf.RelatesTo} {
		if ids := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "/terms/c.md", "gone"}), 0, 3, rapid.ID).Draw(t, string(k)); len(ids) > 0 {
			list := make([]any, len(ids))
			for i, s := range ids {
				list[i] = s
			}
			fields = append(fields, okf.Field{Key: string(k), Value: list})
		}
	}
	if tags := rapid.SliceOfN(rapid.SampledFrom([]any{"x", "y", 2024, "approved-by:ann"}), 0, 3).Draw(t, "tags"); len(tags) > 0 {
		fields = append(fields, okf.Field{Key: "tags", Value: tags})
	}
	if s := rapid.SampledFrom([]string{"", "", "draft", "stable", "deprecated"}).Draw(t, "status"); s != "" {
		fields = append(fields, okf.Field{Key: "status", Value: s})
	}
	if v := rapid.SampledFrom([]any{nil, "plain", 1.5, true, []any{"a", 1}, map[string]any{"k": "v\u200b"}}).Draw(t, "extra"); v != nil {
		fields = append(fields, okf.Field{Key: "extra", Value: v})
	}
	if rapid.Bool().Draw(t, "sourced") {
		src := map[string]any{"resource": rapid.SampledFrom([]string{"docs/a.md", "docs/b.md"}).Draw(t, "resource")}
		fields = append(fields, okf.Field{Key: "sources", Value: []any{src}})
	}
	if rapid.IntRange(0, 3).Draw(t, "verifier") == 0 {
		fields = append(fields, okf.Field{Key: "verified", Value: []any{map[string]any{"by": "human:ann", "at": "2026-06-25T09:00:00Z"}}})
	}
	return fields
}

func drawBody(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "One line.\n", "One line.\n\nTwo.\n", "# Related\n\n* [x](/terms/x.md)\n", "# Related\n\nprose\n"}).Draw(t, "body")
}

var ids = []string{"a", "b", "c", "d", "e"}

// drawBundle is a small prior bundle.
func drawBundle(t *rapid.T) []okf.Atom {
	var out []okf.Atom
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 0, 4, rapid.ID).Draw(t, "prior") {
		fields := drawAtom(t, id)
		a, err := okf.New(folderOf(fields[0].Value.(string))+"/"+id+".md", fields, drawBody(t))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "byhand") { // comments and CRLF, as an editor leaves them
			text := bytes.ReplaceAll(bytes.Replace(a.Bytes(), []byte("\nid: "), []byte("\n# ours\nid:   "), 1), []byte("\n"), []byte("\r\n"))
			if a, err = okf.Parse(a.Path, text); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, a)
	}
	return out
}

// drawEmission is atoms, some of them against the blob that is there.
func drawEmission(t *rapid.T, prior []okf.Atom) []Incoming {
	var out []Incoming
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 0, 5, rapid.ID).Draw(t, "emitted") {
		a, err := okf.New("emission.md", drawAtom(t, id), drawBody(t))
		if err != nil {
			t.Fatal(err)
		}
		in := Incoming{Atom: a, At: "emission:1"}
		for _, p := range prior {
			if string(p.ID) == id && rapid.IntRange(0, 3).Draw(t, "base") > 0 {
				in.Base = p.Blob
			}
		}
		out = append(out, in)
	}
	return out
}

func drawOptions(t *rapid.T) Options {
	o := agent()
	o.Cap = rapid.SampledFrom([]okf.Confidence{okf.Unset, okf.Inferred, okf.Asserted, okf.Verified}).Draw(t, "cap")
	return o
}

// landed is the bundle after the items are written.
func landed(t *rapid.T, prior []okf.Atom, items []Item) []okf.Atom {
	out := slices.Clone(prior)
	for _, it := range items {
		if !it.Effect.Lands() {
			continue
		}
		a, err := okf.Parse(it.Path, it.Bytes)
		if err != nil {
			t.Fatalf("%s does not parse: %v\n%s", it.Path, err, it.Bytes)
		}
		if i := slices.IndexFunc(out, func(p okf.Atom) bool { return p.Path == it.Path }); i >= 0 {
			out[i] = a
		} else {
			out = append(out, a)
		}
	}
	return out
}

func merge(t *rapid.T, prior []okf.Atom, in []Incoming, o Options) []Item {
	items, err := Merge(okf.NewGraph(slices.Clone(prior)), in, o)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func TestPropertyIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prior := drawBundle(t)
		in, o := drawEmission(t, prior), drawOptions(t)
		first := merge(t, prior, in, o)
		o.Now = o.Now.Add(48 * time.Hour) // the clock alone makes no diff
		second := merge(t, landed(t, prior, first), in, o)
		for i, it := range second {
			if first[i].Effect.Lands() && it.Effect != Unchanged {
				t.Fatalf("%s was %s and is %s (%s) the second time\n%s\n%s", it.ID, first[i].Effect, it.Effect, it.Reason, first[i].Bytes, it.Bytes)
			}
			if it.Effect.Lands() {
				t.Fatalf("%s lands the second time", it.ID)
			}
		}
	})
}

func TestPropertyOrderFree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prior := drawBundle(t)
		in, o := drawEmission(t, prior), drawOptions(t)
		want := fmt.Sprintf("%q", merge(t, prior, in, o))
		got := fmt.Sprintf("%q", merge(t, rapid.Permutation(prior).Draw(t, "atoms"), rapid.Permutation(in).Draw(t, "order"), o))
		if got != want {
			t.Fatalf("another order gives another result\n%s\n%s", got, want)
		}
	})
}

func TestPropertySafe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prior := drawBundle(t)
		o := drawOptions(t)
		most := min(max(o.Cap, okf.Inferred), okf.Asserted)
		for _, it := range merge(t, prior, drawEmission(t, prior), o) {
			if !it.Effect.Lands() {
				continue
			}
			if !fs.ValidPath(it.Path) {
				t.Fatalf("%s is written at %q", it.ID, it.Path)
			}
			a, err := okf.Parse(it.Path, it.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			var was okf.Atom
			if i := slices.IndexFunc(prior, func(p okf.Atom) bool { return p.Path == it.Path }); i >= 0 {
				was = prior[i]
			}
			if was.Tier() == okf.HumanReviewed {
				t.Fatalf("%s was verified by a person and is %s", it.ID, it.Effect)
			}
			if was.Path != "" && bytes.Contains(was.Bytes(), []byte("# ours\r\n")) && (!bytes.Contains(it.Bytes, []byte("# ours\r\n")) || bytes.Contains(bytes.ReplaceAll(it.Bytes, []byte("\r\n"), nil), []byte("\n"))) {
				t.Fatalf("%s lost a comment or mixes line endings\n%q", it.ID, it.Bytes)
			}
			if a.Confidence() > max(most, was.Confidence()) && (was.Path == "" || a.Confidence() > was.Confidence()) || a.Tier() == okf.HumanReviewed {
				t.Fatalf("%s is %s, %s above the cap %s", it.ID, a.Confidence(), a.Tier(), most)
			}
			if was.Path != "" && a.Confidence() < was.Confidence() {
				t.Fatalf("%s fell from %s to %s", it.ID, was.Confidence(), a.Confidence())
			}
		}
	})
}

func TestPropertyPrinted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for _, it := range merge(t, nil, drawEmission(t, nil), drawOptions(t)) {
			if it.Effect != Added {
				continue
			}
			a, err := okf.Parse(it.Path, it.Bytes)
			if err == nil {
				a, err = okf.New(it.Path, a.Fields, string(a.Body()))
			}
			if err != nil || !bytes.Equal(a.Bytes(), it.Bytes) {
				t.Fatalf("%v: written again\n%s\n%s", err, a.Bytes(), it.Bytes)
			}
		}
	})
}

func FuzzMerge(f *testing.F) {
	f.Add("---\ntype: term\nid: x\n---\nbody\n", cms)
	f.Add("---\ntype: system\nid: cms\nuses: [a]\nverified: [{by: \"human:a\"}]\n---\n# Related\n\n* [x](/y.md)\n", cms)
	f.Add("---\ntype: \"a\\nb\"\nid: \"x\"\n\"k: v\": {a: [1, null, true, 1.5]}\n---\n---\ntype: canon\n---\n", cms)
	f.Add("---\ntype: task\nid: t\ncommands: [[x]]\n---\n", "---\r\ntype: task\r\nid: t\r\n---\r\n")
	f.Fuzz(func(t *testing.T, emitted, prior string) {
		a, err := okf.Parse("emission.md", []byte(emitted))
		if err != nil {
			return
		}
		g := okf.NewGraph(nil)
		in := Incoming{Atom: a, At: "emission:1"}
		if p, err := okf.Parse("systems/cms.md", []byte(prior)); err == nil {
			g, in.Base = okf.NewGraph([]okf.Atom{p}), p.Blob
		}
		items, err := Merge(g, []Incoming{in}, agent())
		if err != nil {
			return
		}
		for _, it := range items {
			out, err := okf.Parse(it.Path, it.Bytes)
			if !it.Effect.Lands() {
				continue
			}
			if err != nil || !fs.ValidPath(it.Path) {
				t.Fatalf("%s at %q: %v\n%s", it.Effect, it.Path, err, it.Bytes)
			}
			if it.Effect == Added && (out.Confidence() != okf.Inferred || len(out.Verified) > 0) {
				t.Fatalf("added as %s\n%s", out.Confidence(), it.Bytes)
			}
		}
	})
}
