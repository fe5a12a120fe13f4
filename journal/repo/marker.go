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
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

// marker says that a checkout is about to follow its ref. It is written to
// $GIT_COMMON_DIR/odd/sync/NONCE.json before any lock is taken and removed
// last, so whatever a killed Move left behind can be found and, by the nonce, be
// proven ours. The JSON names are frozen.
type marker struct {
	Version int      `json:"v"` // 1
	PID     int      `json:"pid"`
	Nonce   string   `json:"nonce"` // also the content of the index.lock that is ours
	Ref     string   `json:"ref"`
	Old     OID      `json:"old"`
	New     OID      `json:"new"`
	Root    string   `json:"root"`           // the work tree
	GitDir  string   `json:"gitdir"`         // the work tree's own git directory
	Home    string   `json:"home"`           // the git directory whose HEAD update-ref locks too
	Kept    []string `json:"kept,omitempty"` // the sync is complete; these lines wait to be told
}

// newNonce is a name no one else has.
func newNonce() string { return strings.ToLower(rand.Text()) }

func (r *Repo) markerPath(m marker) string { return r.oddDir("sync", m.Nonce+".json") }

// writeMarker writes m whole or not at all.
func (r *Repo) writeMarker(m marker) error {
	if err := os.MkdirAll(r.oddDir("sync"), 0o777); err != nil {
		return err
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return renameio.WriteFile(r.markerPath(m), append(b, '\n'), 0o666, renameio.WithTempDir(r.oddDir("sync")))
}

// markers lists what waits, by name. A marker that cannot be read is an error that names it.
func (r *Repo) markers() ([]marker, error) {
	var ms []marker
	for _, n := range glob(r.oddDir("sync"), "*.json") {
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

// ownsLock reports whether the index.lock that is there now is the marker's.
func (m marker) ownsLock() bool {
	b, err := os.ReadFile(m.indexLock())
	return err == nil && string(b) == m.Nonce
}

// takeLock makes index.lock with the nonce in it, at once where the file system has hard links. ErrBusy when there is one.
// It is written at src first, where nothing is left of it.
func (m marker) takeLock(src string) error {
	defer os.Remove(src)
	if err := os.WriteFile(src, []byte(m.Nonce), 0o666); err != nil {
		return err
	}
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

// dropLock removes index.lock if it is the marker's.
func (m marker) dropLock() error {
	if !m.ownsLock() {
		return nil
	}
	return os.Remove(m.indexLock())
}

// lockWindow is how long after its marker a killed update-ref may have made an empty lock file. It runs
// milliseconds after the marker is written; the rest is for slow disks.
const lockWindow = 5 * time.Second

// dropRefLocks removes what a killed update-ref left: REF.lock holding the id the marker was moving to, and empty
// lock files made within lockWindow of the marker.
func (r *Repo) dropRefLocks(m marker) error {
	st, err := os.Stat(r.markerPath(m))
	if err != nil {
		return err
	}
	for _, p := range []string{filepath.Join(r.common, m.Ref+".lock"), filepath.Join(m.Home, "HEAD.lock"), filepath.Join(r.common, "packed-refs.lock")} {
		lst, err := os.Stat(p)
		if err != nil {
			continue
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		age := lst.ModTime().Sub(st.ModTime())
		ours := string(bytes.TrimSpace(b)) == string(m.New) || len(b) == 0 && age >= 0 && age <= lockWindow
		if !ours {
			continue
		}
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
