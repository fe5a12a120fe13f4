package okf

import (
	"bytes"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
)

// Linked is one markdown link of an atom's body: an untyped, directed edge
// (OKF v0.2 §6). Links in code, comments and images are none.
type Linked struct {
	Target   string // the bundle path it leads to, "" where it leaves the bundle or stays on the page
	URL      string // as written
	Text     string
	Fragment string // after "#"
	Line     int    // 1-based line in the file
}

// markdown is goldmark's CommonMark parser. It keeps no state between calls.
var markdown = sync.OnceValue(func() parser.Parser { return goldmark.New().Parser() })

// Links returns the links of the body in order. They are read once.
func (a *Atom) Links() []Linked {
	if a.links == nil {
		return findLinks(a)
	}
	return *a.links
}

// readLinks reads the links once, while the atom has a single owner.
func (a *Atom) readLinks() {
	if a.links == nil {
		l := findLinks(a)
		a.links = &l
	}
}

func findLinks(a *Atom) []Linked {
	body := a.Body()
	if !bytes.Contains(body, []byte("](")) && !bytes.Contains(body, []byte("][")) && !bytes.Contains(body, []byte("]:")) {
		return nil // no inline, reference or defined link can be here
	}
	var out []Linked
	lines := counter{src: body, line: a.BodyLine}
	root := markdown().Parse(gtext.NewReader(body), parser.WithContext(parser.NewContext()))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		l, ok := n.(*ast.Link)
		if !entering || !ok {
			return ast.WalkContinue, nil
		}
		out = append(out, resolveLink(a.Path, string(l.Destination), plain(l, body), lines.at(max(l.Pos(), 0))))
		return ast.WalkSkipChildren, nil
	})
	return out
}

// resolveLink resolves a URL as it stands in the atom at from.
func resolveLink(from, dest, text string, line int) Linked {
	l := Linked{URL: dest, Text: text, Line: line}
	u, err := url.Parse(dest)
	if err != nil {
		return l
	}
	l.Fragment = u.Fragment
	if u.Scheme != "" || u.Host != "" || u.Path == "" {
		return l
	}
	p := path.Join(path.Dir(from), u.Path)
	if strings.HasPrefix(u.Path, "/") {
		p = path.Clean(u.Path[1:])
	}
	if p != ".." && !strings.HasPrefix(p, "../") {
		l.Target = p
	}
	return l
}

// plain is the text of a node without its markup.
func plain(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(src))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// counter turns rising offsets into lines without counting from the start each time.
type counter struct {
	src  []byte
	pos  int
	line int
}

func (c *counter) at(pos int) int {
	if pos > c.pos {
		c.line += bytes.Count(c.src[c.pos:min(pos, len(c.src))], []byte("\n"))
		c.pos = pos
	} else if pos < c.pos {
		return c.line - bytes.Count(c.src[pos:c.pos], []byte("\n"))
	}
	return c.line
}

// Heading is one markdown heading of a body.
type Heading struct {
	Level int
	Text  string
	Slug  string // as forges make it: lower case, punctuation dropped, spaces as "-"
	Line  int
}

// Headings returns the headings of the body in order.
func (a *Atom) Headings() []Heading {
	body := a.Body()
	lines := counter{src: body, line: a.BodyLine}
	var out []Heading
	root := markdown().Parse(gtext.NewReader(body), parser.WithContext(parser.NewContext()))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			t := plain(h, body)
			out = append(out, Heading{h.Level, t, headingSlug(t), lines.at(max(h.Pos(), 0))})
		}
	}
	return out
}

func headingSlug(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 0x7f:
			return r
		}
		return -1
	}, strings.ToLower(s))
}
