package repo

import (
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// stood remembers what the files of where people stand were when they were read
// last. A Footing is asked for before and after every session, and a board has a ref
// for every task that waits: only those that changed since are read again. The zero
// value is ready.
type stood struct {
	mu    sync.Mutex
	files map[string]stoodFile // by name in the git directory, as of the last walk
	next  map[string]stoodFile // of the walk under way
	now   time.Time            // when that began
}

// stoodFile is a regular file and what Footing.file told of it.
type stoodFile struct {
	was stamp
	is  string
}

// stamp is what the system says of a file without its being read. Any write to the
// file changes it, through ctime also one that puts the times of the file back.
type stamp struct {
	dev, ino    uint64
	size        int64
	mode        uint32
	mtime, ctim unix.Timespec
}

// stampOf is the stamp of a regular file; not ok for anything else.
func stampOf(name string) (s stamp, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(name, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return s, false
	}
	return stamp{uint64(st.Dev), st.Ino, st.Size, uint32(st.Mode), st.Mtim, st.Ctim}, true
}

// stampAge is how old a change must be before its stamp is one of its own: the
// system's clock for files stands still for some milliseconds.
const stampAge = 100 * time.Millisecond

// isSettled reports a stamp that a write from now on would change.
func (s stamp) isSettled(now time.Time) bool {
	return now.Sub(time.Unix(s.ctim.Unix())) > stampAge
}

// begin takes the place for one walk, until end.
func (s *stood) begin(now time.Time) {
	s.mu.Lock()
	s.now, s.next = now, make(map[string]stoodFile, len(s.files))
}

// end forgets what the walk did not meet.
func (s *stood) end() {
	s.files, s.next = s.next, nil
	s.mu.Unlock()
}

// file is Footing.file into f's stand, without reading a file that is as it was.
func (s *stood) file(f Footing, dir, name string) error {
	at, regular := stampOf(filepath.Join(dir, filepath.FromSlash(name)))
	if had, ok := s.files[name]; ok && regular && had.was == at {
		f.stand[name], s.next[name] = had.is, had
		return nil
	}
	err := f.file(f.stand, dir, name)
	if is, ok := f.stand[name]; ok && err == nil && regular && at.isSettled(s.now) {
		s.next[name] = stoodFile{at, is}
	}
	return err
}
