package extract

import (
	"bytes"
	"slices"
	"strings"
)

// What generators of sites put into markdown, and a reader of the page never sees.
var (
	// shortcode is one of Hugo's: {{< name … >}}, {{% name … %}}, and {{< /name >}}, which ends one.
	shortcode = lazy(`\{\{[<%]\s*(/?)\s*([\w-]+)[^}\n]*?[>%]\}\}`)
	// marker is a class (kramdown's {: .x}) and other
	// attributes ({width=50%}, { .x }), the id of a heading ({#x}, MyST's line (x)=), or a line of MDX that imports or exports.
	marker = lazy(`(?m)^\([\w-]+\)=[ \t]*$|\{:[^}\n]*\}|\{ ?(?:[.#][A-Za-z][\w-]*|[\w-]+=(?:"[^"\n]*"|[\w%]+))(?: [^{}\n]*)?\}|^(?:import .* from ['"].*['"];?|export (?:const|default) .*)$`)
	// left is a piece of templating that stands for text which the file does not have.
	left = lazy(`\{\{[<%]|\{%|<%|(?:^|[^$])\{\{ *[\w.]`)

	// erb is a tag of Ruby's in a page, and pageTitle the one that gives the title of its front matter.
	erb       = lazy(`(?s)<%.*?%>`)
	pageTitle = lazy(`^<%= *current_page\.data\.title *%>$`)
)

func isERB(p string) bool { return strings.HasSuffix(strings.ToLower(p), ".erb") }

// blankERB returns the text of a file that Ruby fills in with blanks for tags that have their lines
// for themselves. Within a line a tag stays: an atom that quotes it is doubtful.
func blankERB(f file) []byte {
	if !isERB(f.path) {
		return f.text
	}
	out, code := bytes.Clone(f.text), codeLines(f.text)
	for _, m := range erb().FindAllIndex(f.text, -1) {
		from := bytes.LastIndexByte(out[:m[0]], '\n') + 1
		to := m[1] + bytes.IndexByte(append(out[m[1]:len(out):len(out)], '\n'), '\n')
		inCode := slices.ContainsFunc(code, func(c [2]int) bool { return c[0] <= m[0] && m[0] < c[1] })
		if inCode || len(bytes.TrimSpace(out[from:m[0]])) > 0 || len(bytes.TrimSpace(erb().ReplaceAll(out[m[1]:to], nil))) > 0 {
			continue
		}
		for i := m[0]; i < m[1]; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	return out
}

// spanRole is MyST's {name} in front of a code span, and directive its block in a fence or a
// container, of which the page shows what Sphinx makes of it.
var (
	spanRole  = lazy("\\{([A-Za-z][\\w:+.-]*)\\}`[^`\n]")
	directive = lazy("(?m)^[ \t>]*(```+|~~~+|:::+)\\{([\\w:+.-]+)\\}")
)

// isShown reports whether a page shows the text of a code span with this role as it stands, or for
// a reference the title of what it names.
func isShown(role string) bool {
	_, name, domain := strings.Cut(role, ":")
	if !domain {
		name = role
	}
	return in("doc ref any func function class meth method mod module attr data const exc obj type term kbd code literal file command program option envvar pep rfc abbr guilabel menuselection sub sup strong emphasis", name)
}

// eachRole calls f with the role of each code span that has one, and where its braces begin.
func eachRole(text []byte, f func(role string, at int)) {
	for _, m := range spanRole().FindAllSubmatchIndex(text, -1) {
		if !isInSpan(text, m[0]) {
			f(string(text[m[2]:m[3]]), m[0])
		}
	}
}

// isInSpan reports whether a byte of text is within a code span of its line.
func isInSpan(text []byte, at int) bool {
	return bytes.Count(text[bytes.LastIndexByte(text[:at], '\n')+1:at], []byte("`"))%2 == 1
}

// madeBySite returns the first piece of these lines for which the page shows other text, "" for
// none.
func (d *document) madeBySite(from, to int) string {
	if isRST(d.path) {
		return rstMadeBySite(d.linesWithin(from, to))
	}
	return madeBySite(d.linesWithin(from, to))
}

// madeBySite returns the first directive or role of text for which the page shows other text, ""
// for none.
func madeBySite(text []byte) (made string) {
	for _, m := range directive().FindAllSubmatch(text, -1) {
		fence, name := m[1][0] != ':', string(m[2])
		if fence && in("code code-block code-cell sourcecode parsed-literal prompt", name) || in(rstNotes, name) {
			continue
		}
		return string(bytes.TrimSpace(m[0]))
	}
	eachRole(text, func(role string, _ int) {
		if !isShown(role) {
			made = "{" + role + "}"
		}
	})
	return made
}

// stripTemplating returns a file without the templating around its text. Every line keeps its place,
// filled up with blanks or with what it is called. Code keeps all of its bytes.
func stripTemplating(text []byte) []byte {
	if !slices.ContainsFunc([]string{"{", ":::", ")=", "import ", "[!", "!!!", "???", "===", "<"}, func(mark string) bool { return bytes.Contains(text, []byte(mark)) }) {
		return text
	}
	text = []byte(labelContainers(string(text)))
	out := bytes.Clone(text)
	code := codeLines(text)
	inCode := func(at int) bool {
		_, found := slices.BinarySearchFunc(code, at, func(c [2]int, at int) int {
			switch {
			case at < c[0]:
				return 1
			case at >= c[1]:
				return -1
			}
			return 0
		})
		return found
	}
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	open := map[string][][]int{} // by name, those that are not ended yet
	for _, m := range shortcode().FindAllSubmatchIndex(text, -1) {
		if inCode(m[0]) {
			continue
		}
		name := string(text[m[4]:m[5]])
		if !in("alert note notice warning caution tip info important callout admonition hint", name) {
			continue // a tab, say, whose label says for whom its text is
		}
		if m[2] == m[3] { // it begins one
			open[name] = append(open[name], m)
			continue
		}
		if n := len(open[name]); n > 0 {
			begin := open[name][n-1]
			open[name] = open[name][:n-1]
			blank(begin[0], begin[1])
			blank(m[0], m[1])
			copy(out[begin[0]:begin[1]], labelTag(name, string(text[begin[5]:begin[1]])))
		}
	}
	for _, m := range marker().FindAllIndex(text, -1) {
		if !inCode(m[0]) && !isInSpan(text, m[0]) {
			blank(m[0], m[1])
		}
	}
	eachRole(text, func(role string, at int) {
		if !inCode(at) && isShown(role) {
			blank(at, at+len(role)+2)
		}
	})
	moveIn(out, text)
	return out
}

// moveIn moves what stands behind blanked bytes at the beginning of a line to where the
// line began: blanks there would make it code.
func moveIn(out, was []byte) {
	for at := 0; at < len(out); {
		end := len(out)
		if n := bytes.IndexByte(out[at:], '\n'); n >= 0 {
			end = at + n
		}
		line := out[at:end]
		indent := len(was[at:end]) - len(bytes.TrimLeft(was[at:end], " \t"))
		if rest := bytes.TrimLeft(line[indent:], " "); len(rest) < len(line)-indent {
			n := copy(line[indent:], rest)
			for i := indent + n; i < len(line); i++ {
				line[i] = ' '
			}
		}
		at = end + 1
	}
}

// fenceLine begins or ends a block of code.
var fenceLine = lazy("(?m)^[ \t>]*(```+|~~~+)[^\n]*$")

// codeLines are the ranges of bytes that stand in fences, in order.
func codeLines(text []byte) [][2]int {
	var out [][2]int
	begin, mark := -1, ""
	for _, m := range fenceLine().FindAllSubmatchIndex(text, -1) {
		is := string(text[m[2]:m[3]])
		switch {
		case begin < 0:
			begin, mark = m[0], is
		case is[0] == mark[0] && len(is) >= len(mark):
			out, begin = append(out, [2]int{begin, m[1]}), -1
		}
	}
	if begin >= 0 {
		out = append(out, [2]int{begin, len(text)})
	}
	return out
}
