package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// DB reads the objects and the history of a repository, and writes objects. Its methods may be called from several
// goroutines.
type DB struct {
	git     *gitcmd.Runner
	gitDir  string
	objs    store
	trees   boundedCache[OID, listing]
	commits boundedCache[OID, Commit]
	blobs   boundedCache[OID, []byte]
}

// New returns the objects of the repository that git runs in. Git reads and writes them, until ReadPacks.
func New(git *gitcmd.Runner, gitDir string) *DB {
	return &DB{git: git, gitDir: gitDir, objs: &gitStore{run: git, batch: &batch{run: git}}, trees: boundedCache[OID, listing]{most: keptEntries},
		commits: boundedCache[OID, Commit]{most: keptCommits}, blobs: boundedCache[OID, []byte]{most: keptBytes}}
}

// ReadPacks makes odd read and write objects itself. The first of dirs is the repository's own folder of objects, the
// others are those it borrows from. how says before each write whether odd may write it, and must sync it.
func (db *DB) ReadPacks(dirs []string, how func() (write, sync bool)) {
	var packed []packDir
	for _, dir := range dirs {
		packed = append(packed, packDir{name: filepath.Join(dir, "pack")})
	}
	db.objs = &packStore{packs: packs{dirs: packed, bases: boundedCache[packPlace, object]{most: baseBytes}},
		slow: db.objs, how: how, sync: (*os.File).Sync, dir: dirs[0], last: boundedCache[OID, object]{most: lastBytes}}
}

// Dirs returns the object directories of a repository: its own and its alternates.
func Dirs(common string) ([]string, error) {
	dirs := []string{filepath.Join(common, "objects")}
	b, err := os.ReadFile(filepath.Join(dirs[0], "info", "alternates"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for l := range strings.SplitSeq(string(b), "\n") {
		switch {
		case l == "" || l[0] == '#':
		case filepath.IsAbs(l) || l[0] == '"': // quoted as git quotes it
			dirs = append(dirs, l)
		default:
			dirs = append(dirs, filepath.Join(dirs[0], l))
		}
	}
	if strings.Contains(dirs[0], "\n") {
		return nil, fmt.Errorf("%q: git cannot borrow objects from a path with a line break", dirs[0])
	}
	return dirs, nil
}

// store reads and writes git objects. kind is "blob", "tree", "commit" or "tag". Nobody may change the bytes that get
// returns.
// Both stores are safe for concurrent use.
type store interface {
	get(oid OID) (kind string, data []byte, err error)
	put(kind string, data []byte) (OID, error)
}

// errNoObject is wrapped by get if the repository lacks the object.
var errNoObject = errors.New("no such object in this repository")

// packStore reads loose objects and packs in process. What it does not find or understand, git reads.
type packStore struct {
	packs packs
	slow  store
	how   func() (write, sync bool)
	sync  func(*os.File) error
	dir   string // where loose objects lie
	last  boundedCache[OID, object]
}

// object is a whole object; nobody may change its bytes.
type object struct {
	kind string
	data []byte
}

// lastBytes is how many bytes of recently written objects are cached before the older half is dropped. A committed
// file is often read again right after, and a growing ledger is large. Objects longer than half of it are not
// cached.
const lastBytes = 1 << 19

// knownBytes is the size up to which Know caches a file.
const knownBytes = 1 << 14

func (p *packStore) get(oid OID) (string, []byte, error) {
	if err := oid.Check(); err != nil {
		return "", nil, err
	}
	if o, ok := p.last.get(oid); ok {
		return o.kind, o.data, nil
	}
	if o, err := p.packs.get(oid); err == nil {
		return o.kind, o.data, nil
	}
	if o, err := readLoose(p.dir, oid); err == nil {
		return o.kind, o.data, nil
	}
	if p.packs.list() { // git packed it meanwhile, or nobody looked yet
		return p.get(oid)
	}
	return p.slow.get(oid)
}

// put writes a loose object. If it exists already, put sets its time to now, as git does, so that a concurrent gc
// keeps it. In a repository that several users share, git writes it, because git knows the file modes.
func (p *packStore) put(kind string, data []byte) (OID, error) {
	typ, err := plumbing.ParseObjectType(kind)
	if err != nil {
		return "", err
	}
	write, mustSync := p.how()
	if !write {
		return p.slow.put(kind, data)
	}
	var sync func(*os.File) error
	if mustSync {
		sync = p.sync
	}
	oid := OID(plumbing.ComputeHash(typ, data).String())
	if err := writeLoose(p.dir, oid, kind, data, sync); err != nil {
		return "", fmt.Errorf("write %s object: %w", kind, err)
	}
	if kind != "tree" && len(data) <= lastBytes/2 { // trees are cached as listings
		p.cacheObject(oid, object{kind, bytes.Clone(data)})
	}
	return oid, nil
}

func (p *packStore) cacheObject(oid OID, o object) { p.last.put(oid, o, 128+len(o.data)) }

// Know caches the bytes of a small file that commits probably hold too, so that no pack must be opened for its
// blob.
func (db *DB) Know(b []byte) {
	if p, ok := db.objs.(*packStore); ok && len(b) <= knownBytes {
		p.cacheObject(BlobID(b), object{"blob", bytes.Clone(b)})
	}
}

// gitStore reads through one long-lived `git cat-file --batch`, started at the first read, and writes through
// hash-object.
type gitStore struct {
	run   *gitcmd.Runner
	batch *batch
}

func (s *gitStore) get(oid OID) (string, []byte, error) {
	if err := oid.Check(); err != nil {
		return "", nil, err
	}
	var kind string
	var data []byte
	err := s.batch.readEach([]OID{oid}, func(_ int, k string, b []byte) error {
		kind, data = k, b
		return nil
	})
	return kind, data, err
}

func (s *gitStore) put(kind string, data []byte) (OID, error) {
	out, err := s.run.Run(context.Background(), gitcmd.Call{
		Args: []string{"hash-object", "-w", "-t", kind, "--stdin"}, Stdin: bytes.NewReader(data)})
	if err != nil {
		return "", fmt.Errorf("write %s object: %w", kind, err)
	}
	return OID(strings.TrimSpace(string(out))), nil
}
