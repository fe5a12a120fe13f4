package gate

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Write is an object that a gate may write, with the acts that may.
type Write struct {
	Gate   Gate
	Object string   // lease, decisions, principles, pause, tasks, odd.toml
	Acts   []string // "" for any
}

// gateWrites returns the matrix of what each gate may write. Every gate commit also holds its
// row of gates.jsonl, and may hold dispositions of proposals.
func gateWrites() []Write {
	return []Write{
		{Framing, "lease", acts[Framing]},
		{Framing, "decisions", []string{"draft", "renew"}}, // only with the act that locks the frame
		{Commitment, "lease", acts[Commitment]},
		{Commitment, "decisions", nil},
		{Commitment, "odd.toml", []string{"activate"}}, // the first activation turns leases on
		{EvaluationGate, "lease", acts[EvaluationGate]},
		{EvaluationGate, "decisions", nil}, // only superseding ones
		{EvaluationGate, "principles", nil},
		{EvaluationGate, "odd.toml", []string{"release"}}, // leases off
		{Emergency, "lease", acts[Emergency]},
		{Emergency, "decisions", nil},
		{Emergency, "pause", nil},
		{Emergency, "tasks", nil}, // open claims, to blocked
	}
}

// May reports whether an act at a gate may write an object.
func May(g Gate, act, object string) bool {
	return slices.Contains(acts[g], act) && slices.ContainsFunc(gateWrites(), func(w Write) bool {
		return w.Gate == g && w.Object == object && (len(w.Acts) == 0 || slices.Contains(w.Acts, act))
	})
}

// objectOf returns what a path of a gate commit is: "gate" for what every gate writes, ""
// for what none does. Paths are below the bundle root; odd.toml, which is not, is written
// "/odd.toml".
func objectOf(p string) string {
	switch {
	case p == LeasePath:
		return "lease"
	case p == DecisionsPath:
		return "decisions"
	case p == GatesPath, path.Dir(p) == "proposals" && path.Ext(p) == ".jsonl":
		return "gate"
	case p == "pause.toml":
		return "pause"
	case p == "/odd.toml":
		return "odd.toml"
	case strings.HasPrefix(p, "canon/") && path.Ext(p) == ".md":
		return "principles"
	case strings.HasPrefix(p, "tasks/") && path.Ext(p) == ".md":
		return "tasks"
	}
	return ""
}

// changeableFields are the fields of lease.toml that an act may change. draft and revise
// write the lease itself, but choose no times and no state.
var changeableFields = map[string][]string{
	"frame": {"stance"}, "enter": {"stance"},
	"expire": {"stance", "lease.state"}, "release": {"stance", "lease.state"}, "suspend": {"stance", "lease.state"},
	"activate": {"stance", "lease.state", "lease.activated_at", "lease.expires_at", "lease.scope.work_orders"},
	"renew":    {"stance", "lease.activated_at", "lease.expires_at", "lease.scope.work_orders"},
	"draft":    append([]string{"version", "lease.id", "lease.state", "lease.activated_at", "lease.expires_at"}, leaseFields...),
	"revise":   leaseFields,
}

// leaseFields are the fields that say what is committed to.
var leaseFields = []string{
	"stance", "lease.frame", "lease.horizon", "lease.success_criteria", "lease.non_goals", "lease.renewal_prompt", "lease.max_tasks", "lease.milestone", "lease.signals",
	"lease.budget_usd", "lease.scope.kinds", "lease.scope.roles", "lease.scope.tags", "lease.scope.tasks", "lease.scope.paths", "lease.scope.work_orders",
}

// forbiddenFields returns the fields that differ and that the act may not change.
func forbiddenFields(act string, before, after File) []string {
	var out []string
	for _, c := range diffLeases(before, after) {
		if !slices.Contains(changeableFields[act], c.Field) {
			out = append(out, c.Field)
		}
	}
	return out
}

// Audit returns what a gate commit did that its gate does not allow. before and after are
// the lease, the zero File for none. changed are the changed paths below the bundle root,
// with odd.toml as "/odd.toml". It reads the same tables as Do.
func Audit(g Gate, act string, before, after File, changed []string) []string {
	if !slices.Contains(acts[g], act) {
		return []string{fmt.Sprintf("the %s gate has no act %q", g, act)}
	}
	var out []string
	bad := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, p := range changed {
		switch object := objectOf(p); {
		case object == "gate":
		case object == "":
			bad("%s is nothing a gate writes", p)
		case !May(g, act, object):
			bad("%s at the %s gate may not write %s (%s)", act, g, p, object)
		}
	}
	if !slices.Contains(changed, GatesPath) {
		bad("%s has no new row", GatesPath)
	}
	if g == Emergency && !slices.Contains(changed, DecisionsPath) {
		bad("the emergency logged no decision in %s", DecisionsPath)
	}
	if len(diffLeases(before, after)) > 0 && !slices.Contains(changed, LeasePath) {
		bad("the lease differs, but %s is not among the changed", LeasePath)
	}
	return append(out, auditLease(g, act, before, after)...)
}

func auditLease(g Gate, act string, before, after File) []string {
	var out []string
	bad := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	was, is := stateOf(before), stateOf(after)
	to, ok := stateAfter(was, act)
	if !ok || to != is {
		bad("%s: the lease went from %s to %s", act, was, is)
	}
	if is == None {
		return out
	}
	for _, f := range forbiddenFields(act, before, after) {
		bad("%s at the %s gate may not change %s", act, g, f)
	}
	if !canLead(before.Stance, g, act, after.Stance) {
		bad("the %s gate does not lead from %s to %q", g, before.Stance, after.Stance)
	}
	if after.Stance == Execution && is != Active {
		bad("execution with a lease that is %s", is)
	}
	if !isFinal(was) && before.Lease.ID != after.Lease.ID {
		bad("%s became %s", before.Lease.ID, after.Lease.ID)
	}
	if was == Suspended && after.Lease.ID == before.Lease.ID && after.Lease.ExpiresAt.After(before.Lease.ExpiresAt) {
		bad("%s was suspended and lasts longer now", after.Lease.ID)
	}
	for _, p := range after.checkFile() {
		bad("%s", p)
	}
	return out
}

// canLead reports whether the gate may take the stance from one to another. Without a stance
// before it may set any.
func canLead(from Stance, g Gate, act string, to Stance) bool {
	if from == "" {
		return true
	}
	_, err := nextStance(from, g, act, to)
	return err == nil && to != ""
}

func stateOf(f File) State {
	if f.Lease.ID == "" {
		return None
	}
	return f.Lease.State
}

// Change is one field of the lease before and after, as lease.toml writes its value; "" for
// none.
type Change struct {
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// diffLeases returns the fields that differ, in the order of lease.toml.
func diffLeases(before, after File) []Change {
	var out []Change
	for _, k := range fields {
		if b, a := k.show(before), k.show(after); b != a {
			out = append(out, Change{k.key, b, a})
		}
	}
	return out
}

// show returns the value of a field, "" if it is empty or there is no lease.
func (k field) show(f File) string {
	value := k.get(f)
	if f.Lease.ID == "" || value == `""` || value == "[]" || k.key == "lease.activated_at" && f.Lease.ActivatedAt.IsZero() {
		return ""
	}
	return value
}
