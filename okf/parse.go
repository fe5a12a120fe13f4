package okf

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/adrg/frontmatter"
	"go.yaml.in/yaml/v4"
)

// Problem is one located finding about a bundle. It is also the error Parse
// returns, so that one bad file costs one line and not the bundle.
type Problem struct {
	Code     string   `json:"code"` // "okf-…" for the OKF rules, "odd-…" for odd's own
	Severity Severity `json:"severity"`
	Path     string   `json:"path"`
	Line     int      `json:"line"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"` // the way out
}

// Error is "path:line: message; hint".
func (p Problem) Error() string {
	s := fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Message)
	if p.Hint != "" {
		s += "; " + p.Hint
	}
	return s
}

// Severity orders problems. Only an Error about the three OKF rules makes a
// bundle non-conformant.
type Severity string

// The severities.
const (
	Error Severity = "error"
	Warn  Severity = "warning"
	Info  Severity = "info"
)

// Parse reads one concept file. The error is a Problem.
func Parse(file string, b []byte) (Atom, error) {
	bad := func(line int, code, msg, hint string) (Atom, error) {
		return Atom{}, Problem{Code: code, Severity: Error, Path: file, Line: line, Message: msg, Hint: hint}
	}
	if !utf8.Valid(b) {
		return bad(1, "okf-encoding", "not UTF-8 text", "save the file as UTF-8")
	}
	if !bytes.HasPrefix(b, []byte("---")) {
		return bad(1, "okf-frontmatter", "no frontmatter", `start the file with "---", a type and "---"`)
	}
	var root yaml.Node
	rest, err := frontmatter.MustParse(bytes.NewReader(b), &root, frontmatter.NewFormat("---", "---", func(src []byte, v any) error {
		return yaml.Unmarshal(src, v)
	}))
	if err != nil {
		return bad(1, "okf-frontmatter", err.Error(), "close the block with a line that is exactly \"---\"")
	}
	a := Atom{Path: file, src: b, body: len(b) - len(rest), Blob: BlobID(b)}
	a.BodyLine = 1 + bytes.Count(b[:a.body], []byte("\n"))
	if len(root.Content) == 1 && root.Content[0].Kind == yaml.MappingNode {
		m := root.Content[0]
		for i := 0; i+1 < len(m.Content); i += 2 {
			a.Fields = append(a.Fields, Field{Key: m.Content[i].Value, Value: value(m.Content[i+1]), Line: m.Content[i].Line + 1})
		}
	}
	a.fill()
	if a.Type == "" {
		return bad(1, "okf-type", "no type", "add a non-empty type to the frontmatter")
	}
	return a, nil
}

// fill sets the named members of a from its fields.
func (a *Atom) fill() {
	a.Type, a.Title, a.Description = a.Text("type"), a.Text("title"), a.Text("description")
	a.Resource, a.URI, a.Status, a.StaleAfter = a.Text("resource"), a.Text("uri"), a.Text("status"), a.Text("stale_after")
	a.Tags = a.List("tags")
	a.Claimed, _ = ParseConfidence(a.Text("confidence"))
	a.ID = ID(strings.TrimSuffix(path.Clean(a.Path), ".md"))
	if id := a.Text("id"); id != "" {
		a.ID, a.ExplicitID = ID(id), true
	}
	for _, k := range EdgeKinds() {
		f, _ := a.Field(string(k))
		for _, t := range list(f.Value) {
			a.Edges = append(a.Edges, Edge{Kind: k, Target: t, Line: f.Line})
		}
	}
	if f, ok := a.Field("generated"); ok {
		a.Generated = stamp(f.Value)
	}
	if f, ok := a.Field("verified"); ok {
		for _, v := range items(f.Value) {
			a.Verified = append(a.Verified, stamp(v))
		}
	}
	if f, ok := a.Field("sources"); ok {
		for _, v := range items(f.Value) {
			if m, ok := v.(map[string]any); ok {
				a.Sources = append(a.Sources, Source{ID: text(m["id"]), Resource: text(m["resource"]), Title: text(m["title"])})
			}
		}
	}
}

func stamp(v any) Stamp {
	m, _ := v.(map[string]any)
	return Stamp{By: text(m["by"]), At: text(m["at"])}
}

// items reads a list, or a bare value as a list of one.
func items(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}

func value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.AliasNode:
		return value(n.Alias)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			out = append(out, value(c))
		}
		return out
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = value(n.Content[i+1])
		}
		return out
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool", "!!int", "!!float":
		var v any
		if n.Decode(&v) == nil {
			return v
		}
	}
	return n.Value
}
