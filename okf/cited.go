package okf

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Cited names lines of a file by their text, so that it is found again wherever it
// stands: "sha256:" and the first 16 hex digits over the lines without the white space
// they end in, each with "\n" behind it. Where they are several, a slash and the first
// four digits over the first line alone follow, by which a search is fast. The key text of
// a source holds one name for each place that its title names.
func Cited(lines []byte) string {
	s := linesIn(lines)
	all := s.sum(0, s.len())
	name := hashed + hex.EncodeToString(all[:])
	if s.len() > 1 {
		first := s.sum(0, 1)
		name += "/" + hex.EncodeToString(first[:2])
	}
	return name
}

// Grounds names the text that an atom rests on, whatever its lines and files: "sha256:"
// and 16 hex digits over what Cited says of each text that its sources name, or the blob
// of a source that names none. An atom without sources rests on its own text.
func Grounds(a *Atom) string {
	var names []string
	f, _ := a.Field("sources")
	for _, v := range items(f.Value) {
		m, _ := v.(map[string]any)
		if texts := list(m["text"]); len(texts) > 0 {
			names = append(names, texts...)
		} else if blob := text(m["blob"]); blob != "" {
			names = append(names, blob)
		}
	}
	if names == nil {
		own, _, _ := strings.Cut(string(a.Body()), "\n# Related\n")
		names = []string{strings.TrimSpace(own)}
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(names), "\n")))
	return hashed + hex.EncodeToString(sum[:8])
}

const hashed = "sha256:"

// textLines is the lines of a file as they are compared.
type textLines struct {
	text   []byte
	starts []int // of every line, and the end
}

func linesIn(file []byte) textLines {
	s := textLines{make([]byte, 0, len(file)+1), make([]int, 1, bytes.Count(file, []byte("\n"))+2)}
	for l := range bytes.Lines(file) {
		s.text = append(append(s.text, bytes.TrimRight(l, " \t\r\n")...), '\n')
		s.starts = append(s.starts, len(s.text))
	}
	return s
}

func (s textLines) len() int { return len(s.starts) - 1 }

// sum names the lines from one to before another, counted from 0.
func (s textLines) sum(from, to int) [8]byte {
	sum := sha256.Sum256(s.text[s.starts[from]:s.starts[to]])
	return [8]byte(sum[:8])
}

// seek calls found for every line, counted from 1, on which one of the passages begins.
func (s textLines) seek(of map[[2]byte][]*passage, found func(p *passage, line int)) {
	for i := range s.len() {
		first := s.sum(i, i+1)
		for _, p := range of[[2]byte(first[:2])] {
			if n := p.lines[1] - p.lines[0] + 1; n <= s.len()-i && s.sum(i, i+n) == p.sum {
				found(p, i+1)
			}
		}
	}
}

// Places writes what a source cites of a file, as its title has it: "line 5", "lines 1-3, 9".
func Places(lines [][2]int) string {
	var parts []string
	for _, p := range lines {
		if p[0] == p[1] {
			parts = append(parts, strconv.Itoa(p[0]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", p[0], p[1]))
		}
	}
	if len(parts) == 1 && lines[0][0] == lines[0][1] {
		return "line " + parts[0]
	}
	return "lines " + strings.Join(parts, ", ")
}

// ReadPlaces reads what Places writes, nil for anything else.
func ReadPlaces(title string) [][2]int {
	_, list, _ := strings.Cut(title, " ")
	var out [][2]int
	for part := range strings.SplitSeq(list, ", ") {
		first, last, several := strings.Cut(part, "-")
		if !several {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, errTo := strconv.Atoi(last)
		if err != nil || errTo != nil || from < 1 || to < from {
			return nil
		}
		out = append(out, [2]int{from, to})
	}
	return out
}

// passage is a text that an atom cites.
type passage struct {
	sum   [8]byte
	first [2]byte // what the sum of its first line begins with
	lines [2]int  // where the source says it stands

	file string // where it stands now, "" for nowhere
	line int
}

// readPassage reads what Cited writes.
func readPassage(text string, lines [2]int) (*passage, bool) {
	p := passage{lines: lines}
	name, first, several := strings.Cut(strings.TrimPrefix(text, hashed), "/")
	sum, err := hex.DecodeString(name)
	head, errFirst := hex.DecodeString(first)
	if err != nil || errFirst != nil || len(sum) != len(p.sum) || several != (lines[1] > lines[0]) || several && len(head) != 2 {
		return nil, false
	}
	copy(p.sum[:], sum)
	copy(p.first[:], sum)
	copy(p.first[:], head)
	return &p, true
}

// now is where the passage stands now.
func (p *passage) now() string {
	if n := p.lines[1] - p.lines[0]; n > 0 {
		return fmt.Sprintf("%s:%d-%d", p.file, p.line, p.line+n)
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

func byFirst(cs []*citation) map[[2]byte][]*passage {
	out := map[[2]byte][]*passage{}
	for _, c := range cs {
		for _, p := range c.passages {
			if p.file == "" {
				out[p.first] = append(out[p.first], p)
			}
		}
	}
	return out
}

// citation is a source that says what was read: a file of the repository, by its path
// from the top, with its blob or the names of the texts.
type citation struct {
	path     string // of the atom
	source   int    // which of its sources it is
	resource string
	blob     string
	passages []*passage
	there    bool // the file
}

// citations are those of an atom in force.
func citations(a *Atom) []*citation {
	if strings.EqualFold(a.Status, "deprecated") {
		return nil
	}
	f, _ := a.Field("sources")
	var out []*citation
	for i, v := range items(f.Value) {
		m, _ := v.(map[string]any)
		c := citation{path: a.Path, source: i, resource: text(m["resource"]), blob: text(m["blob"])}
		texts := list(m["text"])
		if c.blob == "" && texts == nil || scheme(c.resource) != "" || !fs.ValidPath(c.resource) {
			continue
		}
		places := ReadPlaces(text(m["title"]))
		if len(places) != len(texts) {
			texts = nil // somebody wrote another title
		}
		for i, t := range texts {
			if p, ok := readPassage(t, places[i]); ok {
				c.passages = append(c.passages, p)
			}
		}
		out = append(out, &c)
	}
	return out
}

// Drift is a source that is not as it was read.
type Drift struct {
	Path     string   // of the atom
	Source   int      // which of the atom's sources it is, from 0
	Resource string   // of the source
	Gone     bool     // the file is not there
	Lost     bool     // some of the text is in no file
	Here     [][2]int // the lines on which the file has what it still has of the cited texts
	Kept     []int    // which of the texts those are, from 0
	Files    []string // other files that have some of the text

	was, lost [][2]int
	now       []string
}

// Stands reports whether the file still has all of the text.
func (d Drift) Stands() bool { return !d.Lost && !d.Gone && len(d.Files) == 0 }

// Dead reports whether no file has anything of the text.
func (d Drift) Dead() bool { return d.Lost && len(d.Here)+len(d.Files) == 0 }

// CheckSources compares the files of a repository with what the sources of atoms say was
// read of them, and tells what Drifted finds.
func CheckSources(g *Graph, files, tracked fs.FS) []Problem {
	var out []Problem
	for _, d := range Drifted(g, files, tracked) {
		p := d.problem()
		p.Path, p.Line = d.Path, g.ByPath(d.Path).sourceLine(d.Resource)
		out = append(out, p)
	}
	sortProblems(out)
	return out
}

// Drifted compares the files of a repository with what the sources of atoms say was
// read of them. A source is looked at when its resource is a path from the top of the
// repository and it has blob, the git blob of the file, or text, the names that Cited
// gives. files are those of the repository; only those that a source names are read. A
// text that its file no longer has is looked for in tracked, the committed files, as far
// as their names end alike. The sources come by the path of their atoms.
func Drifted(g *Graph, files, tracked fs.FS) []Drift {
	byFile := map[string][]*citation{}
	for _, of := range Gather(g, func(string) bool { return true }, citations) {
		for _, c := range of {
			if st, ok := files.(fs.StatFS); ok && c.blob != "" { // of a commit, it tells the blob
				if in, err := st.Stat(c.resource); err == nil && fmt.Sprint(in.Sys()) == c.blob {
					continue
				}
			}
			byFile[c.resource] = append(byFile[c.resource], c)
		}
	}
	names := slices.Sorted(maps.Keys(byFile))
	apart := make([][]*citation, len(names))
	readThese(files, names, func(k int, b []byte, err error) {
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			apart[k] = compare(b, err == nil, byFile[names[k]])
		}
	})
	cs := slices.Concat(apart...)
	searchFor(tracked, cs)
	var out []Drift
	for _, c := range cs {
		if d, ok := c.drift(); ok {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Drift) int { return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Source, b.Source)) })
	return out
}

// readThese reads files on as many goroutines as there are processors.
func readThese(f fs.FS, names []string, got func(k int, b []byte, err error)) {
	batches(len(names), func(from, to int) {
		alone := func(k int) {
			b, err := fs.ReadFile(f, names[from+k])
			got(from+k, b, err)
		}
		if m, ok := f.(manyReader); ok {
			readEach(m, names[from:to], func(k int, b []byte) { got(from+k, b, nil) }, alone)
			return
		}
		for k := range to - from {
			alone(k)
		}
	})
}

// compare finds the passages of a file's citations in it, and returns the citations that
// are not as they were.
func compare(file []byte, there bool, cs []*citation) []*citation {
	blob := BlobID(file)
	cs = slices.DeleteFunc(cs, func(c *citation) bool {
		c.there = there
		return there && c.blob == blob
	})
	if there && len(cs) > 0 {
		of := byFirst(cs)
		for _, c := range cs {
			for _, p := range c.passages {
				p.file = c.resource
			}
		}
		linesIn(file).seek(of, func(p *passage, line int) {
			if p.line == 0 || line == p.lines[0] {
				p.line = line
			}
		})
	}
	return slices.DeleteFunc(cs, func(c *citation) bool {
		same := c.there
		for _, p := range c.passages {
			if p.line == 0 {
				p.file = ""
			}
			same = same && p.line == p.lines[0]
		}
		return same
	})
}

// searchFor looks for the passages that their own files no longer have in the other files.
func searchFor(tracked fs.FS, cs []*citation) {
	of, ends := byFirst(cs), map[string]bool{}
	for _, c := range cs {
		if slices.ContainsFunc(c.passages, func(p *passage) bool { return p.file == "" }) {
			ends[path.Ext(c.resource)] = true
		}
	}
	if len(of) == 0 {
		return
	}
	var names []string
	_ = fs.WalkDir(tracked, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != ".":
			return fs.SkipDir
		case d.Type().IsRegular() && ends[path.Ext(name)]:
			names = append(names, name)
		}
		return nil
	})
	var one sync.Mutex
	readThese(tracked, names, func(k int, b []byte, err error) {
		if err != nil {
			return
		}
		linesIn(b).seek(of, func(p *passage, line int) {
			one.Lock()
			defer one.Unlock()
			if p.file == "" || names[k] < p.file {
				p.file, p.line = names[k], line
			}
		})
	})
}

// drift tells what became of the file, or of the passages.
func (c *citation) drift() (Drift, bool) {
	d := Drift{Path: c.path, Source: c.source, Resource: c.resource, Gone: !c.there}
	for i, p := range c.passages {
		d.was = append(d.was, p.lines)
		switch {
		case p.file == "":
			d.lost = append(d.lost, p.lines)
			continue
		case p.file == c.resource:
			d.Here, d.Kept = append(d.Here, [2]int{p.line, p.line + p.lines[1] - p.lines[0]}), append(d.Kept, i)
		case !slices.Contains(d.Files, p.file):
			d.Files = append(d.Files, p.file)
		}
		if !slices.Contains(d.now, p.now()) {
			d.now = append(d.now, p.now())
		}
	}
	d.Lost = d.lost != nil || d.Gone && c.passages == nil
	return d, d.Lost || d.now != nil
}

func (d Drift) problem() Problem {
	switch {
	case d.Lost && d.Gone:
		return Problem{Code: codeSourceGone, Severity: Warn, Message: fmt.Sprintf("its source %s is gone, and no other file has the text", d.Resource),
			Hint: "correct the atom and its sources, or delete it"}
	case d.Lost:
		return Problem{Code: codeSourceChanged, Severity: Warn, Message: fmt.Sprintf("its source %s no longer has the text that it had on %s", d.Resource, Places(d.lost)),
			Hint: "compare the two, then correct the atom or delete it"}
	}
	return Problem{Code: codeSourceMoved, Severity: Info, Message: fmt.Sprintf("the text on %s of its source %s is now at %s", Places(d.was), d.Resource, strings.Join(d.now, ", ")),
		Hint: "it is the same text, so nothing needs to be done"}
}

// sourceLine is the line of the source that has a resource.
func (a *Atom) sourceLine(resource string) int {
	n, first := 0, a.Line("sources")
	for l := range bytes.Lines(a.Bytes()) {
		n++
		for _, before := range []string{" ", `"`, "'"} {
			if n >= first && n < a.BodyLine && bytes.Contains(l, []byte(before+resource)) {
				return n
			}
		}
	}
	return first
}
