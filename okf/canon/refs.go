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

// ref is one reference as a document has it.
type ref struct {
	key   string // the key it stands in, "" for the text
	text  string
	line  int
	at    int      // offset in the body, for the order of a line
	state RefState // pattern, prose, or "" for a name
}

// keyReferences returns the references of a key: the items of a list, or the parts of a
// text.
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
			out = append(out, ref{key: name, text: text, line: f.Line, state: classifyText(text)})
		}
	}
	return out
}

// placeholders matches what templates and examples write instead of a name: path/to/slug, a
// date in letters, a row of signs for a number.
var placeholders = regexp.MustCompile(`(^|/)path/to(/|$)|YYYY|MM-DD|##|NNN|X{3}`)

// classifyText recognizes patterns and phrases; "" for a name.
func classifyText(text string) RefState {
	switch {
	case strings.ContainsAny(text, "{}<>*") || strings.Contains(text, "...") || strings.Contains(text, "…") || placeholders.MatchString(text):
		return RefPattern
	case strings.ContainsFunc(text, unicode.IsSpace) && !strings.HasSuffix(text, ".md"):
		return RefProse
	}
	return ""
}

// textReferences returns the references in the text of a page, in order: uris outside code
// and comments, and links to paths and headings.
func textReferences(p *page, text []byte) []ref {
	var out []ref
	at := lineStarts(text)
	for _, r := range findURIs(text) {
		r.line, _ = slices.BinarySearch(at, r.at+1)
		r.line += p.atom.BodyLine - 1
		out = append(out, r)
	}
	for _, l := range p.atom.Links() {
		to, _, _ := strings.Cut(l.URL, "?")
		if okf.Authority(to) != "" || strings.HasPrefix(to, "//") || to == "" {
			continue
		}
		r := ref{text: to, line: l.Line, state: classifyText(to)}
		if n := l.Line - p.atom.BodyLine; n >= 0 && n < len(at) {
			line, _, _ := bytes.Cut(text[at[n]:], []byte("\n"))
			r.at = at[n] + max(bytes.Index(line, []byte(l.URL)), 0)
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b ref) int { return a.at - b.at })
	return out
}

// lineStarts returns the offset of every line.
func lineStarts(text []byte) []int {
	out := []int{0}
	for i, c := range text {
		if c == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}

// findURIs returns the uris of a text except web addresses, which cannot be looked up here.
func findURIs(text []byte) []ref {
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
		r := ref{text: whole, at: m[0], state: classifyText(whole)}
		if open || strings.HasSuffix(name, "...") || strings.Contains(name, "…") {
			r.state = RefPattern
		}
		out = append(out, r)
	}
	return out
}

// uriLen returns the length of the uri at the beginning of rest. It ends at a character
// that prose or markdown puts after one, or at ">" if it is quoted by "<" and ">".
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

// trimURI cuts the end of a sentence off a uri, and the marks of emphasis if they were
// opened before it.
func trimURI(name string, before []byte) string {
	name = strings.TrimRight(name, ".:!?")
	if n := len(before); n > 0 && strings.IndexByte("*_~", before[n-1]) >= 0 {
		name = strings.TrimRight(name, string(before[n-1]))
	}
	return strings.TrimRight(name, ".:!?")
}

// Reference is one reference of a document, with its result.
type Reference struct {
	Key   string   `json:"key,omitempty"` // the key it stands in, none for the text
	Text  string   `json:"text"`          // as in the document
	Line  int      `json:"line"`
	State RefState `json:"state"`
	To    string   `json:"to,omitempty"` // the id of a document, the path of another file
}

// RefState is the result of following a reference.
type RefState string

// The states of a reference. Only a missing one is dead.
const (
	RefFound    RefState = "found"
	RefMissing  RefState = "missing"
	RefExternal RefState = "external" // a uri of another authority
	RefPattern  RefState = "pattern"  // of names, or a placeholder
	RefProse    RefState = "prose"
)

// References lists the references of a file: first those in its keys, then those in its
// text. It finds the same ones as Check.
func (l *Library) References(file string) []Reference {
	p := l.byPath[file]
	if p == nil || p.err != nil {
		return nil
	}
	text, _ := maskCode(p)
	var out []Reference
	for _, r := range append(p.relatedReferences(), textReferences(p, text)...) {
		state, t := l.resolveRef(p, r)
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

func (p *page) relatedReferences() []ref {
	var out []ref
	for _, name := range []string{"derives_from", "complements", string(okf.Supersedes), string(okf.SupersededBy)} {
		out = append(out, keyReferences(p, name)...)
	}
	return out
}

// resolveRef finds what a reference of a page names. A reference that begins with "#" is to
// the page itself.
func (l *Library) resolveRef(p *page, r ref) (RefState, Trail) {
	if r.state != "" {
		return r.state, Trail{}
	}
	t := Trail{Ref: r.text, Outcome: Found, Path: p.path, page: p}
	if slug, same := strings.CutPrefix(r.text, "#"); !same {
		t = l.locate(r.text, p.path)
	} else if slug != "" {
		t.resolveAnchor(slug)
	}
	switch t.Outcome {
	case External:
		return RefExternal, t
	case Found:
		return RefFound, t
	}
	return RefMissing, t
}

type allowComment struct {
	rule, reason string
	line, at     int
}

// maskCode returns the body with code and comments replaced by spaces, and the audit-allow
// comments in it. All offsets and lines stay the same.
func maskCode(p *page) (text []byte, allows []allowComment) {
	text = maskFences(p.atom.Body())
	form := regexp.MustCompile(`^<!--\s*audit-allow\s*:\s*([^\s"]*?)(?:\s+reason\s*=\s*"([^"]*)")?\s*-->$`)
	for i := 0; i < len(text); {
		switch {
		case text[i] == '`':
			n := codeLen(text[i:])
			maskBytes(text[i : i+n])
			i += n
		case bytes.HasPrefix(text[i:], []byte("<!--")):
			end := bytes.Index(text[i:], []byte("-->"))
			if end < 0 {
				end = len(text) - i - 3
			}
			comment := text[i : i+end+3]
			if strings.HasPrefix(strings.TrimSpace(string(comment[4:])), "audit-allow") {
				a := allowComment{at: i, line: p.atom.BodyLine + bytes.Count(text[:i], []byte("\n"))}
				if m := form.FindSubmatch(comment); m != nil {
					a.rule, a.reason = string(m[1]), strings.TrimSpace(string(m[2]))
				}
				allows = append(allows, a)
			}
			maskBytes(comment)
			i += end + 3
		default:
			i++
		}
	}
	return text, allows
}

// codeLen returns the length of the code span that s begins with, or of the backticks alone
// if they do not close.
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

// maskFences returns a copy of body with fenced code replaced by spaces.
func maskFences(body []byte) []byte {
	out := bytes.Clone(body)
	fence, code, at := "", false, 0
	for line := range bytes.Lines(out) {
		if fence, code = okf.TrackFence(fence, bytes.TrimLeft(line, " \t>")); code { // also within a list or a quote
			maskBytes(out[at : at+len(line)])
		}
		at += len(line)
	}
	return out
}

// maskBytes replaces everything but line breaks with spaces.
func maskBytes(b []byte) {
	for i, c := range b {
		if c != '\n' {
			b[i] = ' '
		}
	}
}

// findAnchor finds the heading that a slug means, or an HTML element with that name.
func (p *page) findAnchor(slug string) (state Anchor, heading string) {
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
