package verify

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
)

// ofFiles works on task c, which asks for a change below docs, as a drain does: say makes some facts of its op others
// than they are.
func ofFiles(s *story, files repo.Changes, say map[string]string) *run {
	s.Helper()
	if s.file(taskFile("c")) == nil {
		s.add("c", "paths: [docs/**]\nbudget_usd: 0.05\n")
	}
	return ofFilesOn(s, "c", files, say)
}

// ofFilesOn is ofFiles on a task of another name.
func ofFilesOn(s *story, task string, files repo.Changes, say map[string]string) *run {
	s.Helper()
	w := s.claim(task)
	if s.bound != nil {
		s.bound(w)
	}
	w.allow = []any{"docs/**", "knowledge/**"}
	law, err := config.Parse("odd.toml", s.file("odd.toml"))
	if err != nil {
		s.Fatal(err)
	}
	ground, err := risk.Survey(context.Background(), s.r, risk.Site{Base: w.base, Board: w.base, Law: law, Task: s.task(task)})
	if err != nil {
		s.Fatal(err)
	}
	var edits []pipeline.Edit
	for _, name := range rules.SortedKeys(files) {
		if strings.HasPrefix(name, "knowledge/") {
			continue
		}
		e := pipeline.Edit{Path: name, Before: s.at(w.base, name), After: files[name], NewMode: "100644"}
		if e.Before != nil {
			e.OldMode = "100644"
		}
		edits = append(edits, e)
	}
	v, err := ground.Judge(edits, s.now, law.Session.Substrate, pipeline.Made{Seen: say[pipeline.FactSeen] == "yes", Unread: say[pipeline.FactUnread]})
	if err != nil {
		s.Fatal(err)
	}
	until := pipeline.Phase(say["until"])
	w.alone = until == "land" || say["forged"] != ""
	facts := map[string]string{pipeline.FactRules: v.Rules, pipeline.FactTier: string(v.Risk.Tier), "findings": fmt.Sprintf("%d hard, %d soft", v.Gate.Hard, v.Gate.Soft)}
	maps.Copy(facts, say)
	delete(facts, "until")
	delete(facts, "forged")
	w.op, w.tier = "op-C"+w.id[len(w.id)-2:], facts[pipeline.FactTier]
	w.pipes = func(s *story, w *run, ch repo.Changes) {
		tree, err := s.r.TreeOID(w.proposal, "")
		if err != nil {
			s.Fatal(err)
		}
		now := map[string]string{pipeline.FactCandidate: string(tree)}
		maps.Copy(now, facts)
		withOp(until, pipeline.Limits{}, now)(s, w, ch)
	}
	s.result(w, 1, files)
	return w
}

// docChange is a small change of a document.
func docChange() repo.Changes { return repo.Changes{"docs/a.md": []byte("# A\n\nOne line.\n")} }

func TestAChangeOfFilesIsProven(t *testing.T) {
	t.Parallel()
	merged := func(files repo.Changes, say map[string]string) func(*story) repo.OID {
		return func(s *story) repo.OID { return s.approve(ofFiles(s, files, say), false) }
	}
	also := func(name, text string) func(*story, *draft) {
		return func(_ *story, d *draft) { d.ch = repo.Changes{"docs/a.md": d.ch["docs/a.md"], name: []byte(text)} }
	}
	trailer := func(name, value string) func(*story, *draft) {
		return func(_ *story, d *draft) { d.set(name, value) }
	}
	outcome := func(change func(*event.Record)) func(*story, *draft) {
		return func(s *story, d *draft) {
			changeOutcome(s, d, func(r *event.Record) {
				if r.Kind == event.Outcome {
					change(r)
				}
			})
		}
	}
	for _, c := range []struct {
		name  string
		files repo.Changes
		say   map[string]string
		at    string
		do    func(*story, *draft)
		want  string // of a finding of row 13; "" is none at all
	}{
		{name: "nothing is wrong", files: docChange()},
		{name: "beside an atom", files: repo.Changes{"docs/a.md": []byte("# A\n"), "knowledge/terms/keel.md": terms("keel")["knowledge/terms/keel.md"]}},
		{name: "no op is named", files: docChange(), at: "proposal c", do: trailer("Odd-Op", ""), want: "names no op"},
		{name: "an op that is not there", files: docChange(), at: "proposal c", do: trailer("Odd-Op", "op-XX"), want: "which no ledger of its run tells of"},
		{name: "another tier in the commit", files: docChange(), at: "proposal c", do: trailer("Odd-Tier", "SAFE_AUTO"), want: "the tier of the proposal is SAFE_AUTO"},
		{name: "a tier that is too low", files: docChange(), say: map[string]string{pipeline.FactTier: "SAFE_AUTO"}, want: "recorded the tier SAFE_AUTO; by the same rules its bytes make it APPROVAL_REQUIRED"},
		{name: "findings that were not told", files: repo.Changes{"docs/a.md": []byte("# A\n\n" + strings.Repeat("long ", 1000) + "\n")},
			say: map[string]string{"findings": "0 hard, 0 soft"}, want: "recorded 0 hard, 0 soft findings; by the same rules there are 0 hard, 1 soft"},
		{name: "no word of findings", files: docChange(), say: map[string]string{"findings": "none"}, want: "recorded none findings"},
		{name: "another tree", files: docChange(), say: map[string]string{pipeline.FactCandidate: strings.Repeat("a", 40)}, want: "the tree of the proposal is"},
		{name: "another base", files: docChange(), say: map[string]string{pipeline.FactBase: strings.Repeat("b", 40)}, want: "the base of the proposal is"},
		{name: "what the gate refuses", files: repo.Changes{"docs/a.md": []byte("key: AKIA" + "IOSFODNN7EXAMPLQ\n")}, want: "let pass what its rules refuse: secret_introduced"},
		{name: "a file besides", files: docChange(), at: "proposal c", do: also("src/b.md", "# B\n"), want: "is outside of the paths that c had"},
		{name: "outside of the task's paths", files: repo.Changes{"src/a.md": []byte("# A\n")}, want: "is outside of the paths that c had"},
		{name: "odd.toml", files: repo.Changes{"odd.toml": []byte(law + "\n")}, want: "an op changes what no machine may"},
		{name: "who may sign", files: repo.Changes{"docs/allowed_signers": []byte("x\n")}, want: "an op changes what no machine may"},
		{name: "a workflow", files: repo.Changes{".github/workflows/a.yml": []byte("on: push\n")}, want: "an op changes what no machine may"},
		{name: "an outcome that names no op", files: docChange(), at: "result c", do: outcome(func(r *event.Record) { eventtest.Set(r, "op", nil) }), want: "names no op"},
		{name: "an outcome of another op", files: docChange(), at: "result c", do: outcome(func(r *event.Record) { eventtest.Set(r, "op", "op-XX") }), want: "of which its ledger tells nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			hooks := map[string]func(*story, *draft){}
			if c.at != "" {
				hooks[c.at] = c.do
			}
			s := begin(t, lawWith(t, ""), hooks)
			got := listFindings(s.check("", merged(c.files, c.say)(s)))
			if c.want == "" && len(got) > 0 {
				t.Errorf("found %q", got)
			}
			hit := false
			for _, f := range got {
				hit = hit || strings.HasPrefix(f, "13 ") && strings.Contains(f, c.want)
			}
			if c.want != "" && !hit {
				t.Errorf("want a finding of row 13 with %q, found\n%s", c.want, strings.Join(got, "\n"))
			}
		})
	}
}

// A session with a plan changes only files of its scope, and a resolver only files of its findings. A plan that names
// no file allows any.
func TestAChangeKeepsToItsHandoffs(t *testing.T) {
	t.Parallel()
	also := docChange()
	also["docs/b.md"] = []byte("# B\n")
	about := func(text string) string { return strings.ReplaceAll(text, keelFile, "docs/a.md") }
	scope := func(is string) func(string) string {
		return func(text string) string { return strings.ReplaceAll(about(text), "one", is) }
	}
	beyond := []string{"13 docs/b.md:1 op-C01 changed this file, and the plan of the handoff does not name this file"}
	for name, c := range map[string]struct {
		files    repo.Changes
		from, as contract.Role
		change   func(string) string
		want     []string
	}{
		"what they are about":        {docChange(), contract.Validator, contract.Resolver, about, []string{}},
		"a file besides":             {also, contract.Validator, contract.Resolver, about, []string{"13 docs/b.md:1 op-C01 changed this file, and no finding of the handoff is about this file"}},
		"what the plan names":        {docChange(), contract.Planner, contract.Builder, scope("docs/a.md"), []string{}},
		"a file besides the plan's":  {also, contract.Planner, contract.Builder, scope("docs/a.md"), beyond},
		"a folder that a plan names": {also, contract.Planner, contract.Builder, scope("docs/"), []string{}},
		"a plan in words":            {also, contract.Planner, contract.Builder, scope("all of it"), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, lawWith(t, ""), nil)
			given := s.byHand(c.from, c.change)
			s.add("c", "paths: [docs/**]\nbudget_usd: 0.05\ncontract_role: "+string(c.as)+"\n")
			s.bound = func(w *run) {
				s.bindSession(w, c.as, given)
				s.handOver(w, c.as, "", given)
			}
			w := ofFiles(s, c.files, nil)
			if d := cmp.Diff(c.want, listFindings(s.check("", w.proposal))); d != "" {
				t.Error(d)
			}
		})
	}
}

// The judgement that is made again includes the results of earlier changes of a file.
func TestThePastIsJudgedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tier, why, want string
	}{
		{"nothing", "NOTIFY_APPLY", "", ""},
		{"forgotten", "NOTIFY_APPLY", `["docs/a.md"]`, "recorded the tier NOTIFY_APPLY; by the same rules its bytes make it APPROVAL_REQUIRED, regression_risk"},
		{"remembered", "APPROVAL_REQUIRED", `["docs/a.md"]`, ""},
		{"of another file", "NOTIFY_APPLY", `["docs/b.md"]`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, lawWith(t, ""), nil)
			first := map[string]string{pipeline.FactSeen: "yes"}
			if c.why != "" {
				first[pipeline.FactTouched] = c.why
			}
			for range 3 { // fewer are held against nobody
				s.reject(ofFiles(s, docChange(), first))
			}
			s.add("e", "paths: [docs/**]\nbudget_usd: 0.05\n")
			s.approve(ofFilesOn(s, "e", docChange(), map[string]string{pipeline.FactSeen: "yes", pipeline.FactTier: c.tier}), false)
			got := strings.Join(listFindings(s.check("", s.tip())), "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("want %q, found\n%s", c.want, got)
			}
		})
	}
}
