package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

func TestAnHonestHistoryIsClean(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.ann("a larger month", repo.Changes{"odd.toml": bytes.Replace([]byte(law), []byte("1.20"), []byte("1.80"), 1)})
	s.tellAll()
	s.tellGovernance()
	s.tellChanges()
	s.approve(ofFiles(s, docChange(), nil), false)
	r := s.check("", s.tip())
	if d := cmp.Diff([]string{}, listFindings(r)); d != "" {
		t.Error(d)
	}
	for _, row := range r.Rows {
		if row.Checked == 0 {
			t.Errorf("invariant %d judged nothing in a history that has all of it", row.N)
		}
	}
	again := s.check("", s.tip())
	a, _ := json.Marshal(r)
	b, _ := json.Marshal(again)
	if string(a) != string(b) {
		t.Error("the same range gave other bytes")
	}
}

// BenchmarkCheck is a history of 100 tasks, five commits each, per iteration.
func BenchmarkCheck(b *testing.B) {
	s := begin(b, lawWith(b, ""), nil)
	for i := range 100 {
		id := fmt.Sprintf("t%04d", i)
		s.add(id, "")
		w := s.claim(id)
		s.result(w, 1, terms("term-"+id))
		s.approve(w, false)
	}
	s.check("", s.tip())
	for b.Loop() {
		s.check("", s.tip())
	}
}

// A range judges its own commits, on the ground of what was there before.
func TestARangeIsJudgedOnItsGround(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), map[string]func(*story, *draft){
		"claim t":  func(s *story, d *draft) { replaceIn(s, d, taskFile("t"), "title: T t", "title: U t") },
		"result t": func(s *story, d *draft) { d.ch["README.md"] = []byte("# Mine\n") },
	})
	s.add("t", "")
	start := s.tip()
	w := s.claim("t")
	claimed := s.tip()
	s.result(w, 1, terms("keel"))
	proposed := s.tip()
	s.approve(w, true)
	claim := "2 tasks/t.md:1 a commit by odd or an agent changes the task's key title"
	result := "2 README.md:1 a run's board commit writes more than its task, journal, ledger, handoffs, proposals and pause.toml"
	for _, c := range []struct {
		name     string
		from, to repo.OID
		commits  int
		want     []string
	}{
		{"all", "", s.tip(), 6, []string{claim, result}},
		{"before", "", start, 2, []string{}},
		{"the claim", start, claimed, 1, []string{claim}},
		{"after the claim", claimed, s.tip(), 3, []string{result}},
		{"the approval and what it brings", proposed, s.tip(), 2, []string{}},
		{"nothing", s.tip(), s.tip(), 0, []string{}},
	} {
		r := s.check(c.from, c.to)
		if d := cmp.Diff(c.want, listFindings(r)); d != "" || r.Commits != c.commits {
			t.Errorf("%s: %d commits, want %d\n%s", c.name, r.Commits, c.commits, d)
		}
	}
}

// Taking odd.toml away, or breaking it, does not change who is the agent.
func TestTheLawOutlivesItsFile(t *testing.T) {
	t.Parallel()
	toml := lawWith(t, "[agent]\nemail = \"bot@example.org\"\n")
	for name, file := range map[string][]byte{"gone": nil, "broken": []byte("[agent\n")} {
		s := begin(t, toml, nil)
		s.ann("law", repo.Changes{"odd.toml": file})
		s.land(s.make("sly", "", draft{who: "Bot@Example.org", parents: []repo.OID{s.tip()}, ch: repo.Changes{"README.md": []byte("# Mine\n")}}))
		want := []string{"2 README.md:1 the agent's commit belongs to no run: it has no trailer Odd-Run"}
		if d := cmp.Diff(want, listFindings(s.check("", s.tip()))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// The bundle may move as a whole; its append-only files move with it.
func TestTheBundleMovesHouse(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "")
	w := s.claim("t")
	s.result(w, 1, terms("keel"))
	ch := repo.Changes{"odd.toml": []byte(lawWith(t, "[bundle]\nroot = \"kb\"\n"))}
	for _, name := range []string{taskFile("t"), taskFile("earlier"), w.file, "knowledge/journal/2026-03-02-" + strings.ToLower(w.id) + ".tsv"} {
		ch["kb"+strings.TrimPrefix(name, "knowledge")], ch[name] = s.file(name), nil
	}
	s.ann("move", ch)
	if d := cmp.Diff([]string{}, listFindings(s.check("", s.tip()))); d != "" {
		t.Error(d)
	}
}

// Who finds a commit of their own called a machine's is told which trailer does it.
func TestATrailerThatMakesAMachine(t *testing.T) {
	t.Parallel()
	const (
		more      = "undo the extra change in a commit of your own"
		otherwise = ": where a person made it, make it again without (git commit --amend, before a push), else " + more
	)
	for _, c := range []struct {
		who, want string
		trailers  [][2]string
	}{
		{bobMail, "commit # by bob@example.org counts as a machine's for its trailer Odd-Run" + otherwise, [][2]string{{"Odd-Run", "run-x"}}},
		{bobMail, "commit # by bob@example.org counts as a machine's for its trailers Odd-Run and Odd-Approval" + otherwise, [][2]string{{"Odd-Run", "run-x"}, {"Odd-Approval", "x"}}},
		{agentMail, more, [][2]string{{"Odd-Run", "run-x"}}},
	} {
		s := begin(t, lawWith(t, ""), nil)
		oid := s.land(s.make("sly", "", draft{who: c.who, parents: []repo.OID{s.tip()}, ch: repo.Changes{"README.md": []byte("# Mine\n")}, trailers: c.trailers}))
		r := s.check("", oid)
		if len(r.Findings) == 0 || strings.Replace(r.Findings[0].Way, rules.ShortID(string(oid)), "#", 1) != c.want {
			t.Errorf("%s with %s: %v, want %s", c.who, c.trailers, r.Findings, c.want)
		}
	}
}

// A claim and its commit name one lease, also where one of them names none.
func TestALeaseIsNamedTwice(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"none", "L-0001"} {
		s := begin(t, lawWith(t, ""), map[string]func(*story, *draft){"claim t": func(_ *story, d *draft) { d.set("Odd-Lease", said) }})
		s.add("t", "")
		s.claim("t")
		r := s.check("", s.tip())
		want := "8 ledger/2026-03/R1.jsonl:1 the claim of t names no lease, and its commit says Odd-Lease " + said
		if d := cmp.Diff([]string{want}, listFindings(r)); d != "" || !strings.HasPrefix(r.Findings[0].Way, "odd drain writes one lease to both") {
			t.Errorf("%s %v", d, r.Findings)
		}
	}
}

// A free substrate reserves nothing, and where no line is known only the end of a range may wait.
func TestADetachedFreeBoard(t *testing.T) {
	t.Parallel()
	s := begin(t, "[session]\nsubstrate = \"extract\"\n[persona.floor]\natoms = 0\nprocesses = 0\nguides = 0\n[governance]\nlease = \"off\"\n", map[string]func(*story, *draft){
		"claim t": func(s *story, d *draft) { changeOutcome(s, d, func(r *event.Record) { r.Reserved = 0 }) },
	})
	s.branch = "elsewhere"
	s.heads["elsewhere"] = s.heads["main"]
	delete(s.heads, "main")
	s.add("t", "")
	w := s.claim("t")
	s.result(w, 0, terms("keel"))
	s.approve(w, false)
	for _, to := range []repo.OID{s.tip(), w.proposal} {
		if d := cmp.Diff([]string{}, listFindings(s.check("", to))); d != "" {
			t.Error(d)
		}
	}
	next := s.make("next", "", draft{who: bobMail, parents: []repo.OID{w.proposal}})
	want := []string{`2 terms/keel.md:1 a proposal of R1 for "t" that no ledger records`}
	if d := cmp.Diff(want, listFindings(s.check("", next))); d != "" {
		t.Error(d)
	}
}

func TestFaultsAreErrors(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	for _, to := range []repo.OID{repo.OID(strings.Repeat("1", 40)), "main"} {
		if _, err := Check(t.Context(), s.r, "", to); err == nil {
			t.Errorf("%s: no error", to)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Check(ctx, s.r, "", s.tip()); err == nil {
		t.Error("a cancelled check ended well")
	}
}
