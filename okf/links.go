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

// Linked is one markdown link in the body of an atom: an untyped, directed edge (OKF v0.2
// §6). It may be inline or by reference, also in a footnote. Images, autolinks, and links
// in code or HTML comments do not count.
type Linked struct {
	Target   string // bundle path; "" for a link out of the bundle or within the page
	URL      string // as in the file
	Text     string // without its markup
	Fragment string // the part after "#"
	Line     int    // 1-based line in the file
}

// Heading is one heading of an atom's body.
type Heading struct {
	Level int    `json:"level"` // 1 to 6
	Text  string `json:"text"`  // without its markup
	Slug  string `json:"slug"`  // the fragment that leads to it
	Line  int    `json:"line"`  // 1-based line in the file
}

// Links returns the links of the body in the order of the file. Callers must not change
// them.
func (a *Atom) Links() []Linked {
	if a.links == nil {
		return findLinks(a.Path, a.Body(), a.BodyLine)
	}
	return *a.links
}

// readLinks stores the links. The atom must have a single owner.
func (a *Atom) readLinks() {
	if a.links == nil {
		l := findLinks(a.Path, a.Body(), a.BodyLine)
		a.links = &l
	}
}

// findLinks returns the links of a body that begins on a line of file. It uses scanLinks if
// that can read the body.
func findLinks(file string, body []byte, line int) []Linked {
	if !mayHaveLinks(unsafeString(body)) {
		return nil
	}
	if out, ok := scanLinks(file, unsafeString(body), line, nil); ok {
		return out
	}
	return parseLinks(file, body, line)
}

// parseLinks reads the links with the markdown parser. Tests compare scanLinks with it.
func parseLinks(file string, body []byte, line int) []Linked {
	var out []Linked
	var at []int
	eachNode(body, func(n ast.Node, piece []byte, start int) {
		l, ok := n.(*ast.Link)
		if !ok {
			return
		}
		b := Linked{URL: string(l.Destination), Text: plainText(n, piece)}
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

// Headings returns the headings of the body with GitHub's slugs; a repeated slug ends in
// "-1".
func (a *Atom) Headings() []Heading {
	body := a.Body()
	var out []Heading
	seen := map[string]int{}
	line, from := a.BodyLine, 0
	eachNode(body, func(n ast.Node, piece []byte, start int) {
		h, ok := n.(*ast.Heading)
		if !ok {
			return
		}
		if at := start + n.Pos(); at > from {
			line += bytes.Count(body[from:at], []byte("\n"))
			from = at
		}
		text := plainText(n, piece)
		out = append(out, Heading{Level: h.Level, Text: text, Slug: uniqueSlug(seen, makeSlug(text)), Line: line})
	})
	return out
}

// Section is a heading and the text below it, up to the next heading of any level.
type Section struct {
	Heading
	Items, Paragraphs []Passage
}

// Passage is a paragraph, or a list item with everything nested in it, as one line of
// text.
type Passage struct {
	Text string
	Line int
}

// Sections returns the headings of the body with their paragraphs and list items, but
// without code and comments.
func (a *Atom) Sections() (out []Section) {
	for _, h := range a.Headings() {
		out = append(out, Section{Heading: h})
	}
	body, at, line, from := a.Body(), -1, a.BodyLine, 0
	var last ast.Node // the list item of the previous text
	eachNode(body, func(n ast.Node, piece []byte, start int) {
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
				return // parsed separately from the text around it
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

// CodeBlock is a fenced block of an atom's body.
type CodeBlock struct {
	Info, Text string // Info is what follows the opening fence
	Line       int    // 1-based line of the opening fence in the file
	Open       bool   // no line closes it
}

// CodeBlocks returns the fenced blocks of the body in order, but not those inside a list
// or a quote.
func (a *Atom) CodeBlocks() (out []CodeBlock) {
	fence, line, comment := "", a.BodyLine, false
	for text := range bytes.Lines(a.Body()) {
		if fence == "" {
			text, comment = cutComments(text, comment)
		}
		before, code := fence, false
		fence, code = TrackFence(fence, text)
		switch n := len(out) - 1; {
		case code && before == "":
			out = append(out, CodeBlock{Info: strings.TrimSpace(strings.TrimLeft(string(text), " ")[len(fence):]), Line: line, Open: true})
		case code && fence == "":
			out[n].Open = false
		case code:
			out[n].Text += strings.ReplaceAll(string(text), "\r\n", "\n")
		}
		line++
	}
	return out
}

// cutComments returns a line without its HTML comments. open says that one is open before the line, and
// then whether one is open after it.
func cutComments(line []byte, open bool) (out []byte, still bool) {
	for {
		if open {
			_, rest, closed := bytes.Cut(line, []byte("-->"))
			if !closed {
				return out, true
			}
			line = rest
		}
		before, rest, opens := bytes.Cut(line, []byte("<!--"))
		if out = append(out, before...); !opens {
			return out, false
		}
		line, open = rest, true
	}
}

// unescape resolves the backslashes and entities of a link's target.
func unescape(dest []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(dest))))
}

// resolveURL returns the bundle path of a link's target in file, and the fragment. The path
// is "" for a bare fragment and for a link out of the bundle: one with a scheme or a host,
// or with too many "..".
func resolveURL(file, to string) (target, fragment string) {
	to, fragment, _ = strings.Cut(to, "#")
	to, _, _ = strings.Cut(to, "?")
	if to == "" || uriScheme(to) != "" || strings.HasPrefix(to, "//") {
		return "", fragment
	}
	if decoded, err := url.PathUnescape(to); err == nil {
		to = decoded
	}
	abs, rooted := strings.CutPrefix(to, "/")
	if rooted {
		target = path.Clean(abs)
	} else {
		target = joinPath(path.Dir(file), to)
	}
	if !fs.ValidPath(target) {
		return "", fragment
	}
	return target, fragment
}

// LinkTo returns the target of a link from one file to another, relative to from, as forges
// and other readers of OKF resolve it.
func LinkTo(from, to string) string {
	at, steps := strings.Split(from, "/"), strings.Split(to, "/")
	at = at[:len(at)-1]
	for len(at) > 0 && len(steps) > 1 && at[0] == steps[0] {
		at, steps = at[1:], steps[1:]
	}
	for i, s := range steps {
		steps[i] = escapeLinkName(s)
	}
	return strings.Repeat("../", len(at)) + strings.Join(steps, "/")
}

// joinPath is path.Join(dir, to). It avoids an allocation if to climbs to the root.
func joinPath(dir, to string) string {
	for dir != "." && strings.HasPrefix(to, "../") && !strings.Contains(dir, "..") {
		dir, to = path.Dir(dir), to[len("../"):]
	}
	if dir == "." && to != "" && to[0] != '/' {
		return path.Clean(to)
	}
	return path.Join(dir, to)
}

// uriScheme returns the URI scheme that s begins with; "" without one.
func uriScheme(s string) string {
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

// makeSlug returns GitHub's fragment for a heading: lower case, punctuation dropped, a
// hyphen for every space.
func makeSlug(heading string) string {
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

// uniqueSlug adds "-1", "-2" … to a slug that is taken.
func uniqueSlug(seen map[string]int, s string) string {
	n, taken := seen[s]
	seen[s] = n + 1
	if !taken {
		return s
	}
	return uniqueSlug(seen, s+"-"+strconv.Itoa(n))
}

// unsafeBytes returns the bytes of s without a copy. Nobody may change them.
func unsafeBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// unsafeString returns b as a string without a copy. b must not change any more.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
