package contract

import (
	"fmt"
	"slices"
)

// ToolRow is one tool that odd knows. The list is closed: an unknown name is refused, so no
// misspelling reaches a session.
type ToolRow struct {
	Name   string `json:"name"`
	Class  Class  `json:"class"`
	Always bool   `json:"always,omitempty"` // part of every session whose role can use it
	Person bool   `json:"person,omitempty"` // only for people; no role has it
	About  string `json:"about"`
}

// ToolRows lists all tools in the order of contracts.
func ToolRows() []ToolRow {
	return []ToolRow{
		{Name: "search", Class: Reads, About: "finds atoms by words"},
		{Name: "fetch", Class: Reads, About: "reads a file or a uri"},
		{Name: "get", Class: Reads, About: "reads an atom"},
		{Name: "related", Class: Reads, About: "lists an atom's neighbours"},
		{Name: "expand", Class: Reads, About: "walks the graph from an atom"},
		{Name: "why", Class: Reads, About: "tells where a claim comes from"},
		{Name: "orient", Class: Reads, About: "tells where the work stands"},
		{Name: "challenge", Class: Reads, About: "asks what a claim rests on"},
		{Name: "gate", Class: Reads, About: "asks whether a transition is due"},
		{Name: "preflight", Class: Reads, About: "lists what governs before work starts"},
		{Name: "web-search", Class: Reads, About: "searches outside the bundle"},
		{Name: "query", Class: Reads, About: "asks a knowledge base"},
		{Name: "audit", Class: Reads, About: "checks references and canon"},
		{Name: "validate", Class: Reads, About: "checks claims against evidence"},
		{Name: "encode", Class: Drafts, About: "drafts a journal entry"},
		{Name: "say", Class: Drafts, Always: true, About: "says something while it works"},
		{Name: "emit_deliverable", Class: Drafts, Always: true, About: "hands over the deliverable"},
		{Name: "finish", Class: Drafts, Always: true, About: "ends the session with its outcome"},
		{Name: "emit_atom", Class: Mutates, About: "proposes an atom"},
		{Name: "emit_change", Class: Mutates, About: "proposes a change to files"},
		{Name: "write", Class: Mutates, About: "writes a file"},
		{Name: "edit", Class: Mutates, About: "changes a file"},
		{Name: "exec", Class: Mutates, About: "runs a command"},
		{Name: "commit", Class: Mutates, About: "makes a commit"},
		{Name: "push", Class: Mutates, About: "sends commits away"},
		{Name: "pull_request", Class: Mutates, About: "opens a pull request"},
		{Name: "merge", Class: Mutates, Person: true, About: "lands work on its target"},
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
