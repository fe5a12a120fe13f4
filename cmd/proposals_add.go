package cmd

import (
	"context"
	"errors"
	"io/fs"

	"github.com/oklog/ulid/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
)

// spokenSources are whom a person may propose for: for themselves, or for a sensor
// or an evaluation whose report they hand in. Decay and agents speak for themselves.
func spokenSources() []gate.Source {
	return []gate.Source{gate.UserSignal, gate.Perception, gate.ContinuousEval}
}

func proposalsAdd(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "add",
		Usage:     "request a decision of a person",
		ArgsUsage: "REASON",
		Description: "odd gate proposals add \"the harbour closes in May\" --gate framing\n" +
			"odd gate proposals add \"stop, these are the wrong tides\" --gate emergency \\\n  --severity emergency",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "gate", Usage: "request the gate `GATE`: framing, commitment, evaluation or emergency"},
			&cli.StringFlag{Name: "severity", Value: string(gate.Medium), Usage: "low, medium, high, or emergency, which stops odd drain until a person answers"},
			&cli.StringFlag{Name: "source", Value: string(gate.UserSignal), Usage: "origin: user_signal (you), or perception or continuous_eval for the report of such a tool"},
			&cli.StringFlag{Name: "task", Usage: "name the `TASK` it is about"},
			jsonFlag(),
		},
		Action: one("a reason in quotes", do(env, runProposalsAdd)),
	})
}

// oneWord reads a flag that takes one of a list.
func oneWord[T ~string](flag, s string, all []T, to *T) error {
	word, err := contract.Named(s, all)
	if err != nil {
		return usage("gate proposals add: --%s %v", flag, err)
	}
	*to = word
	return nil
}

func runProposalsAdd(c *cli.Context, env Env) error {
	reason := c.Args().First()
	p := gate.Proposal{Reason: reason, Task: c.String("task")}
	for _, err := range []error{
		oneWord("gate", c.String("gate"), gate.Gates(), &p.Gate), oneWord("severity", c.String("severity"), gate.Severities(), &p.Severity),
		oneWord("source", c.String("source"), spokenSources(), &p.Source),
	} {
		if err != nil {
			return err
		}
	}
	v, err := openBoard(c.Context, env, false)
	if err != nil {
		return err
	}
	name, by, err := v.person(c.Context, "proposals add")
	if err != nil {
		return err
	}
	var done gate.Proposal
	oid, err := v.write(c.Context, func(v *view) (repo.Changes, string, error) {
		var ch repo.Changes
		if ch, done, err = v.propose(c.Context, p, v.proposals(name)); err != nil {
			return nil, "", err
		}
		return ch, trailers("proposals: add "+done.ID, done.Reason, "Odd-By", by), nil
	})
	if err != nil {
		return err
	}
	return show(env, c.Bool("json"), proposalJSON{Proposal: done, State: "open"}, []string{done.ID, string(done.Severity), string(done.Source), string(done.Gate), done.Reason, short(oid)})
}

// propose appends p to a person's file. What is open already is not said twice.
func (v *view) propose(ctx context.Context, p gate.Proposal, file string) (repo.Changes, gate.Proposal, error) {
	s, err := v.slowLoop(ctx)
	if err != nil {
		return nil, p, err
	}
	if p.Task != "" {
		t, err := v.task(p.Task)
		if err != nil {
			return nil, p, err
		}
		p.Task = string(t.ID)
	}
	id, err := ulid.New(ulid.Timestamp(v.env.Now()), v.env.Entropy)
	if err != nil {
		return nil, p, err
	}
	p.ID, p.TS, p.Lease = "P-"+id.String(), v.env.Now(), s.File.Lease.ID
	p.Key = "said:" + string(p.Source) + ":" + string(p.Gate) + ":" + p.Task + ":" + p.Reason
	old, err := fs.ReadFile(v.bundle, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, p, err
	}
	text, done, err := s.Buffer.AppendAll(old, []gate.Proposal{p}, 1)
	switch {
	case err != nil:
		return nil, p, usage("gate proposals add: %v", err)
	case len(done) == 0:
		return nil, p, refuse("open", "proposals add: the same proposal is open already; odd gate proposals list shows it")
	}
	return repo.Changes{v.file(file): text}, done[0], nil
}
