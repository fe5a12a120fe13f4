package cmd

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
)

func proposalsVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:   "proposals",
		Usage:  "list and answer requests for a gate (not what odd review shows)",
		Flags:  []cli.Flag{jsonFlag()},
		Action: alone(on(env, openProposals, runProposalsList)),
		Description: "odd gate proposals\n" +
			"odd gate evaluation --because P-01KJ…\n" +
			"odd gate proposals reject P-01KJ… --reason \"the silence is the holiday\"\n\n" +
			"Agents, odd gate decay and people can request a gate (odd help gate). A\n" +
			"request changes nothing by itself. A person answers it by running the gate\n" +
			"with --because, or rejects it here. An emergency stops every run of odd drain\n" +
			"until it is answered.",
		Subcommands: []*cli.Command{proposalsAdd(env), proposalsList(env), proposalsShow(env), proposalsAccept(env), proposalsReject(env)},
	})
}

// proposalJSON is a proposal as --json prints it.
type proposalJSON struct {
	gate.Proposal
	State       string            `json:"state"` // open, or the disposition's decision
	Disposition *gate.Disposition `json:"disposition,omitempty"`
}

func proposalOf(b gate.Buffer, p gate.Proposal) proposalJSON {
	j := proposalJSON{Proposal: p, State: "open"}
	if d, ok := b.Dispositions[p.ID]; ok {
		j.State, j.Disposition = d.Decision, &d
	}
	return j
}

func proposalsList(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "list",
		Usage: "list open requests, the most severe first",
		Description: "odd gate proposals list\n" +
			"odd gate proposals list --all --json",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "list answered requests too, with the answer"}, jsonFlag()},
		Action: on(env, openProposals, runProposalsList),
	})
}

func runProposalsList(c *cli.Context, env Env, b gate.Buffer) error {
	all, ps := c.Bool("all"), b.Open()
	nothing := "no proposal is open; odd gate proposals list --all shows the answered ones"
	if all {
		ps = b.Proposals
		nothing = "nobody has proposed anything yet; odd gate proposals add \"REASON\" --gate framing proposes a gate"
	}
	list := make([]proposalJSON, len(ps))
	for i, p := range ps {
		list[i] = proposalOf(b, p)
	}
	return showList(env, c.Bool("json"), list, nothing, func(p proposalJSON) []string {
		row := []string{p.ID, string(p.Severity), string(p.Source), string(p.Gate), since(env.Now(), p.TS), p.Reason}
		if all {
			row = append(row, p.became())
		}
		return row
	})
}

// became is what became of a proposal, in a few words.
func (j proposalJSON) became() string {
	d := j.Disposition
	if d == nil {
		return j.State
	}
	s := j.State + " by " + d.By
	if d.Act != "" {
		s += " at " + d.Act
	}
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	return s
}

// openProposals reads the proposals of the board as a person sees it.
func openProposals(ctx context.Context, env Env) (gate.Buffer, error) {
	v, err := openFiles(ctx, env)
	if err != nil {
		return gate.Buffer{}, err
	}
	return v.buffer()
}

func (v *view) buffer() (gate.Buffer, error) {
	b, err := state.ReadProposals(v.bundle)
	if err != nil {
		return b, fmt.Errorf("%s/%w", v.cfg.Root, err)
	}
	return b, nil
}

// proposals is the file in which a person proposes and disposes today, below the bundle root.
func (w *workspace) proposals(name string) string {
	return "proposals/" + strings.TrimSuffix(path.Base(w.day(name)), ".tsv") + ".jsonl"
}

// since is how long ago a moment was, in its largest unit.
func since(now, then time.Time) string {
	d := max(now.Sub(then), 0)
	switch {
	case d >= 24*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d >= time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}

// oneProposal finds a proposal by its id, or by the beginning of it where no
// other begins so.
func oneProposal(b gate.Buffer, id string) (gate.Proposal, error) {
	if p, ok := b.ByID(id); ok {
		return p, nil
	}
	var found []gate.Proposal
	for _, p := range b.Proposals {
		if len(id) > len("P-") && strings.HasPrefix(p.ID, strings.ToUpper(id)) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return gate.Proposal{}, fmt.Errorf("%s: no such proposal; odd gate proposals list --all shows them", id)
	case 1:
		return found[0], nil
	}
	return gate.Proposal{}, fmt.Errorf("%s: %d proposals begin like this; write more of the id, such as %s or %s", id, len(found), found[0].ID, found[1].ID)
}
