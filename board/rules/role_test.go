package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// collapsing is an override of these modes that says everything it has to.
func collapsing(modes ...string) *event.Override {
	return &event.Override{By: "human:ann@example.org", Modes: modes, Reason: "no time for two sessions", Risks: []string{"nobody checks"}}
}

func bound(role contract.Role, mode contract.Mode, o *event.Override) boundSession {
	return boundSession{run: "run-1", task: "t-1", said: true, role: role, mode: mode, override: o}
}

// TestOverrideOfASession: a session has the override that its claim declares, whole.
func TestOverrideOfASession(t *testing.T) {
	t.Parallel()
	both := []string{"execution", "validation"}
	for name, c := range map[string]struct {
		session  boundSession
		declared *event.Override
		want     string
	}{
		"none":                {bound(contract.Builder, contract.Execution, nil), nil, ""},
		"as declared":         {bound(contract.Builder, contract.Execution, collapsing(both...)), collapsing(both...), ""},
		"in another order":    {bound(contract.Builder, contract.Execution, collapsing("execution", "validation", "")), collapsing("Validation ", "execution", "execution"), ""},
		"without a mode":      {bound(contract.General, "", collapsing(both...)), collapsing(both...), ""},
		"only declared":       {bound(contract.Builder, contract.Execution, nil), collapsing(both...), "its claim declares and its session does not"},
		"not declared":        {bound(contract.Builder, contract.Execution, collapsing(both...)), nil, "its claim does not declare"},
		"of other modes":      {bound(contract.Builder, contract.Execution, collapsing(both...)), collapsing("execution", "planning"), "an override of execution, validation; its claim declares one of execution, planning"},
		"of no mode":          {bound(contract.Builder, contract.Execution, collapsing("execution", "doing")), collapsing("doing", "execution"), "an override of doing, which is no mode"},
		"of one":              {bound(contract.Builder, contract.Execution, collapsing("execution")), collapsing("execution"), "collapses no modes"},
		"of an observer":      {bound(contract.Observer, "", collapsing(both...)), collapsing(both...), "a session of the observer"},
		"of other modes only": {bound(contract.Planner, contract.Planning, collapsing(both...)), collapsing(both...), "a session of the planner"},
	} {
		claim := &Claim{Record: event.Record{Kind: event.Claim, Data: event.ClaimData{Override: c.declared}}}
		if got := checkOverride(c.session, claim); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := checkOverride(bound(contract.Builder, contract.Execution, collapsing(both...)), nil); got == "" {
		t.Error("an override without a claim passes")
	}
	for want, do := range map[string]func(*event.Override){"without a reason": func(o *event.Override) { o.Reason = " " }, "acknowledges no risk": func(o *event.Override) { o.Risks = []string{"", " "} }} {
		o := collapsing(both...)
		do(o)
		if got := checkOverride(bound(contract.Builder, contract.Execution, o), &Claim{Record: event.Record{Kind: event.Claim, Data: event.ClaimData{Override: o}}}); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWhoMakesDoesNotCertify: what a session delivers is its role's, findings come from
// validation alone, and two sessions of one task do not make and validate it.
func TestWhoMakesDoesNotCertify(t *testing.T) {
	t.Parallel()
	delivers := func(b boundSession, schema string) string {
		b.schema = schema
		row, _ := b.findRole()
		return checkDelivery(b, row)
	}
	for _, c := range []struct {
		by     boundSession
		schema string
		want   string
	}{
		{bound(contract.Validator, contract.Validation, nil), deliver.SchemaFindings, ""},
		{bound(contract.Builder, contract.Execution, nil), deliver.SchemaClaims, ""},
		{bound(contract.Builder, contract.Execution, nil), "", ""},
		{bound(contract.Builder, contract.Execution, nil), deliver.SchemaFindings, "who makes does not certify"},
		{bound(contract.Builder, contract.Execution, collapsing("execution", "validation")), deliver.SchemaFindings, ""},
		{bound(contract.Builder, contract.Execution, collapsing("execution", "planning")), deliver.SchemaFindings, "who makes does not certify"},
		{bound(contract.Builder, contract.Execution, nil), deliver.SchemaPlan, "delivers odd.plan.1; its own is odd.claims.1"},
		{bound(contract.Builder, contract.Execution, collapsing("execution", "planning")), deliver.SchemaPlan, ""},
		{bound(contract.General, "", nil), deliver.SchemaPlan, ""},
		{bound("drafting", contract.Execution, nil), deliver.SchemaPlan, ""},
		{bound("drafting", contract.Execution, nil), deliver.SchemaFindings, "who makes does not certify"},
	} {
		if got := delivers(c.by, c.schema); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s %v of %q: %q, want %q", c.by.role, c.by.override, c.schema, got, c.want)
		}
	}
	builder, resolver, validator, planner := bound(contract.Builder, contract.Execution, nil), bound(contract.Resolver, contract.Resolution, nil), bound(contract.Validator, contract.Validation, nil), bound(contract.Planner, contract.Planning, nil)
	one, other := collapsing("execution", "validation"), collapsing("execution", "resolution")
	for _, c := range []struct {
		a, b boundSession
		ok   bool
	}{
		{builder, validator, false}, {validator, builder, false}, {resolver, validator, false}, {builder, resolver, true}, {planner, validator, true}, {validator, validator, true},
		{bound(contract.Builder, contract.Execution, one), bound(contract.Validator, contract.Validation, one), true},
		{bound(contract.Builder, contract.Execution, one), bound(contract.Builder, contract.Execution, other), false},
		{bound(contract.Builder, contract.Execution, other), validator, false},
	} {
		if got := checkModesApart(c.a, c.b); got == "" != c.ok || !c.ok && !strings.HasPrefix(got, "a session of the "+string(c.b.role)+" after a session of the "+string(c.a.role)) {
			t.Errorf("%s after %s: %q", c.b.role, c.a.role, got)
		}
	}
}

// TestWhoMayChange: a session changes files if its role may or its override lets it, and a
// role that no table has unless it delivers findings.
func TestWhoMayChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of     boundSession
		schema string
		want   bool
	}{
		{bound(contract.Builder, contract.Execution, nil), "", true},
		{bound(contract.Builder, contract.Execution, nil), deliver.SchemaFindings, true},
		{bound(contract.Validator, contract.Validation, nil), "", false},
		{bound(contract.Validator, contract.Validation, collapsing("validation", "planning")), "", false},
		{bound(contract.Validator, contract.Validation, collapsing("validation", "resolution")), "", true},
		{bound(contract.General, "", nil), "", true},
		{bound("scribe", "", nil), "", true},
		{bound("scribe", "", nil), deliver.SchemaFindings, false},
		{bound("scribe", contract.Planning, nil), "", false},
		{boundSession{}, "", true},
	} {
		c.of.schema = c.schema
		if c.of.canMutate() != c.want {
			t.Errorf("%s in %q under %v delivers %q: not %v", c.of.role, c.of.mode, c.of.override, c.schema, c.want)
		}
	}
	b := bound(contract.Builder, contract.Execution, collapsing("execution", "validation"))
	for _, p := range []contract.Pair{{From: contract.Execution, To: contract.Planning}, {From: contract.Planning, To: contract.Execution}} {
		if b.isCollapsed(p) || !b.isCollapsed(contract.Pair{From: contract.Execution, To: contract.Validation}) {
			t.Errorf("%v is collapsed, or execution to validation is not", p)
		}
	}
	if bound(contract.Builder, contract.Execution, nil).isCollapsed(contract.Pair{From: contract.Execution, To: contract.Execution}) {
		t.Error("collapsed without an override")
	}
	for kind, tasks := range map[event.Kind]map[string]bool{event.Engage: {"run-1": true, "t-1": false}, event.Claim: {"run-1": true, "t-1": true}} {
		for task, ok := range tasks {
			r := event.Record{Kind: kind, Run: "run-1", Task: task, Data: eventtest.Data(kind, map[string]any{"contract_role": "observer"})}
			if got := checkEngagement(r); got == "" != ok {
				t.Errorf("%s of %s: %q", kind, task, got)
			}
		}
	}
	for role, ok := range map[string]bool{"observer": true, "validator": true, "builder": false, "resolver": false} {
		r := event.Record{Kind: event.Engage, Run: "run-1", Task: "run-1", Data: eventtest.Data(event.Engage, map[string]any{"contract_role": role})}
		if got := checkEngagement(r); got == "" != ok {
			t.Errorf("%s engages: %q", role, got)
		}
		eventtest.Set(&r, "override", map[string]any{"by": "x", "modes": []string{"validation", "execution"}, "reason": "x", "risks": []string{"x"}})
		if checkEngagement(r) == "" {
			t.Errorf("%s engages under an override that lets it change files", role)
		}
	}
}

// TestSessionOfARecord: what a record says of its contract is what the rules judge.
func TestSessionOfARecord(t *testing.T) {
	t.Parallel()
	r := event.Record{Kind: event.Session, Run: "run-1", Task: "t-1", Data: event.SessionData{Deliverable: "d", Handoff: "h.md", Contract: &event.SessionContract{Role: "planner", Mode: "planning", Handoffs: []event.GivenFile{{Path: "a.md", Blob: "b"}}}}}
	b := readSession(r)
	if !b.said || b.run != "run-1" || b.task != "t-1" || b.role != contract.Planner || b.mode != contract.Planning || b.schema != "d" || b.handoff != "h.md" || !slices.Equal(b.handoffs, [][2]string{{"a.md", "b"}}) || b.sessionName() != "a session of the planner" {
		t.Errorf("%+v", b)
	}
	r.Data = event.SessionData{}
	if b = readSession(r); b.said || b.sessionName() != "a session without a contract" || (boundSession{said: true}).sessionName() != "a session of the role of no name" {
		t.Errorf("%+v, %s", b, b.sessionName())
	}
}
