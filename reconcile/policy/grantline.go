package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// refuseCommand holds a command to what a person listed, and to the rules about commands.
func (g Grant) refuseCommand(a Action) *Refusal {
	switch {
	case g.terms.Open:
		return g.refuseLine(a)
	case len(a.Argv) == 0 || a.Argv[0] == "":
		return Refuse("command_not_allowed", "the call names no program")
	case a.In.Root == "" || !g.terms.listsCommand(a.Argv, a.Longer):
		remedy := "a person can add it to [toolbox] run in odd.toml"
		if may := g.terms.Runs(a.Longer); len(may) > 0 {
			remedy = "a command may be: " + strings.Join(may, "; ") + "; " + remedy
		}
		return Refuse("command_not_allowed", "the command %q is not allowed; %s", strings.Join(a.Argv, " "), remedy)
	}
	v := JudgeArgv(a.Argv, CommandPolicy{Allow: slices.Concat(g.terms.Commands, g.terms.Checks), Protect: g.terms.Protect, Root: a.In.Root, Outside: a.In.Outside, Files: a.In.Files})
	return refuseFor("command_not_allowed", "", v.hardFindings(), sayWithCode)
}

// Runs lists the commands that may run. Where "..." stands, more words may follow.
func (t Terms) Runs(longer bool) []string {
	var out []string
	for i, l := range slices.Concat(t.Commands, t.Checks) {
		s := strings.Join(l, " ")
		if longer || i < len(t.Commands) {
			s += " ..."
		}
		out = append(out, s)
	}
	return out
}

func sayWithCode(f Finding) string { return sayFinding(f) + " [" + f.Code + "]" }

// refuseLine judges a command line by what it does: what no rule forbids may read; what is
// known to write or stage these files needs a permit that covers them; what tests needs any
// permit; and what nobody can tell the writes of needs one for the whole work tree.
func (g Grant) refuseLine(a Action) *Refusal {
	v := JudgeCommand(a.Line, CommandPolicy{Work: g.isWork, Protect: g.terms.Protect, Root: a.In.Root, Dir: a.In.Dir, Files: a.In.Files})
	found := v.hardFindings()
	if a.In.Sees != nil {
		found = append(found, a.In.Sees(v)...)
	}
	found = append(found, g.findHidden(a.In, a.In.Root, v.Reads...)...)
	for _, argv := range v.Programs {
		found = append(found, g.findHidden(a.In, path.Join(a.In.Root, a.In.Dir), argv...)...)
	}
	if no := refuseFor("command_not_allowed", "", found, sayWithCode); no != nil || v.ReadOnly() {
		return no
	}
	files, folders, found := a.In.followWrites(v.Writes)
	for _, dir := range folders {
		found = append(found, g.findBelow(a.In, dir)...)
	}
	write := Action{Kind: Write, Paths: files}
	for _, no := range []*Refusal{refuseFor("path_outside_repo", "", found, sayFinding), g.refuseLetters(write), g.refuseProtected(write)} {
		if no != nil {
			return no
		}
	}
	if v.Unknown {
		way := map[bool]string{true: "; a person can list it in [toolbox] run of odd.toml"}
		return g.refuseWhole(a.Line, "what the command writes cannot be told: "+strings.Join(v.Reasons, ", "), way[v.Listable])
	}
	if no := g.refusePermit(write); no != nil {
		return no
	}
	if no := g.refuseStaged(a, v); no != nil {
		return no
	}
	return refuseFor("no_permit", "", findIn(folders, g.findUncoveredBelow), sayFinding)
}

// refuseStaged asks for a permit of all that a line lets git take into the index or a commit. No
// line may also write, because what it writes cannot be looked at before it is committed.
func (g Grant) refuseStaged(a Action, v CommandVerdict) *Refusal {
	if g.isWhole() || len(v.Stages) == 0 && !v.Commits {
		return nil
	}
	files, folders, found := a.In.followWrites(v.Stages)
	if v.Commits {
		if a.In.Staged == nil {
			return g.refuseWhole(a.Line, "what git has in its index cannot be told")
		}
		staged, err := a.In.Staged()
		if err != nil {
			return g.refuseWhole(a.Line, "what git has in its index cannot be told: "+err.Error())
		}
		files = append(files, staged...)
	}
	if len(v.Writes) > 0 {
		found = append(found, Finding{Code: OutsidePermit, Severity: Hard, How: BySyntax, Path: a.Line, Text: "the line writes files and has git take some in", Fix: "a line that writes, and then one for git"})
	}
	return refuseFor("no_permit", "", slices.Concat(found, findIn(files, g.findUncovered), findIn(folders, g.findUncoveredBelow)), sayFinding)
}

// findUncoveredBelow asks for a permit of everything below a folder: a glob that ends in ** at
// or above it, and none denied.
func (g Grant) findUncoveredBelow(dir string) []Finding {
	if len(g.terms.Allow) == 0 && len(g.terms.Deny) == 0 {
		return nil
	}
	for _, glob := range g.terms.Allow {
		top, all := strings.CutSuffix("/"+glob, "/**")
		if all && len(g.terms.Deny) == 0 && !strings.ContainsAny(top, `*?[\`) && strings.HasPrefix("/"+dir+"/", top+"/") {
			return nil
		}
	}
	return []Finding{{Code: OutsidePermit, Severity: Hard, How: ByBytes, Path: dir, Text: fmt.Sprintf("the permit does not cover everything below %q", dir+"/"), Fix: g.terms.Writable()}}
}

// isWhole reports a permit for the whole work tree.
func (g Grant) isWhole() bool {
	return (len(g.terms.Allow) == 0 || slices.Contains(g.terms.Allow, "**")) && len(g.terms.Deny) == 0
}

// refuseWhole refuses, for a reason, under a permit that leaves anything out. way is another way out.
func (g Grant) refuseWhole(what, why string, way ...string) *Refusal {
	if no := g.refusePermit(Action{}); no != nil || g.isWhole() {
		return no
	}
	return refuseFor("no_permit", "", []Finding{{Code: OutsidePermit, Severity: Hard, How: BySyntax, Path: what, Text: why + ", and the permit is not for the whole work tree" + strings.Join(way, ""), Fix: g.terms.Writable()}}, sayFinding)
}

func (v CommandVerdict) hardFindings() []Finding {
	return slices.DeleteFunc(slices.Clone(v.Findings), func(f Finding) bool { return f.Severity != Hard })
}
