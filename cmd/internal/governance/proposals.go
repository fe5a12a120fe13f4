package governance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/journals"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/contract"
)

func proposalsVerb(env console.Env) *cli.Command {
	return verb.Declare(&cli.Command{
		Name:   "proposals",
		Usage:  "list and answer requests for a gate (not what odd review shows)",
		Flags:  []cli.Flag{verb.JSONFlag()},
		Action: verb.Alone(verb.On(env, openProposals, runProposalsList)),
		Description: "odd gate proposals\n" +
			"odd gate evaluation --because P-01KJ…\n" +
			"odd gate proposals reject P-01KJ… --reason \"the silence is the holiday\"\n\n" +
			"Agents, odd gate decay and people can request a gate (odd help gate). A\n" +
			"request changes nothing by itself. A person answers it by running the gate\n" +
			"with --because, or rejects it here. An emergency stops every run of odd drain\n" +
			"until it is answered.",
		Subcommands: []*cli.Command{
			verb.New("add REASON", "request a decision of a person",
				"odd gate proposals add \"the harbour closes in May\" --gate framing\n"+
					"odd gate proposals add \"stop, these are the wrong tides\" --gate emergency \\\n  --severity emergency",
				verb.On(env, workspace.OpenCommitted, runProposalsAdd),
				&cli.StringFlag{Name: "gate", Usage: "request the gate `GATE`: framing, commitment, evaluation or emergency"},
				&cli.StringFlag{Name: "severity", Value: string(gate.Medium), Usage: "low, medium, high, or emergency, which stops odd drain until a person answers"},
				&cli.StringFlag{Name: "source", Value: string(gate.UserSignal), Usage: "origin: user_signal (you), or perception or continuous_eval for the report of such a tool"},
				&cli.StringFlag{Name: "task", Usage: "name the `TASK` it is about"}),
			verb.New("list", "list open requests, the most severe first",
				"odd gate proposals list\n"+
					"odd gate proposals list --all --json",
				verb.On(env, openProposals, runProposalsList), &cli.BoolFlag{Name: "all", Usage: "list answered requests too, with the answer"}),
			verb.New("show ID", "show one request and its answer",
				"odd gate proposals show P-01KJ…",
				verb.On(env, openProposals, runProposalsShow)),
			verb.New("reject ID", "reject a request for a gate",
				"odd gate proposals reject P-01KJ… --reason \"the silence is the holiday\"",
				verb.On(env, workspace.OpenCommitted, runProposalsReject), verb.ReasonFlag(), verb.YesFlag())},
	})
}

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

func runProposalsList(c *cli.Context, env console.Env, b gate.Buffer) error {
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
	return console.ShowList(env, c.Bool("json"), list, nothing, func(p proposalJSON) []string {
		row := []string{p.ID, string(p.Severity), string(p.Source), string(p.Gate), console.HowLong(max(env.Now().Sub(p.TS), 0)), p.Reason}
		if all {
			row = append(row, p.describeOutcome())
		}
		return row
	})
}

func (j proposalJSON) describeOutcome() string {
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
func openProposals(ctx context.Context, env console.Env) (gate.Buffer, error) {
	v, err := workspace.OpenFiles(ctx, env)
	if err != nil {
		return gate.Buffer{}, err
	}
	return readBuffer(v)
}

func readBuffer(v *workspace.Board) (gate.Buffer, error) {
	b, err := state.ReadProposals(v.Bundle)
	if err != nil {
		return b, fmt.Errorf("%s/%w", v.Config.Root, err)
	}
	return b, nil
}

// proposalsFile returns the file in which a person proposes and disposes today, below the bundle root.
func proposalsFile(env console.Env, name string) string {
	return "proposals/" + strings.TrimSuffix(path.Base(journals.JournalDay(env, name)), ".tsv") + ".jsonl"
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

func oneWord[T ~string](flag, s string, all []T, to *T) error {
	word, err := contract.Named(s, all)
	if err != nil {
		return verb.Usage("gate proposals add: --%s %v", flag, err)
	}
	*to = word
	return nil
}

func runProposalsAdd(c *cli.Context, env console.Env, v *workspace.Board) error {
	p := gate.Proposal{Reason: c.Args().First(), Task: c.String("task")}
	for _, err := range []error{
		oneWord("gate", c.String("gate"), gate.Gates(), &p.Gate), oneWord("severity", c.String("severity"), gate.Severities(), &p.Severity),
		oneWord("source", c.String("source"), []gate.Source{gate.UserSignal, gate.Perception, gate.ContinuousEval}, &p.Source),
	} {
		if err != nil {
			return err
		}
	}
	name, by, err := land.CheckActor(c.Context, v.Clone, "proposals add", true)
	if err != nil {
		return err
	}
	var done gate.Proposal
	oid, err := land.Write(c.Context, v.Clone, land.AsPerson, func(v *workspace.Board) (repo.Changes, string, error) {
		var ch repo.Changes
		if ch, done, err = appendProposal(c.Context, v, p, proposalsFile(v.Clone.Env, name)); err != nil {
			return nil, "", err
		}
		return ch, land.Message("proposals: add "+done.ID, done.Reason, "Odd-By", by), nil
	})
	if err != nil {
		return err
	}
	return console.Show(env, c.Bool("json"), proposalJSON{Proposal: done, State: "open"}, []string{done.ID, string(done.Severity), string(done.Source), string(done.Gate), done.Reason, console.ShortID(oid)})
}

// appendProposal appends p to a person's file. What is open already is not said twice.
func appendProposal(ctx context.Context, v *workspace.Board, p gate.Proposal, file string) (repo.Changes, gate.Proposal, error) {
	s, err := slowLoop(ctx, v)
	if err != nil {
		return nil, p, err
	}
	if p.Task != "" {
		t, err := v.FindTask(p.Task)
		if err != nil {
			return nil, p, err
		}
		p.Task = string(t.ID)
	}
	p.TS, p.Lease = v.Env.Now(), s.File.Lease.ID
	p.Key = "said:" + string(p.Source) + ":" + string(p.Gate) + ":" + p.Task + ":" + p.Reason
	ch, done, err := appendProposals(v, s.Buffer, []gate.Proposal{p}, file, 1)
	switch {
	case err != nil:
		return nil, p, verb.Usage("gate proposals add: %v", err)
	case len(done) == 0:
		return nil, p, verb.Refuse("open", "proposals add: the same proposal is open already; odd gate proposals list shows it")
	}
	return ch, done[0], nil
}

// appendProposals appends at most so many of ps to a writer's file, those that b does not have, each with an id.
func appendProposals(v *workspace.Board, b gate.Buffer, ps []gate.Proposal, file string, most int) (repo.Changes, []gate.Proposal, error) {
	for i := range ps {
		id, err := ulid.New(ulid.Timestamp(v.Env.Now()), v.Env.Entropy)
		if err != nil {
			return nil, nil, err
		}
		ps[i].ID = "P-" + id.String()
	}
	old, err := fs.ReadFile(v.Bundle, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	text, done, err := b.AppendAll(old, ps, most)
	if err != nil || len(done) == 0 {
		return nil, nil, err
	}
	return repo.Changes{v.RepoPath(file): text}, done, nil
}

func runProposalsShow(c *cli.Context, env console.Env, b gate.Buffer) error {
	p, err := oneProposal(b, c.Args().First())
	if err != nil {
		return err
	}
	j := proposalOf(b, p)
	if j.Disposition == nil && !c.Bool("json") {
		console.Talk(env, "answer it: odd gate %s --because %s, or odd gate proposals reject %s --reason \"WHY\"", p.Gate, p.ID, p.ID)
	}
	return console.Show(env, c.Bool("json"), j, console.FieldRows(
		"proposal", p.ID, "at", p.TS.Format(time.RFC3339), "severity", string(p.Severity), "source", string(p.Source), "gate", string(p.Gate), "reason", p.Reason,
		"report", gate.ReportLine(p.Report), "confidence", p.Confidence, "lease", p.Lease, "task", p.Task, "run", p.Run, "key", p.Key, "state", j.describeOutcome())...)
}

// runProposalsReject writes what a person says of a proposal. It needs no typed
// confirmation where nothing but the proposal's own state follows from it; while
// an emergency is open no drain runs, so whoever ends that types its id.
func runProposalsReject(c *cli.Context, env console.Env, v *workspace.Board) error {
	if console.OneLine(c.String("reason")) == "" {
		return verb.Usage("gate proposals reject: the reason is missing; say why with --reason \"WHY\"")
	}
	ctx := c.Context
	name, by, err := land.CheckActor(ctx, v.Clone, "proposals reject", true)
	if err != nil {
		return err
	}
	o := gate.Disposition{ID: c.Args().First(), TS: env.Now(), By: by, Decision: gate.Rejected, Reason: c.String("reason")}
	b, _, err := appendDisposition(v, &o, proposalsFile(v.Clone.Env, name)) // what is refused is refused before a person is asked
	if err != nil {
		return err
	}
	p, _ := b.ByID(o.ID)
	if p.Severity == gate.EmergencySeverity {
		if _, err := land.Confirm(ctx, v.Clone, "an emergency: "+p.Reason+"\n", "proposals reject "+p.ID, p.ID, c.Bool("yes")); err != nil {
			return err
		}
	}
	oid, err := land.Write(ctx, v.Clone, land.AsPerson, func(v *workspace.Board) (repo.Changes, string, error) {
		_, ch, err := appendDisposition(v, &o, proposalsFile(v.Clone.Env, name))
		return ch, land.Message("proposals: reject "+o.ID, o.Reason, "Odd-Disposed", o.ID, "Odd-By", o.By), err
	})
	if err != nil {
		return err
	}
	return console.Show(env, c.Bool("json"), proposalJSON{p, o.Decision, &o}, []string{p.ID, o.Decision, by, console.ShortID(oid)})
}

func appendDisposition(v *workspace.Board, o *gate.Disposition, file string) (gate.Buffer, repo.Changes, error) {
	b, err := readBuffer(v)
	if err != nil {
		return b, nil, err
	}
	p, err := oneProposal(b, o.ID)
	if err != nil {
		return b, nil, err
	}
	o.ID = p.ID
	if old, ok := b.Dispositions[p.ID]; ok {
		return b, nil, verb.Refuse("state", "proposal %s is already %s; that is final", p.ID, proposalJSON{State: old.Decision, Disposition: &old}.describeOutcome())
	}
	old, err := fs.ReadFile(v.Bundle, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b, nil, err
	}
	text, err := b.AppendDisposition(old, *o)
	return b, repo.Changes{v.RepoPath(file): text}, err
}
