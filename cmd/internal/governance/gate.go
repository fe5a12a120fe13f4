// Package governance has the verb gate, by which people steer the board as a whole: they decide at
// gates, write the lease that limits what agents may do, look at signs of decay, and answer
// proposals to change course.
package governance

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/cmd/internal/atoms"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// GateVerb declares odd gate.
func GateVerb(env console.Env) *cli.Command {
	return verb.Group("gate", "start, renew or end a lease: what odd drain may work on",
		"odd gate framing\n"+
			"odd gate commitment\n"+
			"odd gate lease\n"+
			"odd gate evaluation --enter\n\n"+
			"A gate is a decision that only a person makes; agents can only request one\n"+
			"(odd gate proposals). Each gate is one commit on the board, and asks you to\n"+
			"type the lease's id, or the gate's name where there is no lease.\n\n"+
			"A lease says what odd drain may work on: paths, kinds of tasks, number of\n"+
			"tasks, money, and an end. framing drafts it, commitment activates it,\n"+
			"evaluation renews or ends it. Leases are optional: until your first odd gate\n"+
			"commitment, odd drain runs without one. That gate sets [governance] lease to\n"+
			"\"required\" in odd.toml, and from then on odd drain exits 3 without a lease.\n\n"+
			"The working phase (stance) limits the kinds of tasks that run:\n"+
			"  sensemaking  research, question, audit\n"+
			"  discovery    the same, and option, prototype, experiment\n"+
			"  execution    implement, produce, extract, document, fix, change\n"+
			"  evaluation   review, assess, verify, measure",
		gateFraming(env), gateCommitment(env), gateEvaluation(env), gateEmergency(env),
		leaseVerb(env), proposalsVerb(env), decayVerb(env), decideVerb(env))
}

func gateFraming(env console.Env) *cli.Command {
	return gateCommand(env, gate.Framing, "draft a lease, or go back to finding out what the work is",
		"odd gate framing\n"+
			"odd gate framing --to discovery --draft lease.toml \\\n"+
			"  --reason \"the harbour wants a tide page\"\n\n"+
			"Without flags: it drafts a lease from the tasks on the board, if there is\n"+
			"none; else it only changes the phase to sensemaking. odd gate lease draft\n"+
			"prints the draft, and odd gate lease edit opens it in your editor.",
		&cli.StringFlag{Name: "to", Usage: "set the working phase to `PHASE`: sensemaking or discovery (default: as --draft has it, else sensemaking)"},
		&cli.StringFlag{Name: "draft", Usage: "take the draft from `FILE` (- for stdin) instead of the prefilled one"})
}

func gateCommitment(env console.Env) *cli.Command {
	return gateCommand(env, gate.Commitment, "activate the drafted lease, or renew the active one",
		"odd gate commitment\n"+
			"odd gate commitment --renew --extend 3d --reason \"two terms are left\"\n\n"+
			"Without flags: it activates the drafted lease; if one is active, it returns to\n"+
			"the phase execution or, in that phase, renews the lease. From now on, odd\n"+
			"drain needs an active lease.",
		&cli.BoolFlag{Name: "renew", Usage: "renew the active lease: a new end, and its counts start from 0"},
		&cli.BoolFlag{Name: "enter", Usage: "return to the phase execution; the lease stays as it is"},
		&cli.StringSliceFlag{Name: "lock", Usage: "run `TASK` only while its file stays as it is now; repeatable"},
		extendFlag())
}

func gateEvaluation(env console.Env) *cli.Command {
	return gateCommand(env, gate.EvaluationGate, "evaluate the work; renew, change or end the lease",
		"odd gate evaluation --enter\n"+
			"odd gate evaluation --release --reason \"the glossary is done; tides are next\"\n"+
			"odd gate evaluation --acknowledge 1f0c2ab9d4:14 --reason \"a tool changed it\"\n\n"+
			"Without flags: --enter. --renew and --revise lead back to the phase execution,\n"+
			"--release and --expire to sensemaking, if the phase is evaluation.\n\n"+
			"--acknowledge records a finding of odd check --all that cannot be mended any\n"+
			"more: its COMMIT and the number of its invariant. odd check then prints it as\n"+
			"acknowledged and does not fail for it. The phase and the lease stay.",
		&cli.BoolFlag{Name: "enter", Usage: "enter the phase evaluation; the lease stays as it is"},
		&cli.BoolFlag{Name: "renew", Usage: "renew the active lease: a new end, and its counts start from 0"},
		&cli.StringFlag{Name: "revise", Usage: "replace the active lease by the one in `FILE` (- for stdin)"},
		&cli.BoolFlag{Name: "release", Usage: "end the lease; the next draft begins from --reason"},
		&cli.BoolFlag{Name: "expire", Usage: "record that the lease has expired"},
		&cli.StringFlag{Name: "to", Usage: "set the working phase to `PHASE`: evaluation, or from there sensemaking or execution"},
		&cli.StringSliceFlag{Name: "principles", Usage: "commit the principle file `PATH` as it is in the working tree, and make a draft a principle; repeatable"},
		&cli.StringFlag{Name: "acknowledge", Usage: "record the finding `COMMIT:INVARIANT` of odd check as known"},
		&cli.BoolFlag{Name: "leases-off", Usage: "with --release, let odd drain run without a lease from now on"},
		extendFlag())
}

func gateEmergency(env console.Env) *cli.Command {
	return gateCommand(env, gate.Emergency, "stop all work at once: suspend the lease and pause odd drain",
		"odd gate emergency --reason \"the agent rewrote the tide tables\" \\\n"+
			"  --decision \"stop and ask again what this is for\" \\\n"+
			"  --rationale \"three pages were wrong in a row\" \\\n"+
			"  --tradeoffs \"the release waits\" --confidence high\n\n"+
			"It also blocks the tasks that are running. --reason and the four flags of a\n"+
			"decision are required; odd drain pause REASON needs only the reason, and keeps\n"+
			"further tasks from starting. To go on, run odd gate commitment (if there was a\n"+
			"lease) and odd drain resume.")
}

func extendFlag() cli.Flag {
	return &cli.StringFlag{Name: "extend", Usage: "let the lease hold for `SPAN` from now, such as 12h or 3d (default: until the end in the draft, or as long as before)"}
}

// gateCommand declares one gate with the flags that all of them have.
func gateCommand(env console.Env, g gate.Gate, use, example string, flags ...cli.Flag) *cli.Command {
	flags = append(flags,
		verb.ReasonFlag(),
		&cli.StringSliceFlag{Name: "because", Usage: "answer the request `P-…` with this step; repeatable"})
	flags = append(flags, decisionFlags(&cli.StringFlag{Name: "decision", Usage: "also log a decision: `WHAT` was decided"})...)
	flags = append(flags, verb.YesFlag())
	return verb.New(string(g), use,
		example+"\n\nodd help gate says what a lease and a working phase are.\n\n"+verb.PersonNote,
		verb.Do(env, func(c *cli.Context, env console.Env) error {
			o, err := gateFlags(c, env, g)
			if err != nil {
				return err
			}
			return runGate(c.Context, env, o)
		}), flags...)
}

type gateOptions struct {
	act        gate.Act
	file       *gate.File // --draft or --revise
	principles []string
	locks      []string // tasks to bind to their bytes
	leasesOff  bool
	known      string // the finding to acknowledge
	yes, json  bool
}

// actName returns what the act is called before it has a lease: "commitment gate".
func (o gateOptions) actName() string { return string(o.act.Gate) + " gate" }

func gateFlags(c *cli.Context, env console.Env, g gate.Gate) (o gateOptions, err error) {
	verbName := "gate " + string(g)
	o = gateOptions{leasesOff: c.Bool("leases-off"), known: c.String("acknowledge"), principles: c.StringSlice("principles"), locks: c.StringSlice("lock"), yes: c.Bool("yes"), json: c.Bool("json")}
	o.act = gate.Act{Gate: g, To: gate.Stance(c.String("to")), Reason: console.OneLine(c.String("reason")), Because: c.StringSlice("because")}
	if o.act.Kind, err = verb.OneFlag(c, "enter", "renew", "revise", "expire", "release", "draft", gate.Acknowledge); err != nil {
		return o, err
	}
	if o.act.Extend, err = verb.Span(c, "extend"); err != nil {
		return o, err
	}
	if name := c.String("draft") + c.String("revise"); name != "" { // no more than one of them is set
		b, err := atoms.ReadEmission(env, name)
		if err != nil {
			return o, err
		}
		if o.file, err = parseLease(name, b); err != nil {
			return o, err
		}
	}
	o.act.Decision, err = readDecision(c, verbName, c.String("decision"))
	return o, err
}

func decideVerb(env console.Env) *cli.Command {
	return verb.New("decide [\"WHAT\"]", "log a decision with its reasons and costs; only a person can",
		"odd gate decide \"Times are UTC\" --rationale \"two harbours disagreed\" \\\n"+
			"  --tradeoffs \"visitors convert\" --confidence high \\\n"+
			"  --revisit \"task read-the-handbook done\"\n"+
			"odd gate decide --list\n\n"+
			"A decision belongs to the last gate that was run: a framing that drafted a\n"+
			"lease, a commitment, or an evaluation; after an evaluation, it can only\n"+
			"replace another. Decisions are never edited; a new one replaces an old one\n"+
			"with --supersedes.\n\n"+
			verb.PersonNote,
		verb.Do(env, runDecide), append(decisionFlags(),
			&cli.BoolFlag{Name: "list", Usage: "list the decisions; a replaced one names its replacement"},
			verb.YesFlag())...)
}

// runDecide appends a decision under the gate passed last: one commit by the
// person, of decisions.jsonl alone, after the typed confirmation of its id.
func runDecide(c *cli.Context, env console.Env) error {
	if c.Bool("list") && c.NArg() == 0 {
		return verb.On(env, workspace.OpenCurrent, runDecisions)(c)
	}
	if err := verb.OneArg(c); err != nil {
		return err
	}
	d, err := readDecision(c, "decide", c.Args().First())
	if err != nil {
		return err
	}
	if d == nil || c.Bool("list") {
		return verb.Usage("gate decide: want a decision, or --list; odd gate decide \"WHAT\" --rationale \"WHY\" --tradeoffs \"COST\" --confidence high")
	}
	v, err := land.OpenToDecide(c.Context, env, "decide")
	if err != nil {
		return err
	}
	p := &plan{Board: v, changes: repo.Changes{}, o: gateOptions{json: c.Bool("json")}}
	if p.slow, err = SlowLoopOf(v, nil); err != nil {
		return err
	}
	who, err := v.Repo.Identity(c.Context)
	if err != nil {
		return err
	}
	if p.out, err = gate.Decide(p.slow.Slow, *d, "human:"+who.Email, actTime(v.Clone)); err != nil {
		return err
	}
	for name, b := range p.out.Files {
		p.changes[v.RepoPath(name)] = b
	}
	if err := p.checkReady(c.Context); err != nil {
		return err
	}
	made := p.out.Decision
	h, err := land.Confirm(c.Context, v.Clone, decisionPage(made, p.out.Row), "decide "+made.ID, made.ID, c.Bool("yes"))
	if err != nil {
		return err
	}
	msg := land.Message("decide: "+made.Decision, strings.Join(made.Rationale, "\n"), "Odd-Gate", string(p.out.Row.Gate), "Odd-Decision", made.ID, "Odd-Lease", p.out.Row.Lease, "Odd-By", h.By())
	oid, err := p.commitLocked(c.Context, msg)
	if err != nil {
		return err
	}
	return console.Show(env, c.Bool("json"), map[string]any{"decision": made, "commit": string(oid)}, []string{made.ID, made.Act, made.Confidence, made.Decision, console.ShortID(oid)})
}

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
func readDecision(c *cli.Context, verbName, what string) (*gate.Decision, error) {
	d := gate.Decision{
		Decision: console.OneLine(what), Rationale: c.StringSlice("rationale"), Tradeoffs: console.OneLine(c.String("tradeoffs")),
		Confidence: c.String("confidence"), Revisit: c.StringSlice("revisit"), Supersedes: c.String("supersedes"),
	}
	if d.Confidence == "medium" {
		d.Confidence = "med"
	}
	told := len(d.Rationale) > 0 || d.Tradeoffs != "" || d.Confidence != "" || len(d.Revisit) > 0 || d.Supersedes != ""
	switch {
	case d.Decision == "" && told:
		return nil, verb.Usage("%s: --rationale, --tradeoffs, --confidence, --revisit and --supersedes describe a decision; add it with --decision \"WHAT\"", verbName)
	case d.Decision == "":
		return nil, nil
	}
	return &d, nil
}

func runDecisions(c *cli.Context, env console.Env, v *workspace.Board) error {
	s, err := slowLoop(c.Context, v)
	if err != nil {
		return err
	}
	ds, err := gate.ReadDecisions(s.Decisions)
	if err != nil {
		return fmt.Errorf("%s: %w", v.RepoPath(gate.DecisionsPath), err)
	}
	over := map[string]string{}
	for _, d := range ds {
		over[d.Supersedes] = d.ID
	}
	return console.ShowList(env, c.Bool("json"), ds, "no decision is recorded yet; odd gate decide \"WHAT\" records one", func(d gate.Decision) []string {
		state := "stands"
		if by := over[d.ID]; by != "" {
			state = "superseded by " + by
		}
		return []string{d.ID, d.TS.UTC().Format("2006-01-02"), d.Confidence, state, d.Decision, strings.Join(d.Rationale, "; ")}
	})
}
