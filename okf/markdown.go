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

// A hostile text makes a markdown parser take quadratic time, by links that never
// close or by nested containers. So a text over wholeText bytes is cut at blank lines
// and parsed in pieces of about pieceSize. In a text that is cut, fenced code and
// lines of over longLine bytes are ignored. In any text, a line that opens over
// deepLine containers is ignored.
const (
	wholeText = 64 << 10
	pieceSize = 16 << 10
	longLine  = 8 << 10
	deepLine  = 32
)

// eachNode calls visit for every node of a markdown text that has a position. The position
// counts from start, where the node's piece of the text begins.
func eachNode(src []byte, visit func(n ast.Node, piece []byte, start int)) {
	if len(src) <= wholeText {
		if hasDeepLine(src) {
			src = blankOut(src, false)
		}
		eachNodeIn(src, len(src), 0, visit)
		return
	}
	src = blankOut(src, true)
	defined := linkDefinitions(src)
	for start := 0; start < len(src); {
		end := findPieceEnd(src, start)
		piece := append(bytes.Clone(src[start:end]), defined...)
		eachNodeIn(piece, end-start, start, visit)
		start = end
	}
}

// eachNodeIn visits the nodes of one piece that begin in its first size bytes.
func eachNodeIn(piece []byte, size, start int, visit func(n ast.Node, piece []byte, start int)) {
	doc := markdownParser().Parse(mdtext.NewReader(piece))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && n.Pos() >= 0 && n.Pos() <= size {
			visit(n, piece, start)
		}
		return ast.WalkContinue, nil
	})
}

// markdownParser parses CommonMark and footnotes, whose definitions would otherwise be read
// as link definitions. It leaves emphasis in the text, because emphasis does not change
// which links there are. A parser keeps its state per call, so calls may overlap.
var markdownParser = sync.OnceValue(func() parser.Parser {
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

// hasDeepLine reports whether a line opens too many containers.
func hasDeepLine(src []byte) bool {
	for line := range bytes.Lines(src) {
		if countContainers(line) > deepLine {
			return true
		}
	}
	return false
}

// countContainers counts the quotes and list items that a line opens.
func countContainers(line []byte) int {
	n := 0
	for {
		line = bytes.TrimLeft(line, " \t")
		size := markerLen(line)
		if size == 0 {
			return n
		}
		line = line[size:]
		n++
	}
}

// markerLen returns the length of the quote mark, bullet or number that s begins with.
func markerLen[T string | []byte](s T) int {
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

// blankOut replaces ignored lines with spaces. A large text, which will be cut, also loses
// its code and its longest lines.
func blankOut(src []byte, large bool) []byte {
	out := make([]byte, 0, len(src))
	fence := ""
	for line := range bytes.Lines(src) {
		drop := countContainers(line) > deepLine
		if large {
			var code bool
			fence, code = TrackFence(fence, line)
			drop = drop || code || len(line) > longLine
		}
		if drop {
			line = blankLine(line)
		}
		out = append(out, line...)
	}
	return out
}

// blankLine returns a line of spaces, as long as line.
func blankLine(line []byte) []byte {
	out := bytes.Repeat([]byte(" "), len(line))
	if n := len(line); n > 0 && line[n-1] == '\n' {
		out[n-1] = '\n'
	}
	return out
}

// TrackFence reports whether a line is fenced code or a fence, and which fence is open
// after it. fence was open before it.
func TrackFence(fence string, line []byte) (after string, code bool) {
	mark := fenceOf(line)
	switch {
	case fence == "":
		return mark, mark != ""
	case strings.HasPrefix(mark, fence) && len(bytes.TrimSpace(line)) == len(mark):
		return "", true
	}
	return fence, true
}

// linkDefinitions returns the link definitions of a large text, at most pieceSize bytes,
// which are appended to every piece.
func linkDefinitions(src []byte) []byte {
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

// findPieceEnd returns the end of the piece that begins at start: after the first blank
// line past pieceSize, or after any line past twice that.
func findPieceEnd(src []byte, start int) int {
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

// plainText returns the text below a node without its markup. Code is included, and line
// breaks are spaces.
func plainText(n ast.Node, src []byte) string {
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

// stripMarkup resolves escapes and drops the marks of emphasis: "*" next to text, and "_"
// at the edge of a word.
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
		case s[i] == '_' && !(isWordLetter(before) && isWordLetter(after)) && (before != ' ' || after != ' '):
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// isWordLetter reports a byte of a word; "_" and "-" are none.
func isWordLetter(c byte) bool { return c != '_' && isWordByte(c) && c != '-' || c >= 0x80 }
