package okf

import (
	"cmp"
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

// Load reads every concept file below the root of f: regular files named *.md, except
// index.md and log.md, which it checks. It skips files and folders whose name starts with a
// dot. It reports a symlink and never follows it.
//
// A file that cannot be read as an atom is a Problem, and the rest still loads. An id that
// a file earlier by path already has is a Problem too. Problems are in order of path. The
// error means that f could not be walked at all.
//
// Load reads on GOMAXPROCS goroutines, which f must allow, as os.DirFS does. If f has a
// method ReadMany, as git trees and disk.FS have, Load reads through it.
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
	g := buildGraph(found)
	return g, mergeProblems(g.problems, l.problems), nil
}

// reading is the result of reading one file: an atom, or problems, or neither for a
// reserved file without problems.
type reading struct {
	path     string
	atom     *Atom
	header   *header // what the atom can be parsed from; nil with a nil atom means no atom
	problems []Problem
	gone     bool // the file no longer exists
}

func (r *reading) isAtom() bool { return r.atom != nil || r.header != nil }

// readIdentity returns the id, type and uri of the atom.
func (r *reading) readIdentity() (id ID, typ, uri string) {
	switch {
	case r.atom != nil:
		return r.atom.ID, r.atom.Type, r.atom.URI
	case r.header != nil:
		return r.header.id, r.header.typ, r.header.uri
	}
	return "", "", ""
}

// makeAtom returns the atom, and parses it first if necessary; nil if there is none.
func (r *reading) makeAtom() *Atom {
	if r.atom == nil && r.header != nil {
		if a, p := parse(r.path, unsafeBytes(r.header.text)); p == nil {
			a.readLinks()
			r.atom = &a
		}
	}
	return r.atom
}

// manyReader is a file system that reads many files in one call, such as a git tree or a
// folder on disk. It passes the files to fn in the order of names, and fn owns data. Its
// error concerns the first file that fn did not get.
type manyReader interface {
	ReadMany(names []string, fn func(name string, data []byte) error) error
}

// readAll reads the files numbered todo into their places in found. It writes to these
// places first: a page of memory costs as much as a file if the garbage collector has seen
// it before the first write.
func readAll(f fs.FS, files []string, todo []int, found []reading) {
	for _, i := range todo {
		found[i].path = files[i]
	}
	m, ok := f.(manyReader)
	if !ok {
		eachParallel(len(todo), func(k int) {
			i := todo[k]
			found[i] = readOne(f, files[i])
		})
		return
	}
	if _, ok := f.(manyStater); ok {
		// A call costs nothing here, and small batches keep all processors busy.
		eachBatch(len(todo), func(from, to int) { readPart(f, m, files, todo[from:to], found) })
		return
	}
	share := (len(todo) + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for part := range slices.Chunk(todo, max(share, 1)) {
		wg.Go(func() { readPart(f, m, files, part, found) })
	}
	wg.Wait()
}

// readPart reads part in as few calls as possible.
func readPart(f fs.FS, m manyReader, files []string, part []int, found []reading) {
	names := make([]string, len(part))
	for k, i := range part {
		names[k] = files[i]
	}
	readEach(m, names, func(k int, data []byte) {
		found[part[k]] = parseOne(names[k], data)
	}, func(k int) {
		found[part[k]] = readOne(f, names[k])
	})
}

// readEach reads files in order of names, in as few calls as possible. It passes each to
// got, or calls alone for it. alone gets the file at which a call fails, so that the error
// is that file's, and all files once two calls in a row return nothing.
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

func readOne(f fs.FS, file string) reading {
	b, p := readFile(f, file)
	if p != nil {
		p.Path = file
		return reading{path: file, problems: []Problem{*p}}
	}
	return parseOne(file, b)
}

func parseOne(file string, b []byte) reading {
	r := reading{path: file}
	if c := Conflict(b); c != nil {
		c.Path = file
		r.problems = []Problem{*c}
	}
	if isReserved(file) {
		r.problems = append(r.problems, checkReserved(file, b)...)
		return r
	}
	reader := headerReaders.Get().(*headerReader)
	r.header = reader.newHeader(file, b)
	headerReaders.Put(reader)
	if r.header != nil {
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

// readFile reads a file that is not too large.
func readFile(f fs.FS, file string) ([]byte, *Problem) {
	h, err := f.Open(file)
	if err != nil {
		return nil, unreadableProblem(err)
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return nil, unreadableProblem(err)
	}
	if info.Size() > MaxFileBytes {
		return nil, tooBigProblem(info.Size())
	}
	b := make([]byte, info.Size())
	n, err := io.ReadFull(h, b)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, unreadableProblem(err)
	}
	return b[:n], nil
}

func unreadableProblem(err error) *Problem {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return newProblem(1, codeUnreadable, fmt.Sprintf("cannot be read: %v", err), "check its permissions")
}

// Unread returns the first problem about a file that could not be read, as an error. A
// caller that decides by the bundle of a commit must not decide by a part of it.
func Unread(ps []Problem) error {
	for _, p := range ps {
		if p.Code == codeUnreadable {
			return p
		}
	}
	return nil
}

// buildGraph links the atoms that were read, in order of path. Two files with one id are
// both reported, each with the place of the other; the first by path keeps the id.
func buildGraph(found []reading) *Graph {
	r := newRows(found)
	for i := range int32(r.len()) {
		if r.state[i] != rowDuplicate {
			continue
		}
		g := Graph{rows: r}
		if first, ok := g.byID(r.idOf(i)); ok {
			a, b := r.atomOf(first), r.atomOf(i)
			r.problems = append(r.problems, duplicateProblem(a, b), duplicateProblem(b, a))
		}
	}
	sortProblems(r.problems)
	return newGraph(r, nil)
}

func duplicateProblem(a, other *Atom) Problem {
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

// listing is the result of a walk, in order of path.
type listing struct {
	files    []string
	problems []Problem
}

// listFiles walks f, one depth at a time, and reads the folders of a depth in parallel.
func listFiles(f fs.FS) (listing, error) {
	if _, err := fs.ReadDir(f, "."); err != nil {
		return listing{}, err
	}
	var out listing
	root, all := &listedFolder{dir: "."}, 0
	for level := []*listedFolder{root}; len(level) > 0; {
		eachParallel(len(level), func(i int) { level[i].listEntries(f) })
		var next []*listedFolder
		for _, d := range level {
			out.problems = append(out.problems, d.problems...)
			next = append(next, d.below...)
			all += len(d.files)
		}
		level = next
	}
	out.files = root.appendFiles(make([]string, 0, all))
	return out, nil
}

type listedFolder struct {
	dir      string
	files    []string
	below    []*listedFolder
	problems []Problem
}

// listEntries reads the folder: its files and folders in order of name.
func (d *listedFolder) listEntries(f fs.FS) {
	entries, err := fs.ReadDir(f, d.dir)
	if err != nil {
		p := unreadableProblem(err)
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
		case (md || e.IsDir()) && !utf8.ValidString(name): // neither a bundle nor a commit can have such a path
			p := newProblem(1, codeName, "the name is not UTF-8", "rename it")
			p.Path = strings.ToValidUTF8(at+name, "\ufffd")
			d.problems = append(d.problems, *p)
		case e.IsDir():
			d.below = append(d.below, &listedFolder{dir: at + name})
		case e.Type().IsRegular():
			if md {
				d.files = append(d.files, at+name)
			}
		case md || path.Ext(name) == "":
			d.problems = append(d.problems, specialFileProblem(at+name))
		}
	}
	slices.Sort(d.files)
	slices.SortFunc(d.below, func(a, b *listedFolder) int { return strings.Compare(a.dir+"/", b.dir+"/") })
}

// appendFiles appends the files of the folder and of those below it in order of path. A
// folder sorts as its name with a slash.
func (d *listedFolder) appendFiles(out []string) []string {
	files := d.files
	for _, b := range d.below {
		n, _ := slices.BinarySearch(files, b.dir+"/")
		out = append(out, files[:n]...)
		files = files[n:]
		out = b.appendFiles(out)
	}
	return append(out, files...)
}

func specialFileProblem(file string) Problem {
	return Problem{
		Code: codeSymlink, Severity: Error, Path: file, Line: 1,
		Message: "a symlink or special file; it is not followed", Hint: "put the file itself into the bundle",
	}
}

// eachParallel calls do(0) … do(n-1), on as many goroutines as there are processors.
func eachParallel(n int, do func(i int)) {
	eachBatch(n, func(from, to int) {
		for i := from; i < to; i++ {
			do(i)
		}
	})
}

// batchSize is large enough that goroutines do not wait for the counter of runWorkers.
const batchSize = 64

// eachBatch calls do for runs of neighbours that make up [0, n), on as many goroutines as
// there are processors.
func eachBatch(n int, do func(from, to int)) {
	runWorkers(n, func() func(from, to int) { return do })
}

// runWorkers is eachBatch with state a goroutine: begin makes the state and returns the
// function to call for the runs. All runs but the last have batchSize.
func runWorkers(n int, begin func() func(from, to int)) {
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

// mergeProblems returns the problems of both lists, sorted.
func mergeProblems(a, b []Problem) []Problem {
	ps := slices.Concat(a, b)
	sortProblems(ps)
	return ps
}

// sortProblems sorts by path, line, code and message.
func sortProblems(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Code, b.Code), strings.Compare(a.Message, b.Message))
	})
}
