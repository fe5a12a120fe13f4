package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/journal/memory"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

func decayVerb(env Env) *cli.Command {
	return verb("decay", "file requests about overdue leases, decisions, tasks and atoms",
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
		on(env, openWorkspace, runDecay),
		&cli.BoolFlag{Name: "dry-run", Usage: "print the requests, and write nothing"})
}

func runDecay(c *cli.Context, env Env, w *workspace) error {
	name, _, err := w.checkActor(c.Context, "decay", false)
	if err != nil {
		return err
	}
	var done []gate.Proposal
	var again okf.Atom
	build := func(v *view) (repo.Changes, string, error) {
		m, overdue, err := v.findOverdue(c.Context)
		if err != nil {
			return nil, "", err
		}
		var ch repo.Changes
		if ch, done, err = v.appendProposals(m.Slow.Buffer, overdue, w.proposalsFile(name), gate.MaxPerDrain); err != nil {
			return nil, "", err
		}
		var says strings.Builder
		for _, p := range done {
			fmt.Fprintf(&says, "%s %s, %s: %s\n", p.ID, p.Severity, p.Gate, p.Reason)
		}
		msg := commitMessage("gate: request "+countNoun(len(done), "decision"), says.String())
		if again, err = v.newRereadTask(c.Context); err != nil || again.ID == "" {
			return ch, msg, err
		}
		if ch == nil {
			ch, msg = repo.Changes{}, "decay: add "+string(again.ID)
		}
		ch[v.repoPath(again.Path)] = again.Bytes()
		return ch, msg, nil
	}
	if _, err := w.writeOrStage(c, (*view).signCommit, build); err != nil {
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
		talk(env, "%s: a task that reads %s again; %s", t.ID, countNoun(len(t.Inputs), "document"), way)
	}
	nothing := "decay: nothing is overdue, or it is proposed already; odd gate proposals list shows what is open"
	return showList(env, c.Bool("json"), done, nothing, func(p gate.Proposal) []string {
		return []string{or(p.ID, "-"), string(p.Severity), string(p.Source), string(p.Gate), p.Reason}
	})
}

// findOverdue returns the proposals about what is overdue, and the memory they are from.
func (v *view) findOverdue(ctx context.Context) (*overview.Memory, []gate.Proposal, error) {
	m, err := v.newMemory(ctx)
	if err != nil {
		return nil, nil, err
	}
	ps, err := m.Decay(drain.Refusals(v.repo))
	return m, ps, err
}

// rereadTask is the id of the task that reads documents again, without its number.
const rereadTask = "read-changed-documents"

// newRereadTask returns the task that reads the documents again whose text atoms cite and that
// have it no longer, as it is to be written; without an id where there is none, or it is
// there already. One that a person did not make ready yet follows the documents.
func (v *view) newRereadTask(ctx context.Context) (okf.Atom, error) {
	m, err := v.newMemory(ctx)
	if err != nil {
		return okf.Atom{}, err
	}
	ids, docs := m.Reread()
	if len(ids) == 0 || len(docs) == 0 {
		return okf.Atom{}, nil
	}
	filed := fmt.Sprintf("Filed for %s (state %s).", firstOf(docs), gate.Digest(append(ids, docs...)))
	role := ""
	for _, t := range v.allTasks() {
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
	return v.newTask(board.Filing{Title: "Read changed documents", Kind: "extract", Role: role, Inputs: docs, By: "odd/" + oddVersion(), At: v.env.Now(),
		Description: "Bring the atoms up to date whose sources no longer have the text that they cite.", Body: filed})
}

func runContext(c *cli.Context, env Env, v *view) error {
	known, err := v.rememberContext(c.Context, c.Args().First())
	if err != nil {
		return err
	}
	return showPage(env, c.Bool("json"), known, known.Markdown())
}

// rememberContext returns what to read before asking, about a task or "" for none.
func (v *view) rememberContext(ctx context.Context, name string) (overview.Context, error) {
	var id okf.ID
	if name != "" {
		t, err := v.findTask(name)
		if err != nil {
			return overview.Context{}, err
		}
		id = t.ID
	}
	m, err := v.newMemory(ctx)
	if err != nil {
		return overview.Context{}, err
	}
	past, err := v.state.Trials(v.env.Now(), v.cfg.ReviewTTL)
	if err != nil {
		return overview.Context{}, err
	}
	m.Lessons = memory.Lessons(past, v.env.Now())
	return m.Context(id)
}

func (v *view) newMemory(ctx context.Context) (*overview.Memory, error) {
	s, err := v.slowLoop(ctx)
	if err != nil {
		return nil, err
	}
	return &overview.Memory{Slow: s, State: v.state, Root: v.cfg.Root, Bundle: v.bundle, Files: v.files, Graph: v.graph, Tasks: v.allTasks(), Leases: v.cfg.Lease != "off", LandsAlone: v.cfg.Pipeline.LandsAlone}, nil
}
