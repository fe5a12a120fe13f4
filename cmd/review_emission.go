package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// runEmission prints what the agent of a task's last attempt printed: bytes for a pipe, and what
// a terminal may show on one.
func runEmission(ctx context.Context, env Env, name string, asJSON bool) error {
	v, err := openTasks(ctx, env)
	if err != nil {
		return err
	}
	t, err := v.findTask(name)
	if err != nil {
		return err
	}
	last, err := v.lastAttempt(t)
	switch {
	case err != nil:
		return err
	case last.run == "":
		return refuse("state", "review --emission %s: no agent has worked on the task yet; run odd drain", t.ID)
	case last.died:
		return refuse("state", "review --emission %s: attempt %d ended without a result, so what its agent printed is not kept; odd task show %[1]s tells what is next", t.ID, last.number)
	}
	if _, err := v.repo.Ref("refs/odd/run/" + last.run); errors.Is(err, repo.ErrNoRef) && last.kept != "" {
		return refuse("artifacts", "review --emission %s: the output of %s is not in this clone; run git fetch origin 'refs/odd/run/*:refs/odd/run/*'", t.ID, last.run)
	}
	t.Attempts = last.number
	file := path.Join(drain.ArtifactDir(t), "emission.md")
	b, err := v.readKept(last.kept, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("state", "review --emission %s: the agent printed nothing in attempt %d; odd task show %[1]s tells how it ended", t.ID, last.number)
	case err != nil:
		return fmt.Errorf("review --emission %s: %w", t.ID, err)
	}
	talk(env, "review: attempt %d at %s, in %s", last.number, t.ID, last.run)
	if asJSON {
		return printJSON(env, prompt{file, string(b)})
	}
	if env.Terminal {
		b = []byte(okf.Visible(string(b)))
	}
	_, err = env.Stdout.Write(b)
	return err
}

// readKept reads a file of the tree that a run kept; the tree "" has none.
func (v *view) readKept(tree repo.OID, file string) ([]byte, error) {
	if tree == "" {
		return nil, fs.ErrNotExist
	}
	kept, err := v.repo.Tree(tree)
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(kept, file)
}

// attempt is one attempt at a task that has ended.
type attempt struct {
	run    string
	number int
	kept   repo.OID // the tree of its run's files, "" for none
	died   bool     // with its run, without a result
	ended  time.Time
}

// lastAttempt returns the attempt at t that ended last, with its result or as that of a dead run;
// its run is "" where none did.
func (v *view) lastAttempt(t board.Task) (last attempt, err error) {
	files, err := v.state.RunFiles("", func(_ string, tasks []string) bool { return slices.Contains(tasks, string(t.ID)) })
	if err != nil {
		return attempt{}, err
	}
	numbers := map[string]int{}
	for f := range files {
		for _, r := range f.Records {
			switch {
			case r.Task != string(t.ID):
			case r.Kind == event.Claim:
				numbers[r.Run] = r.Claim().Attempt
			case r.Kind == event.Outcome && !r.TS.Before(last.ended):
				last = attempt{run: r.Run, number: numbers[r.Run], kept: repo.OID(r.Outcome().Artifacts), ended: r.TS}
			case r.Kind == event.Abandoned && !r.TS.Before(last.ended):
				last = attempt{run: r.DeadRun, died: true, ended: r.TS}
			}
		}
	}
	if last.died { // its claim may be in a file that comes later
		last.number = numbers[last.run]
	}
	return last, nil
}
