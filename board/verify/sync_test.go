package verify

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// team is the law of people who merge on a forge.
const team = "[board]\nbranch = \"board\"\ntarget = \"main\"\n"

// tellForge tells how a proposal gets into main and done onto the board. merge puts it into main and returns main's
// tip.
func (s *story) tellForge(merge func(w *run, approval repo.OID) repo.OID) *run {
	s.Helper()
	main := s.tip()
	s.heads["board"], s.branch = main, "board"
	s.add("t", "")
	w := s.claim("t")
	w.base = main
	s.result(w, 100_000, terms("keel", "skeg"))
	d := draft{who: annMail, parents: []repo.OID{w.proposal}, ch: repo.Changes{}, trailers: approval(w)}
	yes := s.make("approve", "t", d)
	s.heads["main"] = merge(w, yes)
	s.joinMain()
	s.done(w, yes)
	return w
}

// joinMain merges main into the board as odd sync does.
func (s *story) joinMain() {
	s.Helper()
	tree, _, err := s.r.MergeTree(s.Context(), s.tip(), s.heads["main"])
	if err != nil {
		s.Fatal(err)
	}
	s.land(s.make("join", "", draft{who: agentMail, parents: []repo.OID{s.tip(), s.heads["main"]}, tree: tree}))
}

// done writes what Ann's approval allows, as odd sync does.
func (s *story) done(w *run, yes repo.OID) {
	s.Helper()
	b, err := review.Synced(s.task("t"), string(yes), "human:"+annMail, s.now, nil)
	if err != nil {
		s.Fatal(err)
	}
	ch := repo.Changes{taskFile("t"): b}
	s.endOp("t", ch, pipeline.Merged)
	parents := []repo.OID{s.tip()}
	if in, err := s.r.Ancestor(s.Context(), yes, s.tip()); err != nil {
		s.Fatal(err)
	} else if !in && s.keeps {
		parents = append(parents, yes)
	}
	s.land(s.make("done", "t", draft{who: agentMail, parents: parents, ch: ch,
		trailers: [][2]string{{"Odd-Task", "t"}, {"Odd-Run", w.id}, {"Odd-Proposal", string(w.proposal)}, {"Odd-Approval", string(yes)}}}))
}

// mergeButton is a forge's merge button, pressed by Bob.
func (s *story) mergeButton(_ *run, yes repo.OID) repo.OID {
	s.Helper()
	tree, _, err := s.r.MergeTree(s.Context(), s.heads["main"], yes)
	if err != nil {
		s.Fatal(err)
	}
	return s.make("merge", "", draft{who: bobMail, parents: []repo.OID{s.heads["main"], yes}, tree: tree})
}

// squashButton is its squash button: one commit of the files, without the proposal.
func (s *story) squashButton(w *run, yes repo.OID) repo.OID {
	s.Helper()
	s.heads["proposal"] = w.proposal
	tree, err := s.r.TreeOID(yes, "")
	if err != nil {
		s.Fatal(err)
	}
	return s.make("squash", "", draft{who: bobMail, parents: []repo.OID{s.heads["main"]}, tree: tree})
}

// rebaseButton is its rebase button: the agent stays author, Bob becomes committer.
func (s *story) rebaseButton(w *run, _ repo.OID) repo.OID {
	s.Helper()
	tip := s.make("meanwhile", "", draft{who: bobMail, parents: []repo.OID{s.heads["main"]}, ch: repo.Changes{"README.md": []byte("# Now\n")}})
	tree, _, err := s.r.MergeTree(s.Context(), tip, w.proposal)
	if err != nil {
		s.Fatal(err)
	}
	c, err := s.r.Commit(w.proposal)
	if err != nil {
		s.Fatal(err)
	}
	git := exec.Command("git", "-C", s.r.Root(), "commit-tree", string(tree), "-p", string(tip), "-m", strings.TrimSpace(c.Message))
	at := s.now.Format(time.RFC3339)
	git.Env = append(os.Environ(), "GIT_AUTHOR_NAME=odd", "GIT_AUTHOR_EMAIL="+agentMail, "GIT_AUTHOR_DATE="+at,
		"GIT_COMMITTER_NAME=bob", "GIT_COMMITTER_EMAIL="+bobMail, "GIT_COMMITTER_DATE="+at)
	out, err := git.Output()
	if err != nil {
		s.Fatal(err)
	}
	return repo.OID(strings.TrimSpace(string(out)))
}

// thenEdit is a button after which Bob edits an atom that it brought.
func thenEdit(button func(*story) func(*run, repo.OID) repo.OID) func(*story) func(*run, repo.OID) repo.OID {
	return func(s *story) func(*run, repo.OID) repo.OID {
		return func(w *run, yes repo.OID) repo.OID {
			s.Helper()
			tip := button(s)(w, yes)
			return s.make("edit", "", draft{who: bobMail, parents: []repo.OID{tip}, ch: repo.Changes{"knowledge/terms/keel.md": []byte("---\ntype: term\n---\n\nBob's.\n")}})
		}
	}
}

// itsWords gives a squash the trailers of the proposal, as a forge does that takes over the message of the only commit.
func itsWords(s *story, d *draft) {
	s.Helper()
	c, err := s.r.Commit(s.heads["proposal"])
	if err != nil {
		s.Fatal(err)
	}
	d.message = strings.TrimSpace(c.Message)
}

// leaveMain leaves main alone but for another commit.
func (s *story) leaveMain(*run, repo.OID) repo.OID {
	s.Helper()
	return s.make("meanwhile", "", draft{who: bobMail, parents: []repo.OID{s.heads["main"]}, ch: repo.Changes{"README.md": []byte("# Now\n")}})
}

func TestSyncIsProven(t *testing.T) {
	t.Parallel()
	type how = func(*story) func(*run, repo.OID) repo.OID
	merge := how(func(s *story) func(*run, repo.OID) repo.OID { return s.mergeButton })
	squash := how(func(s *story) func(*run, repo.OID) repo.OID { return s.squashButton })
	rebase := how(func(s *story) func(*run, repo.OID) repo.OID { return s.rebaseButton })
	nowhere := how(func(s *story) func(*run, repo.OID) repo.OID { return s.leaveMain })
	inPart := func(_ *story, d *draft) {
		d.ch["knowledge/terms/skeg.md"] = nil
		d.set("Odd-Without", "skeg")
	}
	edit := func(_ *story, d *draft) {
		b := []byte("---\ntype: term\nid: skeg\n---\n\nAnn's.\n")
		d.ch["knowledge/terms/skeg.md"] = b
		d.set("Odd-Edited", "knowledge/terms/skeg.md@"+okf.BlobID(b))
	}
	verify := func(s *story, d *draft) {
		_, b := term("skeg", "")
		a, err := okf.Parse("terms/skeg.md", b)
		if err != nil {
			s.Fatal(err)
		}
		if b, err = okf.Verify(&a, okf.Stamp{By: "human:" + annMail, At: "2026-03-02T09:00:00Z"}); err != nil {
			s.Fatal(err)
		}
		d.ch["knowledge/terms/skeg.md"] = b
		d.set("Odd-Verified", "skeg@"+okf.BlobID(b))
	}
	for _, c := range []struct {
		name string
		how  how
		at   string
		do   func(*story, *draft)
		want []string
	}{
		{name: "merged", how: merge, want: []string{}},
		{name: "squashed", how: squash, want: []string{}},
		{name: "rebased", how: rebase, want: []string{}},
		{name: "squashed and edited since", how: thenEdit(squash), want: []string{}},
		{name: "rebased and edited since", how: thenEdit(rebase), want: []string{}},
		{name: "squashed in the proposal's own words", how: thenEdit(squash), at: "squash", do: itsWords, want: []string{}},
		{name: "squashed in its words as all there is", how: squash, at: "squash", do: itsWords, want: []string{}},
		{name: "squashed with a byte more", how: thenEdit(squash), at: "squash",
			do: func(s *story, d *draft) {
				_, b := term("keel", "")
				d.ch = repo.Changes{"knowledge/terms/keel.md": append(b, '\n')}
			},
			want: []string{"3 tasks/t.md:5 set to done on the approval #, and knowledge/terms/keel.md has not landed as approved"}},
		{name: "squashed with a file more", how: thenEdit(squash), at: "squash",
			do:   func(_ *story, d *draft) { d.ch = repo.Changes{"README.md": []byte("# More\n")} },
			want: []string{"3 tasks/t.md:5 set to done on the approval #, and knowledge/terms/keel.md has not landed as approved"}},
		{name: "squashed with a file less", how: thenEdit(squash), at: "squash",
			do:   func(_ *story, d *draft) { d.ch = repo.Changes{"knowledge/terms/skeg.md": nil} },
			want: []string{"3 tasks/t.md:5 set to done on the approval #, and knowledge/terms/keel.md has not landed as approved"}},
		{name: "squashed with the trace and other bytes", how: thenEdit(squash), at: "squash",
			do: func(s *story, d *draft) {
				d.ch = repo.Changes{"knowledge/terms/skeg.md": []byte("---\ntype: term\n---\n\nSly.\n")}
				d.set("Odd-Approved-By", "human:"+bobMail)
				d.set("Odd-Proposal", string(s.heads["main"]))
			},
			want: []string{"3 tasks/t.md:5 set to done on the approval #, and knowledge/terms/keel.md has not landed as approved"}},
		{name: "squashed over another's work", how: thenEdit(squash), at: "squash",
			do: func(s *story, d *draft) {
				d.parents = []repo.OID{s.make("meanwhile", "", draft{who: bobMail, parents: d.parents, ch: repo.Changes{"knowledge/terms/keel.md": []byte("---\ntype: term\n---\n")}})}
			},
			want: []string{"3 tasks/t.md:5 set to done on the approval #, and knowledge/terms/keel.md has not landed as approved"}},
		{name: "squashed by the agent", how: thenEdit(squash), at: "squash",
			do: func(s *story, d *draft) { d.who = agentMail },
			want: []string{"2 terms/keel.md:1 the agent's commit belongs to no run: it has no trailer Odd-Run",
				"2 terms/skeg.md:1 the agent's commit belongs to no run: it has no trailer Odd-Run",
				"3 tasks/t.md:5 set to done on the approval #, and knowledge/terms/keel.md has not landed as approved"}},
		{name: "approved by the agent", how: merge, at: "approve t",
			do:   func(_ *story, d *draft) { d.who = agentMail },
			want: []string{"3 tasks/t.md:5 set to done by odd sync on the approval #, which the agent made"}},
		{name: "approved by Ann, says Bob", how: merge, at: "approve t",
			do:   func(_ *story, d *draft) { d.who = bobMail },
			want: []string{"3 tasks/t.md:5 set to done by odd sync on the approval #, which does not say that its author bob@example.org approved"}},
		{name: "approved elsewhere", how: squash, at: "approve t",
			do:   func(s *story, d *draft) { d.parents = []repo.OID{s.heads["main"]} },
			want: []string{"3 tasks/t.md:5 set to done by odd sync on the approval #, which is not upon the proposal #"}},
		{name: "approved with a change", how: squash, at: "approve t",
			do:   func(s *story, d *draft) { d.ch["README.md"] = []byte("# More\n") },
			want: []string{"3 tasks/t.md:5 set to done by odd sync on the approval #, which changes what was proposed: README.md"}},
		{name: "approved in part and merged", how: merge, at: "approve t", do: inPart, want: []string{}},
		{name: "approved in part and squashed", how: thenEdit(squash), at: "approve t", do: inPart, want: []string{}},
		{name: "approved in part and merged whole", how: func(s *story) func(*run, repo.OID) repo.OID {
			return func(w *run, _ repo.OID) repo.OID { return s.squashButton(w, w.proposal) }
		}, at: "approve t", do: inPart,
			want: []string{"3 tasks/t.md:5 set to done on the approval #, and knowledge/terms/skeg.md has landed, which it leaves out"}},
		{name: "approved in part without a word", how: merge, at: "approve t",
			do:   func(s *story, d *draft) { d.ch["knowledge/terms/skeg.md"] = nil },
			want: []string{"3 tasks/t.md:5 set to done by odd sync on the approval #: the approval brings knowledge/terms/skeg.md as nothing, recorded was #"}},
		{name: "approved in part by word alone", how: merge, at: "approve t",
			do:   func(s *story, d *draft) { d.set("Odd-Without", "skeg") },
			want: []string{"3 tasks/t.md:5 set to done by odd sync on the approval #: the approval says that it leaves out knowledge/terms/skeg.md, and brings it as #"}},
		{name: "approved with an edit and merged", how: merge, at: "approve t", do: edit, want: []string{}},
		{name: "approved with an edit and squashed", how: thenEdit(squash), at: "approve t", do: edit, want: []string{}},
		{name: "approved with an edit that is not what landed", how: squash, at: "squash",
			do: func(_ *story, d *draft) {
				d.ch = repo.Changes{"knowledge/terms/skeg.md": []byte("---\ntype: term\n---\n")}
			},
			want: []string{"3 tasks/t.md:5 set to done on the approval #, and knowledge/terms/skeg.md has not landed as approved"}},
		{name: "approved with an edit by word alone", how: merge, at: "approve t",
			do:   func(_ *story, d *draft) { d.set("Odd-Edited", "knowledge/terms/skeg.md@"+strings.Repeat("a", 40)) },
			want: []string{"3 tasks/t.md:5 set to done by odd sync on the approval #: the approval says that it edits knowledge/terms/skeg.md to #, and brings it as #"}},
		{name: "approved with a stamp and squashed", how: thenEdit(squash), at: "approve t", do: verify, want: []string{}},
		{name: "approved with a stamp without a word", how: merge, at: "approve t",
			do:   func(s *story, d *draft) { verify(s, d); d.set("Odd-Verified", "") },
			want: []string{"3 tasks/t.md:5 set to done by odd sync on the approval #: the approval brings knowledge/terms/skeg.md as #, recorded was #"}},
		{name: "approved and not landed", how: nowhere,
			want: []string{"3 tasks/t.md:5 set to done on the approval #, and knowledge/terms/keel.md has not landed as approved"}},
		{name: "landed in part", how: squash, at: "squash",
			do:   func(_ *story, d *draft) { d.ch = repo.Changes{"knowledge/terms/skeg.md": nil} },
			want: []string{"3 tasks/t.md:5 set to done on the approval #, and knowledge/terms/skeg.md has not landed as approved"}},
		{name: "an approval that is not here", how: merge, at: "done t",
			do:   func(_ *story, d *draft) { d.set("Odd-Approval", strings.Repeat("a", 40)) },
			want: []string{"3 tasks/t.md:5 set to done by odd sync, but the approval # is not in this clone"}},
		{name: "another's yes", how: merge, at: "done t",
			do: func(s *story, d *draft) {
				replaceIn(s, d, taskFile("t"), "human:ann@example.org", "human:bob@example.org")
			},
			want: []string{"3 tasks/t.md:5 the machine writes verified by human:bob@example.org at 2026-03-02T09:08:00Z, the approval is by human:ann@example.org"}},
		{name: "a no that nobody said", how: merge, at: "done t",
			do: func(s *story, d *draft) {
				replaceIn(s, d, taskFile("t"), "role: editor", "declined: [{id: keel, text: 'sha256:11', by: human:ann@example.org}]\nrole: editor")
			},
			want: []string{"3 tasks/t.md:5 the machine writes that human:ann@example.org declined keel, which the approval # does not say"}},
		{name: "more than done", how: merge, at: "done t",
			do:   func(s *story, d *draft) { replaceIn(s, d, taskFile("t"), "role: editor", "role: owner") },
			want: []string{"2 tasks/t.md:1 a commit by odd or an agent changes the task's key role"}},
		{name: "no task", how: merge, at: "done t",
			do:   func(_ *story, d *draft) { d.set("Odd-Task", "") },
			want: []string{"2 tasks/t.md:1 a commit with Odd-Approval, as sync makes them, names no task in Odd-Task"}},
		{name: "more than its task", how: merge, at: "done t",
			do:   func(_ *story, d *draft) { d.ch["README.md"] = []byte("# Mine\n") },
			want: []string{"2 README.md:1 a sync commit writes more than its task t"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			hooks := map[string]func(*story, *draft){}
			if c.at != "" {
				hooks[c.at] = c.do
			}
			s := begin(t, lawWith(t, team), hooks)
			s.tellForge(c.how(s))
			if d := cmp.Diff(c.want, listFindings(s.check("", s.tip()))); d != "" {
				t.Error(d)
			}
		})
	}
}

// odd sync keeps the approval as a second parent. So a clone of the board alone can check done, and that parent brings
// in nothing else.
func TestSyncKeepsTheApproval(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(*story, *draft)
		want []string
	}{
		"as it is":                   {nil, []string{}},
		"edited on the target since": {nil, []string{}},
		"with a file": {func(_ *story, d *draft) { d.ch["README.md"] = []byte("# Mine\n") },
			[]string{"2 README.md:1 a sync commit writes more than its task t"}},
		"with the approval's tree": {func(s *story, d *draft) { d.ch["knowledge/terms/keel.md"] = nil },
			[]string{"2 terms/keel.md:1 a sync commit writes more than its task t"}},
		"with another commit": {func(s *story, d *draft) { d.parents[1] = s.heads["main"] },
			[]string{"2 tasks/t.md:1 a merge by odd or an agent differs from what git makes of its parents",
				"3 tasks/t.md:5 a commit by odd or an agent moves the task from review to done outside a run's claim, result or sweep",
				"1 tasks/t.md:14 a commit by odd or an agent adds verified by human:ann@example.org at 2026-03-02T09:08:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, lawWith(t, team), map[string]func(*story, *draft){"done t": c.do})
			s.keeps = true
			button := func(s *story) func(*run, repo.OID) repo.OID { return s.squashButton }
			if strings.HasPrefix(name, "edited") {
				button = thenEdit(button)
			}
			s.tellForge(func(w *run, yes repo.OID) repo.OID {
				at := button(s)(w, yes)
				delete(s.heads, "proposal")
				return at
			})
			if d := cmp.Diff(c.want, listFindings(s.check("", s.tip()))); d != "" {
				t.Error(d)
			}
			if c.do != nil {
				return
			}
			clone := t.TempDir()
			s.git("", "clone", "-q", "--bare", "--no-local", "--single-branch", "--branch", "board", s.r.Root(), clone)
			r, err := repo.Open(clone, os.Environ())
			if err != nil {
				t.Fatal(err)
			}
			report, err := Check(t.Context(), r, "", s.tip())
			if err != nil || len(report.Findings) > 0 {
				t.Errorf("in a fresh clone of the board: %v %v", err, report.Findings)
			}
		})
	}
}

// A proposal on the board without its approval is found. The same files with another proposal's approval are clean.
func TestProposalsThatNobodyApproved(t *testing.T) {
	t.Parallel()
	const lost = "3 terms/keel.md:1 the proposal for t is on the branch and its approval is not; a merge by hand or git pull --rebase leaves it out"
	for name, c := range map[string]struct {
		do   func(*story, *run)
		want []string
	}{
		"merged":   {func(s *story, w *run) { s.land(s.mergeLines(bobMail, s.tip(), w.proposal)) }, []string{lost}},
		"squashed": {func(s *story, _ *run) { s.ann("squash", terms("keel")) }, []string{lost}},
		"squashed in two": {func(s *story, _ *run) {
			s.ann("a", repo.Changes{"docs/a.md": []byte("# A\n")})
			s.ann("b", terms("keel"))
			s.ann("c", repo.Changes{"docs/c.md": []byte("# C\n")})
		}, []string{lost}},
		"rebased": {func(s *story, w *run) { s.land(s.cherryPick(w.proposal, s.tip(), bobMail)) }, []string{lost}},
		"rebased by the agent, and taken out": {func(s *story, w *run) {
			s.land(s.cherryPick(w.proposal, s.tip(), agentMail))
			s.ann("out", repo.Changes{"knowledge/terms/keel.md": nil})
		}, []string{"3 terms/keel.md:1 a proposal is on the branch, and no person merged or approved it"}},
		"merged, then approved":   {func(s *story, w *run) { s.land(s.mergeLines(bobMail, s.tip(), w.proposal)); s.approve(w, false) }, []string{}},
		"squashed, then approved": {func(s *story, w *run) { s.ann("squash", terms("keel")); s.approve(w, false) }, []string{}},
		"squashed and taken out": {func(s *story, _ *run) {
			s.ann("squash", terms("keel"))
			s.ann("out", repo.Changes{"knowledge/terms/keel.md": nil})
		}, []string{}},
		"another word":         {func(s *story, _ *run) { s.ann("other", terms("skeg")) }, []string{}},
		"approved for another": {func(s *story, _ *run) { s.add("u", ""); s.approve(work(s, "u"), false) }, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, lawWith(t, ""), nil)
			s.add("t", "")
			c.do(s, work(s, "t"))
			if d := cmp.Diff(c.want, listFindings(s.check("", s.tip()))); d != "" {
				t.Error(d)
			}
		})
	}
}

// The tasks in review are cached between two checks, and changed files are read again.
func TestAmongManyTasks(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	many := repo.Changes{}
	for i := range 2 * manyRead {
		many[fmt.Sprintf("knowledge/tasks/other-%d.md", i)] = []byte("---\ntype: task\ntitle: Other\n---\n")
	}
	s.ann("many", many)
	s.add("t", "")
	s.add("u", "")
	w := work(s, "t")
	from := s.tip()
	s.ann("note", repo.Changes{"docs/a.md": []byte("# A\n")})
	if d := cmp.Diff([]string{}, listFindings(s.check(from, s.tip()))); d != "" {
		t.Error(d)
	}
	if s.r.Cached(reviewCache) == nil {
		t.Fatal("nothing is remembered")
	}
	s.ann("squash", terms("keel"))
	if f := listFindings(s.check(from, s.tip())); len(f) != 1 {
		t.Errorf("the task that waited then: %q", f)
	}
	s.approve(w, false)
	from = s.tip()
	other := s.claim("u")
	s.result(other, 100_000, terms("skeg"))
	s.land(s.mergeLines(bobMail, s.tip(), other.proposal))
	if f := listFindings(s.check(from, s.tip())); len(f) != 1 || !strings.Contains(f[0], "the proposal for u") {
		t.Errorf("the task that waits since: %q", f)
	}
}

// The target has no ledger; the board's ledger proves what was merged there.
func TestTheTargetAlone(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, team), nil)
	w := s.tellForge(s.mergeButton)
	for name, to := range map[string]repo.OID{"target": s.heads["main"], "proposal": w.proposal} {
		r := s.check("", to)
		if d := cmp.Diff([]string{}, listFindings(r)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if r.Rows[1].Checked == 0 {
			t.Errorf("%s: no proposal judged", name)
		}
	}
	s = begin(t, lawWith(t, team), map[string]func(*story, *draft){"proposal t": func(s *story, d *draft) {
		replaceIn(s, d, "knowledge/terms/keel.md", "# The", "# A")
	}})
	s.tellForge(s.mergeButton)
	if d := cmp.Diff([]string{"2 terms/keel.md:1 is blob #, R1 recorded #"}, listFindings(s.check("", s.heads["main"]))); d != "" {
		t.Error(d)
	}
}

// The board's odd.toml at the claim decides what a session may do. The target's does not, nor a later one.
func TestTheCapIsTheBoards(t *testing.T) {
	t.Parallel()
	raised := strings.Replace(lawWith(t, team), "[session]\n", "[session]\ncap = \"asserted\"\n", 1)
	above := []string{"1 terms/keel.md:6 a commit by odd or an agent makes the atom asserted; agents may set at most inferred"}
	for raise, want := range map[string][]string{"nowhere": above, "on the board": {}, "on the target": above, "after the claim": above} {
		t.Run(raise, func(t *testing.T) {
			t.Parallel()
			s := begin(t, lawWith(t, team), nil)
			law := func(where string) repo.OID {
				if where == raise {
					return s.ann("law", repo.Changes{"odd.toml": []byte(raised)})
				}
				return s.tip()
			}
			s.heads["board"] = s.tip()
			target := law("on the target")
			s.branch = "board"
			law("on the board")
			s.add("t", "")
			w := s.claim("t")
			law("after the claim")
			w.base = target
			p, b := term("keel", "")
			s.result(w, 100_000, repo.Changes{p: bytes.Replace(b, []byte("inferred"), []byte("asserted"), 1)})
			d := draft{who: annMail, parents: []repo.OID{w.proposal}, ch: repo.Changes{}, trailers: approval(w)}
			yes := s.make("approve", "t", d)
			s.heads["main"] = s.mergeButton(w, yes)
			s.joinMain()
			s.done(w, yes)
			for what, to := range map[string]repo.OID{"review": w.proposal, "target": s.heads["main"], "board": s.tip()} {
				if d := cmp.Diff(want, listFindings(s.check("", to))); d != "" {
					t.Errorf("%s: %s", what, d)
				}
			}
		})
	}
}
