package handoff

import (
	"strings"
	"testing"

	"github.com/odd-cli/odd/persona/contract"
)

func TestReversion(t *testing.T) {
	t.Parallel()
	a := Act{Artifact: "a.md", From: contract.Execution, To: contract.Planning, Reason: "The plan takes the almanac for this year's; is it?", Received: []string{"handoffs/p.md"}, By: "human:ann", At: "2026-03-02T09:00:00Z"}
	got, err := a.Reversion()
	want := Told{"Reversion from execution to planning: a.md", "REVERSION: execution → planning: a.md, by human:ann at 2026-03-02T09:00:00Z. It binds what is next: a planner in a fresh session.",
		a.Reason, "to go on in execution without it", "what was handed over stays valid: handoffs/p.md"}
	if err != nil || got != want {
		t.Errorf("%v\n%+v", err, got)
	}
	for _, c := range []struct {
		from, to contract.Mode
		reason   string
		want     string
	}{
		{contract.Planning, contract.Execution, a.Reason, "leads to no earlier mode"},
		{contract.Planning, contract.Planning, a.Reason, "leads to no earlier mode"},
		{contract.Resolution, contract.Validation, a.Reason, "is re-validation, no reversion"},
		{"doing", contract.Planning, a.Reason, "doing → planning leads to no earlier mode"},
		{a.From, a.To, "in a hurry", "the reason says only that there is haste"},
		{a.From, a.To, "Which almanac is it? And which year do the tides have?", "the reason asks 2 questions"},
		{a.To, a.From, "??", "leads to no earlier mode; the modes are exploration, planning, execution, validation, resolution\nthe reason is empty; say what happened or what is not known\nthe reason asks 2 questions"},
	} {
		b := a
		b.From, b.To, b.Reason = c.from, c.to, c.reason
		_, err := b.Reversion()
		if r, ok := err.(Refusal); !ok || r.Refused() != "reversion" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s → %s %q: %v\nwant %s", c.from, c.to, c.reason, err, c.want)
		}
	}
}

func TestSkip(t *testing.T) {
	t.Parallel()
	a := Act{Artifact: "a.md", Mode: contract.Validation, Reason: "The page is thrown away after the fair", Risks: []string{"wrong tides", "no second reader"}, By: "human:ann", At: "2026-03-02T09:00:00Z"}
	got, err := a.Skip()
	want := Told{"Skip of validation: a.md", "SKIP: validation: a.md, by human:ann at 2026-03-02T09:00:00Z. It binds the project to the risks that are accepted: wrong tides; no second reader.",
		a.Reason, "a validator in a fresh session", "validation can still be entered later"}
	if err != nil || got != want {
		t.Errorf("%v\n%+v", err, got)
	}
	a.Mode, a.Reason, a.Risks = "review", "ASAP", []string{" ", "none"}
	_, err = a.Skip()
	if r, ok := err.(Refusal); !ok || r.Refused() != "skip" || len(r.Reasons) != 3 {
		t.Errorf("%v", err)
	}
}

func TestTemplateIsMissingAll(t *testing.T) {
	t.Parallel()
	for _, tr := range contract.Transitions() {
		_, b, err := Template(Meta{From: tr.From, To: tr.To, Artifact: "a.md", By: "human:ann", At: "2026-03-02T09:00:00Z", Title: "Deferred"})
		if err != nil {
			t.Fatal(err)
		}
		h, err := Read(atom(t, string(b)))
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		want := Handoff{}.Deliverable
		want.Schema = tr.Schema
		for _, key := range want.Missing() {
			if got := strings.Join(h.Missing, " "); key != "artifact" && !strings.Contains(got, key) {
				t.Errorf("%s misses %s, not %s\n%s", tr, got, key, b)
			}
		}
	}
	if _, _, err := Template(Meta{From: contract.Planning, To: contract.Planning}); err == nil {
		t.Error("a template of no transition")
	}
}
