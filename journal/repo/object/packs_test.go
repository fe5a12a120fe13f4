package object

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// manyVersions makes a repository whose packs have chains of deltas, and returns its objects with git's bytes of them.
func manyVersions(t *testing.T, repack ...string) (testRepo, map[OID]object) {
	t.Helper()
	r, _ := fresh(t, "a.txt", "one\n")
	dir := r.root
	for i := range 12 {
		repotest.Write(t, dir, "grows.txt", strings.Repeat("a line of a file that grows\n", 40*i), fmt.Sprintf("d/%d.txt", i), fmt.Sprint("file ", i))
		repotest.Git(t, dir, "add", "-A")
		repotest.Git(t, dir, "commit", "-qm", fmt.Sprint("version ", i))
	}
	repotest.Git(t, dir, "tag", "-a", "-m", "one", "v1")
	repotest.Git(t, dir, append(repack, "repack", "-adfq", "--depth=50", "--window=50")...)
	repotest.Git(t, dir, "prune-packed")
	all := map[OID]object{}
	for line := range strings.Lines(repotest.Git(t, dir, "cat-file", "--batch-all-objects", "--batch-check")) {
		f := strings.Fields(line)
		kind, data, err := r.objs.(*packStore).slow.get(OID(f[0]))
		if err != nil || kind != f[1] {
			t.Fatal(line, err)
		}
		all[OID(f[0])] = object{kind, data}
	}
	return r, all
}

// odd reads from a pack what git reads from it, however git packed it.
func TestPacks(t *testing.T) {
	t.Parallel()
	for name, repack := range map[string][]string{
		"offsets": {"-c", "repack.useDeltaBaseOffset=true"},
		"ids":     {"-c", "repack.useDeltaBaseOffset=false"},
		"large":   {"-c", "pack.indexVersion=2", "-c", "core.bigFileThreshold=1k"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, all := manyVersions(t, repack...)
			ps, deltas := &r.objs.(*packStore).packs, 0
			repotest.Eq(t, "there are packs", ps.list(), true)
			repotest.Eq(t, "more packs", ps.list(), false)
			for oid, want := range all {
				got, err := ps.get(oid)
				if err != nil || got.kind != want.kind || !bytes.Equal(got.data, want.data) {
					t.Fatalf("%s: %s of %d bytes, %v; want %s of %d", oid, got.kind, len(got.data), err, want.kind, len(want.data))
				}
				at, err := ps.find(oid)
				if e, err2 := ps.readEntryHead(at); err == nil && err2 == nil && e.base.pack != nil {
					deltas++
				}
			}
			if deltas == 0 {
				t.Error("no object is a delta")
			}
			if _, err := ps.get(OID(strings.Repeat("1", 40))); !errors.Is(err, errNoObject) {
				t.Errorf("an object that is not there: %v", err)
			}
		})
	}
}

// A pack that git makes later is found.
func TestPackedMeanwhile(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t, "a.txt", "one\n")
	dir := r.root
	repotest.Git(t, dir, "gc", "-q")
	repotest.Eq(t, "first", string(repotest.Must[[]byte](t)(r.Blob(OID(repotest.Git(t, dir, "rev-parse", "HEAD:a.txt"))))), "one\n")
	repotest.Write(t, dir, "a.txt", "two\n")
	repotest.Git(t, dir, "commit", "-qam", "two")
	repotest.Git(t, dir, "gc", "-q")
	repotest.Eq(t, "then", string(repotest.Must[[]byte](t)(r.Blob(OID(repotest.Git(t, dir, "rev-parse", "HEAD:a.txt"))))), "two\n")
	if r.objs.(*packStore).slow.(*gitStore).batch.proc != nil {
		t.Error("git was asked")
	}
}

// However a pack is damaged, what is read from it is right or an error.
func TestDamagedPack(t *testing.T) {
	t.Parallel()
	r, all := manyVersions(t)
	names, err := filepath.Glob(filepath.Join(r.common, "objects/pack/*.pack"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	whole := repotest.Must[[]byte](t)(os.ReadFile(names[0]))
	index := repotest.Must[[]byte](t)(os.ReadFile(strings.TrimSuffix(names[0], "pack") + "idx"))
	same, broken := 0, 0
	for at := 0; at < len(whole); at += 3 {
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		p := &pack{index: index, data: b, count: len(all)}
		ps := &packs{all: []*pack{p}, bases: boundedCache[packPlace, object]{most: baseBytes}}
		for oid, want := range all {
			got, err := ps.get(oid)
			if err != nil {
				broken++
				continue
			}
			if got.kind == want.kind && !bytes.Equal(got.data, want.data) {
				t.Errorf("byte %d changed: %s reads as %q", at, oid, got.data)
			}
			same++
		}
	}
	if same == 0 || broken == 0 {
		t.Errorf("%d read, %d did not", same, broken)
	}
	for n := 0; n < len(whole); n += 7 {
		ps := &packs{all: []*pack{{index: index, data: whole[:n], count: len(all)}}, bases: boundedCache[packPlace, object]{most: baseBytes}}
		for oid, want := range all {
			if got, err := ps.get(oid); err == nil && !bytes.Equal(got.data, want.data) {
				t.Fatalf("cut at %d: %s reads as %q", n, oid, got.data)
			}
		}
	}
}

// A pack that somebody cut short while it is read is an error, and git says what is wrong with it.
func TestACutPackIsAnError(t *testing.T) {
	t.Parallel()
	r, all := manyVersions(t)
	ps := &r.objs.(*packStore).packs
	repotest.Eq(t, "there are packs", ps.list(), true)
	for _, p := range ps.all {
		for _, end := range []string{".pack", ".idx"} {
			if err := os.Chmod(p.name+end, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(p.name+end, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	for oid := range all {
		if _, err := ps.get(oid); !errors.Is(err, errPack) {
			t.Fatalf("%s: %v", oid, err)
		}
		if _, err := r.Blob(oid); err == nil {
			t.Fatalf("%s is read", oid)
		}
	}
}

// What a clone borrows is read without git, as long as it lies in a pack.
func TestBorrowedPacks(t *testing.T) {
	t.Parallel()
	r, all := manyVersions(t)
	repotest.Git(t, filepath.Dir(r.root), "clone", "-q", "--shared", r.root, "borrower")
	borrower := open(t, filepath.Join(filepath.Dir(r.root), "borrower"))
	for oid, want := range all {
		if kind, b, err := borrower.objs.get(oid); err != nil || kind != want.kind || !bytes.Equal(b, want.data) {
			t.Fatalf("%s: %s of %d bytes, %v; want %s of %d", oid, kind, len(b), err, want.kind, len(want.data))
		}
	}
	repotest.Eq(t, "git was asked", borrower.objs.(*packStore).slow.(*gitStore).batch.proc != nil, false)
}
