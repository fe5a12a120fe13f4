// Package canon reads a folder of markdown as canon and checks it. Canon is documents that
// carry a uri, refer to each other by it, and must have a profile of required keys. Such a
// folder need not be an OKF bundle: a canon document often has no type.
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
// A document is a file with a uri, a file without a type that has an audience and a
// stability, or any file in a folder named canon. There are two kinds of checks. Rules
// named frontmatter-… check the profile: the eight keys above, the allowed words of five of
// them and of status, and the types and forms of values. They never report an unknown key.
// The other rules follow references, in the keys derives_from, complements, supersedes and
// superseded_by and in the text.
//
// A uri is a name, not a path: odd looks it up among the uris of the files in the folder.
// Many uris were once made from paths, so odd tries the path next. If no file here has a
// uri of the same authority, the uri belongs to another repository and is never called
// dead. The key [canon] external in odd.toml says the same of an authority that some files
// here have. A name with "{}", "<>" or "*" is a pattern, and so is a placeholder such as
// path/to/slug. Code contains no references.
//
// If a rule is wrong about one link, a comment before the link can allow it and say why. It
// applies only to the next link:
//
//	<!-- audit-allow: dead-reference reason="moved, and the new name is not out" -->
//
// The rules and the form of a finding are those of the validator that existing canon is
// written for, so that its users can change over.
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
	document bool         // it is a canon document
	next     []*page      // what supersedes it
	slugs    []string     // of its headings; nil until asked for
}

// Library is a folder of markdown and the names of its files.
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

// Read reads the markdown below the folder prefix of f; "." for all of it. It skips
// dot-folders and node_modules and follows no symlink; one in a folder named canon is
// reported. Files outside the folder can be referred to and are not checked. References to
// the authorities in external may lead to another repository, so they are never dead. A
// file that cannot be read is a finding of Check. The error is for a folder that cannot be
// listed.
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
		l.indexNames(p)
	}
	for _, p := range l.pages {
		l.linkSuccessors(p)
	}
	return l, nil
}

func (l *Library) addPage(p *page) { l.pages = append(l.pages, p) }

// visit reads one entry of the folder if its name ends in ".md".
func (l *Library) visit(p string, d fs.DirEntry, err error) error {
	switch {
	case err != nil && p == ".":
		return err
	case err != nil:
		l.addPage(&page{path: p, err: &okf.Problem{Line: 1, Message: fmt.Sprintf("cannot be read: %v", err)}})
		return fs.SkipDir
	case d.IsDir() && p != "." && (d.Name()[0] == '.' || d.Name() == "node_modules"):
		return fs.SkipDir
	case d.IsDir() || !strings.HasSuffix(p, ".md"):
	case d.Type().IsRegular() && d.Name()[0] != '.':
		l.addPage(readPage(l.inner, p))
	case !d.Type().IsRegular() && isInCanon(p):
		l.addPage(&page{path: p, document: true, err: &okf.Problem{Line: 1, Message: "a symlink or special file; it is not followed", Hint: "put the file itself there"}})
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
		p.err = toProblem(err)
	}
	_, typed := p.atom.Field("type")
	p.document = p.atom.URI != "" || p.atom.Type != "" && !typed || isInCanon(file) && !isReserved(file)
	return p
}

// toProblem converts an error of reading to a problem with a line.
func toProblem(err error) *okf.Problem {
	if p, ok := err.(okf.Problem); ok {
		return &p
	}
	if pe, ok := err.(*fs.PathError); ok {
		err = pe.Err
	}
	return &okf.Problem{Line: 1, Message: fmt.Sprintf("cannot be read: %v", err)}
}

// readFile reads at most one byte more than the size limit, so that its caller notices a
// file that is too large.
func readFile(f fs.FS, file string) ([]byte, error) {
	h, err := f.Open(file)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return io.ReadAll(io.LimitReader(h, okf.MaxFileBytes+1))
}

// isInCanon reports a file in a folder named canon, at any depth.
func isInCanon(file string) bool {
	return slices.Contains(strings.Split(path.Dir(file), "/"), "canon")
}

// isReserved reports the two names that a bundle uses for its own listings.
func isReserved(file string) bool {
	base := path.Base(file)
	return base == "index.md" || base == "log.md"
}

// indexNames records the path, uri, id and stem of a page.
func (l *Library) indexNames(p *page) {
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
