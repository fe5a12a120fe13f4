package canon

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/odd-cli/odd/okf"
)

// ref is one reference as a document writes it.
type ref struct {
	key   string // the key it stands in, "" for the text
	text  string
	line  int
	at    int      // offset in the body, for the order of a line
	state RefState // pattern, prose, or "" for a name
}

// keyReferences returns the references of a key: the items of a list, the parts of a text.
func keyReferences(p *page, name string) []ref {
	f, ok := p.atom.Field(name)
	if !ok || p.err != nil {
		return nil
	}
	items := p.atom.List(name)
	if s, ok := f.Value.(string); ok {
		items = okf.SplitList(s)
	}
	var out []ref
	for _, text := range items {
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, ref{key: name, text: text, line: f.Line, state: stateOf(text)})
		}
	}
	return out
}

// stands matches what templates and examples write for a name: path/to/slug, a
// date in letters, a number in signs.
var stands = regexp.MustCompile(`(^|/)path/to(/|$)|YYYY|MM-DD|##|NNN|X{3}`)

// stateOf tells a pattern and a phrase from a name.
func stateOf(text string) RefState {
	switch {
	case strings.ContainsAny(text, "{}<>*") || strings.Contains(text, "...") || strings.Contains(text, "…") || stands.MatchString(text):
		return RefPattern
	case strings.ContainsFunc(text, unicode.IsSpace) && !strings.HasSuffix(text, ".md"):
		return RefProse
	}
	return ""
}

// textReferences returns the references of a page's text in order: uris anywhere outside
// code and comments, and links to paths and to headings.
func textReferences(p *page, text []byte) []ref {
	var out []ref
	at := starts(text)
	for _, r := range uris(text) {
		r.line, _ = slices.BinarySearch(at, r.at+1)
		r.line += p.atom.BodyLine - 1
		out = append(out, r)
	}
	for _, l := range p.atom.Links() {
		to, _, _ := strings.Cut(l.URL, "?")
		if okf.Authority(to) != "" || strings.HasPrefix(to, "//") || to == "" {
			continue
		}
		r := ref{text: to, line: l.Line, state: stateOf(to)}
		if n := l.Line - p.atom.BodyLine; n >= 0 && n < len(at) {
			line, _, _ := bytes.Cut(text[at[n]:], []byte("\n"))
			r.at = at[n] + max(bytes.Index(line, []byte(l.URL)), 0)
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b ref) int { return a.at - b.at })
	return out
}

// starts is the offset of every line.
func starts(text []byte) []int {
	out := []int{0}
	for i, c := range text {
		if c == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}

// uris are the uris of a text, but those of the web, whose pages nobody here can
// look up.
func uris(text []byte) []ref {
	scheme := regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://`)
	var out []ref
	for _, m := range scheme.FindAllIndex(text, -1) {
		switch strings.ToLower(string(text[m[0] : m[1]-3])) {
		case "http", "https", "ws", "wss", "ftp", "file", "git", "ssh":
			continue
		}
		rest := text[m[1]:]
		n := uriLen(rest, m[0] > 0 && text[m[0]-1] == '<')
		name := string(text[m[0] : m[1]+n])
		open := n < len(rest) && rest[n] == '['
		whole := trimURI(name, text[:m[0]])
		if whole == name[:m[1]-m[0]] && !open {
			continue // the scheme is named, and no uri
		}
		r := ref{text: whole, at: m[0], state: stateOf(whole)}
		if open || strings.HasSuffix(name, "...") || strings.Contains(name, "…") {
			r.state = RefPattern
		}
		out = append(out, r)
	}
	return out
}

// uriLen is how far a uri reaches into rest: to what prose or markdown puts
// after one. In "<" and ">" it ends at the latter.
func uriLen(rest []byte, quoted bool) int {
	end := "\"'`|()[],;\\“”‘’»"
	if quoted {
		end = ">"
	}
	n := bytes.IndexFunc(rest, func(r rune) bool {
		return r == utf8.RuneError || unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(end, r)
	})
	if n < 0 {
		return len(rest)
	}
	return n
}

// trimURI cuts off the end of a sentence, and the marks of emphasis where they
// were opened before it.
func trimURI(name string, before []byte) string {
	name = strings.TrimRight(name, ".:!?")
	if n := len(before); n > 0 && strings.IndexByte("*_~", before[n-1]) >= 0 {
		name = strings.TrimRight(name, string(before[n-1]))
	}
	return strings.TrimRight(name, ".:!?")
}

// Reference is one thing that a document refers to, and what it turns out to be.
type Reference struct {
	Key   string   `json:"key,omitempty"` // the key it stands in, none for the text
	Text  string   `json:"text"`          // as written
	Line  int      `json:"line"`
	State RefState `json:"state"`
	To    string   `json:"to,omitempty"` // the id of a document, the path of another file
}

// RefState is what a reference turns out to be.
type RefState string

// The states of a reference. Only a missing one is dead.
const (
	RefFound    RefState = "found"
	RefMissing  RefState = "missing"
	RefExternal RefState = "external" // a uri of another authority
	RefPattern  RefState = "pattern"  // of names, or a placeholder
	RefProse    RefState = "prose"
)

// References lists what a file refers to: first in its keys, then in its text. It
// reads what Check follows, and as Check does.
func (l *Library) References(file string) []Reference {
	p := l.byPath[file]
	if p == nil || p.err != nil {
		return nil
	}
	text, _ := readable(p)
	var out []Reference
	for _, r := range append(p.relatedReferences(), textReferences(p, text)...) {
		state, t := l.refer(p, r)
		known := Reference{Key: r.key, Text: r.text, Line: r.line, State: state}
		if state == RefFound {
			known.To = t.Path
			if t.page != nil && t.page.atom.ID != "" {
				known.To = string(t.page.atom.ID)
			}
		}
		out = append(out, known)
	}
	return out
}

// relatedReferences returns the references of a document's keys.
func (p *page) relatedReferences() []ref {
	var out []ref
	for _, name := range []string{"derives_from", "complements", string(okf.Supersedes), string(okf.SupersededBy)} {
		out = append(out, keyReferences(p, name)...)
	}
	return out
}

// refer finds what a reference of a page names. One that begins with "#" is about
// the page itself.
func (l *Library) refer(p *page, r ref) (RefState, Trail) {
	if r.state != "" {
		return r.state, Trail{}
	}
	t := Trail{Ref: r.text, Outcome: Found, Path: p.path, page: p}
	if slug, same := strings.CutPrefix(r.text, "#"); !same {
		t = l.locate(r.text, p.path)
	} else if slug != "" {
		t.anchor(slug)
	}
	switch t.Outcome {
	case External:
		return RefExternal, t
	case Found:
		return RefFound, t
	}
	return RefMissing, t
}

// allow is one audit-allow comment.
type allow struct {
	rule, reason string
	line, at     int
}

// readable is a body with spaces for code and comments, line by line as
// long as it was, and the audit-allow comments among them.
func readable(p *page) (text []byte, allows []allow) {
	text = unfence(p.atom.Body())
	form := regexp.MustCompile(`^<!--\s*audit-allow\s*:\s*([^\s"]*?)(?:\s+reason\s*=\s*"([^"]*)")?\s*-->$`)
	for i := 0; i < len(text); {
		switch {
		case text[i] == '`':
			n := codeLen(text[i:])
			blank(text[i : i+n])
			i += n
		case bytes.HasPrefix(text[i:], []byte("<!--")):
			end := bytes.Index(text[i:], []byte("-->"))
			if end < 0 {
				end = len(text) - i - 3
			}
			comment := text[i : i+end+3]
			if strings.HasPrefix(strings.TrimSpace(string(comment[4:])), "audit-allow") {
				a := allow{at: i, line: p.atom.BodyLine + bytes.Count(text[:i], []byte("\n"))}
				if m := form.FindSubmatch(comment); m != nil {
					a.rule, a.reason = string(m[1]), strings.TrimSpace(string(m[2]))
				}
				allows = append(allows, a)
			}
			blank(comment)
			i += end + 3
		default:
			i++
		}
	}
	return text, allows
}

// codeLen is the length of the code span that s begins with, or of the backticks
// alone where they do not close.
func codeLen(s []byte) int {
	const farthest = 4 << 10
	n := 0
	for n < len(s) && s[n] == '`' {
		n++
	}
	near := s[n:min(len(s), n+farthest)]
	if blankLine := bytes.Index(near, []byte("\n\n")); blankLine >= 0 {
		near = near[:blankLine]
	}
	for at := 0; ; {
		i := bytes.IndexByte(near[at:], '`')
		if i < 0 {
			return n
		}
		at += i
		run := 0
		for at+run < len(near) && near[at+run] == '`' {
			run++
		}
		if at += run; run == n {
			return n + at
		}
	}
}

// unfence is a copy of body with spaces for fenced code.
func unfence(body []byte) []byte {
	out := bytes.Clone(body)
	fence, at := "", 0
	for line := range bytes.Lines(out) {
		mark := fenceMark(line)
		inside := fence != ""
		switch {
		case !inside:
			fence = mark
		case strings.HasPrefix(mark, fence) && string(bytes.Trim(line, " \t>\r\n")) == mark:
			fence = ""
		}
		if inside || mark != "" {
			blank(out[at : at+len(line)])
		}
		at += len(line)
	}
	return out
}

// fenceMark is the run of three or more "`" or "~" that a line begins with, in a
// list or a quote too.
func fenceMark(line []byte) string {
	s := bytes.TrimLeft(line, " \t>")
	if len(s) < 3 || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := 0
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if n < 3 || s[0] == '`' && bytes.IndexByte(s[n:], '`') >= 0 {
		return ""
	}
	return string(s[:n])
}

// blank writes spaces over everything but line breaks.
func blank(b []byte) {
	for i, c := range b {
		if c != '\n' {
			b[i] = ' '
		}
	}
}

// anchor finds the heading a slug means, or an element that carries it as its
// name.
func (p *page) anchor(slug string) (state Anchor, heading string) {
	if p.slugs == nil {
		p.slugs = []string{}
		for _, h := range p.atom.Headings() {
			p.slugs = append(p.slugs, h.Slug)
		}
		named := regexp.MustCompile(`(?i)<a\s[^>]*(?:id|name)\s*=\s*["']([^"']+)["']`)
		for _, m := range named.FindAllSubmatch(p.atom.Body(), -1) {
			p.slugs = append(p.slugs, strings.ToLower(string(m[1])))
		}
	}
	slug = strings.ToLower(slug)
	if slices.Contains(p.slugs, slug) {
		return AnchorFound, slug
	}
	if i := slices.IndexFunc(p.slugs, func(s string) bool { return strings.HasPrefix(s, slug+"-") }); i >= 0 {
		return AnchorLoose, p.slugs[i]
	}
	return AnchorDead, ""
}
