package okf

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// indexPage is an existing index.md, line by line.
type indexPage struct {
	indexBuilder
	file     string
	lines    []string // with their line ends
	sections []indexSection
	reached  map[string]bool // the targets of its links: atoms, and subfolders of its folder
	listed   int             // the number of links to atoms and subfolders of its folder
	dead     []Linked
	prose    bool // it has text besides headings and entries

	now    map[int]string   // by line: its new text without the line end; "" deletes the line
	before map[int][]string // by line: the texts to insert before it
}

// indexSection is a heading and the lines that follow; the first section may have no
// heading.
type indexSection struct {
	level    int // of the heading, 0 for none
	title    string
	from, to int // lines
	entries  []indexItem
}

// indexItem is a list item that begins with the only link on its line.
type indexItem struct {
	from, to int    // lines, with those that continue it
	mark     string // the text before the link: indent and bullet
	link     Linked
	atom     *Atom // nil for none
	dead     bool
}

func readIndexPage(l indexBuilder, file string, b []byte) *indexPage {
	p := &indexPage{indexBuilder: l, file: file, lines: slices.Collect(strings.Lines(string(b))), reached: map[string]bool{}, now: map[int]string{}, before: map[int][]string{}}
	top := 0
	if blk, err := findBlock(b); err == nil {
		top = bytes.Count(b[:blk.body], []byte("\n"))
	}
	on := map[int][]Linked{}
	for _, link := range findLinks(file, []byte(strings.Join(p.lines[top:], "")), top+1) {
		on[link.Line-1] = append(on[link.Line-1], link)
		p.noteLink(link)
	}
	p.sections = []indexSection{{from: top}}
	fence, code := "", false
	for n := top; n < len(p.lines); n++ {
		line := strings.TrimRight(p.lines[n], " \t\r\n")
		s := &p.sections[len(p.sections)-1]
		level, title := parseHeading(line)
		fence, code = TrackFence(fence, []byte(line))
		e, listed := p.readEntry(n, on[n])
		switch {
		case code:
			p.prose = true
		case line == "":
		case level > 0:
			s.to = n
			p.sections = append(p.sections, indexSection{level: level, title: title, from: n})
		case listed:
			s.entries = append(s.entries, e)
		default:
			p.prose = true
		}
	}
	p.sections[len(p.sections)-1].to = len(p.lines)
	return p
}

// parseHeading parses "## Title"; level is 0 for other lines.
func parseHeading(line string) (level int, title string) {
	text := strings.TrimLeft(line, " ")
	title = strings.TrimLeft(text, "#")
	level = len(text) - len(title)
	if level > 6 || title != "" && title[0] != ' ' && title[0] != '\t' {
		return 0, ""
	}
	return level, strings.TrimSpace(title)
}

// noteLink records the target of a link.
func (p *indexPage) noteLink(link Linked) {
	to := link.Target
	if to == "" {
		return
	}
	if p.isDeadLink(to) {
		p.dead = append(p.dead, link)
		return
	}
	below := to
	if dir := path.Dir(p.file); dir != "." {
		in := false
		if below, in = strings.CutPrefix(to, dir+"/"); !in {
			return
		}
	}
	sub, _, deeper := strings.Cut(below, "/")
	if !deeper && p.dirs[to] == nil {
		sub = to
	}
	if p.graph.ByPath(to) != nil || p.dirs[path.Join(path.Dir(p.file), sub)] != nil {
		p.reached[sub] = true
		p.listed++
	}
}

// isDeadLink reports whether a link leads to a markdown file that does not exist.
func (p *indexPage) isDeadLink(to string) bool {
	if path.Ext(to) != ".md" || p.graph.ByPath(to) != nil || path.Base(to) == "index.md" && p.dirs[path.Dir(to)] != nil {
		return false
	}
	_, err := fs.Stat(p.files, to)
	return err != nil
}

// findUnlisted returns the atoms and subfolders of a folder that no link leads to.
func (p *indexPage) findUnlisted(d *folder) (atoms []*Atom, below []string) {
	for _, a := range d.atoms {
		if !p.reached[a.Path] {
			atoms = append(atoms, a)
		}
	}
	for _, name := range d.below {
		if !p.reached[name] {
			below = append(below, name)
		}
	}
	return atoms, below
}

func (p *indexPage) readEntry(n int, links []Linked) (indexItem, bool) {
	line := p.lines[n]
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	m := markerLen(line[indent:])
	if len(links) != 1 || m == 0 || line[indent] == '>' {
		return indexItem{}, false
	}
	text := strings.TrimLeft(line[indent+m:], " \t")
	if alone := findLinks(p.file, []byte(text), 1); !strings.HasPrefix(text, "[") || len(alone) != 1 || alone[0].URL != links[0].URL {
		return indexItem{}, false
	}
	e := indexItem{from: n, to: n + 1, mark: line[:len(line)-len(text)], link: links[0], atom: p.graph.ByPath(links[0].Target)}
	e.dead = links[0].Target != "" && p.isDeadLink(links[0].Target)
	for next := n + 1; next < len(p.lines); next++ {
		rest := strings.TrimLeft(p.lines[next], " \t")
		level, _ := parseHeading(rest)
		switch inside := len(p.lines[next]) - len(rest); {
		case strings.TrimSpace(rest) == "":
			continue
		case inside > indent, next == e.to && markerLen(rest) == 0 && level == 0:
			e.to = next + 1
			continue
		}
		break
	}
	return e, true
}

// entryText returns the text of an entry without its bullet.
func (p *indexPage) entryText(e indexItem) string {
	return strings.TrimRight(p.lines[e.from][len(e.mark):], " \t\r\n")
}

// update returns the page with entries for the atoms and subfolders that it lacks, and
// without the entries of those that are gone.
func (p *indexPage) update(atoms []*Atom, below []string) []byte {
	for _, s := range p.sections {
		for i := range s.entries {
			atoms = p.updateEntry(&s.entries[i], atoms)
		}
	}
	var rest []*Atom
	for _, a := range atoms {
		ofType := func(e indexItem) bool { return e.atom != nil && e.atom.Type == a.Type }
		s := p.findSection(ofType, headingForms(OneLine(a.Type)))
		if s == nil {
			s = p.findMixedSection()
		}
		if s == nil {
			rest = append(rest, a)
			continue
		}
		p.insertEntry(s, ofType, shownTitle(a), atomEntry(a))
	}
	subs := p.findSection(p.isFolderEntry, []string{"Subdirectories"})
	if len(rest) > 0 {
		at := len(p.lines)
		if subs != nil && subs.level > 0 {
			at = subs.from
		}
		for _, text := range renderSections(p.headingLevel(), rest, nil) {
			p.insertText(at, text, true)
		}
	}
	if subs == nil {
		for _, text := range renderSections(p.headingLevel(), nil, below) {
			p.insertText(len(p.lines), text, true)
		}
		return p.render()
	}
	for _, name := range below {
		p.insertEntry(subs, p.isFolderEntry, name, formatEntry(name, escapeLinkName(name)+"/index.md", ""))
	}
	return p.render()
}

// updateEntry brings an entry up to date. A generated entry gets the text of its atom as it
// is now, the entry of a renamed atom leads to the new name, and the entry of an atom that
// is gone is removed. It returns the atoms that still need an entry.
func (p *indexPage) updateEntry(e *indexItem, atoms []*Atom) []*Atom {
	var old *Atom
	ours := e.atom != nil && path.Dir(e.atom.Path) == path.Dir(p.file)
	if p.was != nil && (e.dead || ours && p.entryText(*e)+"\n" != atomEntry(e.atom)) {
		old = p.was(p.file, e.link.Target)
	}
	if e.dead {
		i := slices.IndexFunc(atoms, func(a *Atom) bool { return old != nil && a.ID == old.ID || shownTitle(a) == e.link.Text })
		if i < 0 {
			// With a history, a line about something that never was an atom or an index is a person's.
			if e.to == e.from+1 && (p.was == nil || old != nil || path.Base(e.link.Target) == "index.md") {
				p.now[e.from] = ""
			}
			return atoms
		}
		e.atom = atoms[i]
		atoms = slices.Delete(slices.Clone(atoms), i, i+1)
		p.now[e.from] = strings.TrimRight(strings.Replace(p.lines[e.from], "]("+e.link.URL, "]("+escapeLinkName(path.Base(e.atom.Path)), 1), "\r\n")
	}
	if old != nil && p.entryText(*e)+"\n" == atomEntry(old) {
		p.now[e.from] = e.mark + strings.TrimSuffix(atomEntry(e.atom), "\n")
	}
	return atoms
}

// isFolderEntry reports the entry of a subfolder.
func (p *indexPage) isFolderEntry(e indexItem) bool {
	return e.atom == nil && path.Base(e.link.Target) == "index.md" && path.Dir(path.Dir(e.link.Target)) == path.Dir(p.file)
}

// findSection returns the section with the most entries that fit, or else the one with one
// of the titles.
func (p *indexPage) findSection(fits func(indexItem) bool, titles []string) (best *indexSection) {
	most := 0
	for i := range p.sections {
		s, n := &p.sections[i], 0
		for _, e := range s.entries {
			if fits(e) {
				n++
			}
		}
		named := slices.ContainsFunc(titles, func(t string) bool { return strings.EqualFold(t, s.title) })
		if n > most || best == nil && named {
			best, most = s, n
		}
	}
	return best
}

// findMixedSection returns the only section that lists atoms, if it lists atoms of any
// type: it has no heading, or several types.
func (p *indexPage) findMixedSection() (found *indexSection) {
	for i := range p.sections {
		types := map[string]bool{}
		for _, e := range p.sections[i].entries {
			if e.atom != nil {
				types[e.atom.Type] = true
			}
		}
		if len(types) > 0 && found != nil || len(types) == 1 && p.sections[i].level > 0 {
			return nil
		}
		if len(types) > 0 {
			found = &p.sections[i]
		}
	}
	return found
}

// headingForms returns the headings that may stand over atoms of a type: the type and its
// plurals.
func headingForms(typ string) []string {
	return []string{typ, typ + "s", typ + "es", strings.TrimSuffix(typ, "y") + "ies"}
}

// headingLevel returns the level of the headings over entries.
func (p *indexPage) headingLevel() int {
	for _, s := range p.sections {
		if s.level > 0 && len(s.entries) > 0 {
			return s.level
		}
	}
	return 1
}

// insertEntry adds an entry to a section: in its place if the entries are sorted, or else
// after the last one.
func (p *indexPage) insertEntry(s *indexSection, fits func(indexItem) bool, title, text string) {
	list := slices.DeleteFunc(slices.Clone(s.entries), func(e indexItem) bool { return !fits(e) })
	if len(list) == 0 {
		list = s.entries
	}
	if len(list) == 0 {
		at := s.to
		for at > s.from+1 && strings.TrimSpace(p.lines[at-1]) == "" {
			at--
		}
		p.insertText(at, "* "+text, len(p.before[at]) == 0)
		return
	}
	before := func(a, b string) bool { return strings.ToLower(a) < strings.ToLower(b) }
	at, mark := -1, ""
	for i, e := range list {
		if i > 0 && before(e.link.Text, list[i-1].link.Text) {
			at = -1
			break
		}
		if at < 0 && before(title, e.link.Text) {
			at, mark = e.from, e.mark
		}
	}
	if at < 0 {
		at, mark = list[len(list)-1].to, list[len(list)-1].mark
	}
	p.insertText(at, mark+text, false)
}

// insertText inserts a text before line at, with a blank line before it if apart is set.
func (p *indexPage) insertText(at int, text string, apart bool) {
	if apart {
		text = "\n" + text
	}
	p.before[at] = append(p.before[at], text)
}

func (p *indexPage) render() []byte {
	end := "\n"
	if crlf := slices.ContainsFunc(p.lines, func(l string) bool { return strings.HasSuffix(l, "\r\n") }); crlf {
		end = "\r\n"
	}
	var b strings.Builder
	for n := range len(p.lines) + 1 {
		for _, text := range p.before[n] {
			if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
				b.WriteString(end)
			}
			text, apart := strings.CutPrefix(text, "\n")
			if s := b.String(); apart && s != "" && !strings.HasSuffix(s, end+end) {
				b.WriteString(end)
			}
			b.WriteString(strings.ReplaceAll(text, "\n", end))
			if apart && n < len(p.lines) && strings.TrimSpace(p.lines[n]) != "" {
				b.WriteString(end)
			}
		}
		if n == len(p.lines) {
			break
		}
		line := p.lines[n]
		if now, renewed := p.now[n]; renewed && now == "" {
			continue
		} else if renewed {
			line = now + line[len(strings.TrimRight(line, "\r\n")):]
		}
		b.WriteString(line)
	}
	return []byte(b.String())
}
