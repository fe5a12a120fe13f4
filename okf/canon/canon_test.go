package canon

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
)

const whole = "---\nuri: acme://a\ntitle: A\naudience: canon\nexposure: nav\ntier: 1\nvoice: neutral\nstability: stable\ntags: [x]\n---\n"

// files makes a folder of the texts, which are a path, a line break and the file.
func files(texts ...string) fstest.MapFS {
	f := fstest.MapFS{}
	for _, t := range texts {
		name, data, _ := strings.Cut(t, "\n")
		f[name] = &fstest.MapFile{Data: []byte(data)}
	}
	return f
}

func library(t *testing.T, f fstest.MapFS) *Library {
	t.Helper()
	l, err := Read(f, ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// said are the findings as path:line severity rule.
func said(r Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, fmt.Sprintf("%s:%d %s %s", f.Location.Path, f.Location.Line, f.Severity, f.RuleID))
	}
	return out
}

func with(change ...string) string { return strings.NewReplacer(change...).Replace(whole) }

func TestProfile(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"whole":                      {whole, nil},
		"crlf":                       {strings.ReplaceAll(whole, "\n", "\r\n"), nil},
		"byte order mark":            {"\ufeff" + whole, nil},
		"unknown keys":               {with("tags:", "colour: 7\nrelated: [{a: b}]\ntags:"), nil},
		"no block":                   {"# A\n", []string{"canon/a.md:1 error frontmatter-missing-block"}},
		"empty file":                 {"", []string{"canon/a.md:1 error frontmatter-missing-block"}},
		"not closed":                 {"---\nuri: acme://a\n", []string{"canon/a.md:1 error frontmatter-parse-error"}},
		"not yaml":                   {"---\ntitle: \"A\nuri: b\n---\n", []string{"canon/a.md:2 error frontmatter-parse-error"}},
		"a key twice":                {with("tier: 1", "tier: 1\ntier: 2"), []string{"canon/a.md:7 error frontmatter-parse-error"}},
		"not a mapping":              {"---\n- a\n---\n", []string{"canon/a.md:2 error frontmatter-parse-error"}},
		"not text":                   {"---\n\xff\n---\n", []string{"canon/a.md:2 error frontmatter-parse-error"}},
		"missing":                    {with("voice: neutral\n", "", "tags: [x]", "tags: []"), []string{"canon/a.md:1 error frontmatter-missing-required", "canon/a.md:8 error frontmatter-missing-required"}},
		"words":                      {with("canon\n", "everyone\n", "stable\n", "long_lived\n"), []string{"canon/a.md:4 error frontmatter-invalid-enum", "canon/a.md:8 error frontmatter-invalid-enum"}},
		"tier out of range":          {with("tier: 1", "tier: 0"), []string{"canon/a.md:6 error frontmatter-invalid-enum"}},
		"tier true":                  {with("tier: 1", "tier: true"), []string{"canon/a.md:6 error frontmatter-type-mismatch"}},
		"tier quoted":                {with("tier: 1", `tier: "1"`), []string{"canon/a.md:6 error frontmatter-type-mismatch"}},
		"bool quoted":                {with("tier: 1", "tier: 1\npublic: \"false\""), []string{"canon/a.md:7 error frontmatter-type-mismatch"}},
		"order quoted":               {with("tier: 1", "tier: 1\norder: '3'"), []string{"canon/a.md:7 error frontmatter-type-mismatch"}},
		"status":                     {with("tier: 1", "status: bananas\ntier: 1"), []string{"canon/a.md:6 error frontmatter-invalid-enum"}},
		"date in words":              {with("tier: 1", "date: yesterday\ntier: 1"), []string{"canon/a.md:6 error frontmatter-type-mismatch"}},
		"date that is none":          {with("tier: 1", "date: 2026-02-30\ntier: 1"), []string{"canon/a.md:6 error frontmatter-type-mismatch"}},
		"epoch":                      {with("tier: 1", "epoch: 5\ntier: 1"), []string{"canon/a.md:6 error frontmatter-type-mismatch"}},
		"relation":                   {with("tier: 1", "complements: {a: b}\nderives_from: [[a]]\ntier: 1"), []string{"canon/a.md:6 error frontmatter-type-mismatch", "canon/a.md:7 error frontmatter-type-mismatch"}},
		"what may be there":          {with("tier: 1", "status: active\ndate: 2026-02-28\nepoch: E0008.5\ntier: 1"), nil},
		"tags a text":                {with("[x]", "x, y"), []string{"canon/a.md:9 error frontmatter-type-mismatch"}},
		"uri a path":                 {with("acme://a", "canon/a"), []string{"canon/a.md:2 error frontmatter-type-mismatch"}},
		"contradiction":              {with("exposure: nav", "exposure: public\npublic: false"), []string{"canon/a.md:6 error frontmatter-contradictory"}},
		"public draft is none":       {with("exposure: nav", "exposure: draft\npublic: false"), nil},
		"indented end of other YAML": {with("title: A", "title: |\n  ---\n  x"), []string{"canon/a.md:4 error frontmatter-parse-error"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := library(t, files("canon/a.md\n"+tt.text)).Check()
			if diff := cmp.Diff(tt.want, said(r)); diff != "" {
				t.Error(diff, r.Findings)
			}
		})
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	l := library(t, files("README.md\n# Hello", "docs/x.md\n---\nuri: acme://x\n---\n", "canon/index.md\n# Canon", "node_modules/p/canon/a.md\nhello",
		".git/a.md\n---\n", "essays/torn.md\n---\nnever closed", "deep/canon/y.md\nhello", "data.txt\nhello"))
	want := []string{"deep/canon/y.md:1 error frontmatter-missing-block"}
	for range 7 {
		want = append(want, "docs/x.md:1 error frontmatter-missing-required")
	}
	want = append(want, "essays/torn.md:1 error frontmatter-parse-error")
	r := l.Check()
	if diff := cmp.Diff(want, said(r)); diff != "" {
		t.Error(diff)
	}
	if r.Scanned != 5 || r.Documents != 2 {
		t.Errorf("scanned %d, documents %d, want 5 and 2", r.Scanned, r.Documents)
	}
}

func TestSymlinksAreNamed(t *testing.T) {
	t.Parallel()
	f := files("canon/a.md\n" + whole)
	f["canon/link.md"] = &fstest.MapFile{Data: []byte("a.md"), Mode: fs.ModeSymlink}
	f["link.md"] = &fstest.MapFile{Data: []byte("canon/a.md"), Mode: fs.ModeSymlink}
	if diff := cmp.Diff([]string{"canon/link.md:1 error frontmatter-parse-error"}, said(library(t, f).Check())); diff != "" {
		t.Error(diff)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	doc := func(keys, body string) string { return with("tags: [x]", "tags: [x]"+keys) + body }
	for name, tt := range map[string]struct {
		text string
		want []string // rule and occurrence
	}{
		"found":                            {doc("\nderives_from: canon/b.md, acme://b, b.md\ncomplements: [acme://b, ./b.md, 'a (b, c) d']", "[b](b.md) acme://b, [x](/canon/b.md#brand-guide--voice)\n"), nil},
		"dead":                             {doc("\nderives_from: canon/gone.md, acme://gone", "acme://gone2.\n"), []string{"dead-reference canon/gone.md", "dead-reference acme://gone", "dead-reference acme://gone2"}},
		"another authority is never dead":  {doc("\nderives_from: [other://x, 'tool://tools/get']", "other://y https://example.org/gone.md <other://z>\n"), nil},
		"patterns":                         {doc("\nderives_from: 'acme://{slug}'", "acme://<name> acme://canon/* `acme://…` acme://... acme://canon/[slug] acme:// acme://x/...\n"), nil},
		"phrases":                          {doc("\nsupersedes: 'DRAFT v3 (2026-04-24, before the cut)'", ""), nil},
		"code is not looked into":          {doc("", "```\nacme://gone\n```\n~~~ x\n```\nacme://gone\n~~~\n> ```\n> acme://gone\n> ```\n"), nil},
		"nor is a code span":               {doc("", "`acme://gone` and ``acme://gone ` x``\n"), nil},
		"placeholders":                     {doc("\nderives_from: [DR-YYYYMMDD-####, 2026-MM-DD-x.md, acme://path/to/slug]", "[x](path/to/file.md) acme://decisions/D####\n"), nil},
		"comments are not looked into":     {doc("", "<!-- acme://gone\nacme://gone -->\n"), nil},
		"emphasis":                         {doc("", "**acme://b** *acme://b*: _acme://b_.\n"), nil},
		"a heading":                        {doc("", "acme://b#none and [x](#here) [y](#there)\n\n# Here\n"), []string{"dead-anchor acme://b#none", "dead-anchor #there"}},
		"the beginning of a heading":       {doc("", "acme://b#brand-guide acme://b#brand\n"), []string{"loose-anchor acme://b#brand-guide", "loose-anchor acme://b#brand"}},
		"a named element":                  {doc("", "acme://b#Mark\n"), nil},
		"climbing":                         {doc("\nderives_from: acme://../secret", "acme://x/%2e%2e/y [out](../../etc/passwd.md)\n"), []string{"invalid-reference acme://../secret", "invalid-reference acme://x/%2e%2e/y"}},
		"by path":                          {doc("", "acme://canon/b\n"), []string{"reference-by-path acme://canon/b"}},
		"by suffix":                        {doc("", "acme://b.md acme://canon\n"), []string{"reference-by-path acme://canon"}},
		"a route is a warning":             {doc("", "[x](/writings/one) [y](gone.md)\n"), []string{"dead-reference /writings/one", "dead-reference gone.md"}},
		"allowed":                          {doc("", "<!-- audit-allow: dead-reference reason=\"renamed\" -->\n[acme://gone](acme://gone) acme://gone3\n"), []string{"dead-reference acme://gone3"}},
		"allowed without a reason":         {doc("", "<!-- audit-allow: dead-reference -->\nacme://gone\n"), []string{"audit-allow-invalid dead-reference", "dead-reference acme://gone"}},
		"allowed with an unknown rule":     {doc("", "<!-- audit-allow: dead reason=\"x\" --> acme://gone\n"), []string{"dead-reference acme://gone", "audit-allow-invalid dead"}},
		"allowed for nothing":              {doc("", "<!-- audit-allow: dead-reference reason=\"x\" --> acme://b\n\n<!-- audit-allow: dead-anchor reason=\"x\" -->\n"), []string{"audit-allow-unused dead-reference", "audit-allow-unused dead-anchor"}},
		"a comment in code allows nothing": {doc("", "`<!-- audit-allow: dead-reference reason=\"x\" -->` acme://gone\n"), []string{"dead-reference acme://gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := with("acme://a", "acme://b") + "# Brand Guide — Voice\n\n<a id=\"mark\"></a>\n"
			r := library(t, files("canon/a.md\n"+tt.text, "canon/b.md\n"+b, "canon/README.md\n"+with("acme://a", "acme://index"))).Check()
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.RuleID+" "+f.Occurrence)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDeadLines(t *testing.T) {
	t.Parallel()
	r := library(t, files("canon/a.md\n"+whole+"one\n\nacme://gone/b and [x](/route)\n", "canon/b.md\n"+with("acme://a", "acme://b"))).Check()
	want := []string{"canon/a.md:13 error dead-reference", "canon/a.md:13 warning dead-reference"}
	if diff := cmp.Diff(want, said(r)); diff != "" {
		t.Error(diff)
	}
	if m := r.Findings[0].Message; m != "acme://gone/b leads nowhere; did you mean acme://b?" {
		t.Error(m)
	}
	if s := r.Strict(); s.Errors != 2 || s.Warnings != 0 {
		t.Errorf("strict: %d errors, %d warnings", s.Errors, s.Warnings)
	}
}

func TestDuplicatesAndCircles(t *testing.T) {
	t.Parallel()
	doc := func(uri, more string) string { return with("acme://a", uri, "tags: [x]", "tags: [x]"+more) }
	r := library(t, files("a.md\n"+doc("acme://a", ""), "b.md\n"+doc("acme://a", ""),
		"c.md\n"+doc("acme://c", "\nsuperseded_by: acme://d"), "d.md\n"+doc("acme://d", "\nsuperseded_by: e.md"), "e.md\n"+doc("acme://e", "\nsuperseded_by: acme://c"),
		"self.md\n"+doc("acme://self", "\nsupersedes: acme://self"), "old.md\n"+doc("acme://old", ""), "new.md\n"+doc("acme://new", "\nsupersedes: old.md\nstatus: proposed"))).Check()
	want := []string{"a.md:2 error duplicate-uri", "b.md:2 error duplicate-uri", "c.md:10 error circular-supersession", "self.md:10 error circular-supersession"}
	if diff := cmp.Diff(want, said(r)); diff != "" {
		t.Error(diff)
	}
	if m := r.Findings[2].Message; m != "circle of supersession: acme://c → acme://d → acme://e → acme://c" {
		t.Error(m)
	}
}

func TestEveryRuleIsListed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.Name] || r.About == "" || r.Severity != okf.Error && r.Severity != okf.Warn {
			t.Errorf("%+v", r)
		}
		seen[r.Name] = true
	}
}

func TestReferencesAreListed(t *testing.T) {
	t.Parallel()
	f := files("canon/a.md\n"+with("tags: [x]", "tags: [x]\nderives_from: \"canon/b.md, ./c.md, acme://gone, odd://x, kit://b, DRAFT v3 (2026-04-24, cut)\"\ncomplements: ['acme://{name}', b]\nsupersedes: D0009, D0010")+"[x](../data.txt)\n",
		"canon/b.md\n"+with("acme://a", "kit://a"), "canon/c.md\n# C", "canon/D0009-one.md\n# D", "old/D0009-two.md\n# D", "old/D0010-a.md\n# D", "new/D0010-b.md\n# D", "data.txt\n1")
	l, err := Read(f, ".", []string{"kit"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Reference{
		{"derives_from", "canon/b.md", 10, RefFound, "canon/b"},
		{"derives_from", "./c.md", 10, RefFound, "canon/c"},
		{"derives_from", "acme://gone", 10, RefMissing, ""},
		{"derives_from", "odd://x", 10, RefExternal, ""},
		{"derives_from", "kit://b", 10, RefExternal, ""},
		{"derives_from", "DRAFT v3 (2026-04-24, cut)", 10, RefProse, ""},
		{"complements", "acme://{name}", 11, RefPattern, ""},
		{"complements", "b", 11, RefFound, "canon/b"},
		{"supersedes", "D0009", 12, RefFound, "canon/D0009-one"},
		{"supersedes", "D0010", 12, RefMissing, ""},
		{"", "../data.txt", 14, RefFound, "data.txt"},
	}
	if d := cmp.Diff(want, l.References("canon/a.md")); d != "" {
		t.Error(d)
	}
	if got := l.References("nobody.md"); got != nil {
		t.Errorf("nobody refers to %v", got)
	}
}
