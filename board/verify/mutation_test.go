package verify

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
)

var whole = flag.Bool("whole", false, "try more: find every mutation from the whole history too, and draw more histories")

// longStory is a clean history of 300 commits over several months, by the functions that odd's verbs commit with: tasks
// that were drained, approved, rejected, swept, judged again; gates, leases, proposals, pauses; changes of files and
// their ops. It ends under a lease, with a task of each kind for what comes next.
func longStory(t testing.TB) *story {
	t.Helper()
	s := begin(t, lawWithFloor(t), nil)
	s.ann("foot", floorAtoms())
	s.ann("a larger month", repo.Changes{"odd.toml": bytes.Replace(s.file("odd.toml"), []byte("1.20"), []byte("1.80"), 1)})
	s.tellAll()
	s.tellGovernance()
	s.tellChanges()
	s.approve(ofFiles(s, docChange(), nil), false)
	s.anchored = true
	for n := 0; s.made < 274; n++ {
		id := fmt.Sprintf("m%03d", n)
		s.now = s.now.Add(43 * time.Hour)
		s.add(id, "budget_usd: 0.10\n")
		w := s.claim(id)
		switch n % 8 {
		case 5:
			s.sweep(w, 100_000)
			continue
		case 6:
			s.result(w, 2_000, nil)
			continue
		case 7:
			s.result(w, 3_000, terms("lost-"+id))
			s.reject(w)
			continue
		}
		s.result(w, 1_000, terms("of-"+id))
		s.approve(w, n%3 == 0)
	}
	s.activateLease(func(l *gate.Lease) { l.Scope.Paths = []string{"**"} }, nil)
	s.add("t", "team: docs\n")
	s.add("u", "")
	s.add("v", "paths: [docs/**]\nbudget_usd: 0.05\n")
	s.ann("shelve", repo.Changes{taskFile("shelf"): []byte("---\ntype: task\nid: shelf\nstate: backlog\nrole: editor\n---\n")})
	for s.made < 300 {
		s.ann("note", repo.Changes{"docs/notes.md": fmt.Appendf(nil, "# Notes\n\n%d\n", s.made)})
	}
	return s
}

// forkStory is the history as it stands, for one mutation: its objects are shared, its branches are its own and no
// refs.
func (s *story) forkStory(t *testing.T, hooks map[string]func(*story, *draft)) *story {
	f := *s
	f.TB, f.tamper, f.base = t, hooks, s.n
	f.heads, f.proposals, f.ops = maps.Clone(s.heads), maps.Clone(s.proposals), maps.Clone(s.ops)
	return &f
}

// checkFork checks a fork from a commit on, and returns "invariant path:line" of each finding: the runs of the fork are
// N1, N2, those before it R1, R2.
func (s *story) checkFork(from, to repo.OID) []string {
	s.Helper()
	refs := map[string]repo.OID{}
	for name, oid := range s.heads {
		refs["refs/heads/"+name] = oid
	}
	out := []string{}
	months := regexp.MustCompile(`/20\d\d-\d\d/`)
	runs := regexp.MustCompile(`R\d+`)
	days := regexp.MustCompile(`20\d\d-\d\d-\d\d-(R\d+|ann)`)
	for _, f := range listFindings(s.prove(Scope{From: from, To: to, Refs: refs})) {
		place := strings.SplitN(f, " ", 3)
		at := days.ReplaceAllString(months.ReplaceAllString(place[1], "/M/"), "$1")
		out = append(out, place[0]+" "+runs.ReplaceAllStringFunc(at, func(r string) string {
			var n int
			if _, err := fmt.Sscanf(r, "R%d", &n); err == nil && n > s.base {
				return fmt.Sprintf("N%d", n-s.base)
			}
			return r
		}))
	}
	return out
}

// commitAs is a commit in somebody's name on the end of the history.
func commitAs(who string, change func(*story, *draft)) func(*story) repo.OID {
	return func(s *story) repo.OID {
		d := draft{who: who, parents: []repo.OID{s.tip()}, ch: repo.Changes{}}
		change(s, &d)
		return s.land(s.make("hand", "", d))
	}
}

// mutate is a mutation of the step of a task's life that is told.
func mutate(name, at string, do func(*story, *draft), tell func(*story) repo.OID, want ...string) tamper {
	return tamper{name: name, at: at, do: do, tell: tell, want: want}
}

// byMachine and byPerson are mutations of a commit of their own.
func byMachine(name string, change func(*story, *draft), want ...string) tamper {
	return tamper{name: name, tell: commitAs(agentMail, change), want: want}
}

func byPerson(name string, change func(*story, *draft), want ...string) tamper {
	return tamper{name: name, tell: commitAs(annMail, change), want: want}
}

// findFile is the first file below a folder whose name has a part.
func (s *story) findFile(dir, part string) string {
	for _, name := range s.listFiles("knowledge/" + dir) {
		if strings.Contains(name, part) {
			return name
		}
	}
	s.Fatalf("no %s in %s", part, dir)
	return ""
}

func claimAndFinish(s *story) repo.OID { s.result(s.claim("t"), 1_000, terms("keelson")); return "" }
func put(s *story) repo.OID {
	w := s.claim("t")
	s.result(w, 1_000, terms("keelson"))
	return w.proposal
}
func merged(s *story) repo.OID {
	w := s.claim("t")
	s.result(w, 1_000, terms("keelson"))
	return s.approve(w, true)
}
func finishBlocked(s *story) repo.OID { s.result(s.claim("t"), 1_000, nil); return "" }

const (
	atKeelson = "knowledge/terms/keelson.md"
	oldLedger = "run-01KJ0000000000000000000001.jsonl"
)

// mutations are what a history may not hold, one commit each. Some break two rules at once, and then both are told:
// bytes that were recorded otherwise are no longer what their run recorded (2), a file that grows is also somebody's to
// write (2, 8, 9, 14).
func mutations() []tamper {
	set := func(name, old, now string) func(*story, *draft) {
		return func(s *story, d *draft) { replaceIn(s, d, name, old, now) }
	}
	return []tamper{
		// 1 and 16: what is trusted.
		mutate("the agent verifies", "proposal t", set(atKeelson, "---\n\n", "verified: [{by: human:ann@example.org, at: 2026-03-02}]\n---\n\n"), put, "2 terms/keelson.md:1", "1 terms/keelson.md:8"),
		mutate("the capped confidence exceeded", "proposal t", set(atKeelson, "inferred", "asserted"), put, "2 terms/keelson.md:1", "1 terms/keelson.md:6"),
		mutate("an approval verifies for another", "approve t", set(atKeelson, "human:ann@", "human:bob@"), merged, "1 terms/keelson.md:8"),
		mutate("a verified body changed", "proposal t", func(s *story, d *draft) {
			replaceIn(s, d, "knowledge/terms/keel.md", "# The keel", "# A keel")
		}, put, "2 terms/keel.md:1", "16 terms/keel.md:1"),
		mutate("a verified atom renamed and edited", "proposal t", func(s *story, d *draft) {
			d.ch["knowledge/terms/keel.md"], d.ch["knowledge/terms/kiel.md"] = nil, terms("kiel")["knowledge/terms/kiel.md"]
		}, put, "2 terms/keel.md:1", "2 terms/keel.md:1", "16 terms/keel.md:1", "2 terms/kiel.md:1"),
		// 2: what a machine writes.
		mutate("a file outside the run's paths", "result t", func(s *story, d *draft) { d.ch["README.md"] = []byte("# Mine\n") }, claimAndFinish, "2 README.md:1"),
		mutate("odd.toml in a proposal", "proposal t", func(s *story, d *draft) { d.ch["odd.toml"] = []byte("[governance]\nlease = \"off\"\n") }, put, "2 odd.toml:1", "2 odd.toml:1", "13 odd.toml:1"),
		mutate("a workflow in a result", "result t", func(s *story, d *draft) { d.ch[".github/workflows/x.yml"] = []byte("on: push\n") }, claimAndFinish, "2 .github/workflows/x.yml:1"),
		byMachine("CODEOWNERS by the agent", func(s *story, d *draft) { d.ch["CODEOWNERS"] = []byte("* @agent\n") }, "2 CODEOWNERS:1"),
		mutate("another task in a result", "result t", set(taskFile("shelf"), "---\n", "---\nattempts: 2\n"), claimAndFinish, "2 tasks/shelf.md:1"),
		mutate("the task's text in a claim", "claim t", set(taskFile("t"), "# T\n", "# U\n"), finishBlocked, "2 tasks/t.md:1"),
		mutate("commands in a claim", "claim t", set(taskFile("t"), "role:", "commands: [[rm, x]]\nrole:"), finishBlocked, "2 tasks/t.md:1"),
		mutate("a task taken away by a run", "result t", func(s *story, d *draft) { d.ch[taskFile("t")] = nil }, claimAndFinish, "2 tasks/t.md:1"),
		byMachine("a pause lifted by the agent", func(s *story, d *draft) {
			d.parents = []repo.OID{s.ann("pause", repo.Changes{"knowledge/pause.toml": []byte("reason = \"x\"\n")})}
			d.ch["knowledge/pause.toml"] = nil
		}, "2 pause.toml:1"),
		mutate("a pause rewritten by a run", "result t", func(s *story, d *draft) {
			d.ch["knowledge/pause.toml"] = []byte("reason = \"all is well\"\n")
		}, func(s *story) repo.OID {
			w := s.claim("t")
			s.ann("pause", repo.Changes{"knowledge/pause.toml": []byte("reason = \"x\"\n")})
			s.result(w, 0, nil)
			return ""
		}, "2 pause.toml:1"),
		byMachine("a merge that smuggles", func(s *story, d *draft) {
			side := s.make("side", "", draft{who: annMail, parents: d.parents, ch: repo.Changes{"docs/side.md": []byte("# S\n")}})
			d.parents = append(d.parents, side)
			d.ch["docs/side.md"], d.ch["docs/sly.md"] = []byte("# S\n"), []byte("# Sly\n")
		}, "2 docs/sly.md:1"),
		{name: "an atom that is a program", tell: addWithMode("100755", terms("keelson")[atKeelson]), want: []string{"2 terms/keelson.md:1"}},
		mutate("a task filed under another's id", "proposal t", func(s *story, d *draft) {
			d.ch[taskFile("other")] = []byte("---\ntype: task\nid: t\nstate: backlog\nconfidence: inferred\n---\n")
		}, put, "2 tasks/other.md:1", "2 tasks/other.md:1"),
		mutate("a person's name on a run's commit", "result t", func(s *story, d *draft) {
			d.who = bobMail
			d.ch["docs/sly.md"] = []byte("# Sly\n")
		}, claimAndFinish, "2 docs/sly.md:1"),
		// 3: who says done.
		byMachine("the agent approves", func(s *story, d *draft) {
			w := s.claim("t")
			s.result(w, 1_000, terms("keelson"))
			d.parents = []repo.OID{s.tip(), w.proposal}
			d.ch = terms("keelson")
			replaceIn(s, d, taskFile("t"), "state: review", "state: done")
			d.trailers = approval(w)
		}, "3 terms/keelson.md:1", "2 tasks/t.md:1", "3 tasks/t.md:5"),
		byPerson("a task skipped to done", set(taskFile("t"), "state: ready", "state: done"), "3 tasks/t.md:5"),
		byPerson("a task that begins as done", func(s *story, d *draft) { d.ch[taskFile("w")] = []byte("---\ntype: task\nid: w\nstate: done\n---\n") }, "3 tasks/w.md:4"),
		byMachine("the agent makes its task ready", set(taskFile("shelf"), "state: backlog", "state: ready"), "2 tasks/shelf.md:1", "3 tasks/shelf.md:4"),
		mutate("an approval of other bytes", "approve t", func(s *story, d *draft) {
			d.ch[atKeelson] = bytes.Replace(terms("keelson")[atKeelson], []byte("# The"), []byte("# A"), 1)
		}, func(s *story) repo.OID {
			w := s.claim("t")
			s.result(w, 1_000, terms("keelson"))
			return s.approve(w, false)
		}, "3 tasks/t.md:5"),
		mutate("an approval in another's name", "approve t", func(s *story, d *draft) { d.who = bobMail }, merged, "3 tasks/t.md:5"),
		{name: "a claim of what waits for another", tell: func(s *story) repo.OID {
			s.ann("wait", repo.Changes{taskFile("u"): bytes.Replace(s.file(taskFile("u")), []byte("role:"), []byte("dependencies: [t]\nrole:"), 1)})
			s.claim("u")
			return ""
		}, want: []string{"3 tasks/u.md:5"}},
		// 4: one at a time.
		{name: "two drains interleaved", tell: func(s *story) repo.OID {
			a, b := s.claim("t"), s.claim("u")
			s.result(a, 0, nil)
			s.result(b, 0, nil)
			return ""
		}, want: []string{"4 ledger/M/N1.jsonl:2"}},
		mutate("two claims in one hand", "claim t", func(s *story, d *draft) {
			w := &run{id: fmt.Sprintf("run-01KJ0000000000000000%06d", s.n), task: "u", file: ledgerIn(d)}
			s.record(w, d.ch, event.Record{Kind: event.Claim, Role: "editor", Reserved: 500_000, Data: eventtest.Data(event.Claim, map[string]any{"attempt": 1, "lease": s.currentLease()})})
		}, func(s *story) repo.OID { s.claim("t"); return "" }, "4 ledger/M/N1.jsonl:2", "5 ledger/M/N1.jsonl:2"),
		{name: "two claims of one task side by side", tell: func(s *story) repo.OID {
			base := s.tip()
			w := s.claim("t")
			s.claimTwice(w, base, false)
			s.result(w, 0, nil)
			return ""
		}, want: []string{"4 ledger/M/N1.jsonl:1", "4 ledger/M/N1.jsonl:1"}},
		{name: "a task claimed again", tell: func(s *story) repo.OID {
			s.result(s.claim("t"), 0, nil)
			s.ready("t")
			s.n--
			s.claim("t")
			return ""
		}, want: []string{"4 ledger/M/N1.jsonl:5"}},
		// 5: money.
		mutate("an overspend hidden", "result t", func(s *story, d *draft) {
			changeOutcome(s, d, func(r *event.Record) {
				if r.Kind == event.Outcome {
					r.Cost = 1
				}
			})
		}, claimAndFinish, "5 ledger/M/N1.jsonl:4"),
		mutate("too little reserved", "claim t", func(s *story, d *draft) { changeOutcome(s, d, func(r *event.Record) { r.Reserved = 1 }) }, func(s *story) repo.OID { s.claim("t"); return "" }, "5 ledger/M/N1.jsonl:1"),
		mutate("a claim without a record", "claim t", func(s *story, d *draft) {
			changeOutcome(s, d, func(r *event.Record) { r.Kind, r.Data = event.Refused, nil })
		}, func(s *story) repo.OID { s.claim("t"); return "" }, "5 tasks/t.md:5"),
		mutate("a claim of the future", "claim t", func(s *story, d *draft) {
			changeOutcome(s, d, func(r *event.Record) { r.TS = r.TS.Add(2 * time.Hour) })
		}, func(s *story) repo.OID { s.claim("t"); return "" }, "5 ledger/M/N1.jsonl:1"),
		mutate("a commit of the future", "result t", func(s *story, d *draft) { s.now = s.now.Add(48 * time.Hour) }, finishBlocked,
			"5 ledger/M/N1.jsonl:2", "5 ledger/M/N1.jsonl:3", "5 ledger/M/N1.jsonl:4"),
		mutate("a dead claim charged less", "sweep t", func(s *story, d *draft) { changeOutcome(s, d, func(r *event.Record) { r.Cost-- }) },
			func(s *story) repo.OID { s.sweep(s.claim("t"), 500_000); return "" }, "5 ledger/M/N2.jsonl:1"),
		// 6 and 7: what a persona rests on.
		{name: "the floor undercut", tell: func(s *story) repo.OID {
			s.ann("undercut", repo.Changes{"knowledge/processes/print.md": nil})
			return claimAndFinish(s)
		}, want: []string{"6 ledger/M/N1.jsonl:2"}},
		{name: "edges to nothing", tell: func(s *story) repo.OID {
			s.ann("undercut", repo.Changes{"knowledge/processes/print.md": []byte("---\ntype: process\ntitle: Print\nowner: editor\ngoverned_by: [house-style]\nuses: [gone, lost]\n---\n")})
			return claimAndFinish(s)
		}, want: []string{"6 ledger/M/N1.jsonl:2"}},
		{name: "an edge made up in a brief", tell: func(s *story) repo.OID {
			w := s.claim("t")
			s.keepBrief(w, func(b string) string { return strings.Replace(b, "owner roles/editor`", "owner roles/nobody`", 1) })
			s.result(w, 1_000, terms("keelson"))
			return ""
		}, want: []string{"7 ledger/M/N1.jsonl:2"}},
		mutate("an edge that is none", "proposal t", set(atKeelson, "status: draft\n", "status: draft\nowns: editor\n"), put, "2 terms/keelson.md:1", "7 terms/keelson.md:6"),
		// 8: slow memory.
		mutate("the lease edited by a drain", "claim t", set(leaseFile, "max_tasks = 20", "max_tasks = 900"), func(s *story) repo.OID { s.claim("t"); return "" }, "2 governance/lease.toml:1", "8 governance/lease.toml:1"),
		byPerson("the lease edited by hand", set(leaseFile, "max_tasks = 20", "max_tasks = 900"), "8 governance/lease.toml:1"),
		byPerson("leases turned off by hand", set("odd.toml", `lease = "required"`, `lease = "off"`), "8 odd.toml:1"),
		byPerson("a row of the gates edited", set(gatesFile, `"reason":"draft`, `"reason":"Draft`), "8 governance/gates.jsonl:1", "14 governance/gates.jsonl:1"),
		byPerson("a gate taken back", func(s *story, d *draft) {
			b := bytes.TrimSuffix(s.file(gatesFile), []byte("\n"))
			d.ch[gatesFile] = b[:bytes.LastIndexByte(b, '\n')+1]
		}, "8 governance/gates.jsonl:1", "14 governance/gates.jsonl:8"),
		byPerson("a principle by hand", func(s *story, d *draft) { replaceIn(s, d, "knowledge/canon/first.md", "As it was", "As I say") }, "8 canon/first.md:1"),
		mutate("a claim under another lease", "claim t", func(s *story, d *draft) { d.set("Odd-Lease", "L-9999") }, func(s *story) repo.OID { s.claim("t"); return "" }, "8 ledger/M/N1.jsonl:1"),
		{name: "a claim after the lease's end", tell: func(s *story) repo.OID {
			s.now = s.now.Add(30 * 24 * time.Hour)
			s.claim("t")
			return ""
		}, want: []string{"8 ledger/M/N1.jsonl:1"}},
		// 9: proposals.
		mutate("a machine that proposes as a person", "result t", func(s *story, d *draft) {
			d.ch[fmt.Sprintf("knowledge/proposals/run-01KJ0000000000000000%06d.jsonl", s.n)] = s.encodeProposal("P-9", gate.UserSignal)
		}, claimAndFinish, "9 proposals/N1.jsonl:1"),
		// 10, 11 and 12: sessions.
		mutate("a session of another role", "result t", func(s *story, d *draft) {
			changeOutcome(s, d, func(r *event.Record) {
				if r.Kind == event.Session {
					eventtest.Set(r, "contract", map[string]any{"role": "observer"})
				}
			})
		}, claimAndFinish, "10 ledger/M/N1.jsonl:2", "10 ledger/M/N1.jsonl:4"),
		mutate("a handoff of nobody", "result t", func(s *story, d *draft) {
			name := fmt.Sprintf("run-01kj0000000000000000%06d-1-x.md", s.n)
			d.ch["knowledge/handoffs/"+name] = fmt.Appendf(nil, "---\ntype: handoff\nrun: run-01KJ0000000000000000%06d\nconfidence: inferred\n---\n", s.n)
		}, claimAndFinish, "11 handoffs/N1-1-x.md:1"),
		mutate("the permit missing", "result t", dropRecords(event.Anchor), claimAndFinish, "12 ledger/M/N1.jsonl:2", "12 ledger/M/N1.jsonl:3"),
		mutate("the permit forged", "result t", changePermit(func(permit, _ map[string]any) { permit["allow"] = []any{"**"} }), claimAndFinish, "12 ledger/M/N1.jsonl:3"),
		// 13: changes.
		mutate("a change without an op", "proposal t", func(s *story, d *draft) { d.ch["docs/a.md"] = []byte("# A\n") }, put, "2 docs/a.md:1", "2 docs/a.md:1", "13 docs/a.md:1"),
		mutate("a change by an op of nobody", "proposal t", func(s *story, d *draft) { d.ch["docs/a.md"] = []byte("# A\n"); d.set("Odd-Op", "op-X") }, put, "2 docs/a.md:1", "13 docs/a.md:1"),
		{name: "a change outside the task's paths", tell: func(s *story) repo.OID {
			return ofFilesOn(s, "v", repo.Changes{"README.md": []byte("# Theirs\n")}, nil).proposal
		}, want: []string{"13 README.md:1", "13 README.md:1"}},
		{name: "a change of the code owners", tell: func(s *story) repo.OID {
			return ofFilesOn(s, "v", repo.Changes{"CODEOWNERS": []byte("* @agent\n")}, nil).proposal
		}, want: []string{"13 CODEOWNERS:1", "13 CODEOWNERS:1"}},
		{name: "a verdict lowered", tell: func(s *story) repo.OID {
			return ofFilesOn(s, "v", repo.Changes{"docs/b.md": []byte("# B\n")}, map[string]string{"findings": "9 hard, 9 soft"}).proposal
		}, want: []string{"13 docs/b.md:1"}},
		// 14: what only grows.
		byPerson("a ledger line edited", func(s *story, d *draft) {
			replaceIn(s, d, s.findFile("ledger", oldLedger), `"cost_micro_usd":100000`, `"cost_micro_usd":100`)
		}, "14 ledger/M/R1.jsonl:2"),
		byPerson("a ledger line removed", func(s *story, d *draft) {
			name := s.findFile("ledger", oldLedger)
			_, d.ch[name], _ = bytes.Cut(s.file(name), []byte("\n"))
		}, "14 ledger/M/R1.jsonl:1"),
		byPerson("a ledger file deleted", func(s *story, d *draft) { d.ch[s.findFile("ledger", "00000002.jsonl")] = nil }, "14 ledger/M/R2.jsonl:1"),
		{name: "a claim reverted while its session runs", tell: func(s *story) repo.OID {
			revertClaim(s, func(*run) {}, func(b []byte) []byte { return b })
			return ""
		}, want: []string{"14 ledger/M/N1.jsonl:1"}},
		byPerson("a ledger line added by hand", func(s *story, d *draft) {
			s.record(&run{id: strings.TrimSuffix(oldLedger, ".jsonl"), file: s.findFile("ledger", oldLedger)}, d.ch, event.Record{Kind: event.Refused})
		}, "14 ledger/M/R1.jsonl:4"),
		byPerson("the journal rewritten", func(s *story, d *draft) { replaceIn(s, d, s.findFile("journal", "01kj"), "done", "well done") }, "14 journal/R1.tsv:2"),
		byPerson("a journal entry inserted", func(s *story, d *draft) {
			name := s.findFile("journal", "01kj")
			head, rest, _ := bytes.Cut(s.file(name), []byte("\n"))
			d.ch[name] = append(append(bytes.Clone(head), "\nO\tObservation\t\t\t\t\tx\ty\n"...), rest...)
		}, "14 journal/R1.tsv:2"),
		mutate("a ledger where nobody looks", "claim t", inMonth("zzz"), func(s *story) repo.OID { s.claim("t"); return "" }, "14 ledger/zzz/N1.jsonl:1"),
		mutate("the trace swapped", "result t", func(s *story, d *draft) { d.set("Odd-Trace", strings.Repeat("0", 64)) }, finishBlocked, "14 ledger/M/N1.jsonl:4"),
		byPerson("proposals rewritten", func(s *story, d *draft) { replaceIn(s, d, "knowledge/proposals/ann.jsonl", "a sign", "a fine sign") }, "14 proposals/ann.jsonl:1"),
		// 15: ops.
		mutate("an op ended twice", "result u", func(s *story, d *draft) {
			rewrite(s, d, func(n int, r event.Record) []event.Record {
				if r.Kind == event.OpEnd {
					return []event.Record{r, r}
				}
				return []event.Record{r}
			})
		}, failTask, "15 ledger/M/N1.jsonl:11", "15 ledger/M/N1.jsonl:11"),
		mutate("an op never ended", "result u", func(s *story, d *draft) {
			rewrite(s, d, func(n int, r event.Record) []event.Record {
				if r.Kind == event.OpEnd {
					return nil
				}
				return []event.Record{r}
			})
		}, failTask, "15 ledger/M/N1.jsonl:9"),
		mutate("an op spelt otherwise", "result u", func(s *story, d *draft) {
			name := ledgerIn(d)
			d.ch[name] = bytes.ReplaceAll(d.ch[name], []byte(`"kind":"op`), []byte(`"kind": "op`))
		}, failTask, "14 ledger/M/N1.jsonl:5", "14 ledger/M/N1.jsonl:6", "14 ledger/M/N1.jsonl:7", "14 ledger/M/N1.jsonl:8", "14 ledger/M/N1.jsonl:9", "14 ledger/M/N1.jsonl:10"),
		// Who says that they are whom, what is no file, and what a merge hides.
		byPerson("a person's commit in the agent's hands", func(s *story, d *draft) { d.ch["docs/sly.md"], d.committer = []byte("# Sly\n"), agentMail }, "2 docs/sly.md:1"),
		byPerson("a person with a run's trailers", func(s *story, d *draft) {
			d.ch["docs/sly.md"], d.trailers = []byte("# Sly\n"), [][2]string{{"Odd-Run", "run-01KJ0000000000000000999999"}, {"Odd-Task", "t"}}
		}, "2 docs/sly.md:1", "2 docs/sly.md:1", "13 docs/sly.md:1"),
		byMachine("the agent with a person's trailers", func(s *story, d *draft) {
			d.ch["docs/sly.md"], d.trailers = []byte("# Sly\n"), [][2]string{{"Odd-Approved-By", "human:" + annMail}}
		}, "2 docs/sly.md:1"),
		byMachine("git's attributes by the agent", func(s *story, d *draft) { d.ch[".gitattributes"] = []byte("* -diff\n") }, "2 .gitattributes:1"),
		byMachine("odd.toml by the agent", func(s *story, d *draft) {
			replaceIn(s, d, "odd.toml", "[budget]", "[agent]\nemail = \"nobody@localhost\"\n[budget]")
			d.parents = []repo.OID{s.land(s.make("law", "", *d))}
			d.ch = terms("keelson")
		}, "2 odd.toml:1"),
		{name: "a link where an atom was", tell: addLink("120000", "../../odd.toml"), want: []string{"2 terms/keelson.md:1"}},
		{name: "another repository where an atom was", tell: addLink("160000", ""), want: []string{"2 terms/keelson.md:1"}},
		{name: "a merge of a person's that smuggles an agent's edit", tell: func(s *story) repo.OID {
			side := s.make("side", "", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{"docs/sly.md": []byte("# Sly\n")}})
			return s.land(s.make("merge", "", draft{who: annMail, parents: []repo.OID{s.tip(), side}, ch: repo.Changes{"docs/sly.md": []byte("# Sly\n")}}))
		}, want: []string{"2 docs/sly.md:1"}},
		mutate("another run's record in a result", "result t", func(s *story, d *draft) {
			name := ledgerIn(d)
			own := fmt.Appendf(nil, `"run":"run-01KJ0000000000000000%06d"`, s.n)
			at := bytes.LastIndex(d.ch[name], own)
			d.ch[name] = append(bytes.Clone(d.ch[name][:at]), bytes.Replace(d.ch[name][at:], own, []byte(`"run":"run-01KJ0000000000000000000001"`), 1)...)
		}, finishBlocked, "14 ledger/M/N1.jsonl:4"),
		mutate("another run's name on a result", "result t", func(s *story, d *draft) { d.set("Odd-Run", "run-01KJ0000000000000000000001") }, finishBlocked,
			"2 journal/N1.tsv:1", "2 journal/N1.tsv:1", "2 ledger/M/N1.jsonl:1", "14 ledger/M/N1.jsonl:2", "14 ledger/M/N1.jsonl:3", "14 ledger/M/N1.jsonl:4", "2 tasks/t.md:1", "3 tasks/t.md:5"),
	}
}

// addLink makes an agent's proposal whose tree names another thing than a file's bytes.
func addLink(mode, text string) func(*story) repo.OID {
	return func(s *story) repo.OID {
		w := s.claim("t")
		w.trace = event.Trace(s.file(w.file))
		oid := string(w.base)
		if mode == "120000" {
			oid = strings.TrimSpace(s.git(text, "hash-object", "-w", "--stdin"))
		}
		s.git("", "read-tree", string(w.base))
		s.git("", "update-index", "--add", "--cacheinfo", mode+","+oid+","+atKeelson)
		tree := repo.OID(strings.TrimSpace(s.git("", "write-tree")))
		return s.make("link", "", draft{who: agentMail, parents: []repo.OID{w.base}, tree: tree, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", "t"}, {"Odd-Trace", w.trace}}})
	}
}

// failTask is work whose op fails at the gate.
func failTask(s *story) repo.OID {
	w := s.claim("u")
	w.pipes = withOp(pipeline.Gate, pipeline.Limits{})
	s.result(w, 1, nil)
	return ""
}

// addWithMode makes an agent's proposal of one file of a mode that no proposal has: what git alone can make.
func addWithMode(mode string, b []byte) func(*story) repo.OID {
	return func(s *story) repo.OID {
		w := s.claim("t")
		w.trace = event.Trace(s.file(w.file))
		edit := repo.FileEdit{Path: atKeelson, After: b, NewMode: mode}
		msg := "propose\n\nOdd-Run: " + w.id + "\nOdd-Task: t\nOdd-Trace: " + w.trace + "\n"
		oid, err := s.r.MakeEdits(s.Context(), []repo.OID{w.base}, []repo.FileEdit{edit}, repo.Signature{Name: "odd", Email: agentMail, When: s.now}, msg)
		if err != nil {
			s.Fatal(err)
		}
		return oid
	}
}

// Every mutation is found from its own range, by exactly the rules it breaks, and nothing else is; the history before
// it is clean as a whole.
func TestMutations(t *testing.T) {
	t.Parallel()
	s := longStory(t)
	base := s.tip()
	if d := cmp.Diff([]string{}, listFindings(s.check("", base))); d != "" {
		t.Fatal(d)
	}
	all := mutations()
	if s.made < 300 || len(all) < 40 {
		t.Fatalf("%d mutations of a history of %d commits", len(all), s.made)
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			hooks := map[string]func(*story, *draft){}
			if c.at != "" {
				hooks[c.at] = c.do
			}
			f := s.forkStory(t, hooks)
			to := c.tell(f)
			if to == "" {
				to = f.tip()
			}
			if d := cmp.Diff(c.want, f.checkFork(base, to)); d != "" {
				r, _ := CheckScope(context.Background(), f.r, Scope{From: base, To: to})
				t.Errorf("%s\n%v", d, listFindings(r))
			}
			if *whole {
				if d := cmp.Diff(c.want, f.checkFork("", to)); d != "" {
					t.Errorf("from the whole history: %s", d)
				}
			}
		})
	}
}

// What a person may is no finding: a task is theirs to take away and to copy; that a file doubles an id is told by a
// check of the files.
func TestAPersonMay(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "team: docs\n")
	base := s.tip()
	for name, ch := range map[string]repo.Changes{
		"delete a task":        {taskFile("t"): nil},
		"file its id anew":     {taskFile("other"): s.file(taskFile("t"))},
		"change odd.toml":      {"odd.toml": []byte(lawWith(t, "[agent]\nemail = \"robo@example.org\"\n"))},
		"change the attribute": {".gitattributes": []byte("* -diff\n")},
	} {
		f := s.forkStory(t, nil)
		if d := cmp.Diff([]string{}, f.checkFork(base, f.ann(name, ch))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Who takes a ledger away is told of, and not whoever it told of: what they did stands in the commits in which it still
// lay.
func TestLedgersTakenAway(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWithFloor(t), nil)
	s.ann("foot", floorAtoms())
	s.tellAll()
	s.tellChanges()
	s.approve(ofFiles(s, docChange(), nil), false)
	s.add("m", "budget_usd: 0.10\n")
	w := s.claim("m")
	s.result(w, 1_000, terms("of-m"))
	s.approve(w, true)
	gone := repo.Changes{}
	for _, name := range s.listFiles("knowledge/ledger") {
		gone[name] = nil
	}
	s.ann("gone", gone)
	got := s.checkFork("", s.tip())
	if len(got) != len(gone) {
		t.Errorf("%d ledgers are gone, %d findings", len(gone), len(got))
	}
	for _, f := range got {
		if !strings.HasPrefix(f, "14 ledger/M/") || !strings.HasSuffix(f, ".jsonl:1") {
			t.Error(f)
		}
	}
}
