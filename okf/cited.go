package okf

import (
	"bytes"
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
)

// Cited names lines of a file by their text, so that it is found again wherever it
// stands: "sha256:" and the first 16 hex digits over the lines without the white space
// they end in, each with "\n" behind it. Where they are several, a slash and the first
// four digits over the first line alone follow, by which a search is fast. The key text of
// a source holds one name for each place that its title names.
func Cited(lines []byte) string {
	s := linesIn(lines)
	n := len(s.starts) - 1
	if n < 2 {
		return s.named(0, n)
	}
	return s.named(0, n) + "/" + s.named(0, 1)[len(hashed):][:4]
}

const hashed = "sha256:"

// textLines is the lines of a file as they are compared.
type textLines struct {
	text   []byte
	starts []int            // of every line, and the end
	first  map[string][]int // the lines by the first four digits over each, all of them by ""; nil until one asks
}

func linesIn(file []byte) *textLines {
	s := &textLines{starts: []int{0}}
	for l := range bytes.Lines(file) {
		s.text = append(append(s.text, bytes.TrimRight(l, " \t\r\n")...), '\n')
		s.starts = append(s.starts, len(s.text))
	}
	return s
}

func (s *textLines) named(from, to int) string {
	sum := sha256.Sum256(s.text[s.starts[from]:s.starts[to]])
	return hashed + hex.EncodeToString(sum[:8])
}

// find is the line on which a passage begins, where it was rather than elsewhere; 0 where
// it is not in the file.
func (s *textLines) find(p passage) int {
	last := len(s.starts) - 1
	text, key, _ := strings.Cut(p.text, "/")
	if from, to := p.lines[0], p.lines[1]; to <= last && s.named(from-1, to) == text {
		return from
	}
	if s.first == nil {
		s.first = map[string][]int{}
		for i := range last {
			k := s.named(i, i+1)[len(hashed):][:4]
			s.first[k], s.first[""] = append(s.first[k], i), append(s.first[""], i)
		}
	}
	if p.len() == 1 {
		key = strings.TrimPrefix(text, hashed)
	}
	for _, i := range s.first[key[:min(4, len(key))]] {
		if to := i + p.len(); to <= last && s.named(i, to) == text {
			return i + 1
		}
	}
	return 0
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

// readPlaces reads what Places writes, nil for anything else.
func readPlaces(title string) [][2]int {
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

// passage is a text that an atom cites, and where the source says it stands.
type passage struct {
	text  string
	lines [2]int
}

func (p passage) len() int { return p.lines[1] - p.lines[0] + 1 }

// from is where the passage stands when it begins on a line of a file.
func (p passage) from(file string, line int) string {
	if p.len() == 1 {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return fmt.Sprintf("%s:%d-%d", file, line, line+p.len()-1)
}

// citation is a source that says what was read: a file of the repository, by its path
// from the top, with its blob or the names of the texts.
type citation struct {
	path     string // of the atom
	resource string
	blob     string
	passages []passage

	there bool
	now   []string // where the passages stand now, "" for nowhere
}

// citations are those of an atom in force.
func citations(a *Atom) []citation {
	if strings.EqualFold(a.Status, "deprecated") {
		return nil
	}
	f, _ := a.Field("sources")
	var out []citation
	for _, v := range items(f.Value) {
		m, _ := v.(map[string]any)
		c := citation{path: a.Path, resource: text(m["resource"]), blob: text(m["blob"])}
		texts := list(m["text"])
		if c.blob == "" && texts == nil || scheme(c.resource) != "" || !fs.ValidPath(c.resource) {
			continue
		}
		if at := readPlaces(text(m["title"])); len(at) == len(texts) {
			for i, t := range texts {
				c.passages = append(c.passages, passage{t, at[i]})
			}
		}
		out = append(out, c)
	}
	return out
}

// CheckSources compares the files of a repository with what the sources of atoms say was
// read of them. A source is looked at when its resource is a path from the top of the
// repository and it has blob, the git blob of the file, or text, the names that Cited
// gives. files are those of the repository; only those that a source names are read. For
// a text that is no more where it was, tracked is searched, the committed files, as far as
// their names end alike; nil for nothing to search.
func CheckSources(g *Graph, files, tracked fs.FS) []Problem {
	byFile := map[string][]*citation{}
	for _, of := range Gather(g, func(string) bool { return true }, citations) {
		for i := range of {
			byFile[of[i].resource] = append(byFile[of[i].resource], &of[i])
		}
	}
	var apart []*citation
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		apart = append(apart, compare(files, name, byFile[name])...)
	}
	searchFor(tracked, apart)
	var out []Problem
	for _, c := range apart {
		if p, ok := c.problem(); ok {
			p.Path, p.Line = c.path, g.ByPath(c.path).sourceLine(c.resource)
			out = append(out, p)
		}
	}
	sortProblems(out)
	return out
}

// compare returns the citations of a file that are not as they were, with where their
// passages stand in it now.
func compare(files fs.FS, name string, cs []*citation) []*citation {
	if in, err := fs.Stat(files, name); err == nil { // of a commit, it tells the blob
		cs = slices.DeleteFunc(cs, func(c *citation) bool { return c.blob != "" && fmt.Sprint(in.Sys()) == c.blob })
	}
	if len(cs) == 0 {
		return nil
	}
	b, err := fs.ReadFile(files, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil // a folder, or nothing that is read
	}
	blob := BlobID(b)
	var out []*citation
	in := linesIn(b)
	for _, c := range cs {
		if c.there = err == nil; c.there && c.blob == blob {
			continue
		}
		still := c.there
		for _, p := range c.passages {
			from, at := in.find(p), ""
			if from > 0 {
				at = p.from(name, from)
			}
			c.now, still = append(c.now, at), still && from == p.lines[0]
		}
		if !still {
			out = append(out, c)
		}
	}
	return out
}

// searchFor looks for the passages that their own files hold no more in the other files.
func searchFor(tracked fs.FS, cs []*citation) {
	var open []*citation
	ends := map[string]bool{}
	for _, c := range cs {
		if slices.Contains(c.now, "") {
			open = append(open, c)
			ends[path.Ext(c.resource)] = true
		}
	}
	if tracked == nil || len(open) == 0 {
		return
	}
	_ = fs.WalkDir(tracked, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || len(open) == 0:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != ".":
			return fs.SkipDir
		case !d.Type().IsRegular() || !ends[path.Ext(name)]:
			return nil
		}
		b, err := fs.ReadFile(tracked, name)
		in := linesIn(b)
		open = slices.DeleteFunc(open, func(c *citation) bool {
			for i, p := range c.passages {
				if c.now[i] != "" || name == c.resource {
					continue
				}
				if from := in.find(p); from > 0 {
					c.now[i] = p.from(name, from)
				}
			}
			return !slices.Contains(c.now, "")
		})
		return err
	})
}

// problem tells what became of the file, or of the passages.
func (c *citation) problem() (Problem, bool) {
	var was, lost [][2]int
	var where []string
	for i, p := range c.passages {
		was = append(was, p.lines)
		if c.now[i] == "" {
			lost = append(lost, p.lines)
		} else if !slices.Contains(where, c.now[i]) {
			where = append(where, c.now[i])
		}
	}
	switch {
	case !c.there && (lost != nil || c.passages == nil):
		return Problem{Code: codeSourceGone, Severity: Warn, Message: fmt.Sprintf("its source %s is gone, and no other file has the text", c.resource),
			Hint: "correct the atom and its sources, or delete it"}, true
	case lost != nil:
		return Problem{Code: codeSourceChanged, Severity: Warn, Message: fmt.Sprintf("its source %s no longer has the text that it had on %s", c.resource, Places(lost)),
			Hint: "compare the two, then correct the atom or delete it"}, true
	case where != nil:
		return Problem{Code: codeSourceMoved, Severity: Info, Message: fmt.Sprintf("the text on %s of its source %s is now at %s", Places(was), c.resource, strings.Join(where, ", ")),
			Hint: "it is the same text, so nothing needs to be done"}, true
	}
	return Problem{}, false
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
