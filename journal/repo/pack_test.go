package repo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// grown is a repository of objects that git packs as deltas of each other: a file
// that grows, a large folder of which one file changes, and a tag.
func grown(t testing.TB) *Repo {
	t.Helper()
	r, at := fresh(t)
	for n := range 40 {
		ch := Changes{"log": []byte(strings.Repeat("a line of the log, and another one\n", 20*n) + fmt.Sprint(n)), fmt.Sprintf("many/%03d", n%7): []byte(fmt.Sprint(n))}
		for i := range 60 * (1 - min(n, 1)) {
			ch[fmt.Sprintf("many/%03d", 100+i)] = nil
			ch[fmt.Sprintf("many/x%03d", i)] = []byte("x")
		}
		at = must[OID](t)(r.Make(t.Context(), []OID{at}, ch, agent, "step"))
	}
	git(t, r.root, "update-ref", "refs/heads/main", string(at))
	git(t, r.root, "tag", "-a", "-m", "one", "v1", string(at))
	return r
}

// objects are all objects of a repository.
func objects(t testing.TB, r *Repo) []OID {
	t.Helper()
	var out []OID
	for _, f := range strings.Fields(git(t, r.root, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		out = append(out, OID(f))
	}
	return out
}

// Whatever way git packs them, objects read as git reads them; of an index of
// version 1 they are left to git.
func TestPacks(t *testing.T) {
	t.Parallel()
	r := grown(t)
	want := map[OID]string{}
	sizes := map[OID]int64{}
	slow := &gitStore{run: r.git, batch: newBatch(r.git)}
	all := objects(t, r)
	for _, oid := range all {
		kind, b, err := slow.get(oid)
		if err != nil {
			t.Fatal(err)
		}
		want[oid], sizes[oid] = kind+" "+string(b), int64(len(b))
	}
	index := func(version string) {
		pack := must[[]string](t)(filepath.Glob(filepath.Join(r.common, "objects/pack/*.pack")))[0]
		os.Remove(strings.TrimSuffix(pack, ".pack") + ".idx")
		git(t, r.root, "index-pack", "--index-version="+version, pack)
	}
	for name, c := range map[string]struct {
		args   []string
		then   string
		within bool // read in process
	}{
		"deltas by place": {args: []string{"repack", "-adfq", "--depth=50", "--window=50"}, within: true},
		"deltas by id":    {args: []string{"-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq", "--depth=50", "--window=50"}, within: true},
		"far offsets":     {args: []string{"repack", "-adfq"}, then: "2,0x40", within: true},
		"index version 1": {args: []string{"repack", "-adfq"}, then: "1"},
		"no deltas":       {args: []string{"repack", "-adfq", "--depth=0"}, within: true},
	} {
		git(t, r.root, c.args...)
		git(t, r.root, "prune-packed")
		if c.then != "" {
			index(c.then)
		}
		at := open(t, r.root).objs.(*packStore)
		at.packs.look()
		for pass := range 2 { // read, then partly remembered
			for i := range all {
				oid := all[(i*7+pass)%len(all)]
				kind, b, err := at.packs.get(oid)
				if n, bad := at.packs.size(oid); c.within && (err != nil || bad != nil || kind+" "+string(b) != want[oid] || n != sizes[oid]) {
					t.Fatalf("%s: %s: %v, %v, %d bytes", name, oid, err, bad, n)
				}
				if !c.within && err == nil {
					t.Fatalf("%s: %s was read in process", name, oid)
				}
				for j := range b { // whoever reads an object owns its bytes
					b[j] = '!'
				}
				if kind, b, err := at.get(oid); err != nil || kind+" "+string(b) != want[oid] {
					t.Fatalf("%s: %s: %s %v", name, oid, kind, err)
				}
			}
		}
	}
}

// An open repository goes on reading while git packs what it reads anew, and finds
// objects that it borrows.
func TestPacksMove(t *testing.T) {
	t.Parallel()
	r := grown(t)
	all := objects(t, r)
	dir := t.TempDir()
	git(t, dir, "clone", "-q", "--shared", "--bare", r.root, "borrows.git")
	borrows := open(t, filepath.Join(dir, "borrows.git"))
	for n := range 4 {
		git(t, r.root, "-c", "pack.packSizeLimit=1m", "repack", "-adfq", fmt.Sprintf("--window=%d", n))
		git(t, r.root, "prune-packed")
		for _, oid := range all[:20] {
			for _, at := range []*Repo{r, borrows} {
				s := at.objs.(*packStore)
				if _, _, err := s.get(oid); err != nil {
					t.Fatal(err)
				}
				if _, _, err := s.packs.get(oid); err != nil && at == r {
					t.Fatalf("%s is read by git: %v", oid, err)
				}
			}
		}
	}
	if n := len(r.objs.(*packStore).packs.known); n != 1 {
		t.Errorf("%d packs are known, one is there", n)
	}
}

// A damaged pack gives an object's bytes as they were, or none; their kind, which no
// checksum covers, is asked by whoever reads them.
func TestDamagedPacks(t *testing.T) {
	t.Parallel()
	r := grown(t)
	git(t, r.root, "repack", "-adfq")
	all := objects(t, r)
	s := r.objs.(*packStore)
	want := map[OID]string{}
	for _, oid := range all {
		kind, b, err := s.get(oid)
		if err != nil {
			t.Fatal(err)
		}
		want[oid] = kind + " " + string(b)
	}
	file := must[[]string](t)(filepath.Glob(filepath.Join(r.common, "objects/pack/*.pack")))[0]
	whole := must[[]byte](t)(os.ReadFile(file))
	failed := 0
	for at := 12; at < len(whole)-20; at += 193 {
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o444); err != nil {
			t.Fatal(err)
		}
		p := newPacks(s.packs.dirs, &mappings{})
		p.look()
		for _, oid := range all {
			if kind, b, err := p.get(oid); err != nil {
				failed++
			} else if kind+" "+string(b) != want[oid] && strings.HasPrefix(want[oid], kind+" ") {
				t.Fatalf("byte %d: %s has other bytes", at, oid)
			}
		}
	}
	if failed == 0 {
		t.Error("no damage was seen")
	}
	for _, cut := range []int{0, 11, len(whole) - 1} {
		os.Remove(file)
		if err := os.WriteFile(file, whole[:cut], 0o444); err != nil {
			t.Fatal(err)
		}
		p := newPacks(s.packs.dirs, &mappings{})
		if p.look(); len(p.known) != 0 {
			t.Errorf("a pack of %d bytes is known", cut)
		}
	}
}

// FuzzPack reads an index, an entry and a delta of any bytes: none panics, and what
// a delta makes is as long as it says.
func FuzzPack(f *testing.F) {
	fan := make([]byte, 256*4)
	for i := range 256 {
		binary.BigEndian.PutUint32(fan[i*4:], 1)
	}
	index := append([]byte("\xfftOc\x00\x00\x00\x02"), fan...)
	f.Add(append(index, make([]byte, 28+40)...))
	f.Add([]byte("\x05\x04\x90\x02\x02ab"))
	f.Add([]byte("\xe5\x80\x01\x90\x04"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if x, err := parseIndex(b); err == nil {
			for n := range 256 {
				x.find([20]byte{byte(n)})
			}
			for i := range min(x.n, 64) {
				x.find([20]byte(x.ids[i*20:]))
			}
		}
		if len(b) == 0 {
			return
		}
		if e, n, err := parseEntry(b, 1<<20); err == nil && (n > len(b) || e.size < 0 || e.base < 0 || e.base >= 1<<20) {
			t.Fatalf("%+v of %d bytes", e, n)
		}
		base := bytes.Repeat([]byte("base."), 1+int(b[0]))
		d := append(binary.AppendUvarint(nil, uint64(len(base))), b[1:]...)
		_, want, _, bad := deltaSizes(d)
		if want > 1<<20 {
			return
		}
		if made, err := applyDelta(base, d); err == nil && (bad != nil || int64(len(made)) != want) {
			t.Fatalf("made %d bytes, %d were told: %v", len(made), want, bad)
		}
	})
}
