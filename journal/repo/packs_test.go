package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// history is a repository of a few commits in one pack, with differences among its
// objects, and the ids of all of them.
func history(t testing.TB) (r *Repo, all []OID) {
	t.Helper()
	r, tip := fresh(t, "long", strings.Repeat("a line\n", 400), "short", "")
	for i := range 20 {
		ch := changes("long", strings.Repeat("a line\n", 400)+fmt.Sprint(i), fmt.Sprintf("d/%d", i), fmt.Sprint(i))
		tip = must[OID](t)(r.Make(t.Context(), []OID{tip}, ch, agent, "next"))
	}
	git(t, r.Root(), "update-ref", "refs/heads/main", string(tip))
	git(t, r.Root(), "gc", "-q", "--prune=now")
	differences := 0
	for l := range strings.Lines(git(t, r.Root(), "cat-file", "--batch-check=%(objectname) %(deltabase)", "--batch-all-objects", "--unordered")) {
		f := strings.Fields(l)
		all = append(all, OID(f[0]))
		if strings.Trim(f[1], "0") != "" {
			differences++
		}
	}
	if differences == 0 {
		t.Fatal("no object is a difference from another")
	}
	return open(t, r.Root()), all
}

// Every object of a pack is read as git reads it, the first few by the index on the
// disk and the rest as ever; also where the index says that they lie far.
func TestPacks(t *testing.T) {
	t.Parallel()
	r, all := history(t)
	if len(all) <= 2*fewPacked {
		t.Fatalf("only %d objects", len(all))
	}
	packs := must[[]string](t)(filepath.Glob(filepath.Join(r.common, "objects/pack/*.pack")))
	eq(t, "packs", len(packs), 1)
	for _, far := range []bool{false, true} {
		if far {
			idx := strings.TrimSuffix(packs[0], "pack") + "idx"
			os.Remove(idx)
			git(t, r.Root(), "index-pack", "--index-version=2,0x40", "-o", idx, packs[0])
		}
		for round := range 2 {
			r = open(t, r.Root())
			p := r.objs.(*packStore)
			found := 0
			for _, oid := range all {
				if round == 0 { // each is one of the first few
					p.few.asked = min(p.few.asked, 1)
				}
				if k, _ := p.few.findPack(plumbing.NewHash(string(oid))); k != nil {
					found++
				}
				kind, data, err := p.get(oid)
				if err != nil {
					t.Fatal(err)
				}
				size := must[int64](t)(p.getSize(oid))
				eq(t, "size", size, int64(len(data)))
				eq(t, "id", string(OID(plumbing.ComputeHash(must[plumbing.ObjectType](t)(plumbing.ParseObjectType(kind)), data).String())), string(oid))
			}
			eq(t, "found", found, []int{len(all), (fewPacked + 2) / 3}[round])
			_, at := p.few.findPack(plumbing.NewHash(strings.Repeat("1", 40)))
			eq(t, "one that is not there", at, 0)
		}
	}
}

// An index that is cut, or of another kind, is left to go-git.
func TestPacksUnsound(t *testing.T) {
	t.Parallel()
	r, all := history(t)
	idx := must[[]string](t)(filepath.Glob(filepath.Join(r.common, "objects/pack/*.idx")))[0]
	b := must[[]byte](t)(os.ReadFile(idx))
	eq(t, "whole", isReadablePackIndex(b), true)
	for n := range packIDs {
		eq(t, "cut", isReadablePackIndex(b[:n]), false)
	}
	eq(t, "ids cut", isReadablePackIndex(b[:len(b)-28]), false)
	git(t, r.Root(), "index-pack", "--index-version=1", "-o", idx+".1", strings.TrimSuffix(idx, "idx")+"pack")
	if err := os.Rename(idx+".1", idx); err != nil {
		t.Fatal(err)
	}
	r = open(t, r.Root())
	if k, _ := r.objs.(*packStore).few.findPack(plumbing.NewHash(string(all[0]))); k != nil {
		t.Error("an index of version 1 is read here")
	}
	for _, oid := range all {
		if _, _, err := r.objs.get(oid); err != nil {
			t.Error(err)
		}
	}
}

// FuzzPackIndex holds the reader of a pack's index to its bounds.
func FuzzPackIndex(f *testing.F) {
	r, all := history(f)
	for _, idx := range must[[]string](f)(filepath.Glob(filepath.Join(r.common, "objects/pack/*.idx"))) {
		f.Add(must[[]byte](f)(os.ReadFile(idx)), string(all[0]))
	}
	f.Fuzz(func(t *testing.T, b []byte, id string) {
		if isReadablePackIndex(b) {
			if at, err := (packIndex{b: b}).FindOffset(plumbing.NewHash(id)); err == nil && at < 0 {
				t.Errorf("an object at %d", at)
			}
		}
	})
}
