package okf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Load reads every concept file below the root of f: regular files named *.md,
// except index.md and log.md, which are checked and are not concepts. Files
// and folders whose name starts with a dot are skipped. A symlink is reported
// and never followed.
//
// A file that cannot be read as an atom is a Problem and the rest still loads;
// so is an id that a file earlier by path already has. Problems are in order
// of path. The error is for an f that cannot be walked at all.
//
// Files are read by GOMAXPROCS goroutines at once: f must allow it, as
// os.DirFS does. An f with a method ReadMany, as a git tree and disk.FS have, is
// read through that.
func Load(f fs.FS) (*Graph, []Problem, error) {
	l, err := listFiles(f)
	if err != nil {
		return nil, nil, err
	}
	found := make([]reading, len(l.files))
	todo := make([]int, len(l.files))
	for i := range todo {
		todo[i] = i
	}
	readAll(f, l.files, todo, found)
	g := assemble(found)
	return g, inOrder(g.problems, l.problems), nil
}

// reading is what one file turned out to be: an atom, or problems, or neither
// for a reserved file that is in order.
type reading struct {
	path     string
	atom     *Atom
	lean     *lean // what an atom can be made of; where atom is nil too, there is none
	problems []Problem
	gone     bool // the file is not there any more
}

// is reports whether the file is an atom.
func (r *reading) is() bool { return r.atom != nil || r.lean != nil }

// readIdentity returns the id, type and uri of the atom.
func (r *reading) readIdentity() (id ID, typ, uri string) {
	switch {
	case r.atom != nil:
		return r.atom.ID, r.atom.Type, r.atom.URI
	case r.lean != nil:
		return r.lean.id, r.lean.typ, r.lean.uri
	}
	return "", "", ""
}

// make makes the atom.
func (r *reading) make() *Atom {
	if r.atom == nil && r.lean != nil {
		if a, p := parse(r.path, bytesOf(r.lean.text)); p == nil {
			a.readLinks()
			r.atom = &a
		}
	}
	return r.atom
}

// manyReader is a file system that reads many files in one go: a git tree, a
// folder of the machine. It hands the files to fn in the order of names, and fn
// owns data. Its error is about the first file that fn did not get.
type manyReader interface {
	ReadMany(names []string, fn func(name string, data []byte) error) error
}

// readAll reads the files numbered todo into their places in found. Those are
// written to beforehand: a page of memory that the collector looked at first
// costs, once it is written to, as much as a file.
func readAll(f fs.FS, files []string, todo []int, found []reading) {
	for _, i := range todo {
		found[i].path = files[i]
	}
	m, ok := f.(manyReader)
	if !ok {
		parallel(len(todo), func(k int) {
			i := todo[k]
			found[i] = read(f, files[i])
		})
		return
	}
	if _, ok := f.(manyStater); ok {
		// To begin a go costs nothing here, and with many nobody is left behind.
		batches(len(todo), func(from, to int) { readPart(f, m, files, todo[from:to], found) })
		return
	}
	share := (len(todo) + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for part := range slices.Chunk(todo, max(share, 1)) {
		wg.Go(func() { readPart(f, m, files, part, found) })
	}
	wg.Wait()
}

// readPart reads part in as few goes as it takes.
func readPart(f fs.FS, m manyReader, files []string, part []int, found []reading) {
	names := make([]string, len(part))
	for k, i := range part {
		names[k] = files[i]
	}
	readEach(m, names, func(k int, data []byte) {
		found[part[k]] = interpret(names[k], data)
	}, func(k int) {
		found[part[k]] = read(f, names[k])
	})
}

// readEach reads files in as few goes as it takes, in the order of names: each is
// got, or has to be read alone. That is the file that a go breaks off at, so
// that the error is that file's; and all, once two goes in a row bring nothing.
func readEach(m manyReader, names []string, got func(k int, data []byte), alone func(k int)) {
	for k, idle := 0, 0; k < len(names); idle++ {
		from, err := k, error(nil)
		if idle < 2 {
			err = m.ReadMany(names[k:], func(_ string, data []byte) error {
				got(k, data)
				k++
				return nil
			})
		}
		if k > from {
			idle = 0
		}
		if k < len(names) && (err != nil || idle >= 2) {
			alone(k)
			k++
		}
	}
}

// read reads one file.
func read(f fs.FS, file string) reading {
	b, p := readFile(f, file)
	if p != nil {
		p.Path = file
		return reading{path: file, problems: []Problem{*p}}
	}
	return interpret(file, b)
}

// interpret is what the bytes of a file say.
func interpret(file string, b []byte) reading {
	r := reading{path: file}
	if c := Conflict(b); c != nil {
		c.Path = file
		r.problems = []Problem{*c}
	}
	if isReserved(file) {
		r.problems = append(r.problems, checkReserved(file, b)...)
		return r
	}
	reader := leanReaders.Get().(*leanReader)
	r.lean = reader.read(file, b)
	leanReaders.Put(reader)
	if r.lean != nil {
		return r
	}
	a, p := parse(file, b)
	if p != nil {
		p.Path = file
		r.problems = []Problem{*p}
		return r
	}
	a.readLinks()
	r.atom = &a
	return r
}

// readFile reads a file whose size it knows to be sensible.
func readFile(f fs.FS, file string) ([]byte, *Problem) {
	h, err := f.Open(file)
	if err != nil {
		return nil, unreadable(err)
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return nil, unreadable(err)
	}
	if info.Size() > MaxFileBytes {
		return nil, tooBig(info.Size())
	}
	b := make([]byte, info.Size())
	n, err := io.ReadFull(h, b)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, unreadable(err)
	}
	return b[:n], nil
}

func unreadable(err error) *Problem {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return bad(1, codeUnreadable, fmt.Sprintf("cannot be read: %v", err), "check its permissions")
}

// Unread is the first of the problems that says that a file could not be read, as an
// error: who judges by a bundle of a commit does not judge by a part of it.
func Unread(ps []Problem) error {
	for _, p := range ps {
		if p.Code == codeUnreadable {
			return p
		}
	}
	return nil
}

// assemble links the atoms that were read, in order of path. Two files with one
// id are both reported, each with the other's place; the first by path keeps it.
// The graph's problems are those of the files.
func assemble(found []reading) *Graph {
	r := newRows(found)
	for i := range int32(r.len()) {
		if r.state[i] != rowTwin {
			continue
		}
		g := Graph{rows: r}
		if first, ok := g.byID(r.id(i)); ok {
			a, b := r.atom(first), r.atom(i)
			r.problems = append(r.problems, duplicate(a, b), duplicate(b, a))
		}
	}
	sortProblems(r.problems)
	return newGraph(r, nil)
}

func duplicate(a, other *Atom) Problem {
	return Problem{
		Code: codeDuplicateID, Severity: Error, Path: a.Path, Line: a.Line("id"),
		Message: fmt.Sprintf("id %s is also at %s:%d", a.ID, other.Path, other.Line("id")),
		Hint:    "give one of them another id",
	}
}

// isReserved reports the two file names that are never concepts.
func isReserved(file string) bool {
	base := path.Base(file)
	return base == "index.md" || base == "log.md"
}

// listing is what a walk found, in order of path.
type listing struct {
	files    []string
	problems []Problem
}

// listFiles walks f, the folders of one depth at a time and in parallel.
func listFiles(f fs.FS) (listing, error) {
	if _, err := fs.ReadDir(f, "."); err != nil {
		return listing{}, err
	}
	var out listing
	root, all := &listed{dir: "."}, 0
	for level := []*listed{root}; len(level) > 0; {
		parallel(len(level), func(i int) { level[i].read(f) })
		var next []*listed
		for _, d := range level {
			out.problems = append(out.problems, d.problems...)
			next = append(next, d.below...)
			all += len(d.files)
		}
		level = next
	}
	out.files = root.collect(make([]string, 0, all))
	return out, nil
}

// listed is one folder of a walk.
type listed struct {
	dir      string
	files    []string
	below    []*listed
	problems []Problem
}

// read lists the folder, its files and folders in order of name.
func (d *listed) read(f fs.FS) {
	entries, err := fs.ReadDir(f, d.dir)
	if err != nil {
		p := unreadable(err)
		p.Path = d.dir
		d.problems = append(d.problems, *p)
	}
	at := ""
	if d.dir != "." {
		at = d.dir + "/"
	}
	d.files = make([]string, 0, len(entries))
	for _, e := range entries {
		name := e.Name()
		md := strings.HasSuffix(name, ".md")
		switch {
		case name[0] == '.':
		case (md || e.IsDir()) && !utf8.ValidString(name): // no path of a bundle, nor of a commit
			p := bad(1, codeName, "the name is not UTF-8", "rename it")
			p.Path = strings.ToValidUTF8(at+name, "\ufffd")
			d.problems = append(d.problems, *p)
		case e.IsDir():
			d.below = append(d.below, &listed{dir: at + name})
		case e.Type().IsRegular():
			if md {
				d.files = append(d.files, at+name)
			}
		case md || path.Ext(name) == "":
			d.problems = append(d.problems, special(at+name))
		}
	}
	slices.Sort(d.files)
	slices.SortFunc(d.below, func(a, b *listed) int { return strings.Compare(a.dir+"/", b.dir+"/") })
}

// collect appends the files of the folder and of those below it in order of
// path, in which a folder stands where its name with a slash does.
func (d *listed) collect(out []string) []string {
	files := d.files
	for _, b := range d.below {
		n, _ := slices.BinarySearch(files, b.dir+"/")
		out = append(out, files[:n]...)
		files = files[n:]
		out = b.collect(out)
	}
	return append(out, files...)
}

func special(file string) Problem {
	return Problem{
		Code: codeSymlink, Severity: Error, Path: file, Line: 1,
		Message: "a symlink or special file; it is not followed", Hint: "put the file itself into the bundle",
	}
}

// parallel calls do(0) … do(n-1), on as many goroutines as there are processors.
func parallel(n int, do func(i int)) {
	batches(n, func(from, to int) {
		for i := from; i < to; i++ {
			do(i)
		}
	})
}

// batchSize is so many that the counter of batches is not what they wait for.
const batchSize = 64

// batches calls do for runs of neighbours that make up [0, n), on as many
// goroutines as there are processors.
func batches(n int, do func(from, to int)) {
	workers(n, func() func(from, to int) { return do })
}

// workers is batches where each goroutine has something of its own: begin makes
// it, and returns what to call for the runs. All but the last have batchSize.
func workers(n int, begin func() func(from, to int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+batchSize-1)/batchSize) {
		wg.Go(func() {
			do := begin()
			for from := int(next.Add(batchSize)) - batchSize; from < n; from = int(next.Add(batchSize)) - batchSize {
				do(from, min(from+batchSize, n))
			}
		})
	}
	wg.Wait()
}

// inOrder is two lists of problems in one.
func inOrder(a, b []Problem) []Problem {
	ps := slices.Concat(a, b)
	sortProblems(ps)
	return ps
}

// sortProblems orders by path, line, code and message.
func sortProblems(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		if c := strings.Compare(a.Code, b.Code); c != 0 {
			return c
		}
		return strings.Compare(a.Message, b.Message)
	})
}
