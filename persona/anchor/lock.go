package anchor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// errHeld is a lock that another process has.
var errHeld = errors.New("another process works on the session")

// held is a token's directory under its lock.
type held struct {
	*dir
	state *dir
	token string
	place string // pending or active
	lock  *os.File
}

// release gives the lock back. The kernel does so too when a process dies.
func (h *held) release() {
	unlock(h.lock)
	h.close()
	h.state.close()
}

// take waits for the lock of a token and answers where its directory is once it
// has it; fs.ErrNotExist where there is none. A directory that was promoted,
// released or swept in the meantime is looked for again. Without wait a lock
// that another process holds is errHeld.
func (s *Store) take(token string, wait bool) (*held, error) {
	state, err := s.open(false)
	if err != nil {
		return nil, err
	}
	for range 8 {
		h, err := state.try(token, wait)
		if h != nil || err != nil {
			if err != nil {
				state.close()
			}
			return h, err
		}
	}
	state.close()
	return nil, fmt.Errorf("%s: other processes move it all the time; try again", token)
}

// try locks the directory that has the token's name now, the bound one where
// there are two. It looks into active twice, for a session may move there between
// two looks. Neither answer means that it went elsewhere before the lock was there.
func (d *dir) try(token string, wait bool) (*held, error) {
	for _, place := range []string{active, pending, active} {
		at, err := d.at(place, token)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		lock, err := at.flock(wait)
		if errors.Is(err, fs.ErrNotExist) { // removed under our hands
			at.close()
			return nil, nil
		}
		if err != nil {
			at.close()
			return nil, err
		}
		now, err := d.where(at, token)
		if now == "" {
			unlock(lock)
			at.close()
			return nil, err
		}
		return &held{at, d, token, now, lock}, nil
	}
	return nil, &fs.PathError{Op: "lock", Path: token, Err: fs.ErrNotExist}
}

// at opens PLACE/TOKEN.
func (d *dir) at(place, token string) (*dir, error) {
	in, err := d.sub(place, false)
	if err != nil {
		return nil, err
	}
	defer in.close()
	return in.sub(token, false)
}

// where says in which place the directory is now, "" for none.
func (d *dir) where(at *dir, token string) (string, error) {
	mine, err := at.root.Stat(".")
	if err != nil {
		return "", err
	}
	for _, place := range []string{active, pending} {
		if info, err := d.root.Lstat(place + "/" + token); err == nil && os.SameFile(info, mine) {
			return place, nil
		}
	}
	return "", nil
}

// flock makes the lock file if need be and waits for it.
func (d *dir) flock(wait bool) (*os.File, error) {
	if err := d.step("lock"); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(lockFile, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		f, err = d.file(lockFile, os.O_RDWR)
	}
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Flock(int(f.Fd()), how)
	}
	if err == syscall.EWOULDBLOCK {
		err = errHeld
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s/%s: %w", d.path, lockFile, err)
	}
	return f, nil
}

// unlock lets go of a lock at once, whoever else has the file: a program that is
// being started at this moment has it until it begins.
func unlock(f *os.File) error {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	return f.Close()
}
