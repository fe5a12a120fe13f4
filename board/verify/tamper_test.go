package verify

import (
	"bytes"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// replaceIn replaces text in the draft's file, which it takes from the branch where the draft does not write it.
func replaceIn(s *story, d *draft, name, old, now string) {
	s.Helper()
	b, ok := d.ch[name]
	if !ok {
		b = s.file(name)
	}
	if !bytes.Contains(b, []byte(old)) {
		s.Fatalf("%s: no %q to replace in\n%s", name, old, b)
	}
	d.ch[name] = bytes.Replace(b, []byte(old), []byte(now), 1)
}

// ledgerIn is the draft's ledger file.
func ledgerIn(d *draft) string {
	for _, name := range rules.SortedKeys(d.ch) {
		if strings.Contains(name, "/ledger/") {
			return name
		}
	}
	return ""
}

// changeOutcome re-appends the outcome of a draft after a change, with the trace made true again.
func changeOutcome(s *story, d *draft, change func(*event.Record)) {
	s.Helper()
	name := ledgerIn(d)
	all, err := event.Read(d.ch[name])
	if err != nil {
		s.Fatal(err)
	}
	var b []byte
	for i := range all {
		change(&all[i])
		if all[i].Kind == event.Outcome {
			all[i].Trace = event.Trace(b)
			d.set("Odd-Trace", all[i].Trace)
		}
		if b, err = event.Append(b, all[i]); err != nil {
			s.Fatal(err)
		}
	}
	d.ch[name] = b
}

// work claims a task, proposes one atom and lands the result.
func work(s *story, task string) *run {
	s.Helper()
	w := s.claim(task)
	s.result(w, 100_000, terms("keel"))
	return w
}

type tamper struct {
	name string
	at   string                     // the step that is tampered with, "" when tell does it
	do   func(*story, *draft)       // to that step's commit
	tell func(*story) (to repo.OID) // nil: work on task "t", which stays in review; "" is the branch's tip
	want []string
}

func (c tamper) run(t *testing.T) {
	t.Parallel()
	hooks := map[string]func(*story, *draft){}
	if c.at != "" {
		hooks[c.at] = c.do
	}
	s := begin(t, lawWith(t, ""), hooks)
	tell := c.tell
	if tell == nil {
		tell = func(s *story) repo.OID { work(s, "t"); return "" }
	}
	s.add("t", "team: docs\n")
	to := tell(s)
	if to == "" {
		to = s.tip()
	}
	if d := cmp.Diff(c.want, listFindings(s.check("", to))); d != "" {
		t.Error(d)
	}
}

func runTampers(t *testing.T, all []tamper) {
	t.Helper()
	t.Parallel()
	for _, c := range all {
		t.Run(c.name, c.run)
	}
}

// proposal tells up to the proposal and checks that.
func tellProposed(s *story) repo.OID { return work(s, "t").proposal }

func tellApproved(s *story) repo.OID { return s.approve(work(s, "t"), false) }

// byAgent commits as the agent, on the branch.
func byAgent(ch repo.Changes, trailers ...[2]string) func(*story) repo.OID {
	return func(s *story) repo.OID {
		return s.land(s.make("agent", "", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: trailers}))
	}
}

const sensedTask = "---\ntype: task\nid: test-a\ntags: [sensed, test, found-0123456789ab]\nconfidence: inferred\ngenerated: {by: odd/1.0, at: 2026-03-02T09:00:00Z}\nstate: ready\nkind: fix\npriority: p1\nsignal: test_failure\npaths: [a/**]\n---\n"

// sensed lets the sensor test file ready tasks, and then files one that change has changed.
func sensed(change func(string) string, trailers ...[2]string) func(*story) repo.OID {
	return func(s *story) repo.OID {
		text := sensedTask
		if change != nil {
			text = change(text)
		}
		if law := lawWith(s, "[sense]\nready = [\"test\"]\npaths = [\"a/**\"]\n"); law != string(s.file("odd.toml")) {
			s.ann("law", repo.Changes{"odd.toml": []byte(law)})
		}
		return byAgent(repo.Changes{taskFile("test-a"): []byte(text)}, trailers...)(s)
	}
}

// inPart approves a proposal of two atoms, keel and skeg; a tamper makes it a part.
func inPart(s *story) repo.OID {
	w := s.claim("t")
	s.result(w, 100_000, terms("keel", "skeg"))
	return s.approve(w, false)
}

// An approval brings the proposal without exactly the atoms that it names.
func TestApprovalsInPartAreProven(t *testing.T) {
	keel, skeg := "knowledge/terms/keel.md", "knowledge/terms/skeg.md"
	stamped := func(s *story) repo.OID { return s.approve(work(s, "t"), true) }
	leave := func(s *story, d *draft) { d.ch[skeg] = nil; d.set("Odd-Without", "skeg too vague") }
	edit := func(_ *story, d *draft) {
		d.ch[skeg] = []byte("---\ntype: term\nid: skeg\n---\n\nAnn's.\n")
		d.set("Odd-Edited", skeg+"@"+okf.BlobID(d.ch[skeg]))
	}
	runTampers(t, []tamper{
		{name: "as it says", at: "approve t", tell: inPart, do: leave, want: []string{}},
		{name: "an atom dropped without a word", at: "approve t", tell: inPart,
			do:   func(_ *story, d *draft) { d.ch[skeg] = nil },
			want: []string{"3 tasks/t.md:5 the approval brings knowledge/terms/skeg.md as nothing, recorded was #"}},
		{name: "a word for what landed", at: "approve t", tell: inPart,
			do:   func(_ *story, d *draft) { d.set("Odd-Without", "skeg") },
			want: []string{"3 tasks/t.md:5 the approval says that it leaves out knowledge/terms/skeg.md, and brings it as #"}},
		{name: "a word and other bytes", at: "approve t", tell: inPart,
			do:   func(s *story, d *draft) { leave(s, d); d.ch[skeg] = []byte("---\ntype: term\n---\n") },
			want: []string{"3 tasks/t.md:5 the approval says that it leaves out knowledge/terms/skeg.md, and brings it as #"}},
		{name: "a word for what is no atom of it", at: "approve t", tell: inPart,
			do:   func(_ *story, d *draft) { d.set("Odd-Without", "skegs") },
			want: []string{`3 tasks/t.md:5 the approval leaves out "skegs", which is no atom of its proposal`}},
		{name: "one named, another dropped", at: "approve t", tell: inPart,
			do:   func(s *story, d *draft) { leave(s, d); d.ch[keel] = nil },
			want: []string{"3 tasks/t.md:5 the approval brings knowledge/terms/keel.md as nothing, recorded was #"}},
		{name: "an edit that it names", at: "approve t", tell: inPart, do: edit, want: []string{}},
		{name: "an edit without a word", at: "approve t", tell: inPart,
			do:   func(s *story, d *draft) { edit(s, d); d.set("Odd-Edited", "") },
			want: []string{"3 tasks/t.md:5 the approval brings knowledge/terms/skeg.md as #, recorded was #"}},
		{name: "an edit changed after its word", at: "approve t", tell: inPart,
			do:   func(s *story, d *draft) { edit(s, d); d.ch[skeg] = append(d.ch[skeg], "More.\n"...) },
			want: []string{"3 tasks/t.md:5 the approval says that it edits knowledge/terms/skeg.md to #, and brings it as #"}},
		{name: "an edit of what is no atom of it", at: "approve t", tell: inPart,
			do:   func(_ *story, d *draft) { d.set("Odd-Edited", "README.md@"+strings.Repeat("a", 40)) },
			want: []string{`3 tasks/t.md:5 the approval edits "README.md@#", which is no atom that it takes`}},
		{name: "an edit of what it leaves out", at: "approve t", tell: inPart,
			do:   func(s *story, d *draft) { edit(s, d); d.set("Odd-Without", "skeg") },
			want: []string{`3 tasks/t.md:5 the approval edits "knowledge/terms/skeg.md@#", which is no atom that it takes`}},
		{name: "an edit with a stamp", at: "approve t", tell: inPart,
			do:   func(s *story, d *draft) { edit(s, d); d.set("Odd-Verified", "skeg@"+okf.BlobID(d.ch[skeg])) },
			want: []string{}},
		{name: "an atom of its own", at: "approve t", tell: inPart,
			do:   func(_ *story, d *draft) { d.ch["knowledge/terms/mast.md"] = terms("mast")["knowledge/terms/mast.md"] },
			want: []string{"3 tasks/t.md:5 the approval changes knowledge/terms/mast.md itself, which its proposal does not"}},
		{name: "a stamp that is named", at: "approve t", tell: stamped,
			do: func(_ *story, d *draft) { d.set("Odd-Verified", "keel@"+okf.BlobID(d.ch[keel])) }, want: []string{}},
		{name: "a stamp that names another atom", at: "approve t", tell: stamped,
			do:   func(_ *story, d *draft) { d.set("Odd-Verified", "mast@"+okf.BlobID(d.ch[keel])) },
			want: []string{"3 tasks/t.md:5 the approval verifies knowledge/terms/keel.md, and does not name it"}},
		{name: "a name without a stamp", at: "approve t", tell: inPart,
			do:   func(s *story, d *draft) { d.set("Odd-Verified", "keel@"+okf.BlobID(s.at(d.tree, keel))) },
			want: []string{"3 tasks/t.md:5 the approval says that it verifies keel@#, which it does not bring so"}},
		{name: "a text changed below the stamp", at: "approve t", tell: stamped,
			do:   func(s *story, d *draft) { replaceIn(s, d, keel, "# The", "# A") },
			want: []string{"3 tasks/t.md:5 the approval brings knowledge/terms/keel.md as #, recorded was #"}},
	})
}

func TestTheCapIsProven(t *testing.T) {
	keel := "knowledge/terms/keel.md"
	runTampers(t, []tamper{
		{name: "the agent verifies", at: "proposal t", tell: tellProposed,
			do: func(s *story, d *draft) {
				replaceIn(s, d, keel, "---\n\n", "verified: [{by: human:ann@example.org, at: 2026-03-02}]\n---\n\n")
			},
			want: []string{"2 terms/keel.md:1 is blob #, R1 recorded #",
				"1 terms/keel.md:8 a commit by odd or an agent adds verified by human:ann@example.org at 2026-03-02"}},
		{name: "the agent asserts", at: "proposal t", tell: tellProposed,
			do: func(s *story, d *draft) { replaceIn(s, d, keel, "inferred", "asserted") },
			want: []string{"2 terms/keel.md:1 is blob #, R1 recorded #",
				"1 terms/keel.md:6 a commit by odd or an agent makes the atom asserted; agents may set at most inferred"}},
	})
}

func TestWhatTheCapCounts(t *testing.T) {
	runTampers(t, []tamper{
		{name: "verified without a person", tell: byAgent(repo.Changes{"knowledge/terms/old.md": []byte("---\ntype: term\nconfidence: verified\n---\n")}),
			want: []string{"2 terms/old.md:1 the agent's commit belongs to no run: it has no trailer Odd-Run",
				"1 terms/old.md:3 a commit by odd or an agent makes the atom verified; agents may set at most inferred"}},
		{name: "an atom that does not say", tell: byAgent(repo.Changes{"knowledge/terms/new.md": []byte("---\ntype: term\n---\n")}),
			want: []string{"1 terms/new.md:1 a commit by odd or an agent makes the atom asserted by saying nothing of its confidence and naming no generator; agents may set at most inferred",
				"2 terms/new.md:1 the agent's commit belongs to no run: it has no trailer Odd-Run"}},
		{name: "a result that raises its task", at: "result t",
			do: func(s *story, d *draft) { replaceIn(s, d, taskFile("t"), "asserted", "verified") },
			want: []string{"2 tasks/t.md:1 a commit by odd or an agent changes the task's key confidence",
				"1 tasks/t.md:6 a commit by odd or an agent makes the atom verified; agents may set at most inferred"}},
		{name: "a person's name on a run's commit", at: "proposal t", tell: tellProposed,
			do: func(s *story, d *draft) {
				d.who = bobMail
				replaceIn(s, d, "knowledge/terms/keel.md", "inferred", "asserted")
			},
			want: []string{"2 terms/keel.md:1 is blob #, R1 recorded #",
				"1 terms/keel.md:6 a commit by odd or an agent makes the atom asserted; agents may set at most inferred"}},
		{name: "an approval that verifies for another", at: "approve t", tell: func(s *story) repo.OID { return s.approve(work(s, "t"), true) },
			do:   func(s *story, d *draft) { replaceIn(s, d, "knowledge/terms/keel.md", "human:ann@", "human:bob@") },
			want: []string{"1 terms/keel.md:8 an approval by human:ann@example.org adds verified by human:bob@example.org at 2026-03-02T09:05:00Z"}},
		{name: "a person may", tell: func(s *story) repo.OID {
			return s.ann("verify", repo.Changes{"knowledge/terms/old.md": []byte("---\ntype: term\nconfidence: verified\nverified: [{by: human:ann@example.org}]\n---\n")})
		}, want: []string{}},
	})
}

func TestTheWriteSurfaceIsProven(t *testing.T) {
	runTampers(t, []tamper{
		{name: "odd.toml", at: "proposal t", tell: tellProposed,
			do: func(s *story, d *draft) { d.ch["odd.toml"] = []byte("[governance]\nlease = \"off\"\n") },
			want: []string{"2 odd.toml:1 a proposal writes a file that is no atom of the bundle",
				"2 odd.toml:1 is in the proposal and not in the record of R1",
				"13 odd.toml:1 a proposal changes a file that is no atom, and names no op"}},
		{name: "canon", at: "proposal t", tell: tellProposed,
			do: func(s *story, d *draft) {
				replaceIn(s, d, "knowledge/canon/truth.md", "title: Truth", "title: Lies\nconfidence: inferred")
			},
			want: []string{"2 canon/truth.md:1 a proposal writes where only a person does",
				"2 canon/truth.md:1 is in the proposal and not in the record of R1"}},
		{name: "another blob than recorded", at: "proposal t", tell: tellProposed,
			do:   func(s *story, d *draft) { replaceIn(s, d, "knowledge/terms/keel.md", "# The", "# A") },
			want: []string{"2 terms/keel.md:1 is blob #, R1 recorded #"}},
		{name: "a path less than recorded", at: "proposal t", tell: tellProposed,
			do:   func(s *story, d *draft) { delete(d.ch, "knowledge/terms/keel.md") },
			want: []string{"2 terms/keel.md:1 is in the record of R1 and not in the proposal"}},
		{name: "made on another base", at: "proposal t",
			do: func(s *story, d *draft) {
				d.parents = []repo.OID{s.make("other", "", draft{who: annMail, parents: d.parents, ch: repo.Changes{"knowledge/terms/keel.md": []byte("---\ntype: term\n---\n")}})}
			},
			tell: tellProposed,
			want: []string{"2 terms/keel.md:1 was made on blob #, R1 recorded none"}},
		{name: "a type that governs", at: "proposal t", tell: tellProposed,
			do:   func(s *story, d *draft) { replaceIn(s, d, "knowledge/terms/keel.md", "type: term", "type: Principle") },
			want: []string{"2 terms/keel.md:1 a proposal writes a Principle, which only a person does", "2 terms/keel.md:1 is blob #, R1 recorded #"}},
		{name: "an atom deleted", at: "proposal t", tell: tellProposed,
			do:   func(s *story, d *draft) { d.ch["knowledge/terms/old.md"] = nil },
			want: []string{"2 terms/old.md:1 a proposal deletes an atom", "2 terms/old.md:1 is in the proposal and not in the record of R1"}},
		{name: "a file that is no atom", at: "proposal t", tell: tellProposed,
			do: func(s *story, d *draft) { d.ch["knowledge/terms/keel.md"] = []byte("---\ntype: term\n") },
			want: []string{"2 terms/keel.md:1 a proposal holds no atom here: frontmatter is never closed",
				"2 terms/keel.md:1 is blob #, R1 recorded #"}},
		{name: "a task changed by a proposal", at: "proposal t", tell: tellProposed,
			do:   func(s *story, d *draft) { replaceIn(s, d, taskFile("t"), "role: editor", "role: owner") },
			want: []string{"2 tasks/t.md:1 a proposal changes a task", "2 tasks/t.md:1 is in the proposal and not in the record of R1"}},
		{name: "a reserved file", at: "proposal t", tell: tellProposed,
			do:   func(s *story, d *draft) { d.ch["knowledge/index.md"] = []byte("# I\n") },
			want: []string{"2 index.md:1 a proposal writes a reserved file", "2 index.md:1 is in the proposal and not in the record of R1"}},
		{name: "another task", at: "result t",
			do:   func(s *story, d *draft) { replaceIn(s, d, taskFile("earlier"), "---\n", "---\nattempts: 2\n") },
			want: []string{"2 tasks/earlier.md:1 a board commit of t changes another task"}},
		{name: "commands in the claim", at: "claim t",
			do:   func(s *story, d *draft) { replaceIn(s, d, taskFile("t"), "role:", "commands: [[rm, x]]\nrole:") },
			want: []string{"2 tasks/t.md:1 a commit by odd or an agent changes the task's key commands"}},
		{name: "an atom beside the result", at: "result t",
			do:   func(s *story, d *draft) { d.ch["knowledge/terms/sly.md"] = terms("sly")["knowledge/terms/sly.md"] },
			want: []string{"2 terms/sly.md:1 a run's board commit writes more than its task, journal, ledger, handoffs, proposals and pause.toml"}},
		{name: "the task's text in the claim", at: "claim t",
			do:   func(s *story, d *draft) { replaceIn(s, d, taskFile("t"), "# T\n", "# U\n") },
			want: []string{"2 tasks/t.md:1 a commit by odd or an agent changes the task's text"}},
		{name: "a sweep that takes the task away", at: "sweep t", tell: func(s *story) repo.OID { s.sweep(s.claim("t"), 500_000); return "" },
			do:   func(s *story, d *draft) { d.ch[taskFile("t")] = nil },
			want: []string{"2 tasks/t.md:1 a commit by odd or an agent takes the task away, or leaves it unreadable"}},
		{name: "a sweep of another task", at: "sweep t", tell: func(s *story) repo.OID { s.sweep(s.claim("t"), 500_000); return "" },
			do:   func(s *story, d *draft) { replaceIn(s, d, taskFile("earlier"), "---\n", "---\nattempts: 2\n") },
			want: []string{"2 tasks/earlier.md:1 a sweep changes a task that nobody holds"}},
		{name: "a proposal file and a pause are its own", at: "result t",
			do: func(s *story, d *draft) {
				d.ch["knowledge/pause.toml"] = []byte("reason = \"x\"\n")
				d.ch["knowledge/proposals/run-01KJ0000000000000000000001.jsonl"] = s.encodeProposal("P-1", gate.TaskAgent)
			}, want: []string{}},
		{name: "a pause lifted by a run", at: "result t", tell: func(s *story) repo.OID {
			w := s.claim("t")
			s.ann("pause", repo.Changes{"knowledge/pause.toml": []byte("reason = \"x\"\n")})
			s.result(w, 100_000, terms("keel"))
			return ""
		}, do: func(s *story, d *draft) { d.ch["knowledge/pause.toml"] = nil },
			want: []string{"2 pause.toml:1 a run lifts the pause; only a person does"}},
		{name: "a pause rewritten by a run", at: "result t", tell: func(s *story) repo.OID {
			w := s.claim("t")
			s.ann("pause", repo.Changes{"knowledge/pause.toml": []byte("reason = \"x\"\n")})
			s.result(w, 100_000, terms("keel"))
			return ""
		}, do: func(s *story, d *draft) { d.ch["knowledge/pause.toml"] = []byte("reason = \"all is well\"\n") },
			want: []string{"2 pause.toml:1 a run rewrites the pause that stands; it only adds one"}},
		{name: "another writer's journal", at: "result t",
			do: func(s *story, d *draft) {
				d.ch["knowledge/journal/2026-03-02-ann.tsv"] = []byte("O\tObservation\t\t\t\t\ta\tb\n")
			},
			want: []string{"2 journal/2026-03-02-ann.tsv:1 a run's board commit writes more than its task, journal, ledger, handoffs, proposals and pause.toml"}},
		{name: "a run that lifts the pause", at: "resume", tell: func(s *story) repo.OID { s.pause(); return "" },
			do:   func(s *story, d *draft) { d.who, d.trailers = agentMail, nil },
			want: []string{"2 pause.toml:1 the agent's commit belongs to no run: it has no trailer Odd-Run"}},
	})
}

func TestProposalsLandByPeople(t *testing.T) {
	runTampers(t, []tamper{
		{name: "nobody recorded it", tell: func(s *story) repo.OID {
			w := s.claim("t")
			byAgent(terms("sly"), [2]string{"Odd-Run", w.id}, [2]string{"Odd-Task", "t"})(s)
			s.result(w, 0, nil)
			return ""
		}, want: []string{`2 terms/sly.md:1 a proposal of R1 for "t" that no ledger records`}},
		{name: "the agent merges it", tell: func(s *story) repo.OID {
			w := work(s, "t")
			tree, _, err := s.r.MergeTree(s.Context(), s.tip(), w.proposal)
			if err != nil {
				s.Fatal(err)
			}
			return s.land(s.make("merge", "", draft{who: agentMail, parents: []repo.OID{s.tip(), w.proposal}, tree: tree}))
		}, want: []string{"3 terms/keel.md:1 a proposal is on the branch, and no person merged or approved it"}},
		{name: "a merge that is not git's", tell: func(s *story) repo.OID {
			w := work(s, "t")
			return s.land(s.make("merge", "", draft{who: agentMail, parents: []repo.OID{s.tip(), w.base}, ch: repo.Changes{"README.md": []byte("# Mine\n")}}))
		}, want: []string{"2 README.md:1 a merge by odd or an agent differs from what git makes of its parents"}},
		{name: "a conflict the agent resolves", tell: func(s *story) repo.OID {
			base := s.tip()
			one := s.make("one", "", draft{who: annMail, parents: []repo.OID{base}, ch: repo.Changes{"README.md": []byte("# One\n")}})
			two := s.make("two", "", draft{who: annMail, parents: []repo.OID{base}, ch: repo.Changes{"README.md": []byte("# Two\n")}})
			return s.land(s.make("merge", "", draft{who: agentMail, parents: []repo.OID{one, two}}))
		}, want: []string{"2 knowledge:1 a merge by odd or an agent had a conflict, or more than two parents; only a person merges these"}},
		{name: "a person resolves a conflict", tell: func(s *story) repo.OID {
			base := s.tip()
			one := s.make("one", "", draft{who: annMail, parents: []repo.OID{base}, ch: repo.Changes{"README.md": []byte("# One\n")}})
			two := s.make("two", "", draft{who: annMail, parents: []repo.OID{base}, ch: repo.Changes{"README.md": []byte("# Two\n")}})
			return s.land(s.make("merge", "", draft{who: bobMail, parents: []repo.OID{one, two}}))
		}, want: []string{}},
		{name: "a merge of three", tell: func(s *story) repo.OID {
			w := work(s, "t")
			return s.land(s.make("merge", "", draft{who: agentMail, parents: []repo.OID{s.tip(), w.base, w.base}}))
		}, want: []string{"2 knowledge:1 a merge by odd or an agent had a conflict, or more than two parents; only a person merges these"}},
		{name: "a person merges it by hand", tell: func(s *story) repo.OID {
			w := work(s, "t")
			tree, _, err := s.r.MergeTree(s.Context(), s.tip(), w.proposal)
			if err != nil {
				s.Fatal(err)
			}
			return s.land(s.make("merge", "", draft{who: bobMail, parents: []repo.OID{s.tip(), w.proposal}, tree: tree}))
		}, want: []string{"3 terms/keel.md:1 the proposal for t is on the branch and its approval is not; a merge by hand or git pull --rebase leaves it out"}},
		{name: "a task filed with commands", tell: byAgent(repo.Changes{taskFile("new"): []byte("---\ntype: task\nconfidence: inferred\ncommands: [[rm, x]]\n---\n")}),
			want: []string{"2 tasks/new.md:1 odd or an agent adds a task with commands; only a person says what odd runs"}},
		{name: "a task filed as ready", tell: byAgent(repo.Changes{taskFile("new"): []byte("---\ntype: task\nconfidence: inferred\nstate: ready\n---\n")}),
			want: []string{"3 tasks/new.md:4 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task filed as ready, as odd.toml allows", tell: sensed(nil), want: []string{}},
		{name: "a sensed task filed as ready by the session of a run", tell: sensed(func(s string) string { return s }, [2]string{"Odd-Run", "run-1"}),
			want: []string{"2 tasks/test-a.md:1 a run's board commit writes more than its task, journal, ledger, handoffs, proposals and pause.toml",
				"3 tasks/test-a.md:7 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task of a sensor that may not", tell: sensed(func(s string) string { return strings.Replace(s, "sensed, test", "sensed, lint", 1) }),
			want: []string{"3 tasks/test-a.md:7 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task with other paths", tell: sensed(func(s string) string { return strings.Replace(s, "a/**", "b/**", 1) }),
			want: []string{"3 tasks/test-a.md:7 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task with another role", tell: sensed(func(s string) string { return strings.Replace(s, "state: ready", "state: ready\nrole: chief", 1) }),
			want: []string{"3 tasks/test-a.md:7 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task that asks for more turns", tell: sensed(func(s string) string { return strings.Replace(s, "state: ready", "state: ready\nmax_turns: 9", 1) }),
			want: []string{"3 tasks/test-a.md:7 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task that was in backlog", tell: func(s *story) repo.OID {
			sensed(func(s string) string { return strings.Replace(s, "state: ready", "state: backlog", 1) })(s)
			return sensed(nil)(s)
		}, want: []string{"2 tasks/test-a.md:1 the agent's commit belongs to no run: it has no trailer Odd-Run",
			"3 tasks/test-a.md:7 a commit by odd or an agent moves the task from backlog to ready outside a run's claim, result or sweep"}},
		{name: "a sensed task of another kind", tell: sensed(func(s string) string { return strings.Replace(s, "kind: fix", "kind: docs", 1) }),
			want: []string{"3 tasks/test-a.md:7 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task of no kind", tell: sensed(func(s string) string { return strings.Replace(s, "kind: fix\n", "", 1) }),
			want: []string{"3 tasks/test-a.md:7 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task of another signal", tell: sensed(func(s string) string { return strings.Replace(s, "test_failure", "github_issue", 1) }),
			want: []string{"3 tasks/test-a.md:7 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task in a person's name", tell: sensed(func(s string) string { return strings.Replace(s, "by: odd/1.0", "by: \"human:ann@example.org\"", 1) }),
			want: []string{"3 tasks/test-a.md:7 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task of nobody's", tell: sensed(func(s string) string {
			return strings.Replace(s, "generated: {by: odd/1.0, at: 2026-03-02T09:00:00Z}\n", "", 1)
		}),
			want: []string{"3 tasks/test-a.md:6 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task whose id is not the file's name", tell: sensed(func(s string) string { return strings.Replace(s, "id: test-a", "id: test-b", 1) }),
			want: []string{"3 tasks/test-a.md:7 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task in another folder", tell: func(s *story) repo.OID {
			s.ann("law", repo.Changes{"odd.toml": []byte(lawWith(s, "[sense]\nready = [\"test\"]\npaths = [\"a/**\"]\n"))})
			return byAgent(repo.Changes{"knowledge/roles/test-a.md": []byte(sensedTask)})(s)
		}, want: []string{"3 roles/test-a.md:7 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a sensed task where odd.toml allows nothing", tell: byAgent(repo.Changes{taskFile("test-a"): []byte(sensedTask)}),
			want: []string{"3 tasks/test-a.md:7 a commit by odd or an agent files a task in ready; only backlog is its to say"}},
		{name: "a task filed in backlog", tell: byAgent(repo.Changes{taskFile("new"): []byte("---\ntype: task\nconfidence: inferred\nstate: backlog\n---\n")}),
			want: []string{}},
	})
}

func TestTheHumanGateIsProven(t *testing.T) {
	done := func(who string, trailers ...[2]string) func(*story) repo.OID {
		return func(s *story) repo.OID {
			work(s, "t")
			d := draft{who: who, parents: []repo.OID{s.tip()}, ch: repo.Changes{}, trailers: trailers}
			replaceIn(s, &d, taskFile("t"), "state: review", "state: done")
			return s.land(s.make("done", "", d))
		}
	}
	runTampers(t, []tamper{
		{name: "a person skips review", tell: func(s *story) repo.OID {
			d := draft{who: annMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{}}
			replaceIn(s, &d, taskFile("t"), "state: ready", "state: done")
			return s.land(s.make("done", "", d))
		}, want: []string{"3 tasks/t.md:5 set to done from ready; only odd approve sets done, from review"}},
		{name: "a person edits review to done", tell: done(annMail),
			want: []string{"3 tasks/t.md:5 set to done without odd approve: the commit lacks its trailers Odd-Task and Odd-Proposal"}},
		{name: "a task begins as done", tell: func(s *story) repo.OID {
			return s.ann("new", repo.Changes{taskFile("new"): []byte("---\ntype: task\nstate: done\n---\n")})
		}, want: []string{"3 tasks/new.md:3 the task was added as done; only odd approve sets done"}},
		{name: "a done task moves house", tell: func(s *story) repo.OID {
			return s.ann("move", repo.Changes{taskFile("earlier"): nil, taskFile("past"): s.file(taskFile("earlier"))})
		}, want: []string{}},
		{name: "a done task moves house and is edited", tell: func(s *story) repo.OID {
			s.ann("add", repo.Changes{taskFile("x"): []byte("---\ntype: task\nid: gone\nstate: backlog\n---\n")})
			s.heads["side"] = s.make("side", "", draft{who: annMail, ch: repo.Changes{
				"odd.toml": []byte(law), taskFile("x"): []byte("---\ntype: task\nid: gone\nstate: done\n---\n")}})
			s.branch = "side"
			return s.ann("move", repo.Changes{taskFile("x"): nil, taskFile("y"): []byte("---\ntype: task\nid: gone\nstate: done\ntitle: Moved\n---\n")})
		}, want: []string{}},
		{name: "a merge that carries done along", tell: func(s *story) repo.OID {
			side := s.make("side", "", draft{who: annMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{taskFile("earlier"): []byte("---\ntype: task\nstate: done\n---\n\nHere.\n")}})
			other := s.make("other", "", draft{who: annMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{taskFile("earlier"): []byte("---\ntype: task\nstate: done\n---\n\nThere.\n")}})
			return s.land(s.make("merge", "", draft{who: annMail, parents: []repo.OID{side, other}, ch: repo.Changes{taskFile("earlier"): []byte("---\ntype: task\nstate: done\n---\n\nHere and there.\n")}}))
		}, want: []string{}},
		{name: "approved with a proposal nobody recorded", tell: func(s *story) repo.OID {
			w := s.claim("t")
			s.result(w, 0, terms("keel"))
			w.proposal = s.make("sly", "", draft{who: bobMail, parents: []repo.OID{w.base}, ch: terms("sly")})
			d := draft{who: annMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{}}
			old, _, _ := strings.Cut(string(s.file(taskFile("t")))[strings.Index(string(s.file(taskFile("t"))), "commit: ")+8:], "\n")
			replaceIn(s, &d, taskFile("t"), strings.Trim(old, " }"), string(w.proposal))
			s.land(s.make("swap", "", d))
			w.paths = nil
			return s.approve(w, false)
		}, want: []string{"3 tasks/t.md:5 done with proposal #, which no outcome of R1 records"}},
		{name: "the agent says done", tell: done(agentMail),
			want: []string{"2 tasks/t.md:1 the agent's commit belongs to no run: it has no trailer Odd-Run",
				"3 tasks/t.md:5 a commit by odd or an agent moves the task from review to done outside a run's claim, result or sweep"}},
		{name: "a result says done", at: "result t",
			do:   func(s *story, d *draft) { replaceIn(s, d, taskFile("t"), "state: review", "state: done") },
			want: []string{"3 tasks/t.md:5 a commit by odd or an agent moves the task from in_progress to done; only a person may do that"}},
		{name: "the agent approves", at: "approve t", tell: tellApproved,
			do: func(s *story, d *draft) { d.who = agentMail },
			want: []string{"3 terms/keel.md:1 a proposal is on the branch, and no person merged or approved it",
				"2 index.md:1 a merge by odd or an agent differs from what git makes of its parents",
				"2 tasks/t.md:1 a merge by odd or an agent differs from what git makes of its parents",
				"3 tasks/t.md:5 a commit by odd or an agent moves the task from review to done outside a run's claim, result or sweep",
				"1 tasks/t.md:15 a commit by odd or an agent adds verified by human:ann@example.org at 2026-03-02T09:05:00Z"}},
		{name: "approved in another's name", at: "approve t", tell: tellApproved,
			do:   func(s *story, d *draft) { d.who = bobMail },
			want: []string{"3 tasks/t.md:5 set to done on the word of human:ann@example.org, in a commit by bob@example.org"}},
		{name: "approved with something else in its place", at: "approve t", tell: tellApproved,
			do: func(s *story, d *draft) {
				d.parents[1] = s.make("else", "", draft{who: annMail, parents: d.parents[1:], ch: repo.Changes{}})
			},
			want: []string{"3 tasks/t.md:5 set to done, but the commit does not merge the proposal #"}},
		{name: "approved without the proposal", at: "approve t", tell: tellApproved,
			do:   func(s *story, d *draft) { d.parents = d.parents[:1] },
			want: []string{"3 tasks/t.md:5 set to done, but the commit does not merge the proposal #"}},
		{name: "approved of another trace", at: "approve t", tell: tellApproved,
			do:   func(s *story, d *draft) { d.set("Odd-Trace", strings.Repeat("0", 64)) },
			want: []string{"3 tasks/t.md:5 the approval names the trace #, the run recorded #"}},
		{name: "approved with other bytes", at: "approve t", tell: tellApproved,
			do:   func(s *story, d *draft) { d.ch["knowledge/terms/keel.md"] = []byte("---\ntype: term\n---\n") },
			want: []string{"3 tasks/t.md:5 the approval brings knowledge/terms/keel.md as #, recorded was #"}},
		{name: "approved with a file besides", at: "approve t", tell: tellApproved,
			do:   func(s *story, d *draft) { d.ch["tool/run.sh"] = []byte("x\n") },
			want: []string{"3 tasks/t.md:5 the approval changes tool/run.sh itself, which its proposal does not"}},
		{name: "approved of an older proposal", tell: func(s *story) repo.OID {
			w := work(s, "t")
			s.refresh(w, terms("keel", "stem"))
			return s.approve(w, false)
		}, want: []string{"3 tasks/t.md:5 done with proposal # of R1, the task waited with # of R2"}},
		{name: "a run makes its task ready", at: "result t",
			do:   func(s *story, d *draft) { replaceIn(s, d, taskFile("t"), "state: review", "state: ready") },
			want: []string{"3 tasks/t.md:5 a commit by odd or an agent moves the task from in_progress to ready; only a person may do that"}},
		{name: "the agent readies a task", at: "ready t",
			tell: func(s *story) repo.OID { s.result(s.claim("t"), 0, nil); s.ready("t"); return "" },
			do:   func(s *story, d *draft) { d.who, d.trailers = agentMail, nil },
			want: []string{"2 tasks/t.md:1 the agent's commit belongs to no run: it has no trailer Odd-Run",
				"3 tasks/t.md:5 a commit by odd or an agent moves the task from blocked to ready outside a run's claim, result or sweep"}},
		{name: "a sweep of a living claim", at: "sweep t",
			tell: func(s *story) repo.OID { s.sweep(s.claim("t"), 500_000); return "" },
			do:   func(s *story, d *draft) { s.now = s.now.Add(-time.Hour) },
			want: []string{"3 tasks/t.md:5 R2 sweeps a task that R1 holds until 2026-03-02T09:32:00Z"}},
		{name: "a sweep of a killed run's claim", tell: func(s *story) repo.OID { s.killed = true; s.sweep(s.claim("t"), 500_000); return "" }, want: []string{}},
		{name: "a sweep of a living claim whose run was not killed", at: "sweep t",
			tell: func(s *story) repo.OID { s.killed = true; s.sweep(s.claim("t"), 500_000); return "" },
			do: func(s *story, d *draft) {
				changeOutcome(s, d, func(r *event.Record) { eventtest.Set(r, "killed", false) })
			},
			want: []string{"3 tasks/t.md:5 R2 sweeps a task that R1 holds until 2026-03-02T09:32:00Z"}},
		{name: "a claim in another's name", at: "claim t",
			tell: func(s *story) repo.OID { s.claim("t"); return "" },
			do:   func(s *story, d *draft) { replaceIn(s, d, taskFile("t"), "claimed_by: run-", "claimed_by: ran-") },
			want: []string{"3 tasks/t.md:5 R1 claims the task for ran-01KJ0000000000000000000001"}},
	})
}

func TestTheBudgetIsProven(t *testing.T) {
	two := func(s *story) repo.OID {
		s.add("u", "")
		work(s, "t")
		s.claim("u")
		return ""
	}
	dead := func(cost int64) func(*story) repo.OID {
		return func(s *story) repo.OID { s.sweep(s.claim("t"), cost); return "" }
	}
	runTampers(t, []tamper{
		{name: "past the hard stop", tell: func(s *story) repo.OID {
			s.add("u", "budget_usd: 0.80\n")
			s.claim("t")
			s.claim("u")
			return ""
		}, want: []string{"5 ledger/2026-03/R2.jsonl:1 reserves $0.80 on top of $0.50, over the month's limit of $1.20"}},
		{name: "past the team's envelope", tell: func(s *story) repo.OID {
			s.add("u", "team: docs\n")
			work(s, "t")
			s.claim("u")
			s.add("v", "team: docs\nbudget_usd: 0.05\n")
			s.claim("v")
			return ""
		}, want: []string{"5 ledger/2026-03/R3.jsonl:1 reserves $0.05 on top of $0.60, past team docs's $0.60"}},
		{name: "past what no team has", tell: func(s *story) repo.OID {
			s.ann("law", repo.Changes{"odd.toml": bytes.Replace([]byte(law), []byte("0.60"), []byte("0.71"), 1)})
			s.add("u", "")
			s.claim("u")
			return ""
		}, want: []string{"5 ledger/2026-03/R1.jsonl:1 reserves $0.50 on top of $0.00, past what no team has, $0.49"}},
		{name: "cost above the reservation that is told", at: "result t", tell: two, do: func(s *story, d *draft) {
			changeOutcome(s, d, func(r *event.Record) {
				if r.Kind == event.Outcome {
					eventtest.Set(r, "over_micro_usd", int64(3))
				}
			})
		}, want: []string{"5 ledger/2026-03/R1.jsonl:3 the outcome tells of $0.000003 above its reservation, and costs $0.10 of $0.50"}},
		{name: "a hard stop that was lowered since", tell: func(s *story) repo.OID {
			s.claim("t")
			s.add("u", "")
			s.ann("law", repo.Changes{"odd.toml": bytes.Replace([]byte(law), []byte("1.20"), []byte("0.75"), 1)})
			s.claim("u")
			return ""
		}, want: []string{"5 ledger/2026-03/R2.jsonl:1 reserves $0.50 on top of $0.50, over the month's limit of $0.75"}},
		{name: "cost above the reservation", tell: func(s *story) repo.OID {
			s.result(s.claim("t"), 500_001, terms("keel"))
			return ""
		}, want: []string{"5 ledger/2026-03/R1.jsonl:3 the outcome costs $0.500001, reserved were $0.50, and it does not tell of as much above"}},
		{name: "cost above the reservation, in the month after it", tell: func(s *story) repo.OID {
			s.now = time.Date(2026, 3, 31, 23, 50, 0, 0, time.UTC)
			w := s.claim("t")
			s.now = s.now.Add(15 * time.Minute)
			s.result(w, 500_001, terms("keel"))
			return ""
		}, want: []string{"5 ledger/2026-03/R1.jsonl:3 the outcome costs $0.500001, reserved were $0.50, and it does not tell of as much above"}},
		{name: "an outcome cheaper than its sessions", at: "result t", tell: two,
			do: func(s *story, d *draft) {
				changeOutcome(s, d, func(r *event.Record) {
					if r.Kind == event.Outcome {
						r.Cost = 0
					}
				})
			},
			want: []string{"5 ledger/2026-03/R1.jsonl:3 the outcome costs $0.00, its sessions $0.10"}},
		{name: "an outcome another team pays", at: "result t", tell: two,
			do: func(s *story, d *draft) {
				changeOutcome(s, d, func(r *event.Record) {
					if r.Kind == event.Outcome {
						r.Team = "ops"
					}
				})
			},
			want: []string{`5 ledger/2026-03/R1.jsonl:3 the outcome is paid by team "ops", the claim was team "docs"'s`}},
		{name: "a session before its reservation", tell: func(s *story) repo.OID {
			w, ch := s.newRun("t"), repo.Changes{}
			d := draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", "t"}}}
			s.record(w, ch, event.Record{Kind: event.Session, Cost: 1})
			return s.land(s.make("session", "", d))
		}, want: []string{"5 ledger/2026-03/R1.jsonl:1 a session ran before money was reserved for it in an earlier commit"}},
		{name: "an outcome without a claim", tell: func(s *story) repo.OID {
			w, ch := s.newRun("t"), repo.Changes{}
			s.record(w, ch, event.Record{Kind: event.Outcome, Trace: event.Trace(nil)})
			return s.land(s.make("outcome", "", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch,
				trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", "t"}, {"Odd-Trace", event.Trace(nil)}}}))
		}, want: []string{"5 ledger/2026-03/R1.jsonl:1 an outcome without an open claim of t"}},
		{name: "a session under a claim that was only for judging", tell: func(s *story) repo.OID {
			w := s.newRun("t")
			commit := func(r event.Record) {
				ch := repo.Changes{}
				s.record(w, ch, r)
				s.land(s.make("commit", "", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", "t"}}}))
			}
			commit(event.Record{Kind: event.Claim, Data: eventtest.Data(event.Claim, map[string]any{"refresh_of": "run-x"})})
			commit(event.Record{Kind: event.Session})
			return ""
		}, want: []string{"5 ledger/2026-03/R1.jsonl:2 a session ran before money was reserved for it in an earlier commit"}},
		{name: "a claim in another month", at: "claim t", tell: func(s *story) repo.OID { s.claim("t"); return "" },
			do:   func(s *story, d *draft) { changeOutcome(s, d, func(r *event.Record) { r.TS = r.TS.AddDate(0, -1, 0) }) },
			want: []string{"5 ledger/2026-03/R1.jsonl:1 is dated 2026-02-02T09:02:00Z in a commit of 2026-03-02T09:03:00Z"}},
		{name: "a clock that ran back", at: "claim u", tell: two,
			do: func(s *story, d *draft) {
				s.now = s.now.Add(-20 * time.Minute)
				changeOutcome(s, d, func(r *event.Record) { r.TS = s.now })
			},
			want: []string{"5 ledger/2026-03/R2.jsonl:1 is dated 2026-03-02T08:47:00Z, the ledger was at 2026-03-02T09:05:00Z already"}},
		{name: "a claim swept twice", at: "sweep t", tell: dead(500_000),
			do: func(s *story, d *draft) {
				name := ledgerIn(d)
				b, err := event.Append(d.ch[name], event.Record{Run: "run-01KJ0000000000000000000002", TS: s.now, Seq: 2, Kind: event.Abandoned,
					Task: "t", DeadRun: "run-01KJ0000000000000000000001", Team: "docs", Cost: 500_000})
				if err != nil {
					s.Fatal(err)
				}
				d.ch[name] = b
			},
			want: []string{"5 ledger/2026-03/R2.jsonl:2 closes a claim of t by R1 that is not open"}},
		{name: "a claim without a reservation", at: "claim t", tell: func(s *story) repo.OID { s.claim("t"); return "" },
			do: func(s *story, d *draft) {
				name := ledgerIn(d)
				b, err := event.Append(nil, event.Record{Run: "run-01KJ0000000000000000000001", TS: s.now, Seq: 1, Kind: event.Refused})
				if err != nil {
					s.Fatal(err)
				}
				d.ch[name] = b
			},
			want: []string{"5 tasks/t.md:5 the task was claimed, but the ledger reserves no money for it"}},
		{name: "too little reserved", at: "claim t", tell: func(s *story) repo.OID { s.claim("t"); return "" },
			do:   func(s *story, d *draft) { changeOutcome(s, d, func(r *event.Record) { r.Reserved = 1 }) },
			want: []string{"5 ledger/2026-03/R1.jsonl:1 reserves $0.000001, a session may cost $0.50"}},
		{name: "another team reserves", at: "claim t", tell: func(s *story) repo.OID { s.claim("t"); return "" },
			do:   func(s *story, d *draft) { changeOutcome(s, d, func(r *event.Record) { r.Team = "" }) },
			want: []string{`5 ledger/2026-03/R1.jsonl:1 the claim is paid by team "", the task's team is "docs"`}},
		{name: "a sweep that charges less", tell: dead(499_999),
			want: []string{`5 ledger/2026-03/R2.jsonl:1 charges $0.499999 to team "docs", R1 had reserved $0.50 for team "docs"`}},
		{name: "a sweep of nothing", at: "sweep t", tell: dead(500_000),
			do:   func(s *story, d *draft) { changeOutcome(s, d, func(r *event.Record) { r.DeadRun = "run-x" }) },
			want: []string{"5 ledger/2026-03/R2.jsonl:1 closes a claim of t by run-x that is not open"}},
	})
}

// inMonth puts the draft's ledger into another folder.
func inMonth(folder string) func(*story, *draft) {
	return func(_ *story, d *draft) {
		name := ledgerIn(d)
		d.ch[path.Join(path.Dir(path.Dir(name)), folder, path.Base(name))] = d.ch[name]
		delete(d.ch, name)
	}
}

// mergeJournals merges two entries of Ann's journal, a and b, that two clones wrote behind its first.
func mergeJournals(both string) func(*story) repo.OID {
	const name, head, entry = "knowledge/journal/2026-03-02-ann.tsv", "type\ttypeName\tfacet\tquality_score\tquality_max\tquality_level\ttitle\tcontent\n", "D\tDecision\t\t5\t5\tstrong\tOne\t"
	file := func(entries string) repo.Changes {
		return repo.Changes{name: []byte(head + entry + strings.TrimSuffix(strings.ReplaceAll("first\n"+entries, "\n", "\n"+entry), entry))}
	}
	return func(s *story) repo.OID {
		start := s.ann("first", file(""))
		side := s.make("b", "", draft{who: bobMail, parents: []repo.OID{start}, ch: file("b\n")})
		return s.land(s.make("merge", "", draft{who: annMail, parents: []repo.OID{s.ann("a", file("a\n")), side}, ch: file(both)}))
	}
}

// What one commit takes from several files is put back by one command, where git can revert it.
func TestWhatIsTakenFromManyIsPutBackAtOnce(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	side := s.tip()
	s.add("t", "")
	work(s, "t")
	gone := repo.Changes{}
	for _, dir := range []string{"ledger", "journal"} {
		for _, name := range s.listFiles("knowledge/" + dir) {
			gone[name] = nil
		}
	}
	d := draft{who: annMail, parents: []repo.OID{s.tip()}, ch: gone}
	for parents, revert := range map[int]bool{1: true, 2: false} {
		d.parents = []repo.OID{s.tip(), side}[:parents]
		oid := s.make("gone", "", d)
		found := s.check(s.tip(), oid).Findings
		if len(found) != 2 {
			t.Fatalf("%d parents: %v", parents, found)
		}
		if want := "put them back: git revert " + rules.ShortID(string(oid)); (found[0].Way == want && found[1].Way == want) != revert {
			t.Errorf("%d parents: %s", parents, found[0].Way)
		}
	}
}

func TestGrowthIsProven(t *testing.T) {
	one := "knowledge/ledger/2026-03/run-01KJ0000000000000000000001.jsonl"
	row := "knowledge/journal/2026-03-02-run-01kj0000000000000000000001.tsv"
	hand := func(change func(*story, *draft)) func(*story) repo.OID {
		return func(s *story) repo.OID {
			work(s, "t")
			d := draft{who: annMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{}}
			change(s, &d)
			return s.land(s.make("hand", "", d))
		}
	}
	runTampers(t, []tamper{
		{name: "a ledger line edited", tell: hand(func(s *story, d *draft) { replaceIn(s, d, one, `"cost_micro_usd":100000`, `"cost_micro_usd":100`) }),
			want: []string{"14 ledger/2026-03/R1.jsonl:2 is append-only, and old lines of it were changed"}},
		{name: "a ledger line removed", tell: hand(func(s *story, d *draft) {
			_, d.ch[one], _ = bytes.Cut(s.file(one), []byte("\n"))
		}), want: []string{"14 ledger/2026-03/R1.jsonl:1 is append-only, and old lines of it were changed"}},
		{name: "a ledger file deleted", tell: hand(func(s *story, d *draft) { d.ch[one] = nil }),
			want: []string{"14 ledger/2026-03/R1.jsonl:1 is append-only and was deleted"}},
		{name: "the journal rewritten", tell: hand(func(s *story, d *draft) { replaceIn(s, d, row, "done", "well done") }),
			want: []string{"14 journal/2026-03-02-R1.tsv:2 is append-only, and old lines of it were changed"}},
		{name: "a doubled tab taken out", tell: func(s *story) repo.OID {
			name := "knowledge/journal/2026-03-02-ann.tsv"
			const head = "type\ttypeName\tfacet\tquality_score\tquality_max\tquality_level\ttitle\tcontent\n"
			s.ann("write", repo.Changes{name: []byte(head + "D\tDecision\t\t\t5\t5\tstrong\tOne\ta\n")})
			return s.ann("lint", repo.Changes{name: []byte(head + "D\tDecision\t\t5\t5\tstrong\tOne\ta\n")})
		}, want: []string{}},
		{name: "a journal that two wrote, merged line by line", tell: mergeJournals("a\nb\n"), want: []string{}},
		{name: "a journal that two wrote, with a line of nobody", tell: mergeJournals("a\nforged\nb\n"),
			want: []string{"14 journal/2026-03-02-ann.tsv:3 is append-only, and old lines of it were changed"}},
		{name: "a journal rewritten in a merge of a branch that lacks it", tell: func(s *story) repo.OID {
			side := s.tip()
			mergeJournals("a\nb\n")(s)
			name := "knowledge/journal/2026-03-02-ann.tsv"
			return s.land(s.make("merge", "", draft{who: annMail, parents: []repo.OID{s.tip(), side}, ch: repo.Changes{name: bytes.Replace(s.file(name), []byte("first"), []byte("last"), 1)}}))
		}, want: []string{"14 journal/2026-03-02-ann.tsv:2 is append-only, and old lines of it were changed"}},
		{name: "a journal that two wrote, without a line of one", tell: mergeJournals("a\n"),
			want: []string{"14 journal/2026-03-02-ann.tsv:3 is append-only, and old lines of it were changed"}},
		{name: "a decision rewritten", tell: func(s *story) repo.OID {
			name := "knowledge/governance/gates.jsonl"
			s.ann("write", repo.Changes{name: []byte("{}\n{}\n")})
			return s.ann("rewrite", repo.Changes{name: []byte("{}\n[]\n")})
		}, want: []string{"8 governance/gates.jsonl:1 governance/ was changed without a gate: the commit has no trailer Odd-Gate",
			"8 governance/gates.jsonl:1 governance/ was changed without a gate: the commit has no trailer Odd-Gate",
			"14 governance/gates.jsonl:2 is append-only, and old lines of it were changed"}},
		{name: "a merge that drops what it merges", tell: func(s *story) repo.OID {
			side := s.tip()
			work(s, "t")
			return s.land(s.make("merge", "", draft{who: annMail, parents: []repo.OID{side, s.tip()}}))
		}, want: []string{"14 journal/2026-03-02-R1.tsv:1 is append-only and was deleted", "14 ledger/2026-03/R1.jsonl:1 is append-only and was deleted"}},
		{name: "a torn line", tell: hand(func(s *story, d *draft) { d.ch[one] = append(s.file(one), '{') }),
			want: []string{"14 ledger/2026-03/R1.jsonl:4 torn, the last line has no newline; a machine died while writing it: restore the file from git, or remove that line by hand"}},
		{name: "a line by a person", tell: hand(func(s *story, d *draft) {
			s.record(&run{id: "run-01KJ0000000000000000000001", file: one}, d.ch, event.Record{Kind: event.Refused})
		}), want: []string{"14 ledger/2026-03/R1.jsonl:4 is a record of R1 that another commit than its own adds"}},
		{name: "another run's record", at: "claim t", tell: func(s *story) repo.OID { s.claim("t"); return "" },
			do:   func(s *story, d *draft) { changeOutcome(s, d, func(r *event.Record) { r.Run = "run-x" }) },
			want: []string{"14 ledger/2026-03/R1.jsonl:1 is a record of run-x in the file of R1"}},
		{name: "a ledger of no month", at: "claim t", tell: func(s *story) repo.OID { s.claim("t"); return "" }, do: inMonth("zzz"),
			want: []string{"14 ledger/zzz/R1.jsonl:1 is a ledger in ledger/zzz; a run's lies in the month it began in, or its records are not found"}},
		{name: "a ledger of another year", at: "claim t", tell: func(s *story) repo.OID { s.claim("t"); return "" }, do: inMonth("2025-03"),
			want: []string{"14 ledger/2025-03/R1.jsonl:1 is a ledger in ledger/2025-03; a run's lies in the month it began in, or its records are not found"}},
		{name: "a ledger of the month before", at: "claim t", tell: func(s *story) repo.OID { s.claim("t"); return "" }, do: inMonth("2026-02"), want: []string{}},
		{name: "the trace swapped", at: "result t",
			do: func(s *story, d *draft) {
				name := ledgerIn(d)
				i := bytes.Index(d.ch[name], []byte(`"trace":"`)) + len(`"trace":"`)
				d.ch[name] = append(append(bytes.Clone(d.ch[name][:i]), strings.Repeat("0", 64)...), d.ch[name][i+64:]...)
			},
			want: []string{"14 ledger/2026-03/R1.jsonl:3 the trace is #, the bytes before it make #"}},
		{name: "another trace in the proposal", at: "proposal t", tell: tellProposed,
			do:   func(s *story, d *draft) { d.set("Odd-Trace", strings.Repeat("0", 64)) },
			want: []string{"14 terms/keel.md:1 the proposal's Odd-Trace is #, the trace of its outcome #"}},
		{name: "another trace in the commit", at: "result t",
			do:   func(s *story, d *draft) { d.set("Odd-Trace", strings.Repeat("0", 64)) },
			want: []string{"14 ledger/2026-03/R1.jsonl:3 the trace is #, the commit's Odd-Trace #"}},
	})
}
