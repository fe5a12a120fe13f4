package cmd

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

func decideVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "decide",
		Usage:     "log a decision with its reasons and costs; only a person can",
		ArgsUsage: "\"WHAT\"",
		Description: "odd gate decide \"Times are UTC\" --rationale \"two harbours disagreed\" \\\n" +
			"  --tradeoffs \"visitors convert\" --confidence high \\\n" +
			"  --revisit \"task read-the-handbook done\"\n" +
			"odd gate decide --list\n\n" +
			"A decision belongs to the last gate that was run: a framing that drafted a\n" +
			"lease, a commitment, or an evaluation; after an evaluation, it can only\n" +
			"replace another. Decisions are never edited; a new one replaces an old one\n" +
			"with --supersedes.\n\n" +
			personNote,
		Flags: append(decisionFlags(),
			&cli.BoolFlag{Name: "list", Usage: "list the decisions; a replaced one names its replacement"},
			yesFlag(),
			jsonFlag()),
		Action: do(env, runDecide),
	})
}

// runDecide appends a decision under the gate passed last: one commit by the
// person, of decisions.jsonl alone, after the typed confirmation of its id.
func runDecide(c *cli.Context, env Env) error {
	if c.Bool("list") {
		if err := noArgs(c); err != nil {
			return err
		}
		return on(env, openCurrent, runDecisions)(c)
	}
	what, err := oneArg(c, "what is decided, in quotes")
	if err != nil {
		return err
	}
	d, err := readDecision(c, "decide", what)
	if err != nil {
		return err
	}
	if d == nil {
		return usage("gate decide: the decision is missing; odd gate decide \"WHAT\" --rationale \"WHY\" --tradeoffs \"COST\" --confidence high")
	}
	v, err := openToDecide(c.Context, env, "decide")
	if err != nil {
		return err
	}
	p := &plan{view: v, changes: repo.Changes{}, o: gateOptions{json: c.Bool("json")}}
	if p.slow, err = v.slowLoopOf(nil); err != nil {
		return err
	}
	who, err := v.repo.Identity(c.Context)
	if err != nil {
		return err
	}
	if p.out, err = gate.Decide(p.slow.Slow, *d, "human:"+who.Email, v.actTime()); err != nil {
		return err
	}
	for name, b := range p.out.Files {
		p.changes[v.repoPath(name)] = b
	}
	if err := p.checkReady(c.Context); err != nil {
		return err
	}
	made := p.out.Decision
	h, err := v.confirmHuman(c.Context, decisionPage(made, p.out.Row), "decide "+made.ID, made.ID, c.Bool("yes"))
	if err != nil {
		return err
	}
	msg := commitMessage("decide: "+made.Decision, strings.Join(made.Rationale, "\n"), "Odd-Gate", string(p.out.Row.Gate), "Odd-Decision", made.ID, "Odd-Lease", p.out.Row.Lease, "Odd-By", h.By())
	oid, err := p.commitLocked(c.Context, msg)
	if err != nil {
		return err
	}
	return show(env, c.Bool("json"), map[string]any{"decision": made, "commit": string(oid)}, []string{made.ID, made.Act, made.Confidence, made.Decision, shortID(oid)})
}

// decisionPage returns what the person reads before they confirm a decision.
func decisionPage(d gate.Decision, at gate.Row) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s, at %s, the %s gate: %s\n", d.ID, at.ID, at.Gate, d.Decision)
	for _, r := range d.Rationale {
		fmt.Fprintf(b, "  because     %s\n", r)
	}
	fmt.Fprintf(b, "  costs       %s\n  confidence  %s\n", d.Tradeoffs, d.Confidence)
	for _, r := range d.Revisit {
		fmt.Fprintf(b, "  look again  %s\n", r)
	}
	if d.Supersedes != "" {
		fmt.Fprintf(b, "  instead of  %s\n", d.Supersedes)
	}
	return okf.Visible(b.String())
}

// decisionFlags returns the fields of a decision, behind those given.
func decisionFlags(first ...cli.Flag) []cli.Flag {
	return append(first,
		&cli.StringSliceFlag{Name: "rationale", Usage: "reason for the decision, one `SENTENCE`; give one to three"},
		&cli.StringFlag{Name: "tradeoffs", Usage: "cost of the decision, `TEXT`"},
		&cli.StringFlag{Name: "confidence", Usage: "how sure you are, `LEVEL`: low, med or high"},
		&cli.StringSliceFlag{Name: "revisit", Usage: "look at it again `WHEN`: a date, \"task ID done\", or words; repeatable"},
		&cli.StringFlag{Name: "supersedes", Usage: "replace the decision `D-…`"},
	)
}

// readDecision returns the decision that the flags tell, nil where they tell none.
func readDecision(c *cli.Context, verb, what string) (*gate.Decision, error) {
	d := gate.Decision{
		Decision: oneLine(what), Rationale: c.StringSlice("rationale"), Tradeoffs: oneLine(c.String("tradeoffs")),
		Confidence: c.String("confidence"), Revisit: c.StringSlice("revisit"), Supersedes: c.String("supersedes"),
	}
	if d.Confidence == "medium" {
		d.Confidence = "med"
	}
	told := len(d.Rationale) > 0 || d.Tradeoffs != "" || d.Confidence != "" || len(d.Revisit) > 0 || d.Supersedes != ""
	switch {
	case d.Decision == "" && told:
		return nil, usage("%s: --rationale, --tradeoffs, --confidence, --revisit and --supersedes describe a decision; add it with --decision \"WHAT\"", verb)
	case d.Decision == "":
		return nil, nil
	}
	return &d, nil
}

// runDecisions lists the decisions, oldest first.
func runDecisions(c *cli.Context, env Env, v *view) error {
	s, err := v.slowLoop(c.Context)
	if err != nil {
		return err
	}
	ds, err := gate.ReadDecisions(s.Decisions)
	if err != nil {
		return fmt.Errorf("%s: %w", v.repoPath(gate.DecisionsPath), err)
	}
	over := map[string]string{}
	for _, d := range ds {
		over[d.Supersedes] = d.ID
	}
	return showList(env, c.Bool("json"), ds, "no decision is recorded yet; odd gate decide \"WHAT\" records one", func(d gate.Decision) []string {
		state := "stands"
		if by := over[d.ID]; by != "" {
			state = "superseded by " + by
		}
		return []string{d.ID, d.TS.UTC().Format("2006-01-02"), d.Confidence, state, d.Decision, strings.Join(d.Rationale, "; ")}
	})
}
