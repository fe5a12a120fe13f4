package extract

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// What reStructuredText marks at the beginning of a line.
var (
	rstRule      = lazy(`^([=\-~^"'` + "`" + `#*+.:_<>])+\s*$`)
	rstDirective = lazy(`^\s*\.\. ([A-Za-z][\w:+.-]*)::(?: +(.*))?$`)
	rstOption    = lazy(`^\s*:[\w -]+:(\s|$)`)
	rstItem      = lazy(`^(?:([*+-])|(?:([0-9]{1,4})|#)([.)]))(?: +|$)`)
	rstTable     = lazy(`(?m)^\s*(?:\+[-=+]+\+|=+(?: +=+)+)\s*$`)
	// rstInline is literal text, an interpreted text with its role and the mark of a link, the
	// mark of a link behind a word, or what markdown would read as something else.
	rstInline = lazy("(?s)``.+?``|(?::([\\w:+.-]+):)?`([^`]+)`(__?)?|([A-Za-z0-9])__?([\\s.,;:)]|$)|\\\\\\s|[<&]")
	rstTarget = lazy(`(?s)^(.*\S)(\s*)<([^<>\s]+)>$`) // text <target>
	rstPath   = lazy(`^[\w./-]+$`)
	rstPipe   = lazy(`(?:^|\s)\|[A-Za-z][^|\n]*\|`) // a substitution
)

const (
	rstCode  = "code code-block sourcecode parsed-literal prompt"
	rstNotes = "note tip hint important warning caution attention danger error seealso admonition glossary"
	rstQuiet = "index highlight currentmodule module contents image meta" // a page shows no text for them
)

// isRST reports whether a file is written in reStructuredText.
func isRST(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".rst") }

// rstReader rewrites reStructuredText as markdown, line by line: line n of the one says what
// line n of the other does. What it does not know becomes empty lines; rstMadeBySite tells
// of those for which a page shows text.
type rstReader struct {
	in, out []string
	levels  []string // the styles of headings, the highest first
}

func markdownOfRST(text []byte) []byte {
	lines := strings.Split(string(text), "\n")
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(strings.TrimRight(l, " \t\r"), "\t", "        ")
	}
	r := &rstReader{in: lines, out: make([]string, len(lines))}
	r.readBlocks(0, len(lines), 0, 0, 0)
	return []byte(strings.Join(r.out, "\n"))
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// blockEnd is the first line from at on that is indented by less than indent.
func (r *rstReader) blockEnd(at, to, indent int) int {
	for at < to && (r.in[at] == "" || indentOf(r.in[at]) >= indent) {
		at++
	}
	return at
}

// readBlocks rewrites the lines from one to another, whose text begins at column in, with
// their text at column at.
func (r *rstReader) readBlocks(from, to, in, at, depth int) {
	for i := from; i < to; {
		line := r.in[i]
		switch ind := indentOf(line); {
		case line == "":
			i++
			continue
		case ind > in: // a quotation, or a list that is set in
			end := r.blockEnd(i, to, ind)
			if depth < maxDepth {
				r.readBlocks(i, end, ind, at, depth+1)
			}
			i = end
			continue
		default:
			in = ind
		}
		text := line[in:]
		pad := strings.Repeat(" ", at)
		if n := r.readHeading(i, to, in+at); n > 0 {
			i += n
			continue
		}
		switch item := rstItem().FindStringSubmatch(text); {
		case strings.HasPrefix(text, ".. ") || text == "..":
			end := r.blockEnd(i+1, to, in+1)
			r.readDirective(i, end, in, at, depth)
			i = end
		case strings.HasPrefix(text, ">>> "):
			end := i
			for end < to && r.in[end] != "" {
				end++
			}
			r.readCode(i, end, at, "")
			i = end
		case rstOption().MatchString(text) && !strings.Contains(text, "`"):
			i = r.blockEnd(i+1, to, in+1)
		case rstTable().MatchString(text):
			for i < to && r.in[i] != "" {
				i++
			}
		case item != nil:
			mark := item[1] + " "
			if item[1] == "" {
				mark = cmp.Or(item[2], "1") + item[3] + " "
			}
			end := r.blockEnd(i+1, to, in+1)
			r.readUnder(i, end, in, len(item[0]), at, mark, depth)
			i = end
		case i+1 < to && r.in[i+1] != "" && indentOf(r.in[i+1]) > in && (i == from || r.in[i-1] == ""): // a term
			end := r.blockEnd(i+1, to, in+1)
			term, _, _ := strings.Cut(text, " : ")
			r.out[i] = pad + r.convertInline(term)
			r.readUnder(i+1, end, indentOf(r.in[i+1]), 0, at, ": ", depth)
			i = end
		default:
			i = r.readParagraph(i, to, in, at)
		}
	}
}

// readUnder rewrites what stands below a mark of markdown, as an item of a list: its first line
// without the width bytes of its own mark.
func (r *rstReader) readUnder(from, to, in, width, at int, mark string, depth int) {
	r.in[from] = strings.TrimRight(strings.Repeat(" ", in+width)+r.in[from][min(len(r.in[from]), in+width):], " ")
	if r.in[from] != "" && depth < maxDepth {
		r.readBlocks(from, to, in+width, at+len(mark), depth+1)
	}
	r.out[from] = strings.TrimRight(strings.Repeat(" ", at)+mark+strings.TrimLeft(r.out[from], " "), " ")
}

// readHeading rewrites a heading of the outermost text and says how many lines it has, 0 for none.
// A line of marks that is none is left out.
func (r *rstReader) readHeading(i, to, indent int) int {
	if indent > 0 {
		return 0
	}
	style, title, lines := "", i, 2
	switch {
	case rstRule().MatchString(r.in[i]) && i+2 < to && r.in[i+1] != "" && r.in[i+2] == r.in[i]:
		style, title, lines = r.in[i][:1]+r.in[i][:1], i+1, 3
	case rstRule().MatchString(r.in[i]) && isOneMark(r.in[i]) && len(r.in[i]) > 3:
		return 1 // a transition
	case i+1 < to && rstRule().MatchString(r.in[i+1]) && (i == 0 || r.in[i-1] == "") && utf8.RuneCountInString(r.in[i]) <= len(r.in[i+1]):
		style = r.in[i+1][:1]
	}
	if style == "" || !isOneMark(r.in[title+1]) {
		return 0
	}
	level := slices.Index(r.levels, style)
	if level < 0 {
		level, r.levels = len(r.levels), append(r.levels, style)
	}
	r.out[title] = strings.Repeat("#", min(level+1, 6)) + " " + r.convertInline(strings.TrimSpace(r.in[title]))
	return lines
}

func isOneMark(line string) bool { return strings.Trim(line, line[:1]) == "" }

// readParagraph rewrites the text at i and the code that it announces, and returns the line behind.
func (r *rstReader) readParagraph(i, to, in, at int) int {
	end := i + 1
	for end < to && r.in[end] != "" && indentOf(r.in[end]) == in {
		end++
	}
	text, announces := strings.CutSuffix(strings.Join(cutIndent(r.in[i:end], in), "\n"), "::")
	if announces && text != "" && !strings.HasSuffix(text, " ") && !strings.HasSuffix(text, "\n") {
		text += ":"
	}
	for k, l := range strings.Split(r.convertInline(text), "\n") {
		if strings.HasPrefix(l, "#") || strings.HasPrefix(l, ">") || strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") {
			l = `\` + l
		}
		if l != "" {
			r.out[i+k] = strings.Repeat(" ", at) + l
		}
	}
	if !announces {
		return end
	}
	k := end
	for k < to && r.in[k] == "" {
		k++
	}
	if k == to || k == end || indentOf(r.in[k]) <= in {
		return end
	}
	end = r.blockEnd(k, to, in+1)
	r.readCode(k, end, at, "")
	return end
}

// cutIndent takes the first n columns off lines.
func cutIndent(lines []string, n int) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l[min(n, indentOf(l)):]
	}
	return out
}

// readCode rewrites lines of code: in a fence where empty lines around it have room for one, else
// as code that is set in.
func (r *rstReader) readCode(from, to, at int, lang string) {
	for to > from && r.in[to-1] == "" {
		to--
	}
	in := len(r.in[from])
	for _, l := range r.in[from:to] {
		if l != "" {
			in = min(in, indentOf(l))
		}
	}
	pad := strings.Repeat(" ", at)
	if code := strings.Join(r.in[from:to], "\n"); from == 0 || r.out[from-1] != "" || r.in[from-1] != "" && !rstOption().MatchString(r.in[from-1]) && !rstDirective().MatchString(r.in[from-1]) ||
		to < len(r.in) && r.in[to] != "" || strings.Contains(code, "```") {
		pad += "    "
	} else {
		r.out[from-1] = pad + "```" + lang
		if to < len(r.in) {
			r.out[to] = pad + "```"
		}
	}
	for i, l := range cutIndent(r.in[from:to], in) {
		if l != "" {
			r.out[from+i] = pad + l
		}
	}
}

// readDirective rewrites one that holds code, and takes the mark off one that holds text. Any other
// is left out, as are comments and targets.
func (r *rstReader) readDirective(i, end, left, at, depth int) {
	m := rstDirective().FindStringSubmatch(r.in[i])
	if m == nil || !in(rstCode, m[1]) && !in(rstNotes, m[1]) {
		return
	}
	k := i + 1
	for k < end && rstOption().MatchString(r.in[k]) {
		if caption, is := strings.CutPrefix(strings.TrimSpace(r.in[k]), ":caption: "); is && in(rstCode, m[1]) {
			r.out[k] = strings.Repeat(" ", at) + labelOf("", r.convertInline(caption))
		}
		k++
	}
	for k < end && r.in[k] == "" {
		k++
	}
	if in(rstCode, m[1]) {
		if lang, _, _ := strings.Cut(m[2], " "); k < end {
			r.readCode(k, end, at, lang)
		}
		return
	}
	content := left + 3
	if k < end {
		content = indentOf(r.in[k])
	}
	if label := labelNote(m[1], m[2]); m[1] == "admonition" || label != "" && m[2] == "" {
		r.out[i] = strings.Repeat(" ", at) + label
	} else if label != "" {
		r.in[i], k = strings.Repeat(" ", content)+label, i
		for n := i + 1; n < end && rstOption().MatchString(r.in[n]); n++ {
			r.in[n] = ""
		}
	}
	if k < end && depth < maxDepth {
		r.readBlocks(k, end, content, at, depth+1)
	}
}

// convertInline rewrites the marks within text. It keeps the ends of lines.
func (r *rstReader) convertInline(text string) string {
	return rstInline().ReplaceAllStringFunc(text, func(s string) string {
		m := rstInline().FindStringSubmatch(s)
		switch {
		case strings.HasPrefix(s, "``"):
			return s
		case m[4] != "":
			return m[4] + m[5] // the mark of a link
		case m[2] == "":
			if s == "<" || s == "&" {
				return `\` + s
			}
			return strings.Repeat("\n", strings.Count(s, "\n"))
		}
		if t := rstTarget().FindStringSubmatch(m[2]); t != nil && (m[1] != "" || m[3] != "") {
			if m[1] == "doc" {
				t[3] += ".rst"
			}
			return "[" + t[1] + "](" + t[2] + "<" + t[3] + ">)"
		}
		if m[1] == "doc" && rstPath().MatchString(m[2]) {
			return "[`" + m[2] + "`](<" + m[2] + ".rst>)"
		}
		if m[1] != "" {
			m[2] = strings.TrimLeft(m[2], "~!") // how much of a name a page shows, and that it is no link
		}
		return "`" + m[2] + "`"
	})
}

// rstMadeBySite returns the first mark of text for which a page shows other text, "" for none.
func rstMadeBySite(text []byte) (made string) {
	for line := range bytes.Lines(text) {
		if m := rstDirective().FindSubmatch(bytes.TrimRight(line, "\r\n")); m != nil && !in(rstCode+" "+rstNotes+" "+rstQuiet, string(m[1])) {
			return string(bytes.TrimSpace(line))
		}
		if m := rstPipe().Find(line); m != nil {
			return string(bytes.TrimSpace(m))
		}
	}
	if m := rstTable().Find(text); m != nil {
		return "a table"
	}
	for _, m := range rstInline().FindAllSubmatch(text, -1) {
		if role := string(m[1]); role != "" && !isShown(role) && !rstTarget().Match(m[2]) {
			made = ":" + role + ":"
		}
	}
	return made
}
