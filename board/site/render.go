package site

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/odd-cli/odd/okf"
)

// renderLimit is the longest text that is drawn as markdown. The parser's time grows
// faster than the text, so a longer one is shown as it is.
const renderLimit = 64 << 10

// nested is a line that opens more containers than a person would write.
var nested = regexp.MustCompile(`(?m)^[ \t]*(?:(?:[>*+-]|[0-9]{1,9}[.)])[ \t]*){24,}`)

// renderText draws an atom's text for the page at from, below a heading of a level.
func (p *Pages) renderText(a *okf.Atom, from string, level int) (template.HTML, error) {
	body := a.Body()
	if len(body) > renderLimit || nested.Match(body) {
		return template.HTML("<pre>" + html.EscapeString(string(body)) + "</pre>"), nil //nolint:gosec // escaped
	}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.NewFootnote(extension.WithFootnoteIDPrefix(string(a.ID)+"-"))))
	doc := md.Parser().Parse(text.NewReader(body), parser.WithContext(parser.NewContext()))
	if first, ok := doc.FirstChild().(*ast.Heading); ok && string(first.Lines().Value(body)) == a.Title {
		doc.RemoveChild(doc, first) // the page says it already
	}
	if err := p.rewriteLinks(doc, a, from, level); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, body, doc); err != nil {
		return "", fmt.Errorf("%s: %w", a.Path, err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // goldmark escapes text and leaves raw HTML out
}

// rewriteLinks points links to atoms at their pages, makes plain text of images, check boxes
// and links to what the site does not have, and puts headings below one of a level.
func (p *Pages) rewriteLinks(doc ast.Node, a *okf.Atom, from string, level int) error {
	var plain []ast.Node
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+level, 6)
		case *ast.Image, *east.TaskCheckBox:
			plain = append(plain, n)
		case *east.Table:
			n.SetAttributeString("tabindex", []byte("0")) // the arrows scroll a wide one
		case *ast.Link:
			if to := p.linkTarget(string(n.Destination), a, from); to != "" {
				n.Destination = []byte(to)
			} else {
				plain = append(plain, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, n := range plain {
		parent := n.Parent()
		if box, ok := n.(*east.TaskCheckBox); ok {
			mark := "☐ "
			if box.IsChecked {
				mark = "☑ "
			}
			parent.InsertBefore(parent, n, ast.NewString([]byte(mark)))
		}
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			parent.InsertBefore(parent, n, c)
		}
		parent.RemoveChild(parent, n)
	}
	return err
}

// linkTarget is where a link leads from a page of the site, "" for nowhere.
func (p *Pages) linkTarget(to string, a *okf.Atom, from string) string {
	u, err := url.Parse(to)
	switch {
	case err != nil:
		return ""
	case u.Scheme == "http", u.Scheme == "https", u.Scheme == "mailto":
		return to
	case u.Scheme != "" || u.Host != "":
		return ""
	case u.Path == "":
		return to // a place on this page
	}
	file := strings.TrimPrefix(u.Path, "/")
	if !strings.HasPrefix(u.Path, "/") {
		file = path.Join(path.Dir(a.Path), u.Path)
	}
	other := p.b.Graph.ByPath(file)
	if other == nil {
		return ""
	}
	return strings.Repeat("../", strings.Count(from, "/")) + atomHref(other)
}

// The picture of an atom's neighbours: who leads here on the left, where it leads on
// the right.
const (
	boxWidth, boxHeight, boxGap = 230, 30, 12
	pictureWidth                = 900
	sideLimit                   = 14 // boxes a side
)

// drawAtom draws an atom between its neighbours; every box is a link.
func (p *Pages) drawAtom(a *okf.Atom, root string) template.HTML {
	in, out := p.b.Graph.In(a.ID), p.b.Graph.Out(a.ID)
	if len(in)+len(out) == 0 {
		return ""
	}
	moreIn, moreOut := max(0, len(in)-sideLimit), max(0, len(out)-sideLimit)
	in, out = in[:len(in)-moreIn], out[:len(out)-moreOut]
	rows := max(len(in), len(out), 1)
	height := rows*(boxHeight+boxGap) + boxGap
	var b strings.Builder
	middle := height / 2
	left, right := (pictureWidth-boxWidth)/2, (pictureWidth+boxWidth)/2
	from, to := 0, pictureWidth // a side without neighbours is not drawn
	if len(in) == 0 {
		from = left - 1
	}
	if len(out) == 0 {
		to = right + 1
	}
	fmt.Fprintf(&b, `<svg class="picture" width="%d" height="%d" viewBox="%d 0 %d %[2]d" role="group" aria-label="Neighbours of %[5]s">`,
		to-from, height, from, to-from, html.EscapeString(a.Title))
	side := func(hops []okf.Hop, x int, arrives bool) {
		start := (height - len(hops)*(boxHeight+boxGap) + boxGap) / 2
		for i, h := range hops {
			y := start + i*(boxHeight+boxGap)
			id, x1, x2 := h.To, right, x
			if arrives {
				id, x1, x2 = h.From, x+boxWidth, left
			}
			y1, y2 := middle, y+boxHeight/2
			if arrives {
				y1, y2 = y2, y1
			}
			bend := (x1 + x2) / 2
			fmt.Fprintf(&b, `<path class="edge" d="M%d %dC%d %d %d %d %d %d"/>`, x1, y1, bend, y1, bend, y2, x2, y2)
			p.drawBox(&b, id, root, x, y, strings.ReplaceAll(string(h.Kind), "_", " "))
		}
	}
	side(in, 0, true)
	side(out, pictureWidth-boxWidth, false)
	fmt.Fprintf(&b, `<rect class="self" x="%d" y="%d" width="%d" height="%d" rx="6"/><text x="%d" y="%d" text-anchor="middle">%s</text>`,
		left, middle-boxHeight/2, boxWidth, boxHeight, pictureWidth/2, middle+5, html.EscapeString(firstChars(a.Title, 30)))
	b.WriteString("</svg>")
	if n := moreIn + moreOut; n > 0 {
		fmt.Fprintf(&b, `<p class="quiet">%d more neighbours are not drawn; the lists below have them.</p>`, n)
	}
	return template.HTML(b.String()) //nolint:gosec // every text above is escaped
}

// drawBox is one neighbour: its title, and the kind of the edge as a tooltip and in small.
func (p *Pages) drawBox(b *strings.Builder, id okf.ID, root string, x, y int, kind string) {
	title := p.titleOf(id)
	fmt.Fprintf(b, `<a href="%s"><title>%s (%s)</title><rect x="%d" y="%d" width="%d" height="%d" rx="6"/>`,
		html.EscapeString(root+p.hrefOf(id)), html.EscapeString(title), html.EscapeString(kind), x, y, boxWidth, boxHeight)
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text><text class="kind" x="%d" y="%d" text-anchor="end">%s</text></a>`,
		x+8, y+19, html.EscapeString(firstChars(title, 20)), x+boxWidth-8, y+19, html.EscapeString(kind))
}
