package okf

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// eachLine calls visit for every line of the body with its number in the file, and whether
// it is a heading written with "#".
func eachLine(a *Atom, visit func(n int, line string, heading bool)) {
	n, code := a.BodyLine, false
	for line := range strings.Lines(unsafeString(a.Body())) {
		line = strings.TrimRight(line, "\r\n")
		if strings.Contains(line, "](") {
			line = dropTargets(line)
		}
		if mark := strings.TrimLeft(line, " "); strings.HasPrefix(mark, "```") || strings.HasPrefix(mark, "~~~") {
			code = !code
		}
		visit(n, line, !code && strings.HasPrefix(line, "#"))
		n++
	}
}

// dropTargets turns "[text](target)" into "text": a search should not find the targets of
// links.
func dropTargets(line string) string {
	var b strings.Builder
	for {
		at := strings.Index(line, "](")
		if at < 0 {
			return b.String() + line
		}
		size := strings.IndexAny(line[at:], ") ")
		if size < 0 || line[at+size] != ')' {
			b.WriteString(line[:at+2])
			line = line[at+2:]
			continue
		}
		text := line[:at]
		if open := strings.LastIndexByte(text, '['); open >= 0 {
			text = strings.TrimSuffix(text[:open], "!") + text[open+1:]
		}
		b.WriteString(text)
		line = line[at+size+1:]
	}
}

// snippetWidth is the longest snippet, in runes.
const snippetWidth = 120

// findSnippet returns the description or the first line of the body, whichever has more of
// the query, and its line in the file.
func (a *Atom) findSnippet(terms []term) (line int, text string) {
	most := 0
	eachLine(a, func(n int, s string, heading bool) {
		if heading && trimMarks(s) == a.Title {
			return // a hit shows the title anyway
		}
		if got := countMatches(s, terms); got > most {
			most, line, text = got, n, s
		}
	})
	if a.Description != "" && countMatches(a.Description, terms) >= most {
		line, text = a.Line("description"), a.Description
	}
	if text == "" {
		return 0, ""
	}
	return line, cutExcerpt(text, terms)
}

func countMatches(s string, terms []term) int {
	has := make([]bool, len(terms))
	eachWord(s, func(w string) {
		for i, t := range terms {
			has[i] = has[i] || t.matchesWord(w)
		}
	})
	n := 0
	for _, h := range has {
		if h {
			n++
		}
	}
	return n
}

func (t term) matchesWord(w string) bool {
	if len(t.words) == 1 {
		return t.words[0] == w
	}
	_, ok := slices.BinarySearch(t.words, w)
	return ok
}

// trimMarks cuts the marks off the beginning of a line.
func trimMarks(s string) string { return strings.TrimSpace(strings.TrimLeft(s, "#*->| \t")) }

// cutExcerpt returns s on one line without the marks it begins with and those of bold text, cut to snippetWidth
// around the first match.
func cutExcerpt(s string, terms []term) string {
	fields := strings.Fields(strings.ReplaceAll(trimMarks(s), "**", ""))
	s = strings.Join(fields, " ")
	if utf8.RuneCountInString(s) <= snippetWidth {
		return s
	}
	first := 0
	for i, f := range fields {
		if countMatches(f, terms) > 0 {
			first = i
			break
		}
	}
	from, width := first, 0
	for from > 0 && width+utf8.RuneCountInString(fields[from-1])+1 <= snippetWidth/3 {
		from--
		width += utf8.RuneCountInString(fields[from]) + 1
	}
	cut := []rune(strings.Join(fields[from:], " "))
	out := string(cut)
	if len(cut) > snippetWidth-2 {
		out = strings.TrimRight(string(cut[:snippetWidth-2]), " ") + "…"
	}
	if from > 0 {
		out = "…" + out
	}
	return out
}
