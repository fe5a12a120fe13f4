package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/urfave/cli/v2"
)

// landWait and landTries are how long a write that needs no confirmation waits
// for its turn behind other writers: about twenty seconds in all.
const (
	landWait  = 50 * time.Millisecond
	landTries = 400
	landTold  = 10 // after so many a person is told what it waits for
)

// write makes a commit by the person that needs no typed confirmation, and
// lands it. When somebody else was first it looks at the board again and builds
// anew, so that writers at the same time lose nothing and double nothing.
func (w *workspace) write(ctx context.Context, build func(*view) (repo.Changes, string, error)) (repo.OID, error) {
	return w.writeBy(ctx, (*view).sign, build)
}

// writeOrStage is writeBy, or stage where --no-commit asks for it.
func (w *workspace) writeOrStage(c *cli.Context, by commit, build func(*view) (repo.Changes, string, error)) (repo.OID, error) {
	if c.Bool("no-commit") {
		return "", w.stage(c.Context, build)
	}
	return w.writeBy(c.Context, by, build)
}

// commit makes a commit of changes on a tree, in somebody's name.
type commit func(v *view, ctx context.Context, parents []repo.OID, tree repo.OID, ch repo.Changes, msg string) (repo.OID, error)

// byMachine commits in the agent's name.
func (v *view) byMachine(ctx context.Context, parents []repo.OID, tree repo.OID, ch repo.Changes, msg string) (repo.OID, error) {
	return v.repo.MakeOn(ctx, parents, tree, ch, v.machine(), msg)
}

// writeBy is write in the name of whoever the commit is by.
func (w *workspace) writeBy(ctx context.Context, by commit, build func(*view) (repo.Changes, string, error)) (repo.OID, error) {
	for try := 0; ; try++ {
		oid, err := w.writeOnce(ctx, by, build)
		if err == nil || try == landTries || !(errors.Is(err, repo.ErrMoved) || errors.Is(err, repo.ErrBusy)) {
			return oid, err
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if try == landTold {
			talk(w.env, "waiting for another command that writes: %v", err)
		}
		w.env.Sleep(landWait)
	}
}

func (w *workspace) writeOnce(ctx context.Context, by commit, build func(*view) (repo.Changes, string, error)) (repo.OID, error) {
	w.repo.Expect(ctx)
	v, err := w.view(ctx, true)
	if err != nil {
		return "", err
	}
	ch, msg, err := build(v)
	if err != nil || len(ch) == 0 {
		return "", err
	}
	tree, err := v.repo.TreeOID(v.tip, "")
	if err != nil {
		return "", err
	}
	oid, err := by(v, ctx, []repo.OID{v.tip}, tree, ch, msg)
	if err != nil {
		return "", err
	}
	return oid, v.line.Land(ctx, v.tip, oid)
}
