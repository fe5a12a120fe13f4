package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/session/servers"
	"github.com/odd-cli/odd/persona/session/toolbox"
	"github.com/odd-cli/odd/reconcile/irongate"
)

func explainVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "explain",
		Usage:       "explain a code that odd printed, such as [state]; without one, list them",
		ArgsUsage:   "[CODE]",
		Description: "odd explain stale_base\nodd explain A_TEN_SYNTAX\nodd explain",
		Flags:       []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return runCodes(env, c.Bool("json"))
			}
			code, err := oneArg(c, "CODE")
			if err != nil {
				return err
			}
			return runExplain(env, strings.Trim(code, "[]"), c.Bool("json"))
		},
	})
}

// code is one code a person may meet in a message, a finding, a record or a verdict.
type code struct {
	Code    string `json:"code"`
	Kind    string `json:"kind"`
	Means   string `json:"means"`
	Example string `json:"example,omitempty"` // what causes it
	Fix     string `json:"fix,omitempty"`
}

// is reports whether c is the code that a person typed: in any case, without what
// follows a colon, and, for a code that ends in _, with any name behind it.
func (c code) is(typed string) bool {
	typed, _, _ = strings.Cut(strings.ToLower(typed), ":")
	return typed == strings.ToLower(c.Code) || strings.HasSuffix(c.Code, "_") && strings.HasPrefix(typed, c.Code)
}

// codes lists every code that odd prints.
func codes() []code {
	return slices.Concat(changeCodes(), anchorCodes(), findingCodes())
}

// anchorCodes are the codes of odd anchor.
func anchorCodes() []code {
	var out []code
	for _, a := range anchor.Explanations() {
		out = append(out, code{Code: string(a.Code), Kind: "anchor", Means: a.Means, Example: a.Example, Fix: a.Remedy})
	}
	return out
}

// findingCodes are the codes of odd check.
func findingCodes() []code {
	var out []code
	for _, r := range slices.Concat(okfRules(), canonRules()) {
		out = append(out, code{Code: r.id, Kind: "finding", Means: fmt.Sprintf("%s (%s)", r.about, r.severity)})
	}
	return out
}

// changeCodes are the codes of agents' file changes: why one ended or waits, its
// tier and risks, refused tool calls, and the rules about a diff.
func changeCodes() []code {
	var out []code
	for _, r := range pipeline.Reasons() {
		var ends []string
		for _, e := range r.Ends() {
			ends = append(ends, string(e))
		}
		out = append(out, code{Code: string(r), Kind: "ending", Means: pipeline.Explain(r) + " (an op ends as " + strings.Join(ends, " or ") + ")"})
	}
	for _, h := range pipeline.Helds() {
		out = append(out, code{Code: string(h), Kind: "held", Means: pipeline.ExplainHeld(h) + "; a change that might have landed by itself waits for a person", Fix: "odd review shows it, and odd approve lands it"})
	}
	for _, s := range pipeline.Stops() {
		out = append(out, code{Code: s.Code, Kind: "repair", Means: s.Text + " (why a repair stopped; its op ends as repair_stopped)"})
	}
	for _, f := range pipeline.CheckFindings() {
		out = append(out, code{Code: f.Code, Kind: "check", Means: f.Text})
	}
	for _, f := range pipeline.Faults() {
		out = append(out, code{Code: f.Code, Kind: "delivery", Means: f.Text, Fix: "the session is told and delivers again; where it cannot, odd op retry begins another"})
	}
	for _, tier := range pipeline.Tiers() {
		out = append(out, code{Code: tier, Kind: "tier", Means: tierMeans(tier)})
	}
	for _, name := range pipeline.RiskCodes() {
		r, _ := pipeline.ExplainRisk(name)
		out = append(out, code{Code: name, Kind: "risk", Means: strings.TrimSuffix(fmt.Sprintf("%s (%s)", r.Meaning, r.Tier), " ()"), Fix: r.Way})
	}
	for _, r := range toolbox.Rules() {
		if !r.Lets {
			out = append(out, code{Code: r.Code, Kind: "tool", Means: "a tool call of a session was refused: it " + r.When, Fix: "the session is told and goes on; ask for less, or let odd.toml or the task allow it"})
		}
	}
	for _, c := range servers.Codes() {
		what, fix := "a call of an MCP server's tool came to nothing: ", "the session is told and goes on"
		if c.Lost {
			what, fix = "an MCP server of odd.toml is lost: ", "odd mcp servers --check starts it and tells more"
		}
		out = append(out, code{Code: c.Code, Kind: "mcp", Means: what + c.Means, Fix: fix})
	}
	for _, r := range irongate.Rules() {
		out = append(out, code{Code: r.Code, Kind: "rule", Means: fmt.Sprintf("%s (%s)", r.Meaning, r.Severity), Fix: r.Fix})
	}
	return out
}

// tierMeans says what a tier lets happen.
func tierMeans(tier string) string {
	return map[string]string{
		"SAFE_AUTO":         "nothing speaks against it; with [pipeline] auto_apply it lands when its checks are through, and its task waits for a person",
		"NOTIFY_APPLY":      "there is something to look at; with [pipeline] auto_apply a person at the terminal sees it and may let it land, and its task waits for a person",
		"APPROVAL_REQUIRED": "it waits until a person approves it, whatever odd.toml says",
		"BLOCKED":           "no machine may make this change; a person makes it by hand, or files a task whose paths name it",
	}[tier]
}

func runCodes(env Env, asJSON bool) error {
	if asJSON {
		return printJSON(env, codes())
	}
	rows := [][]string{}
	for _, c := range codes() {
		rows = append(rows, []string{c.Code, c.Kind, c.Means})
	}
	return printRows(env, rows)
}

func runExplain(env Env, typed string, asJSON bool) error {
	all := codes()
	found := slices.DeleteFunc(slices.Clone(all), func(c code) bool { return !c.is(typed) })
	if len(found) == 0 {
		var known []string
		for _, c := range all {
			known = append(known, c.Code)
		}
		return unknownCode("explain", typed, known)
	}
	if asJSON {
		return printJSON(env, found)
	}
	for _, c := range found {
		fmt.Fprintf(env.Stdout, "%s (%s)\n  %s\n", c.Code, c.Kind, c.Means)
		if c.Example != "" {
			fmt.Fprintf(env.Stdout, "  for example: %s\n", c.Example)
		}
		if c.Fix != "" {
			fmt.Fprintf(env.Stdout, "  what to do: %s\n", c.Fix)
		}
	}
	return nil
}
