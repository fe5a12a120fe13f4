package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// store reads and writes git objects. kind is "blob", "tree", "commit" or "tag".
// Both stores are safe for concurrent use.
type store interface {
	get(oid OID) (kind string, data []byte, err error)
	getSize(oid OID) (int64, error)
	put(kind string, data []byte) (OID, error)
}

// errNoObject is wrapped by get and size when the repository lacks the object.
var errNoObject = errors.New("no such object in this repository")

// isValid reports whether o is a whole object id: 40 hex digits, or 64 in a SHA-256 repository.
// It is asked before an id reaches a command line.
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

// check is ok as an error.
func (o OID) check() error {
	if o.isValid() {
		return nil
	}
	return fmt.Errorf("%q: not an object id (40 or 64 hex digits)", string(o))
}

// packStore is go-git's object storage. It is not safe for concurrent use by
// itself, and keeps an index of the packs it saw: an object that is missing is
// looked for once more after a new look at the packs, then asked of git.
type packStore struct {
	mu           sync.Mutex
	st           *filesystem.Storage
	slow         *gitStore
	loadSettings func(context.Context) (*settings, error) // of how git writes
	sync         func(*os.File) error
	dir          string // where loose objects lie
	few          packs
	last         boundedCache[OID, object]
}

// object is a whole object; nobody may change its bytes.
type object struct {
	kind string
	data []byte
}

// lastBytes is how much is remembered of the objects that were written last, before
// the older half of it is forgotten: who commits a file reads it again when they look
// at the commit, and of a ledger that grows that is more each time. One that is longer
// than half of it is not remembered.
const lastBytes = 1 << 19

// askedBytes is up to how large an object is read whole, and remembered, when its size
// is asked for: who asks that of a file reads it next.
const askedBytes = 1 << 14

func (p *packStore) get(oid OID) (string, []byte, error) {
	if err := oid.check(); err != nil {
		return "", nil, err
	}
	if o, ok := p.last.get(oid); ok {
		return o.kind, append([]byte{}, o.data...), nil
	}
	if len(oid) == 40 {
		if kind, data, err := readLoose(p.dir, oid); err == nil {
			return kind, data, nil
		}
		if kind, data, err := p.readPacked(plumbing.NewHash(string(oid))); err == nil {
			return kind, data, nil
		}
	}
	return p.slow.get(oid)
}

// readPacked gets one object in process, with a second try after a repack.
func (p *packStore) readPacked(h plumbing.Hash) (kind string, data []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k, _ := p.few.findPack(h); k != nil {
		if o, err := k.Get(h); err == nil {
			return unpackObject(o)
		}
	}
	o, err := p.st.EncodedObject(plumbing.AnyObject, h)
	if err != nil {
		p.st.Reindex()
		if o, err = p.st.EncodedObject(plumbing.AnyObject, h); err != nil {
			return "", nil, err
		}
	}
	return unpackObject(o)
}

// unpackObject returns the kind and the bytes of an object of go-git's.
func unpackObject(o plumbing.EncodedObject) (kind string, data []byte, err error) {
	rd, err := o.Reader()
	if err != nil {
		return "", nil, err
	}
	defer rd.Close()
	data = make([]byte, o.Size())
	_, err = io.ReadFull(rd, data)
	return o.Type().String(), data, err
}

func (p *packStore) getSize(oid OID) (int64, error) {
	if err := oid.check(); err != nil {
		return 0, err
	}
	if o, ok := p.last.get(oid); ok {
		return int64(len(o.data)), nil
	}
	if len(oid) != 40 {
		return p.slow.getSize(oid)
	}
	o, n, err := readSmall(p.dir, oid, askedBytes)
	if err == nil {
		p.remember(oid, o)
	}
	if n < 0 {
		n, err = p.sizePacked(plumbing.NewHash(string(oid)))
		if err != nil {
			return p.slow.getSize(oid)
		}
	}
	return n, nil
}

func (p *packStore) sizePacked(h plumbing.Hash) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k, at := p.few.findPack(h); k != nil {
		if n, err := k.GetSizeByOffset(at); err == nil {
			return n, nil
		}
	}
	return p.st.EncodedObjectSize(h)
}

// put writes a loose object, unless it is there already: then its time is set to
// now, as git does, so that no gc that runs meanwhile takes it for forgotten. In a
// repository that several users share git writes, which knows the modes of files.
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
	if kind != "tree" && len(data) <= lastBytes/2 { // trees are remembered as listings
		p.remember(oid, object{kind, bytes.Clone(data)})
	}
	return oid, nil
}

func (p *packStore) remember(oid OID, o object) { p.last.put(oid, o, 128+len(o.data)) }

// Know tells the bytes of a small file that a commit most likely holds too, so that
// no pack has to be opened for them: an object is whatever has its id.
func (r *Repo) Know(b []byte) {
	if p, ok := r.objs.(*packStore); ok && len(b) <= askedBytes {
		p.remember(OID(plumbing.ComputeHash(plumbing.BlobObject, b).String()), object{"blob", bytes.Clone(b)})
	}
}

// gitStore reads through one long-lived `git cat-file --batch`, started at the
// first read, and writes through hash-object.
type gitStore struct {
	run   *runner
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

func (s *gitStore) getSize(oid OID) (int64, error) {
	if err := oid.check(); err != nil {
		return 0, err
	}
	out, err := s.run.run(context.Background(), call{args: []string{"cat-file", "-s", string(oid)}, read: true})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", oid, errNoObject)
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

func (s *gitStore) put(kind string, data []byte) (OID, error) {
	out, err := s.run.run(context.Background(), call{
		args: []string{"hash-object", "-w", "-t", kind, "--stdin"}, stdin: bytes.NewReader(data)})
	if err != nil {
		return "", fmt.Errorf("write %s object: %w", kind, err)
	}
	return OID(strings.TrimSpace(string(out))), nil
}
