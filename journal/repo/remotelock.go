package repo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/odd-cli/odd/journal/repo/local"
)

// RemoteLock is the drain lock that clones share through a remote.
//
// It is the ref refs/odd/lock/TENANT. Its blob is one line of JSON,
//
//	{"v":1,"run":"run-01…","clone":"…","counter":3,"nonce":"…","expires":"2027-01-15T08:00:00Z"}
//
// and every write is a push with a lease on the previous blob. Counter and nonce make each blob unique, because
// pushing an object that the remote already has succeeds whatever the lease says. A lock past its expiry may be
// taken over; its holder learns that at the next Renew. So may the lock of a run that was killed in this clone.
type RemoteLock struct {
	r      *Repo
	remote string
	ref    string
	ttl    time.Duration

	mu  sync.Mutex
	at  OID
	now lockBlob
}

// lockBlob is the stored form; the JSON names are frozen.
type lockBlob struct {
	Version int       `json:"v"`
	Run     string    `json:"run"`
	Clone   string    `json:"clone,omitempty"` // whose run it is; "" of an odd that did not say
	Counter int       `json:"counter"`
	Nonce   string    `json:"nonce"`
	Expires time.Time `json:"expires"`
}

// LockRemote takes the lock for run until now+ttl, if it is free or expired at now, or if a run of this clone has it
// that was killed: the caller holds the drain lock, so no run with a base lives but with a lock of its own, and none
// that held the drain lock before. ErrBusy
// names the run that holds it and until when.
func (r *Repo) LockRemote(ctx context.Context, remote, tenant, run string, ttl time.Duration, now time.Time) (*RemoteLock, error) {
	killed, _, err := r.Orphans()
	if err != nil {
		return nil, err
	}
	l, left, err := r.findFreeLock(ctx, remote, tenant, append(killed, r.KilledDrains()...), now)
	if err == nil && left {
		err = r.Push(ctx, remote, RefUpdate{Name: l.ref, Old: l.at, New: ""}) // only its own run may overwrite it
		l.at = ""
	}
	if err != nil {
		return nil, err
	}
	l.ttl = ttl
	if err := l.pushNext(ctx, lockBlob{Version: 1, Run: run, Clone: r.cloneID(), Expires: now.Add(ttl)}); err != nil {
		return nil, err
	}
	r.ForgetKilled()
	return l, nil
}

// cloneID tells this clone from others, a copy of it on this computer or on another among them: a copy has what a run
// left here, and not the locks by which it lives.
func (r *Repo) cloneID() string {
	host, _ := os.Hostname()
	sum := sha256.Sum256([]byte(host + "\x00" + r.CommonDir()))
	return hex.EncodeToString(sum[:8])
}

// CheckRemoteLock returns the error that LockRemote would return for a lock that somebody else holds. It takes no lock.
func (r *Repo) CheckRemoteLock(ctx context.Context, remote, tenant string, now time.Time) error {
	killed, err := r.KilledRuns()
	if err == nil {
		_, _, err = r.findFreeLock(ctx, remote, tenant, append(killed, r.KilledDrains()...), now)
	}
	return err
}

// findFreeLock reads a lock that is free or expired at now, or that one of the killed runs left.
func (r *Repo) findFreeLock(ctx context.Context, remote, tenant string, killed []string, now time.Time) (l *RemoteLock, left bool, err error) {
	l = &RemoteLock{r: r, remote: remote, ref: "refs/odd/lock/" + tenant}
	if strings.Contains(tenant, "/") {
		return nil, false, fmt.Errorf("tenant %q: must not hold a slash", tenant)
	}
	if l.at, err = r.RemoteRef(ctx, remote, l.ref); err != nil || l.at == "" {
		return l, false, err
	}
	held, err := l.readHolder(ctx, l.at)
	if err != nil {
		return nil, false, err
	}
	left = held.Clone == r.cloneID() && slices.Contains(killed, held.Run)
	if !left && now.Before(held.Expires) {
		return nil, false, l.busyError(held)
	}
	return l, left, nil
}

func (l *RemoteLock) busyError(held lockBlob) error {
	return fmt.Errorf("%s %s: %w: %s has it until %s", l.remote, l.ref, ErrBusy, held.Run, held.Expires.UTC().Format(time.RFC3339))
}

// readHolder fetches the blob of the lock. A blob that is not a lock is an error, never "free".
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

// CheckLock says why a push may not move a lock's ref from one blob to another ("" is none). Only the run that
// holds a lock may overwrite it before it expires; gates of two clones have one name. A push that deletes it is allowed, because that is how a
// run releases its lock.
func (r *Repo) CheckLock(old, next OID, now time.Time) error {
	if next == "" {
		return nil
	}
	to, err := r.readLock(next)
	if err != nil || old == "" {
		return err
	}
	held, err := r.readLock(old)
	if err == nil && (held.Run != to.Run || held.Clone != to.Clone) && now.Before(held.Expires) {
		return fmt.Errorf("%s has the drain lock until %s; wait, or if it was killed, push a deletion of the ref", held.Run, held.Expires.UTC().Format(time.RFC3339))
	}
	return nil // a blob that is not a lock may be overwritten
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

// pushNext pushes the next blob over the one at l.at. If the push fails, it asks the remote whether the push
// arrived.
func (l *RemoteLock) pushNext(ctx context.Context, next lockBlob) error {
	next.Nonce = local.Nonce()
	b, err := json.Marshal(next)
	if err != nil {
		return err
	}
	oid, err := l.r.WriteBlob(append(b, '\n'))
	if err != nil {
		return err
	}
	err = l.r.Push(ctx, l.remote, RefUpdate{Name: l.ref, Old: l.at, New: oid})
	if err != nil {
		now, aerr := l.r.RemoteRef(ctx, l.remote, l.ref)
		if aerr != nil || now != oid {
			return l.explainLoss(ctx, err, now)
		}
	}
	l.at, l.now = oid, next
	return nil
}

// explainLoss says who holds the lock now, if that is why the push was rejected.
func (l *RemoteLock) explainLoss(ctx context.Context, err error, now OID) error {
	if !errors.Is(err, ErrRejected) {
		return err
	}
	if held, rerr := l.readHolder(ctx, now); now != "" && rerr == nil {
		return l.busyError(held)
	}
	return fmt.Errorf("%s %s: %w: another run changed it", l.remote, l.ref, ErrBusy)
}

// Renew extends the lock to now+ttl. ErrBusy means that it was taken over or removed, and the run must stop.
func (l *RemoteLock) Renew(ctx context.Context, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.now
	next.Counter++
	next.Expires = now.Add(l.ttl)
	return l.pushNext(ctx, next)
}

// Release releases the lock. If another run took it over, Release leaves it and returns no error.
func (l *RemoteLock) Release(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.r.Push(ctx, l.remote, RefUpdate{Name: l.ref, Old: l.at, New: ""})
	if errors.Is(err, ErrRejected) {
		return nil
	}
	return err
}
