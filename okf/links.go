package okf

import (
	"bytes"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unsafe"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// Linked is one markdown link of an atom's body, an untyped, directed edge
// (OKF v0.2 §6): inline or by reference, in a footnote too. Images, autolinks
// and whatever stands in code or in an HTML comment are none.
type Linked struct {
	Target   string // bundle path it leads to; "" where it leaves the bundle or stays on the page
	URL      string // as written
	Text     string // without its markup
	Fragment string // what follows "#", without it
	Line     int    // 1-based line in the file
}

// Heading is one heading of an atom's body.
type Heading struct {
	Level int    `json:"level"` // 1 to 6
	Text  string `json:"text"`  // without its markup
	Slug  string `json:"slug"`  // the fragment that leads to it
	Line  int    `json:"line"`  // 1-based line in the file
}

// Links returns the links of the body in the order they are written. They are
// read once. Callers must not change them.
func (a *Atom) Links() []Linked {
	if a.links == nil {
		return findLinks(a.Path, a.Body(), a.BodyLine)
	}
	return *a.links
}

// readLinks keeps the links, while the atom has a single owner.
func (a *Atom) readLinks() {
	if a.links == nil {
		l := findLinks(a.Path, a.Body(), a.BodyLine)
		a.links = &l
	}
}

// findLinks reads the links of the body of a file, which begins on a line: by scanLinks
// where that is enough.
func findLinks(file string, body []byte, line int) []Linked {
	if !mayLink(textOf(body)) {
		return nil
	}
	if out, ok := scanLinks(file, textOf(body), line, nil); ok {
		return out
	}
	return parseLinks(file, body, line)
}

// parseLinks reads the links of the body with the markdown parser. It is the
// oracle for scanLinks.
func parseLinks(file string, body []byte, line int) []Linked {
	var out []Linked
	var at []int
	each(body, func(n ast.Node, piece []byte, start int) {
		l, ok := n.(*ast.Link)
		if !ok {
			return
		}
		b := Linked{URL: string(l.Destination), Text: plain(n, piece)}
		b.Target, b.Fragment = resolveURL(file, unescape(l.Destination))
		out, at = append(out, b), append(at, start+n.Pos())
	})
	// A footnote is parsed apart from the text around it.
	order := make([]int, len(out))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return at[i] - at[j] })
	sorted := make([]Linked, 0, len(out))
	from := 0
	for _, i := range order {
		line += bytes.Count(body[from:at[i]], []byte("\n"))
		from = at[i]
		out[i].Line = line
		sorted = append(sorted, out[i])
	}
	return sorted
}

// Headings returns the headings of the body with the slugs GitHub gives them;
// the second of two equal ones ends in "-1".
func (a *Atom) Headings() []Heading {
	body := a.Body()
	var out []Heading
	seen := map[string]int{}
	line, from := a.BodyLine, 0
	each(body, func(n ast.Node, piece []byte, start int) {
		h, ok := n.(*ast.Heading)
		if !ok {
			return
		}
		if at := start + n.Pos(); at > from {
			line += bytes.Count(body[from:at], []byte("\n"))
			from = at
		}
		text := plain(n, piece)
		out = append(out, Heading{Level: h.Level, Text: text, Slug: unique(seen, slug(text)), Line: line})
	})
	return out
}

// Section is a heading and what stands below it, to the next heading of any level.
type Section struct {
	Heading
	Items, Paragraphs []Passage
}

// Passage is a paragraph, or an element of a list with all that is nested in it, on
// one line of text.
type Passage struct {
	Text string
	Line int
}

// Sections returns the headings of the body with their paragraphs and elements of
// lists. Code and comments are left out.
func (a *Atom) Sections() (out []Section) {
	for _, h := range a.Headings() {
		out = append(out, Section{Heading: h})
	}
	body, at, line, from := a.Body(), -1, a.BodyLine, 0
	var last ast.Node // the element of a list that the last text is in
	each(body, func(n ast.Node, piece []byte, start int) {
		if n.Kind() == ast.KindHeading {
			at, last = at+1, nil
		}
		if at < 0 || n.Kind() != ast.KindParagraph && n.Kind() != ast.KindTextBlock {
			return
		}
		if pos := start + n.Pos(); pos > from {
			line += bytes.Count(body[from:pos], []byte("\n"))
			from = pos
		}
		p, s := Passage{strings.Join(strings.Fields(string(n.Lines().Value(piece))), " "), line}, &out[at]
		var item ast.Node
		for up := n.Parent(); up != nil; up = up.Parent() {
			switch up.Kind() {
			case ast.KindListItem:
				item = up
			case east.KindFootnote:
				return // it is parsed apart from the text around it
			}
		}
		switch {
		case item == nil:
			s.Paragraphs = append(s.Paragraphs, p)
		case item == last:
			s.Items[len(s.Items)-1].Text += " " + p.Text
		default:
			s.Items = append(s.Items, p)
		}
		last = item
	})
	return out
}

// unescape returns a destination with its backslashes and entities undone.
func unescape(dest []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(dest))))
}

// resolveURL is the bundle path that to leads to from the atom at file, and the
// fragment. The path is "" for a link that leaves the bundle: one with a scheme
// or a host, or one that climbs out. It is "" for a bare fragment too.
func resolveURL(file, to string) (target, fragment string) {
	to, fragment, _ = strings.Cut(to, "#")
	to, _, _ = strings.Cut(to, "?")
	if to == "" || scheme(to) != "" || strings.HasPrefix(to, "//") {
		return "", fragment
	}
	if decoded, err := url.PathUnescape(to); err == nil {
		to = decoded
	}
	abs, rooted := strings.CutPrefix(to, "/")
	if rooted {
		target = path.Clean(abs)
	} else {
		target = beside(path.Dir(file), to)
	}
	if !fs.ValidPath(target) {
		return "", fragment
	}
	return target, fragment
}

// LinkTo is the target of a link from the file at from to the file at to, relative to
// from, as forges and other readers of OKF follow it.
func LinkTo(from, to string) string {
	at, steps := strings.Split(from, "/"), strings.Split(to, "/")
	at = at[:len(at)-1]
	for len(at) > 0 && len(steps) > 1 && at[0] == steps[0] {
		at, steps = at[1:], steps[1:]
	}
	for i, s := range steps {
		steps[i] = linkName(s)
	}
	return strings.Repeat("../", len(at)) + strings.Join(steps, "/")
}

// beside is path.Join(dir, to), without making a text where to climbs to the
// root and goes on from there.
func beside(dir, to string) string {
	for dir != "." && strings.HasPrefix(to, "../") && !strings.Contains(dir, "..") {
		dir, to = path.Dir(dir), to[len("../"):]
	}
	if dir == "." && to != "" && to[0] != '/' {
		return path.Clean(to)
	}
	return path.Join(dir, to)
}

// scheme is the URI scheme s begins with, "" when it has none.
func scheme(s string) string {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		switch {
		case letter:
		case i > 0 && c == ':':
			return s[:i]
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '.' || c == '-'):
		default:
			return ""
		}
	}
	return ""
}

// slug is the fragment GitHub makes of a heading: lower case, punctuation
// dropped, every space a hyphen.
func slug(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Pc):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unique adds "-1", "-2" … to a slug that was given before.
func unique(seen map[string]int, s string) string {
	n, taken := seen[s]
	seen[s] = n + 1
	if !taken {
		return s
	}
	return unique(seen, s+"-"+strconv.Itoa(n))
}

// bytesOf is s as bytes, without a copy, which nobody may change.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// textOf returns b as text, without a copy: b must not change any more.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
