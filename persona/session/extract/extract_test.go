package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
)

var noon = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// request reads every file of the archive-like list "path", "text", …
func request(pathsAndTexts ...string) session.Request {
	f := fstest.MapFS{}
	for i := 0; i+1 < len(pathsAndTexts); i += 2 {
		f[pathsAndTexts[i]] = &fstest.MapFile{Data: []byte(pathsAndTexts[i+1])}
	}
	return session.Request{Files: f, Inputs: []string{"."}, BundleRoot: "knowledge", By: "odd/0.1.0", Now: noon}
}

func drive(t *testing.T, r session.Request) session.Emission {
	t.Helper()
	e, err := session.Run(t.Context(), Substrate{}, r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// told is each atom as "type title | description | lines".
func spoken(e session.Emission) []string {
	var out []string
	for _, a := range e.Atoms {
		out = append(out, fmt.Sprintf("%s %s | %s | %s", a.Atom.Type, a.Atom.Title, a.Atom.Description, a.Atom.Sources[0].Title))
	}
	return out
}

func TestAtomWhole(t *testing.T) {
	t.Parallel()
	e := drive(t, request("docs/glossary.md", "# Words\n\nSkeg\n: A small fin under the stern.\n\nSpray deck\n: A skirt over the skeg's lever.\n"))
	if len(e.Atoms) != 2 {
		t.Fatalf("got %q", spoken(e))
	}
	want := `---
type: term
id: spray-deck
title: Spray deck
description: A skirt over the skeg's lever.
status: draft
confidence: inferred
sources:
  - id: docs-glossary
    resource: docs/glossary.md
    title: lines 6-7
    blob: "672699aa3ef93199c531b17b64e9487016904192"
    text: sha256:d82f9e8cb6f585d8/b1c9
generated: {by: odd/0.1.0, at: 2026-01-02T03:04:05Z}
---

> Spray deck: A skirt over the skeg's lever.[^docs-glossary]

[^docs-glossary]: [docs/glossary.md, lines 6-7](../../docs/glossary.md#L6-L7)
`
	if d := cmp.Diff(want, string(e.Atoms[1].Atom.Bytes())); d != "" {
		t.Errorf("atom (-want +got):\n%s", d)
	}
	if d := cmp.Diff(session.Usage{Turns: 1, CostKnown: true, Model: "extract"}, e.Usage); d != "" {
		t.Errorf("usage (-want +got):\n%s", d)
	}
}

func TestSameBytes(t *testing.T) {
	t.Parallel()
	r := request("a.md", "# A\n\n- **Ab**: a thing of some kind.\n- **Cd**: a thing beside the Ab.\n", "b.md", "# Terms\n\nEf\n: a thing like the Cd here.\n")
	first := drive(t, r)
	for range 5 {
		if d := cmp.Diff(string(first.Raw), string(drive(t, r).Raw)); d != "" {
			t.Fatalf("another run says something else:\n%s", d)
		}
	}
	again, bad := session.Parse(first.Raw)
	if len(bad) > 0 || len(again.Atoms) != len(first.Atoms) || again.Outcome != session.Completed {
		t.Errorf("Raw does not read back: %v", bad)
	}
}

func TestNothingToRead(t *testing.T) {
	t.Parallel()
	r := request("a.md", "# A\n")
	r.Inputs = []string{"missing/", "https://example.org/x.md", "../up.md", "*.txt"}
	e := drive(t, r)
	if e.Failure != session.NoInputs || !e.Usage.CostKnown {
		t.Errorf("got %q %+v", e.Failure, e.Usage)
	}
}

func TestCancelledAndRefused(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if e, err := (Substrate{}).Run(ctx, request("a.md", "# A\n")); err != nil || e.Failure != session.Cancelled {
		t.Errorf("got %q, %v", e.Failure, err)
	}
	r := request("a.md", "# A\n")
	r.Turn = func(session.Usage) error { return errors.New("over budget") }
	if e := drive(t, r); e.Failure != session.TurnRefused {
		t.Errorf("got %q", e.Failure)
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("# Glossary\n\nSkeg\n: A small fin under the stern.\n")
	f.Add("# How to open\n\n1. Take the key.\n2. Turn it twice.\n\n```sh\nmake open\n```\n")
	f.Add("---\ntitle: T\n---\n| Role | Duties |\n|---|---|\n| Editor | edits all of it |\n")
	f.Add("# Rules\n\n- You must wait here.\n- Never [run](x.md) `a.json`.\n- **A**: the [^1] thing <b> *x* | y.\n")
	f.Add("# 1. Paper\n\n## Status\n\nAccepted\n\n## Context\n\nWe had none.\n\n## Decision\n\nWe chose:\n\n- paper\n\n## 1. Do\n\n## 2. Do\n\n## 3. Do\n")
	f.Add("# Rules\n\n- You must never [run `a`](x.md#b) or ![that](y.png) `` `a` ``; see <https://a.b/c_d>!\n- [Ask](https://a.b/(c)), you [must](/glossary.md) &amp;lt; [not][r].\n\n[r]: ../../glossary.md\n")
	f.Add("A **thing** is a `file.json` that\r\nends.\r\n\r\n> quoted **Word**: a thing of some kind\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := request("docs/tools/x.md", text, "CONTRIBUTING.md", text, "docs/adr/1.md", text, "runbooks/b.md", text, "policies/p.md", text, "glossary.md", "# Terms\n\nSkeg\n: A small fin under the stern.\n")
		e, err := session.Run(t.Context(), Substrate{}, r)
		if err != nil {
			t.Fatal(err)
		}
		hold(t, e, r)
	})
}

// hold checks what every emission of this substrate promises.
func hold(t *testing.T, e session.Emission, r session.Request) {
	t.Helper()
	ids := map[okf.ID]bool{}
	for _, a := range e.Atoms {
		ids[a.Atom.ID] = true
	}
	for _, a := range e.Atoms {
		got, err := okf.Parse(a.Atom.Path, a.Atom.Bytes())
		if err != nil {
			t.Errorf("%s: %v", a.Atom.Path, err)
			continue
		}
		if len(got.Description) > 2*maxDescription || got.Claimed != okf.Inferred || len(got.Sources) == 0 {
			t.Errorf("%s: description %q, confidence %v, %d sources", got.Path, got.Description, got.Claimed, len(got.Sources))
		}
		verbatim(t, r, got)
		for _, s := range got.Sources {
			lines(t, r, s)
			if !strings.Contains(string(got.Body()), "[^"+s.ID+"]:") && len(got.Sources) == 1 {
				t.Errorf("%s: no footnote for source %s", got.Path, s.ID)
			}
		}
		for _, edge := range got.Edges {
			if !ids[okf.ID(edge.Target)] || edge.Target == string(got.ID) {
				t.Errorf("%s: edge %s to %s, which is not emitted or itself", got.Path, edge.Kind, edge.Target)
			}
		}
	}
	if _, bad := session.Parse(e.Raw); len(bad) > 0 {
		t.Errorf("Raw does not read back: %v", bad)
	}
}

// verbatim checks that the letters of every line which a page of an atom's quotes shows stand in
// the files it names, in their order, and that its links lead to files that are there or to where
// a source's do. It knows no markdown of a source, of which it takes all letters.
func verbatim(t *testing.T, r session.Request, a okf.Atom) {
	t.Helper()
	var source strings.Builder
	for _, s := range a.Sources {
		b, _ := r.Files.(fstest.MapFS).ReadFile(s.Resource)
		source.WriteString(html.UnescapeString(string(b)))
	}
	var quoted, page bytes.Buffer
	for line := range strings.Lines(string(a.Body())) {
		if q, ok := strings.CutPrefix(line, ">"); ok {
			q, _, _ = strings.Cut(strings.TrimPrefix(q, " "), "[^") // the footnote; the reader escapes the source's own
			quoted.WriteString(strings.TrimRight(q, "\n"))
		}
		quoted.WriteString("\n")
	}
	quotes, _, _ := strings.Cut(quoted.String(), "\n[^")
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert([]byte(quotes), &page); err != nil {
		t.Fatal(err)
	}
	have := letters(source.String())
	for line := range strings.Lines(regexp.MustCompile(`<t[dh]>`).ReplaceAllString(page.String(), "\n")) {
		rest := have
		for _, r := range letters(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(line, ""))) {
			_, after, found := strings.Cut(rest, string(r))
			if !found {
				t.Errorf("%s quotes what its sources do not say in this order: %q", a.Path, line)
				break
			}
			rest = after
		}
	}
	for _, m := range regexp.MustCompile(` (?:href|src)="([^"]*)"`).FindAllStringSubmatch(page.String(), -1) {
		to, err := url.Parse(html.UnescapeString(m[1]))
		if err != nil {
			t.Errorf("%s links to %q: %v", a.Path, m[1], err)
		} else if _, err := fs.Stat(r.Files, path.Join(r.BundleRoot, path.Dir(a.Path), to.Path)); to.Scheme == "" && err != nil || to.Scheme != "" && !strings.Contains(have, letters(to.Scheme)) {
			t.Errorf("%s links to %q, which is not there", a.Path, m[1])
		}
	}
}

// lines checks that every line a source names is in its file.
func lines(t *testing.T, r session.Request, s okf.Source) {
	t.Helper()
	b, err := r.Files.(fstest.MapFS).ReadFile(s.Resource)
	if err != nil {
		t.Errorf("source %s: %v", s.Resource, err)
	}
	n := strings.Count(string(b), "\n") + 1
	for _, part := range strings.Split(strings.TrimPrefix(strings.TrimPrefix(s.Title, "lines "), "line "), ", ") {
		var from, to int
		if k, _ := fmt.Sscanf(part, "%d-%d", &from, &to); k == 1 {
			to = from
		}
		if from < 1 || to < from || to > n {
			t.Errorf("source %s: %q in a file of %d lines", s.Resource, s.Title, n)
		}
	}
}

func TestSlugEndsWithAWord(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Can this API be implemented on all the platforms that Electron supports?": "can-this-api-be-implemented-on-all-the-platforms-supports",
		strings.Repeat("abcde ", 10) + "f":                                         strings.Repeat("abcde-", 9) + "f",
		strings.Repeat("x", 70):                                                    strings.Repeat("x", 60),
		"Release captain":                                                          "release-captain",
	} {
		if got := slug(title); got != want {
			t.Errorf("%s: %s, want %s", title, got, want)
		}
	}
}
