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
	"syscall"
)

// Cited returns a name for lines of text, by which the text is found again wherever it
// moves. The name is "sha256:" and the first 16 hex digits of the hash. Trailing white
// space of each line is ignored. For several lines, "/" and four digits of the hash of the
// first line follow, which make a search fast. The key text of a source holds one such name
// for each place in its title.
func Cited(lines []byte) string {
	s := splitLines(lines)
	all := s.hashLines(0, s.len())
	name := hashPrefix + hex.EncodeToString(all[:])
	if s.len() > 1 {
		first := s.hashLines(0, 1)
		name += "/" + hex.EncodeToString(first[:2])
	}
	return name
}

// Grounds returns a name for the text that an atom rests on, independent of lines and
// files. It is "sha256:" and 16 hex digits over the names in the key text of all sources,
// or over the blob of a source without them. An atom without sources rests on its own text.
func Grounds(a *Atom) string {
	var names []string
	f, _ := a.Field("sources")
	for _, v := range listItems(f.Value) {
		m, _ := v.(map[string]any)
		if texts := valueList(m["text"]); len(texts) > 0 {
			names = append(names, texts...)
		} else if blob := valueText(m["blob"]); blob != "" {
			names = append(names, blob)
		}
	}
	if names == nil {
		own, _, _ := strings.Cut(string(a.Body()), "\n# Related\n")
		names = []string{strings.TrimSpace(own)}
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(names), "\n")))
	return hashPrefix + hex.EncodeToString(sum[:8])
}

const hashPrefix = "sha256:"

// textLines holds the lines of a file without trailing white space.
type textLines struct {
	text   []byte
	starts []int // the offset of every line, and the end
}

func splitLines(file []byte) textLines {
	s := textLines{make([]byte, 0, len(file)+1), make([]int, 1, bytes.Count(file, []byte("\n"))+2)}
	for l := range bytes.Lines(file) {
		s.text = append(append(s.text, bytes.TrimRight(l, " \t\r\n")...), '\n')
		s.starts = append(s.starts, len(s.text))
	}
	return s
}

func (s textLines) len() int { return len(s.starts) - 1 }

// hashLines hashes the lines [from, to), counted from 0.
func (s textLines) hashLines(from, to int) [8]byte {
	sum := sha256.Sum256(s.text[s.starts[from]:s.starts[to]])
	return [8]byte(sum[:8])
}

// findPassages calls found with every passage and each line, counted from 1, on which it
// begins.
func (s textLines) findPassages(of map[[2]byte][]*passage, found func(p *passage, line int)) {
	for i := range s.len() {
		first := s.hashLines(i, i+1)
		for _, p := range of[[2]byte(first[:2])] {
			if n := p.lines[1] - p.lines[0] + 1; n <= s.len()-i && s.hashLines(i, i+n) == p.sum {
				found(p, i+1)
			}
		}
	}
}

// Places formats the lines that a source cites, as in its title: "line 5", "lines 1-3, 9".
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

// ReadPlaces parses what Places writes; nil for anything else.
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
	first [2]byte // the beginning of the hash of its first line
	lines [2]int  // where it was when it was cited

	file string // where it is now, "" for nowhere
	line int
}

// readPassage parses what Cited writes.
func readPassage(text string, lines [2]int) (*passage, bool) {
	p := passage{lines: lines}
	name, first, several := strings.Cut(strings.TrimPrefix(text, hashPrefix), "/")
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

// location formats where the passage is now.
func (p *passage) location() string {
	if n := p.lines[1] - p.lines[0]; n > 0 {
		return fmt.Sprintf("%s:%d-%d", p.file, p.line, p.line+n)
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

func indexByFirst(cs []*citation) map[[2]byte][]*passage {
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

// citation is a source that records what was read: the path of a file from the top of the
// repository, and its blob or the names of the cited texts.
type citation struct {
	path     string // of the atom
	source   int    // which of its sources it is
	resource string
	blob     string
	passages []*passage
	there    bool // the file exists
}

// readCitations returns the citations of an atom; none for a deprecated one.
func readCitations(a *Atom) []*citation {
	if strings.EqualFold(a.Status, "deprecated") {
		return nil
	}
	f, _ := a.Field("sources")
	var out []*citation
	for i, v := range listItems(f.Value) {
		m, _ := v.(map[string]any)
		c := citation{path: a.Path, source: i, resource: valueText(m["resource"]), blob: valueText(m["blob"])}
		texts := valueList(m["text"])
		if c.blob == "" && texts == nil || uriScheme(c.resource) != "" || !fs.ValidPath(c.resource) {
			continue
		}
		places := ReadPlaces(valueText(m["title"]))
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

// Drift is a source that changed since it was cited.
type Drift struct {
	Path     string   // of the atom
	Source   int      // which of the atom's sources it is, from 0
	Resource string   // of the source
	Gone     bool     // the file does not exist
	Lost     bool     // some of the text is in no file
	Here     [][2]int // the lines of the cited texts that the file still has
	Kept     []int    // which of the texts those are, from 0
	Files    []string // other files that have some of the text
	Beside   string   // one of Files that the atom has as a source too

	was, lost [][2]int
	now       []string
}

// Stands reports whether the file still has all of the text.
func (d Drift) Stands() bool { return !d.Lost && !d.Gone && len(d.Files) == 0 }

// Dead reports whether no file has any of the text.
func (d Drift) Dead() bool { return d.Lost && len(d.Here)+len(d.Files) == 0 }

// Replaced reports whether the file is there without some of the text, which another file has:
// the text was moved, or it was changed here and not in a copy.
func (d Drift) Replaced() bool { return !d.Gone && len(d.Files) > 0 }

// StillHolds returns the file of an atom that somebody compared with its drifted sources: each
// has the blob of its file as it is now.
func StillHolds(a *Atom, drift []Drift, files fs.FS) ([]byte, error) {
	f, _ := a.Field("sources")
	var blobs []string // of each source, as its file writes it
	for _, v := range listItems(f.Value) {
		m, _ := v.(map[string]any)
		blobs = append(blobs, valueText(m["blob"]))
	}
	head := a.Bytes()[:len(a.Bytes())-len(a.Body())]
	out := slices.Clone(a.Bytes())
	for _, d := range drift {
		b, err := fs.ReadFile(files, d.Resource)
		if err != nil {
			return nil, fmt.Errorf("its source %s is gone; correct its sources, or delete the atom", d.Resource)
		}
		was, now, before, all := blobs[d.Source], BlobID(b), 0, 0
		for i, blob := range blobs {
			if blob == was {
				all++
			}
			if blob == was && i < d.Source {
				before++
			}
		}
		if len(was) != len(now) || bytes.Count(head, []byte(was)) != all {
			return nil, fmt.Errorf("odd cannot tell where its source %s has a blob; write blob: %s under it", d.Resource, now)
		}
		at := 0
		for range before {
			at += bytes.Index(head[at:], []byte(was)) + len(was)
		}
		copy(out[at+bytes.Index(head[at:], []byte(was)):], now)
	}
	return out, nil
}

// CheckSources returns what Drifted finds as problems.
func CheckSources(g *Graph, files fs.FS, list func() []string) []Problem {
	var out []Problem
	for _, d := range Drifted(g, files, list) {
		p := d.toProblem()
		p.Path, p.Line = d.Path, g.ByPath(d.Path).sourceLine(d.Resource)
		out = append(out, p)
	}
	sortProblems(out)
	return out
}

// Drifted compares the files of a repository with what atoms cite, and returns the sources
// that changed, in order of their atoms' paths.
//
// It checks a source if its resource is a path from the top of the repository, and if it
// has the key blob, the git blob of the file, or text, the names that Cited returns. It
// reads only the files that a source names. If a file no longer has a text, Drifted looks
// for it in the files of list with the same extension; nil lists them all.
func Drifted(g *Graph, files fs.FS, list func() []string) []Drift {
	return findDrifts(slices.Concat(gatherAtoms(g, func(string) bool { return true }, readCitations)...), files, list)
}

// DriftedOf is [Drifted] for these atoms alone.
func DriftedOf(atoms []*Atom, files fs.FS, list func() []string) []Drift {
	var cited []*citation
	for _, a := range atoms {
		cited = append(cited, readCitations(a)...)
	}
	return findDrifts(cited, files, list)
}

func findDrifts(cited []*citation, files fs.FS, list func() []string) []Drift {
	byFile := map[string][]*citation{}
	for _, c := range cited {
		if st, ok := files.(fs.StatFS); ok && c.blob != "" { // of a commit, it tells the blob
			if in, err := st.Stat(c.resource); err == nil && fmt.Sprint(in.Sys()) == c.blob {
				continue
			}
		}
		byFile[c.resource] = append(byFile[c.resource], c)
	}
	names := slices.Sorted(maps.Keys(byFile))
	apart := make([][]*citation, len(names))
	readFiles(files, names, func(k int, b []byte, err error) {
		if err == nil || isGone(files, names[k], err) {
			apart[k] = checkCitedFile(b, err == nil, byFile[names[k]])
		}
	})
	cs := slices.Concat(apart...)
	searchElsewhere(files, list, cs)
	var out []Drift
	for _, c := range cs {
		if d, ok := c.findDrift(); ok {
			for _, o := range cited {
				if o.path == d.Path && slices.Contains(d.Files, o.resource) {
					d.Beside = o.resource
				}
			}
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Drift) int { return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Source, b.Source)) })
	return out
}

// isGone reports whether reading a file failed with err because there is no file, but for example a link or a folder.
func isGone(files fs.FS, name string, err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return true
	}
	in, err := fs.Lstat(files, name)
	return err == nil && !in.Mode().IsRegular()
}

// readFiles reads files on as many goroutines as there are processors.
func readFiles(f fs.FS, names []string, got func(k int, b []byte, err error)) {
	eachBatch(len(names), func(from, to int) {
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

// checkCitedFile looks for the cited passages in their file, and returns the citations that
// no longer match.
func checkCitedFile(file []byte, there bool, cs []*citation) []*citation {
	blob := BlobID(file)
	cs = slices.DeleteFunc(cs, func(c *citation) bool {
		c.there = there
		return there && c.blob == blob
	})
	if there && len(cs) > 0 {
		of := indexByFirst(cs)
		for _, c := range cs {
			for _, p := range c.passages {
				p.file = c.resource
			}
		}
		splitLines(file).findPassages(of, func(p *passage, line int) {
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

// searchElsewhere looks in other files for the passages that their own files no longer have.
func searchElsewhere(files fs.FS, list func() []string, cs []*citation) {
	of, ends := indexByFirst(cs), map[string]bool{}
	for _, c := range cs {
		if slices.ContainsFunc(c.passages, func(p *passage) bool { return p.file == "" }) {
			ends[path.Ext(c.resource)] = true
		}
	}
	if len(of) == 0 {
		return
	}
	if list == nil {
		list = func() []string { return listAll(files) }
	}
	names := slices.DeleteFunc(list(), func(name string) bool {
		return !ends[path.Ext(name)] || strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
	})
	var one sync.Mutex
	readFiles(files, names, func(k int, b []byte, err error) {
		if err != nil {
			return
		}
		splitLines(b).findPassages(of, func(p *passage, line int) {
			one.Lock()
			defer one.Unlock()
			if p.file == "" || names[k] < p.file {
				p.file, p.line = names[k], line
			}
		})
	})
}

// listAll returns the paths of all regular files.
func listAll(files fs.FS) (names []string) {
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	return names
}

// findDrift returns what became of the file or its passages, and whether anything changed.
func (c *citation) findDrift() (Drift, bool) {
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
		if !slices.Contains(d.now, p.location()) {
			d.now = append(d.now, p.location())
		}
	}
	d.Lost = d.lost != nil || d.Gone && c.passages == nil
	return d, d.Lost || d.now != nil
}

func (d Drift) toProblem() Problem {
	switch {
	case d.Lost && d.Gone:
		return Problem{Code: codeSourceGone, Severity: Warn, Message: fmt.Sprintf("its source %s is gone, and no other file has the text", d.Resource),
			Hint: "correct the atom and its sources, or delete it"}
	case d.Lost:
		return Problem{Code: codeSourceChanged, Severity: Warn, Message: fmt.Sprintf("its source %s no longer has the text that it had on %s", d.Resource, Places(d.lost)),
			Hint: "compare the two; correct the atom, or if it holds run odd knowledge confirm on it"}
	case d.Replaced() && d.Beside != "":
		return Problem{Code: codeSourceChanged, Severity: Warn, Message: fmt.Sprintf("its source %s no longer has the text that it had on %s; its source %s still has it", d.Resource, Places(d.was), d.Beside),
			Hint: "compare the two; correct the atom, or if it holds run odd knowledge confirm on it"}
	case d.Replaced():
		return Problem{Code: codeSourceChanged, Severity: Warn, Message: fmt.Sprintf("its source %s no longer has the text that it had on %s; the same text is at %s", d.Resource, Places(d.was), strings.Join(d.now, ", ")),
			Hint: "if it was moved there, name that file as the source; else correct the atom, or if it holds run odd knowledge confirm on it"}
	}
	return Problem{Code: codeSourceMoved, Severity: Info, Message: fmt.Sprintf("the text on %s of its source %s is now at %s", Places(d.was), d.Resource, strings.Join(d.now, ", ")),
		Hint: "it is the same text, so the atom holds; a link in it to the old place may lead nowhere"}
}

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
