// Package land commits to the board. A commit of a person's decision is confirmed at the terminal
// first (Confirm), is signed as their git settings say, and fails if the board moved meanwhile
// (CommitFiles, CommitTree). Any other change is built again on the newest board when somebody
// else was first (Write).
package land

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// Wait and Tries are how long a write that needs no confirmation waits
// for its turn behind other writers: about twenty seconds in all.
const (
	Wait     = 50 * time.Millisecond
	Tries    = 400
	landTold = 10 // after so many a person is told what it waits for
)

// WriteOrStage calls Write. With --no-commit it writes and stages the files instead; with
// --dry-run it only calls build.
func WriteOrStage(c *cli.Context, w *workspace.Clone, by Committer, build func(*workspace.Board) (repo.Changes, string, error)) (repo.OID, error) {
	switch {
	case c.Bool("dry-run"):
		v, err := w.ReadBoard(c.Context, false)
		if err == nil {
			_, _, err = build(v)
		}
		return "", err
	case c.Bool("no-commit"):
		return "", stageChanges(c.Context, w, build)
	}
	return Write(c.Context, w, by, build)
}

// Committer makes a commit of a tree with changes, which no ref names yet: AsPerson or AsMachine.
type Committer func(ctx context.Context, v *workspace.Board, parents []repo.OID, tree repo.OID, ch repo.Changes, msg string) (repo.OID, error)

// AsMachine is the Committer in odd's own name.
func AsMachine(ctx context.Context, v *workspace.Board, parents []repo.OID, tree repo.OID, ch repo.Changes, msg string) (repo.OID, error) {
	return v.Repo.MakeOn(ctx, parents, tree, ch, MachineIdentity(v), msg)
}

// Write lands a commit that needs no confirmation. build returns the changes by path and the
// commit's message; no changes make no commit. When somebody else was first, build is called again
// with the board as it is then, so that writers at the same time lose nothing and double nothing.
func Write(ctx context.Context, w *workspace.Clone, by Committer, build func(*workspace.Board) (repo.Changes, string, error)) (repo.OID, error) {
	for try := 0; ; try++ {
		oid, err := writeOnce(ctx, w, by, build)
		if err == nil || try == Tries || !(errors.Is(err, repo.ErrMoved) || errors.Is(err, repo.ErrBusy)) {
			return oid, err
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if try == landTold {
			console.Talk(w.Env, "waiting for another command that writes: %v", err)
		}
		w.Env.Sleep(Wait)
	}
}

func writeOnce(ctx context.Context, w *workspace.Clone, by Committer, build func(*workspace.Board) (repo.Changes, string, error)) (repo.OID, error) {
	v, err := w.ReadBoard(ctx, true)
	if err != nil {
		return "", err
	}
	ch, msg, err := build(v)
	if err != nil || len(ch) == 0 {
		return "", err
	}
	tree, err := v.Repo.TreeOID(v.Tip, "")
	if err != nil {
		return "", err
	}
	oid, err := by(ctx, v, []repo.OID{v.Tip}, tree, ch, msg)
	if err != nil {
		return "", err
	}
	return oid, v.Line.Land(ctx, v.Tip, oid)
}

// CheckWorkTree refuses an act that changes paths which are not committed, or while a merge of git
// is not finished. It is called before a person confirms.
func CheckWorkTree(ctx context.Context, v *workspace.Board, act string, paths []string) error {
	if head, err := v.Repo.Branch(); err != nil || head != v.Line.Name() || len(paths) == 0 {
		return err
	}
	if half := v.Repo.Unmerged(ctx); len(half) > 0 {
		return verb.Refuse("unmerged", "%s: a git merge is not finished: resolve the conflict in %s, then git add and git commit; git status says how to undo it instead", act, console.FirstOf(half))
	}
	dirty, err := v.Repo.Dirty(ctx, paths...)
	if err == nil && len(dirty) > 0 {
		err = verb.Refuse("dirty", "%s: %s has uncommitted changes; commit it, or run git stash -u", act, console.FirstOf(dirty))
	}
	return err
}

// CommitTree is CommitFiles for a commit with other parents or another tree than the board's tip,
// and with other refs that move together with it.
func CommitTree(ctx context.Context, v *workspace.Board, parents []repo.OID, tree repo.OID, ch repo.Changes, msg string, also ...repo.RefUpdate) (repo.OID, error) {
	oid, err := AsPerson(ctx, v, parents, tree, ch, msg)
	if err != nil {
		return "", err
	}
	err = v.Line.Land(ctx, v.Tip, oid, also...)
	at, none := v.Repo.Ref(v.Line.Ref)
	if errors.Is(err, repo.ErrMoved) || err != nil && none == nil && v.Line.Remote == "" && at != v.Tip && at != oid { // the work tree has moved too
		return "", verb.Refuse("moved", "%s moved meanwhile; nothing was done, run the command again", v.Line.Name())
	}
	return oid, err
}

// CommitFiles commits changes of files to the board as the person, and lands the commit. It
// refuses if the board moved since v was read.
func CommitFiles(ctx context.Context, v *workspace.Board, ch repo.Changes, msg string) (repo.OID, error) {
	tree, err := v.Repo.TreeOID(v.Tip, "")
	if err != nil {
		return "", err
	}
	return CommitTree(ctx, v, []repo.OID{v.Tip}, tree, ch, msg)
}

// TreeWith returns the files that a commit would have with changes.
func TreeWith(ctx context.Context, r *repo.Repo, at repo.OID, ch repo.Changes) (fs.FS, error) {
	tree, err := r.TreeOID(at, "")
	if err == nil {
		tree, err = r.WriteTree(ctx, tree, ch)
	}
	if err != nil {
		return nil, err
	}
	return r.Tree(tree)
}

// MachineIdentity returns the identity of commits that only write down what people did.
func MachineIdentity(v *workspace.Board) repo.Signature {
	return repo.Signature{Name: v.Config.AgentName, Email: v.Config.AgentEmail, When: v.Env.Now()}
}

// stageChanges writes the changes into the work tree and the index, on the board's own
// checkout only. They are built on the files as they lie there, so that a
// person's edits and what was staged before stay.
func stageChanges(ctx context.Context, w *workspace.Clone, build func(*workspace.Board) (repo.Changes, string, error)) error {
	v, err := w.ReadCurrent(ctx)
	if err != nil {
		return err
	}
	if head, err := w.Repo.Branch(); err != nil || head != v.Line.Name() {
		return verb.Refuse("branch", "--no-commit: the board branch %s is not checked out here; run git switch %[1]s first, or leave --no-commit out", v.Line.Name())
	}
	ch, _, err := build(v)
	if err != nil {
		return err
	}
	converted, err := w.Repo.Converted(ctx, v.Tip, ch)
	if err != nil {
		return err
	}
	if len(converted) > 0 {
		return verb.Refuse("converted", "%v", converted[0])
	}
	if err := w.Repo.Write(ch); err != nil {
		return err
	}
	var paths []string
	for p := range ch {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return w.Repo.Stage(ctx, paths...)
}

// Message returns a commit message with its trailers; empty values are left out.
// The subject is one line, so that no title can bring a trailer of its own.
func Message(subject, body string, pairs ...string) string {
	var b strings.Builder
	b.WriteString(console.OneLine(subject) + "\n\n")
	if body != "" {
		b.WriteString(strings.TrimSpace(okf.Visible(body)) + "\n\n")
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.WriteString(pairs[i] + ": " + pairs[i+1] + "\n")
		}
	}
	return b.String()
}
