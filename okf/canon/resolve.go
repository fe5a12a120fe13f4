package canon

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// Outcome is the result of a resolution.
type Outcome string

// The outcomes.
const (
	Found    Outcome = "FOUND"
	NotFound Outcome = "NOT_FOUND"
	External Outcome = "EXTERNAL"      // a uri of another authority
	Invalid  Outcome = "INVALID_INPUT" // no reference, or one that climbs out of the folder
	Circular Outcome = "CIRCULAR_SUPERSESSION"
)

// Step is one attempt of a resolution. Found is the path that it led to; "" for none.
type Step struct {
	Try   string `json:"try"`  // authority, index, path, stem, directory, file, id, number, superseded-by, anchor
	Name  string `json:"name"` // what was looked for
	Found string `json:"found,omitempty"`
	Note  string `json:"note,omitempty"`
}

// Trail is a resolution with all its steps, so that a wrong answer can be traced to the
// step that gave it.
type Trail struct {
	Ref     string   `json:"ref"`
	Outcome Outcome  `json:"outcome"`
	Path    string   `json:"path,omitempty"`     // the file the reference names, in the folder, or in its repository with a leading "/"
	InForce []string `json:"in_force,omitempty"` // paths of what stands in its place today, itself unless superseded
	Anchor  Anchor   `json:"anchor,omitempty"`
	Message string   `json:"message,omitempty"` // why it was not found
	Steps   []Step   `json:"steps"`

	page *page
	by   string // the step that found it
}

// Anchor is the result for the part of a reference after "#".
type Anchor string

// The states of an anchor. A loose one is only the beginning of a heading's slug, up to
// a hyphen.
const (
	AnchorFound Anchor = "found"
	AnchorLoose Anchor = "loose"
	AnchorDead  Anchor = "dead"
)

// Resolve finds the file that a reference names, and follows supersession to the files in
// force. It tries in this order: the uris; the path with ".md"; the uri or path without its
// ".md"; the README.md or index.md of the folder; the exact file; an id or an unambiguous
// stem; the number that a file name begins with.
func (l *Library) Resolve(ref string) Trail {
	t := l.locate(ref, "")
	if t.Outcome != Found || t.page == nil {
		return t
	}
	var ends []*page
	if circle := followSuccessors(t.page, nil, map[*page]bool{}, &ends, &t.Steps); circle != "" {
		t.Outcome, t.Message = Circular, "circle of supersession: "+circle
		return t
	}
	for _, p := range ends {
		t.InForce = append(t.InForce, p.path)
	}
	slices.Sort(t.InForce)
	t.InForce = slices.Compact(t.InForce)
	if why := l.whyUnfollowed(ends, &t.Steps); why != "" {
		t.Outcome, t.Message, t.InForce = NotFound, why, nil
	}
	return t
}

// locate finds the file that a reference names, without supersession. A path that is not
// found from the top of the folder is tried relative to the file from.
func (l *Library) locate(ref, from string) Trail {
	t := Trail{Ref: ref, Outcome: NotFound}
	name, anchor, _ := strings.Cut(strings.TrimSpace(ref), "#")
	if why := whyInvalid(name, from != ""); why != "" {
		t.Outcome, t.Message = Invalid, why
		return t
	}
	if ps := l.byURI[strings.TrimSpace(ref)]; len(ps) > 0 {
		name, anchor = strings.TrimSpace(ref), ""
	}
	t.find(l, name, from)
	if t.Outcome == Found && anchor != "" && t.page != nil {
		t.resolveAnchor(anchor)
	}
	if t.Outcome == NotFound && slices.Contains(l.external, okf.Authority(name)) {
		t.Outcome, t.Message = External, "odd.toml declares "+okf.Authority(name)+" as another repository's"
	}
	if t.Outcome == NotFound {
		t.Message = fmt.Sprintf("nothing here is called %s", name)
	}
	return t
}

// whyInvalid explains why name cannot be looked up; "" if it can. A reference in a document
// may contain ".."; one that a person types may not.
func whyInvalid(name string, relative bool) string {
	plain, err := url.PathUnescape(name)
	if err != nil {
		plain = name
	}
	_, inside, uri := strings.Cut(plain, "://")
	if !uri {
		inside = plain
	}
	switch {
	case strings.Trim(inside, "/") == "":
		return "it names nothing"
	case plain != okf.Visible(plain) || strings.ContainsAny(plain, "\\\n\t"):
		return "it holds a character that no name has"
	case (uri || !relative) && slices.Contains(strings.Split(inside, "/"), ".."):
		return `it climbs with ".."`
	}
	return ""
}

// find tries every step until one leads to a file.
func (t *Trail) find(l *Library, name, from string) {
	scheme := okf.Authority(name)
	if ps := l.byURI[name]; t.tryPath("index", name, firstPage(ps)) {
		if len(ps) > 1 {
			t.addNote("also the uri of " + ps[1].path)
		}
		return
	}
	if scheme != "" && !l.own[scheme] {
		t.Steps = append(t.Steps, Step{Try: "authority", Name: scheme})
		t.Outcome, t.Message = External, "no file here has a uri of "+scheme+"; it is another authority's"
		return
	}
	file := name
	if _, inside, uri := strings.Cut(name, "://"); uri {
		file = inside
	} else if from != "" && t.tryBeside(l, name, from) {
		return
	}
	if plain, err := url.PathUnescape(file); err == nil {
		file = plain
	}
	file = strings.Trim(file, "/")
	if t.tryFile(l, file, name) || scheme != "" || t.tryPath("id", file, l.byID[file]) {
		return
	}
	if stem, suffixed := strings.CutSuffix(file, ".md"); suffixed {
		t.tryPath("id", stem, l.byID[stem])
		return
	}
	if documentNumber.MatchString(file) {
		t.tryPath("number", file, l.findByNumber(file, from))
	}
}

// documentNumber matches the number of a document, such as D0009 or ADR-12.
var documentNumber = regexp.MustCompile(`^[A-Z]+-?[0-9]+$`)

// findByNumber returns the document whose file name begins with a number: the only one in
// the folder of from, or else the only one at all.
func (l *Library) findByNumber(n, from string) *page {
	var all, beside []*page
	for _, p := range l.pages {
		if !strings.HasPrefix(path.Base(p.path), n+"-") {
			continue
		}
		all = append(all, p)
		if path.Dir(p.path) == path.Dir(from) {
			beside = append(beside, p)
		}
	}
	switch {
	case len(beside) == 1:
		return beside[0]
	case len(all) == 1:
		return all[0]
	}
	return nil
}

// tryBeside tries a path relative to the file that refers to it.
func (t *Trail) tryBeside(l *Library, name, from string) bool {
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	if strings.HasPrefix(name, "/") {
		return false
	}
	near := path.Join(path.Dir(from), name)
	if top := path.Join(l.prefix, near); !fs.ValidPath(near) && fs.ValidPath(top) {
		return t.tryOutside(l, top)
	} else if !fs.ValidPath(near) {
		t.Outcome, t.Message = External, "it climbs out of what was read"
		return true
	}
	return path.Dir(from) != "." && fs.ValidPath(near) && t.tryFile(l, near, near)
}

// tryFile tries the steps that read a name as a path.
func (t *Trail) tryFile(l *Library, file, name string) bool {
	if !fs.ValidPath(file) {
		return false
	}
	stem, suffixed := strings.CutSuffix(file, ".md")
	if !suffixed && t.tryPath("path", file+".md", l.byPath[file+".md"]) {
		return true
	}
	if suffixed && t.tryPath("stem", strings.TrimSuffix(name, ".md"), firstPage(l.byURI[strings.TrimSuffix(name, ".md")])) {
		return true
	}
	for _, base := range []string{"README.md", "index.md"} {
		if at := path.Join(file, base); !suffixed && t.tryPath("directory", at, l.byPath[at]) {
			return true
		}
	}
	if t.tryPath("file", file, l.byPath[file]) {
		return true
	}
	if fileExists(l.inner, file) {
		t.setFound(file)
		return true
	}
	return stem != "" && l.prefix != "." && t.tryOutside(l, file)
}

// tryOutside tries a path from the top of the repository.
func (t *Trail) tryOutside(l *Library, file string) bool {
	for _, at := range []string{file, file + ".md"} {
		if fileExists(l.outer, at) {
			t.Steps = append(t.Steps, Step{Try: "file", Name: at})
			if inside, ok := strings.CutPrefix(at, l.prefix+"/"); ok && l.prefix != "." {
				t.page = l.byPath[inside]
				t.setFound(inside)
				return true
			}
			t.setFound("/" + at)
			return true
		}
	}
	return false
}

func fileExists(f fs.FS, file string) bool {
	_, err := fs.Stat(f, file)
	return err == nil
}

// tryPath records a step, and accepts p if it is not nil.
func (t *Trail) tryPath(how, name string, p *page) bool {
	t.Steps = append(t.Steps, Step{Try: how, Name: name})
	if p == nil {
		return false
	}
	t.page = p
	t.setFound(p.path)
	return true
}

// setFound records that the last step found file.
func (t *Trail) setFound(file string) {
	last := &t.Steps[len(t.Steps)-1]
	last.Found = file
	t.Outcome, t.Path, t.by = Found, file, last.Try
}

func (t *Trail) addNote(text string) { t.Steps[len(t.Steps)-1].Note = text }

// resolveAnchor looks for the heading that a fragment means.
func (t *Trail) resolveAnchor(slug string) {
	if plain, err := url.PathUnescape(slug); err == nil {
		slug = plain
	}
	if !strings.HasSuffix(t.page.path, ".md") || t.page.err != nil {
		return
	}
	heading := ""
	t.Anchor, heading = t.page.findAnchor(slug)
	s := Step{Try: "anchor", Name: "#" + slug, Note: string(t.Anchor)}
	if heading != "" {
		s.Found = t.page.path + "#" + heading
	}
	t.Steps = append(t.Steps, s)
}

func firstPage(ps []*page) *page {
	if len(ps) == 0 {
		return nil
	}
	return ps[0]
}
