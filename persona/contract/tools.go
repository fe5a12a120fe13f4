package contract

import (
	"fmt"
	"slices"
)

// ToolRow is one tool that odd knows. The list is closed: an unknown name is refused, so no
// misspelling reaches a session.
type ToolRow struct {
	Name   string
	Class  Class
	Always bool // part of every session whose role can use it
	Person bool // only for people; no role has it
}

// ToolRows lists all tools in the order of contracts.
func ToolRows() []ToolRow {
	return []ToolRow{
		{Name: "search", Class: Reads},
		{Name: "fetch", Class: Reads},
		{Name: "get", Class: Reads},
		{Name: "related", Class: Reads},
		{Name: "expand", Class: Reads},
		{Name: "why", Class: Reads},
		{Name: "orient", Class: Reads},
		{Name: "challenge", Class: Reads},
		{Name: "gate", Class: Reads},
		{Name: "preflight", Class: Reads},
		{Name: "web-search", Class: Reads},
		{Name: "query", Class: Reads},
		{Name: "audit", Class: Reads},
		{Name: "validate", Class: Reads},
		{Name: "encode", Class: Drafts},
		{Name: "say", Class: Drafts, Always: true},
		{Name: "emit_deliverable", Class: Drafts, Always: true},
		{Name: "finish", Class: Drafts, Always: true},
		{Name: "emit_atom", Class: Mutates},
		{Name: "emit_change", Class: Mutates},
		{Name: "write", Class: Mutates},
		{Name: "edit", Class: Mutates},
		{Name: "exec", Class: Mutates},
		{Name: "commit", Class: Mutates},
		{Name: "push", Class: Mutates},
		{Name: "pull_request", Class: Mutates},
		{Name: "merge", Class: Mutates, Person: true},
	}
}

// lookupTools lists the reading tools that every mode has: canon's search and fetch, and
// odd's four ways to read the bundle.
func lookupTools() []string { return []string{"search", "fetch", "get", "related", "expand", "why"} }

func everyTool() []string { return mapSlice(ToolRows(), func(t ToolRow) string { return t.Name }) }

// scope decides which tools are allowed: by the mode, or by several under an override, and
// by the role whose tools are taken.
type scope struct {
	role  RoleRow
	modes []Mode // none for a role without a mode
	union bool   // an operator's override
}

func (s scope) describe() string {
	switch {
	case s.union:
		return "an override of " + joinPlus(s.modes)
	case len(s.modes) == 0:
		return string(s.role.Role)
	}
	return string(s.role.Role) + " in " + joinPlus(s.modes)
}

// canMutate reports whether the session may change anything: both role and mode must allow
// it, or under an override any of the modes.
func (s scope) canMutate() bool {
	may := func(m Mode) bool {
		row, _ := modeRow(m)
		return !slices.Contains(row.Forbids, Mutates)
	}
	if s.union {
		return slices.ContainsFunc(s.modes, may)
	}
	return s.role.Mutates && !slices.ContainsFunc(s.modes, func(m Mode) bool { return !may(m) })
}

// judgeTool reports whether a tool is allowed, and why or why not.
func (s scope) judgeTool(t ToolRow) (in bool, why string) {
	switch {
	case t.Person:
		return false, "a person's act: no session lands its own work"
	case t.Always:
		return s.judgeOwn(t.Name)
	case t.Class == Mutates && !s.canMutate():
		return false, s.describe() + " changes nothing"
	case len(s.modes) == 0 && t.Class == Drafts && !s.role.Mutates:
		return false, s.describe() + " only reads"
	case len(s.modes) == 0:
		return true, s.describe() + " has every tool of class " + string(t.Class)
	}
	for _, m := range s.modes {
		row, _ := modeRow(m)
		if slices.Contains(row.Tools, t.Name) {
			return s.alsoRole(t, m)
		}
	}
	return false, "not on the list of " + joinPlus(s.modes)
}

// judgeOwn decides the session's own tools: a role without a deliverable cannot hand one
// over.
func (s scope) judgeOwn(name string) (bool, string) {
	if name == "emit_deliverable" && s.role.Schema == "" {
		return false, string(s.role.Role) + " hands over no deliverable"
	}
	return true, "the session's own"
}

// alsoRole limits a custom role to the tools of the role that it takes them from.
func (s scope) alsoRole(t ToolRow, m Mode) (bool, string) {
	if row, ok := modeRow(s.role.Mode); ok && !s.union && !slices.Contains(row.Tools, t.Name) {
		return false, fmt.Sprintf("%s may have it, %s's tools do not", m, s.role.Role)
	}
	return true, "on the list of " + string(m)
}

// chooseTools decides every tool. asked has the requested names; none means all that the
// scope allows. A requested tool that is not allowed is refused.
func (s scope) chooseTools(asked []string, no func(Refusal)) []Tool {
	want := s.wantedNames(asked, no)
	var out []Tool
	for _, row := range ToolRows() {
		in, why := s.judgeTool(row)
		wanted := want == nil || want[row.Name]
		switch {
		case in && !wanted && !row.Always:
			in, why = false, "allowed, and not asked for"
		case !in && want != nil && wanted:
			no(s.refuseTool(row, why))
		}
		out = append(out, Tool{Name: row.Name, Class: row.Class, In: in, Why: why})
	}
	return out
}

// wantedNames reads the requested names; nil means all.
func (s scope) wantedNames(asked []string, no func(Refusal)) map[string]bool {
	if len(asked) == 0 {
		return nil
	}
	want := map[string]bool{}
	for _, name := range asked {
		known, err := parseName("tool", name, everyTool())
		if err != nil {
			no(unknownRefusal(err))
			continue
		}
		want[known] = true
	}
	return want
}

func (s scope) refuseTool(t ToolRow, why string) Refusal {
	if t.Class == Mutates && !s.canMutate() {
		return Refusal{"tool-mutates", fmt.Sprintf("tool %s changes things: %s", t.Name, why), "leave it out, or hand over to a role that may: builder by a plan, resolver by findings"}
	}
	return Refusal{"tool-not-allowed", fmt.Sprintf("tool %s: %s", t.Name, why), "leave it out; --explain lists every tool and why"}
}

func joinPlus[T ~string](list []T) string {
	s := ""
	for i, e := range list {
		if i > 0 {
			s += "+"
		}
		s += string(e)
	}
	return s
}
