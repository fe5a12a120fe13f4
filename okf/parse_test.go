package okf

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFields(t *testing.T) {
	t.Parallel()
	src := "---\n" +
		"type: process # kind\n" +
		"id: publish-article\n" +
		"title: \"Publish: an article\"\n" +
		"tags: [editorial, 'a b']\n" +
		"uses:\n  - cms\n  - mail\n" +
		"owner: editor\n" +
		"confidence: asserted\n" +
		"priority: 3\nbudget: 1.5\nopen: true\nnone:\n" +
		"at: 2026-06-30T14:00:00Z\nday: 2026-06-30\n" +
		"generated: { by: odd/0.1.0, at: 2026-06-20T22:53:05Z }\n" +
		"verified:\n  - by: human:alice\n    at: 2026-06-25T09:00:00Z\n" +
		"sources:\n- {id: s1, resource: \"https://example.org/x\", title: X}\n" +
		"---\n\nBody.\n"
	a, err := Parse("processes/publish.md", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := Atom{
		Path: "processes/publish.md", ID: "publish-article", ExplicitID: true, Type: "process", Title: "Publish: an article",
		Tags: []string{"editorial", "a b"}, Claimed: Asserted,
		Edges:     []Edge{{Owner, "editor", 9}, {Uses, "cms", 6}, {Uses, "mail", 6}},
		Sources:   []Source{{ID: "s1", Resource: "https://example.org/x", Title: "X"}},
		Generated: Stamp{By: "odd/0.1.0", At: "2026-06-20T22:53:05Z"},
		Verified:  []Stamp{{By: "human:alice", At: "2026-06-25T09:00:00Z"}},
		Blob:      BlobID([]byte(src)), BodyLine: 24,
	}
	got := a
	got.Fields, got.src, got.body = nil, nil, 0
	if d := cmp.Diff(want, got, cmp.AllowUnexported(Atom{})); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	for key, want := range map[string]any{"priority": 3, "budget": 1.5, "open": true, "none": nil, "at": "2026-06-30T14:00:00Z", "day": "2026-06-30"} {
		if f, ok := a.Field(key); !ok || f.Value != want {
			t.Errorf("%s = %#v, want %#v", key, f.Value, want)
		}
	}
	if got := string(a.Body()); got != "\nBody.\n" {
		t.Errorf("body %q", got)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, src, code, want string }{
		{"empty", "", codeFrontmatter, ":1: no frontmatter"},
		{"none", "# Title\n", codeFrontmatter, ":1: no frontmatter"},
		{"BOM", "\ufeff---\ntype: x\n---\n", codeBOM, ":1: byte order mark"},
		{"UTF-16", "\xff\xfe-\x00-\x00", codeFrontmatter, ":1: UTF-16"},
		{"Latin-1", "---\ntype: x\n---\n\ncaf\xe9\n", codeFrontmatter, ":5: not UTF-8"},
		{"NUL", "---\ntype: x\n---\n\x00\n", codeFrontmatter, ":4: NUL"},
		{"blank before", "\n---\ntype: x\n---\n", codeFrontmatter, "first byte"},
		{"indented open", " ---\ntype: x\n---\n", codeFrontmatter, "first byte"},
		{"TOML", "+++\ntype = 'x'\n+++\n", codeFrontmatter, "TOML"},
		{"named fence", "---yaml\ntype: x\n---\n", codeFrontmatter, "no frontmatter"},
		{"four dashes", "----\ntype: x\n----\n", codeFrontmatter, "no frontmatter"},
		{"unterminated", "---\ntype: x\n", codeFrontmatter, "never closed"},
		{"dots close nothing", "---\ntype: x\n...\nbody\n", codeFrontmatter, "never closed"},
		{"only a fence", "---", codeFrontmatter, "never closed"},
		{"lone CRs", "---\rtype: x\r---\r", codeFrontmatter, "no frontmatter"},
		{"fence in literal", "---\ntype: x\nnote: |\n  a\n  ---\n  b\n---\n", codeFrontmatter, ":5: indented"},
		{"fence after no-break space", "---\ntype: x\nnote: |\n\u00a0---\n---\n", codeFrontmatter, ":4: indented"},
		{"empty block", "---\n---\n", codeType, "no type"},
		{"comments only", "---\n# type: x\n---\n", codeType, "no type"},
		{"a bracket that stays open", "---\ntype: x\ntitle: [oops\nid: y\nb: z\n---\n", codeFrontmatter, ":3: "},
		{"a quote that stays open", "---\ntype: x\ntitle: \"oops\nid: y\nb: z\n---\n", codeFrontmatter, ":3: "},
		{"list", "---\n- a\n---\n", codeFrontmatter, "not a mapping"},
		{"scalar", "---\nhello\n---\n", codeFrontmatter, "not a mapping"},
		{"null", "---\n~\n---\n", codeFrontmatter, "not a mapping"},
		{"duplicate key", "---\ntype: x\n\ntype: y\n---\n", codeFrontmatter, ":4: type is set twice, first on line 2"},
		{"nested duplicate", "---\ntype: x\ngenerated:\n  by: a\n  by: b\n---\n", codeFrontmatter, ":5: by is set twice"},
		{"flow duplicate", "---\ntype: x\nm: {a: 1, a: 2}\n---\n", codeFrontmatter, "a is set twice"},
		{"key by another spelling", "---\ntype: x\n'type': y\n---\n", codeFrontmatter, "set twice"},
		{"compound key", "---\ntype: x\n? [a]\n: b\n---\n", codeFrontmatter, "a key is not a plain name"},
		{"bad flow", "---\ntype: x\ntags: [a\n---\n", codeFrontmatter, "flow sequence"},
		{"bad escape", "---\ntype: x\nt: \"\\q\"\n---\n", codeFrontmatter, ":3: "},
		{"two colons", "---\ntype: x\nt: a: b\n---\n", codeFrontmatter, ":3: mapping values"},
		{"tab", "---\n\ttype: x\n---\n", codeFrontmatter, ":2: "},
		{"two documents", "---\ntype: x\n--- y\n---\n", codeFrontmatter, "single document"},
		{"line after a separator", "---\na: 'x\u2028y'\ntype: x\nb: 'z\n---\n", codeFrontmatter, ":"},
		{"alias bomb", "---\ntype: x\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d]\n---\n", codeFrontmatter, "alias"},
		{"alias of itself", "---\ntype: x\na: &a [*a]\n---\n", codeFrontmatter, ""},
		{"no type", "---\ntitle: x\n---\n", codeType, ":1: no type"},
		{"null type", "---\na: 1\ntype:\n---\n", codeType, ":3: no type"},
		{"blank type", "---\ntype: ' '\n---\n", codeType, "empty type"},
		{"number type", "---\ntype: 5\n---\n", codeType, ":2: type is 5, not text; quote it"},
		{"list type", "---\ntype: [x]\n---\n", codeType, "not text"},
		{"truth type", "---\ntype: Y\n---\n", codeType, "type: Y is read as true or false"},
		{"off type", "---\ntype: off\n---\n", codeType, "true or false"},
		{"number id", "---\ntype: x\nid: 0053\n---\n", codeID, ":3: id is 43, not text; quote it"},
		{"truth id", "---\ntype: x\nid: no\n---\n", codeID, "true or false"},
		{"id that climbs", "---\ntype: x\nid: ../x\n---\n", codeID, `:3: id "../x" is not a name`},
		{"id that climbs later", "---\ntype: x\nid: a/../../x\n---\n", codeID, "not a name"},
		{"absolute id", "---\ntype: x\nid: /x\n---\n", codeID, "not a name"},
		{"id with a blank", "---\ntype: x\nid: a b\n---\n", codeID, "not a name"},
		{"id like a path", "---\ntype: x\nid: a.md\n---\n", codeID, "not a name"},
		{"empty id", "---\ntype: x\nid: ''\n---\n", codeID, "not a name"},
		{"too big", "---\ntype: x\n---\n" + strings.Repeat("x", MaxFileBytes), codeTooBig, "over the limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("a/b.md", []byte(tt.src))
			var p Problem
			if !errors.As(err, &p) {
				t.Fatalf("error %v, want a Problem", err)
			}
			if p.Code != tt.code || p.Path != "a/b.md" || p.Line < 1 || p.Severity != Error || !strings.Contains(p.Error(), tt.want) {
				t.Errorf("%s %v, want %s … %s", p.Code, p, tt.code, tt.want)
			}
		})
	}
}

func TestParseAccepts(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, src, body string }{
		{"no body", "---\ntype: x\n---", ""},
		{"no newline at the end", "---\ntype: x\n---\nb", "b"},
		{"CRLF", "---\r\ntype: x\r\n---\r\nb\r\n", "b\r\n"},
		{"blanks after fences", "--- \ntype: x\n---\t\nb", "b"},
		{"rule in the body", "---\ntype: x\n---\n---\n", "---\n"},
		{"TOML in the body", "---\ntype: x\n---\n+++\n", "+++\n"},
		{"quoted truth", "---\ntype: \"Y\"\n---\n", ""},
		{"comment", "---\n# c\ntype: x\n---\n", ""},
		{"flow root", "---\n{type: x}\n---\n", ""},
		{"folded", "---\ntype: x\nd: a\n  b\n---\n", ""},
		{"tag", "---\ntype: !!str 5\n---\n", ""},
		{"null id", "---\ntype: x\nid:\n---\n", ""},
		{"merge key stays a key", "---\ntype: x\n<<: {a: 1}\n---\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, err := Parse("x.md", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(a.Body()); got != tt.body {
				t.Errorf("body %q, want %q", got, tt.body)
			}
			if !bytes.Equal(a.Bytes(), []byte(tt.src)) {
				t.Error("bytes are not the file's")
			}
		})
	}
}

func TestValidID(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"a": true, "publish-article": true, "a/b.c": true, "P0008": true, "_x": true, "v1.2": true,
		"": false, ".": false, "..": false, "../x": false, "a/..": false, "a//b": false, "/a": false, "a/": false,
		"-a": false, "a\\b": false, "a:b": false, "é": false, "a.md": false, strings.Repeat("x", 201): false,
	} {
		if got := ValidID(s); got != want {
			t.Errorf("ValidID(%q) = %v, want %v", s, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "---\ntype: x\n---\nb", "---\r\ntype: x\r\n---\r\n", "---\ntype: [x\n---\n", "---\ntype: &a [*a]\n---\n", "---\ntype: x\nid: ../x\n---\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := Parse("x.md", b)
		if err != nil {
			var p Problem
			if !errors.As(err, &p) || p.Code == "" || p.Line < 1 || p.Line > 1+bytes.Count(b, []byte("\n")) {
				t.Fatalf("not a located problem: %#v", err)
			}
			return
		}
		if a.Type == "" || a.ID == "" || !bytes.HasSuffix(b, a.Body()) {
			t.Fatalf("half an atom: %#v", a)
		}
	})
}
