// Package runs prepares a run of board/drain, asks a person about a change that would be merged
// without approval, and prints what the run did.
package runs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/okf"
)

// Print prints what a drain did, also when err stopped it after some
// tasks. It returns err, or else what stopped the printing.
func Print(env console.Env, report drain.Report, err error, asJSON bool) error {
	switch {
	case !asJSON:
		if bad := PrintReport(env, report); err == nil {
			return bad
		}
		return err
	case err == nil:
		return console.PrintJSON(env, report)
	case len(report.Tasks) == 0:
		return err
	}
	part := struct {
		drain.Report
		Error map[string]any `json:"error"` // what stopped it after these tasks
	}{report, verb.ErrorJSON(err)}
	_ = console.PrintJSON(env, part)
	return verb.Shown(err)
}

// Open opens the clone for a verb that starts sessions. p shows the progress of a drain with the
// options o.
func Open(ctx context.Context, env console.Env) (w *workspace.Clone, o drain.Options, p *console.Progress, err error) {
	if w, err = workspace.Open(ctx, env); err != nil {
		return nil, o, nil, err
	}
	p = console.NewProgress(env)
	o, err = Options(w)
	o.Progress = p.SetLine
	return w, o, p, err
}

// Options returns the options of a drain on the board, under a run id of its own.
func Options(w *workspace.Clone) (drain.Options, error) {
	branch, err := w.BoardRef()
	if err != nil {
		return drain.Options{}, err
	}
	id, err := ulid.New(ulid.Timestamp(w.Env.Now()), w.Env.Entropy)
	if err != nil {
		return drain.Options{}, err
	}
	return drain.Options{
		Host:   agent.Host{Run: "run-" + id.String(), By: "odd/" + console.Version(), Now: w.Env.Now, Environ: w.Env.Environ, Cage: w.Env.Cage, Temp: w.Env.Temp},
		Branch: branch, Check: w.LandingCheck(), Wait: w.Env.Sleep, Random: w.Env.ReadRandom,
	}, nil
}

// PrintReport prints a row for each task that was run.
func PrintReport(env console.Env, r drain.Report) error {
	var rows [][]string
	for _, t := range r.Tasks {
		rows = append(rows, []string{string(t.Task), cmp.Or(string(t.State), "lost"), DescribeCounts(t.Effects, t.Files), "$" + t.Cost.String(), waitsOn(t)})
	}
	if err := console.PrintRows(env, rows); err != nil {
		return err
	}
	for _, t := range r.Tasks {
		for _, n := range t.Notes {
			console.Talk(env, "%s: %s", t.Task, n)
		}
	}
	return nil
}

func waitsOn(t drain.Outcome) string {
	if t.Landed != "" {
		return t.Branch + ", already merged into " + t.Landed
	}
	return cmp.Or(t.Branch, t.Reason)
}

// FreeKilled takes back the claims of a drain of this clone that was killed, and returns their
// tasks. An error is printed; the tasks are then held until their claims end.
func FreeKilled(ctx context.Context, w *workspace.Clone) []okf.ID {
	if w.Repo.Draining() {
		return nil
	}
	o, err := Options(w)
	if err != nil {
		return nil
	}
	o.Progress = func(s string) { console.Talk(w.Env, "%s", s) }
	freed, err := drain.Free(ctx, w.Repo, o)
	if err != nil {
		console.Talk(w.Env, "%v", err)
	}
	return freed
}

// DescribeCounts returns "3 added, 1 updated, 2 files changed".
func DescribeCounts[E ~string](atoms map[E]int, files int) string {
	var parts []string
	for _, e := range slices.Sorted(maps.Keys(atoms)) {
		parts = append(parts, fmt.Sprintf("%d %s", atoms[e], e))
	}
	if files > 0 {
		parts = append(parts, console.CountNoun(files, "file")+" changed")
	}
	return cmp.Or(strings.Join(parts, ", "), "no result")
}
