package repo

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// After a Move the index holds the stat data of the files it placed, without git's
// help, and is left to git where the file is not the one that git wrote.
func TestRestat(t *testing.T) {
	r, base := fresh(t, "a.md", "a\n", "deep/b.md", "b\n", "c.md", "c\n")
	repotest.Git(t, r.root, "update-index", "--index-version", "3")
	next := repotest.Must[OID](t)(r.Make(t.Context(), []OID{base}, changes("a.md", "a2\n", "deep/b.md", "b2\n", "new/d.md", "d\n"), agent, "x"))
	if err := r.Move(t.Context(), RefUpdate{Name: "refs/heads/main", Old: base, New: next}); err != nil {
		t.Fatal(err)
	}
	index := repotest.Must[[]byte](t)(os.ReadFile(filepath.Join(r.gitDir, "index")))
	repotest.Eq(t, "sound", isReadableIndex(index), true)
	seen := 0
	_, ok := eachEntry(index, func(n, e []byte) bool {
		name := string(n)
		var st syscall.Stat_t
		if err := syscall.Lstat(filepath.Join(r.root, name), &st); err != nil {
			t.Fatal(err)
		}
		repotest.Eq(t, name+" ctime", binary.BigEndian.Uint32(e[4:]), uint32(st.Ctim.Nsec))
		seen++
		return true
	})
	repotest.Eq(t, "whole", ok, true)
	repotest.Eq(t, "entries", seen, 4)

	c := &checkout{r: r, m: marker{Root: r.root, GitDir: r.gitDir}, scratch: filepath.Join(t.TempDir(), "x")}
	c.changes = repotest.Must[[]Change](t)(r.Diff(t.Context(), base, next))
	stale := bytes.Clone(index)
	eachEntry(stale, func(_, e []byte) bool { e[7]++; return true })
	if err := os.WriteFile(c.indexFile(), appendChecksum(stale[:len(stale)-20]), 0o644); err != nil {
		t.Fatal(err)
	}
	restat := func(what string, want bool) string {
		done, err := c.refreshCtimes()
		repotest.Eq(t, what+": error", err, nil)
		repotest.Eq(t, what, done, want)
		return string(repotest.Must[[]byte](t)(os.ReadFile(c.indexFile())))
	}
	got := []byte(restat("as it was written", true))
	repotest.Eq(t, "sound again", isReadableIndex(got), true)
	eachEntry(got, func(n, e []byte) bool {
		if string(n) == "c.md" { // which did not change
			e[7]--
		}
		return true
	})
	repotest.Eq(t, "stat data", string(got[:len(got)-20]) == string(index[:len(index)-20]), true)
	before := restat("once more", true)
	repotest.Write(t, r.root, "a.md", "by hand\n")
	repotest.Eq(t, "unchanged", restat("with another file in its place", false) == before, true)
	os.Remove(c.indexFile())
	c.made = index
	repotest.Git(t, r.root, "checkout", "-q", "-f", "main")
	c.changes = c.changes[1:] // all but a.md
	if done, err := c.refreshCtimes(); !done || err == nil {
		t.Errorf("an index that is gone: done %v, %v", done, err)
	}
	repotest.Write(t, r.root, "a.md", "by hand\n")
	repotest.Eq(t, "status", strings.Fields(repotest.Git(t, r.root, "status", "--porcelain"))[1], "a.md")
}

// FuzzIndex holds the reader of an index to its bounds.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + strings.Repeat("\x00", 60) + "\x00\x04a.md\x00\x00\x00\x00\x00\x00" + strings.Repeat("s", 20)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 12+20 {
			return
		}
		end, ok := eachEntry(b, func(name, e []byte) bool {
			if len(e) < entryFixed+len(name) || strings.Contains(string(name), "\x00") {
				t.Fatalf("%q %d", name, len(e))
			}
			return true
		})
		if ok && end > len(b)-20 {
			t.Fatalf("entries end at %d of %d", end, len(b))
		}
	})
}
