package repo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// RemoteLock is the drain lock that clones share through a remote.
//
// It is the ref refs/odd/lock/TENANT. Its blob is one line of JSON,
//
//	{"v":1,"run":"run-01…","counter":3,"nonce":"…","expires":"2027-01-15T08:00:00Z"}
//
// and every write is a push with a lease on the blob that was there. Counter and
// nonce make each blob one of a kind, because pushing an object the remote has
// already succeeds whatever the lease says. A lock whose expires has passed may
// be taken over; its holder learns it at the next Renew.
type RemoteLock struct {
	r      *Repo
	remote string
	ref    string
	ttl    time.Duration

	mu  sync.Mutex
	at  OID
	now lockBlob
}

// lockBlob is the stored form; its names are frozen.
type lockBlob struct {
	Version int       `json:"v"`
	Run     string    `json:"run"`
	Counter int       `json:"counter"`
	Nonce   string    `json:"nonce"`
	Expires time.Time `json:"expires"`
}

// LockRemote takes the lock for run until now+ttl, if it is free or expired at now. ErrBusy names the run that has it,
// and until when.
func (r *Repo) LockRemote(ctx context.Context, remote, tenant, run string, ttl time.Duration, now time.Time) (*RemoteLock, error) {
	l := &RemoteLock{r: r, remote: remote, ref: "refs/odd/lock/" + tenant, ttl: ttl}
	if strings.Contains(tenant, "/") {
		return nil, fmt.Errorf("tenant %q: must not hold a slash", tenant)
	}
	at, err := r.RemoteRef(ctx, remote, l.ref)
	if err != nil {
		return nil, err
	}
	if at != "" {
		held, err := l.readHolder(ctx, at)
		if err != nil {
			return nil, err
		}
		if now.Before(held.Expires) {
			return nil, l.busyError(held)
		}
	}
	l.at = at
	if err := l.pushNext(ctx, lockBlob{Version: 1, Run: run, Expires: now.Add(ttl)}); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *RemoteLock) busyError(held lockBlob) error {
	return fmt.Errorf("%s %s: %w: %s has it until %s", l.remote, l.ref, ErrBusy, held.Run, held.Expires.UTC().Format(time.RFC3339))
}

// readHolder fetches the blob that holds the lock. One that is no lock of ours is an error, never "free".
func (l *RemoteLock) readHolder(ctx context.Context, at OID) (lockBlob, error) {
	if _, err := l.r.Blob(at); err != nil {
		if err = l.r.Fetch(ctx, l.remote, l.ref); err != nil {
			return lockBlob{}, err
		}
		if _, err = l.r.Blob(at); err != nil {
			return lockBlob{}, fmt.Errorf("%s %s: %w: it changed while it was read", l.remote, l.ref, ErrBusy)
		}
	}
	held, err := l.r.readLock(at)
	if err != nil {
		return held, fmt.Errorf("%s %s: %w", l.remote, l.ref, err)
	}
	return held, nil
}

// CheckLock says why a push may not move a lock's ref from one blob to another ("" is
// none): a lock that has not expired at now is its run's, and only that run writes over
// it. A push that deletes it is how a run lets go.
func (r *Repo) CheckLock(old, next OID, now time.Time) error {
	if next == "" {
		return nil
	}
	to, err := r.readLock(next)
	if err != nil || old == "" {
		return err
	}
	held, err := r.readLock(old)
	if err == nil && held.Run != to.Run && now.Before(held.Expires) {
		return fmt.Errorf("%s has the drain lock until %s; wait, or if it was killed, push a deletion of the ref", held.Run, held.Expires.UTC().Format(time.RFC3339))
	}
	return nil // over what is no lock, anything may be written
}

// readLock reads the blob of a lock.
func (r *Repo) readLock(at OID) (lockBlob, error) {
	var held lockBlob
	b, err := r.Blob(at)
	if err != nil {
		return held, err
	}
	if err := json.Unmarshal(b, &held); err != nil || held.Version != 1 {
		return held, errors.New("not a lock this odd can read; delete the ref if no drain runs")
	}
	return held, nil
}

// pushNext pushes the next blob over the one at l.at. When the push's fate is unclear (the line was cut), the remote is asked.
func (l *RemoteLock) pushNext(ctx context.Context, next lockBlob) error {
	next.Nonce = newNonce()
	b, err := json.Marshal(next)
	if err != nil {
		return err
	}
	oid, err := l.r.WriteBlob(append(b, '\n'))
	if err != nil {
		return err
	}
	err = l.r.Push(ctx, l.remote, RefUpdate{l.ref, l.at, oid})
	if err != nil {
		now, aerr := l.r.RemoteRef(ctx, l.remote, l.ref)
		if aerr != nil || now != oid {
			return l.explainLoss(ctx, err, now)
		}
	}
	l.at, l.now = oid, next
	return nil
}

// explainLoss says who has the lock now, where that is why the push was rejected.
func (l *RemoteLock) explainLoss(ctx context.Context, err error, now OID) error {
	if !errors.Is(err, ErrRejected) {
		return err
	}
	if held, rerr := l.readHolder(ctx, now); now != "" && rerr == nil {
		return l.busyError(held)
	}
	return fmt.Errorf("%s %s: %w: another run changed it", l.remote, l.ref, ErrBusy)
}

// Renew extends the lock to now+ttl. ErrBusy means that it was taken over or removed: the run must stop.
func (l *RemoteLock) Renew(ctx context.Context, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.now
	next.Counter++
	next.Expires = now.Add(l.ttl)
	return l.pushNext(ctx, next)
}

// Release gives the lock back. One that another run took over is left to it, without an error.
func (l *RemoteLock) Release(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.r.Push(ctx, l.remote, RefUpdate{l.ref, l.at, ""})
	if errors.Is(err, ErrRejected) {
		return nil
	}
	return err
}
