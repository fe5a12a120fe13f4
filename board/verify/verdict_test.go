package verify

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// Ranges that share commits are judged as each is alone.
func TestRangesThatShareCommits(t *testing.T) {
	t.Parallel()
	s := honestStory(t)
	for _, seed := range seeds(100, 101) {
		m := wander(s.forkStory(t, nil), seed, 40)
		all := NewChecker(context.Background(), m.r)
		refs := map[string]repo.OID{"refs/heads/main": m.tip()}
		for range 8 {
			scope := Scope{To: m.any(), Refs: refs}
			if m.rnd.IntN(2) > 0 {
				scope.From = m.all[m.rnd.IntN(len(m.all))]
			}
			want, err := CheckScope(context.Background(), m.r, scope)
			if err != nil {
				t.Fatal(err)
			}
			got, err := all.Check(scope)
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Errorf("seed %d, %s..%s: alone -, among others +: %v %s", seed, scope.From, scope.To, err, d)
			}
		}
	}
}

// A proposal that a person took on one branch and nobody took on another is found on the other.
func TestABranchOfItsOwnIsJudgedByItself(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "")
	w := s.claim("t")
	s.result(w, 0, terms("keel"))
	result := s.tip()
	taken := s.approve(w, false)
	s.land(result)
	d := draft{who: agentMail, parents: []repo.OID{result, w.proposal}, ch: terms("keel")}
	sly := s.make("merge", "", d)
	name := s.findFile("ledger", w.id) // which a branch may tell otherwise, too
	other := repo.Changes{name: bytes.ReplaceAll(s.file(name), []byte(okf.BlobID(terms("keel")["knowledge/terms/keel.md"])), []byte(strings.Repeat("0", 40)))}
	lies := s.make("result", "", draft{who: agentMail, parents: []repo.OID{w.base}, ch: other, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", "t"}, {"Odd-Trace", w.trace}}})
	lied := s.make("merge", "", draft{who: annMail, parents: []repo.OID{lies, w.proposal}, ch: terms("keel")})
	s.land(taken)
	edited := s.ann("edit", repo.Changes{name: bytes.ReplaceAll(s.file(name), []byte(w.proposal), []byte(strings.Repeat("0", 40)))})
	all := NewChecker(context.Background(), s.r)
	for _, c := range []struct {
		to   repo.OID
		want []string
	}{
		{taken, []string{}},
		{edited, []string{"3 tasks/t.md:5 done with proposal #, which no outcome of R1 records", "14 ledger/2026-03/R1.jsonl:3 is append-only, and old lines of it were changed"}},
		{taken, []string{}},
		{lied, []string{"2 terms/keel.md:1 is blob #, R1 recorded #"}},
		{sly, []string{"3 terms/keel.md:1 a proposal is on the branch, and no person merged or approved it"}},
		{taken, []string{}},
	} {
		r, err := all.Check(Scope{To: c.to, Refs: map[string]repo.OID{"refs/heads/main": c.to}})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, listFindings(r)); d != "" {
			t.Errorf("%s: %s", c.to, d)
		}
	}
}

// A commit is judged once however many refs have it, or once more for a ref that knows less about it.
func TestACommitIsJudgedOnceForManyRefs(t *testing.T) {
	t.Parallel()
	s := honestStory(t)
	var line []repo.OID
	for c, err := range s.r.Log(s.Context(), "", s.tip()) {
		if err != nil {
			t.Fatal(err)
		}
		line = append(line, c.OID)
	}
	refs := map[string]repo.OID{"refs/heads/main": s.tip()}
	all, commits := NewChecker(context.Background(), s.r), 0
	for n := range 40 {
		r, err := all.Check(Scope{To: line[n%20], Refs: refs})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) > 0 {
			t.Fatal(listFindings(r))
		}
		commits += r.Commits
	}
	if all.facts.judged > len(line)+len(line)/4 || commits < 30*len(line) {
		t.Errorf("%d commits of %d refs, %d of them different, were judged %d times", commits, 40, len(line), all.facts.judged)
	}
}

// Whether a merge brings commits of an agent that odd.toml did not name yet depends on where
// the range begins: a verdict of one range is not that of another.
func TestCheckerAsksWhereTheRangeBegins(t *testing.T) {
	t.Parallel()
	const bot = "bot@example.org"
	s := begin(t, lawWith(t, ""), nil)
	old := s.land(s.make("notes", "", draft{who: bot, parents: []repo.OID{s.tip()}, ch: repo.Changes{"docs/notes.md": []byte("# Notes\n")}}))
	s.ann("name", repo.Changes{"odd.toml": []byte(lawWith(t, "[agent]\nemail = \"bot@example.org\"\n"))})
	side := s.make("side", "", draft{who: bot, parents: []repo.OID{old}, ch: repo.Changes{"docs/side.md": []byte("# S\n")}})
	tree, _, err := s.r.MergeTree(s.Context(), s.tip(), side)
	if err != nil {
		t.Fatal(err)
	}
	merge := s.land(s.make("merge", "", draft{who: bot, parents: []repo.OID{s.tip(), side}, tree: tree}))
	refs := map[string]repo.OID{"refs/heads/main": merge, "refs/heads/b": merge}
	for _, froms := range [][]repo.OID{{side, ""}, {"", side}} {
		all := NewChecker(context.Background(), s.r)
		for _, from := range froms {
			got, err := all.Check(Scope{From: from, To: merge, Refs: refs})
			if err != nil {
				t.Fatal(err)
			}
			want, err := CheckScope(context.Background(), s.r, Scope{From: from, To: merge, Refs: refs})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(listFindings(want), listFindings(got)); d != "" {
				t.Errorf("from %q: alone -, behind another range +: %s", from, d)
			}
		}
	}
}

// A verdict under one ref's claim is not reused for another ref's claim. So a second claim under a law that allows more
// hides nothing.
func TestCheckerAsksWhoClaimed(t *testing.T) {
	t.Parallel()
	raised := strings.Replace(lawWith(t, team), "[session]\n", "[session]\ncap = \"asserted\"\n", 1)
	for _, swapParents := range []bool{false, true} {
		s := begin(t, lawWith(t, team), nil)
		s.heads["board"] = s.tip()
		target := s.tip()
		s.branch = "board"
		s.add("t", "")
		f := s.tip()
		w := s.claim("t")
		claim := s.tip()
		w.base = target
		p, b := term("keel", "")
		s.result(w, 100_000, repo.Changes{p: bytes.Replace(b, []byte("inferred"), []byte("asserted"), 1)})
		d := draft{who: annMail, parents: []repo.OID{w.proposal}, ch: repo.Changes{}, trailers: approval(w)}
		yes := s.make("approve", "t", d)
		s.heads["main"] = s.mergeButton(w, yes)
		s.joinMain()
		s.done(w, yes)
		tip := s.tip()
		// another story of the same claim, under a law with a higher cap
		f2 := s.make("law", "", draft{who: annMail, parents: []repo.OID{f}, ch: repo.Changes{"odd.toml": []byte(raised)}})
		x := s.make("claim", "t", draft{who: agentMail, parents: []repo.OID{f2}, ch: repo.Changes{
			taskFile("t"): s.at(claim, taskFile("t")), w.file: s.at(claim, w.file)}, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", "t"}}})
		tree, err := s.r.TreeOID(tip, "")
		if err != nil {
			t.Fatal(err)
		}
		parents := []repo.OID{tip, x}
		if swapParents {
			parents = []repo.OID{x, tip}
		}
		a := s.make("helper", "", draft{who: annMail, parents: parents, tree: tree})
		refs := map[string]repo.OID{"refs/heads/board": tip, "refs/heads/main": s.heads["main"], "refs/heads/helper": a}
		alone, err := CheckScope(context.Background(), s.r, Scope{To: tip, Refs: refs})
		if err != nil {
			t.Fatal(err)
		}
		all := NewChecker(context.Background(), s.r)
		ra, err := all.Check(Scope{To: a, Refs: refs})
		if err != nil {
			t.Fatal(err)
		}
		rb, err := all.Check(Scope{To: tip, Refs: refs})
		if err != nil {
			t.Fatal(err)
		}
		const above = "1 terms/keel.md:6 a commit by odd or an agent makes the atom asserted; agents may set at most inferred"
		if got := listFindings(ra); len(got) != 3 || !slices.Contains(got, above) {
			t.Errorf("swapped %v: of both lines %q, want both claims and what the law of its own says of the proposal", swapParents, got)
		}
		if want, got := listFindings(alone), listFindings(rb); len(want) == 0 || !slices.Equal(want, got) {
			t.Errorf("swapped %v: alone %q, after %q: %q", swapParents, want, listFindings(ra), got)
		}
	}
}

// A verdict is not reused where two refs record a result of the same claim on parallel lines.
func TestCheckerAsksBehindWhichResult(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, team), nil)
	target := s.tip()
	s.add("t", "")
	f := s.tip()
	w := s.claim("t")
	w.base = target
	p, b := term("keel", "")
	s.result(w, 0, repo.Changes{p: bytes.Replace(b, []byte("inferred"), []byte("asserted"), 1)})
	plain := s.tip()
	more := strings.Replace(lawWith(t, team), "[session]\n", "[session]\ncap = \"asserted\"\n", 1)
	raised := s.make("law", "", draft{who: annMail, parents: []repo.OID{f}, ch: repo.Changes{"odd.toml": []byte(more)}})
	c, err := s.r.Commit(plain)
	if err != nil {
		t.Fatal(err)
	}
	raised = s.cherryPick(plain, s.cherryPick(c.Parents[0], raised, bobMail), bobMail)
	all := NewChecker(context.Background(), s.r)
	for _, c := range []struct {
		on   repo.OID
		want []string
	}{{raised, []string{}}, {plain, []string{"1 terms/keel.md:6 a commit by odd or an agent makes the atom asserted; agents may set at most inferred"}}} {
		to := s.make("merge", "", draft{who: annMail, parents: []repo.OID{c.on, w.proposal}, ch: repo.Changes{p: s.at(w.proposal, p)}})
		r, err := all.Check(Scope{To: to, Refs: map[string]repo.OID{"refs/heads/board": f, "refs/heads/main": target}})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, listFindings(r)); d != "" {
			t.Error(d)
		}
	}
}

// What depends on the end or the content of a range is judged again in each range. Each case has a proposal that is
// fine in the first range and not in the second.
func TestCheckerJudgesAnewWhatEndsOrHoldsTell(t *testing.T) {
	t.Parallel()
	keel := repo.Changes(terms("keel"))
	for name, c := range map[string]struct {
		tell func(s *story) (ranges []repo.OID)
		want string
	}{
		"waits at the end of its own branch": {func(s *story) []repo.OID {
			w := s.claim("t")
			s.result(w, 0, keel)
			delete(s.heads, "main") // no line is known
			return []repo.OID{w.proposal, s.make("next", "", draft{who: bobMail, parents: []repo.OID{w.proposal}})}
		}, `2 terms/keel.md:1 a proposal of R1 for "t" that no ledger records`},
		"landed behind its own branch": {func(s *story) []repo.OID {
			w := s.claim("t")
			s.result(w, 0, keel)
			s.land(s.make("merge", "", draft{who: agentMail, parents: []repo.OID{s.tip(), w.proposal}, ch: keel}))
			return []repo.OID{w.proposal, s.make("upon", "", draft{who: agentMail, parents: []repo.OID{w.proposal}, ch: terms("keelson")})}
		}, "3 terms/keel.md:1 a proposal is on the branch, and no person merged or approved it"},
		"recorded in a ledger that is gone": {func(s *story) []repo.OID {
			base := s.tip()
			w := s.claim("t")
			s.result(w, 0, keel)
			s.ann("gone", repo.Changes{w.file: nil})
			s.land(s.make("merge", "", draft{who: annMail, parents: []repo.OID{s.tip(), w.proposal}, ch: keel}))
			return []repo.OID{s.tip(), s.make("merge", "", draft{who: annMail, parents: []repo.OID{base, w.proposal}, ch: keel})}
		}, `2 terms/keel.md:1 a proposal of R1 for "t" that no ledger records`},
	} {
		s := begin(t, lawWith(t, ""), nil)
		s.add("t", "")
		all, refs := NewChecker(context.Background(), s.r), map[string]repo.OID{}
		ranges := c.tell(s)
		for branch, at := range s.heads {
			refs["refs/heads/"+branch] = at
		}
		for n, to := range ranges {
			r, err := all.Check(Scope{To: to, Refs: refs})
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(listFindings(r), c.want) != (n == 1) {
				t.Errorf("%s, in range %d: %q", name, n, listFindings(r))
			}
		}
	}
}
