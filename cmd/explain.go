package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/canon"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/session/servers"
	"github.com/odd-cli/odd/persona/session/toolbox"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
)

func explainVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "explain",
		Usage:     "say what a code in a message means, such as [state]",
		ArgsUsage: "[CODE]",
		Description: "odd explain stale_base\n" +
			"odd explain A_TEN_SYNTAX\n" +
			"odd explain\n\n" +
			"Without CODE, it lists every code with its meaning.",
		Flags:  []cli.Flag{jsonFlag()},
		Action: do(env, runExplain),
	})
}

// code is one code a person may meet in a message, a finding, a record or a verdict.
type code struct {
	Code    string `json:"code"`
	Kind    string `json:"kind"`
	Means   string `json:"means"`
	Example string `json:"example,omitempty"` // what causes it
	Fix     string `json:"fix,omitempty"`
	also    string // another spelling that odd prints, "" for none
}

// isNamed reports whether c is the code that a person typed: in any case, without what
// follows a colon or a comma, and, for a code that ends in _ or -, with any name behind it.
func (c code) isNamed(typed string) bool {
	typed = strings.ToLower(typed)
	if i := strings.IndexAny(typed, ":,"); i >= 0 {
		typed = typed[:i]
	}
	family := strings.HasSuffix(c.Code, "_") || strings.HasSuffix(c.Code, "-")
	return typed == strings.ToLower(c.Code) || c.also != "" && typed == c.also || family && strings.HasPrefix(typed, c.Code)
}

// allCodes lists every code that odd prints, those of one kind together: the everyday first.
func allCodes() []code {
	all := slices.Concat(refusalCodes(), leaseCodes(), sessionCodes(), changeCodes(), laneCodes(), callCodes(), atomCodes(), anchorCodes(), findingCodes(), reportCodes())
	first := map[string]int{}
	for i, c := range slices.Backward(all) {
		first[c.Kind] = i
	}
	slices.SortStableFunc(all, func(a, b code) int { return first[a.Kind] - first[b.Kind] })
	return all
}

// anchorCodes returns the codes of odd anchor.
func anchorCodes() []code {
	var out []code
	for _, a := range anchor.Explanations() {
		out = append(out, code{Code: string(a.Code), Kind: "write permit", Means: a.Means, Example: a.Example, Fix: a.Remedy})
	}
	return out
}

// findingCodes returns the codes of odd check.
func findingCodes() []code {
	var out []code
	for _, r := range slices.Concat(okfRules(), canon.Rules()) {
		out = append(out, code{Code: r.Name, Kind: "finding of odd check", Means: toSentence(fmt.Sprintf("%s (%s)", r.About, r.Severity))})
	}
	return out
}

// changeCodes returns the codes of agents' file changes: why one ended or waits, its
// tier and risks, denied tool calls, and the rules about a diff.
func changeCodes() []code {
	var out []code
	add := func(kind, name, means, fix string) {
		means, own, _ := strings.Cut(means, "; ")
		out = append(out, code{Code: name, Kind: kind, Means: toSentence(means), Fix: toSentence(cmp.Or(own, fix))})
	}
	for _, r := range pipeline.Reasons() {
		add("end of a change", string(r), pipeline.Explain(r), "")
	}
	for _, h := range pipeline.Helds() {
		add("why a change waits", h.Code, h.Text, "`odd review` shows the change, and `odd approve TASK` lands it")
	}
	for _, s := range pipeline.Stops() {
		add("why a repair stopped", s.Code, s.Text, "`odd op show OP` shows every try; `odd op retry OP` puts the task on the board again")
	}
	for _, f := range pipeline.CheckFindings() {
		add("check of a change", f.Code, f.Text, "")
	}
	for _, f := range pipeline.Faults() {
		add("agent's delivery", f.Code, f.Text, "odd tells the agent, which delivers again; if it cannot, `odd op retry OP` starts over")
	}
	for _, tier := range pipeline.Tiers() {
		add("risk tier", tier, tierMeans(tier), "")
	}
	for _, r := range pipeline.RiskRules() {
		add("risk of a change", r.Code, strings.TrimSuffix(fmt.Sprintf("%s (%s)", r.Meaning, r.Tier), " ()"), r.Way)
	}
	granted := policy.GrantRules()
	for _, r := range granted {
		add("denied tool call", r.Code, "the call "+r.Meaning, r.Remedy)
	}
	for _, r := range toolbox.Rules() {
		if !r.Lets && !slices.ContainsFunc(granted, func(g policy.GrantRule) bool { return g.Code == r.Code }) {
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

// tierMeans says what a tier lets happen.
func tierMeans(tier string) string {
	return map[string]string{
		"SAFE_AUTO":         "No rule objects. With [pipeline] auto_apply the change lands once its checks pass; a person still reviews the task.",
		"NOTIFY_APPLY":      "Something should be looked at. With [pipeline] auto_apply a person at the terminal is shown the change and may let it land.",
		"APPROVAL_REQUIRED": "The change waits until a person approves it, whatever odd.toml says.",
		"BLOCKED":           "odd and agents may not make this change; a person makes it by hand.",
	}[tier]
}

func runCodes(env Env, asJSON bool) error {
	if asJSON {
		return printJSON(env, allCodes())
	}
	if !env.Terminal {
		rows := [][]string{}
		for _, c := range allCodes() {
			rows = append(rows, []string{c.Code, c.Kind, c.Means})
		}
		return printRows(env, rows)
	}
	kind := ""
	for _, c := range allCodes() {
		if c.Kind != kind {
			kind = c.Kind
			fmt.Fprintf(env.Stdout, "%s\n", toSentence(kind))
		}
		fmt.Fprint(env.Stdout, foldLine("  "+c.Code+"  "+c.Means, env.terminalWidth()), "\n")
	}
	return nil
}

func runExplain(c *cli.Context, env Env) error {
	if c.NArg() == 0 {
		return runCodes(env, c.Bool("json"))
	}
	typed := strings.Trim(c.Args().First(), " []")
	all := allCodes()
	found := slices.DeleteFunc(slices.Clone(all), func(c code) bool { return !c.isNamed(typed) })
	if len(found) == 0 {
		var known []string
		for _, c := range all {
			known = append(known, c.Code)
		}
		way := "odd explain without one lists them"
		if near := okf.Nearest(typed, known); near != "" {
			way = "did you mean " + near + "?"
		}
		return fmt.Errorf("explain: unknown code %q; %s", typed, way)
	}
	if c.Bool("json") {
		return printJSON(env, found)
	}
	out := foldedOutput(env)
	for _, c := range found {
		fmt.Fprintf(out, "%s (%s)\n  %s\n", c.Code, c.Kind, c.Means)
		if c.Example != "" {
			fmt.Fprintf(out, "  for example: %s\n", c.Example)
		}
		if c.Fix != "" {
			fmt.Fprintf(out, "  what to do: %s\n", c.Fix)
		}
	}
	return nil
}
