package repo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"

	"github.com/odd-cli/odd/journal/repo/local"
	"github.com/odd-cli/odd/journal/repo/ref"
)

// marker records that refs are about to move, and which checkout follows one of them, if any. It is written to
// $GIT_COMMON_DIR/odd/sync/NONCE.json before any lock is taken, and removed last. So Recover finds what a killed
// Move or Update left behind, and the nonce proves that it is odd's. The JSON names are frozen.
type marker struct {
	Version int      `json:"v"` // 1
	PID     int      `json:"pid"`
	Nonce   string   `json:"nonce"` // also the content of the index.lock that is ours
	Ref     string   `json:"ref"`
	Old     OID      `json:"old"`
	New     OID      `json:"new"`
	Root    string   `json:"root"`           // the work tree, "" where none follows
	GitDir  string   `json:"gitdir"`         // the work tree's own git directory
	Home    string   `json:"home"`           // the git directory whose HEAD update-ref locks too
	Kept    []string `json:"kept,omitempty"` // the sync is complete; these lines wait to be told

	Also map[string]OID `json:"also,omitempty"` // every ref of the transaction and what it moves to, "" where it is deleted
}

// updateTargets returns a transaction as a marker stores it.
func updateTargets(us []RefUpdate) map[string]OID {
	m := make(map[string]OID, len(us))
	for _, u := range us {
		m[u.Name] = u.New
	}
	return m
}

func (r *Repo) markerPath(m marker) string { return r.OddPath("sync", m.Nonce+".json") }

// writeMarker writes m atomically. If a checkout follows, it also syncs the file; otherwise it need not, as git's
// own locks are not synced either.
func (r *Repo) writeMarker(m marker) error {
	if err := r.MakeOddDir("sync"); err != nil {
		return err
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if m.Root == "" {
		draft := r.OddPath("sync", "."+m.Nonce)
		if err := os.WriteFile(draft, append(b, '\n'), 0o666); err != nil {
			return errors.Join(err, os.Remove(draft))
		}
		r.ShareWithGroup(draft)
		return os.Rename(draft, r.markerPath(m))
	}
	err = renameio.WriteFile(r.markerPath(m), append(b, '\n'), 0o666, renameio.WithTempDir(r.OddPath("sync")))
	r.ShareWithGroup(r.markerPath(m))
	return err
}

// readMarkers returns the markers by name. A marker that cannot be read is an error that names it.
func (r *Repo) readMarkers() ([]marker, error) {
	var ms []marker
	for _, n := range local.Glob(r.OddPath("sync"), "*.json") {
		b, err := os.ReadFile(n)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its Move has just ended
		}
		var m marker
		if err == nil {
			err = json.Unmarshal(b, &m)
		}
		if err == nil && (m.Version != 1 || m.Nonce+".json" != filepath.Base(n)) {
			err = errors.New("not a marker this odd knows")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w; check the work tree with git status, then remove the file", n, err)
		}
		ms = append(ms, m)
	}
	return ms, nil
}

// indexLock returns the path of the work tree's index.lock, which git respects too.
func (m marker) indexLock() string { return filepath.Join(m.GitDir, "index.lock") }

// ownsLock reports whether the current index.lock is the marker's. A file that cannot be read is an error.
func (m marker) ownsLock() (bool, error) {
	b, err := os.ReadFile(m.indexLock())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return string(b) == m.Nonce, err
}

// takeLock makes index.lock with the nonce in it, atomically if the file system has hard links. It writes src first
// and removes it afterwards. ErrBusy means that the lock exists. In a shared repository other users can read who
// holds it.
func (r *Repo) takeLock(m marker, src string) error {
	defer os.Remove(src)
	if err := os.WriteFile(src, []byte(m.Nonce), 0o666); err != nil {
		return err
	}
	r.ShareWithGroup(src)
	err := os.Link(src, m.indexLock())
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = createNew(m.indexLock(), []byte(m.Nonce))
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w: another git works there; try again, or remove the file when none runs", m.indexLock(), ErrBusy)
	}
	return err
}

// createNew writes a file that must not exist.
func createNew(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// dropIndexLock removes index.lock if it is the marker's.
func (m marker) dropIndexLock() error {
	if ours, err := m.ownsLock(); !ours || err != nil {
		return err
	}
	return os.Remove(m.indexLock())
}

// lockWindow is how long after its marker a killed update-ref may have made an empty lock file. It runs
// milliseconds after the marker is written; the rest is for slow disks.
const lockWindow = 5 * time.Second

// dropRefLocks removes what a killed update-ref left: for each ref of the transaction a lock with the id it was
// moving to, and empty lock files made within lockWindow of the marker. If the transaction deletes refs, it also
// removes a half-written packed-refs file.
func (r *Repo) dropRefLocks(m marker) error {
	st, err := os.Stat(r.markerPath(m))
	if err != nil {
		return err
	}
	drop := func(lock string, holds ...string) error {
		lst, err := os.Stat(lock)
		if err != nil {
			return nil
		}
		b, err := os.ReadFile(lock)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		age := lst.ModTime().Sub(st.ModTime())
		if !slices.Contains(holds, string(bytes.TrimSpace(b))) && (len(b) > 0 || age < 0 || age > lockWindow) {
			return nil
		}
		return local.RemoveIfExists(lock)
	}
	deletes := m.Also == nil
	moves := map[string]bool{}
	for name, to := range m.Also {
		deletes = deletes || to == ""
		moves[r.ResolveName(name)] = true
		err = errors.Join(err, drop(filepath.Join(r.common, filepath.FromSlash(name)+".lock"), string(to)))
	}
	if m.Ref != "" {
		moves[r.ResolveName(m.Ref)] = true
		err = errors.Join(err, drop(filepath.Join(r.common, filepath.FromSlash(m.Ref)+".lock"), string(m.New)))
	}
	if moves[r.ResolveName(ref.ReadSymbolicRef(filepath.Join(m.Home, "HEAD")))] {
		err = errors.Join(err, drop(filepath.Join(m.Home, "HEAD.lock"), string(m.New)))
	}
	for _, dir := range []string{r.common, m.Home} { // a reftable has one lock for all refs of a work tree
		err = errors.Join(err, drop(filepath.Join(dir, "reftable", "tables.list.lock")))
	}
	if deletes {
		err = errors.Join(err, drop(filepath.Join(r.common, "packed-refs.lock"), m.Nonce), r.dropHalfPackedRefs(m))
	}
	return err
}

// dropHalfPackedRefs removes a packed-refs.new that a killed git left: while it exists, git cannot delete or pack
// any ref. Git writes it only under packed-refs.lock, so nothing is done if another process holds that lock.
func (r *Repo) dropHalfPackedRefs(m marker) error {
	half, lock := filepath.Join(r.common, "packed-refs.new"), filepath.Join(r.common, "packed-refs.lock")
	if _, err := os.Lstat(half); err != nil {
		return nil
	}
	if err := createNew(lock, []byte(m.Nonce)); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return errors.Join(local.RemoveIfExists(half), local.RemoveIfExists(lock))
}
