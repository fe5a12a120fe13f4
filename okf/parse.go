package okf

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/adrg/frontmatter"
)

// MaxFileBytes is the largest concept file that is read. A page of prose is a
// few KiB; the limit keeps a dump that was named .md by mistake out of memory.
const MaxFileBytes = 8 << 20

// Problem is one located finding about a bundle. It is also the error Parse
// returns, so that one bad file costs one line and not the bundle.
type Problem struct {
	Code     string   `json:"code"` // one of Codes: "okf-…" for the OKF rules, "odd-…" for odd's own
	Severity Severity `json:"severity"`
	Path     string   `json:"path"`
	Line     int      `json:"line"` // 1-based line in the file
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"` // the way out
}

// Error is "path:line: message; hint", or "line N: …" without a path.
func (p Problem) Error() string {
	s := fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Message)
	if p.Path == "" {
		s = fmt.Sprintf("line %d: %s", p.Line, p.Message)
	}
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

// Parse reads one concept file. The error is a Problem with file as its path.
// The atom's texts are parts of b, which must not change any more.
//
// The block must open on the first byte with a line "---" and close with the
// next line "---" in column 0 (blanks after the dashes are allowed), hold one
// YAML mapping without duplicate keys, and name a type or have the keys of canon,
// whose type is canon. The file must be UTF-8
// without a byte order mark or NUL, and at most MaxFileBytes long.
func Parse(file string, b []byte) (Atom, error) {
	a, p := parse(file, b)
	if p != nil {
		p.Path = file
		return Atom{}, *p
	}
	return a, nil
}

func parse(file string, b []byte) (Atom, *Problem) {
	a, p := parseBlock(file, b)
	if p == nil {
		p = a.checkNames()
	}
	if p != nil {
		return Atom{}, p
	}
	a.fill()
	return a, nil
}

// parseBlock reads the fields of a file's block and finds its body.
func parseBlock(file string, b []byte) (Atom, *Problem) {
	if p := readable(b); p != nil {
		return Atom{}, p
	}
	blk, p := split(b)
	if p != nil {
		return Atom{}, merging(b, p)
	}
	fields, ok := scan(textOf(b[blk.start:blk.end]))
	if !ok {
		if fields, p = strict(b, blk); p != nil {
			return Atom{}, merging(b, p)
		}
	}
	a := Atom{Path: file, Fields: fields, src: b, body: blk.body, Blob: BlobID(b)}
	a.BodyLine = 1 + bytes.Count(b[:a.body], []byte("\n"))
	return a, nil
}

// merging is p, or the merge that was not finished and that p comes of.
func merging(b []byte, p *Problem) *Problem {
	c := Conflict(b)
	if c == nil {
		return p
	}
	c.Code = codeFrontmatter
	return c
}

// ParsePage reads a markdown file that need not be an atom: a byte order mark
// is skipped, the block may lack a type, and there may be no block at all, which
// block tells. Everything else is as strict as in Parse, and the error is a
// Problem too.
func ParsePage(file string, b []byte) (a Atom, block bool, err error) {
	text := bytes.TrimPrefix(b, []byte("\ufeff"))
	if p := readable(text); p == nil && hasNoFence(text) {
		a = Atom{Path: file, src: text, BodyLine: 1}
	} else if a, p = parseBlock(file, text); p != nil {
		p.Path = file
		return Atom{}, true, *p
	}
	a.Blob = BlobID(b)
	a.fill()
	return a, len(a.src) > 0 && a.body > 0, nil
}

// hasNoFence reports a file that does not try to have a block.
func hasNoFence(b []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimLeft(b, " \t\r\n"), []byte("\n"))
	return !fence(first) && !bytes.HasPrefix(b, []byte("+++"))
}

// bad is an error Problem whose path is set by Parse.
func bad(line int, code, msg, hint string) *Problem {
	return &Problem{Code: code, Severity: Error, Line: line, Message: msg, Hint: hint}
}

// readable refuses what is not a text file of a sensible size.
func readable(b []byte) *Problem {
	if len(b) > MaxFileBytes {
		return tooBig(int64(len(b)))
	}
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return bad(1, codeFrontmatter, "UTF-16 text, not UTF-8", "save the file as UTF-8 without a byte order mark")
	}
	if bytes.HasPrefix(b, []byte("\ufeff")) {
		return bad(1, codeBOM, "byte order mark before the frontmatter", "save the file as UTF-8 without a byte order mark")
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return bad(lineAt(b, i), codeFrontmatter, "NUL byte, so not a text file", "move a binary file out of the bundle or drop its .md")
	}
	if utf8.Valid(b) {
		return nil
	}
	return bad(lineAt(b, invalidAt(b)), codeFrontmatter, "not UTF-8 text", "save the file as UTF-8")
}

func tooBig(size int64) *Problem {
	return bad(1, codeTooBig, fmt.Sprintf("%d bytes, over the limit of %d", size, MaxFileBytes), "split the file or move it out of the bundle")
}

func lineAt(b []byte, offset int) int { return 1 + bytes.Count(b[:offset], []byte("\n")) }

// invalidAt is the offset of the first byte that is not UTF-8.
func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// block is where the frontmatter lies in a file: b[start:end] is the YAML,
// b[body:] is the body.
type block struct {
	start, end, body int
}

// split finds the fences. It is stricter than the library that reads the block:
// the library skips blank lines before the block, takes an indented "---" for
// the closing fence, and takes an unclosed block for no block at all.
func split(b []byte) (block, *Problem) {
	first, rest, _ := bytes.Cut(b, []byte("\n"))
	if !fence(first) {
		return block{}, noBlock(b)
	}
	blk := block{start: len(b) - len(rest)}
	for at := blk.start; ; {
		dashes := bytes.Index(b[at:], []byte("---"))
		if dashes < 0 {
			break
		}
		at += 1 + bytes.LastIndexByte(b[at:at+dashes], '\n')
		line, _, more := bytes.Cut(b[at:], []byte("\n"))
		next := at + len(line)
		if more {
			next++
		}
		if fence(line) {
			blk.end, blk.body = at, next
			return blk, nil
		}
		if string(bytes.TrimSpace(line)) == "---" {
			return block{}, bad(lineAt(b, at), codeFrontmatter, `indented "---" inside the block, which other readers take for its end`, "quote the text or write it another way")
		}
		at = next
	}
	return block{}, bad(1, codeFrontmatter, "frontmatter is never closed", `end the block with a line that is exactly "---"`)
}

// fence reports whether a line is "---" with nothing but blanks after it.
func fence(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t\r")) == 0
}

func noBlock(b []byte) *Problem {
	hint := `start the file with "---", a type and "---"`
	switch {
	case hasNoFence(b):
		return bad(1, codeFrontmatter, "no frontmatter", hint)
	case bytes.HasPrefix(b, []byte("+++")):
		return bad(1, codeFrontmatter, "TOML frontmatter", "write the block as YAML between two lines \"---\"")
	default:
		return bad(1, codeFrontmatter, `frontmatter does not start on the first byte`, `remove what stands before the first "---"`)
	}
}

// strict reads the block in full generality. The library must have cut the
// file where split did, so that two readings of one file cannot differ.
func strict(b []byte, blk block) ([]Field, *Problem) {
	var fields []Field
	format := frontmatter.NewFormat("---", "---", func(src []byte, v any) error {
		fs, p := decode(src)
		if p != nil {
			return p
		}
		*v.(*[]Field) = fs
		return nil
	})
	rest, err := frontmatter.MustParse(bytes.NewReader(b), &fields, format)
	if p, ok := err.(*Problem); ok {
		return nil, p
	}
	if err != nil {
		return nil, bad(1, codeFrontmatter, err.Error(), "")
	}
	if len(b)-len(rest) != blk.body {
		return nil, bad(1, codeFrontmatter, "it is unclear where the frontmatter ends", `write the fences as lines that are exactly "---"`)
	}
	return fields, nil
}

// checkNames checks the two keys an atom is known by.
func (a *Atom) checkNames() *Problem {
	f, ok := a.Field("type")
	if !ok && a.canonByKeys() {
		return a.validID()
	}
	if !ok || f.Value == nil {
		for _, f := range a.Fields {
			if near := Nearest(foldWord(f.Key), []string{"type"}); near != "" && near != f.Key {
				return bad(f.Line, codeType, "no type", fmt.Sprintf("did you mean \"type\" instead of %q?", f.Key))
			}
		}
		if f, ok := a.Field("persona"); ok {
			return bad(f.Line, codeType, "no type", AddPersona)
		}
		return bad(a.Line("type"), codeType, "no type", "add a line such as \"type: term\" to the frontmatter")
	}
	t, ok := f.Value.(string)
	if !ok {
		return bad(f.Line, codeType, fmt.Sprintf("type is %v, not text", f.Value), "quote it")
	}
	if strings.TrimSpace(t) == "" {
		return bad(f.Line, codeType, "empty type", "name the type")
	}
	return a.validID()
}

// AddPersona is the hint of the problem with a file that has the key persona and no type.
const AddPersona = `add the line "type: persona", so that odd reads its persona`

func (a *Atom) validID() *Problem {
	f, ok := a.Field("id")
	if !ok || f.Value == nil {
		return nil
	}
	id, ok := f.Value.(string)
	if !ok {
		return bad(f.Line, codeID, fmt.Sprintf("id is %v, not text", f.Value), "quote it")
	}
	if !ValidID(id) {
		return bad(f.Line, codeID, fmt.Sprintf("id %q is not a name", id), `use letters, digits, "-", "_" and "." in parts separated by "/"`)
	}
	return nil
}

// fill sets the named members of a from its fields.
func (a *Atom) fill() {
	edges := 0
	for i := range a.Fields {
		if edgeRank(EdgeKind(a.Fields[i].Key)) >= 0 {
			edges++
		}
	}
	if edges > 0 {
		a.Edges = make([]Edge, 0, edges)
	}
	for i := range a.Fields {
		a.member(&a.Fields[i])
	}
	if len(a.Edges) == 0 {
		a.Edges = nil
	}
	if a.Generated == (Stamp{}) {
		a.Generated.At = a.Text("timestamp") // OKF v0.1
	}
	sortEdges(a.Edges)
	if _, typed := a.Field("type"); !typed && a.canonByKeys() {
		a.Type = canonType
	}
	if !a.ExplicitID {
		a.ID = ID(strings.TrimSuffix(path.Clean(a.Path), ".md"))
	}
}

func (a *Atom) member(f *Field) {
	switch f.Key {
	case "type":
		a.Type = text(f.Value)
	case "id":
		a.ID = ID(text(f.Value))
		a.ExplicitID = a.ID != ""
	case "title":
		a.Title = text(f.Value)
	case "description":
		a.Description = text(f.Value)
	case "resource":
		a.Resource = text(f.Value)
	case "uri":
		a.URI = text(f.Value)
	case "status":
		a.Status = text(f.Value)
	case "stale_after":
		a.StaleAfter = text(f.Value)
	case "tags":
		a.Tags = list(f.Value)
	default:
		a.trust(f)
	}
}

// trust sets the members about who says so, and the edges.
func (a *Atom) trust(f *Field) {
	switch f.Key {
	case "confidence":
		a.Claimed = readClaim(f.Value)
	case "generated":
		a.Generated = stamp(f.Value)
	case "verified":
		for _, v := range items(f.Value) {
			a.Verified = append(a.Verified, stamp(v))
		}
	case "sources":
		for _, v := range items(f.Value) {
			if m, ok := v.(map[string]any); ok {
				a.Sources = append(a.Sources, Source{ID: text(m["id"]), Resource: text(m["resource"]), Title: text(m["title"])})
			}
		}
	default:
		if edgeRank(EdgeKind(f.Key)) < 0 {
			return
		}
		if t, ok := f.Value.(string); ok && t != "" {
			a.Edges = append(a.Edges, Edge{Kind: EdgeKind(f.Key), Target: t, Line: f.Line})
			return
		}
		for _, t := range list(f.Value) {
			a.Edges = append(a.Edges, Edge{Kind: EdgeKind(f.Key), Target: t, Line: f.Line})
		}
	}
}

// readClaim reads the confidence word. A word outside the ladder says that the
// atom was rated and not how, so it counts as the lowest rung.
func readClaim(v any) Confidence {
	c, ok := ParseConfidence(text(v))
	if !ok {
		return Inferred
	}
	return c
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
