// Package explain says what every code means that odd prints: in the brackets behind a
// message, in a finding, a record or a verdict. Where a package lists its own codes, they
// come from there; the texts here are of codes that no package lists.
package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/canon"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session/servers"
	"github.com/odd-cli/odd/persona/session/toolbox"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Code is one code a person may meet in a message, a finding, a record or a verdict.
type Code struct {
	Code    string `json:"code"`
	Kind    string `json:"kind"`
	Means   string `json:"means"`
	Example string `json:"example,omitempty"` // what causes it
	Fix     string `json:"fix,omitempty"`
	also    string // another spelling that odd prints, "" for none
}

// IsNamed reports whether c is the code that a person typed: in any case, without what
// follows a colon or a comma, and, for a code that ends in _ or -, with any name behind it.
func (c Code) IsNamed(typed string) bool {
	typed = strings.ToLower(typed)
	if i := strings.IndexAny(typed, ":,"); i >= 0 {
		typed = typed[:i]
	}
	family := strings.HasSuffix(c.Code, "_") || strings.HasSuffix(c.Code, "-")
	return typed == strings.ToLower(c.Code) || c.also != "" && typed == c.also || family && strings.HasPrefix(typed, c.Code)
}

// Codes lists every code that odd prints, those of one kind together and sorted: the everyday kind first.
func Codes() []Code {
	all := slices.Concat(refusalCodes(), leaseCodes(), sessionCodes(), changeCodes(), laneCodes(), toolCallCodes(), atomCodes(), anchorCodes(), findingCodes(), reportCodes())
	first := map[string]int{}
	for i, c := range slices.Backward(all) {
		first[c.Kind] = i
	}
	slices.SortStableFunc(all, func(a, b Code) int {
		return cmp.Or(first[a.Kind]-first[b.Kind], strings.Compare(strings.ToLower(a.Code), strings.ToLower(b.Code)))
	})
	return all
}

// anchorCodes returns the codes of odd anchor.
func anchorCodes() []Code {
	var out []Code
	for _, a := range anchor.Explanations() {
		out = append(out, Code{Code: string(a.Code), Kind: "write permit", Means: a.Means, Example: a.Example, Fix: a.Remedy})
	}
	return out
}

// findingCodes returns the codes of odd check.
func findingCodes() []Code {
	var out []Code
	add := func(check string, rules []okf.Code) {
		for _, r := range rules {
			out = append(out, Code{Code: r.Name, Kind: "finding of odd check", Means: Sentence(fmt.Sprintf("%s (%s)", r.About, r.Severity)),
				Fix: "`" + check + "` prints the file, the line and how to mend it."})
		}
	}
	add("odd check", append(okf.Codes(), contract.Codes()...))
	add("odd check --canon", canon.Rules())
	return out
}

// changeCodes returns the codes of agents' file changes: why one ended or waits, its
// tier and risks, denied tool calls, and the rules about a diff.
func changeCodes() []Code {
	var out []Code
	add := func(kind, name, means, fix string) {
		means, own, _ := strings.Cut(means, "; ")
		out = append(out, Code{Code: name, Kind: kind, Means: Sentence(means), Fix: Sentence(cmp.Or(own, fix))})
	}
	for _, r := range pipeline.Reasons() {
		add("end of a change", string(r), pipeline.Explain(r), "")
	}
	addAll := func(kind, fix string, all []pipeline.Meaning) {
		for _, m := range all {
			add(kind, m.Code, m.Text, fix)
		}
	}
	addAll("state of a change that ended", "the code after the colon says why: `odd explain CODE`; `odd op show OP` shows each step", []pipeline.Meaning{
		{Code: "complete", Text: "the change landed, or there was nothing to change"},
		{Code: "blocked", Text: "a rule refused the change, and would refuse it again"},
		{Code: "cancelled", Text: "a person cancelled the change, or what it was made from has changed"},
		{Code: "expired", Text: "the change's time ran out"},
		{Code: "failed_permanent", Text: "the change could not be made, and no branch was moved"},
		{Code: "postmortem", Text: "something went wrong after a branch was moved, or may have been moved"},
	})
	add("result of a task", "nothing", "the session proposed no atom and no file change", "`odd task show TASK` says why and what to do")
	addAll("why a change waits", "`odd review` shows the change, and `odd approve TASK` lands it", pipeline.Helds())
	addAll("why a repair stopped", "`odd op show OP` shows every try; `odd task ready TASK` puts the task on the board again", pipeline.Stops())
	addAll("check of a change", "", pipeline.CheckFindings())
	addAll("agent's delivery", "odd tells the agent, which delivers again; if it cannot, `odd task ready TASK` starts over", pipeline.Faults())
	addAll("risk tier", "", []pipeline.Meaning{
		{Code: "SAFE_AUTO", Text: "no rule objects: with [pipeline] auto_apply the change lands once its checks pass, and a person still reviews the task"},
		{Code: "NOTIFY_APPLY", Text: "something should be looked at: with [pipeline] auto_apply a person at the terminal is shown the change and may let it land"},
		{Code: "APPROVAL_REQUIRED", Text: "the change waits until a person approves it, whatever odd.toml says"},
		{Code: "BLOCKED", Text: "odd and agents may not make this change, and a person makes it by hand"},
	})
	for _, r := range pipeline.RiskRules() {
		add("risk of a change", r.Code, strings.TrimSuffix(fmt.Sprintf("%s (%s)", r.Meaning, r.Tier), " ()"), r.Way)
	}
	granted := policy.GrantRules()
	for _, r := range granted {
		add("denied tool call", r.Code, "the call "+r.Meaning, r.Remedy)
	}
	for _, r := range toolbox.Rules() {
		if !slices.ContainsFunc(granted, func(g policy.GrantRule) bool { return g.Code == r.Code }) {
			add("denied tool call", r.Code, "the call "+r.When, "odd tells the agent, which goes on; a person may allow more in odd.toml or in the task")
		}
	}
	for _, c := range servers.Codes() {
		if c.Lost {
			add("lost MCP server", c.Code, c.Means, "`odd mcp servers --check` starts it and shows what it says")
		} else {
			add("failed MCP call", c.Code, c.Means, "odd tells the agent, which goes on")
		}
	}
	for _, r := range lint.Rules() {
		add("rule about a change", r.Code, fmt.Sprintf("%s (%s)", r.Meaning, r.Severity), r.Fix)
	}
	return out
}
