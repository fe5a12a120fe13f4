package verify

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// files is a tree, flat: what each path is.
type files map[string]node

type node struct {
	oid  repo.OID
	mode string
}

// maze is a history that odd would never make: trees that were made before come again, whole or in part, below any
// number of parents.
type maze struct {
	*story
	rnd   *rand.Rand
	trunk []repo.Commit // of an honest history
	all   []repo.OID
	trees map[repo.OID]files
	ends  map[repo.OID]bool // nothing is built on them yet
}

// wander makes n commits behind an honest history, and one that joins all their ends.
func wander(s *story, seed uint64, n int) *maze {
	m := &maze{story: s, rnd: rand.New(rand.NewPCG(seed, seed)), trees: map[repo.OID]files{}, ends: map[repo.OID]bool{s.tip(): true}}
	for c, err := range s.r.Log(s.Context(), "", s.tip()) {
		if err != nil {
			s.Fatal(err)
		}
		if m.all = append(m.all, c.OID); len(c.Parents) > 0 {
			m.trunk = append(m.trunk, c)
		}
	}
	for range n {
		m.step()
	}
	ends := slices.Sorted(maps.Keys(m.ends))
	m.put(repo.Commit{Parents: ends, Author: m.who(), Message: "join\n"}, m.filesAt(ends[0]))
	return m
}

func (m *maze) any() repo.OID {
	if m.rnd.IntN(3) > 0 { // most go on from where another went
		return m.all[len(m.all)-1-m.rnd.IntN(min(6, len(m.all)))]
	}
	return m.all[m.rnd.IntN(len(m.all))]
}

func (m *maze) who() repo.Signature {
	mail := []string{annMail, bobMail, agentMail, "robo@example.org"}[m.rnd.IntN(4)]
	return repo.Signature{Name: "P", Email: mail, When: m.now}
}

// filesAt is the tree of a commit.
func (m *maze) filesAt(oid repo.OID) files {
	m.Helper()
	if m.trees[oid] == nil {
		all, err := m.r.Diff(m.Context(), "", oid)
		if err != nil {
			m.Fatal(err)
		}
		m.trees[oid] = files{}
		for _, c := range all {
			m.trees[oid][c.Path] = node{c.New, c.NewMode}
		}
	}
	return maps.Clone(m.trees[oid])
}

// step makes one commit: most have one parent, some two to four or none.
func (m *maze) step() {
	c := repo.Commit{Author: m.who(), Message: "odd\n"}
	for range []int{1, 1, 1, 1, 1, 1, 2, 2, 3, 4, 0}[m.rnd.IntN(11)] {
		if p := m.any(); !slices.Contains(c.Parents, p) {
			c.Parents = append(c.Parents, p)
		}
	}
	t := files{}
	for i, p := range c.Parents {
		if i == 0 || m.rnd.IntN(2) > 0 {
			maps.Copy(t, m.filesAt(p))
		}
	}
	if len(c.Parents) == 0 {
		t = m.filesAt(m.any())
	}
	if m.rnd.IntN(2) > 0 { // what an honest commit did, by whom it did it, once more or elsewhere
		again := m.trunk[m.rnd.IntN(len(m.trunk))]
		c.Author, c.Message = again.Author, again.Message
		m.redo(again, t)
	}
	for range m.rnd.IntN(3) {
		m.twist(t)
	}
	m.put(c, t)
}

// redo is what a commit did to its first parent.
func (m *maze) redo(c repo.Commit, t files) {
	all, err := m.r.Diff(m.Context(), c.Parents[0], c.OID)
	if err != nil {
		m.Fatal(err)
	}
	for _, ch := range all {
		if delete(t, ch.Path); ch.New != "" {
			t[ch.Path] = node{ch.New, ch.NewMode}
		}
	}
}

// pick is a path of a tree, most often one of the files that a check reads.
func (m *maze) pick(t files) string {
	names := slices.Sorted(maps.Keys(t))
	part := []string{"/ledger/", "/ledger/", "/ledger/", "/tasks/", "/governance/", "/proposals/", "/journal/", "odd.toml", "", ""}[m.rnd.IntN(10)]
	some := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.Contains(name, part) })
	if len(some) == 0 {
		some = names
	}
	if len(some) == 0 {
		return "none"
	}
	return some[m.rnd.IntN(len(some))]
}

// twist changes a tree as git lets anybody.
func (m *maze) twist(t files) {
	a, b := m.pick(t), m.pick(t)
	was, to := t[a], strings.Replace(a, "2026-03/", "2026-04/", 1)
	if was.oid == "" || was.mode == "160000" {
		return
	}
	switch m.rnd.IntN(12) {
	case 0: // the same bytes in another place
		t[[]string{to, strings.TrimSuffix(a, ".jsonl") + ".bak", "knowledge/ledger/2026-02/copy.jsonl", "knowledge/terms/copy.md"}[m.rnd.IntN(4)]] = was
	case 1: // as another thing there
		t[[]string{a, "knowledge/ledger/2026-01/link.jsonl"}[m.rnd.IntN(2)]] = node{was.oid, []string{"120000", "100755", "100644"}[m.rnd.IntN(3)]}
	case 2:
		t[a] = node{m.all[m.rnd.IntN(len(m.all))], "160000"}
	case 3:
		delete(t, a)
	case 4: // a folder where a file was
		delete(t, a)
		t[a+"/"+filepath.Base(a)] = was
	case 5: // a file where a folder was
		t[filepath.Dir(a)] = was
	case 6: // a folder by another name
		from := filepath.Dir(a)
		for _, name := range slices.Sorted(maps.Keys(t)) {
			if rest, ok := strings.CutPrefix(name, from+"/"); ok {
				t[from+"-2/"+rest] = t[name]
				delete(t, name)
			}
		}
	case 7:
		t[a], t[b] = t[b], was // whatever b is
	case 8: // what it was at any time before
		if old, ok := m.filesAt(m.any())[a]; ok {
			t[a] = old
		}
	case 9:
		maps.DeleteFunc(t, func(string, node) bool { return true })
		maps.Copy(t, m.filesAt(m.any()))
	case 10:
		m.changeLaw(t)
	case 11:
		m.changeBytes(t, a)
	}
}

// changeLaw makes another odd.toml, and moves the bundle where it says.
func (m *maze) changeLaw(t files) {
	text := []string{law, "[", "", law + "[agent]\nemail = \"robo@example.org\"\n", strings.Replace(law, `"off"`, `"required"`, 1), "[bundle]\nroot = \"kb\"\n" + law}[m.rnd.IntN(6)]
	if delete(t, "odd.toml"); text != "" {
		t["odd.toml"] = node{m.blob([]byte(text)), "100644"}
	}
	if strings.HasPrefix(text, "[bundle]") {
		for _, name := range slices.Sorted(maps.Keys(t)) {
			if rest, ok := strings.CutPrefix(name, "knowledge/"); ok {
				t["kb/"+rest] = t[name]
				delete(t, name)
			}
		}
	}
}

// changeBytes makes other bytes of a file's: cut, torn, doubled, respelt.
func (m *maze) changeBytes(t files, name string) {
	if !strings.HasPrefix(t[name].mode, "100") {
		return
	}
	b, err := m.r.Blob(t[name].oid)
	if err != nil {
		m.Fatal(err)
	}
	head, rest, _ := bytes.Cut(b, []byte("\n"))
	b = [][]byte{
		rest, bytes.TrimSuffix(b, []byte("\n")), slices.Concat(b, head, []byte("\n")), slices.Concat(head, []byte("\n")),
		bytes.Replace(b, []byte(`"kind":`), []byte(`"kind": `), 1), bytes.Replace(b, []byte("ready"), []byte("done"), 1),
	}[m.rnd.IntN(6)]
	t[name] = node{m.blob(b), t[name].mode}
}

func (m *maze) blob(b []byte) repo.OID {
	m.Helper()
	oid, err := m.r.WriteBlob(b)
	if err != nil {
		m.Fatal(err)
	}
	return oid
}

// put makes the commit, in its author's hands, and lands it.
func (m *maze) put(c repo.Commit, t files) {
	m.Helper()
	for _, name := range slices.Sorted(maps.Keys(t)) { // no path is a file and a folder
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			if _, is := t[dir]; is {
				delete(t, name)
			}
		}
	}
	m.now = m.now.Add(time.Minute)
	c.Author.When = m.now
	oid, err := m.r.MakeOn(m.Context(), c.Parents, m.tree("", t), nil, c.Author, c.Message)
	if err != nil {
		m.Fatal(err)
	}
	m.all, m.trees[oid], m.ends[oid] = append(m.all, oid), t, true
	for _, p := range c.Parents {
		delete(m.ends, p)
	}
	m.land(oid)
}

// tree writes the tree object of a folder and those below it.
func (m *maze) tree(dir string, t files) repo.OID {
	m.Helper()
	here := map[string]node{}
	for name, n := range t {
		rest, ok := strings.CutPrefix(name, dir)
		if !ok {
			continue
		}
		if first, _, deep := strings.Cut(rest, "/"); deep {
			here[first+"/"] = node{"", "40000"} // as git orders them
		} else {
			here[first] = n
		}
	}
	var raw []byte
	for _, name := range slices.Sorted(maps.Keys(here)) {
		n := here[name]
		if n.mode == rules.Folder {
			n.oid = m.tree(dir+name, t)
		}
		id, err := hex.DecodeString(string(n.oid))
		if err != nil {
			m.Fatal(err)
		}
		raw = append(fmt.Appendf(raw, "%s %s\x00", n.mode, strings.TrimSuffix(name, "/")), id...)
	}
	return m.writeLoose("tree", raw)
}

// writeLoose writes an object as git keeps one.
func (m *maze) writeLoose(kind string, raw []byte) repo.OID {
	m.Helper()
	raw = append(fmt.Appendf(nil, "%s %d\x00", kind, len(raw)), raw...)
	oid := fmt.Sprintf("%x", sha1.Sum(raw))
	name := filepath.Join(m.r.CommonDir(), "objects", oid[:2], oid[2:])
	if _, err := os.Lstat(name); err == nil {
		return repo.OID(oid)
	}
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(raw)
	_ = w.Close()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		m.Fatal(err)
	}
	return repo.OID(oid)
}

// check are the findings of a range, each behind its commit; forget lets the walk remember nothing between commits.
func (m *maze) check(from repo.OID, forget bool) ([]string, Report) {
	m.Helper()
	h, err := newGround(context.Background(), m.r).readHistory(Scope{From: from, To: m.tip(), Refs: map[string]repo.OID{"refs/heads/main": m.tip()}})
	if err != nil {
		m.Fatal(err)
	}
	tell := func(int, int) {}
	if forget {
		tell = func(int, int) { h.forget() }
		h.forget()
	}
	r, err := h.judgeCommits(tell)
	if err != nil {
		m.Fatal(err)
	}
	out := []string{}
	for _, f := range r.Findings {
		out = append(out, string(f.Commit)+" "+f.String())
	}
	return out, r
}

// forget makes a history as one of which nothing but its commits was read.
func (h *history) forget() {
	none := state.Of(nil, nil)
	h.lines, h.states, h.state = none.Reader(), newCache[*state.State](0), none
	h.slows, h.buffers, h.ledgers = newCache[*rules.Governance](0), newCache[gate.Buffer](0), newCache[[]event.Record](0)
	h.parsed = map[repo.OID]*config.Config{}
	h.diffs, h.atoms, h.charters = newCache[[]repo.Change](0), newCache[*okf.Atom](0), newCache[constitution](0)
	h.bundle, h.personas, h.refs = bundle{}, personas{}, map[string]repo.OID{}
}

// seeds are the first of the histories that a test draws, and with -whole all of them.
func seeds(all ...uint64) []uint64 {
	if *whole {
		return all
	}
	return all[:1]
}

// Caching does not change the findings.
func TestWhatIsRememberedIsTheSame(t *testing.T) {
	t.Parallel()
	s := honestStory(t)
	for _, seed := range seeds(0, 1, 2) {
		m := wander(s.forkStory(t, nil), seed, 40)
		fresh, want := m.check("", true)
		kept, got := m.check("", false)
		if d := cmp.Diff(fresh, kept); d != "" {
			t.Errorf("seed %d: fresh -, kept +: %s", seed, d)
		}
		if d := cmp.Diff(want.Rows, got.Rows); d != "" {
			t.Errorf("seed %d: fresh -, kept +: %s", seed, d)
		}
		if len(kept) < 100 {
			t.Errorf("seed %d: only %d findings", seed, len(kept))
		}
	}
}

// A range has the findings that the whole history has in its commits. Only a claim on another line may be missing if
// its ledger was deleted.
func TestARangeFindsWhatTheWholeDoes(t *testing.T) {
	t.Parallel()
	s := honestStory(t)
	for _, seed := range seeds(0, 5, 10) {
		m := wander(s.forkStory(t, nil), seed, 40)
		all, _ := m.check("", false)
		for range 3 {
			from := m.any()
			in := map[string]bool{}
			for c, err := range m.r.Log(m.Context(), from, m.tip()) {
				if err != nil {
					t.Fatal(err)
				}
				in[string(c.OID)] = true
			}
			got, _ := m.check(from, false)
			some := func(f string) bool { return !in[f[:40]] || strings.Contains(f, " on a line beside ") }
			if d := cmp.Diff(slices.DeleteFunc(slices.Clone(all), some), slices.DeleteFunc(got, some)); d != "" {
				t.Errorf("seed %d from %s: whole -, range +: %s", seed, from, d)
			}
		}
	}
}

// Deleted rules stay known: who the agent is, and that leases are required.
func TestRulesThatWereTakenAwayStayInForce(t *testing.T) {
	t.Parallel()
	strict := strings.Replace(lawWith(t, "[agent]\nemail = \"robo@example.org\"\n"), `"off"`, `"required"`, 1)
	for _, gone := range [][]byte{nil, []byte("[")} {
		s := begin(t, strict, nil)
		s.ann("take away", repo.Changes{"odd.toml": gone})
		from := s.ann("go on", repo.Changes{"docs/a.md": []byte("# A\n")})
		s.land(s.make("sly", "", draft{who: "robo@example.org", parents: []repo.OID{from}, ch: repo.Changes{"docs/sly.md": []byte("# Sly\n")}}))
		to := s.ann("other rules", repo.Changes{"odd.toml": []byte(strings.Replace(strict, `"required"`, `"off"`, 1))})
		want := []string{
			"2 docs/sly.md:1 the agent's commit belongs to no run: it has no trailer Odd-Run",
			"8 odd.toml:1 [governance] lease was changed from required to off without a gate",
		}
		if d := cmp.Diff(want, listFindings(s.check(from, to))); d != "" {
			t.Error(d)
		}
	}
}

// A second drain is found even if the bundle was elsewhere meanwhile.
func TestAMovedBundleHidesNoDrain(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "team: docs\n")
	s.add("u", "")
	a, b := s.claim("t"), s.claim("u")
	there := repo.Changes{"odd.toml": slices.Concat([]byte("[bundle]\nroot = \"kb\"\n"), s.file("odd.toml"))}
	back := repo.Changes{"odd.toml": s.file("odd.toml")}
	for _, name := range s.listFiles("knowledge") {
		moved := "kb/" + strings.TrimPrefix(name, "knowledge/")
		there[name], there[moved] = nil, s.file(name)
		back[name], back[moved] = s.file(name), nil
	}
	s.ann("there", there)
	s.ann("back", back)
	s.result(a, 0, nil)
	s.result(b, 0, nil)
	if d := cmp.Diff([]string{"4 ledger/2026-03/R1.jsonl:2 R1 goes on after R2 claimed in #; two drains ran at once"}, listFindings(s.check("", s.tip()))); d != "" {
		t.Error(d)
	}
}

// Commits that odd would never make are judged like all others.
func TestWhatOddNeverMakesIsJudged(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.activateLease(nil, nil)
	s.ann("a note among months", repo.Changes{"knowledge/ledger/notes.md": []byte("# Notes\n"), "knowledge/ledger/2027-01": []byte("x\n")})
	s.add("t", "")
	w := s.claim("t")
	s.result(w, 0, terms("keel"))
	root := s.make("root", "", draft{who: agentMail, ch: repo.Changes{"knowledge/terms/a.md": []byte("---\ntype: term\nconfidence: inferred\n---\n")},
		trailers: [][2]string{{"Odd-Run", "run-01KJ0000000000000000000009"}, {"Odd-Task", "t"}}})
	s.land(s.make("join", "", draft{who: agentMail, parents: []repo.OID{s.tip(), root}}))
	want := []string{
		"2 terms/a.md:1 a proposal of R9 for \"t\" that no ledger records",
		"2 knowledge:1 a merge by odd or an agent had a conflict, or more than two parents; only a person merges these",
	}
	if d := cmp.Diff(want, listFindings(s.check("", s.tip()))); d != "" {
		t.Error(d)
	}
}

// A root commit cannot take the default agent's address away from the agent.
func TestNoRootRenamesItsAgent(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	ch := repo.Changes{"odd.toml": []byte(lawWith(t, "[agent]\nemail = \"nobody@localhost\"\n"))}
	for who, want := range map[string][]string{
		agentMail: {"2 odd.toml:1 the agent's commit belongs to no run: it has no trailer Odd-Run"},
		annMail:   {},
	} {
		if d := cmp.Diff(want, listFindings(s.check("", s.make("root", "", draft{who: who, ch: ch})))); d != "" {
			t.Error(d)
		}
	}
}

// honestStory is a short history with something of every verb.
func honestStory(t *testing.T) *story {
	t.Helper()
	s := begin(t, lawWithFloor(t), nil)
	s.ann("foot", floorAtoms())
	s.ann("a larger month", repo.Changes{"odd.toml": bytes.Replace(s.file("odd.toml"), []byte("1.20"), []byte("1.80"), 1)})
	s.tellAll()
	s.tellGovernance()
	s.tellChanges()
	s.approve(ofFiles(s, docChange(), nil), false)
	s.anchored = true
	for n := range 6 {
		id := fmt.Sprintf("m%03d", n)
		s.now = s.now.Add(43 * time.Hour)
		s.add(id, "budget_usd: 0.10\n")
		w := s.claim(id)
		s.result(w, 1_000, terms("of-"+id))
		s.approve(w, n%3 == 0)
	}
	return s
}
