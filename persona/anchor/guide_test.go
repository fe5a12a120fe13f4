package anchor

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/persona/octave"
)

// laterWords are what only a later stage may say than the one that binds the role.
var laterWords = regexp.MustCompile(`\b(TENSIONS?|CTX|TRIGGER|COMMIT|ARTIFACT|GATE|ARM|PHASE)\b`)

// given is a session at a stage, with one failure behind it.
func given(at Stage) Handshake {
	return Handshake{Mode: Full, Strictness: Default, Role: "editor", Stage: at, Retries: map[string]int{"context": 1, "proof": 1}}
}

func TestGuideAsks(t *testing.T) {
	t.Parallel()
	guidance, template := given(AtIdentity).guide(editor(), nil)
	if w := laterWords.FindString(guidance + template); w != "" {
		t.Errorf("the first answer says %s:\n%s\n%s", w, guidance, template)
	}
	want := envelope + "BIND:\n  ROLE::editor\n  COGNITION::\"<your cognition>\"\n  ARCHETYPES::[\"<your archetypes>\"]\n  AUTHORITY::\"RESPONSIBLE[<what you answer for>]\"\n===END===\n"
	if d := cmp.Diff(want, template); d != "" {
		t.Errorf("template (-want +got):\n%s", d)
	}
	_, template = given(AtContext).guide(editor(), nil)
	if n := strings.Count(template, "⇌CTX:"); n != 2 || !strings.Contains(template, "GATE::") {
		t.Errorf("the template of default has %d tensions:\n%s", n, template)
	}
	deep := given(AtContext)
	deep.Strictness = Deep
	if _, template = deep.guide(editor(), nil); strings.Count(template, ":10-20[") != 3 {
		t.Errorf("the template of deep cites no lines:\n%s", template)
	}
	fast := given(AtIdentity)
	fast.Mode = Express
	if _, template = fast.guide(editor(), nil); strings.Contains(template, "TENSIONS") || !strings.Contains(template, "ARTIFACT") {
		t.Errorf("the template of express:\n%s", template)
	}
}

// An unfilled template is read, and refused for what it leaves open, not for its form.
func TestTemplatesAreReadAndRefused(t *testing.T) {
	t.Parallel()
	_, template := given(AtIdentity).guide(editor(), nil)
	_, ps := takeBind([]byte(template), editor(), "editor", nil)
	wantCodes(t, ps, BindCognition, BindArchetype, BindAuthority)
	_, template = given(AtContext).guide(editor(), nil)
	_, ps = judged(template, Default)
	for _, p := range ps {
		if p.Code == ProofSyntax || p.Code == TenSyntax || p.Code == TenCount {
			t.Errorf("the template does not read: %v", p)
		}
	}
	if len(ps) == 0 {
		t.Error("a template with nothing filled in was accepted")
	}
}

func TestGuideMends(t *testing.T) {
	t.Parallel()
	ps := []Problem{
		{Code: BindMismatch, At: "BIND.ROLE", Text: "the session was opened for another role", Found: "auditor", Want: "ROLE::editor"},
		{Code: BindAuthority, At: "BIND.AUTHORITY", Line: 4, Text: "the brackets of the authority are empty", Found: "RESPONSIBLE[]", Want: authorityForm},
	}
	guidance, _ := given(AtIdentity).guide(editor(), ps)
	want := `BIND was not accepted: 2 things are wrong (attempt 1 of 3).
1. BIND.ROLE: the session was opened for another role; found "auditor"; expected ROLE::editor [A_BIND_ROLE_MISMATCH]
2. BIND.AUTHORITY, line 4: the brackets of the authority are empty; found "RESPONSIBLE[]"; expected RESPONSIBLE[what you answer for], or DELEGATED[token::task] under a session that is bound [A_BIND_AUTHORITY]
Mend that, and send the payload again; the template has its form.`
	if d := cmp.Diff(want, guidance); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if w := laterWords.FindString(guidance); w != "" {
		t.Errorf("a refused stage says %s", w)
	}
}

func TestGuideShowsOnlyWhatFailed(t *testing.T) {
	t.Parallel()
	_, ps := judged(strings.Replace(proofOf(first, second), "go test ./...", "echo fine", 1), Default)
	wantCodes(t, ps, CommitUnlisted)
	guidance, template := given(AtContext).guide(editor(), ps)
	if strings.Contains(template, "TENSIONS") || !strings.Contains(template, "COMMIT") {
		t.Errorf("template:\n%s", template)
	}
	if !strings.Contains(guidance, "send the whole payload again, with the template in the place of your COMMIT") {
		t.Errorf("guidance:\n%s", guidance)
	}
	_, ps = judged(proofOf("[RULE]⇌CTX:a.go[]→TRIGGER[x]", "[POLICY]⇌CTX:b.go[]→TRIGGER[y]"), Default)
	_, template = given(AtContext).guide(editor(), ps)
	if strings.Contains(template, "COMMIT") || !strings.Contains(template, "TENSIONS") {
		t.Errorf("template:\n%s", template)
	}
	last := given(AtContext)
	last.Retries["proof"] = 3
	if guidance, _ = last.guide(editor(), ps); !strings.Contains(guidance, "(attempt 3 of 3)") || !strings.Contains(guidance, "no further attempt") {
		t.Errorf("the last attempt does not say so:\n%s", guidance)
	}
	_, ps = judged("no payload at all", Default)
	if _, template = given(AtContext).guide(editor(), ps); !strings.Contains(template, "TENSIONS") || !strings.Contains(template, "COMMIT") {
		t.Errorf("template of an unreadable payload:\n%s", template)
	}
}

func TestTextIsStrict(t *testing.T) {
	t.Parallel()
	a := Anchor{
		GeneratedBy: "server",
		Bind:        Bind{Role: "editor", Cognition: "LOGOS", Archetypes: []string{"A", "B", "C"}, Authority: Authority{Delegated: true, Parent: "oa-x", Scope: "write (all)"}},
		Arm: Arm{Phase: "B1", Branch: "feat/x", Ahead: 1, Focus: "issue 12", Hash: "sha256:00",
			Files: []Change{{Path: "a\nb"}, {Path: "c\r\u202e.go"}, {Path: "d \"q\""}, {Path: "e"}}},
		Tensions: []Tension{{Constraint: "A", Path: "app/[id]/x", Start: 2, End: 3, State: "s[0]", Trigger: "t"}},
		Commit:   Commit{"docs/x.md", `go test -run "A B"`},
	}
	got := anchorText(a)
	want := envelope + `BIND:
  ROLE::editor
  COGNITION::LOGOS
  ARCHETYPES::[
    A,
    B,
    C
  ]
  AUTHORITY::"DELEGATED[oa-x::write (all)]"
ARM:
  PHASE::B1
  BRANCH::"feat/x[1↑0↓]"
  FILES::4
  TOP_FILES::[
    "a\nb",
    "c.go",
    "d \"q\""
  ]
  FOCUS::"issue 12"
  CONTEXT_HASH::"sha256:00"
TENSIONS:
  L1::"[A]⇌CTX:app/[id]/x:2-3[s[0]]→TRIGGER[t]"
  GENERATED_BY::server
COMMIT:
  ARTIFACT::"docs/x.md"
  GATE::"go test -run \"A B\""
===END===
`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	rereads(t, got)
	p, ps := readProof(got)
	wantCodes(t, ps)
	if len(p.Tensions) != 1 || p.Tensions[0].String() != a.Tensions[0].String() || p.Commit != a.Commit {
		t.Errorf("read back: %+v", p)
	}
	if b, ps := readBind(got); len(ps) > 0 || b.Authority != a.Bind.Authority {
		t.Errorf("read back: %+v %v", b, ps)
	}
	rereads(t, ArmText(a.Arm))
}

// rereads has text read without a remark.
func rereads(t interface{ Errorf(string, ...any) }, text []byte) {
	if _, ps := octave.Parse(text); len(ps) > 0 {
		t.Errorf("the reader remarks %v on\n%s", ps, text)
	}
}
