package verify

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
)

const (
	leaseFile = "knowledge/governance/lease.toml"
	gatesFile = "knowledge/governance/gates.jsonl"
	decisions = "knowledge/governance/decisions.jsonl"
)

// currentLease is the lease that the branch's odd.toml has work claimed under, "" where leases are off.
func (s *story) currentLease() string {
	s.Helper()
	law, err := config.Parse("odd.toml", s.file("odd.toml"))
	if err != nil || law.Lease == "off" {
		return ""
	}
	return s.readGate().Lease.ID
}

func (s *story) readGate() gate.File {
	s.Helper()
	f, err := gate.ParseLease(leaseFile, s.file(leaseFile))
	if err != nil {
		s.Fatal(err)
	}
	return f
}

// readBuffer reads the branch's proposals.
func (s *story) readBuffer() gate.Buffer {
	s.Helper()
	var b gate.Buffer
	for _, name := range s.listFiles("knowledge/proposals") {
		if err := b.ReadProposals(s.file(name)); err != nil {
			s.Fatal(err)
		}
	}
	return b
}

// ListFiles lists the branch's files below a folder.
func (s *story) listFiles(dir string) []string {
	s.Helper()
	tree, err := s.r.TreeOID(s.tip(), dir)
	if err != nil {
		return nil
	}
	all, err := s.r.Diff(s.Context(), "", tree)
	if err != nil {
		s.Fatal(err)
	}
	var out []string
	for _, ch := range all {
		out = append(out, path.Join(dir, ch.Path))
	}
	return out
}

// passGate passes a gate as Ann, with all that its commit holds.
func (s *story) passGate(step string, a gate.Act) repo.OID {
	s.Helper()
	buffer := s.readBuffer()
	a.By, a.Now, a.Drained = "human:"+annMail, s.now, 100
	out, err := gate.Do(gate.Slow{LeaseFile: s.file(leaseFile), Gates: s.file(gatesFile), Decisions: s.file(decisions), Buffer: buffer}, a)
	if err != nil {
		s.Fatalf("%s: %v", step, err)
	}
	ch := repo.Changes{}
	for name, b := range out.Files {
		ch["knowledge/"+name] = b
	}
	r := out.Row
	if to := map[string]string{"activate": "required", "release": "off"}[r.Act]; to != "" {
		if ch["odd.toml"], err = config.SetLease("odd.toml", s.file("odd.toml"), to); err != nil {
			s.Fatal(err)
		}
	}
	var b []byte
	for _, id := range r.Proposals {
		if b, err = buffer.AppendDisposition(b, gate.Disposition{ID: id, TS: r.TS, By: r.By, Decision: gate.Accepted, Act: r.ID}); err != nil {
			s.Fatal(err)
		}
	}
	if b != nil {
		ch["knowledge/proposals/"+strings.ToLower(r.ID)+".jsonl"] = b
	}
	if r.Gate == gate.Emergency {
		ch["knowledge/pause.toml"] = board.PauseFile(r.Reason, r.By, s.now)
		for _, name := range s.listFiles("knowledge/tasks") {
			id := strings.TrimSuffix(path.Base(name), ".md")
			t := s.task(id)
			if t.State != board.InProgress {
				continue
			}
			if ch[name], err = review.Halt(t, r.Reason, s.human(annMail)); err != nil {
				s.Fatal(err)
			}
		}
	}
	return s.land(s.make(step, "", draft{who: annMail, parents: []repo.OID{s.tip()}, ch: ch,
		trailers: [][2]string{{"Odd-Gate", string(r.Gate)}, {"Odd-Lease", r.Lease}, {"Odd-By", r.By}}}))
}

// activateLease passes the two gates to an active lease; change is what the draft says otherwise, and locks are its
// hash locks.
func (s *story) activateLease(change func(*gate.Lease), locks map[string]string) {
	s.Helper()
	l := gate.DraftOf(s.now, gate.Plan{}).Lease
	if change != nil {
		change(&l)
	}
	s.passGate("framing", gate.Act{Gate: gate.Framing, Kind: "draft", Lease: &l})
	s.passGate("commitment", gate.Act{Gate: gate.Commitment, Kind: "activate", Locks: locks})
}

// encodeProposal is a writer's file with one proposal.
func (s *story) encodeProposal(id string, source gate.Source) []byte {
	s.Helper()
	b, _, err := gate.Buffer{}.AppendAll(nil, []gate.Proposal{gate.Proposal{ID: id, TS: s.now, Source: source, Severity: gate.Low, Gate: gate.EvaluationGate, Reason: "a sign", Key: id}}, 1)
	if err != nil {
		s.Fatal(err)
	}
	return b
}

func newDecision(what string) *gate.Decision {
	return &gate.Decision{Decision: what, Rationale: []string{"it was wrong"}, Tradeoffs: "none", Confidence: "high"}
}

// tellGovernance passes every gate once, with work under the lease.
func (s *story) tellGovernance() {
	s.Helper()
	s.ann("principle", repo.Changes{"knowledge/canon/first.md": []byte("---\ntype: principle\ntitle: First\n---\n\nAs it was.\n")})
	s.activateLease(nil, nil)
	s.add("under", "")
	w := s.claim("under")
	w.also = repo.Changes{"knowledge/proposals/" + w.id + ".jsonl": s.encodeProposal("P-1", gate.TaskAgent)}
	s.result(w, 100, terms("under"))
	s.approve(w, false)
	s.passGate("assess", gate.Act{Gate: gate.EvaluationGate, Kind: "enter", Because: []string{"P-1"}})
	s.passGate("renew", gate.Act{Gate: gate.EvaluationGate, Kind: "renew", To: gate.Execution})
	s.ann("signal", repo.Changes{"knowledge/proposals/ann.jsonl": s.encodeProposal("P-2", gate.UserSignal)})
	b, err := s.readBuffer().AppendDisposition(nil, gate.Disposition{ID: "P-2", TS: s.now, By: "human:" + annMail, Decision: gate.Rejected, Reason: "no"})
	if err != nil {
		s.Fatal(err)
	}
	s.ann("reject", repo.Changes{"knowledge/proposals/ann-2.jsonl": b})
	s.add("halted", "")
	s.claim("halted")
	s.passGate("emergency", gate.Act{Gate: gate.Emergency, Kind: "suspend", Reason: "stop", Decision: newDecision("stop")})
	s.land(s.make("resume", "", draft{who: annMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{"knowledge/pause.toml": nil}, trailers: [][2]string{{"Odd-Resumed-By", "human:" + annMail}}}))
	s.passGate("release", gate.Act{Gate: gate.EvaluationGate, Kind: "release", Reason: "enough"})
	s.add("free", "budget_usd: 0.25\n")
	s.result(s.claim("free"), 1, nil)
}

// rewriteLease changes the lease of a gate's draft and updates its row to match.
func rewriteLease(s *story, d *draft, change func(*gate.File), row func(*gate.Row)) {
	s.Helper()
	c, err := gate.ReadChain(d.ch[gatesFile])
	if err != nil {
		s.Fatal(err)
	}
	f, err := gate.ParseLease(leaseFile, d.ch[leaseFile])
	if err != nil {
		s.Fatal(err)
	}
	if change != nil {
		change(&f)
		d.ch[leaseFile] = gate.PrintLease(f)
	}
	r, _ := c.End()
	r.LeaseSum = gate.Sum(d.ch[leaseFile])
	if row != nil {
		row(&r)
	}
	if d.ch[gatesFile], _, err = gate.Append(s.file(gatesFile), r); err != nil {
		s.Fatal(err)
	}
}

func activateAndClaim(s *story) repo.OID { s.activateLease(nil, nil); return "" }

// atWork commits to a lease and claims t under it.
func atWork(s *story) repo.OID { s.activateLease(nil, nil); return s.claim("t").base }

// byHand is a person's commit after a lease was committed to.
func byHand(change func(*story, *draft)) func(*story) repo.OID {
	return func(s *story) repo.OID {
		s.activateLease(nil, nil)
		d := draft{who: annMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{}}
		change(s, &d)
		return s.land(s.make("hand", "", d))
	}
}

func TestTheSlowMemoryIsProven(t *testing.T) {
	putBack := func(s *story) repo.OID { // what the second gate left, after a tamper
		s.activateLease(nil, nil)
		left := s.file(gatesFile)
		s.ann("tamper", repo.Changes{gatesFile: []byte("{}\n")})
		return s.ann("restore", repo.Changes{gatesFile: left})
	}
	const noGate = " governance/ was changed without a gate: the commit has no trailer Odd-Gate"
	runTampers(t, []tamper{
		{name: "honest", tell: activateAndClaim, want: []string{}},
		{name: "a gate passed by the agent", at: "commitment", tell: activateAndClaim,
			do: func(_ *story, d *draft) { d.who = agentMail },
			want: []string{"2 governance/gates.jsonl:1 the agent's commit belongs to no run: it has no trailer Odd-Run",
				"8 governance/gates.jsonl:1 a commit by odd or an agent writes governance/; only a person does, with odd gate",
				"8 governance/gates.jsonl:1 a commit by odd or an agent passes the commitment gate; only a person does",
				"2 governance/lease.toml:1 the agent's commit belongs to no run: it has no trailer Odd-Run",
				"8 governance/lease.toml:1 a commit by odd or an agent writes governance/; only a person does, with odd gate",
				"2 odd.toml:1 the agent's commit belongs to no run: it has no trailer Odd-Run"}},
		{name: "a drain that edits the lease", at: "claim t", tell: atWork,
			do: func(s *story, d *draft) { replaceIn(s, d, leaseFile, "max_tasks = 20", "max_tasks = 900") },
			want: []string{"2 governance/lease.toml:1 a run's board commit writes more than its task, journal, ledger, handoffs, proposals and pause.toml",
				"8 governance/lease.toml:1 a commit by odd or an agent writes governance/; only a person does, with odd gate"}},
		{name: "a row edited", tell: byHand(func(s *story, d *draft) { replaceIn(s, d, gatesFile, `"reason":"draft`, `"reason":"Draft`) }),
			want: []string{"8 governance/gates.jsonl:1" + noGate, "14 governance/gates.jsonl:1 is append-only, and old lines of it were changed"}},
		{name: "a row removed", tell: byHand(func(s *story, d *draft) {
			first, _, _ := strings.Cut(string(s.file(gatesFile)), "\n")
			d.ch[gatesFile] = []byte(first + "\n")
		}), want: []string{"8 governance/gates.jsonl:1" + noGate, "14 governance/gates.jsonl:2 is append-only, and old lines of it were changed"}},
		{name: "a forged link", at: "commitment", tell: activateAndClaim,
			do: func(s *story, d *draft) {
				c, _ := gate.ReadChain(d.ch[gatesFile])
				replaceIn(s, d, gatesFile, c.Rows[1].Prev, strings.Repeat("0", 64))
			},
			want: []string{"8 governance/gates.jsonl:2 line 2: G-0002: prev is not the SHA-256 of the line before; a row was changed: restore the file from git"}},
		{name: "a frame changed at commitment", at: "commitment", tell: activateAndClaim,
			do: func(s *story, d *draft) {
				rewriteLease(s, d, func(f *gate.File) { f.Lease.Frame = "Something else." }, nil)
			},
			want: []string{"8 governance/gates.jsonl:2 G-0002: activate at the commitment gate may not change lease.frame"}},
		{name: "another lease than its row says", at: "commitment", tell: activateAndClaim,
			do:   func(s *story, d *draft) { replaceIn(s, d, leaseFile, "max_tasks = 20", "max_tasks = 21") },
			want: []string{"8 governance/gates.jsonl:2 G-0002: activate at the commitment gate may not change lease.max_tasks", "8 governance/lease.toml:1 G-0002 left another lease.toml: its lease_sha256 is not the file's"}},
		{name: "a stance of its own", at: "assess",
			tell: func(s *story) repo.OID {
				s.activateLease(nil, nil)
				return s.passGate("assess", gate.Act{Gate: gate.EvaluationGate, Kind: "enter"})
			},
			do: func(s *story, d *draft) {
				rewriteLease(s, d, func(f *gate.File) { f.Stance = gate.Execution }, nil)
			},
			want: []string{"8 governance/gates.jsonl:3 G-0003: the evaluation gate does not lead from execution to \"execution\""}},
		{name: "a lease edited by hand", tell: byHand(func(s *story, d *draft) { replaceIn(s, d, leaseFile, "max_tasks = 20", "max_tasks = 900") }),
			want: []string{"8 governance/lease.toml:1" + noGate}},
		{name: "a gate behind a lease that is gone", tell: func(s *story) repo.OID {
			s.activateLease(nil, nil)
			start := s.tip()
			s.passGate("assess", gate.Act{Gate: gate.EvaluationGate, Kind: "enter"})
			ch := repo.Changes{gatesFile: s.file(gatesFile), leaseFile: s.file(leaseFile)}
			s.land(start)
			s.ann("take", repo.Changes{leaseFile: nil})
			return s.land(s.make("again", "", draft{who: annMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Gate", string(gate.EvaluationGate)}, {"Odd-Lease", "L-0001"}, {"Odd-By", "human:" + annMail}}}))
		}, want: []string{"8 governance/lease.toml:1" + noGate, "8 governance/gates.jsonl:1 a gate is passed over governance/gates.jsonl, which is not whole: lease.toml is missing, and the gates say that L-0001 is active"}},
		{name: "a tampered row put back", tell: func(s *story) repo.OID {
			s.activateLease(nil, nil)
			s.ann("alarm", repo.Changes{"knowledge/proposals/ann.jsonl": s.encodeProposal("P-1", gate.UserSignal)})
			good := s.file(gatesFile)
			s.ann("tamper", repo.Changes{gatesFile: []byte("{}\n")})
			return s.ann("restore", repo.Changes{gatesFile: good})
		}, want: []string{"8 governance/gates.jsonl:1" + noGate, "14 governance/gates.jsonl:1 is append-only, and old lines of it were changed"}},
		{name: "a gate by the agent, put back", at: "commitment", tell: putBack, do: func(_ *story, d *draft) { d.who = agentMail },
			want: []string{"2 governance/gates.jsonl:1 the agent's commit belongs to no run: it has no trailer Odd-Run",
				"8 governance/gates.jsonl:1 a commit by odd or an agent writes governance/; only a person does, with odd gate",
				"8 governance/gates.jsonl:1 a commit by odd or an agent passes the commitment gate; only a person does",
				"2 governance/lease.toml:1 the agent's commit belongs to no run: it has no trailer Odd-Run",
				"8 governance/lease.toml:1 a commit by odd or an agent writes governance/; only a person does, with odd gate",
				"2 odd.toml:1 the agent's commit belongs to no run: it has no trailer Odd-Run",
				"8 governance/gates.jsonl:1" + noGate, "14 governance/gates.jsonl:1 is append-only, and old lines of it were changed",
				"8 governance/gates.jsonl:1" + noGate, "14 governance/gates.jsonl:1 is append-only, and old lines of it were changed"}},
		{name: "a forged link put back", at: "commitment", tell: putBack,
			do: func(s *story, d *draft) {
				c, _ := gate.ReadChain(d.ch[gatesFile])
				replaceIn(s, d, gatesFile, c.Rows[1].Prev, strings.Repeat("0", 64))
			}, want: []string{"8 governance/gates.jsonl:2 line 2: G-0002: prev is not the SHA-256 of the line before; a row was changed: restore the file from git",
				"8 governance/gates.jsonl:1" + noGate, "14 governance/gates.jsonl:1 is append-only, and old lines of it were changed",
				"8 governance/gates.jsonl:1" + noGate, "14 governance/gates.jsonl:1 is append-only, and old lines of it were changed"}},
		{name: "an emergency undone", tell: func(s *story) repo.OID {
			s.activateLease(nil, nil)
			gates, lease := s.file(gatesFile), s.file(leaseFile)
			s.passGate("emergency", gate.Act{Gate: gate.Emergency, Kind: "suspend", Reason: "stop", Decision: newDecision("stop")})
			return s.ann("back", repo.Changes{gatesFile: gates, leaseFile: lease, decisions: nil})
		}, want: []string{"8 governance/decisions.jsonl:1" + noGate, "14 governance/decisions.jsonl:1 is append-only and was deleted",
			"8 governance/gates.jsonl:1" + noGate, "14 governance/gates.jsonl:3 is append-only, and old lines of it were changed", "8 governance/lease.toml:1" + noGate}},
		{name: "a decision by hand", tell: byHand(func(s *story, d *draft) { d.ch[decisions] = []byte("{}\n") }),
			want: []string{"8 governance/decisions.jsonl:1" + noGate}},
		{name: "leases turned off by hand", tell: byHand(func(s *story, d *draft) { replaceIn(s, d, "odd.toml", `lease = "required"`, `lease = "off"`) }),
			want: []string{"8 odd.toml:1 [governance] lease was changed from required to off without a gate"}},
		{name: "leases turned on by hand", tell: func(s *story) repo.OID {
			d := draft{who: annMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{}}
			replaceIn(s, &d, "odd.toml", `lease = "off"`, `lease = "required"`)
			return s.land(s.make("hand", "", d))
		}, want: []string{}},
		{name: "more of odd.toml than its lease", at: "commitment", tell: activateAndClaim,
			do:   func(s *story, d *draft) { replaceIn(s, d, "odd.toml", `max_usd = "0.50"`, `max_usd = "0.60"`) },
			want: []string{"8 odd.toml:1 G-0002 changes more of odd.toml than [governance] lease"}},
		{name: "a principle by hand", tell: byHand(func(s *story, d *draft) {
			d.ch["knowledge/canon/first.md"] = []byte("---\ntype: Principle\ntitle: First\n---\n")
		}), want: []string{"8 canon/first.md:1 a principle was changed without odd gate evaluation: the commit has no trailer Odd-Gate"}},
		{name: "canon that is no principle at an evaluation", at: "assess",
			tell: func(s *story) repo.OID {
				s.activateLease(nil, nil)
				return s.passGate("assess", gate.Act{Gate: gate.EvaluationGate, Kind: "enter"})
			},
			do: func(s *story, d *draft) {
				replaceIn(s, d, "knowledge/canon/truth.md", "Truth", "Lies")
				d.ch["knowledge/canon/first.md"] = []byte("---\ntype: principle\ntitle: First\n---\n")
			},
			want: []string{"8 canon/truth.md:1 G-0003 changes canon that is no principle"}},
		{name: "a gate that does more", at: "commitment", tell: activateAndClaim,
			do:   func(_ *story, d *draft) { d.ch["README.md"] = []byte("# Mine\n") },
			want: []string{"8 governance/gates.jsonl:2 G-0002: /README.md is nothing a gate writes"}},
		{name: "a gate in another's name", at: "commitment", tell: activateAndClaim,
			do:   func(_ *story, d *draft) { d.who = bobMail },
			want: []string{"8 governance/gates.jsonl:2 G-0002 is by human:ann@example.org, in a commit by bob@example.org"}},
		{name: "a gate that says another", at: "commitment", tell: activateAndClaim,
			do: func(_ *story, d *draft) { d.set("Odd-Gate", "framing"); d.set("Odd-Lease", "") },
			want: []string{"8 governance/gates.jsonl:2 G-0002 says commitment, the commit's Odd-Gate says framing",
				"8 governance/gates.jsonl:2 G-0002 says L-0001, the commit's Odd-Lease is missing"}},
		{name: "a gate long ago", at: "commitment", tell: activateAndClaim,
			do:   func(s *story, d *draft) { s.now = s.now.Add(2 * time.Hour) },
			want: []string{"8 governance/gates.jsonl:2 G-0002 is dated 2026-03-02T09:03:00Z in a commit of 2026-03-02T11:04:00Z"}},
		{name: "a gate without a row", at: "commitment", tell: activateAndClaim,
			do:   func(s *story, d *draft) { delete(d.ch, gatesFile) },
			want: []string{"8 governance/gates.jsonl:2 the commit of a gate adds 0 rows, want one"}},
		{name: "an emergency that moves other tasks", at: "emergency",
			tell: func(s *story) repo.OID {
				s.activateLease(nil, nil)
				return s.passGate("emergency", gate.Act{Gate: gate.Emergency, Kind: "suspend", Reason: "stop", Decision: newDecision("stop")})
			},
			do: func(s *story, d *draft) {
				replaceIn(s, d, taskFile("t"), "state: ready", "state: blocked\nblocked_reason: no")
			},
			want: []string{"8 tasks/t.md:1 G-0003 moves a task otherwise than from in_progress to blocked"}},
	})
}

func TestLeasesAreProven(t *testing.T) {
	outcome := "8 ledger/2026-03/R1.jsonl:3 a result that goes to review under L-0001, which was not valid any more: "
	claim := "8 ledger/2026-03/R1.jsonl:1 a claim "
	later := func(n time.Duration) func(*story) { return func(s *story) { s.now = s.now.Add(n) } }
	under := func(change func(*gate.Lease), then func(*story)) func(*story) repo.OID {
		return func(s *story) repo.OID {
			s.activateLease(change, nil)
			if then != nil {
				then(s)
			}
			work(s, "t")
			return ""
		}
	}
	runTampers(t, []tamper{
		{name: "honest", tell: under(nil, nil), want: []string{}},
		{name: "past its end", tell: func(s *story) repo.OID { s.activateLease(nil, nil); later(80 * time.Hour)(s); return s.claim("t").base },
			want: []string{claim + "under L-0001, which was not valid: L-0001 ended at 2026-03-05T09:02:00Z"}},
		{name: "without one", at: "claim t", tell: atWork,
			do: func(s *story, d *draft) {
				changeOutcome(s, d, func(r *event.Record) { eventtest.Set(r, "lease", nil) })
				d.set("Odd-Lease", "")
			},
			want: []string{claim + "without a lease, where odd.toml requires one"}},
		{name: "another one", at: "claim t", tell: atWork,
			do: func(s *story, d *draft) {
				changeOutcome(s, d, func(r *event.Record) { eventtest.Set(r, "lease", "L-0009") })
				d.set("Odd-Lease", "L-0009")
			},
			want: []string{claim + "under L-0009, which was not valid: the lease was L-0001"}},
		{name: "another than its commit says", at: "claim t", tell: atWork,
			do:   func(_ *story, d *draft) { d.set("Odd-Lease", "L-0009") },
			want: []string{"8 ledger/2026-03/R1.jsonl:1 the claim of t names L-0001, and its commit says Odd-Lease L-0009"}},
		{name: "a task outside", tell: under(func(l *gate.Lease) { l.Scope.Tasks = []string{"other"} }, nil),
			want: []string{claim + "outside the scope of L-0001: task t is not among the lease's: other"}},
		{name: "a task by its path", tell: under(func(l *gate.Lease) { l.Scope.Tasks = []string{"tasks/t.md"} }, nil), want: []string{}},
		{name: "a kind the stance has not", tell: func(s *story) repo.OID {
			s.add("look", "kind: research\n")
			s.activateLease(nil, nil)
			return s.claim("look").base
		}, want: []string{claim + "of kind research in execution, where only implement, produce, extract, document, fix, change are drained"}},
		{name: "a kind outside", tell: under(func(l *gate.Lease) { l.Scope.Kinds = []string{"extract"} }, nil),
			want: []string{claim + "outside the scope of L-0001: kind implement is not among the lease's: extract"}},
		{name: "a task changed behind its lock", tell: func(s *story) repo.OID {
			s.activateLease(nil, map[string]string{"t": gate.WorkOrder(s.file(taskFile("t")))})
			s.ann("edit", repo.Changes{taskFile("t"): []byte(strings.Replace(string(s.file(taskFile("t"))), "T t", "T other", 1))})
			return s.claim("t").base
		}, want: []string{claim + "of a task whose file is #, L-0001 locked #"}},
		{name: "one task too many", tell: func(s *story) repo.OID {
			s.add("second", "")
			s.activateLease(func(l *gate.Lease) { l.MaxTasks = 1 }, nil)
			work(s, "t")
			return s.claim("second").base
		}, want: []string{"8 ledger/2026-03/R2.jsonl:1 a claim under L-0001, which was not valid: 1 of 1 tasks of L-0001 are used"}},
		{name: "a budget spent", tell: func(s *story) repo.OID {
			s.add("second", "")
			s.activateLease(func(l *gate.Lease) { l.Budget = 100_000 }, nil)
			work(s, "t")
			return s.claim("second").base
		}, want: []string{"8 ledger/2026-03/R2.jsonl:1 a claim under L-0001, which was not valid: 0.10 of 0.10 USD of L-0001 are spent"}},
		{name: "past its milestone", tell: func(s *story) repo.OID {
			s.activateLease(func(l *gate.Lease) { l.Milestone = []string{"earlier"} }, nil)
			return s.claim("t").base
		}, want: []string{claim + "under L-0001, which was not valid: every task of the milestone of L-0001 is done"}},
		{name: "an emergency open", tell: func(s *story) repo.OID {
			s.activateLease(nil, nil)
			b := strings.Replace(string(s.encodeProposal("P-9", gate.UserSignal)), `"low"`, `"emergency"`, 1)
			s.ann("alarm", repo.Changes{"knowledge/proposals/ann.jsonl": []byte(b)})
			return s.claim("t").base
		}, want: []string{claim + "under L-0001, which was not valid: an emergency is reported and not answered (proposal P-9)"}},
		{name: "a review after its end", tell: func(s *story) repo.OID {
			s.activateLease(nil, nil)
			w := s.claim("t")
			later(80 * time.Hour)(s)
			s.result(w, 1, terms("keel"))
			return ""
		}, want: []string{outcome + "L-0001 ended at 2026-03-05T09:02:00Z"}},
		{name: "blocked after its end", tell: func(s *story) repo.OID {
			s.activateLease(nil, nil)
			w := s.claim("t")
			later(80 * time.Hour)(s)
			s.result(w, 1, nil)
			return ""
		}, want: []string{}},
		{name: "the last of its tasks", tell: under(func(l *gate.Lease) { l.MaxTasks = 1 }, nil), want: []string{}},
		{name: "a review after an evaluation", tell: func(s *story) repo.OID {
			s.activateLease(nil, nil)
			w := s.claim("t")
			s.passGate("expire", gate.Act{Gate: gate.EvaluationGate, Kind: "expire", Reason: "over"})
			s.result(w, 1, terms("keel"))
			return ""
		}, want: []string{outcome + "L-0001 was ended at an evaluation gate"}},
	})
}

func TestProposalsAreProven(t *testing.T) {
	run := "knowledge/proposals/run-01KJ0000000000000000000001.jsonl"
	settle := func(s *story, d gate.Disposition) []byte {
		s.Helper()
		d.TS = s.now
		if d.By == "" {
			d.By = "human:" + annMail
		}
		var b gate.Buffer
		if err := b.ReadProposals(s.encodeProposal(d.ID, gate.UserSignal)); err != nil {
			s.Fatal(err)
		}
		out, err := b.AppendDisposition(nil, d)
		if err != nil {
			s.Fatal(err)
		}
		return out
	}
	signal := func(s *story) {
		s.ann("signal", repo.Changes{"knowledge/proposals/ann.jsonl": s.encodeProposal("P-1", gate.UserSignal)})
	}
	said := func(d gate.Disposition) func(*story) repo.OID {
		return func(s *story) repo.OID {
			signal(s)
			return s.ann("say", repo.Changes{"knowledge/proposals/ann-2.jsonl": settle(s, d)})
		}
	}
	runTampers(t, []tamper{
		{name: "rejected", tell: said(gate.Disposition{ID: "P-1", Decision: gate.Rejected, Reason: "no"}), want: []string{}},
		{name: "a machine settles one", at: "result t", tell: func(s *story) repo.OID { signal(s); work(s, "t"); return "" },
			do: func(s *story, d *draft) {
				d.ch[run] = settle(s, gate.Disposition{ID: "P-1", Decision: gate.Rejected, Reason: "no"})
			},
			want: []string{"9 proposals/R1.jsonl:1 a commit by odd or an agent says that P-1 is rejected; only a person does"}},
		{name: "accepted at no gate", tell: said(gate.Disposition{ID: "P-1", Decision: gate.Accepted, Act: "G-0001"}),
			want: []string{"9 proposals/ann-2.jsonl:1 P-1 is accepted at G-0001, which is no row of the gates"}},
		{name: "settled for another", tell: said(gate.Disposition{ID: "P-1", Decision: gate.Rejected, Reason: "no", By: "human:" + bobMail}),
			want: []string{"9 proposals/ann-2.jsonl:1 P-1 is rejected by human:bob@example.org, in a commit by ann@example.org"}},
		{name: "settled and never proposed", tell: said(gate.Disposition{ID: "P-2", Decision: gate.Rejected, Reason: "no"}),
			want: []string{"9 proposals/ann-2.jsonl:1 P-2 is rejected, and nobody proposed it"}},
		{name: "another run's file", at: "result t", tell: func(s *story) repo.OID { s.n = 1; work(s, "t"); return "" },
			do: func(s *story, d *draft) { d.ch[run] = s.encodeProposal("P-1", gate.TaskAgent) },
			want: []string{"2 proposals/R1.jsonl:1 a run's board commit writes more than its task, journal, ledger, handoffs, proposals and pause.toml",
				"9 proposals/R1.jsonl:1 the proposals of R1 are written by another commit than its own"}},
		{name: "a run's file by hand", tell: func(s *story) repo.OID {
			return s.ann("say", repo.Changes{run: s.encodeProposal("P-1", gate.UserSignal)})
		},
			want: []string{"9 proposals/R1.jsonl:1 the proposals of R1 are written by another commit than its own"}},
		{name: "a file rewritten", tell: func(s *story) repo.OID {
			signal(s)
			return s.ann("say", repo.Changes{"knowledge/proposals/ann.jsonl": s.encodeProposal("P-2", gate.UserSignal)})
		}, want: []string{"14 proposals/ann.jsonl:1 is append-only, and old lines of it were changed"}},
		{name: "a machine as a person", at: "result t",
			do:   func(s *story, d *draft) { d.ch[run] = s.encodeProposal("P-1", gate.UserSignal) },
			want: []string{"9 proposals/R1.jsonl:1 a commit by odd or an agent proposes P-1 as a person"}},
		{name: "a person as an agent", tell: func(s *story) repo.OID {
			return s.ann("say", repo.Changes{"knowledge/proposals/ann.jsonl": s.encodeProposal("P-1", gate.TaskAgent)})
		}, want: []string{"9 proposals/ann.jsonl:1 a person's commit proposes P-1 as an agent"}},
		{name: "a source that is none", tell: func(s *story) repo.OID {
			b := strings.Replace(string(s.encodeProposal("P-1", gate.UserSignal)), "user_signal", "commitment_expiry", 1)
			return s.ann("say", repo.Changes{"knowledge/proposals/ann.jsonl": []byte(b)})
		}, want: []string{`9 proposals/ann.jsonl:1 unknown source "commitment_expiry"; want one of user_signal, decay_manager, perception, continuous_eval, task_agent`}},
		{name: "a gate that answers nobody", at: "commitment", tell: activateAndClaim,
			do: func(s *story, d *draft) {
				rewriteLease(s, d, nil, func(r *gate.Row) { r.Proposals = []string{"P-7"} })
			},
			want: []string{"9 governance/gates.jsonl:2 G-0002 answers P-7, which nobody had proposed"}},
		{name: "a gate that answers what was settled", at: "commitment",
			tell: func(s *story) repo.OID {
				said(gate.Disposition{ID: "P-1", Decision: gate.Rejected, Reason: "no"})(s)
				return activateAndClaim(s)
			},
			do: func(s *story, d *draft) {
				rewriteLease(s, d, nil, func(r *gate.Row) { r.Proposals = []string{"P-1"} })
			},
			want: []string{"9 governance/gates.jsonl:2 G-0002 answers P-1, which was rejected already"}},
		{name: "proposals in a commit of their own", tell: func(s *story) repo.OID {
			w := s.newRun("")
			b := s.encodeProposal("P-1", gate.DecayManager)
			return s.land(s.make("decay", "", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{"knowledge/proposals/" + w.id + ".jsonl": b}, trailers: [][2]string{{"Odd-Run", w.id}}}))
		}, want: []string{}},
	})
}

// While leases are required, a merge keeps the setting that git merges from both sides.
func TestMergesKeepTheLease(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	base := s.tip()
	s.activateLease(nil, nil)
	side := s.make("side", "", draft{who: bobMail, parents: []repo.OID{base}, ch: repo.Changes{"README.md": []byte("# Side\n")}})
	stale, err := s.r.TreeOID(side, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		parents []repo.OID
		tree    repo.OID
		want    []string
	}{
		"theirs into ours": {[]repo.OID{s.tip(), side}, "", []string{}},
		"ours into theirs": {[]repo.OID{side, s.tip()}, "", []string{}},
		"the stale side": {[]repo.OID{s.tip(), side}, stale, []string{
			"14 governance/gates.jsonl:1 is append-only and was deleted", "8 odd.toml:1 [governance] lease was changed from required to off without a gate"}},
	} {
		tree := c.tree
		if tree == "" {
			var err error
			if tree, _, err = s.r.MergeTree(t.Context(), s.tip(), side); err != nil {
				t.Fatal(err)
			}
		}
		to := s.make("merge", "", draft{who: bobMail, parents: c.parents, tree: tree})
		if d := cmp.Diff(c.want, listFindings(s.check("", to))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// The root of another line brings in no lease and no gates, although a merge changes nothing against all of its parents
// there.
func TestNoHistoryBeginsWithGovernance(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	base := s.tip()
	s.activateLease(nil, nil)
	ch := repo.Changes{}
	for _, name := range []string{gatesFile, leaseFile} {
		ch[name] = s.file(name)
	}
	root := s.make("root", "", draft{who: annMail, ch: ch})
	tree, err := s.r.TreeOID(s.make("stage", "", draft{who: annMail, parents: []repo.OID{base}, ch: ch}), "")
	if err != nil {
		t.Fatal(err)
	}
	to := s.make("merge", "", draft{who: annMail, parents: []repo.OID{base, root}, tree: tree})
	const why = ":1 the first commit has files in governance/, so nobody can check who passed their gates"
	if d := cmp.Diff([]string{"8 governance/gates.jsonl" + why, "8 governance/lease.toml" + why}, listFindings(s.check("", to))); d != "" {
		t.Error(d)
	}
}

// Without a file of signers, any signature on a decision counts.
func TestDecisionsAreSigned(t *testing.T) {
	t.Parallel()
	signed := func(s *story, to repo.OID, want ...string) {
		s.Helper()
		for i := range want {
			want[i] = strings.Replace(want[i], "…", " by ann@example.org is not signed, and odd.toml requires it", 1)
		}
		if d := cmp.Diff(want, listFindings(s.check("", to))); d != "" {
			s.Error(d)
		}
	}
	s := begin(t, lawWith(t, "require_signed = true\n"), nil)
	s.add("t", "")
	s.ann("edit", repo.Changes{"README.md": []byte("# More\n")})
	s.approve(work(s, "t"), false)
	s.activateLease(nil, nil)
	s.pause()
	s.ann("signal", repo.Changes{"knowledge/proposals/ann.jsonl": s.encodeProposal("P-1", gate.UserSignal)})
	signed(s, s.tip(), "3 tasks/t.md:1 a task made ready…", "3 index.md:1 an approval…", "8 governance/gates.jsonl:1 a gate passed…",
		"8 governance/gates.jsonl:1 a gate passed…", "3 pause.toml:1 a resumption…", "3 proposals/ann.jsonl:1 a word on proposals…")

	s = begin(t, lawWith(t, "require_signed = true\n"+team), nil)
	s.tellForge(s.mergeButton)
	signed(s, s.tip(), "3 tasks/t.md:1 a task made ready…", "3 knowledge:1 an approval…",
		"3 tasks/t.md:5 set to done by odd sync on the approval #, which is not signed, and odd.toml requires it")

	s = begin(t, lawWith(t, "require_signed = true\nallowed_signers = \"signers\"\n"), nil)
	s.ann("law", repo.Changes{"odd.toml": []byte(lawWith(t, ""))})
	signed(s, s.tip(), "3 odd.toml:1 a change of odd.toml by ann@example.org has signers to be signed by, which is not there")
}
