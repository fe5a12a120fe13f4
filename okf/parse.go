package okf

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/adrg/frontmatter"
)

// MaxFileBytes is the largest concept file that is read. A page of prose is a few KiB; the
// limit keeps out of memory a dump that was named .md by mistake.
const MaxFileBytes = 8 << 20

// Problem is one finding about a bundle, with its place. It is also the error that Parse
// returns, so that one bad file costs one line and not the bundle.
type Problem struct {
	Code     string   `json:"code"` // one of Codes: "okf-…" for the OKF rules, "odd-…" for odd's own
	Severity Severity `json:"severity"`
	Path     string   `json:"path"`
	Line     int      `json:"line"` // 1-based line in the file
	Message  string   `json:"message"`
	Hint     string   `json:"fix,omitempty"` // the way out
}

// Error formats "path:line: message; hint", or "line N: …" without a path.
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

// Severity ranks problems. Only an Error about the three OKF rules makes a bundle
// non-conformant.
type Severity string

// The severities.
const (
	Error Severity = "error"
	Warn  Severity = "warning"
	Info  Severity = "info"
)

// Parse reads one concept file. The error is a Problem with file as its path. The texts of
// the atom are parts of b, which must not change any more.
//
// The block must open on the first byte with a line "---" and close with the next line
// "---" in column 0; blanks after the dashes are allowed. It must hold one YAML mapping
// without duplicate keys. It must have a type, or the keys of canon, whose type is then
// canon. The file must be UTF-8 without a byte order mark or NUL, and at most MaxFileBytes
// long.
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
	a.setMembers()
	return a, nil
}

// parseBlock reads the fields of a file's block and finds its body.
func parseBlock(file string, b []byte) (Atom, *Problem) {
	if p := checkText(b); p != nil {
		return Atom{}, p
	}
	blk, p := findBlock(b)
	if p != nil {
		return Atom{}, preferConflict(b, p)
	}
	fields, ok := scanBlock(unsafeString(b[blk.start:blk.end]))
	if !ok {
		if fields, p = parseStrict(b, blk); p != nil {
			return Atom{}, preferConflict(b, p)
		}
	}
	a := Atom{Path: file, Fields: fields, src: b, body: blk.body, Blob: BlobID(b)}
	a.BodyLine = 1 + bytes.Count(b[:a.body], []byte("\n"))
	return a, nil
}

// preferConflict returns the problem of an unfinished merge if b has one, because that
// explains p; else p.
func preferConflict(b []byte, p *Problem) *Problem {
	c := Conflict(b)
	if c == nil {
		return p
	}
	c.Code = codeFrontmatter
	return c
}

// ParsePage reads a markdown file that need not be an atom. It skips a byte order mark, and
// accepts a block without a type and a file without a block; block reports whether there is
// one. In all else it is as strict as Parse, and its error is a Problem too.
func ParsePage(file string, b []byte) (a Atom, block bool, err error) {
	text := bytes.TrimPrefix(b, []byte("\ufeff"))
	if p := checkText(text); p == nil && hasNoFence(text) {
		a = Atom{Path: file, src: text, BodyLine: 1}
	} else if a, p = parseBlock(file, text); p != nil {
		p.Path = file
		return Atom{}, true, *p
	}
	a.Blob = BlobID(b)
	a.setMembers()
	return a, len(a.src) > 0 && a.body > 0, nil
}

// hasNoFence reports a file that does not seem to have a block.
func hasNoFence(b []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimLeft(b, " \t\r\n"), []byte("\n"))
	return !isFence(first) && !bytes.HasPrefix(b, []byte("+++"))
}

// newProblem returns an error Problem; the caller sets its path.
func newProblem(line int, code, msg, hint string) *Problem {
	return &Problem{Code: code, Severity: Error, Line: line, Message: msg, Hint: hint}
}

// checkText refuses anything but a text file that is not too large.
func checkText(b []byte) *Problem {
	if len(b) > MaxFileBytes {
		return tooBigProblem(int64(len(b)))
	}
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return newProblem(1, codeFrontmatter, "UTF-16 text, not UTF-8", "save the file as UTF-8 without a byte order mark")
	}
	if bytes.HasPrefix(b, []byte("\ufeff")) {
		return newProblem(1, codeBOM, "byte order mark before the frontmatter", "save the file as UTF-8 without a byte order mark")
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return newProblem(lineAt(b, i), codeFrontmatter, "NUL byte, so not a text file", "move a binary file out of the bundle or drop its .md")
	}
	if utf8.Valid(b) {
		return nil
	}
	return newProblem(lineAt(b, findInvalidUTF8(b)), codeFrontmatter, "not UTF-8 text", "save the file as UTF-8")
}

func tooBigProblem(size int64) *Problem {
	return newProblem(1, codeTooBig, fmt.Sprintf("%d bytes, over the limit of %d", size, MaxFileBytes), "split the file or move it out of the bundle")
}

func lineAt(b []byte, offset int) int { return 1 + bytes.Count(b[:offset], []byte("\n")) }

// findInvalidUTF8 returns the offset of the first byte that is not UTF-8.
func findInvalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// block is the place of the front matter in a file: b[start:end] is the YAML, b[body:] is
// the body.
type block struct {
	start, end, body int
}

// findBlock finds the fences. It is stricter than the library that reads the block. The
// library skips blank lines before the block, accepts an indented "---" as the closing
// fence, and treats an unclosed block as no block.
func findBlock(b []byte) (block, *Problem) {
	first, rest, _ := bytes.Cut(b, []byte("\n"))
	if !isFence(first) {
		return block{}, noBlockProblem(b)
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
		if isFence(line) {
			blk.end, blk.body = at, next
			return blk, nil
		}
		if string(bytes.TrimSpace(line)) == "---" {
			return block{}, newProblem(lineAt(b, at), codeFrontmatter, `indented "---" inside the block, which other readers take for its end`, "quote the text or write it another way")
		}
		at = next
	}
	return block{}, newProblem(1, codeFrontmatter, "frontmatter is never closed", `end the block with a line that is exactly "---"`)
}

// isFence reports whether a line is "---" with nothing but blanks after it.
func isFence(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t\r")) == 0
}

func noBlockProblem(b []byte) *Problem {
	hint := `start the file with "---", a type and "---"`
	switch {
	case hasNoFence(b):
		return newProblem(1, codeFrontmatter, "no frontmatter", hint)
	case bytes.HasPrefix(b, []byte("+++")):
		return newProblem(1, codeFrontmatter, "TOML frontmatter", "write the block as YAML between two lines \"---\"")
	default:
		return newProblem(1, codeFrontmatter, `frontmatter does not start on the first byte`, `remove what stands before the first "---"`)
	}
}

// parseStrict reads any block. The library must find the same body as findBlock, so that no
// file can be read in two ways.
func parseStrict(b []byte, blk block) ([]Field, *Problem) {
	var fields []Field
	format := frontmatter.NewFormat("---", "---", func(src []byte, v any) error {
		fs, p := decodeYAML(src)
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
		return nil, newProblem(1, codeFrontmatter, err.Error(), "")
	}
	if len(b)-len(rest) != blk.body {
		return nil, newProblem(1, codeFrontmatter, "it is unclear where the frontmatter ends", `write the fences as lines that are exactly "---"`)
	}
	return fields, nil
}

func (a *Atom) checkNames() *Problem {
	f, ok := a.Field("type")
	if !ok && a.hasCanonKeys() {
		return a.checkID()
	}
	if !ok || f.Value == nil {
		for _, f := range a.Fields {
			if near := Nearest(foldWord(f.Key), []string{"type"}); near != "" && near != f.Key {
				return newProblem(f.Line, codeType, "no type", fmt.Sprintf("did you mean \"type\" instead of %q?", f.Key))
			}
		}
		if f, ok := a.Field("persona"); ok {
			return newProblem(f.Line, codeType, "no type", AddPersona)
		}
		return newProblem(a.Line("type"), codeType, "no type", "add a line such as \"type: term\" to the frontmatter")
	}
	t, ok := f.Value.(string)
	if !ok {
		return newProblem(f.Line, codeType, fmt.Sprintf("type is %v, not text", f.Value), "quote it")
	}
	if strings.TrimSpace(t) == "" {
		return newProblem(f.Line, codeType, "empty type", "name the type")
	}
	return a.checkID()
}

// AddPersona is the hint for a file that has the key persona and no type.
const AddPersona = `add the line "type: persona", so that odd reads its persona`

func (a *Atom) checkID() *Problem {
	f, ok := a.Field("id")
	if !ok || f.Value == nil {
		return nil
	}
	id, ok := f.Value.(string)
	if !ok {
		return newProblem(f.Line, codeID, fmt.Sprintf("id is %v, not text", f.Value), "quote it")
	}
	if !ValidID(id) {
		return newProblem(f.Line, codeID, fmt.Sprintf("id %q is not a name", id), `use letters, digits, "-", "_" and "." in parts separated by "/"`)
	}
	return nil
}

func (a *Atom) setMembers() {
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
		a.setMember(&a.Fields[i])
	}
	if len(a.Edges) == 0 {
		a.Edges = nil
	}
	if a.Generated == (Stamp{}) {
		a.Generated.At = a.Text("timestamp") // OKF v0.1
	}
	sortEdges(a.Edges)
	if _, typed := a.Field("type"); !typed && a.hasCanonKeys() {
		a.Type = canonType
	}
	if !a.ExplicitID {
		a.ID = ID(strings.TrimSuffix(path.Clean(a.Path), ".md"))
	}
}

func (a *Atom) setMember(f *Field) {
	switch f.Key {
	case "type":
		a.Type = valueText(f.Value)
	case "id":
		a.ID = ID(valueText(f.Value))
		a.ExplicitID = a.ID != ""
	case "title":
		a.Title = valueText(f.Value)
	case "description":
		a.Description = valueText(f.Value)
	case "resource":
		a.Resource = valueText(f.Value)
	case "uri":
		a.URI = valueText(f.Value)
	case "status":
		a.Status = valueText(f.Value)
	case "stale_after":
		a.StaleAfter = valueText(f.Value)
	case "tags":
		a.Tags = valueList(f.Value)
	default:
		a.setTrust(f)
	}
}

// setTrust sets the members about who says so, and the edges.
func (a *Atom) setTrust(f *Field) {
	switch f.Key {
	case "confidence":
		a.Claimed = readConfidence(f.Value)
	case "generated":
		a.Generated = readStamp(f.Value)
	case "verified":
		for _, v := range listItems(f.Value) {
			a.Verified = append(a.Verified, readStamp(v))
		}
	case "sources":
		for _, v := range listItems(f.Value) {
			if m, ok := v.(map[string]any); ok {
				a.Sources = append(a.Sources, Source{ID: valueText(m["id"]), Resource: valueText(m["resource"]), Title: valueText(m["title"])})
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
		for _, t := range valueList(f.Value) {
			a.Edges = append(a.Edges, Edge{Kind: EdgeKind(f.Key), Target: t, Line: f.Line})
		}
	}
}

// readConfidence reads the word of the key confidence. An unknown word counts as Inferred:
// the atom was rated, but odd cannot tell how.
func readConfidence(v any) Confidence {
	c, ok := ParseConfidence(valueText(v))
	if !ok {
		return Inferred
	}
	return c
}

func readStamp(v any) Stamp {
	m, _ := v.(map[string]any)
	return Stamp{By: valueText(m["by"]), At: valueText(m["at"])}
}

// listItems returns the items of a list, or a bare value as a list of one.
func listItems(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}
