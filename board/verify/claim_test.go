package verify

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// cherryPick is a commit upon another as git rebase and git cherry-pick make it: who wrote it stays, and who moved it
// committed it.
func (s *story) cherryPick(oid, onto repo.OID, who string) repo.OID {
	s.Helper()
	c, err := s.r.Commit(oid)
	if err != nil {
		s.Fatal(err)
	}
	all, err := s.r.Diff(s.Context(), c.Parents[0], oid)
	if err != nil {
		s.Fatal(err)
	}
	ch := repo.Changes{}
	for _, f := range all {
		ch[f.Path] = s.at(oid, f.Path)
	}
	now, err := s.r.Make(s.Context(), []repo.OID{onto}, ch, repo.Signature{Name: "P", Email: who, When: s.now}, c.Message)
	if err != nil {
		s.Fatal(err)
	}
	author := regexp.MustCompile(`(?m)^author .*$`)
	text := author.ReplaceAllLiteralString(s.git("", "cat-file", "commit", string(now)), author.FindString(s.git("", "cat-file", "commit", string(oid))))
	return repo.OID(strings.TrimSpace(s.git(text, "hash-object", "-t", "commit", "-w", "--stdin")))
}

// highFloor is an odd.toml whose persona floor nobody in the stories reaches.
func highFloor(b []byte) repo.Changes {
	return repo.Changes{"odd.toml": bytes.Replace(b, []byte("atoms = 0"), []byte("atoms = 9"), 1)}
}

const belowFloor = "a session ran as the role editor, which had too little knowledge at its claim: atoms 0, want 9"

// claimTwice makes the claim of a run on t once more, on a line beside the board's that has a floor, and has Ann merge
// the two: first along that line, or along the board's.
func (s *story) claimTwice(w *run, from repo.OID, first bool) (merge repo.Commit) {
	s.Helper()
	floor := s.make("floor", "", draft{who: annMail, parents: []repo.OID{from}, ch: highFloor(s.file("odd.toml"))})
	other := s.make("claim", "again", draft{who: agentMail, parents: []repo.OID{floor}, ch: repo.Changes{
		taskFile("t"): s.at(w.base, taskFile("t")), w.file: s.at(w.base, w.file)}, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", "t"}, {"Odd-Lease", w.lease}}})
	d := draft{who: annMail, parents: []repo.OID{s.tip(), other}}
	var err error
	if d.tree, err = s.r.TreeOID(s.tip(), ""); err != nil {
		s.Fatal(err)
	}
	if first {
		slices.Reverse(d.parents)
	}
	if merge, err = s.r.Commit(s.land(s.make("merge", "", d))); err != nil {
		s.Fatal(err)
	}
	return merge
}

// Two claims of a task by one run on parallel lines are both found, in either order of the merge and from either range.
// Each result is judged by the claim on its own line.
func TestARunClaimsATaskOnce(t *testing.T) {
	t.Parallel()
	const twice = "4 ledger/2026-03/R1.jsonl:1 R1 claims t here and, on a line beside this one, in #; a run claims a task once"
	for _, first := range []bool{false, true} {
		s := begin(t, lawWith(t, ""), nil)
		s.add("t", "")
		base := s.tip()
		w := s.claim("t")
		merge := s.claimTwice(w, base, first)
		s.result(w, 0, terms("keel"))
		for from, n := range map[repo.OID]int{"": 2, base: 2, merge.Parents[0]: 1, merge.Parents[1]: 1, merge.OID: 0} {
			want := slices.Repeat([]string{twice}, n)
			if first {
				want = append(want, "6 ledger/2026-03/R1.jsonl:2 "+belowFloor)
			}
			if d := cmp.Diff(want, listFindings(s.check(from, s.tip())), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("first %v, from %s: %s", first, from, d)
			}
		}
	}
}

// A second claim of a task by its run is reported, and each result is judged by the claim before it.
func TestARunClaimsATaskAgain(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "")
	s.result(s.claim("t"), 0, nil)
	s.ready("t")
	s.ann("floor", highFloor(s.file("odd.toml")))
	s.n--
	s.result(s.claim("t"), 0, nil)
	want := []string{
		"4 ledger/2026-03/R1.jsonl:4 R1 claims t a second time; a run claims a task once",
		"6 ledger/2026-03/R1.jsonl:5 " + belowFloor,
	}
	if d := cmp.Diff(want, listFindings(s.check("", s.tip()))); d != "" {
		t.Error(d)
	}
}

// A single claim stays clean when git copies it: in a clone that lost its race, and after a person moved it and merged
// the old line too.
func TestWhatIsClaimedOnceIsClean(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "")
	base := s.tip()
	lost := s.claim("t")
	s.heads["lost"] = s.land(base)
	s.heads["lost"] = lost.base
	s.land(s.make("note", "", draft{who: bobMail, parents: []repo.OID{base}, ch: repo.Changes{"docs/a.md": []byte("# A\n")}}))
	bob := s.tip()
	s.n--
	w := s.claim("t")
	s.result(w, 0, terms("keel"))
	for _, from := range []repo.OID{"", base, bob} {
		if d := cmp.Diff([]string{}, listFindings(s.check(from, s.tip()))); d != "" {
			t.Error(d)
		}
	}
	result := s.tip()
	h, err := newGround(t.Context(), s.r).readHistory(Scope{From: base, To: s.heads["lost"]})
	if err != nil {
		t.Fatal(err)
	}
	for more := true; more; { // all that there is beside it is known of
		_, more = h.nextOlder()
	}
	if r, err := h.judgeCommits(nil); err != nil || len(r.Findings) > 0 {
		t.Error(listFindings(r), err)
	}
	there := s.land(s.make("note", "", draft{who: bobMail, parents: []repo.OID{base}, ch: repo.Changes{"docs/b.md": []byte("# B\n")}}))
	moved := s.land(s.cherryPick(result, s.cherryPick(w.base, there, bobMail), bobMail))
	tree, _, err := s.r.MergeTree(s.Context(), moved, result)
	if err != nil {
		t.Fatal(err)
	}
	s.land(s.make("merge", "", draft{who: bobMail, parents: []repo.OID{moved, result}, tree: tree}))
	for _, from := range []repo.OID{"", base, result, moved} {
		if d := cmp.Diff([]string{}, listFindings(s.check(from, s.tip()))); d != "" {
			t.Errorf("from %s: %s", from, d)
		}
	}
}

// A machine works on a task only under its claim, changes it only by a step, keeps one ledger, and merges no claims of
// another line.
func TestWhatNoMachineDoesBesideItsClaim(t *testing.T) {
	own := func(run, task string) [][2]string { return [][2]string{{"Odd-Run", run}, {"Odd-Task", task}} }
	byHand := func(s *story, w *run, old, now string, r event.Record) repo.OID {
		d := draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{}, trailers: own(w.id, "t")}
		replaceIn(s, &d, taskFile("t"), old, now)
		s.record(w, d.ch, r)
		return s.land(s.make("hand", "", d))
	}
	const stays = ", and moves it nowhere"
	runTampers(t, []tamper{
		{name: "a claim beside the task", at: "claim t", tell: func(s *story) repo.OID { s.claim("t"); return "" },
			do:   func(_ *story, d *draft) { delete(d.ch, taskFile("t")) },
			want: []string{"5 ledger/2026-03/R1.jsonl:1 claims t, which its commit does not put in progress"}},
		{name: "a claim of what another holds", tell: func(s *story) repo.OID {
			s.claim("t")
			s.ann("more", repo.Changes{"odd.toml": bytes.Replace(s.file("odd.toml"), []byte("0.60"), []byte("1.20"), 1)})
			return byHand(s, s.newRun("t"), "000001", "000002", event.Record{Kind: event.Claim, Role: "editor", Team: "docs", Reserved: 500_000})
		}, want: []string{"5 ledger/2026-03/R2.jsonl:1 claims t, which its commit does not put in progress",
			"3 tasks/t.md:5 a commit by odd or an agent changes a task in in_progress" + stays}},
		{name: "more time than was claimed", tell: func(s *story) repo.OID {
			return byHand(s, s.claim("t"), "lease_expires: 2026", "lease_expires: 2027", event.Record{Kind: event.Refused})
		}, want: []string{"3 tasks/t.md:5 a commit by odd or an agent changes a task in in_progress" + stays}},
		{name: "another result for a person", tell: func(s *story) repo.OID {
			work(s, "t")
			return byHand(s, s.newRun("t"), "commit: ", "commit: 0", event.Record{Kind: event.Refused})
		}, want: []string{"3 tasks/t.md:5 a commit by odd or an agent changes a task in review" + stays}},
		{name: "a sync that verifies", tell: func(s *story) repo.OID {
			d := draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{}, trailers: append(own("run-x", "t"), [2]string{"Odd-Approval", strings.Repeat("a", 40)})}
			replaceIn(s, &d, taskFile("t"), "role: editor", "role: editor\nverified: [{by: human:bob@example.org, at: 2026-03-02}]")
			return s.land(s.make("sync", "", d))
		}, want: []string{"3 tasks/t.md:5 a commit by odd or an agent changes a task in ready" + stays,
			"1 tasks/t.md:8 a commit by odd or an agent adds verified by human:bob@example.org at 2026-03-02"}},
		{name: "a sync that verifies past review", tell: func(s *story) repo.OID {
			d := draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{}, trailers: append(own("run-x", "t"), [2]string{"Odd-Approval", strings.Repeat("a", 40)})}
			replaceIn(s, &d, taskFile("t"), "state: ready", "state: done\nverified: [{by: human:bob@example.org, at: 2026-03-02}]")
			return s.land(s.make("sync", "", d))
		}, want: []string{"3 tasks/t.md:5 a commit by odd or an agent moves the task from ready to done outside a run's claim, result or sweep",
			"1 tasks/t.md:6 a commit by odd or an agent adds verified by human:bob@example.org at 2026-03-02"}},
		{name: "a claim of what waits for another", tell: func(s *story) repo.OID {
			s.add("u", "dependencies: [t, /tasks/earlier.md]\n")
			s.claim("u")
			return ""
		}, want: []string{"3 tasks/u.md:5 R1 claims a task that no drain takes: depends on t, which is ready"}},
		{name: "a claim of what waits for nothing more", tell: func(s *story) repo.OID {
			s.add("u", "dependencies: [earlier]\n")
			s.claim("u")
			return ""
		}, want: []string{}},
		{name: "a claim of no kind of work", tell: func(s *story) repo.OID {
			s.add("u", "kind: magic\n")
			s.claim("u")
			return ""
		}, want: []string{`3 tasks/u.md:5 R1 claims a task that no drain takes: unknown kind "magic"; set one with odd task edit u --kind KIND`}},
		{name: "the board's rules under the old line, where reviews go elsewhere", tell: func(s *story) repo.OID {
			s.ann("law", repo.Changes{"odd.toml": []byte(lawWith(s, "[board]\nbranch = \"board\"\ntarget = \"main\"\n"))})
			old := s.tip()
			s.branch = "board"
			s.land(old)
			paused := s.ann("pause", repo.Changes{"knowledge/pause.toml": []byte("reason = \"x\"\n")})
			s.land(old)
			s.result(s.claim("t"), 0, nil)
			return s.land(s.mergeLines(agentMail, s.tip(), paused))
		}, want: []string{"4 ledger/2026-03/R1.jsonl:1 a machine merges knowledge/pause.toml under what R1 claimed without it; two drains ran at once"}},
		{name: "a claim on a paused board", tell: func(s *story) repo.OID {
			s.ann("pause", repo.Changes{"knowledge/pause.toml": []byte("reason = \"x\"\n")})
			s.claim("t")
			return ""
		}, want: []string{"5 ledger/2026-03/R1.jsonl:1 a task was claimed while work was paused"}},
		{name: "a session that nobody pays for", tell: func(s *story) repo.OID {
			w := s.claim("t")
			ch := repo.Changes{}
			s.record(w, ch, event.Record{Kind: event.Session, Cost: 100_000_000})
			s.land(s.make("session", "", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: own(w.id, "t")}))
			s.sweep(w, 500_000)
			return ""
		}, want: []string{"5 ledger/2026-03/R1.jsonl:2 a session has no outcome in its commit, so its cost is counted nowhere"}},
		{name: "a review of which no outcome tells", at: "result t", do: func(s *story, d *draft) {
			changeOutcome(s, d, func(r *event.Record) {
				if r.Kind == event.Outcome {
					r.Data = event.OutcomeData{Verdict: "blocked"}
				}
			})
		}, want: []string{"3 tasks/t.md:5 R1 moves the task to review, and no outcome of the commit says so"}},
		{name: "a second ledger", at: "result t", do: func(_ *story, d *draft) {
			d.ch[strings.Replace(ledgerIn(d), "2026-03", "2026-04", 1)] = []byte{}
		}, want: []string{"14 ledger/2026-04/R1.jsonl:1 is a second ledger file of R1, which has ledger/2026-03/R1.jsonl; a run keeps one, from its beginning"}},
		{name: "what another line claimed", tell: func(s *story) repo.OID {
			s.add("u", "")
			old := s.tip()
			here := s.ann("pause", repo.Changes{"knowledge/pause.toml": []byte("reason = \"x\"\n")})
			s.land(old)
			s.result(s.claim("u"), 0, nil)
			side := s.tip()
			tree, _, err := s.r.MergeTree(s.Context(), here, side)
			if err != nil {
				s.Fatal(err)
			}
			return s.land(s.make("merge", "", draft{who: agentMail, parents: []repo.OID{here, side}, tree: tree}))
		}, want: []string{"4 ledger/2026-03/R1.jsonl:1 a machine merges what R1 claimed on another line; two drains ran at once"}},
	})
}

// An agent that odd.toml did not name at the fork point cannot merge its own commits. The commits themselves and a
// person's merge of them are clean.
func TestAnAgentOfBeforeItWasNamed(t *testing.T) {
	t.Parallel()
	const bot = "bot@example.org"
	for _, who := range []string{bot, annMail} {
		s := begin(t, lawWith(t, ""), nil)
		old := s.land(s.make("notes", "", draft{who: bot, parents: []repo.OID{s.tip()}, ch: repo.Changes{"docs/notes.md": []byte("# Notes\n")}}))
		s.ann("name", repo.Changes{"odd.toml": []byte(lawWith(t, "[agent]\nemail = \"bot@example.org\"\n"))})
		side := s.make("side", "", draft{who: bot, parents: []repo.OID{old}, ch: repo.Changes{
			"knowledge/terms/v.md": []byte("---\ntype: term\nconfidence: verified\nverified: [{by: human:ann@example.org, at: 2026-03-02}]\n---\n")}})
		want := []string{}
		if who == bot {
			want = []string{"2 knowledge:1 a machine merges #, which the agent made where no odd.toml named it yet; only a person takes that in"}
		}
		for _, parents := range [][]repo.OID{{s.tip(), side}, {side, s.tip()}} {
			tree, _, err := s.r.MergeTree(s.Context(), parents[0], parents[1])
			if err != nil {
				t.Fatal(err)
			}
			merge := s.make("merge", "", draft{who: who, parents: parents, tree: tree})
			for _, from := range []repo.OID{"", old, s.tip()} {
				if d := cmp.Diff(want, listFindings(s.check(from, merge))); d != "" {
					t.Errorf("%s from %s: %s", who, from, d)
				}
			}
		}
	}
}

// A former agent counts as a person, whose commits a machine may merge.
func TestAnAgentOfThen(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, "[agent]\nemail = \"bot@example.org\"\n"), nil)
	now := s.ann("name", repo.Changes{"odd.toml": []byte(lawWith(t, ""))})
	side := s.make("side", "", draft{who: "bot@example.org", parents: []repo.OID{now}, ch: repo.Changes{"docs/a.md": []byte("# A\n")}})
	tip := s.ann("note", repo.Changes{"docs/b.md": []byte("# B\n")})
	tree, _, err := s.r.MergeTree(s.Context(), tip, side)
	if err != nil {
		t.Fatal(err)
	}
	s.land(s.make("merge", "", draft{who: agentMail, parents: []repo.OID{tip, side}, tree: tree}))
	if d := cmp.Diff([]string{}, listFindings(s.check("", s.tip()))); d != "" {
		t.Error(d)
	}
}

// A claim adds one attempt, ends in time and is paid for. A run writes in no other name.
func TestWhatAClaimCountsAndSays(t *testing.T) {
	set := func(old, now string) func(*story, *draft) {
		return func(s *story, d *draft) { replaceIn(s, d, taskFile("t"), old, now) }
	}
	claim := func(s *story) repo.OID { s.claim("t"); return "" }
	as := func(id, name string, b func(*story) []byte) func(*story) repo.OID {
		return func(s *story) repo.OID {
			d := draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{name: b(s)}, trailers: [][2]string{{"Odd-Run", id}}}
			s.record(&run{id: id, file: "knowledge/ledger/2026-03/" + id + ".jsonl"}, d.ch, event.Record{Kind: event.Refused})
			return s.land(s.make("hand", "", d))
		}
	}
	const other = " a run's board commit writes more than its task, journal, ledger, handoffs, proposals and pause.toml"
	runTampers(t, []tamper{
		{name: "a claim that counts for nothing", at: "claim t", do: set("attempts: 1", "attempts: 0"), tell: claim,
			want: []string{"3 tasks/t.md:5 R1 says attempts 0, it is 1 after 0"}},
		{name: "a result that forgets the attempt", at: "result t", do: set("attempts: 1", "attempts: 0"), tell: finishBlocked,
			want: []string{"3 tasks/t.md:5 R1 says attempts 0, it is 1 after 1"}},
		{name: "a claim of ten years", at: "claim t", do: set("lease_expires: 2026", "lease_expires: 2036"), tell: claim,
			want: []string{"3 tasks/t.md:5 R1 claims the task until 2036-03-02T09:32:00Z, longer than [drain] lease allows"}},
		{name: "a claim without an end", at: "claim t", do: set("lease_expires: 2026-03-02T09:32:00Z\n", ""), tell: claim,
			want: []string{"3 tasks/t.md:5 a commit by odd or an agent leaves a task that cannot be read: tasks/t.md:1: claimed_by is set (R1) but lease_expires is not; remove claimed_by, or set lease_expires"}},
		{name: "a claim that says it judges again", at: "claim t", tell: claim, do: func(s *story, d *draft) {
			changeOutcome(s, d, func(r *event.Record) { r.Reserved, r.Data = 0, event.ClaimData{RefreshOf: "run-x"} })
		}, want: []string{"5 tasks/t.md:5 the task was claimed, but the ledger reserves no money for it"}},
		{name: "a sweep of a claim that was closed before", at: "sweep t", do: func(_ *story, d *draft) { delete(d.ch, ledgerIn(d)) },
			tell: func(s *story) repo.OID { s.sweep(s.claim("t"), 500_000); return "" }, want: []string{}},
		{name: "a journal of Ann's", tell: as("ann", "knowledge/journal/2026-03-02-ann.tsv", func(*story) []byte { return []byte("D\tDecision\t\t\t\t\tyes\tso be it\n") }),
			want: []string{"2 journal/2026-03-02-ann.tsv:1" + other}},
		{name: "a proposal of Ann's", tell: as("2026-03-02-ann", "knowledge/proposals/2026-03-02-ann.jsonl", func(s *story) []byte { return s.encodeProposal("P-9", "task_agent") }),
			want: []string{"2 proposals/2026-03-02-ann.jsonl:1" + other}},
	})
}

// A machine may merge a line that a person took in, a line with nothing beside it, and the target branch with its
// rules. It may not put rules under claims that were made without them.
func TestWhatAMachineMerges(t *testing.T) {
	t.Parallel()
	pause := repo.Changes{"knowledge/pause.toml": []byte("reason = \"x\"\n")}
	const elsewhere = "[board]\nbranch = \"board\"\ntarget = \"main\"\n"
	for _, c := range []struct {
		name, law string
		lines     func(s *story, base, drained repo.OID) (onto, other repo.OID)
		want      []string
	}{
		{"a line ahead", "", func(_ *story, base, drained repo.OID) (repo.OID, repo.OID) { return base, drained }, nil},
		{"what a person took in", elsewhere, func(s *story, base, drained repo.OID) (repo.OID, repo.OID) {
			side := s.make("side", "", draft{who: annMail, parents: []repo.OID{base}, ch: pause})
			return s.make("side", "", draft{who: annMail, parents: []repo.OID{base}, ch: repo.Changes{"docs/a.md": nil}}), s.mergeLines(annMail, side, drained)
		}, nil},
		{"what a machine took in", elsewhere, func(s *story, base, drained repo.OID) (repo.OID, repo.OID) {
			side := s.make("side", "", draft{who: annMail, parents: []repo.OID{base}, ch: pause})
			return side, drained
		}, []string{"4 ledger/2026-03/R1.jsonl:1 a machine merges what R1 claimed on another line; two drains ran at once"}},
		{"the target's rules", elsewhere, func(s *story, base, drained repo.OID) (repo.OID, repo.OID) {
			return drained, s.make("side", "", draft{who: annMail, parents: []repo.OID{base}, ch: pause})
		}, nil},
		{"the rules it evaded", "", func(s *story, base, drained repo.OID) (repo.OID, repo.OID) {
			return drained, s.make("side", "", draft{who: annMail, parents: []repo.OID{base}, ch: pause})
		}, []string{"4 ledger/2026-03/R1.jsonl:1 a machine merges knowledge/pause.toml under what R1 claimed without it; two drains ran at once"}},
		{"a note beside it", "", func(s *story, base, drained repo.OID) (repo.OID, repo.OID) {
			return drained, s.make("side", "", draft{who: annMail, parents: []repo.OID{base}, ch: repo.Changes{"docs/b.md": []byte("# B\n")}})
		}, nil},
	} {
		s := begin(t, lawWith(t, c.law), nil)
		s.ann("note", repo.Changes{"docs/a.md": []byte("# A\n")})
		s.add("t", "")
		base := s.tip()
		s.result(s.claim("t"), 0, nil)
		onto, other := c.lines(s, base, s.tip())
		merge := s.land(s.mergeLines(agentMail, onto, other))
		for _, from := range []repo.OID{"", base, onto, other} {
			if d := cmp.Diff(c.want, listFindings(s.check(from, merge)), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s from %s: %s", c.name, from, d)
			}
		}
	}
}

// mergeLines is git's own merge of two lines by somebody.
func (s *story) mergeLines(who string, onto, other repo.OID) repo.OID {
	s.Helper()
	tree, _, err := s.r.MergeTree(s.Context(), onto, other)
	if err != nil {
		s.Fatal(err)
	}
	return s.make("merge", "", draft{who: who, parents: []repo.OID{onto, other}, tree: tree})
}
