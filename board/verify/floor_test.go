package verify

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
)

func TestOneDrainIsProven(t *testing.T) {
	pair := func(s *story) (a, b *run) {
		s.add("u", "")
		return s.claim("t"), s.claim("u")
	}
	late := "4 ledger/2026-03/R1.jsonl:2 R1 goes on after R2 claimed in #; two drains ran at once"
	runTampers(t, []tamper{
		{name: "two drains interleaved", tell: func(s *story) repo.OID {
			a, b := pair(s)
			s.result(a, 0, nil)
			s.result(b, 0, nil)
			return ""
		}, want: []string{late}},
		{name: "interleaved behind an approval", tell: func(s *story) repo.OID {
			s.add("v", "")
			waits := s.claim("v")
			s.result(waits, 0, terms("keel"))
			s.add("u", "")
			a := s.claim("t")
			b := s.claim("u")
			s.approve(waits, false)
			s.result(a, 0, nil)
			s.result(b, 0, nil)
			return ""
		}, want: []string{strings.ReplaceAll(strings.ReplaceAll(late, "R2", "R3"), "R1", "R2")}},
		{name: "one after the other", tell: func(s *story) repo.OID {
			s.add("u", "")
			s.result(s.claim("t"), 0, nil)
			s.result(s.claim("u"), 0, nil)
			return ""
		}, want: []string{}},
		{name: "a drain died, and the next went on", tell: func(s *story) repo.OID {
			_, b := pair(s)
			s.result(b, 0, nil)
			return ""
		}, want: []string{}},
		{name: "two claims at once", at: "claim t", tell: func(s *story) repo.OID { s.add("u", ""); s.claim("t"); return "" },
			do: func(s *story, d *draft) {
				w := &run{id: "run-01KJ0000000000000000000001", task: "u", file: ledgerIn(d)}
				s.record(w, d.ch, event.Record{Kind: event.Claim, Role: "editor", Reserved: 500_000, Data: eventtest.Data(event.Claim, map[string]any{"attempt": 1})})
			},
			want: []string{"4 ledger/2026-03/R1.jsonl:2 R1 claims u while it holds t",
				"5 ledger/2026-03/R1.jsonl:2 claims u, which its commit does not put in progress"}},
	})
}

// lawWithFloor is law with a floor that a role of one process and one policy meets.
func lawWithFloor(t testing.TB) string {
	return strings.NewReplacer("atoms = 0", "atoms = 2", "processes = 0", "processes = 1", "guides = 0", "guides = 1").Replace(lawWith(t, ""))
}

func floorAtoms() repo.Changes {
	return repo.Changes{
		"knowledge/processes/print.md":      []byte("---\ntype: process\ntitle: Print\nowner: editor\ngoverned_by: [house-style]\n---\n"),
		"knowledge/policies/house-style.md": []byte("---\ntype: policy\ntitle: House style\n---\n"),
	}
}

func TestTheFloorIsProven(t *testing.T) {
	t.Parallel()
	below := "6 ledger/2026-03/R2.jsonl:2 a session ran as the role editor, which had too little knowledge at its claim: "
	for name, c := range map[string]struct {
		between repo.Changes
		want    []string
	}{
		"as it was":            {repo.Changes{"README.md": []byte("# Other\n")}, []string{}},
		"an atom of no matter": {terms("boom"), []string{}},
		"its process is gone": {repo.Changes{"knowledge/processes/print.md": nil},
			[]string{below + "atoms 0, want 2; processes 0, want 1; guides 0, want 1"}},
		"its process is another's": {repo.Changes{"knowledge/processes/print.md": []byte("---\ntype: process\ntitle: Print\nowner: other\n---\n")},
			[]string{below + "atoms 0, want 2; processes 0, want 1; guides 0, want 1"}},
		"its policy is superseded": {repo.Changes{"knowledge/policies/newer.md": []byte("---\ntype: policy\ntitle: N\nsupersedes: house-style\n---\n")},
			[]string{below + "atoms 1, want 2; guides 0, want 1"}},
		"another takes its policy's name": {repo.Changes{"knowledge/systems/house-style.md": []byte("---\ntype: system\ntitle: H\n---\n")},
			[]string{below + "atoms 1, want 2; guides 0, want 1; unresolved 1 of 2, want at most 20 %"}},
		"edges to nothing": {repo.Changes{"knowledge/roles/editor.md": []byte("---\ntype: role\ntitle: Editor\nuses: [gone, lost]\n---\n")},
			[]string{below + "unresolved 2 of 4, want at most 20 %"}},
	} {
		s := begin(t, lawWithFloor(t), nil)
		s.ann("foot", floorAtoms())
		s.add("t", "")
		s.add("u", "")
		s.result(s.claim("t"), 1, terms("keel"))
		s.ann("between", c.between)
		s.result(s.claim("u"), 1, terms("skeg"))
		if d := cmp.Diff(c.want, listFindings(s.check("", s.tip()))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Bundles that are each reloaded from the previous one equal those that are read alone.
func TestBundlesFollowEachOther(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWithFloor(t), nil)
	many := repo.Changes{}
	for i := range muchChanged + 10 {
		maps.Copy(many, terms(fmt.Sprintf("t%03d", i)))
	}
	steps := []repo.OID{s.ann("foot", floorAtoms())}
	for _, ch := range []repo.Changes{
		terms("boom"),
		{"knowledge/systems/house-style.md": []byte("---\ntype: system\ntitle: H\n---\n")},
		{"knowledge/processes/print.md": []byte("---\ntype: [\n")},
		{"knowledge/processes/print.md": floorAtoms()["knowledge/processes/print.md"], "knowledge/systems/house-style.md": nil},
		{"knowledge/tasks/print.md": []byte("---\ntype: process\nid: print\nowner: editor\n---\n"), "README.md": nil},
		many,
		{"knowledge/tasks/print.md": nil, "knowledge/terms/t001.md": nil},
	} {
		steps = append(steps, s.ann("step", ch))
	}
	back := slices.Clone(steps)
	slices.Reverse(back)
	h := &history{repoFacts: newGround(t.Context(), s.r)}
	for _, at := range slices.Concat(steps, back, steps[:1], steps[6:]) {
		p, g, err := h.compileEditor(at)
		want, whole, bad := (&history{repoFacts: newGround(t.Context(), s.r)}).compileEditor(at)
		if err != nil || bad != nil || !bytes.Equal(p.Markdown(g, true), want.Markdown(whole, true)) || g.Len() != whole.Len() {
			t.Fatalf("%s: %v, %v\n%s", at, err, bad, cmp.Diff(string(want.Markdown(whole, true)), string(p.Markdown(g, true))))
		}
	}
}

func (h *history) compileEditor(at repo.OID) (persona.Persona, *okf.Graph, error) {
	g := h.ReadBundle(at, "knowledge")
	p, err := persona.Compile(g, "editor")
	p.Commit = string(at)
	return p, g, err
}

// keepBrief keeps a brief among what a run keeps, with the persona of its claim, and names it in the run's session.
func (s *story) keepBrief(w *run, change func(string) string) {
	s.Helper()
	h := &history{repoFacts: newGround(s.Context(), s.r)}
	p, g, err := h.compileEditor(w.base)
	if err != nil {
		s.Fatal(err)
	}
	brief := []byte("# Brief\n\n## contract\n\n```text\nDo.\n```\n\n## persona\n\n```text\n" + change(strings.TrimSpace(string(p.Markdown(g, false)))) + "\n```\n\n## task\n\n```text\nT\n```\n")
	tree, err := s.r.WriteTree(s.Context(), "", repo.Changes{w.task + ".1/brief.md": brief})
	if err == nil {
		err = s.r.Update(s.Context(), repo.RefUpdate{Name: "refs/odd/run/" + w.id, New: tree})
	}
	if err != nil {
		s.Fatal(err)
	}
	w.session = map[string]any{"brief": okf.BlobID(brief)}
}

func TestEdgesAreReal(t *testing.T) {
	brief := func(change func(string) string, names string) func(*story) repo.OID {
		return func(s *story) repo.OID {
			s.ann("foot", floorAtoms())
			w := s.claim("t")
			s.keepBrief(w, change)
			if names != "" {
				w.session["brief"] = names
			}
			s.result(w, 1, terms("keel"))
			return ""
		}
	}
	keel := func(line string) func(*story, *draft) {
		return func(s *story, d *draft) {
			replaceIn(s, d, "knowledge/terms/keel.md", "status: draft\n", "status: draft\n"+line)
		}
	}
	runTampers(t, []tamper{
		{name: "as it was", tell: brief(func(s string) string { return s }, ""), want: []string{}},
		{name: "an edge to nothing in a brief", tell: brief(func(s string) string {
			return strings.Replace(s, "owner roles/editor`", "owner roles/nobody`", 1)
		}, ""), want: []string{"7 ledger/2026-03/R1.jsonl:2 the session's brief describes the role editor otherwise than the files at its claim: " +
			"- **Print**: `processes/print`, `processes/print.md`, blob `#`, asserted, unverified, via `processes/print owner roles/nobody`"}},
		{name: "a brief without an edge that is there", tell: brief(func(s string) string {
			return strings.Replace(s, "## Guardrails", "## Guides", 1)
		}, ""), want: []string{"7 ledger/2026-03/R1.jsonl:2 the session's brief describes the role editor otherwise than the files at its claim: ## Guides"}},
		{name: "another brief", tell: brief(func(s string) string { return s }, strings.Repeat("1", 40)),
			want: []string{"7 ledger/2026-03/R1.jsonl:2 the stored brief # of the session is missing from refs/odd/run/R1"}},
		{name: "owns", at: "proposal t", tell: tellProposed, do: keel("owns: editor\n"),
			want: []string{"2 terms/keel.md:1 is blob #, R1 recorded #", `7 terms/keel.md:6 a commit by odd or an agent says "owns", which is no edge; a process names its owner`}},
		{name: "an edge out of the bundle", at: "proposal t", tell: tellProposed, do: keel("uses: ../../README.md\n"),
			want: []string{"2 terms/keel.md:1 is blob #, R1 recorded #", "7 terms/keel.md:6 a commit by odd or an agent has an edge uses to ../../README.md, which is outside the bundle"}},
	})
}

func TestVerifiedBytesAreProven(t *testing.T) {
	verify := func(then func(*story) repo.OID) func(*story) repo.OID {
		return func(s *story) repo.OID {
			s.ann("verify", repo.Changes{"knowledge/terms/old.md": []byte("---\ntype: term\ntitle: Old\nconfidence: verified\nverified: [{by: human:ann@example.org, at: 2026-03-02}]\n---\n\nAs it was.\n")})
			return then(s)
		}
	}
	const by = "human:ann@example.org at 2026-03-02 verified"
	runTampers(t, []tamper{
		{name: "the body", at: "proposal t", tell: verify(tellProposed), do: func(s *story, d *draft) { replaceIn(s, d, "knowledge/terms/old.md", "As it was", "As I say") },
			want: []string{"2 terms/old.md:1 is in the proposal and not in the record of R1", "16 terms/old.md:1 a commit by odd or an agent changes what " + by}},
		{name: "the file", at: "proposal t", tell: verify(tellProposed), do: func(s *story, d *draft) { d.ch["knowledge/terms/old.md"] = nil },
			want: []string{"2 terms/old.md:1 a proposal deletes an atom", "2 terms/old.md:1 is in the proposal and not in the record of R1", "16 terms/old.md:1 a commit by odd or an agent deletes what " + by}},
		{name: "a task's text", at: "claim t", tell: func(s *story) repo.OID {
			s.ann("verify", repo.Changes{taskFile("t"): []byte(strings.Replace(string(s.file(taskFile("t"))), "confidence: asserted", "verified: [{by: human:ann@example.org, at: 2026-03-02}]", 1))})
			return s.claim("t").base
		}, do: func(s *story, d *draft) { replaceIn(s, d, taskFile("t"), "# T\n", "# U\n") },
			want: []string{"2 tasks/t.md:1 a commit by odd or an agent changes the task's text", "16 tasks/t.md:1 a commit by odd or an agent changes what " + by}},
		{name: "where a task stands", tell: func(s *story) repo.OID {
			s.ann("verify", repo.Changes{taskFile("t"): []byte(strings.Replace(string(s.file(taskFile("t"))), "confidence: asserted", "verified: [{by: human:ann@example.org, at: 2026-03-02}]", 1))})
			work(s, "t")
			return ""
		}, want: []string{}},
	})
}
