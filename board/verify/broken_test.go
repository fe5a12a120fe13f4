package verify

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/repo"
)

// A commit that a record names may be missing: another clone has it. One that is there and cannot be read is no missing
// one.
func TestADamagedCommitIsNotMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pack         bool
		damage       func(b []byte) []byte
		found, fails bool
	}{
		"sound":             {found: true, damage: func(b []byte) []byte { return b }},
		"sound in a pack":   {pack: true, found: true, damage: func(b []byte) []byte { return b }},
		"gone":              {damage: func([]byte) []byte { return nil }},
		"empty":             {fails: true, damage: func([]byte) []byte { return []byte{} }},
		"cut":               {fails: true, damage: func(b []byte) []byte { return b[:len(b)/2] }},
		"other bytes":       {fails: true, damage: func([]byte) []byte { return []byte("commit") }},
		"damaged in a pack": {pack: true, fails: true, damage: func(b []byte) []byte { return append(b[:14:14], make([]byte, len(b)-14)...) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, lawWith(t, ""), nil)
			oid := repo.OID(strings.TrimSpace(s.git("", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit-tree", "-m", "aside", string(s.tip())+"^{tree}")))
			at := filepath.Join(s.r.CommonDir(), "objects", string(oid[:2]), string(oid[2:]))
			if c.pack {
				at = filepath.Join(s.r.CommonDir(), "objects/pack/pack-"+strings.TrimSpace(s.git(string(oid), "pack-objects", "-q", filepath.Join(s.r.CommonDir(), "objects/pack/pack")))+".pack")
				s.git("", "prune-packed")
			}
			b, err := os.ReadFile(at)
			if err == nil {
				err = os.Remove(at)
			}
			if b = c.damage(b); err == nil && b != nil {
				err = os.WriteFile(at, b, 0o444)
			}
			r, err2 := repo.Open(s.r.Root(), os.Environ())
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			h, err := newGround(t.Context(), r).readHistory(Scope{To: s.tip()})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			err = tryReading(func() { _, found = h.FindCommit(oid) })
			if found != c.found || (err != nil) != c.fails {
				t.Errorf("found %v, %v", found, err)
			}
			if err := tryReading(func() { h.ReadCommit(oid) }); (err == nil) != c.found {
				t.Errorf("read as one that must be there: %v", err)
			}
			if _, no := h.FindCommit("none"); no {
				t.Error("found what is no id")
			}
		})
	}
}

// Whatever object is missing, a check of the whole history fails, and no finding hides that, unless no rule reads that
// object.
func TestABrokenStoreIsNoCleanHistory(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.ann("a larger month", repo.Changes{"odd.toml": []byte(strings.Replace(law, "1.20", "1.80", 1))})
	s.tellAll()
	s.tellGovernance()
	s.tellChanges()
	s.approve(ofFiles(s, docChange(), nil), false)
	s.check("", s.tip())
	objects := strings.Split(strings.TrimSpace(s.git("", "rev-list", "--objects", string(s.tip()))), "\n")
	if len(objects) < 100 {
		t.Fatalf("%d objects", len(objects))
	}
	unread := regexp.MustCompile(`^(README\.md|knowledge/(canon/.*|journal/.*\.tsv|tasks/earlier\.md|pause\.toml))$`) // no rule asks what is in them
	tried := map[string]int{}
	for _, line := range objects {
		oid, path, _ := strings.Cut(line, " ")
		if tried[path]++; path != "" && (tried[path] > 1 || len(tried)%3 != 0) || tried[path]%8 != 1 {
			continue // the first object of every third path, and every eighth commit, are enough
		}
		at := filepath.Join(s.r.CommonDir(), "objects", oid[:2], oid[2:])
		if err := os.Rename(at, at+"~"); err != nil {
			t.Fatal(err)
		}
		r, err := repo.Open(s.r.Root(), os.Environ())
		if err != nil {
			t.Fatal(err)
		}
		if rep, err := Check(t.Context(), r, "", s.tip()); err == nil {
			if !unread.MatchString(path) {
				t.Errorf("judged without %s %q: %v", oid, path, rep.Findings)
			}
		}
		if err := os.Rename(at+"~", at); err != nil {
			t.Fatal(err)
		}
	}
}

// An error of reading names the commit that cannot be judged.
func TestAnErrorNamesItsCommit(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "")
	w := s.claim("t")
	ledger := strings.TrimSpace(s.git("", "rev-parse", string(w.base)+":"+w.file))
	err := os.Remove(filepath.Join(s.r.CommonDir(), "objects", ledger[:2], ledger[2:]))
	r, err2 := repo.Open(s.r.Root(), os.Environ())
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if _, err := Check(t.Context(), r, "", s.tip()); err == nil || !strings.HasPrefix(err.Error(), rules.ShortID(string(w.base))+": ") {
		t.Errorf("%v does not begin with the claim %s", err, w.base)
	}
}

// A shallow clone cannot be judged, and odd lands there all the same.
func TestAShallowCloneIsNotJudged(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "")
	tip := s.tip()
	s.check("", tip)
	dir := t.TempDir()
	s.git("", "clone", "-q", "--depth", "1", "file://"+s.r.Root(), dir)
	r, err := repo.Open(dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Check(t.Context(), r, "", tip); err == nil || !strings.Contains(err.Error(), "git fetch --unshallow") {
		t.Errorf("judged: %v", err)
	}
	if err := NewLanding(r).Check(t.Context(), &repo.Line{Repo: r, Ref: "refs/heads/main"}, "", tip, nil); err != nil {
		t.Errorf("not landed: %v", err)
	}
}

// What git cannot merge for a missing object is an error, and no conflict.
func TestAMergeOfMissingFilesIsAnError(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	write := func(from repo.OID, text string) repo.OID {
		return s.make("write", "", draft{who: annMail, parents: []repo.OID{from}, ch: repo.Changes{"README.md": []byte(text)}})
	}
	base := write(s.tip(), "1\n2\n3\n4\n5\n")
	merge := s.mergeLines(agentMail, write(base, "one\n2\n3\n4\n5\n"), write(base, "1\n2\n3\n4\nfive\n"))
	blob := strings.TrimSpace(s.git("", "rev-parse", string(base)+":README.md"))
	at := filepath.Join(s.r.CommonDir(), "objects", blob[:2], blob[2:])
	for _, gone := range []bool{false, true} {
		if gone {
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
		}
		r := get(repo.Open(s.r.Root(), os.Environ()))
		if _, err := Check(t.Context(), r, "", merge); (err != nil) != gone {
			t.Errorf("gone %v: %v", gone, err)
		}
	}
}

// A proposal that was merged by hand before the range is looked for in commits before it: one that is missing there is
// an error.
func TestACommitMissingBeforeTheRangeIsAnError(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "")
	w := work(s, "t")
	s.land(s.mergeLines(annMail, s.tip(), w.proposal))
	note := s.ann("note", repo.Changes{"docs/a.md": []byte("# A\n")})
	from := s.ann("note", repo.Changes{"docs/b.md": []byte("# B\n")})
	to := s.ann("note", repo.Changes{"docs/c.md": []byte("# C\n")})
	s.check(from, to)
	if err := os.Remove(filepath.Join(s.r.CommonDir(), "objects", string(note[:2]), string(note[2:]))); err != nil {
		t.Fatal(err)
	}
	if rep, err := Check(t.Context(), get(repo.Open(s.r.Root(), os.Environ())), from, to); err == nil {
		t.Errorf("judged: %v", rep)
	}
}
