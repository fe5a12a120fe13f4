package object

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// TreeFS is one directory of a commit as a file system: fs.ReadDirFS, fs.ReadFileFS, fs.StatFS, fs.SubFS, and
// ReadMany for reading many files in one stream.
//
// Files and directories only: a symbolic link or a submodule is listed with
// fs.ModeIrregular and cannot be read, so that nothing outside the tree is ever
// followed. FileInfo.Sys holds the OID of the blob or tree, which is the file's version.
type TreeFS struct {
	db   *DB
	when time.Time // of its files
	root OID
}

// Tree returns the files of a commit or tree as an fs.FS of type TreeFS. It is a snapshot: later moves of refs do
// not change it.
func (db *DB) Tree(oid OID) (fs.FS, error) {
	root, when, err := db.RootTree(oid)
	if err != nil {
		return nil, err
	}
	return TreeFS{db, when, root}, nil
}

// RootTree returns the tree of a commit and its time, or the tree itself; "" is the empty tree.
func (db *DB) RootTree(oid OID) (OID, time.Time, error) {
	if oid == "" {
		return "", time.Time{}, nil
	}
	if _, ok := db.trees.get(oid); ok {
		return oid, time.Time{}, nil
	}
	if c, ok := db.commits.get(oid); ok {
		return c.Tree, c.Committer.When, nil
	}
	kind, data, err := db.objs.get(oid)
	if err != nil {
		return "", time.Time{}, err
	}
	switch kind {
	case "tree": // which is read next
		return oid, time.Time{}, db.rememberTree(oid, data)
	case "commit":
		c, err := db.rememberCommit(oid, data)
		return c.Tree, c.Committer.When, err
	}
	return "", time.Time{}, fmt.Errorf("%s: is a %s, want a commit or a tree", oid, kind)
}

// readTree reads one tree object; the empty id is the empty tree.
func readTree(objs store, oid OID) (listing, error) {
	if oid == "" {
		return listing{}, nil
	}
	kind, data, err := objs.get(oid)
	if err != nil {
		return listing{}, err
	}
	if kind != "tree" {
		return listing{}, fmt.Errorf("%s: is a %s, want a tree", oid, kind)
	}
	return parseTreeObject(oid, data)
}

// parseTreeObject parses the bytes of a tree object, and keeps them.
func parseTreeObject(oid OID, data []byte) (listing, error) {
	l, err := parseTree(unsafe.String(unsafe.SliceData(data), len(data)))
	if err != nil {
		return listing{}, fmt.Errorf("%s: %w", oid, err)
	}
	return l, nil
}

// findEntry returns the entry of a path below a tree; ok is false if there is none.
func (db *DB) findEntry(root OID, name string) (e Entry, ok bool, err error) {
	e = Entry{Mode: ModeDir, Name: path.Base(name), OID: root}
	for seg := range strings.SplitSeq(name, "/") {
		if !e.IsDir() {
			return Entry{}, false, nil
		}
		l, err := db.readTree(e.OID)
		if err != nil {
			return Entry{}, false, err
		}
		i := l.find(seg)
		if i < 0 {
			return Entry{}, false, nil
		}
		e = l.entryAt(i)
	}
	return e, true, nil
}

// Find returns the id and mode of the object at a path of a commit or tree; the mode of a directory is "40000".
// Both are "" if there is none.
func (db *DB) Find(at OID, path string) (oid OID, mode string, err error) {
	root, _, err := db.RootTree(at)
	if err != nil {
		return "", "", err
	}
	e, _, err := db.findEntry(root, path)
	return e.OID, e.Mode, err
}

// Names lists the entries of a directory of a commit or tree; "" is the top. A missing directory has none.
func (db *DB) Names(at OID, dir string) (out []string, err error) {
	oid, err := db.TreeOID(at, dir)
	if err != nil {
		return nil, err
	}
	l, err := db.readTree(oid)
	for i := range l.len() {
		out = append(out, l.entryWithoutID(i).Name)
	}
	return out, err
}

// find returns the entry of a path; op is for the error.
func (t TreeFS) find(op, name string) (Entry, error) {
	if name == "." {
		return Entry{Mode: ModeDir, Name: name, OID: t.root}, nil
	}
	e, ok, err := Entry{}, false, fs.ErrInvalid
	if fs.ValidPath(name) {
		e, ok, err = t.db.findEntry(t.root, name)
	}
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Entry{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return e, nil
}

// findFile is find for a regular file.
func (t TreeFS) findFile(op, name string) (Entry, error) {
	e, err := t.find(op, name)
	switch {
	case err != nil:
		return e, err
	case e.IsDir():
		return e, &fs.PathError{Op: op, Path: name, Err: errors.New("is a directory")}
	case !FileMode(e.Mode).IsRegular():
		return e, &fs.PathError{Op: op, Path: name, Err: errors.New("is a symbolic link or a submodule, not a file")}
	}
	return e, nil
}

// Open implements fs.FS.
func (t TreeFS) Open(name string) (fs.File, error) {
	e, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	in := treeEntry{t, e}
	if e.IsDir() {
		des, err := t.ReadDir(name)
		return &treeDir{treeEntry: in, list: des, name: name}, err
	}
	if !in.Mode().IsRegular() {
		return &treeFile{info: in, Reader: bytes.NewReader(nil)}, nil
	}
	b, err := t.ReadFile(name)
	return &treeFile{info: in, Reader: bytes.NewReader(b)}, err
}

// ReadFile implements fs.ReadFileFS. The caller owns the bytes.
func (t TreeFS) ReadFile(name string) ([]byte, error) {
	b, err := t.ReadShared(name)
	return bytes.Clone(b), err
}

// ReadShared is ReadFile for callers that do not change the bytes.
func (t TreeFS) ReadShared(name string) ([]byte, error) {
	e, err := t.findFile("read", name)
	if err != nil {
		return nil, err
	}
	if b, ok := t.db.blobs.get(e.OID); ok {
		return b, nil
	}
	_, b, err := t.db.objs.get(e.OID)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return b, nil
}

// fewFiles is the number of files up to which ReadMany reads in process: about as many as can be read while git
// starts.
const fewFiles = 256

// ReadMany reads files in one stream, faster than one by one, and passes each to fn in the order of names. fn owns
// data. It stops at the first error, fn's or its own. Concurrent calls do not wait for each other.
func (t TreeFS) ReadMany(names []string, fn func(name string, data []byte) error) error {
	oids := make([]OID, len(names))
	for i, n := range names {
		e, err := t.findFile("read", n)
		if err != nil {
			return err
		}
		oids[i] = e.OID
	}
	if len(oids) > fewFiles {
		b := &batch{run: t.db.git}
		defer b.stop()
		return b.readEach(oids, func(i int, _ string, data []byte) error { return fn(names[i], data) })
	}
	for i, o := range oids {
		_, b, err := t.db.objs.get(o)
		if err != nil {
			return &fs.PathError{Op: "read", Path: names[i], Err: err}
		}
		if err := fn(names[i], bytes.Clone(b)); err != nil {
			return err
		}
	}
	return nil
}

// ReadDir implements fs.ReadDirFS; entries are sorted by name.
func (t TreeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := t.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if !e.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a directory")}
	}
	es, err := t.db.List(e.OID)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	if byName := func(a, b Entry) int { return strings.Compare(a.Name, b.Name) }; !slices.IsSortedFunc(es, byName) {
		slices.SortFunc(es, byName)
	}
	out := make([]fs.DirEntry, len(es))
	for i, e := range es {
		out[i] = treeEntry{t, e}
	}
	return out, nil
}

// EntryID returns the id of a TreeFS entry's blob or tree without reading it. For another file system it returns
// the OID in FileInfo.Sys, "" if there is none.
func EntryID(d fs.DirEntry) (OID, error) {
	if e, ok := d.(treeEntry); ok {
		return e.e.OID, nil
	}
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	id, _ := info.Sys().(OID)
	return id, nil
}

// Stat implements fs.StatFS.
func (t TreeFS) Stat(name string) (fs.FileInfo, error) {
	e, err := t.find("stat", name)
	if err != nil {
		return nil, err
	}
	return treeEntry{t, e}, nil
}

// Sub implements fs.SubFS.
func (t TreeFS) Sub(dir string) (fs.FS, error) {
	e, err := t.find("sub", dir)
	if err != nil {
		return nil, err
	}
	if !e.IsDir() {
		return nil, &fs.PathError{Op: "sub", Path: dir, Err: errors.New("not a directory")}
	}
	return TreeFS{t.db, t.when, e.OID}, nil
}

// FileMode maps a tree entry's mode.
func FileMode(mode string) fs.FileMode {
	switch mode {
	case ModeDir:
		return fs.ModeDir | 0o755
	case ModeExec:
		return 0o755
	case ModeLink, ModeRepo:
		return fs.ModeIrregular
	}
	return 0o644
}

// treeEntry is an entry of a directory, and its description.
type treeEntry struct {
	t TreeFS
	e Entry
}

func (d treeEntry) Name() string               { return d.e.Name }
func (d treeEntry) IsDir() bool                { return d.e.IsDir() }
func (d treeEntry) Mode() fs.FileMode          { return FileMode(d.e.Mode) }
func (d treeEntry) Type() fs.FileMode          { return d.Mode().Type() }
func (d treeEntry) Info() (fs.FileInfo, error) { return d, nil }
func (d treeEntry) ModTime() time.Time         { return d.t.when }
func (d treeEntry) Sys() any                   { return d.e.OID }
func (d treeEntry) String() string             { return fs.FormatDirEntry(d) }

// Size reads the file; it is 0 for one that cannot be read.
func (d treeEntry) Size() int64 {
	if !d.Mode().IsRegular() {
		return 0
	}
	_, b, _ := d.t.db.objs.get(d.e.OID)
	return int64(len(b))
}

// treeFile is an open file with its bytes in memory.
type treeFile struct {
	*bytes.Reader
	info treeEntry
}

func (f *treeFile) Stat() (fs.FileInfo, error) { return readEntry{f.info, f.Reader.Size()}, nil }
func (f *treeFile) Close() error               { return nil }

// readEntry is an entry whose file was read.
type readEntry struct {
	treeEntry
	size int64
}

func (d readEntry) Size() int64 { return d.size }

// treeDir is an open directory.
type treeDir struct {
	treeEntry
	name string
	list []fs.DirEntry
}

func (d *treeDir) Stat() (fs.FileInfo, error) { return d.treeEntry, nil }
func (d *treeDir) Close() error               { return nil }
func (d *treeDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errors.New("is a directory")}
}

func (d *treeDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.list) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.list) {
		n = len(d.list)
	}
	out := d.list[:n]
	d.list = d.list[n:]
	return out, nil
}

// TreeOID returns the id of the tree at a path ("" is the root) in a commit, "" if there is no such directory.
func (db *DB) TreeOID(commit OID, dir string) (OID, error) {
	if dir == "" {
		root, _, err := db.RootTree(commit)
		return root, err
	}
	oid, mode, err := db.Find(commit, dir)
	if mode != ModeDir {
		return "", err
	}
	return oid, err
}

// Blob reads one blob. Callers must not change the bytes, which are cached.
func (db *DB) Blob(oid OID) ([]byte, error) {
	if b, ok := db.blobs.get(oid); ok {
		return b, nil
	}
	kind, b, err := db.objs.get(oid)
	if err == nil && kind != "blob" {
		return nil, fmt.Errorf("%s: is a %s, want a blob", oid, kind)
	}
	if err == nil && len(b) <= keptBytes/4 {
		db.blobs.put(oid, b, 128+len(b))
	}
	return b, err
}
