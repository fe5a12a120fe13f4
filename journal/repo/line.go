package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Line is a branch that may be shared: local, or, with a remote, the remote's
// branch of the same name, where a successful push is the only truth.
type Line struct {
	Repo   *Repo
	Ref    string       // refs/heads/…
	Remote string       // "" for none
	Note   func(string) // told what could not follow a push; may be nil
}

// Refusal is a state of the clone in which odd will not write.
type Refusal struct {
	Code string // "ahead", "no-upstream"
	Text string // what, and the way out
}

// Error is the text.
func (r *Refusal) Error() string { return r.Text }

// Refused is the reason code.
func (r *Refusal) Refused() string { return r.Code }

// Name is the branch's short name.
func (l *Line) Name() string { return strings.TrimPrefix(l.Ref, "refs/heads/") }

// Local is the full name of the ref that stands for a branch of the same line:
// the branch itself, or its remote-tracking ref.
func (l *Line) Local(branch string) string {
	if l.Remote == "" {
		return "refs/heads/" + branch
	}
	return "refs/remotes/" + l.Remote + "/" + branch
}

// Tip is the commit decisions start from: Latest, refused when the local branch
// holds commits the remote does not, because odd would publish them.
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
	if !behind {
		return "", &Refusal{"ahead", fmt.Sprintf("%s holds commits that %s/%s does not; git push them (or git pull --no-rebase first), odd commits on the fetched tip", l.Name(), l.Remote, l.Name())}
	}
	return tip, nil
}

// Latest is the branch's commit, with a remote the one it has now. It is for a
// run that has begun: what a person commits here meanwhile is not on it, and so
// is neither published nor a reason to lose the run's result.
func (l *Line) Latest(ctx context.Context) (OID, error) {
	if l.Remote == "" {
		return l.Repo.Ref(l.Ref)
	}
	if err := l.Repo.Fetch(ctx, l.Remote); err != nil {
		return "", err
	}
	tip, err := l.Repo.Ref(l.Local(l.Name()))
	if errors.Is(err, ErrNoRef) {
		return "", &Refusal{"no-upstream", fmt.Sprintf("%s has no branch %s; run git push %s %s", l.Remote, l.Name(), l.Remote, l.Name())}
	}
	return tip, err
}

// Land moves the branch from old to next together with other refs, all or
// nothing. With a remote the push decides and the local refs follow, except
// refs/odd/base/, which stay on this machine. An error that is ErrMoved means
// that somebody else was first and nothing happened.
func (l *Line) Land(ctx context.Context, old, next OID, also ...RefUpdate) error {
	first := RefUpdate{Name: l.Ref, Old: old, New: next}
	if l.Remote == "" {
		return l.Repo.Move(ctx, append(slices.Clip(also), first)...) // the branch last: where a disk dies among them, nothing is told of that is not there
	}
	var shared, private []RefUpdate
	for _, u := range also {
		if strings.HasPrefix(u.Name, "refs/odd/base/") {
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

// hasArrived reports that the remote's branch is at next all the same: the line was
// cut, or the push called off, when the remote had taken it. It took everything,
// as the push was atomic.
func (l *Line) hasArrived(ctx context.Context, next OID) bool {
	at, err := l.Repo.RemoteRef(context.WithoutCancel(ctx), l.Remote, l.Ref)
	return err == nil && at == next
}

// followPush brings the local refs to what was pushed. A checkout in the way is
// named and left alone: what was pushed is safe on the remote.
func (l *Line) followPush(ctx context.Context, next OID, shared []RefUpdate) {
	if err := l.Follow(ctx, next); err != nil && !errors.Is(err, ErrNoRef) { // a branch that is not here has nothing to follow
		l.addNote("%s: local branch left where it is: %v; run odd sync", l.Name(), err)
	}
	for _, u := range shared {
		if strings.HasPrefix(u.Name, "refs/heads/") && u.New == "" {
			continue // a branch that never had to be here
		}
		if err := l.Repo.Move(ctx, u); err != nil && !errors.Is(err, ErrMoved) {
			l.addNote("%s: pushed, but not set here: %v", u.Name, err)
		}
	}
}

// Follow fast-forwards the local branch, and the checkouts that show it, to next.
// A branch that has diverged is an error and stays.
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
