package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// store reads and writes git objects. kind is "blob", "tree", "commit" or "tag". Nobody may change the bytes that get
// returns.
// Both stores are safe for concurrent use.
type store interface {
	get(oid OID) (kind string, data []byte, err error)
	put(kind string, data []byte) (OID, error)
}

// errNoObject is wrapped by get if the repository lacks the object.
var errNoObject = errors.New("no such object in this repository")

// isValid reports whether o is a full object id: 40 hex digits, or 64 in a SHA-256 repository. Ids are checked
// before they become arguments of git.
func (o OID) isValid() bool {
	if len(o) != 40 && len(o) != 64 {
		return false
	}
	for _, c := range []byte(o) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func (o OID) check() error {
	if o.isValid() {
		return nil
	}
	return fmt.Errorf("%q: not an object id (40 or 64 hex digits)", string(o))
}

// packStore reads loose objects and packs in process. What it does not find or understand, git reads.
type packStore struct {
	packs        packs
	slow         *gitStore
	loadSettings func(context.Context) (*settings, error) // say how git writes objects
	sync         func(*os.File) error
	dir          string // where loose objects lie
	last         boundedCache[OID, object]
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
	if err := oid.check(); err != nil {
		return "", nil, err
	}
	if o, ok := p.last.get(oid); ok {
		return o.kind, o.data, nil
	}
	if len(oid) == 40 {
		if o, err := p.packs.get(oid); err == nil {
			return o.kind, o.data, nil
		}
		if o, err := readLoose(p.dir, oid); err == nil {
			return o.kind, o.data, nil
		}
		if p.packs.list() { // git packed it meanwhile, or nobody looked yet
			return p.get(oid)
		}
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
	s, err := p.loadSettings(context.Background())
	if err != nil || !s.hasConfiguration() || s.isShared() {
		return p.slow.put(kind, data)
	}
	var sync func(*os.File) error
	if s.syncsObjects() {
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
func (r *Repo) Know(b []byte) {
	if p, ok := r.objs.(*packStore); ok && len(b) <= knownBytes {
		p.cacheObject(OID(plumbing.ComputeHash(plumbing.BlobObject, b).String()), object{"blob", bytes.Clone(b)})
	}
}

// gitStore reads through one long-lived `git cat-file --batch`, started at the first read, and writes through
// hash-object.
type gitStore struct {
	run   *gitcmd.Runner
	batch *batch
}

func (s *gitStore) get(oid OID) (string, []byte, error) {
	if err := oid.check(); err != nil {
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
