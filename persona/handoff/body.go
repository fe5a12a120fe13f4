package handoff

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
)

// line is one line of a body without its HTML comments. code is set in a fenced block and
// for fences.
type line struct {
	no   int
	text string
	code bool
}

// fencedBlock is one fenced block of a body.
type fencedBlock struct {
	info string
	line int // of the opening fence
	text string
	open bool
}

// cutBody returns the lines of a body without comments, and its fenced blocks. A comment
// that is never closed hides the rest, as in other readers.
func cutBody(a *okf.Atom) ([]line, []fencedBlock) {
	var lines []line
	var blocks []fencedBlock
	var fence string
	comment := false
	for i, raw := range strings.Split(strings.ReplaceAll(string(a.Body()), "\r\n", "\n"), "\n") {
		no := a.BodyLine + i
		if fence == "" {
			raw, comment = cutComments(raw, comment)
		}
		mark, info := fenceMark(raw)
		switch {
		case fence == "" && mark != "":
			fence = mark
			blocks = append(blocks, fencedBlock{info: info, line: no, open: true})
		case fence != "" && info == "" && strings.HasPrefix(mark, fence):
			fence = ""
			blocks[len(blocks)-1].open = false
		case fence != "":
			blocks[len(blocks)-1].text += raw + "\n"
		default:
			lines = append(lines, line{no, raw, false})
			continue
		}
		lines = append(lines, line{no, raw, true})
	}
	return lines, blocks
}

// cutComments removes HTML comments from one line; in says that one is open before it, and
// the result whether one is open after it.
func cutComments(s string, in bool) (string, bool) {
	out := ""
	for {
		if in {
			_, rest, closed := strings.Cut(s, "-->")
			if !closed {
				return out, true
			}
			s, in = rest, false
		}
		before, rest, opens := strings.Cut(s, "<!--")
		out += before
		if !opens {
			return out, false
		}
		s, in = rest, true
	}
}

// fenceMark returns the run of three or more backticks or tildes that a line begins with,
// and the rest; "" for other lines.
func fenceMark(s string) (mark, info string) {
	t := strings.TrimLeft(s, " ")
	if len(s)-len(t) > 3 || t == "" || t[0] != '`' && t[0] != '~' {
		return "", ""
	}
	rest := strings.TrimLeft(t, t[:1])
	mark = t[:len(t)-len(rest)]
	if len(mark) < 3 || mark[0] == '`' && strings.Contains(rest, "`") {
		return "", ""
	}
	return mark, strings.TrimSpace(rest)
}

// section is the list below one heading.
type section struct {
	line  int // of the heading
	items []string
}

// readSections returns the lists below headings by key: "## Scope in" is scope_in. A second
// heading of one key adds to the first.
func readSections(a *okf.Atom, lines []line, keys []string) map[string]section {
	heads := a.Headings()
	out := map[string]section{}
	for i, h := range heads {
		key := keyOf(h.Text)
		if h.Level == 1 || !slices.Contains(keys, key) { // the first level is the title's
			continue
		}
		end := a.BodyLine + len(lines)
		for _, next := range heads[i+1:] {
			if next.Level <= h.Level {
				end = next.Line
				break
			}
		}
		s, again := out[key]
		if !again {
			s.line = h.Line
		}
		s.items = append(s.items, readItems(textsBetween(lines, heads, h.Line, end))...)
		out[key] = s
	}
	return out
}

// keyOf returns a heading as a key: lower case, with "_" between words.
func keyOf(heading string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(heading), func(r rune) bool { return strings.ContainsRune(" \t_-:", r) }), "_")
}

// textsBetween returns the texts between the lines from and to, without headings and code.
func textsBetween(lines []line, heads []okf.Heading, from, to int) []string {
	var out []string
	for _, l := range lines {
		under := strings.Trim(strings.TrimSpace(l.text), "=-") == "" && l.no == from+1 // of a heading written over two lines
		heading := slices.ContainsFunc(heads, func(h okf.Heading) bool { return h.Line == l.no })
		if l.no > from && l.no < to && !l.code && !heading && !under {
			out = append(out, l.text)
		}
	}
	return out
}

var bullet = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:[-*+]|\d{1,9}[.)])(?:\s+(.*))?$`) })

// readItems returns the list items, and each paragraph outside a list as an item. A
// paragraph that ends in a colon is only an introduction.
func readItems(texts []string) []string {
	var out []string
	fresh := true // what follows begins an item
	for _, s := range texts {
		text := strings.TrimSpace(s)
		m := bullet().FindStringSubmatch(s)
		switch {
		case text == "":
			fresh = true
		case m != nil:
			out, fresh = append(out, m[1]), false
		case fresh && (s == strings.TrimLeft(s, " \t") || len(out) == 0):
			out, fresh = append(out, text), false
		default:
			out[len(out)-1] += " " + text
			fresh = false
		}
	}
	for i, s := range out {
		out[i] = strings.TrimSpace(s)
	}
	several := len(out) > 1
	return slices.DeleteFunc(out, func(s string) bool { return s == "" || several && strings.HasSuffix(s, ":") })
}

// saysNone reports whether the only item says that there is nothing.
func saysNone(items []string) bool {
	if len(items) != 1 {
		return false
	}
	return slices.Contains([]string{"none", "nothing", "n/a", "[]"}, strings.ToLower(strings.Trim(items[0], " .*_`()")))
}
