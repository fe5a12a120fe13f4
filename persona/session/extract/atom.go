package extract

import (
	"fmt"
	"html"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
)

// The limits on what one atom names.
const (
	maxQuoted  = 3  // places quoted; no further ones are cited, but for those that say the same
	maxSources = 12 // files named
)

// source is one file an atom rests on, with every place in it.
type source struct {
	id     string
	doc    *document
	places [][2]int
}

// citedTexts name what the places say, as a source's key text has it.
func (s source) citedTexts() any {
	var out []any
	for _, p := range s.places {
		out = append(out, okf.Cited(s.doc.linesWithin(p[0], p[1])))
	}
	if len(out) == 1 {
		return out[0]
	}
	return out
}

// groupSources groups c's evidence by file, in order. An id is made of the file's path, so
// that the same file has it in every atom and in every run; a source that the prior atom
// has keeps its id, under another path too.
func (c chosen) groupSources(r session.Request) []source {
	var out []source
	at := map[*document]int{}
	for _, e := range c.cited() {
		i, ok := at[e.doc]
		if !ok {
			if len(out) == maxSources {
				continue
			}
			i, at[e.doc] = len(out), len(out)
			out = append(out, source{doc: e.doc})
		}
		out[i].places = append(out[i].places, [2]int{e.from, e.to})
	}
	taken := map[string]bool{}
	for i := range out {
		out[i].id = c.priorID(out[i], r, taken)
		taken[out[i].id] = true
	}
	for i, s := range out {
		if s.id != "" {
			continue
		}
		id := slug(strings.TrimSuffix(s.doc.path, ".md"))
		for taken[id] {
			id += "-x"
		}
		out[i].id, taken[id] = id, true
	}
	return out
}

// cited are the places that c quotes, and those that say the same.
func (c candidate) cited() []evidence {
	n := 0
	return slices.DeleteFunc(slices.Clone(c.evidence), func(e evidence) bool {
		if !e.copied {
			n++
		}
		return !e.copied && n > maxQuoted
	})
}

// newAtom prints c as a new atom.
func (c chosen) newAtom(d directory, r session.Request) (okf.Atom, error) {
	id := c.newID()
	fields := []okf.Field{
		{Key: "type", Value: c.kind},
		{Key: "id", Value: id},
		{Key: "title", Value: c.title},
		{Key: "status", Value: "draft"},
		{Key: "confidence", Value: okf.Inferred.String()},
	}
	if c.about != "" {
		fields = slices.Insert(fields, 3, okf.Field{Key: "description", Value: c.about})
	}
	if len(c.aliases) > 0 {
		fields = append(fields, okf.Field{Key: "aliases", Value: anyList(c.aliases)})
	}
	fields = append(fields, edgeFields(d.findEdges(c.candidate, c.id()))...)
	ss := c.groupSources(r)
	fields = append(fields, okf.Field{Key: "sources", Value: sourceList(ss)}, generatedField(r))
	file := folderOf(c.kind) + "/" + id + ".md"
	if c.prior != nil {
		file = c.prior.Path
	}
	return okf.New(file, fields, c.renderBody(ss, path.Join(r.BundleRoot, file), r.Files))
}

func generatedField(r session.Request) okf.Field {
	return okf.Field{Key: "generated", Value: map[string]any{"by": r.By, "at": r.Now.UTC().Format(time.RFC3339)}}
}

func edgeFields(edges map[okf.EdgeKind][]string) []okf.Field {
	var out []okf.Field
	for _, k := range okf.EdgeKinds() {
		switch ids := edges[k]; {
		case len(ids) == 0:
		case k == okf.Owner || k == okf.ReportsTo:
			out = append(out, okf.Field{Key: string(k), Value: ids[0]})
		default:
			out = append(out, okf.Field{Key: string(k), Value: anyList(ids)})
		}
	}
	return out
}

func anyList(ss []string) []any {
	out := make([]any, len(ss))
	for i, s := range ss {
		out[i] = s
	}
	return out
}

func sourceList(ss []source) []any {
	out := make([]any, len(ss))
	for i, s := range ss {
		out[i] = map[string]any{"id": s.id, "resource": s.doc.path, "title": okf.Places(s.places), "blob": s.doc.blob, "text": s.citedTexts()}
	}
	return out
}

// folderOf is where atoms of a kind stand in a bundle that odd lays out.
func folderOf(kind string) string {
	if kind == policyAtom {
		return "policies"
	}
	if kind == process {
		return "processes"
	}
	return kind + "s"
}

// renderBody quotes the places, each with the footnote of its source, which links to the file
// from the atom's own.
func (c candidate) renderBody(ss []source, file string, files fs.FS) string {
	var b strings.Builder
	label := map[*document]string{}
	for _, s := range ss {
		label[s.doc] = s.id
	}
	quoted := map[string]bool{}
	for _, e := range c.cited() {
		id := label[e.doc]
		if id == "" || e.copied {
			continue
		}
		quoted[id] = true
		b.WriteString(e.quoteWithFootnote(id, e.doc.linkerFrom(file, files)))
		b.WriteString("\n")
	}
	for _, s := range ss {
		if quoted[s.id] {
			lines := fmt.Sprintf("#L%d", s.places[0][0])
			if s.places[0][1] > s.places[0][0] {
				lines += fmt.Sprintf("-L%d", s.places[0][1])
			}
			fmt.Fprintf(&b, "[^%s]: [%s, %s](%s%s)\n", s.id, escapeText(s.doc.path), okf.Places(s.places), okf.LinkTo(file, s.doc.path), lines)
		}
	}
	return b.String()
}

// quoteWithFootnote returns e as a block quote with the footnote of its source: behind the first
// text or item, or below the quote where that is all code or a table.
func (e evidence) quoteWithFootnote(id string, to linker) string {
	mark := "[^" + id + "]"
	var b strings.Builder
	for i, block := range e.passage {
		if i > 0 {
			b.WriteString(">\n")
		}
		for k, l := range block.renderBlock(to) {
			if k == 0 && block.takesFootnote() {
				l, mark = l+mark, ""
			}
			b.WriteString(strings.TrimRight("> "+l, " ") + "\n")
		}
	}
	if mark != "" {
		b.WriteString("\n" + mark + "\n")
	}
	return b.String()
}

// takesFootnote reports whether a footnote may follow the first line of b.
func (b block) takesFootnote() bool {
	return b.kind != table && (b.kind != code || b.label != "") && (b.kind != bullets && b.kind != steps || b.items[0].run.text != "")
}

// escapeText keeps quoted text from being read as markdown.
func escapeText(s string) string {
	s = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "<", `\<`, "`", "\\`", "*", `\*`, "_", `\_`).Replace(s)
	if html.UnescapeString(s) != s {
		s = strings.ReplaceAll(s, "&", `\&`)
	}
	return s
}

// escapeStart keeps a line from being read as the beginning of a list or the like.
func escapeStart(s string) string {
	if s == "" {
		return s
	}
	if strings.IndexByte("#-+>~|:=", s[0]) >= 0 {
		return `\` + s
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }); i > 0 && (s[i] == '.' || s[i] == ')') {
		return s[:i] + `\` + s[i:]
	}
	return s
}
