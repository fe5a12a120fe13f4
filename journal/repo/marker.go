package repo

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

// marker says that refs are about to move, and which checkout follows which of
// them, if one does. It is written to $GIT_COMMON_DIR/odd/sync/NONCE.json before
// any lock is taken and removed last, so whatever a killed Move or Update left
// behind can be found and, by the nonce, be proven ours. The JSON names are frozen.
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

// updateTargets is a transaction as a marker keeps it.
func updateTargets(us []RefUpdate) map[string]OID {
	m := make(map[string]OID, len(us))
	for _, u := range us {
		m[u.Name] = u.New
	}
	return m
}

// newNonce is a name no one else has.
func newNonce() string { return strings.ToLower(rand.Text()) }

func (r *Repo) markerPath(m marker) string { return r.oddDir("sync", m.Nonce+".json") }

// writeMarker writes m whole or not at all. It outlives a loss of power where a
// checkout follows; git's own locks do not wait for the disk either.
func (r *Repo) writeMarker(m marker) error {
	if err := r.makeOddDir("sync"); err != nil {
		return err
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if m.Root == "" {
		draft := r.oddDir("sync", "."+m.Nonce)
		if err := os.WriteFile(draft, append(b, '\n'), 0o666); err != nil {
			return errors.Join(err, os.Remove(draft))
		}
		r.shareWithGroup(draft)
		return os.Rename(draft, r.markerPath(m))
	}
	err = renameio.WriteFile(r.markerPath(m), append(b, '\n'), 0o666, renameio.WithTempDir(r.oddDir("sync")))
	r.shareWithGroup(r.markerPath(m))
	return err
}

// readMarkers lists what waits, by name. A marker that cannot be read is an error that names it.
func (r *Repo) readMarkers() ([]marker, error) {
	var ms []marker
	for _, n := range globDir(r.oddDir("sync"), "*.json") {
		b, err := os.ReadFile(n)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its Move just ended
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

// indexLock is the work tree's lock file, git's own protocol.
func (m marker) indexLock() string { return filepath.Join(m.GitDir, "index.lock") }

// ownsLock reports whether the index.lock that is there now is the marker's. One
// that cannot be read may be.
func (m marker) ownsLock() (bool, error) {
	b, err := os.ReadFile(m.indexLock())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return string(b) == m.Nonce, err
}

// takeLock makes index.lock with the nonce in it, at once where the file system has hard links. ErrBusy when there is one.
// It is written at src first, where nothing is left of it. In a shared repository others can read whose it is.
func (r *Repo) takeLock(m marker, src string) error {
	defer os.Remove(src)
	if err := os.WriteFile(src, []byte(m.Nonce), 0o666); err != nil {
		return err
	}
	r.shareWithGroup(src)
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

// dropRefLocks removes what a killed update-ref left: for each ref of the
// transaction a lock that holds the id it was moving to, empty lock files made
// within lockWindow of the marker, and packed refs that were being written, which
// only a transaction that deletes does.
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
		return removeIfExists(lock)
	}
	deletes := m.Also == nil
	moves := map[string]bool{}
	for name, to := range m.Also {
		deletes = deletes || to == ""
		moves[r.resolveName(name)] = true
		err = errors.Join(err, drop(filepath.Join(r.common, filepath.FromSlash(name)+".lock"), string(to)))
	}
	if m.Ref != "" {
		moves[r.resolveName(m.Ref)] = true
		err = errors.Join(err, drop(filepath.Join(r.common, filepath.FromSlash(m.Ref)+".lock"), string(m.New)))
	}
	if moves[r.resolveName(readSymbolicRef(filepath.Join(m.Home, "HEAD")))] {
		err = errors.Join(err, drop(filepath.Join(m.Home, "HEAD.lock"), string(m.New)))
	}
	for _, dir := range []string{r.common, m.Home} { // where refs lie in reftables, one lock is for all of a work tree's
		err = errors.Join(err, drop(filepath.Join(dir, "reftable", "tables.list.lock")))
	}
	if deletes {
		err = errors.Join(err, drop(filepath.Join(r.common, "packed-refs.lock"), m.Nonce), r.dropHalfPackedRefs(m))
	}
	return err
}

// dropHalfPackedRefs removes packed refs that were being written and never will be: git
// writes them under packed-refs.lock alone, and where they lie about no ref can
// be deleted or packed any more. Whoever holds that lock now is not disturbed.
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
	return errors.Join(removeIfExists(half), removeIfExists(lock))
}

// removeIfExists is os.Remove of what need not be there.
func removeIfExists(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
