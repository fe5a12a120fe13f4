package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
)

// Landing is a change to be committed to a ref.
type Landing struct {
	Ref     string // refs/heads/…; the full name
	Old     OID    // where the ref is, "" where it is to be created
	Parents []OID  // of the commit; the change applies to the first one's tree
	Files   []FileEdit
	Who     Signature // author and committer: the machine
	Message string    // with its trailers
}

// Apply commits a change of many files and moves one ref to it, all or nothing.
//
// It writes the objects first, which nobody sees, and then moves the ref by compare-and-swap. A process killed at
// any instant leaves the ref at the old or at the new commit. Objects that no ref reaches are collected by git
// later. Work trees, indexes and HEAD do not take part. Only a checkout of the ref follows it, as with Move, or the
// error is ErrInTheWay.
//
// ErrStale means that a file in the first parent differs from what the change was made against. ErrMoved means that
// the ref moved in the meantime; it names both commits.
func (r *Repo) Apply(ctx context.Context, l Landing) (OID, error) {
	next, err := r.MakeEdits(ctx, l.Parents, l.Files, l.Who, l.Message)
	if err != nil {
		return "", err
	}
	if err := r.testStep("made"); err != nil {
		return "", err
	}
	if err := r.Move(ctx, RefUpdate{Name: l.Ref, Old: l.Old, New: next}); err != nil {
		return "", err
	}
	return next, nil
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
	if err := errors.Join(who.check(), checkMessage(message), checkIDs(parents...)); err != nil {
		return "", err
	}
	for _, p := range parents {
		if _, err := r.Commit(p); err != nil {
			return "", err
		}
	}
	base, _, err := r.rootTree(parents[0])
	if err != nil {
		return "", err
	}
	ch, modes := Changes{}, map[string]string{}
	var bad []error
	at := r.Reader()
	for _, f := range files {
		if _, twice := ch[f.Path]; twice {
			bad = append(bad, fmt.Errorf("%s: changed twice by one change", f.Path))
		}
		ch[f.Path], modes[f.Path] = f.After, f.NewMode
		bad = append(bad, f.checkModes(), at.checkBefore(base, f))
	}
	if err := errors.Join(bad...); err != nil {
		return "", err
	}
	if err := r.checkConverted(ctx, base, contentEdits(files)); err != nil {
		return "", err
	}
	tree, err := r.applyChanges(ctx, base, ch, modes)
	if err != nil {
		return "", err
	}
	return r.objs.put("commit", printCommit(tree, parents, who.String(), who.String(), message))
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
func (f FileEdit) checkModes() error {
	for _, side := range []struct {
		b    []byte
		mode string
	}{{f.Before, f.OldMode}, {f.After, f.NewMode}} {
		if ok := slices.Contains([]string{modeFile, modeExec}, side.mode); ok != (side.b != nil) || !ok && side.mode != "" {
			return fmt.Errorf("%s: mode %q does not go with its bytes; want 100644 or 100755 for a file, none without", f.Path, side.mode)
		}
	}
	return nil
}

// checkBefore refuses an edit that was made against something other than what the tree has.
func (x *Reader) checkBefore(tree OID, f FileEdit) error {
	oid, mode, err := x.Find(tree, f.Path)
	if err != nil {
		return err
	}
	if mode == modeDir && f.Before == nil {
		return nil // the same change may empty the folder; if not, applying it fails
	}
	if mode != f.OldMode {
		return fmt.Errorf("%s: %w", f.Path, ErrStale)
	}
	if mode == "" {
		return nil
	}
	now, err := x.r.Blob(oid)
	if err == nil && !bytes.Equal(now, f.Before) {
		err = fmt.Errorf("%s: %w", f.Path, ErrStale)
	}
	return err
}
