// Package ops reads what is known of a change that an agent makes to files: the records of its
// op in the ledger, the files that its run keeps, and what a drain of this clone works on now.
package ops

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
)

// Prompt is one brief of an op, as --json prints it.
type Prompt struct {
	File string `json:"file"` // in the run's tree
	Text string `json:"text"`
}

// ReadPrompts returns the briefs that the run of an op kept, those of its last session
// behind those of the sessions before it.
func ReadPrompts(r *repo.Repo, o pipeline.Op) ([]Prompt, error) {
	tree, dir, ok := findAttempt(r, o)
	if !ok {
		return nil, verb.Refuse("artifacts", "op prompt %s: the files of %s are not in this clone; run git fetch origin 'refs/odd/run/*:refs/odd/run/*'", o.ID, o.Run)
	}
	var names []string
	for _, pattern := range []string{"/*/brief*.md", "/brief*.md"} {
		some, err := fs.Glob(tree, dir+pattern)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(some, func(a, b string) int { return sessionOrder(a) - sessionOrder(b) })
		names = append(names, some...)
	}
	out := []Prompt{}
	for _, name := range names {
		b, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		out = append(out, Prompt{name, string(b)})
	}
	return out, nil
}

// sessionOrder orders the files of sessions: by the session's number, which ends its
// folder's name, then by the turn's, which a later brief's name has.
func sessionOrder(name string) int {
	last := func(s string) int {
		n, _ := strconv.Atoi(s[strings.LastIndexByte(s, '.')+1:])
		return n
	}
	return last(path.Base(path.Dir(name)))*10_000 + last(strings.TrimSuffix(path.Base(name), ".md"))
}

// Find returns the story of an op by its id or the end of it, or by its task, whose last one is meant.
func Find(v *workspace.Board, name string) (pipeline.Story, error) {
	all, err := v.State.Ops()
	if err != nil {
		return pipeline.Story{}, err
	}
	ids, last := make([]string, len(all)), ""
	for i, o := range all {
		ids[i] = o.ID
		if o.Task == name {
			last = o.ID
		}
	}
	name = cmp.Or(last, name)
	id, err := pipeline.Match(ids, name)
	if err == nil {
		stories, err := v.State.Stories(func(o *state.Op) bool { return o.ID == id })
		return stories[0], err
	}
	if b, live := FindBeat(v, name); live {
		return pipeline.Story{}, verb.Refuse("at-work", "%s: %s", b.Op, AtWork(v, b.Run, b.Task))
	}
	return pipeline.Story{}, err
}

// FindBeat returns what a drain of this clone does for the op of that name.
func FindBeat(v *workspace.Board, name string) (pipeline.Beat, bool) {
	live, err := Beats(v)
	if err != nil {
		return pipeline.Beat{}, false
	}
	var ids []string
	for _, b := range live {
		ids = append(ids, b.Op)
	}
	id, err := pipeline.Match(ids, name)
	i := slices.IndexFunc(live, func(b pipeline.Beat) bool { return err == nil && b.Op == id })
	if i < 0 {
		return pipeline.Beat{}, false
	}
	return live[i], true
}

// IsDraining reports that a drain holds the lock of this clone.
func IsDraining(r *repo.Repo) bool {
	unlock, err := r.LockDrain()
	if err == nil {
		_ = unlock()
	}
	return err != nil
}

// AtWork says who works on a change of task, and what a person can do: a run that was
// killed in another clone holds its task until the claim ends.
func AtWork(v *workspace.Board, run, task string) string {
	if IsDraining(v.Repo) {
		return fmt.Sprintf("%s is working on it; wait for it (odd op list shows it), or end it: odd op cancel OP --reason \"why\"", run)
	}
	until := "the next odd drain frees the task " + task
	if a, err := v.Graph.Find(task); err == nil {
		if t, err := board.ReadTask(v.Graph, a); err == nil && t.ClaimedBy == run && !t.LeaseExpires.IsZero() {
			until = fmt.Sprintf("run odd drain after %s, which frees the task %s", t.LeaseExpires.Format(time.RFC3339), task)
		}
	}
	return fmt.Sprintf("no odd drain runs in this clone, so %s was killed or runs elsewhere; %s", run, until)
}

// Beats returns what a drain of this clone is at work on and no ledger tells yet.
func Beats(v *workspace.Board) ([]pipeline.Beat, error) {
	if !v.Repo.Draining() {
		return nil, nil
	}
	all, err := v.State.Ops()
	return slices.DeleteFunc(pipeline.Beats(v.Repo.Live()), func(b pipeline.Beat) bool {
		return !b.Alive(v.Env.Now()) || slices.ContainsFunc(all, func(o *state.Op) bool { return o.ID == b.Op })
	}), err
}

// findAttempt returns the folder of an op's attempt among the files of its run; ok is false where they
// are not here any more: artifacts of runs may be pruned.
func findAttempt(r *repo.Repo, o pipeline.Op) (tree fs.FS, dir string, ok bool) {
	oid, err := r.Ref("refs/odd/run/" + o.Run)
	if err != nil {
		return nil, "", false
	}
	if tree, err = r.Tree(oid); err != nil {
		return nil, "", false
	}
	own, err := fs.Glob(tree, "*/"+o.ID)
	if err != nil || len(own) != 1 {
		return nil, "", false
	}
	return tree, path.Dir(own[0]), true
}

// KeptFile returns a file that the run of an op keeps of it.
func KeptFile(r *repo.Repo, o pipeline.Op, name string) (b []byte, ok bool) {
	tree, dir, ok := findAttempt(r, o)
	if !ok {
		return nil, false
	}
	b, err := fs.ReadFile(tree, path.Join(dir, o.ID, name))
	return b, err == nil
}

// ReadFailure returns the last check of an op that failed, and the last lines that it printed;
// nothing where none did, or where the run's artifacts are not here.
func ReadFailure(r *repo.Repo, run, op string) (check string, tail []string) {
	b, ok := KeptFile(r, pipeline.Op{ID: op, Run: run}, "op.json")
	if d, err := pipeline.ReadDossier(b); ok && err == nil {
		c, tail, _ := d.Failing()
		return c.Says, tail
	}
	return "", nil
}
