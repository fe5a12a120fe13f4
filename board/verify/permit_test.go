package verify

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
)

// bindAnchor binds the session of w at its claim, as a drain does under express.
func (s *story) bindAnchor(w *run) {
	s.Helper()
	const file = "knowledge/roles/editor.md"
	b := s.at(w.base, file)
	sum := fmt.Sprintf("%x", sha256.Sum256(b))
	facts := anchor.Facts{Head: string(w.base), Branch: "main"}
	arm := anchor.NewArm(facts, "", w.task, anchor.FocusTopic, sum)
	token := fmt.Sprintf("oa-%026d", s.n)
	if w.allow == nil {
		w.allow = []any{"knowledge/**"}
	}
	bound, now := s.now.Format(time.RFC3339), s.now.Format(time.RFC3339)
	if w.session == nil {
		w.session = map[string]any{}
	}
	w.session["outcome"] = "completed"
	w.session["anchor"] = map[string]any{"token": token, "sha256": strings.Repeat("a", 64), "mode": "express", "tier": "quick", "emission_at": now}
	w.permit = map[string]any{
		"token": token, "tier": "quick", "mode": "express", "generated_by": "server", "bound_at": bound, "released_at": now, "reason": "the session is over",
		"expires_at": s.now.Add(time.Hour).Format(time.RFC3339), "context_hash": arm.Hash, "payload_sha256": strings.Repeat("b", 64), "anchor_sha256": strings.Repeat("a", 64),
		"arm":          map[string]any{"head": string(w.base), "branch": "main", "focus": w.task, "focus_source": anchor.FocusTopic},
		"constitution": map[string]any{"path": file, "blob": okf.BlobID(b), "sha256": sum},
		"allow":        w.allow, "artifact": "knowledge/" + w.task + ".md", "gate": "odd check",
		"deny": []any{"odd.toml", "knowledge/governance/**", "knowledge/ledger/**", "knowledge/journal/**", "knowledge/proposals/**", "knowledge/pause.toml"},
	}
}

// boundTwice tells of two anchored sessions.
func boundTwice(s *story) repo.OID {
	s.anchored = true
	work(s, "t")
	s.add("u", "team: docs\n")
	work2(s, "u")
	return ""
}

func work2(s *story, task string) *run {
	s.Helper()
	w := s.claim(task)
	s.result(w, 1, terms("skeg"))
	return w
}

// changePermit changes the anchor record of a draft, and of its session what it says of it.
func changePermit(change func(permit, session map[string]any)) func(*story, *draft) {
	return func(s *story, d *draft) {
		changeOutcome(s, d, func(r *event.Record) {
			data := eventtest.Keys(*r)
			switch r.Kind {
			case event.Anchor:
				change(data, map[string]any{})
			case event.Session:
				of, _ := data["anchor"].(map[string]any)
				change(map[string]any{"arm": map[string]any{}, "constitution": map[string]any{}}, of)
			}
			r.Data = eventtest.Data(r.Kind, data)
		})
	}
}

// dropRecords takes records of a kind out of a draft's ledger, and numbers the rest anew.
func dropRecords(kind event.Kind) func(*story, *draft) {
	return func(s *story, d *draft) {
		name := ledgerIn(d)
		all, err := event.Read(d.ch[name])
		if err != nil {
			s.Fatal(err)
		}
		var b []byte
		for _, r := range all {
			if r.Kind == kind {
				continue
			}
			if r.Kind == event.Outcome {
				r.Trace = event.Trace(b)
				d.set("Odd-Trace", r.Trace)
			}
			if b, err = event.Append(b, r); err != nil {
				s.Fatal(err)
			}
		}
		d.ch[name] = b
	}
}

func onlyPermits(found []string) []string {
	out := []string{}
	for _, f := range found {
		if strings.HasPrefix(f, "12 ") {
			out = append(out, f)
		}
	}
	return out
}

func TestAnchoredRunsAreClean(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.add("t", "")
	work2(s, "t") // of before there were anchors
	s.anchored = true
	s.tellAll()
	s.add("part", "paths: [knowledge/terms/**]\n")
	w := s.claim("part")
	s.bindAnchor(w)
	r := s.check("", s.tip())
	if d := cmp.Diff([]string{}, onlyPermits(listFindings(r))); d != "" {
		t.Error(d)
	}
	for _, row := range r.Rows {
		if row.N == 12 && row.Checked < 10 {
			t.Errorf("it judged %d things", row.Checked)
		}
	}
}

func TestPermitsAreProven(t *testing.T) {
	t.Parallel()
	at := func(s *story, plus time.Duration) string { return s.now.Add(plus).Format(time.RFC3339) }
	for _, c := range []struct {
		name string
		law  string
		task string // more of task t
		do   func(*story, *draft)
		want []string
	}{
		{"the record is gone", "", "", dropRecords(event.Anchor), []string{
			"2 a session bound by oa-#, which its ledger has no permit for"}},
		{"two of one token", "", "", func(s *story, d *draft) {
			name := ledgerIn(d)
			all, _ := event.Read(d.ch[name])
			again := all[2]
			again.Seq = all[len(all)-1].Seq + 1
			b, err := event.Append(d.ch[name], again)
			if err != nil {
				s.Fatal(err)
			}
			d.ch[name] = b
		}, []string{"3 the anchor oa-# stands 2 times in its ledger; a permit is released once",
			"5 the anchor oa-# stands 2 times in its ledger; a permit is released once"}},
		{"a forged hash", "", "", changePermit(func(p, _ map[string]any) { p["anchor_sha256"] = strings.Repeat("f", 64) }),
			[]string{"2 a session bound by another anchor than its ledger holds: the hashes differ"}},
		{"another tier in the session", "", "", changePermit(func(_, o map[string]any) { o["tier"] = "deep" }),
			[]string{"2 a session of another mode or tier than its anchor's"}},
		{"another role", "", "", func(s *story, d *draft) {
			changeOutcome(s, d, func(r *event.Record) {
				if r.Kind == event.Anchor {
					r.Role = "publisher"
				}
			})
		}, []string{"3 an anchor as publisher under knowledge/roles/editor.md, which is not its constitution"}},
		{"another role's constitution", "", "", func(s *story, d *draft) {
			b := s.file("knowledge/roles/printer.md")
			sum := fmt.Sprintf("%x", sha256.Sum256(b))
			base, arm := s.tip(), anchor.Arm{}
			arm = anchor.NewArm(anchor.Facts{Head: string(base), Branch: "main"}, "", "t", anchor.FocusTopic, sum)
			changeOutcome(s, d, func(r *event.Record) {
				if r.Kind == event.Anchor {
					r.Role = "printer"
					eventtest.Set(r, "context_hash", arm.Hash)
					eventtest.Set(r, "constitution", map[string]any{"path": "knowledge/roles/printer.md", "blob": okf.BlobID(b), "sha256": sum})
				}
			})
		}, []string{"3 an anchor as printer; its claim is for the role editor"}},
		{"the hash of another blob", "", "", changePermit(func(p, _ map[string]any) {
			law, _ := p["constitution"].(map[string]any)
			law["blob"] = strings.Repeat("0", 40)
		}), []string{"3 an anchor under knowledge/roles/editor.md, which was another file at its claim"}},
		{"a constitution by another hash", "", "", changePermit(func(p, _ map[string]any) {
			law, _ := p["constitution"].(map[string]any)
			law["sha256"] = strings.Repeat("0", 64)
		}), []string{"3 an anchor whose context_hash is not that of its claim; it is #"}},
		{"another context hash", "", "", changePermit(func(p, _ map[string]any) { p["context_hash"] = "sha256:" + strings.Repeat("0", 64) }),
			[]string{"3 an anchor whose context_hash is not that of its claim; it is #"}},
		{"another commit", "", "", func(s *story, d *draft) {
			other := s.heads["main"]
			c, err := s.r.Commit(other)
			if err != nil {
				s.Fatal(err)
			}
			changePermit(func(p, _ map[string]any) {
				arm, _ := p["arm"].(map[string]any)
				arm["head"] = string(c.Parents[0])
			})(s, d)
		}, []string{"3 an anchor at #; its claim is #"}},
		{"wider paths", "", "paths: [knowledge/terms/**]\n", nil,
			[]string{"3 a permit for knowledge/**; its task and its role write knowledge/terms/**"}},
		{"no paths, and so all", "", "", changePermit(func(p, _ map[string]any) { p["allow"] = []any{} }),
			[]string{"3 a permit that names no path, and so every one", "4 proposes knowledge/terms/keel.md, which its permit does not cover: "}},
		{"a path outside", "", "paths: [knowledge/systems/**]\n", changePermit(func(p, _ map[string]any) { p["allow"] = []any{"knowledge/systems/**"} }),
			[]string{"4 proposes knowledge/terms/keel.md, which its permit does not cover: knowledge/systems/**"}},
		{"atoms beside a change", "", "paths: [docs/**]\n", changePermit(func(p, _ map[string]any) { p["allow"] = []any{"docs/**", "knowledge/**"} }), nil},
		{"atoms without its change", "", "paths: [docs/**]\n", nil,
			[]string{"3 a permit for knowledge/**; its task and its role write docs/**, knowledge/**"}},
		{"the ledger not denied", "", "", changePermit(func(p, _ map[string]any) {
			p["deny"] = []any{"odd.toml", "knowledge/governance/**"}
		}), []string{"3 a permit that does not deny knowledge/ledger/**"}},
		{"another mode than odd.toml's", "[anchor]\nmode = \"full\"\n", "", nil, []string{"3 an anchor of mode express; odd.toml asks for full"}},
		{"another tier than odd.toml's", "[anchor]\nstrictness = \"deep\"\n", "", nil, []string{"3 an anchor of tier quick; odd.toml asks for deep"}},
		{"the agent proved, under express", "", "", changePermit(func(p, _ map[string]any) { p["generated_by"] = "agent" }),
			[]string{"3 an anchor proven by agent; under express the server proves"}},
		{"a longer time than odd.toml's", "[anchor]\nttl = \"20m\"\n", "", nil, []string{"3 a permit for 1h0m0s; odd.toml gives 20m0s"}},
		{"expired before it landed", "", "", func(s *story, d *draft) {
			changePermit(func(p, o map[string]any) {
				p["bound_at"], p["expires_at"], p["released_at"], o["emission_at"] = at(s, -50*time.Minute), at(s, -5*time.Minute), at(s, -6*time.Minute), at(s, -6*time.Minute)
			})(s, d)
		}, []string{"4 proposes at 2026-03-02T09:05:00Z under a permit that ended at 2026-03-02T09:01:00Z"}},
		{"released before it was bound", "", "", func(s *story, d *draft) {
			changePermit(func(p, _ map[string]any) { p["released_at"] = at(s, -2*time.Hour) })(s, d)
		}, []string{"2 a session whose permit was released before it was read", "3 an anchor that was released before it was bound"}},
		{"read before it was bound", "", "", func(s *story, d *draft) {
			changePermit(func(_, o map[string]any) { o["emission_at"] = at(s, -2*time.Hour) })(s, d)
		}, []string{"2 a session that was read before it was bound"}},
		{"a moment that is none", "", "", changePermit(func(p, _ map[string]any) { p["bound_at"] = "yesterday" }),
			[]string{`3 an anchor whose bound_at is no moment: "yesterday"`}},
		{"the permit of another session", "", "", changePermit(func(_, o map[string]any) { o["token"] = "oa-other" }),
			[]string{"2 a session bound by oa-other, which its ledger has no permit for", "4 proposes under a permit that no session of it had"}},
		{"work that nobody is bound for", "[anchor]\nmode = \"untracked\"\n", "", func(s *story, d *draft) {
			dropRecords(event.Anchor)(s, d)
			changeOutcome(s, d, func(r *event.Record) { eventtest.Set(r, "anchor", nil) })
		}, []string{"3 proposes a file under [anchor] mode untracked, where nobody has a permit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			hooks := map[string]func(*story, *draft){}
			if c.do != nil {
				hooks["result t"] = c.do
			}
			s := begin(t, lawWith(t, c.law), hooks)
			s.ann("more", repo.Changes{"knowledge/roles/printer.md": []byte("---\ntype: role\ntitle: Printer\n---\n")})
			s.add("t", "team: docs\n"+c.task)
			s.anchored = true
			work(s, "t")
			want := []string{}
			for _, w := range c.want {
				want = append(want, "12 ledger/2026-03/R1.jsonl:"+w)
			}
			if d := cmp.Diff(want, onlyPermits(listFindings(s.check("", s.tip())))); d != "" {
				t.Error(d)
			}
		})
	}
}

// After the first anchored run there is no other, from wherever one looks.
func TestNoRunForgetsItsAnchor(t *testing.T) {
	t.Parallel()
	for _, from := range []bool{false, true} {
		s := begin(t, lawWith(t, ""), map[string]func(*story, *draft){"result u": func(s *story, d *draft) {
			dropRecords(event.Anchor)(s, d)
			changeOutcome(s, d, func(r *event.Record) { eventtest.Set(r, "anchor", nil) })
		}})
		s.add("t", "team: docs\n")
		edge := repo.OID("")
		boundTwice(s)
		if from {
			c, err := s.r.Commit(s.tip())
			if err != nil {
				t.Fatal(err)
			}
			edge = c.Parents[0]
		}
		want := []string{"12 ledger/2026-03/R2.jsonl:2 a session completed without a write permit", "12 ledger/2026-03/R2.jsonl:3 proposes a file without a permit"}
		if d := cmp.Diff(want, onlyPermits(listFindings(s.check(edge, s.tip())))); d != "" {
			t.Error(from, d)
		}
	}
}
