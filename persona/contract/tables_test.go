package contract_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/odd-cli/odd/persona/contract"
)

// TestTablesNameWhatIsThere holds each table to the others: a tool or a
// schema that a table names exists.
func TestTablesNameWhatIsThere(t *testing.T) {
	t.Parallel()
	has := func(list []string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !slices.Contains(list, w) {
				t.Errorf("%q is named and not there", w)
			}
		}
	}
	var tools []string
	for _, row := range contract.ToolRows() {
		tools = append(tools, row.Name)
	}
	for _, m := range contract.Modes() {
		has(tools, m.Tools...)
	}
}

// TestRolesFitModes: a mode and the role bound to it agree on the deliverable,
// on mutation, and on what a mode before hands over.
func TestRolesFitModes(t *testing.T) {
	t.Parallel()
	mutates := map[contract.Mode]bool{}
	for _, m := range contract.Modes() {
		mutates[m.Mode] = !slices.Contains(m.Forbids, contract.Mutates)
	}
	for _, r := range contract.Roles() {
		if r.Mode != "" && r.Mutates != mutates[r.Mode] {
			t.Errorf("%s mutates: %v, its mode: %v", r.Role, r.Mutates, mutates[r.Mode])
		}
		for _, p := range r.Reads {
			if !slices.ContainsFunc(contract.Transitions(), func(t contract.Transition) bool { return t.Pair == p }) {
				t.Errorf("%s reads %v, which is not handed over", r.Role, p)
			}
			if r.Needs && p.To != r.Mode {
				t.Errorf("%s works in %s and needs %v", r.Role, r.Mode, p)
			}
		}
	}
}

func TestTransitions(t *testing.T) {
	t.Parallel()
	var got []string
	for _, tr := range contract.Transitions() {
		got = append(got, string(tr.From+" "+tr.To+" ")+tr.Schema)
	}
	want := []string{"exploration planning odd.synthesis.1", "planning execution odd.plan.1", "execution validation odd.claims.1", "validation resolution odd.findings.1", "resolution validation odd.remediation.1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestHashIgnoresOrder: lists that are sets may come in any order, and a
// contract that differs in anything has another hash.
func TestHashIgnoresOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		call := contract.Call{
			Role: contract.Role(rapid.SampledFrom([]string{"general", "observer", "explorer"}).Draw(t, "role")),
			Handoffs: rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) contract.Handoff {
				return contract.Handoff{ID: rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "id"), Path: rapid.StringMatching(`handoffs/[a-z]{1,8}\.md`).Draw(t, "path"), From: contract.Exploration, To: contract.Planning, Journal: "j", Tainted: rapid.SampledFrom([]string{"", "a", "b; a"}).Draw(t, "tainted")}
			}), 0, 4, func(h contract.Handoff) string { return h.Path + h.ID }).Draw(t, "handoffs"),
			Tools: rapid.SliceOfDistinct(rapid.SampledFrom([]string{"search", "fetch", "get", "related"}), rapid.ID).Draw(t, "tools"),
		}
		c, _ := contract.Resolve(call, contract.World{})
		mixed := call
		mixed.Handoffs, mixed.Tools = rapid.Permutation(call.Handoffs).Draw(t, "mixed handoffs"), rapid.Permutation(call.Tools).Draw(t, "mixed tools")
		d, _ := contract.Resolve(mixed, contract.World{})
		if first := c.Hash(); first != d.Hash() || first != c.Hash() || len(first) != 64 {
			t.Fatalf("%s and %s", c.Hash(), d.Hash())
		}
		d.Artifact += "x"
		if c.Hash() == d.Hash() {
			t.Fatal("another artifact, the same hash")
		}
	})
}

// FuzzNames: whatever is asked for, a parser gives a name of its list or a
// reason with a way out, and a name in any spelling is itself.
func FuzzNames(f *testing.F) {
	f.Add("Real_Time Stream")
	f.Add("validater")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := contract.ParseRole(s); err == nil {
			if again, err := contract.ParseRole(string(r)); err != nil || again != r {
				t.Errorf("%q is %s and then %s", s, r, again)
			}
		} else if err.Error() == "" {
			t.Errorf("%q: no reason", s)
		}
		if _, err := contract.ParseSurface(s); err == nil && s == "" {
			t.Error("nothing is a surface")
		}
		c, no := contract.Resolve(contract.Call{Role: contract.Role(s), Mode: contract.Mode(s), Surface: contract.Surface(s), Persona: s, Tools: []string{s}, MCP: []string{s}, Override: &contract.Override{Reason: s, Risks: []string{s}}}, contract.World{})
		if len(no) == 0 || no.Refused() == "" || len(c.Hash()) != 64 {
			t.Errorf("%q: an override without modes is refused, got %v", s, no)
		}
	})
}
