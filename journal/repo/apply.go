package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
)

// Landing is a change on its way to a ref.
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
// Objects are written first, which nobody sees; then the ref moves by
// compare-and-swap. A process killed at any instant leaves the ref at one commit
// or at the other, and objects that git throws away in time. No work tree, index
// or HEAD has a part in it, but that of a checkout which shows the ref: it comes
// along as Move has it, or the error is ErrInTheWay.
//
// ErrStale means that the first parent does not have what the change was made
// against; ErrMoved, which names both commits, that the ref moved meanwhile.
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

// ErrStale says that a change was made against other bytes than those it would replace.
var ErrStale = errors.New("changed since the change was made")

// MakeEdits is Make for edits, whose modes it keeps. Every Before must be what
// the first parent has, else the error is ErrStale and names every path; two
// edits of one path, and a mode of something that is no file, are errors too.
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

// contentEdits returns the edits that bring bytes in, not those of a mode alone.
func contentEdits(files []FileEdit) Changes {
	ch := Changes{}
	for _, f := range files {
		if f.After != nil && (f.Before == nil || !bytes.Equal(f.Before, f.After)) {
			ch[f.Path] = f.After
		}
	}
	return ch
}

// checkModes refuses an edit whose modes do not go with its bytes.
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

// checkBefore refuses an edit that was made against something else than the tree has.
func (x *Reader) checkBefore(tree OID, f FileEdit) error {
	oid, mode, err := x.Find(tree, f.Path)
	if err != nil {
		return err
	}
	if mode == modeDir && f.Before == nil {
		return nil // a folder that the same change empties; applying says so otherwise
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
