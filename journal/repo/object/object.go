// Package object reads and writes the objects of a git repository, and reads its history. What it does not read itself,
// git reads. Why go-git does not serve here is said where packs are read (packs), with a figure.
package object

import (
	"fmt"
	"io"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// idBytes is the length of an object id in a tree or a pack.
const idBytes = 20

// OID is an object id in lower-case hex; "" means absent.
type OID string

// Changes maps a repository path (slash-separated) to its new bytes; nil deletes.
type Changes map[string][]byte

// Signature is a name, an email and a time, as git stores them.
type Signature struct {
	Name, Email string
	When        time.Time
}

// Commit is one commit of the history.
type Commit struct {
	OID       OID
	Tree      OID
	Parents   []OID
	Author    Signature
	Committer Signature
	Message   string
	Signed    bool // it carries a signature, good or not
}

// Change is one path that differs between two trees. Old or New is "" if that side has no file.
type Change struct {
	Path             string
	Old, New         OID
	OldMode, NewMode string // "100644", "100755", "120000", "160000" or ""
}

// FileEdit is one file that a change writes or deletes, with its bytes before and after. A nil Before is a new
// file, a nil After a deleted one; empty is not nil. A rename is one edit of each kind. A changed mode is an edit
// whose bytes are the same.
type FileEdit struct {
	Path             string
	Before, After    []byte
	OldMode, NewMode string // "100644", "100755", "" without a file
}

// IsValid reports whether o is a full object id: 40 hex digits. Ids are checked
// before they become arguments of git.
func (o OID) IsValid() bool {
	if len(o) != 2*idBytes {
		return false
	}
	for _, c := range []byte(o) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Check refuses what is no whole object id.
func (o OID) Check() error {
	if o.IsValid() {
		return nil
	}
	return fmt.Errorf("%q: not an object id (40 hex digits)", string(o))
}

// BlobID returns the id of a blob.
func BlobID(b []byte) OID { return OID(plumbing.ComputeHash(plumbing.BlobObject, b).String()) }

// BlobIDFrom is BlobID of what r holds, which should be size bytes; n is how many it read.
func BlobIDFrom(r io.Reader, size int64) (id OID, n int64, err error) {
	h := plumbing.NewHasher(plumbing.BlobObject, size)
	n, err = io.Copy(h, r)
	return OID(h.Sum().String()), n, err
}
