package cmd

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/gate"
)

func gateVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "gate",
		Usage:       "decide whether to work, on what and for how long; only a person can",
		Description: "odd gate framing\nodd gate commitment\nodd gate evaluation --enter",
		Subcommands: []*cli.Command{
			gateFraming(env), gateCommitment(env), gateEvaluation(env), gateEmergency(env),
			leaseVerb(env), proposalsVerb(env), decayVerb(env), decide(env),
		},
	})
}

func gateFraming(env Env) *cli.Command {
	return gateCommand(env, gate.Framing, "ask what the work is: take a stance, and draft the lease where none is alive",
		"odd gate framing\n"+
			"odd gate framing --to discovery --draft lease.toml \\\n"+
			"  --reason \"the harbour wants a tide page\"",
		[]cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "the `STANCE`: sensemaking or discovery (default: what the draft in --draft says, else sensemaking)"},
			&cli.StringFlag{Name: "draft", Usage: "take the lease in `FILE` (- for stdin) as the draft, not the prefilled one"},
			&cli.BoolFlag{Name: "renew", Usage: "prolong the active lease"},
			extendFlag(),
		})
}

func gateCommitment(env Env) *cli.Command {
	return gateCommand(env, gate.Commitment, "commit to the drafted lease, or to its renewal: work may begin",
		"odd gate commitment\nodd gate commitment --renew --extend 3d --reason \"two terms are left\"",
		[]cli.Flag{
			&cli.BoolFlag{Name: "activate", Usage: "activate the drafted lease"},
			&cli.BoolFlag{Name: "renew", Usage: "let the active lease count anew"},
			&cli.BoolFlag{Name: "enter", Usage: "go back to execution under the active lease as it is"},
			&cli.StringSliceFlag{Name: "lock", Usage: "drain `TASK` only while its file is as it is now; repeatable"},
			extendFlag(),
		})
}

func gateEvaluation(env Env) *cli.Command {
	return gateCommand(env, gate.EvaluationGate, "look at what came of it: renew, revise, expire or release the lease, change principles",
		"odd gate evaluation --enter\nodd gate evaluation --release --reason \"the glossary is done; tides are next\"",
		[]cli.Flag{
			&cli.BoolFlag{Name: "enter", Usage: "take the stance of evaluation and leave the lease as it is"},
			&cli.BoolFlag{Name: "renew", Usage: "let the active lease count anew"},
			&cli.StringFlag{Name: "revise", Usage: "put the lease in `FILE` (- for stdin) in the place of the active one"},
			&cli.BoolFlag{Name: "release", Usage: "end the lease; --reason is the bookmark the next one begins from"},
			&cli.BoolFlag{Name: "expire", Usage: "write down that the lease has run out"},
			&cli.StringFlag{Name: "to", Usage: "the `STANCE`: evaluation, or from there sensemaking or execution"},
			&cli.StringSliceFlag{Name: "principles", Usage: "commit the principle at `PATH` as it is in the work tree; repeatable"},
			&cli.BoolFlag{Name: "leases-off", Usage: "let drains run without a lease from now on"},
			extendFlag(),
		})
}

func gateEmergency(env Env) *cli.Command {
	return gateCommand(env, gate.Emergency, "stop: suspend the lease, pause the board, block what runs; costs a decision",
		"odd gate emergency --reason \"the agent rewrote the tide tables\" \\\n"+
			"  --decision \"stop and ask again what this is for\" \\\n"+
			"  --rationale \"three pages were wrong in a row\" \\\n"+
			"  --tradeoffs \"the release waits\" --confidence high", nil)
}

func extendFlag() cli.Flag {
	return &cli.StringFlag{Name: "extend", Usage: "how long the lease holds from now, `SPAN` as 12h or 3d (default: to the end the draft names, or as long as before)"}
}

// gateCommand declares one gate with the flags that all of them have.
func gateCommand(env Env, g gate.Gate, use, example string, flags []cli.Flag) *cli.Command {
	flags = append(flags,
		&cli.StringFlag{Name: "reason", Usage: "why, in one `TEXT`"},
		&cli.StringSliceFlag{Name: "because", Usage: "accept the proposal `P-…` with this act; repeatable"})
	flags = append(flags, decisionFlags(&cli.StringFlag{Name: "decision", Usage: "log a decision: `WHAT` was decided"})...)
	flags = append(flags, &cli.BoolFlag{Name: "yes", Usage: "no typed confirmation; only with require_signed, for a signed commit"}, jsonFlag())
	return command(&cli.Command{Name: string(g), Usage: use, Description: example, Flags: flags, Action: func(c *cli.Context) error {
		o, err := gateFlags(c, env, g)
		if err != nil {
			return err
		}
		return runGate(c.Context, env, o)
	}})
}

// gateOptions is what a person asks of a gate.
type gateOptions struct {
	act        gate.Act
	file       *gate.File // --draft or --revise
	principles []string
	locks      []string // tasks to bind to their bytes
	leasesOff  bool
	yes, json  bool
}

// name is what the act is called before it has a lease: "commitment gate".
func (o gateOptions) name() string { return string(o.act.Gate) + " gate" }

func gateFlags(c *cli.Context, env Env, g gate.Gate) (o gateOptions, err error) {
	verb := "gate " + string(g)
	if err := noArgs(c); err != nil {
		return o, err
	}
	o = gateOptions{leasesOff: c.Bool("leases-off"), principles: c.StringSlice("principles"), locks: c.StringSlice("lock"), yes: c.Bool("yes"), json: c.Bool("json")}
	o.act = gate.Act{Gate: g, To: gate.Stance(c.String("to")), Reason: oneLine(c.String("reason")), Because: c.StringSlice("because")}
	if o.act.Kind, err = actKind(c, verb); err != nil {
		return o, err
	}
	if o.act.Extend, err = span(verb, c.String("extend")); err != nil {
		return o, err
	}
	if name := c.String("draft") + c.String("revise"); name != "" { // actKind has seen that it is one of them
		if o.file, err = leaseFrom(env, name); err != nil {
			return o, err
		}
	}
	o.act.Decision, err = decision(c, verb, c.String("decision"))
	return o, err
}

// actKind is the act that the flags name, "" where they leave it to the lease.
func actKind(c *cli.Context, verb string) (string, error) {
	var named []string
	for _, k := range []string{"activate", "enter", "renew", "revise", "expire", "release", "draft"} {
		if c.IsSet(k) {
			named = append(named, k)
		}
	}
	switch {
	case len(named) > 1:
		return "", usage("%s: --%s exclude each other; give one of them", verb, strings.Join(named, " and --"))
	case len(named) == 1:
		return named[0], nil
	}
	return "", nil
}

// span reads a duration as Go prints it, or whole days as 3d; "" is none.
func span(verb, s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	text := s
	if days, ok := strings.CutSuffix(s, "d"); ok {
		text = days + "h"
	}
	d, err := time.ParseDuration(text)
	if text != s {
		d *= 24
	}
	if err != nil || d <= 0 || d > 366*24*time.Hour {
		return 0, usage("%s: --extend %s is not a time span; want a span as 12h or 3d, at most 366d", verb, s)
	}
	return d, nil
}
