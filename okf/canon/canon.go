// Package canon reads a folder of markdown as canon and says what is wrong with
// it: documents that carry a uri, refer to each other by it, and are held to a
// profile of required keys. Such a folder need not be an OKF bundle: a document
// of canon often has no type.
//
//	---
//	uri: acme://rules/sources
//	title: Every claim names its source
//	audience: canon
//	exposure: nav
//	tier: 1
//	voice: neutral
//	stability: stable
//	tags: [rules]
//	---
//
// A document is a file with a uri, one without a type that has an audience and a
// stability, and every file in a folder named canon. Two
// kinds of check are made. Rules named frontmatter-… hold a document to the
// profile: the eight keys above, the vocabulary of five of them and of status, and values
// of the right type and form. A key the profile does not know is never reported. The other
// rules follow what the documents refer to, in derives_from, complements,
// supersedes and superseded_by and in their text.
//
// A uri is a name and not a path: it is looked up among the uris that the
// folder's files carry. Because many uris were once made from paths, the path is
// tried next, which finds no more than a file. A uri of an authority that no
// file here has a uri of is somebody else's: it may exist or not, and is never
// called dead; [canon] external in odd.toml says the same of an authority that some
// files here have. What holds "{}", "<>" or "*", and a placeholder such as
// path/to/slug, is a pattern for names. Code has no references.
//
// Where a rule is wrong about one link, a comment before that link says so, and
// says why; the next link consumes it:
//
//	<!-- audit-allow: dead-reference reason="moved, and the new name is not out" -->
//
// The rules and the shape of a finding are those of the validator that canon in
// the wild is written for, so that its users can change over.
package canon

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// page is one markdown file.
type page struct {
	atom     okf.Atom
	path     string
	block    bool
	err      *okf.Problem // why it could not be read
	document bool         // held to the profile
	next     []*page      // what supersedes it
	slugs    []string     // of its headings; nil until asked for
}

// Library is a folder of markdown and the names its files go by.
type Library struct {
	inner, outer fs.FS
	prefix       string
	pages        []*page // by path
	byPath       map[string]*page
	byURI        map[string][]*page
	byID         map[string]*page // ids and stems; nil for one that several files have
	own          map[string]bool  // authorities
	external     []string         // authorities that are declared to be another repository's
}

// Read reads the markdown below the folder prefix of f, "." for all of it.
// Dot-folders and node_modules are skipped; a symlink is not followed, and one in
// a folder named canon is reported. What stands beside the folder can be referred
// to and is not checked. Of the authorities in external only a part may be here: what of
// them is not found is another repository's, and not dead. A file that cannot be read is a finding of Check; the
// error is for a folder that cannot be listed.
func Read(f fs.FS, prefix string, external []string) (*Library, error) {
	l := &Library{outer: f, prefix: path.Clean(prefix), byPath: map[string]*page{}, byURI: map[string][]*page{}, byID: map[string]*page{}, own: map[string]bool{}, external: external}
	var err error
	if l.inner, err = fs.Sub(f, l.prefix); err != nil {
		return nil, err
	}
	if err = fs.WalkDir(l.inner, ".", l.visit); err != nil {
		return nil, err
	}
	slices.SortFunc(l.pages, func(a, b *page) int { return strings.Compare(a.path, b.path) })
	for _, p := range l.pages {
		l.name(p)
	}
	for _, p := range l.pages {
		l.supersede(p)
	}
	return l, nil
}

func (l *Library) add(p *page) { l.pages = append(l.pages, p) }

// visit reads one entry of the folder; of the names only ".md" ones are read.
func (l *Library) visit(p string, d fs.DirEntry, err error) error {
	switch {
	case err != nil && p == ".":
		return err
	case err != nil:
		l.add(&page{path: p, err: &okf.Problem{Line: 1, Message: fmt.Sprintf("cannot be read: %v", err)}})
		return fs.SkipDir
	case d.IsDir() && p != "." && (d.Name()[0] == '.' || d.Name() == "node_modules"):
		return fs.SkipDir
	case d.IsDir() || !strings.HasSuffix(p, ".md"):
	case d.Type().IsRegular() && d.Name()[0] != '.':
		l.add(readPage(l.inner, p))
	case !d.Type().IsRegular() && inCanon(p):
		l.add(&page{path: p, document: true, err: &okf.Problem{Line: 1, Message: "a symlink or special file; it is not followed", Hint: "put the file itself there"}})
	}
	return nil
}

func readPage(f fs.FS, file string) *page {
	p := &page{path: file}
	b, err := readFile(f, file)
	if err == nil {
		p.atom, p.block, err = okf.ParsePage(file, b)
	}
	if err != nil {
		p.err = problem(err)
	}
	_, typed := p.atom.Field("type")
	p.document = p.atom.URI != "" || p.atom.Type != "" && !typed || inCanon(file) && !isReserved(file)
	return p
}

// problem is an error of reading as one with a line.
func problem(err error) *okf.Problem {
	if p, ok := err.(okf.Problem); ok {
		return &p
	}
	if pe, ok := err.(*fs.PathError); ok {
		err = pe.Err
	}
	return &okf.Problem{Line: 1, Message: fmt.Sprintf("cannot be read: %v", err)}
}

// readFile reads a file, and of one that is too large one byte too many.
func readFile(f fs.FS, file string) ([]byte, error) {
	h, err := f.Open(file)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return io.ReadAll(io.LimitReader(h, okf.MaxFileBytes+1))
}

// inCanon reports a file in a folder named canon, at any depth.
func inCanon(file string) bool {
	return slices.Contains(strings.Split(path.Dir(file), "/"), "canon")
}

// isReserved reports the two names that a bundle keeps for its own listings.
func isReserved(file string) bool {
	base := path.Base(file)
	return base == "index.md" || base == "log.md"
}

// name enters a page under everything it is called.
func (l *Library) name(p *page) {
	l.byPath[p.path] = p
	if p.err != nil {
		return
	}
	stem := strings.TrimSuffix(path.Base(p.path), ".md")
	for _, n := range []string{string(p.atom.ID), stem} {
		if had, taken := l.byID[n]; taken && had != p {
			l.byID[n] = nil
			continue
		}
		l.byID[n] = p
	}
	if uri := p.atom.URI; uri != "" {
		l.byURI[uri] = append(l.byURI[uri], p)
		if own := okf.Authority(uri); own != "" {
			l.own[own] = true
		}
	}
}
