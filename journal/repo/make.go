package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/repo/object"
)

// Make writes a commit object whose tree is parents[0]'s tree with the changes applied, and moves no ref.
//
// who is author and committer (the agent), at who.When. It runs no hook and signs nothing. Files that exist keep
// their modes; new ones are 100644. Deleting a missing file is no error. Without parents the tree is the changes
// alone. If git would store a file with other bytes, Make refuses and writes nothing. Nothing is reachable until a
// ref names the commit, so a failure leaves only loose objects.
func (r *Repo) Make(ctx context.Context, parents []OID, ch Changes, who Signature, message string) (OID, error) {
	base, err := r.checkCommit(parents, who, message)
	if err != nil {
		return "", err
	}
	return r.MakeOn(ctx, parents, base, ch, who, message)
}

// checkCommit returns the tree of the first parent, "" without one, and refuses what git would refuse of a commit.
func (r *Repo) checkCommit(parents []OID, who Signature, message string) (base OID, err error) {
	if err := errors.Join(who.Check(), checkMessage(message)); err != nil {
		return "", err
	}
	for i, p := range parents {
		c, err := r.Commit(p)
		if err != nil {
			return "", err
		}
		if i == 0 {
			base = c.Tree
		}
	}
	return base, nil
}

// MakeOn is Make for a commit whose tree starts from tree, such as a merged one, instead of from its first
// parent's.
func (r *Repo) MakeOn(ctx context.Context, parents []OID, tree OID, ch Changes, who Signature, message string) (OID, error) {
	if _, err := r.checkCommit(nil, who, message); err != nil {
		return "", err
	}
	if err := r.checkConverted(ctx, tree, ch); err != nil {
		return "", err
	}
	tree, err := r.WriteTree(ctx, tree, ch)
	if err != nil {
		return "", err
	}
	return r.WriteCommit(tree, parents, who.String(), who.String(), message)
}

// checkMessage refuses a message that git would refuse or cut short.
func checkMessage(m string) error {
	switch {
	case strings.TrimSpace(m) == "":
		return errors.New("commit message: empty")
	case strings.ContainsRune(m, 0):
		return errors.New("commit message: holds a NUL")
	}
	return nil
}

// ErrStale means that a file no longer has the bytes that a change replaces.
var ErrStale = errors.New("changed since the change was made")

// MakeEdits is Make for edits, and keeps their modes. Every Before must be what the first parent has; otherwise the
// error is ErrStale and names every such path. Two edits of one path are an error, and so is a mode that is not a
// file's.
func (r *Repo) MakeEdits(ctx context.Context, parents []OID, files []FileEdit, who Signature, message string) (OID, error) {
	if len(parents) == 0 {
		return "", errors.New("apply a change: no parent given")
	}
	base, err := r.checkCommit(parents, who, message)
	if err != nil {
		return "", err
	}
	ch, modes := Changes{}, map[string]string{}
	var bad []error
	for _, f := range files {
		if _, twice := ch[f.Path]; twice {
			bad = append(bad, fmt.Errorf("%s: changed twice by one change", f.Path))
		}
		ch[f.Path], modes[f.Path] = f.After, f.NewMode
		bad = append(bad, checkModes(f), r.checkBefore(base, f))
	}
	if err := errors.Join(bad...); err != nil {
		return "", err
	}
	if err := r.checkConverted(ctx, base, contentEdits(files)); err != nil {
		return "", err
	}
	tree, err := r.ApplyChanges(ctx, base, ch, modes)
	if err != nil {
		return "", err
	}
	return r.WriteCommit(tree, parents, who.String(), who.String(), message)
}

// contentEdits returns the edits that change bytes, without those that only change a mode.
func contentEdits(files []FileEdit) Changes {
	ch := Changes{}
	for _, f := range files {
		if f.After != nil && (f.Before == nil || !bytes.Equal(f.Before, f.After)) {
			ch[f.Path] = f.After
		}
	}
	return ch
}

// checkModes refuses an edit whose modes do not fit its bytes.
func checkModes(f FileEdit) error {
	for _, side := range []struct {
		b    []byte
		mode string
	}{{f.Before, f.OldMode}, {f.After, f.NewMode}} {
		if ok := slices.Contains([]string{object.ModeFile, object.ModeExec}, side.mode); ok != (side.b != nil) || !ok && side.mode != "" {
			return fmt.Errorf("%s: mode %q does not go with its bytes; want 100644 or 100755 for a file, none without", f.Path, side.mode)
		}
	}
	return nil
}

// checkBefore refuses an edit that was made against something other than what the tree has.
func (r *Repo) checkBefore(tree OID, f FileEdit) error {
	oid, mode, err := r.Find(tree, f.Path)
	if err != nil {
		return err
	}
	if mode == object.ModeDir && f.Before == nil {
		return nil // the same change may empty the folder; if not, applying it fails
	}
	if mode != f.OldMode {
		return fmt.Errorf("%s: %w", f.Path, ErrStale)
	}
	if mode == "" {
		return nil
	}
	now, err := r.Blob(oid)
	if err == nil && !bytes.Equal(now, f.Before) {
		err = fmt.Errorf("%s: %w", f.Path, ErrStale)
	}
	return err
}
