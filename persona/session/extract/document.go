package extract

import (
	"bytes"
	"fmt"
	"html"
	"path"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/adrg/frontmatter"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"go.yaml.in/yaml/v4"

	"github.com/odd-cli/odd/okf"
)

// document is one file cut into sections.
type document struct {
	path     string
	title    string // front matter, else the first heading of level one
	owner    string // front matter owner
	state    string // front matter status
	form     string // front matter type
	sections []*section
	place    topic // what the file's name or folder says
	coded    bool  // it holds code
	designs  bool  // it says how a program is to be
	governs  bool  // it lays down rules for people
	decides  bool  // it records a decision
	foreign  bool  // it is not in English
	found    []candidate
	bad      string // what is wrong with its front matter, if anything

	raw    []byte // the file
	blob   string // of raw
	lines  []int  // byte offset in raw of each line
	src    []byte // the same lines as markdown, without what a site's templates would replace
	starts []int  // byte offset in src of each line
}

// section is a heading and what stands below it up to the next heading.
type section struct {
	doc     *document
	parent  *section // the section of the next higher heading; nil at the top
	level   int      // 0 for what stands before the first heading
	title   string   // plain text
	heading run      // the same with its marks
	code    bool     // the title is one code span
	line    int      // of the heading
	own     topic    // what the heading says
	part    bool     // it is a step of a procedure that is read whole
	gave    bool     // something was read from it
	torn    bool     // it says what to do and what must be, and is neither read as steps nor as a rule
	blocks  []block
}

type kind uint8

const (
	paragraph kind = iota
	bullets
	steps // an ordered list
	definitions
	table
	code
	raw     // HTML: only its text, and only where a passage is quoted
	caption // a heading, within a passage
)

// block is one piece of a section, flattened: a list in a list, or code in a
// list, is a block of its own with nested set, behind the block it stands in.
type block struct {
	kind     kind
	from, to int // lines, inclusive
	nested   bool
	quoted   int      // how many quotations it stands in
	run      run      // a paragraph
	items    []item   // list items, definitions, rows
	header   []string // of a table, in lower case
	columns  []run    // the same as it stands there
	lang     string   // of code
	label    string   // of code: the file that it stands in, or what the page shows above it
	start    int      // number of the first step
	lines    []string // of code
}

// item is one list item, one definition (term and text in cells) or one table row.
type item struct {
	from, to int
	run      run
	cells    []run
	at       int     // which item of its list it is, from 0
	below    []block // what a list item holds besides its first text, in order
}

var reader = goldmark.New(goldmark.WithExtensions(extension.Table, extension.DefinitionList, extension.Linkify))

// maxDepth bounds how deep quotes and lists are followed.
const maxDepth = 12

// parseDocument cuts a file into sections. It never fails: front matter that is not
// YAML is noted in bad and passed over.
func parseDocument(f file) *document {
	d := &document{path: f.path, raw: f.text, blob: okf.BlobID(f.text)}
	if isRST(f.path) {
		d.src = markdownOfRST(f.text)
	} else {
		d.src = stripTemplating(blankERB(f))
	}
	d.lines, d.starts = lineStarts(d.raw), lineStarts(d.src)
	at := d.frontMatter()
	root := reader.Parser().Parse(text.NewReader(d.blankFrontMatter(at)))
	top := &section{doc: d, line: 1}
	d.sections = []*section{top}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			d.addHeading(h)
			continue
		}
		s := d.sections[len(d.sections)-1]
		s.blocks = d.appendBlocks(s.blocks, n, 0)
	}
	if d.title == "" {
		d.title = d.firstHeading()
	}
	d.title = strings.TrimRight(d.title, ". ")
	d.classify()
	d.coded = slices.ContainsFunc(d.sections, func(s *section) bool {
		return slices.ContainsFunc(s.blocks, func(b block) bool { return b.kind == code })
	})
	d.foreign = d.isForeign()
	d.governs, d.decides, d.designs = d.isRulebook() || d.hasWord(affairs) || d.speaksToPeople(), d.recordsDecision(), d.isDesign()
	return d
}

// isForeign reports whether d is not in English: hardly a word is one that English cannot do without, and some
// are what others cannot do without or have letters that English has not.
func (d *document) isForeign() bool {
	all, english, other := 0, 0, 0
	for _, s := range d.sections {
		for _, b := range s.blocks {
			for _, t := range append([]item{{run: b.run}}, b.items...) {
				for _, r := range append(t.cells, t.run) {
					if ws := words(r.text); len(ws) > 4 {
						all += len(ws)
						english += count(ws, func(w string) bool {
							return in("the of to and is for with this that be are you by on or as it if must should not can we", w)
						})
						other += count(ws, func(w string) bool {
							return in("der die das und ist ein eine le la les des et est un une el los las que en de del do da em het een van och att og er il di e", w) ||
								strings.ContainsFunc(w, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) })
						})
					}
				}
			}
		}
	}
	return all > 30 && 25*english < all && 20*other > all
}

// frontMatter reads the block's title, owner and status and returns where
// the body starts.
func (d *document) frontMatter() int {
	if !bytes.HasPrefix(d.src, []byte("---\n")) && !bytes.HasPrefix(d.src, []byte("---\r\n")) {
		return 0
	}
	var m map[string]any
	form := frontmatter.NewFormat("---", "---", func(b []byte, v any) error { return yaml.Unmarshal(b, v) })
	rest, err := frontmatter.MustParse(bytes.NewReader(d.src), &m, form)
	if err != nil {
		d.bad = err.Error()
		if i := bytes.Index(d.src[3:], []byte("\n---")); i >= 0 {
			return 3 + i + len("\n---")
		}
		return 0
	}
	str := func(key string) string { s, _ := m[key].(string); return squeeze(s) }
	d.title, d.owner, d.state, d.form = str("title"), str("owner"), str("status"), str("type")
	if by := fmt.Sprint(m["superseded_by"], m["superseded-by"]); strings.ContainsAny(by, "0123456789") {
		d.state = "superseded"
	}
	return len(d.src) - len(rest)
}

// blankFrontMatter returns the source with the front matter turned to empty lines, so that
// every offset goldmark reports is an offset into the file.
func (d *document) blankFrontMatter(body int) []byte {
	if body == 0 {
		return d.src
	}
	b := bytes.Clone(d.src)
	for i := range body {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	return b
}

func (d *document) addHeading(h *ast.Heading) {
	r := d.flattenRun(h)
	if isERB(d.path) && pageTitle().MatchString(r.text) && d.title != "" {
		r = run{text: d.title}
	}
	s := &section{doc: d, level: h.Level, heading: r, title: strings.TrimRight(r.text, " #:"), line: d.firstLine(h)}
	s.code = len(r.spans) > 0 && r.spans[0].kind == codeSpan && len(r.spans[0].text) == len(r.text)
	for p := d.sections[len(d.sections)-1]; p != nil; p = p.parent {
		if p.level > 0 && (p.level < s.level || p.level == s.level && d.repeats(s, p)) {
			s.parent = p
			break
		}
	}
	d.sections = append(d.sections, s)
}

// repeats reports whether the heading of s stood already below the heading above p: here it is about p.
func (d *document) repeats(s, p *section) bool {
	return p.title != s.title && slices.ContainsFunc(d.sections, func(x *section) bool {
		return x.parent == p.parent && x.level == s.level && x.title == s.title
	})
}

func (d *document) firstHeading() string {
	for _, s := range d.sections {
		if s.level == 1 && s.title != "" {
			return s.title
		}
	}
	return ""
}

// stem is the file's name without extension.
func (d *document) stem() string {
	b := path.Base(d.path)
	if isERB(d.path) { // page.html.md.erb
		b, _, _ = strings.Cut(b, ".")
	}
	return strings.TrimSuffix(b, path.Ext(b))
}

// lineStarts is the byte offset of each line of text.
func lineStarts(text []byte) []int {
	out := []int{0}
	for i, c := range text {
		if c == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}

// linesWithin are the lines of the file from one to another, which includes both.
func (d *document) linesWithin(from, to int) []byte { return linesBetween(d.raw, d.lines, from, to) }

// markdownWithin is linesWithin as markdown.
func (d *document) markdownWithin(from, to int) []byte {
	return linesBetween(d.src, d.starts, from, to)
}

func linesBetween(text []byte, starts []int, from, to int) []byte {
	if to < len(starts) {
		return text[starts[from-1]:starts[to]]
	}
	return text[starts[from-1]:]
}

// lineAt is the 1-based line of a byte offset.
func (d *document) lineAt(off int) int {
	return sort.Search(len(d.starts), func(i int) bool { return d.starts[i] > off })
}

// linesOf is the lines a node covers, 0 0 for one without text.
func (d *document) linesOf(n ast.Node) (from, to int) {
	_ = ast.Walk(n, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if !in || n.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		l := n.Lines()
		for i := range l.Len() {
			s := l.At(i)
			if s.Stop <= s.Start {
				continue
			}
			a, b := d.lineAt(s.Start), d.lineAt(s.Stop-1)
			if from == 0 || a < from {
				from = a
			}
			to = max(to, b)
		}
		return ast.WalkContinue, nil
	})
	return from, to
}

func (d *document) firstLine(n ast.Node) int {
	if from, _ := d.linesOf(n); from > 0 {
		return from
	}
	return max(1, d.lineAt(max(n.Pos(), 0)))
}

// appendBlocks appends n, flattened, to bs.
func (d *document) appendBlocks(bs []block, n ast.Node, depth int) []block {
	if depth > maxDepth {
		return bs
	}
	b := block{nested: depth > 0}
	b.from, b.to = d.linesOf(n)
	if b.from == 0 {
		return bs
	}
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		b.run = d.flattenRun(n)
		if last := len(bs) - 1; last >= 0 && bs[last].nested == b.nested && d.labels(bs[last]) {
			bs[last].to, bs[last].run = b.to, bs[last].run.join(b.run)
			return bs
		}
	case *ast.FencedCodeBlock:
		b.kind, b.lang, b.lines = code, string(n.Language(d.src)), d.codeLinesOf(n)
		if n.Info != nil {
			b.label = labelOfCode(string(n.Info.Segment.Value(d.src)))
		}
		b.from, b.to = d.withFences(b.from, b.to)
	case *ast.CodeBlock:
		b.kind, b.lines = code, d.codeLinesOf(n)
	case *ast.List:
		return d.appendList(bs, b, n, depth)
	case *east.DefinitionList:
		b.kind, b.items = definitions, d.readDefinitions(n)
	case *east.Table:
		b.kind, b.columns, b.items = table, d.headerCells(n), d.readRows(n)
		for _, c := range b.columns {
			b.header = append(b.header, strings.ToLower(c.text))
		}
	case *ast.HTMLBlock:
		b.kind, b.run.text = raw, squeeze(html.UnescapeString(tags().ReplaceAllString(links().ReplaceAllString(strings.Join(d.codeLinesOf(n), "\n"), ""), "")))
		if b.run.text == "" {
			return bs
		}
	case *ast.Blockquote:
		had := len(bs)
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			bs = d.appendBlocks(bs, c, depth+1)
		}
		for i := range bs[had:] {
			bs[had+i].quoted++
		}
		return bs
	default:
		return bs
	}
	return append(bs, b)
}

// labels reports whether b is nothing but the label of a container, which the text behind it belongs to.
func (d *document) labels(b block) bool {
	return b.kind == paragraph && b.from == b.to && len(b.run.spans) > 0 && b.run.spans[0].kind == strong && len(b.run.spans[0].text) == len(b.run.text) &&
		!bytes.Equal(d.linesWithin(b.from, b.to), d.markdownWithin(b.from, b.to))
}

// withFences are the lines from one to another with the fence around them.
func (d *document) withFences(from, to int) (int, int) {
	if from > 1 && fenceLine().Match(d.markdownWithin(from-1, from-1)) {
		from--
	}
	if to < len(d.starts) && fenceLine().Match(d.markdownWithin(to+1, to+1)) {
		to++
	}
	return from, to
}

func (d *document) codeLinesOf(n ast.Node) []string {
	var out []string
	for i := range n.Lines().Len() {
		s := n.Lines().At(i)
		out = append(out, strings.TrimRight(string(s.Value(d.src)), "\r\n"))
	}
	return out
}

// appendList appends the list and, behind it, what its items hold besides their first text.
func (d *document) appendList(bs []block, b block, n *ast.List, depth int) []block {
	b.kind = bullets
	if n.IsOrdered() {
		b.kind, b.start = steps, n.Start
	}
	var inner []block
	at := 0
	for li := n.FirstChild(); li != nil; li = li.NextSibling() {
		it := item{at: at}
		at++
		it.from, it.to = d.linesOf(li)
		for c := li.FirstChild(); c != nil; c = c.NextSibling() {
			if c == li.FirstChild() && (c.Kind() == ast.KindTextBlock || c.Kind() == ast.KindParagraph) {
				it.run = d.flattenRun(c)
				it.from, it.to = d.linesOf(c)
				continue
			}
			had := len(inner)
			inner = d.appendBlocks(inner, c, depth+1)
			it.below = append(it.below, outermostOf(inner[had:])...)
		}
		if it.from > 0 {
			b.items = append(b.items, it)
		}
	}
	return append(append(bs, b), inner...)
}

// outermostOf are the blocks of a list that stand in no other: blocks appends what an
// item of a list holds behind the list itself, which has it too.
func outermostOf(bs []block) []block {
	var out []block
	end := 0
	for _, b := range bs {
		if b.from > end {
			out = append(out, b)
		}
		end = max(end, b.to, b.lastLine())
	}
	return out
}

// lastLine is the last line of what a block's items hold.
func (b block) lastLine() int {
	end := b.to
	for _, it := range b.items {
		for _, x := range it.below {
			end = max(end, x.lastLine())
		}
	}
	return end
}

// readDefinitions pairs every term with its first text; terms that share one text
// each get it.
func (d *document) readDefinitions(n ast.Node) []item {
	var out []item
	var terms []ast.Node
	open := true
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Kind() == east.KindDefinitionTerm {
			if !open {
				terms = nil
			}
			terms, open = append(terms, c), true
			continue
		}
		if !open || c.FirstChild() == nil {
			continue
		}
		open = false
		for _, t := range terms {
			from, _ := d.linesOf(t)
			_, to := d.linesOf(c.FirstChild())
			if from > 0 && to >= from {
				out = append(out, item{from: from, to: to, cells: []run{d.flattenRun(t), d.flattenRun(c.FirstChild())}})
			}
		}
	}
	return out
}

func (d *document) headerCells(n ast.Node) []run {
	var out []run
	if h := n.FirstChild(); h != nil {
		for c := h.FirstChild(); c != nil; c = c.NextSibling() {
			out = append(out, d.flattenRun(c))
		}
	}
	return out
}

func (d *document) readRows(n ast.Node) []item {
	var out []item
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		if r.Kind() != east.KindTableRow {
			continue
		}
		it := item{}
		it.from, it.to = d.linesOf(r)
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			it.cells = append(it.cells, d.flattenRun(c))
		}
		if it.from > 0 {
			out = append(out, it)
		}
	}
	return out
}
