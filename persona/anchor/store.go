package anchor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// Place says where sessions are kept.
type Place struct {
	Root string // absolute, there already: the work tree, or the common git directory
	Dir  string // below Root, with slashes: ".hestai/sessions"
	Key  string // absolute path of the key that signs permits; made on first use
}

// Store is a state directory:
//
//	.gitignore                     "*"
//	.lock                          empty
//	pending/TOKEN/handshake.json   locked
//	active/TOKEN/handshake.json    bound, stage BOUND
//	active/TOKEN/anchor.json       its anchor and permit
//	archive/TOKEN.json             a released session, whatever else is left of it
//
// Directories are 0700, files 0600. A file is written beside its name, synced,
// renamed onto it, and the directory is synced. Nothing is reached through a
// link, even one that stays inside. Who writes holds the lock on .lock; who reads
// needs none, since files change whole.
type Store struct {
	at   Place
	step func(what string) error // before each system call that writes; a test's
}

// Open names a state directory. It reads and makes nothing: what writes first
// makes the directories.
func Open(at Place) (*Store, error) {
	if !fs.ValidPath(at.Dir) || at.Dir == "." {
		return nil, fmt.Errorf("%q: not a directory below the work tree; write it like .hestai/sessions", at.Dir)
	}
	if at.Root == "" || at.Key == "" {
		return nil, errors.New("anchor state: has no root or no key; this is a fault of the caller")
	}
	return &Store{at: at, step: func(string) error { return nil }}, nil
}

// The directories of a state directory.
const (
	pending = "pending"
	active  = "active"
	archive = "archive"
)

const (
	handshakeFile = "handshake.json"
	anchorFile    = "anchor.json"
	lockFile      = ".lock"
	temporary     = ".tmp-" // begins the name of a file that is not whole yet
	maxRecord     = 1 << 20 // bytes of a file that is read
)

// errIrregular is a link, or anything else that is neither a plain file nor a
// directory where one of them belongs.
var errIrregular = errors.New("a link or a special file stands where a plain one belongs; remove it")

// errFile is a file where a directory belongs.
var errFile = errors.New("a file stands where a directory belongs; remove it")

// dir is an open directory. It stays the same one wherever it is moved.
type dir struct {
	root *os.Root
	path string // as a person finds it
	step func(string) error
	lock *os.File
}

// close lets go of the directory, and of its lock at once: a program that is being
// started at this moment has the file, too, until it begins.
func (d *dir) close() {
	if d.lock != nil {
		_ = syscall.Flock(int(d.lock.Fd()), syscall.LOCK_UN)
		d.lock.Close()
	}
	d.root.Close()
}

// lockState opens the state directory for who writes: nobody else has it until it is
// closed. The kernel gives the lock back when a process dies.
func (s *Store) lockState(make bool) (*dir, error) {
	d, err := s.open(make)
	if err != nil {
		return nil, err
	}
	if make {
		err = d.ignore()
	}
	if err == nil {
		d.lock, err = d.flock()
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// flock makes the lock file if need be and waits for it.
func (d *dir) flock() (*os.File, error) {
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
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s/%s: %w", d.path, lockFile, err)
	}
	return f, nil
}

// open opens the state directory, and with make makes what is missing of it.
func (s *Store) open(make bool) (*dir, error) {
	root, err := os.OpenRoot(s.at.Root)
	if err != nil {
		return nil, err
	}
	d := &dir{root: root, step: s.step}
	for name := range strings.SplitSeq(s.at.Dir, "/") {
		next, err := d.sub(name, make)
		d.close()
		if err != nil {
			return nil, err
		}
		d = next
	}
	return d, nil
}

// sub opens a directory of d by its own name, and with make makes it if it is
// not there. The one that is opened is the one that was looked at.
func (d *dir) sub(name string, make bool) (*dir, error) {
	at := path.Join(d.path, name)
	info, err := d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && make {
		if err = d.mkdir(name); err == nil {
			info, err = d.root.Lstat(name)
		}
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: %w", at, errNotDir(info))
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		root.Close()
		return nil, fmt.Errorf("%s: %w", at, errIrregular)
	}
	return &dir{root: root, path: at, step: d.step}, nil
}

func errNotDir(info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return errFile
	}
	return errIrregular
}

// mkdir makes a directory that others may be making too.
func (d *dir) mkdir(name string) error {
	if err := d.step("mkdir " + name); err != nil {
		return err
	}
	if err := d.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.sync()
}

func (d *dir) sync() error {
	if err := d.step("sync " + path.Base(d.path)); err != nil {
		return err
	}
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
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

// names lists the directory, sorted.
func (d *dir) names() ([]fs.DirEntry, error) { return fs.ReadDir(d.root.FS(), ".") }

// has reports whether anything bears the name.
func (d *dir) has(name string) (bool, error) {
	_, err := d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
