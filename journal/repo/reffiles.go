package repo

import (
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// refFileCache remembers the hashes of ref files. Fingerprint is read before and after every session, and a board
// has a ref for every waiting task, so only changed files are read again. The zero value is ready.
type refFileCache struct {
	mu    sync.Mutex
	files map[string]refFileState // by name in the git directory, as of the last walk
	next  map[string]refFileState // of the walk under way
	now   time.Time               // when that began
}

// refFileState is a regular file's stat data and what Fingerprint.addFile recorded for it.
type refFileState struct {
	stamp stamp
	hash  string
}

// stamp is a file's stat data. Any write changes it; ctime shows even a write whose author resets the other times.
type stamp struct {
	dev, ino    uint64
	size        int64
	mode        uint32
	mtime, ctim unix.Timespec
}

// readStamp returns the stamp of a regular file; ok is false for anything else.
func readStamp(name string) (s stamp, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(name, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return s, false
	}
	return stamp{uint64(st.Dev), st.Ino, st.Size, uint32(st.Mode), st.Mtim, st.Ctim}, true
}

// stampAge is how old a change must be before its stamp is unique: the clock of the file system is some
// milliseconds coarse.
const stampAge = 100 * time.Millisecond

// isSettled reports whether every write from now on would change the stamp.
func (s stamp) isSettled(now time.Time) bool {
	return now.Sub(time.Unix(s.ctim.Unix())) > stampAge
}

// beginWalk locks the cache for one walk, until endWalk.
func (s *refFileCache) beginWalk(now time.Time) {
	s.mu.Lock()
	s.now, s.next = now, make(map[string]refFileState, len(s.files))
}

// endWalk drops the files that the walk did not see, and unlocks the cache.
func (s *refFileCache) endWalk() {
	s.files, s.next = s.next, nil
	s.mu.Unlock()
}

// addFile is Fingerprint.addFile for the refs of f, without reading an unchanged file.
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
