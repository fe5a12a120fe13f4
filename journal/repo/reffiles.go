package repo

import (
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// refFileCache remembers what the files of where people stand were when they were read
// last. A Footing is asked for before and after every session, and a board has a ref
// for every task that waits: only those that changed since are read again. The zero
// value is ready.
type refFileCache struct {
	mu    sync.Mutex
	files map[string]refFileState // by name in the git directory, as of the last walk
	next  map[string]refFileState // of the walk under way
	now   time.Time               // when that began
}

// refFileState is a regular file and what Footing.file told of it.
type refFileState struct {
	stamp stamp
	hash  string
}

// stamp is what the system says of a file without its being read. Any write to the
// file changes it, through ctime also one that puts the times of the file back.
type stamp struct {
	dev, ino    uint64
	size        int64
	mode        uint32
	mtime, ctim unix.Timespec
}

// readStamp is the stamp of a regular file; not ok for anything else.
func readStamp(name string) (s stamp, ok bool) {
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

// beginWalk takes the place for one walk, until end.
func (s *refFileCache) beginWalk(now time.Time) {
	s.mu.Lock()
	s.now, s.next = now, make(map[string]refFileState, len(s.files))
}

// endWalk forgets what the walk did not meet.
func (s *refFileCache) endWalk() {
	s.files, s.next = s.next, nil
	s.mu.Unlock()
}

// addFile is Footing.file into f's stand, without reading a file that is as it was.
func (s *refFileCache) addFile(f Fingerprint, dir, name string) error {
	at, regular := readStamp(filepath.Join(dir, filepath.FromSlash(name)))
	if had, ok := s.files[name]; ok && regular && had.stamp == at {
		f.refs[name], s.next[name] = had.hash, had
		return nil
	}
	err := f.addFile(f.refs, dir, name)
	if is, ok := f.refs[name]; ok && err == nil && regular && at.isSettled(s.now) {
		s.next[name] = refFileState{at, is}
	}
	return err
}
