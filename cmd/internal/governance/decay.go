package governance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/memory"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

func decayVerb(env console.Env) *cli.Command {
	return verb.New("decay", "file requests about overdue leases, decisions, tasks and atoms",
		"odd gate decay --dry-run\n"+
			"odd gate decay\n\n"+
			"odd looks for a lease that has expired or is nearly used up, decisions to look\n"+
			"at again, atoms past stale_after or whose sources are gone, tasks that were\n"+
			"rejected or blocked several times, and runs without progress. It compares what\n"+
			"people decided in the last 14 days with the lease. odd drain does the same\n"+
			"before each run. A request changes nothing by itself; see odd help gate\n"+
			"proposals.\n\n"+
			"Where documents no longer have the text that atoms cite, odd gate decay also\n"+
			"adds one task in the state backlog that reads them again.",
		verb.On(env, workspace.Open, runDecay),
		&cli.BoolFlag{Name: "dry-run", Usage: "print the requests, and write nothing"})
}

func runDecay(c *cli.Context, env console.Env, w *workspace.Clone) error {
	name, _, err := land.CheckActor(c.Context, w, "decay", false)
	if err != nil {
		return err
	}
	var done []gate.Proposal
	var again okf.Atom
	build := func(v *workspace.Board) (repo.Changes, string, error) {
		m, overdue, err := findOverdue(c.Context, v)
		if err != nil {
			return nil, "", err
		}
		var ch repo.Changes
		if ch, done, err = appendProposals(v, m.Slow.Buffer, overdue, proposalsFile(w.Env, name), gate.MaxPerDrain); err != nil {
			return nil, "", err
		}
		var says strings.Builder
		for _, p := range done {
			fmt.Fprintf(&says, "%s %s, %s: %s\n", p.ID, p.Severity, p.Gate, p.Reason)
		}
		msg := land.Message("gate: request "+console.CountNoun(len(done), "decision"), says.String())
		if again, err = newRereadTask(c.Context, v); err != nil || again.ID == "" {
			return ch, msg, err
		}
		if ch == nil {
			ch, msg = repo.Changes{}, "decay: add "+string(again.ID)
		}
		ch[v.RepoPath(again.Path)] = again.Bytes()
		return ch, msg, nil
	}
	if _, err := land.WriteOrStage(c, w, land.AsPerson, build); err != nil {
		return err
	}
	if c.Bool("dry-run") {
		for i := range done {
			done[i].ID = "" // the one it gets, it gets when it is written
		}
	}
	if again.ID != "" {
		way := "odd task ready " + string(again.ID) + " lets odd drain read them"
		if c.Bool("dry-run") {
			way = "odd gate decay adds it"
		}
		t, err := board.Parse(&again)
		if err != nil {
			return err
		}
		console.Talk(env, "%s: a task that reads %s again; %s", t.ID, console.CountNoun(len(t.Inputs), "document"), way)
	}
	nothing := "decay: nothing is overdue, or it is proposed already; odd gate proposals list shows what is open"
	return console.ShowList(env, c.Bool("json"), done, nothing, func(p gate.Proposal) []string {
		return []string{cmp.Or(p.ID, "-"), string(p.Severity), string(p.Source), string(p.Gate), p.Reason}
	})
}

// findOverdue returns the proposals about what is overdue, and the memory they are from.
func findOverdue(ctx context.Context, v *workspace.Board) (*overview.Memory, []gate.Proposal, error) {
	m, err := newMemory(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	ps, err := m.Decay(drain.Refusals(v.Repo))
	return m, ps, err
}

// rereadTask is the id of the task that reads documents again, without its number.
const rereadTask = "read-changed-documents"

// newRereadTask returns the task that reads the documents again whose text atoms cite and that
// have it no longer, as it is to be written; without an id where there is none, or it is
// there already. One that a person did not make ready yet follows the documents.
func newRereadTask(ctx context.Context, v *workspace.Board) (okf.Atom, error) {
	m, err := newMemory(ctx, v)
	if err != nil {
		return okf.Atom{}, err
	}
	ids, docs := m.Reread()
	if len(ids) == 0 || len(docs) == 0 {
		return okf.Atom{}, nil
	}
	filed := fmt.Sprintf("Filed for %s (state %s).", console.FirstOf(docs), gate.Digest(append(ids, docs...)))
	role := ""
	for _, t := range v.AllTasks() {
		switch {
		case strings.HasPrefix(string(t.ID), rereadTask) && t.State == board.Backlog && !slices.Equal(t.Inputs, docs):
			b, err := okf.Edit(t.Atom.Bytes(), okf.Set{Key: "inputs", Value: docs})
			if err != nil {
				return okf.Atom{}, err
			}
			return okf.Parse(t.Path, b)
		case strings.HasPrefix(string(t.ID), rereadTask) && (t.State != board.Done || strings.Contains(string(t.Atom.Body()), filed)):
			return okf.Atom{}, nil
		case t.Kind == "extract" && t.Role != "":
			role = t.Role
		}
	}
	return board.NewOn(v.Graph, board.Filing{Title: "Read changed documents", Kind: "extract", Role: role, Inputs: docs, By: "odd/" + console.Version(), At: v.Env.Now(),
		Description: "Bring the atoms up to date whose sources no longer have the text that they cite.", Body: filed})
}

// RunContext runs odd agent context on a board.
func RunContext(c *cli.Context, env console.Env, v *workspace.Board) error {
	known, err := RememberContext(c.Context, v, c.Args().First())
	if err != nil {
		return err
	}
	return console.ShowPage(env, c.Bool("json"), known, known.Markdown())
}

// RememberContext returns what to read before asking, about a task or "" for none.
func RememberContext(ctx context.Context, v *workspace.Board, name string) (overview.Context, error) {
	var id okf.ID
	if name != "" {
		t, err := v.FindTask(name)
		if err != nil {
			return overview.Context{}, err
		}
		id = t.ID
	}
	m, err := newMemory(ctx, v)
	if err != nil {
		return overview.Context{}, err
	}
	past, err := v.State.Trials(v.Env.Now(), v.Config.ReviewTTL)
	if err != nil {
		return overview.Context{}, err
	}
	m.Lessons = memory.Lessons(past, v.Env.Now())
	return m.Context(id)
}

func newMemory(ctx context.Context, v *workspace.Board) (*overview.Memory, error) {
	s, err := slowLoop(ctx, v)
	if err != nil {
		return nil, err
	}
	return &overview.Memory{Slow: s, State: v.State, Root: v.Config.Root, Bundle: v.Bundle, Files: v.Files, Graph: v.Graph, Tasks: v.AllTasks(), Leases: v.Config.Lease != "off", LandsAlone: v.Config.Pipeline.LandsAlone}, nil
}
