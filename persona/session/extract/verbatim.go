package extract

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Links and tags are what stands in the lines of a markdown file and not in its text: comments,
// images and the targets of links; tags, which in code are text.
var (
	links = regexp.MustCompile(`(?s)<!--.*?-->|!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|\]\[[^\]]*\]`)
	tags  = regexp.MustCompile(`<[^<>]*>`)
)

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
	plain := links.ReplaceAllString(raw, "")
	said := []string{letters(html.UnescapeString(tags.ReplaceAllString(plain, ""))), letters(html.UnescapeString(plain)), letters(raw)}
	holds := func(s string) bool {
		l := letters(strings.TrimSuffix(s, "…"))
		return slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, l) })
	}
	file := string(e.doc.within(e.from, e.to))
	for _, q := range e.quoting() {
		name, text, labelled := strings.Cut(q, ": ")
		if !holds(q) && !(labelled && holds(name) && holds(text)) || isRST(e.doc.path) && !inOrder(letters(q), letters(file)) {
			return q
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

// announces is the end of what e quotes, where that only announces more, "" else.
func (e evidence) announces() string {
	all := e.quoting()
	if len(all) == 0 || e.passage != nil && strings.HasPrefix(strings.TrimSpace(e.passage[len(e.passage)-1]), "```") {
		return ""
	}
	if last := all[len(all)-1]; strings.HasSuffix(last, ":") || strings.HasSuffix(last, ";") {
		return last
	}
	return ""
}

// isInFence reports whether a line of the passage stands in a fence.
func (e evidence) isInFence(line string) bool {
	in := false
	for _, l := range e.passage {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			in = !in
		} else if in && step.ReplaceAllString(l, "") == line {
			return true
		}
	}
	return false
}

// quoting is every text that e quotes.
func (e evidence) quoting() []string {
	if e.passage == nil {
		return append(append([]string{}, e.quote...), e.commands...)
	}
	var out []string
	for _, l := range e.passage {
		switch l = step.ReplaceAllString(l, ""); {
		case strings.HasPrefix(strings.TrimSpace(l), "```"):
		case strings.HasPrefix(l, "| "): // cells, between which a source may have anything
			out = append(out, strings.Split(l, "|")...)
		default:
			out = append(out, l)
		}
	}
	return out
}

// step is the number of a step, which a renderer counts and a source may not.
var step = regexp.MustCompile(`^ *\d+\. `)
