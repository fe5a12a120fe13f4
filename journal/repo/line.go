package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/refusal"
)

// Line is a branch that may be shared. With a remote, it is the remote's branch of the same name, and a change
// counts only once it is pushed.
type Line struct {
	Repo   *Repo
	Ref    string       // refs/heads/…
	Remote string       // "" for none
	Note   func(string) // called with what could not be updated after a push; may be nil
	Check  Check        // asked before a ref moves; nil for no check
}

// Check returns why commits may not land, nil if they may: next is to move the line from old, together with also.
type Check func(ctx context.Context, l *Line, old, next OID, also []RefUpdate) error

// refuse is the error of a clone in whose state odd will not write.
func refuse(code, format string, args ...any) error { return refusal.New(code, format, args...) }

// Name returns the branch's short name.
func (l *Line) Name() string { return strings.TrimPrefix(l.Ref, "refs/heads/") }

// Local returns the full name of the local ref for a branch: the branch itself or, with a remote, its
// remote-tracking ref.
func (l *Line) Local(branch string) string {
	if l.Remote == "" {
		return "refs/heads/" + branch
	}
	return "refs/remotes/" + l.Remote + "/" + branch
}

// Tip returns the commit that decisions start from, which is Latest. It is refused if the local branch has
// commits that the remote does not have, because odd would publish them.
func (l *Line) Tip(ctx context.Context) (OID, error) {
	local, err := l.Repo.Ref(l.Ref)
	if err != nil || l.Remote == "" {
		return local, err
	}
	tip, err := l.Latest(ctx)
	if err != nil {
		return "", err
	}
	behind, err := l.Repo.Ancestor(ctx, local, tip)
	if err != nil {
		return "", err
	}
	if behind {
		return tip, nil
	}
	way := "git push " + l.Remote + " " + l.Name()
	if only, err := l.Repo.Ancestor(ctx, tip, local); err != nil || !only {
		way = "git pull --no-rebase, then " + way
	}
	return "", refuse("ahead", "%s holds commits of yours that %s/%s does not, and odd would publish them with its own; publish them yourself: %s", l.Name(), l.Remote, l.Name(), way)
}

// Latest returns the branch's commit; with a remote it fetches first. A run that has begun uses it: commits that a
// person makes here in the meantime are not part of it, so they are not published and do not cost the run its
// result.
func (l *Line) Latest(ctx context.Context) (OID, error) {
	if l.Remote == "" {
		return l.Repo.Ref(l.Ref)
	}
	if err := l.Repo.Fetch(ctx, l.Remote); err != nil {
		return "", err
	}
	tip, err := l.Repo.Ref(l.Local(l.Name()))
	if errors.Is(err, ErrNoRef) {
		return "", refuse("no-upstream", "%s has no branch %s; run git push %s %s", l.Remote, l.Name(), l.Remote, l.Name())
	}
	return tip, err
}

// basePrefix begins the refs that keep the base of a run's session; the run's id follows.
const basePrefix = "refs/odd/base/"

// Land moves the branch from old to next together with other refs, all or nothing, if Check has nothing against it.
// With a remote the push decides and the local refs follow, except refs/odd/base/, which stay on this machine.
// ErrMoved means that another writer was first and nothing happened.
func (l *Line) Land(ctx context.Context, old, next OID, also ...RefUpdate) error {
	if l.Check != nil {
		if err := l.Check(ctx, l, old, next, also); err != nil {
			return err
		}
	}
	first := RefUpdate{Name: l.Ref, Old: old, New: next}
	if l.Remote == "" {
		return l.Repo.Move(ctx, append(slices.Clip(also), first)...) // the branch last: if the disk fails halfway, it does not name refs that are missing
	}
	var shared, private []RefUpdate
	for _, u := range also {
		if strings.HasPrefix(u.Name, basePrefix) {
			private = append(private, u)
		} else {
			shared = append(shared, u)
		}
	}
	if err := l.Repo.Update(ctx, private...); err != nil {
		return err
	}
	err := l.Repo.Push(ctx, l.Remote, append([]RefUpdate{first}, shared...)...)
	if err != nil && l.hasArrived(ctx, next) {
		err = nil
	}
	if errors.Is(err, ErrRejected) {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	if err != nil {
		return err
	}
	l.followPush(ctx, next, shared)
	return nil
}

// hasArrived reports whether the remote's branch is at next although the push failed: the connection broke, or the
// push was cancelled, after the remote had accepted it. The push was atomic, so the remote then has everything.
func (l *Line) hasArrived(ctx context.Context, next OID) bool {
	at, err := l.Repo.RemoteRef(context.WithoutCancel(ctx), l.Remote, l.Ref)
	return err == nil && at == next
}

// followPush moves the local refs to what was pushed. A checkout in the way is reported and left alone: what was
// pushed is safe on the remote.
func (l *Line) followPush(ctx context.Context, next OID, shared []RefUpdate) {
	if err := l.Follow(ctx, next); err != nil && !errors.Is(err, ErrNoRef) { // no such branch here, nothing to move
		l.addNote("%s: local branch left where it is: %v; run odd sync", l.Name(), err)
	}
	for _, u := range shared {
		if strings.HasPrefix(u.Name, "refs/heads/") && u.New == "" {
			continue // the branch need not exist here
		}
		if err := l.Repo.Move(ctx, u); err != nil && !errors.Is(err, ErrMoved) {
			l.addNote("%s: pushed, but not set here: %v", u.Name, err)
		}
	}
}

// Follow fast-forwards the local branch, and the checkouts that show it, to next. If the branch has diverged, it
// returns an error and leaves the branch as it is.
func (l *Line) Follow(ctx context.Context, next OID) error {
	local, err := l.Repo.Ref(l.Ref)
	if err != nil || local == next {
		return err
	}
	ff, err := l.Repo.Ancestor(ctx, local, next)
	if err != nil {
		return err
	}
	if !ff {
		return fmt.Errorf("it has diverged from %s/%s", l.Remote, l.Name())
	}
	return l.Repo.Move(ctx, RefUpdate{Name: l.Ref, Old: local, New: next})
}

func (l *Line) addNote(format string, args ...any) {
	if l.Note != nil {
		l.Note(fmt.Sprintf(format, args...))
	}
}
