package object

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// What was written is read again as it was, whatever becomes of the bytes that were
// handed in or out, and nothing long is remembered.
func TestWrittenLast(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a.txt", "one\n")
	b := []byte("two\n")
	oid := repotest.Must[OID](t)(r.WriteBlob(b))
	b[0] = 'x'
	tree := repotest.Must[fs.FS](t)(r.Tree(repotest.Must[OID](t)(r.WriteTree(t.Context(), "", Changes{"two.txt": []byte("two\n")}))))
	again := repotest.Must[[]byte](t)(fs.ReadFile(tree, "two.txt"))
	repotest.Eq(t, "read again", string(again), "two\n")
	again[0] = 'y'
	repotest.Eq(t, "read once more", string(repotest.Must[[]byte](t)(r.Blob(oid))), "two\n")
	repotest.Eq(t, "git reads", repotest.Git(t, r.root, "cat-file", "-p", string(oid)), "two")

	empty := repotest.Must[OID](t)(r.WriteBlob(nil))
	if kind, data, err := r.objs.get(empty); kind != "blob" || len(data) != 0 || err != nil {
		t.Errorf("the empty blob reads as a %q of %d bytes, %v", kind, len(data), err)
	}
	last := &r.objs.(*packStore).last
	long := repotest.Must[OID](t)(r.WriteBlob(make([]byte, lastBytes/2+1)))
	if _, ok := last.get(long); ok {
		t.Error("an object is remembered that is too long")
	}
	if _, ok := last.get(oid); !ok {
		t.Error("what was written last is forgotten")
	}
	repotest.Eq(t, "the long one", len(repotest.Must[[]byte](t)(r.Blob(long))), lastBytes/2+1)
}

// What a file says need not be unpacked where a commit says the same, and what it
// says besides is in no commit.
func TestKnow(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "odd.toml", "same\n")
	repotest.Git(t, r.root, "gc", "-q")
	same, other := []byte("same\n"), []byte("other\n")
	r.Know(same)
	r.Know(other)
	same[0] = 'g'
	packs := filepath.Join(r.common, "objects", "pack")
	if err := os.Rename(packs, packs+".away"); err != nil {
		t.Fatal(err)
	}
	oid := OID(repotest.Git(t, r.root, "hash-object", "odd.toml"))
	repotest.Eq(t, "known", string(repotest.Must[[]byte](t)(r.Blob(oid))), "same\n")
	if err := os.Rename(packs+".away", packs); err != nil {
		t.Fatal(err)
	}
	tree := repotest.Must[fs.FS](t)(r.Tree(OID(repotest.Git(t, r.root, "rev-parse", "HEAD"))))
	repotest.Eq(t, "in the commit", string(repotest.Must[[]byte](t)(fs.ReadFile(tree, "odd.toml"))), "same\n")
	large := strings.Repeat("x", knownBytes+1)
	r.Know([]byte(large))
	repotest.Write(t, r.root, "large", large)
	if _, ok := r.objs.(*packStore).last.get(OID(repotest.Git(t, r.root, "hash-object", "large"))); ok {
		t.Error("a large file is remembered")
	}
}

// An object that must be synced and cannot be is not there.
func TestSyncedObjects(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a", "1\n")
	store, must, synced := r.objs.(*packStore), true, 0
	store.how = func() (write, sync bool) { return true, must }
	store.sync = func(f *os.File) error { synced++; return f.Sync() }
	oid := repotest.Must[OID](t)(r.WriteBlob([]byte("synced\n")))
	repotest.Eq(t, "synced", synced, 1)
	repotest.Eq(t, "read", string(repotest.Must[[]byte](t)(r.Blob(oid))), "synced\n")
	broken := errors.New("the disk is gone")
	store.sync = func(*os.File) error { return broken }
	if oid, err := r.WriteBlob([]byte("lost\n")); !errors.Is(err, broken) || oid != "" {
		t.Errorf("a sync that fails: %s, %v", oid, err)
	}
	must = false
	repotest.Must[OID](t)(r.WriteBlob([]byte("lost\n")))
}

func FuzzSignersFor(f *testing.F) {
	f.Add("ann@example.org", []byte("# c\n\"a,*@example.org,!b\" cert-authority ssh-ed25519 AAAA\n ann@example.org\tssh-rsa B"))
	f.Fuzz(func(t *testing.T, email string, signers []byte) {
		once := signersFor(email, signers)
		repotest.Eq(t, "again", string(signersFor(email, once)), string(once))
	})
}
