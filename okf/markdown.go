package okf

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A markdown parser takes time that grows with the square of what a hostile
// text holds: of a paragraph with links that never close, of containers in
// containers. A text is therefore parsed whole up to wholeText bytes, and else
// in pieces of about pieceSize, cut at blank lines. In a text that is cut,
// fenced code is not looked into, nor is a line of over longLine bytes; in any
// text, a line that opens over deepLine containers is not.
const (
	wholeText = 64 << 10
	pieceSize = 16 << 10
	longLine  = 8 << 10
	deepLine  = 32
)

// each calls visit for every node of a markdown text that has a place in it.
// The node's place is counted from start, where its piece of the text begins.
func each(src []byte, visit func(n ast.Node, piece []byte, start int)) {
	if len(src) <= wholeText {
		if deep(src) {
			src = tame(src, false)
		}
		eachIn(src, len(src), 0, visit)
		return
	}
	src = tame(src, true)
	defined := definitions(src)
	for start := 0; start < len(src); {
		end := cut(src, start)
		piece := append(bytes.Clone(src[start:end]), defined...)
		eachIn(piece, end-start, start, visit)
		start = end
	}
}

// eachIn visits the nodes of one piece that begin in its first size bytes.
func eachIn(piece []byte, size, start int, visit func(n ast.Node, piece []byte, start int)) {
	doc := markdown().Parse(mdtext.NewReader(piece))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && n.Pos() >= 0 && n.Pos() <= size {
			visit(n, piece, start)
		}
		return ast.WalkContinue, nil
	})
}

// markdown is the one parser: CommonMark and footnotes, whose definitions would
// otherwise be read as those of links. Emphasis is left in the text: it does not
// change what is a link. A parser keeps its state in a context a call, so calls
// may overlap.
var markdown = sync.OnceValue(func() parser.Parser {
	var inline []util.PrioritizedValue
	emphasis := parser.NewEmphasisParser()
	for _, p := range parser.DefaultInlineParsers() {
		if p.Value != emphasis {
			inline = append(inline, p)
		}
	}
	return parser.NewParser(
		parser.WithBlockParsers(append(parser.DefaultBlockParsers(), util.Prioritized(extension.NewFootnoteBlockParser(), 999))...),
		parser.WithInlineParsers(append(inline, util.Prioritized(extension.NewFootnoteParser(), 101))...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
})

// deep reports a text with a line that opens too many containers.
func deep(src []byte) bool {
	for line := range bytes.Lines(src) {
		if containers(line) > deepLine {
			return true
		}
	}
	return false
}

// containers counts the quotes and list items that a line opens.
func containers(line []byte) int {
	n := 0
	for {
		line = bytes.TrimLeft(line, " \t")
		size := marker(line)
		if size == 0 {
			return n
		}
		line = line[size:]
		n++
	}
}

// marker is the length of the quote mark, bullet or number that s begins with.
func marker[T string | []byte](s T) int {
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	switch {
	case digits == len(s):
		return 0
	case s[0] == '>':
		return 1
	case digits > 0 && (s[digits] == '.' || s[digits] == ')'), digits == 0 && strings.IndexByte("*-+", s[0]) >= 0:
		if digits+1 == len(s) || strings.IndexByte(" \t\r\n", s[digits+1]) >= 0 {
			return digits + 1
		}
	}
	return 0
}

// tame is src with spaces for what is not looked into. A text that will be cut
// loses its code and its longest lines too.
func tame(src []byte, large bool) []byte {
	out := make([]byte, 0, len(src))
	fence := ""
	for line := range bytes.Lines(src) {
		drop := containers(line) > deepLine
		if large {
			var code bool
			fence, code = inFence(fence, line)
			drop = drop || code || len(line) > longLine
		}
		if drop {
			line = blank(line)
		}
		out = append(out, line...)
	}
	return out
}

// blank is a line of spaces, as long as line.
func blank(line []byte) []byte {
	out := bytes.Repeat([]byte(" "), len(line))
	if n := len(line); n > 0 && line[n-1] == '\n' {
		out[n-1] = '\n'
	}
	return out
}

// inFence reports whether a line is fenced code or a fence, and what fence is
// open after it, where fence was before.
func inFence(fence string, line []byte) (after string, code bool) {
	mark := fenceMark(line)
	switch {
	case fence == "":
		return mark, mark != ""
	case strings.HasPrefix(mark, fence) && len(bytes.TrimSpace(line)) == len(mark):
		return "", true
	}
	return fence, true
}

// fenceMark is the run of three or more "`" or "~" that begins a line, "" without.
func fenceMark(line []byte) string {
	s := bytes.TrimLeft(line, " ")
	if len(line)-len(s) > 3 || len(s) < 3 || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := 0
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if n < 3 {
		return ""
	}
	return string(s[:n])
}

// definitions are the lines of a large text that define what links refer to, so
// that every piece has them; the first pieceSize bytes of them.
func definitions(src []byte) []byte {
	var out []byte
	for line := range bytes.Lines(src) {
		s := bytes.TrimLeft(line, " ")
		if len(s) < 2 || s[0] != '[' || s[1] == '^' || !bytes.Contains(s, []byte("]:")) || len(out)+len(line) > pieceSize {
			continue
		}
		out = append(append(out, bytes.TrimRight(s, "\r\n")...), '\n')
	}
	if out == nil {
		return nil
	}
	return append([]byte("\n\n"), out...)
}

// cut is where the piece that begins at start ends: after the first blank line
// past pieceSize, or after any line past twice that.
func cut(src []byte, start int) int {
	if len(src)-start <= pieceSize {
		return len(src)
	}
	end := start + pieceSize
	for line := range bytes.Lines(src[end:]) {
		end += len(line)
		if end-start > 2*pieceSize || len(bytes.TrimSpace(line)) == 0 {
			return end
		}
	}
	return len(src)
}

// plain is the text below a node without its markup, code included, breaks as
// spaces.
func plain(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch t := n.(type) {
		case *ast.Text:
			b.Write(t.Value(src))
			if t.SoftLineBreak() || t.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(t.Value)
		case *ast.AutoLink:
			b.Write(t.Label(src))
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(stripMarkup(b.String()))
}

// stripMarkup undoes escapes and drops the marks of emphasis: "*" beside text, and
// "_" at the edge of a word.
func stripMarkup(s string) string {
	if !strings.ContainsAny(s, `\*_`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = s[i-1]
		}
		if i+1 < len(s) {
			after = s[i+1]
		}
		switch {
		case s[i] == '\\' && util.IsPunct(after):
			i++
			b.WriteByte(after)
		case s[i] == '*' && (before != ' ' || after != ' '):
		case s[i] == '_' && !(letter(before) && letter(after)) && (before != ' ' || after != ' '):
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// letter reports a byte of a word, where "_" is none.
func letter(c byte) bool { return c != '_' && wordByte(c) && c != '-' || c >= 0x80 }
