package verify

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
)

// A change that landed by itself is checked, and a false claim that one did is found.
func TestLandingByItselfIsProven(t *testing.T) {
	t.Parallel()
	const auto = "[pipeline]\nauto_apply = true\n"
	small := repo.Changes{"docs/a.md": []byte("# A\n\nTwo lines.\n")}
	for name, c := range map[string]struct {
		toml  string
		past  repo.Changes // on the board before
		files repo.Changes
		say   map[string]string
		at    string
		do    func(*story, *draft)
		by    func(*story, *run) // behind the landing
		want  string             // "" for no finding
	}{
		"as it is": {toml: auto},
		"approved behind it": {toml: auto, by: func(s *story, w *run) {
			s.ann("more", repo.Changes{"docs/a.md": []byte("# A\n\nThree lines.\n")})
			s.approve(w, false)
		}},
		"approved, with another file": {toml: auto, at: "approve c", do: func(_ *story, d *draft) { d.ch["docs/a.md"] = []byte("# Z\n") },
			by: func(s *story, w *run) { s.approve(w, false) }, want: "3 tasks/c.md:5 the approval changes docs/a.md, and its proposal had landed before"},
		"rejected behind it":  {toml: auto, by: func(s *story, w *run) { s.reject(w) }},
		"where odd.toml says": {want: "15 ledger/2026-03/R1.jsonl:12 op-C01 landed by itself, and odd.toml does not say auto_apply"},
		"on the branch it names": {toml: auto + "[board]\ntarget = \"release\"\n",
			want: "15 ledger/2026-03/R1.jsonl:12 op-C01 landed by itself on refs/heads/main; changes land on release"},
		"for a kind it names": {toml: auto + "auto_kinds = [\"implement\", \"fix\"]\n"},
		"for another kind": {toml: auto + "auto_kinds = [\"document\"]\n",
			want: "15 ledger/2026-03/R1.jsonl:12 op-C01 landed by itself for a task of kind implement, which auto_kinds in odd.toml does not name"},
		"for a kind that people reject": {toml: auto, past: rejected(3), want: "15 ledger/2026-03/R1.jsonl:12 op-C01 landed by itself for a task of kind implement, whose last three results people rejected"},
		"after two rejections":          {toml: auto, past: rejected(2)},
		"no op says so": {toml: auto, say: map[string]string{"until": "", "forged": "yes"},
			want: "3 docs/a.md:1 a proposal is on the branch, and no person merged or approved it"},
		"a tier that is too low": {toml: auto, say: map[string]string{pipeline.FactSeen: ""},
			want: "13 docs/a.md:1 op-C01 landed by itself as SAFE_AUTO; by the rules there are its bytes make it APPROVAL_REQUIRED, opaque_substrate"},
		"by rules that nobody has": {toml: auto, say: map[string]string{pipeline.FactSeen: "", pipeline.FactRules: strings.Repeat("a", 64)},
			want: "13 docs/a.md:1 op-C01 landed by itself as SAFE_AUTO; by the rules there are its bytes make it APPROVAL_REQUIRED, opaque_substrate"},
		"a tier that waits": {toml: auto, say: map[string]string{pipeline.FactTier: "APPROVAL_REQUIRED"}, want: "3 docs/a.md:1 a proposal is on the branch, and no person merged or approved it"},
		"unseen":            {toml: auto, say: map[string]string{pipeline.FactTier: "NOTIFY_APPLY"}, want: "3 docs/a.md:1 a proposal is on the branch, and no person merged or approved it"},
		"an atom with it": {toml: auto, files: repo.Changes{"docs/a.md": small["docs/a.md"], "knowledge/terms/keel.md": terms("keel")["knowledge/terms/keel.md"]},
			want: "13 terms/keel.md:1 op-C01 landed an atom by itself"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hooks := map[string]func(*story, *draft){}
			if c.at != "" {
				hooks[c.at] = c.do
			}
			s := begin(t, lawWith(t, c.toml), hooks)
			s.ann("docs", repo.Changes{"docs/a.md": []byte("# A\n\nOne line.\n")})
			if c.past != nil {
				s.ann("past", c.past)
			}
			if c.files == nil {
				c.files = small
			}
			say := map[string]string{"until": "land", pipeline.FactSeen: "yes"}
			maps.Copy(say, c.say)
			if say[pipeline.FactSeen] == "" {
				delete(say, pipeline.FactSeen)
				say[pipeline.FactTier] = "SAFE_AUTO"
			}
			w := ofFiles(s, c.files, say)
			if c.by != nil {
				c.by(s, w)
			}
			got := listFindings(s.check("", s.tip()))
			if c.want == "" && len(got) > 0 {
				t.Errorf("found %q", got)
			}
			hit := false
			for _, f := range got {
				hit = hit || strings.HasPrefix(f, c.want)
			}
			if c.want != "" && !hit {
				t.Errorf("want %q, found\n%s", c.want, strings.Join(got, "\n"))
			}
		})
	}
}

// rejected is a task whose result a person rejected so often.
func rejected(times int) repo.Changes {
	text := "---\ntype: task\ntitle: R\nstate: backlog\nkind: implement\nrole: shore-lead\nrejected:\n"
	for i := range times {
		text += fmt.Sprintf("  - {by: \"human:ann@example.org\", at: 2026-02-2%dT09:00:00Z, reason: no}\n", i)
	}
	return repo.Changes{"knowledge/tasks/r.md": []byte(text + "---\n")}
}
