package verify

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/repo"
)

// A decision on a branch from before signatures were required is found where the branch is merged, and not on the branch.
func TestABranchFromBeforeSignatures(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("early", "")
	fork := s.tip()
	s.ann("law", repo.Changes{"odd.toml": []byte(lawWith(t, "require_signed = true\n"))})
	strict := s.tip()
	s.land(fork)
	s.add("t", "")
	side := s.tip()
	merge := s.land(s.mergeLines(annMail, strict, side))
	all := NewChecker(context.Background(), s.r)
	for _, c := range []struct {
		from, to repo.OID
		want     []string
	}{
		{"", side, []string{}},
		{"", merge, []string{"3 tasks/t.md:1 a task made ready by ann@example.org is not signed, and odd.toml requires it, as # has it, which is merged with it"}},
		{fork, merge, []string{"3 tasks/t.md:1 a task made ready by ann@example.org is not signed, and odd.toml requires it, as # has it, which is merged with it"}},
	} {
		r, err := all.Check(Scope{From: c.from, To: c.to, Refs: map[string]repo.OID{"refs/heads/main": c.to}})
		if d := cmp.Diff(c.want, listFindings(r)); d != "" || err != nil {
			t.Errorf("%s: %v %s", c.to, err, d)
		}
	}
}

// A proposal on another line than its claim is judged by the odd.toml of the claim, which may lie far behind the board's
// tip, also where no result records the proposal.
func TestAClaimOnAnotherLine(t *testing.T) {
	t.Parallel()
	raised := strings.Replace(lawWith(t, team), "[session]\n", "[session]\ncap = \"asserted\"\n", 1)
	keel, b := term("keel", "")
	atoms := repo.Changes{keel: bytes.Replace(b, []byte("inferred"), []byte("asserted"), 1)}
	for name, c := range map[string]struct {
		finish func(s *story, w *run)
		want   []string
	}{
		"recorded": {func(s *story, w *run) { s.result(w, 0, atoms) }, []string{}},
		"not recorded": {func(s *story, w *run) { s.propose(w, atoms) },
			[]string{`2 terms/keel.md:1 a proposal of R1 for "t" that no ledger records`}},
	} {
		s := begin(t, lawWith(t, team), nil)
		main := s.tip()
		s.heads["board"], s.branch = main, "board"
		s.ann("law", repo.Changes{"odd.toml": []byte(raised)})
		s.add("t", "")
		w := s.claim("t")
		w.base = main
		c.finish(s, w)
		s.ann("note", repo.Changes{"docs/a.md": []byte("# A\n")})
		s.ann("note", repo.Changes{"docs/b.md": []byte("# B\n")})
		s.heads["main"] = s.make("merge", "", draft{who: annMail, parents: []repo.OID{main, w.proposal}, ch: atoms})
		if d := cmp.Diff(c.want, listFindings(s.check(main, s.heads["main"]))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// An approval that was merged into the target counts before odd sync records it, also once its branch is gone.
func TestAnApprovalThatIsNotSyncedYet(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, team), nil)
	main := s.tip()
	s.heads["board"], s.branch = main, "board"
	s.add("t", "")
	w := s.claim("t")
	w.base = main
	s.result(w, 0, terms("keel"))
	told := s.tip()
	yes := s.make("approve", "t", draft{who: annMail, parents: []repo.OID{w.proposal}, ch: repo.Changes{}, trailers: approval(w)})
	for by, want := range map[repo.OID][]string{
		yes:        {},
		w.proposal: {"3 terms/keel.md:1 the proposal for t is on the branch and its approval is not; a merge by hand or git pull --rebase leaves it out"},
	} {
		s.land(told)
		s.heads["main"] = s.mergeLines(bobMail, main, by)
		s.land(s.mergeLines(annMail, s.tip(), s.heads["main"]))
		if d := cmp.Diff(want, listFindings(s.check("", s.tip()))); d != "" {
			t.Errorf("%s: %s", by, d)
		}
	}
}

// A finding that a person acknowledged at a gate is no finding from there on.
func TestAFindingIsAcknowledged(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	byAgent(repo.Changes{"README.md": []byte("# Mine\n")})(s)
	s.check("", s.tip())
	before := get(Check(t.Context(), s.r, "", s.tip()))
	if len(before.Findings) != 1 || len(before.Known) != 0 {
		t.Fatalf("%v, acknowledged %v", before.Findings, before.Known)
	}
	key := before.Findings[0].Key()
	s.passGate("acknowledge", gate.Act{Gate: gate.EvaluationGate, Kind: gate.Acknowledge, Findings: []string{key}, Reason: "a tool did it"})
	s.check("", s.tip())
	after := get(Check(t.Context(), s.r, "", s.tip()))
	if len(after.Findings) != 0 || len(after.Known) != 1 || after.Known[0].Key() != key || after.Known[0].Reason != "a tool did it" || after.Known[0].By != "human:"+annMail {
		t.Errorf("%v, acknowledged %v", after.Findings, after.Known)
	}
}

// After a clock that was ahead, claims are dated from a person's resumption on, and from nobody else's.
func TestAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	for who, want := range map[string][]string{
		annMail: {},
		bobMail: {"5 ledger/2026-03/R2.jsonl:1 is dated 2026-03-02T09:08:00Z, the ledger was at 2027-03-02T09:04:00Z already"},
	} {
		s := begin(t, lawWith(t, ""), nil)
		s.add("t", "")
		s.add("u", "")
		now := s.now
		s.now = now.AddDate(1, 0, 0)
		s.result(s.claim("t"), 0, nil)
		s.now = now.Add(3 * time.Minute)
		s.ann("pause", repo.Changes{"knowledge/pause.toml": []byte("reason = \"the clock\"\n")})
		d := draft{who: who, parents: []repo.OID{s.tip()}, ch: repo.Changes{"knowledge/pause.toml": nil}}
		if who == annMail {
			d.trailers = [][2]string{{"Odd-Resumed-By", "human:" + annMail}}
		}
		s.land(s.make("resume", "", d))
		s.claim("u")
		if d := cmp.Diff(want, listFindings(s.check("", s.tip()))); d != "" {
			t.Errorf("resumed by %s: %s", who, d)
		}
	}
}

// Of one run that works on two tasks, each proposal is judged by the record of its own task.
func TestARunOfTwoTasks(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "")
	s.add("u", "")
	s.result(s.claim("t"), 0, terms("keel"))
	s.n--
	w := s.claim("u")
	s.result(w, 0, terms("skeg"))
	s.approve(w, false)
	if d := cmp.Diff([]string{}, listFindings(s.check("", s.tip()))); d != "" {
		t.Error(d)
	}
}

// What a rule asks for as a file is a regular one, no link and no folder.
func TestAFileIsARegularOne(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	blob, err := s.r.WriteBlob([]byte("elsewhere"))
	if err != nil {
		t.Fatal(err)
	}
	s.git("", "read-tree", string(s.tip()))
	s.git("", "update-index", "--add", "--cacheinfo", "120000,"+string(blob)+",link", "--cacheinfo", "100755,"+string(blob)+",tool")
	to := s.make("files", "", draft{who: annMail, parents: []repo.OID{s.tip()}, tree: repo.OID(strings.TrimSpace(s.git("", "write-tree")))})
	h, err := newGround(t.Context(), s.r).readHistory(Scope{To: to})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"tool": string(blob), "link": "", "knowledge": "", "none": ""} {
		if got := h.FindFile(to, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// A second claim on a line beside counts, also under a person's name as its committer: only a copy of the first does not.
func TestAPersonsNameHidesNoSecondClaim(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), map[string]func(*story, *draft){"claim again": func(_ *story, d *draft) { d.committer = annMail }})
	s.add("t", "")
	base := s.tip()
	s.claimTwice(s.claim("t"), base, false)
	const twice = "4 ledger/2026-03/R1.jsonl:1 R1 claims t here and, on a line beside this one, in #; a run claims a task once"
	if d := cmp.Diff([]string{twice, twice}, listFindings(s.check("", s.tip()))); d != "" {
		t.Error(d)
	}
}

// A range that begins where the folder of ledgers is a file has no anchored run before it, and is judged.
func TestALedgerFolderThatIsAFile(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	from := s.ann("file", repo.Changes{"knowledge/ledger": []byte("x\n")})
	s.ann("folder", repo.Changes{"knowledge/ledger": nil})
	s.add("t", "")
	work(s, "t")
	if d := cmp.Diff([]string{}, listFindings(s.check(from, s.tip()))); d != "" {
		t.Error(d)
	}
}
