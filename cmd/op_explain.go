package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/persona/session/servers"
	"github.com/odd-cli/odd/persona/session/toolbox"
	"github.com/odd-cli/odd/reconcile/irongate"
)

func opExplain(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "explain",
		Usage:       "say what a code of the pipeline means and the way out; without one, list them",
		ArgsUsage:   "[CODE]",
		Description: "odd op explain stale_base\nodd op explain",
		Flags:       []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return runOpCodes(env, c.Bool("json"))
			}
			code, err := oneArg(c, "CODE")
			if err != nil {
				return err
			}
			return runOpExplain(env, code, c.Bool("json"))
		},
	})
}

// opCode is one code a person may meet in a record, a finding or a verdict.
type opCode struct {
	Code  string `json:"code"`
	Kind  string `json:"kind"` // ending, held, repair, check, delivery, tier, risk, tool, rule
	Means string `json:"means"`
	Fix   string `json:"fix,omitempty"`
}

// is reports that a code which was met is this one: without regard to case, to what
// it was behind a colon, and to the name at the end of one that ends in _.
func (c opCode) is(code string) bool {
	code, _, _ = strings.Cut(strings.ToLower(code), ":")
	return code == strings.ToLower(c.Code) || strings.HasSuffix(c.Code, "_") && strings.HasPrefix(code, c.Code)
}

// opCodes lists every code: the reasons of endings, the tiers, the risk ladder,
// the refusals of the toolbox, the rules of the iron gate.
func opCodes() []opCode {
	var out []opCode
	for _, r := range pipeline.Reasons() {
		var ends []string
		for _, e := range r.Ends() {
			ends = append(ends, string(e))
		}
		out = append(out, opCode{Code: string(r), Kind: "ending", Means: pipeline.Explain(r) + " (an op ends as " + strings.Join(ends, " or ") + ")"})
	}
	for _, h := range pipeline.Helds() {
		out = append(out, opCode{Code: string(h), Kind: "held", Means: pipeline.ExplainHeld(h) + "; a change that might have landed by itself waits for a person", Fix: "odd review shows it, and odd approve lands it"})
	}
	for _, s := range pipeline.Stops() {
		out = append(out, opCode{Code: s.Code, Kind: "repair", Means: s.Text + " (why a repair stopped; its op ends as repair_stopped)"})
	}
	for _, f := range pipeline.CheckFindings() {
		out = append(out, opCode{Code: f.Code, Kind: "check", Means: f.Text})
	}
	for _, f := range pipeline.Faults() {
		out = append(out, opCode{Code: f.Code, Kind: "delivery", Means: f.Text, Fix: "the session is told and delivers again; where it cannot, odd op retry begins another"})
	}
	for _, tier := range pipeline.Tiers() {
		out = append(out, opCode{Code: tier, Kind: "tier", Means: tierMeans(tier)})
	}
	for _, code := range pipeline.RiskCodes() {
		r, _ := pipeline.ExplainRisk(code)
		out = append(out, opCode{Code: code, Kind: "risk", Means: strings.TrimSuffix(fmt.Sprintf("%s (%s)", r.Meaning, r.Tier), " ()"), Fix: r.Way})
	}
	for _, r := range toolbox.Rules() {
		if !r.Lets {
			out = append(out, opCode{Code: r.Code, Kind: "tool", Means: "a tool call of a session was refused: it " + r.When, Fix: "the session is told and goes on; ask for less, or let odd.toml or the task allow it"})
		}
	}
	for _, c := range servers.Codes() {
		what, fix := "a call of an MCP server's tool came to nothing: ", "the session is told and goes on"
		if c.Lost {
			what, fix = "an MCP server of odd.toml is lost: ", "odd mcp servers --check starts it and tells more"
		}
		out = append(out, opCode{Code: c.Code, Kind: "mcp", Means: what + c.Means, Fix: fix})
	}
	for _, r := range irongate.Rules() {
		out = append(out, opCode{Code: r.Code, Kind: "rule", Means: fmt.Sprintf("%s (%s)", r.Meaning, r.Severity), Fix: r.Fix})
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

func runOpCodes(env Env, asJSON bool) error {
	if asJSON {
		return printJSON(env, opCodes())
	}
	rows := [][]string{}
	for _, c := range opCodes() {
		rows = append(rows, []string{c.Code, c.Kind, c.Means})
	}
	return printRows(env, rows)
}

func runOpExplain(env Env, code string, asJSON bool) error {
	all := opCodes()
	found := slices.DeleteFunc(slices.Clone(all), func(c opCode) bool { return !c.is(code) })
	if len(found) == 0 {
		var known []string
		for _, c := range all {
			known = append(known, c.Code)
		}
		return unknownCode("op explain", code, known)
	}
	if asJSON {
		return printJSON(env, found)
	}
	for _, c := range found {
		fmt.Fprintf(env.Stdout, "%s (%s)\n  %s\n", c.Code, c.Kind, c.Means)
		if c.Fix != "" {
			fmt.Fprintf(env.Stdout, "  the way out: %s\n", c.Fix)
		}
	}
	return nil
}
