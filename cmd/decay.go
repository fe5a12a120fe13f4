package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/oklog/ulid/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/repo"
)

func decayVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "decay",
		Usage: "file requests about overdue leases, decisions, tasks and atoms",
		Description: "odd gate decay --dry-run\n" +
			"odd gate decay\n\n" +
			"odd looks for a lease that has expired or is nearly used up, decisions to look\n" +
			"at again, atoms past stale_after or whose sources are gone, tasks that were\n" +
			"rejected or blocked several times, and runs without progress. odd drain does\n" +
			"the same before each run. A request changes nothing by itself; see odd help\n" +
			"gate proposals.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "print the requests, and write nothing"},
			jsonFlag(),
		},
		Action: on(env, openWorkspace, runDecay),
	})
}

func runDecay(c *cli.Context, env Env, w *workspace) error {
	name, _, err := w.actor(c.Context, "decay")
	if err != nil {
		return err
	}
	var done []gate.Proposal
	build := func(v *view) (repo.Changes, string, error) {
		var ch repo.Changes
		var err error
		ch, done, err = v.decay(c.Context, w.proposals(name))
		return ch, proposed(done), err
	}
	if c.Bool("dry-run") {
		v, err := w.view(c.Context, false)
		if err != nil {
			return err
		}
		_, _, err = build(v)
		if err != nil {
			return err
		}
		for i := range done {
			done[i].ID = "" // the one it gets, it gets when it is written
		}
	} else if _, err := w.write(c.Context, build); err != nil {
		return err
	}
	nothing := "decay: nothing is overdue, or it is proposed already; odd gate proposals list shows what is open"
	return showList(env, c.Bool("json"), done, nothing, func(p gate.Proposal) []string {
		return []string{or(p.ID, "-"), string(p.Severity), string(p.Source), string(p.Gate), p.Reason}
	})
}

// overdue is what the board's memory proposes.
func (v *view) overdue(ctx context.Context) (*drain.Memory, []gate.Proposal, error) {
	m, err := v.memory(ctx)
	if err != nil {
		return nil, nil, err
	}
	ps, err := m.Decay(drain.Refusals(v.repo))
	return m, ps, err
}

// decay appends what is overdue to a writer's file.
func (v *view) decay(ctx context.Context, file string) (repo.Changes, []gate.Proposal, error) {
	m, ps, err := v.overdue(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range ps {
		id, err := ulid.New(ulid.Timestamp(v.env.Now()), v.env.Entropy)
		if err != nil {
			return nil, nil, err
		}
		ps[i].ID = "P-" + id.String()
	}
	old, err := fs.ReadFile(v.bundle, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	b, done, err := m.Slow.Buffer.AppendAll(old, ps, gate.MaxPerDrain)
	if err != nil || len(done) == 0 {
		return nil, nil, err
	}
	return repo.Changes{v.file(file): b}, done, nil
}

// proposed is the message of a commit that proposes.
func proposed(ps []gate.Proposal) string {
	var b strings.Builder
	for _, p := range ps {
		fmt.Fprintf(&b, "%s %s, %s: %s\n", p.ID, p.Severity, p.Gate, p.Reason)
	}
	return trailers("decay: propose "+fmt.Sprint(len(ps)), b.String())
}
