package extract

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Links and tags are what stands in the lines of a markdown file and not in its text: comments,
// images and the targets of links; tags, which in code are text.
var (
	links = lazy(`(?s)<!--.*?(?:-->|\z)|(?:!\[[^\]]*)?\]\((?:[^()]|\([^()]*\))*\)|\]\[[^\]]*\]`)
	tags  = lazy(`<[^<>]*>`)
)

// altOf keeps the text of an image of what links matches.
func altOf(s string) string {
	alt, _, ok := strings.Cut(strings.TrimPrefix(s, "!["), "](")
	if !ok || !strings.HasPrefix(s, "![") {
		return ""
	}
	return alt
}

// letters are the letters and digits of a text, in order: what two texts share that
// differ in marks, white space and line ends alone.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// firstAltered returns the first text that e quotes and its lines do not hold word for word,
// "" where they hold all of it.
func (e evidence) firstAltered() string {
	raw := string(e.doc.markdownWithin(e.from, e.to))
	plain := links().ReplaceAllString(raw, "")
	said := []string{letters(html.UnescapeString(links().ReplaceAllStringFunc(raw, altOf))), letters(html.UnescapeString(tags().ReplaceAllString(plain, ""))), letters(html.UnescapeString(plain)), letters(raw)}
	holds := func(s string) bool {
		l := letters(s)
		return slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, l) })
	}
	file := letters(html.UnescapeString(string(e.doc.linesWithin(e.from, e.to))))
	for _, q := range e.readsAs() {
		name, text, labelled := strings.Cut(q.text, ": ")
		if !holds(q.text) && !(labelled && holds(name) && holds(text)) || !inOrder(letters(q.text), file) {
			return q.text
		}
	}
	return ""
}

// inOrder reports whether all letters of a stand in b, in their order.
func inOrder(a, b string) bool {
	for _, r := range a {
		at := strings.IndexRune(b, r)
		if at < 0 {
			return false
		}
		b = b[at:]
		b = b[utf8.RuneLen(r):]
	}
	return true
}

// announcesMore is the end of what e quotes, where that only announces more, "" else.
func (e evidence) announcesMore() string {
	all := e.readsAs()
	if !slices.ContainsFunc(e.passage, func(b block) bool { return b.kind == table }) {
		for _, t := range all {
			if tabled().MatchString(t.text) && !t.code {
				return t.text
			}
		}
	}
	if len(all) == 0 || all[len(all)-1].code {
		return ""
	}
	if last := all[len(all)-1].text; strings.HasSuffix(last, ":") || strings.HasSuffix(last, ";") || stepsBelow().MatchString(last) {
		return last
	}
	return ""
}

// stepsBelow are the words of a text that leaves it to another to say what is to be done, or what there is.
var stepsBelow = lazy(`(?i)\b(?:is|are) below\.$|\b(?:steps|instructions|sections?) below\b|\b(?:the|these|those|each|all|any)(?: of (?:the|these))?(?: [\w-]+){1,2} below(?:[.,;:)]|$| (?:for|to|are|is|in|when|before|after|and|or|if|as|that|which|by|with|on|from)\b)|` +
	`\bthe following(?: [\w-]+){0,4}\.$|(?:^|[.!?:] )here are (?:the|some)\b[^:.!?]*[.!?](?: |$)`)

// tabled are the words of a text that leaves it to a table.
var tabled = lazy(`(?i)\b(?:following|below|this) table\b|\btable (?:below|above)\b`)

// said is one text that a page shows, or one line of code.
type said struct {
	run
	code bool
}

// readsAs is what one reads who reads what e quotes: its markdown is read again for it.
func (e evidence) readsAs() (out []said) {
	d := &document{src: []byte(strings.Join(renderAll(e.passage, func(string) string { return "x" }), "\n"))}
	_ = ast.Walk(reader.Parser().Parse(text.NewReader(d.src)), func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		switch {
		case !enter:
		case n.Kind() == ast.KindFencedCodeBlock || n.Kind() == ast.KindCodeBlock:
			for _, l := range d.codeLinesOf(n) {
				out = append(out, said{run{text: l}, true})
			}
		case n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline:
			out = append(out, said{run: d.flattenRun(n)})
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return out
}
