package drain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// runRefs is the folder of refs that keep the artifacts of runs.
const runRefs = "refs/odd/run/"

// artifactAge is how long a run's artifacts are kept. No review waits that long.
const artifactAge = 180 * 24 * time.Hour

// artifacts are what a run keeps of its sessions.
type artifacts struct {
	stored repo.OID     // those so far, as a tree
	landed repo.OID     // of stored, what a result has landed with
	tree   repo.Changes // those that are not in it yet
}

// storeTree writes the run's artifacts as a tree and returns the move of
// refs/odd/run/RUN that lands with the result. With a remote it sets the local ref at once,
// so that a network failure loses nothing.
func (a *artifacts) storeTree(ctx context.Context, bw *boardWriter) (repo.RefUpdate, error) {
	u := repo.RefUpdate{Name: runRefs + bw.log.id, Old: a.landed}
	var err error
	if u.New, err = bw.repo.WriteTree(ctx, a.stored, a.tree); err != nil {
		return u, err
	}
	a.stored, a.tree = u.New, repo.Changes{}
	if bw.line.Remote == "" {
		return u, nil
	}
	here, err := bw.repo.Ref(u.Name)
	if err != nil && !errors.Is(err, repo.ErrNoRef) {
		return u, err
	}
	return u, bw.repo.Update(ctx, repo.RefUpdate{Name: u.Name, Old: here, New: u.New})
}

// ArtifactDir returns the folder of a task's attempt in the run's artifacts.
func ArtifactDir(t board.Task) string { return fmt.Sprintf("%s.%d", board.Slug(t.ID), t.Attempts) }

// keepSession adds the brief, emission and guarded files of the last session to a folder of the
// run's tree, redacted and without what was lent.
func (a *artifacts) keepSession(dir string, w work, hide agent.Credentials) {
	put := func(name string, b []byte) {
		if len(b) > 0 {
			a.tree[path.Join(dir, name)] = secrets.Redact(hide.Hide(b))
		}
	}
	putJSON := func(name string, v any) {
		b, _ := json.MarshalIndent(v, "", "  ") // texts and numbers
		put(name, append(b, '\n'))
	}
	put("brief.md", w.brief.Text)
	put("left.patch", w.patch)
	if len(w.brief.Manifest) > 0 {
		putJSON("brief.json", w.brief.Manifest)
	}
	for i, b := range w.result.Briefs {
		if i > 0 { // the first is the brief itself
			put(fmt.Sprintf("brief.%d.md", i+1), b.Text)
		}
	}
	if w.bound.Role != "" {
		putJSON("surface.json", w.result.Verdict)
		putJSON("contract.json", w.bound.Contract)
	}
	put("emission.md", w.emission.Raw)
	put("transcript.txt", w.emission.Transcript)
	put("calls.jsonl", encodeCalls(w.emission.Calls))
	for _, it := range w.items {
		if isKeptOut(it.Effect) {
			put("kept/"+it.Path, it.Bytes)
		}
	}
	if len(w.items) > 0 {
		putJSON("reconcile.json", w.items)
	}
}
