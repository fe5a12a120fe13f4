package okf

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNew(t *testing.T) {
	t.Parallel()
	a, err := New("processes/publish.md", []Field{
		{Key: "verified", Value: []Stamp{{"human:ann@example.org", "2026-06-25T09:00:00Z"}}},
		{Key: "zeta", Value: 1},
		{Key: "alpha", Value: "x"},
		{Key: "title", Value: "Publish: an article"},
		{Key: "owner", Value: []string{"editor"}},
		{Key: "id", Value: "publish-article"},
		{Key: "state", Value: nil},
		{Key: "generated", Value: Stamp{"odd/0.1.0", "2026-06-20T22:53:05Z"}},
		{Key: "sources", Value: []Source{{ID: "s1", Resource: "https://example.org/" + strings.Repeat("long/", 20), Title: "A"}, {Resource: "/x.md"}}},
		{Key: "tags", Value: []string{"a", "b, c"}},
		{Key: "acceptance", Value: []string{strings.Repeat("one ", 20), "two: " + strings.Repeat("x", 30)}},
		{Key: "type", Value: "process"},
	}, "\n\n# Publish\r\n\nText.\n\n")
	if err != nil {
		t.Fatal(err)
	}
	want := `---
type: process
id: publish-article
title: "Publish: an article"
tags: [a, "b, c"]
acceptance:
  - "one one one one one one one one one one one one one one one one one one one one "
  - "two: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
owner: [editor]
sources:
  - id: s1
    resource: https://example.org/` + strings.Repeat("long/", 20) + `
    title: A
  - {resource: /x.md}
generated: {by: odd/0.1.0, at: 2026-06-20T22:53:05Z}
verified:
  - {by: human:ann@example.org, at: 2026-06-25T09:00:00Z}
zeta: 1
alpha: x
---

# Publish

Text.
`
	if d := cmp.Diff(want, string(a.Bytes())); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if a.Path != "processes/publish.md" || a.ID != "publish-article" || len(a.Sources) != 2 || a.Confidence() != Inferred {
		t.Errorf("%s %s %v", a.Path, a.ID, a.Confidence())
	}
	blk, p := findBlock(a.Bytes())
	if p != nil {
		t.Fatal(p)
	}
	if _, ok := scanBlock(string(a.Bytes()[blk.start:blk.end])); !ok {
		t.Error("a canonical file is left to the slow parser")
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fields []Field
		want   string
	}{
		"no type":   {[]Field{{Key: "title", Value: "x"}}, "a.md:1: no type"},
		"twice":     {[]Field{{Key: "type", Value: "x"}, {Key: "a", Value: 1}, {Key: "a", Value: 2}}, "a is set twice"},
		"bad id":    {[]Field{{Key: "type", Value: "x"}, {Key: "id", Value: "a b"}}, "not a name"},
		"bad value": {[]Field{{Key: "type", Value: "x"}, {Key: "a", Value: struct{}{}}}, "a.md: a: a struct {} cannot be written"},
		"bad text":  {[]Field{{Key: "type", Value: "x"}, {Key: "a", Value: []string{"\xff"}}}, "not UTF-8"},
		"bad body":  {[]Field{{Key: "type", Value: "x"}}, "NUL"},
	} {
		body := ""
		if name == "bad body" {
			body = "\x00"
		}
		if _, err := New("a.md", tt.fields, body); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// printAtom is an atom as New writes one of the same fields and body.
func printAtom(a Atom) []byte { return formatFile(orderFields(a.Fields), a.Body()) }

func TestNewPrints(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fields := []Field{{Key: "type", Value: "x"}}
		seen := map[string]bool{"type": true, "id": true, "": true}
		for range rapid.IntRange(0, 5).Draw(t, "fields") {
			key := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"title", "owner", "sources", "on", "a b"})).Draw(t, "key")
			if !seen[key] {
				fields = append(fields, Field{Key: key, Value: drawValue(t, 3)})
				seen[key] = true
			}
		}
		body := rapid.SampledFrom([]string{"", "b", "\n\nb\n\n", "---\n", "a\r\nb\r\n", "\r\n"}).Draw(t, "body")
		a, err := New("a.md", fields, body)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			if got, _ := a.Field(f.Key); !reflect.DeepEqual(got.Value, f.Value) {
				t.Fatalf("%s = %#v, want %#v", f.Key, got.Value, f.Value)
			}
		}
		if got := printAtom(a); !bytes.Equal(got, a.Bytes()) {
			t.Fatalf("printed\n%s\nfrom\n%s", got, a.Bytes())
		}
	})
}

func FuzzPrint(f *testing.F) {
	f.Add([]byte(awkward))
	f.Add([]byte("---\ntype: x\na:\n---\n\r\n"))
	f.Add([]byte("---\ntype: x\n---\n\ra\r\r\nb\n\r"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := Parse("x.md", b)
		if err != nil {
			return
		}
		once := printAtom(a)
		c, err := Parse("x.md", once)
		if err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		for _, f := range a.Fields {
			if got, ok := c.Field(f.Key); !ok || !reflect.DeepEqual(got.Value, f.Value) {
				t.Fatalf("%s = %#v, want %#v\n%s", f.Key, got.Value, f.Value, once)
			}
		}
		if twice := printAtom(c); !bytes.Equal(once, twice) {
			t.Fatalf("%q then %q", once, twice)
		}
	})
}
