package anchor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
//
// Directories are 0700, files 0600. A file is written beside its name, synced,
// renamed onto it, and the directory is synced. Nothing is reached through a
// link, even one that stays inside. A writer holds the lock on .lock; a reader
// needs none, since files change whole.
type Store struct {
	at   Place
	step func(what string) error // before each system call that writes; a test's
}

// Open names a state directory. It reads and makes nothing: the first write makes
// the directories.
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

var errFile = errors.New("a file stands where a directory belongs; remove it")

// dir is an open directory. Its methods take slash-separated paths below it.
type dir struct {
	root *os.Root
	path string // as a person finds it
	step func(string) error
	lock *os.File
}

// open opens the state directory, and with make makes it if it is missing.
func (s *Store) open(make bool) (*dir, error) {
	root, err := os.OpenRoot(s.at.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	top := &dir{root: root, step: s.step}
	if make {
		err = top.mkdirAll(s.at.Dir)
	}
	if err == nil {
		err = top.checkDir(s.at.Dir)
	}
	if err != nil {
		return nil, err
	}
	root, err = root.OpenRoot(s.at.Dir)
	return &dir{root: root, path: s.at.Dir, step: s.step}, err
}

// lockState opens the state directory for one writer; others wait until it is closed.
// The kernel gives the lock back when a process dies.
func (s *Store) lockState(make bool) (*dir, error) {
	d, err := s.open(make)
	if err != nil {
		return nil, err
	}
	if make {
		err = d.writeGitignore()
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

// close closes the directory and gives its lock back at once: a program that is
// being started at this moment has the file, too, until it begins.
func (d *dir) close() {
	if d.lock != nil {
		_ = syscall.Flock(int(d.lock.Fd()), syscall.LOCK_UN)
		d.lock.Close()
	}
	d.root.Close()
}

// flock makes the lock file if need be and waits for it.
func (d *dir) flock() (*os.File, error) {
	if err := d.step("lock"); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(lockFile, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		f, err = d.openFile(lockFile, os.O_RDWR)
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

// writeGitignore makes the .gitignore of a state directory. It is written in place, because git
// shows a draft that a killed process leaves beside it: such a process leaves an empty
// file at most, which the next one fills. Processes that write at a time write the same.
func (d *dir) writeGitignore() error {
	const name = ".gitignore"
	info, err := d.root.Lstat(name)
	if err == nil && (info.Size() > 0 || !info.Mode().IsRegular()) {
		return nil
	}
	if err := d.step("write " + name); err != nil {
		return err
	}
	if err := d.root.WriteFile(name, []byte("*\n"), 0o600); err != nil {
		_ = d.root.Remove(name) // an empty one, as of a full disk, is shown by git
		return err
	}
	return d.sync(".")
}

// lstat looks at a path, none of whose directories may be a link.
func (d *dir) lstat(name string) (fs.FileInfo, error) {
	if in := path.Dir(name); in != "." {
		if err := d.checkDir(in); err != nil {
			return nil, err
		}
	}
	return d.root.Lstat(name)
}

// checkDir returns an error if a path is not a directory.
func (d *dir) checkDir(name string) error {
	info, err := d.lstat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: %w", path.Join(d.path, name), errNotDir(info))
	}
	return err
}

func errNotDir(info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return errFile
	}
	return errIrregular
}

func (d *dir) exists(name string) (bool, error) {
	_, err := d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// listNames lists a directory, sorted; none where it is missing.
func (d *dir) listNames(of string) (all []string, err error) {
	if err := d.checkDir(of); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(d.root.FS(), of)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all, err
}

// listTokens lists the names in a directory that can be a session's.
func (d *dir) listTokens(of string) (all []string, err error) {
	names, err := d.listNames(of)
	for _, n := range names {
		if IsToken(n) {
			all = append(all, n)
		}
	}
	return all, err
}

// openFile opens a plain file. A pipe in its place does not make anybody wait, and a
// link that replaces the file meanwhile is not followed.
func (d *dir) openFile(name string, flags int) (*os.File, error) {
	info, err := d.lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path.Join(d.path, name), errIrregular)
	}
	f, err := d.root.OpenFile(name, flags|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path.Join(d.path, name), errIrregular)
	}
	return f, nil
}

// read reads a plain file of at most maxRecord bytes.
func (d *dir) read(name string) ([]byte, error) {
	f, err := d.openFile(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	b.Grow(4096)
	if _, err := b.ReadFrom(io.LimitReader(f, maxRecord+1)); err != nil {
		return nil, err
	}
	if b.Len() > maxRecord {
		return nil, fmt.Errorf("%s: longer than %d bytes, which no record of odd is", path.Join(d.path, name), maxRecord)
	}
	return b.Bytes(), nil
}

// mkdirAll makes a directory, and those that it lies in.
func (d *dir) mkdirAll(name string) error {
	if in := path.Dir(name); in != "." {
		if err := d.mkdirAll(in); err != nil {
			return err
		}
	}
	return d.mkdir(name)
}

// mkdir makes a directory that others may be making too.
func (d *dir) mkdir(name string) error {
	err := d.checkDir(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err = d.step("mkdir " + name); err == nil {
		err = d.root.Mkdir(name, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.sync(path.Dir(name))
}

func (d *dir) sync(name string) error {
	if err := d.step("sync " + name); err != nil {
		return err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// write replaces a file as a whole. At any moment the name holds the old bytes
// or the new ones.
func (d *dir) write(name string, b []byte) error { return d.put(name, "", b, "rename", d.root.Rename) }

// create writes a file that must not exist; the error is fs.ErrExist if it does. Two
// processes that create it at the same time need different marks.
func (d *dir) create(name, mark string, b []byte) error {
	return d.put(name, mark, b, "link", d.root.Link)
}

func (d *dir) put(name, mark string, b []byte, how string, place func(from, to string) error) error {
	temp, err := d.writeDraft(name, mark, b)
	if err != nil {
		return err
	}
	if err = d.step(how + " " + name); err == nil {
		err = place(temp, name)
	}
	if err != nil || how == "link" {
		err = errors.Join(err, d.root.Remove(temp))
	}
	if err != nil {
		return err
	}
	return d.sync(path.Dir(name))
}

// writeDraft writes and syncs a file under a temporary name.
func (d *dir) writeDraft(name, mark string, b []byte) (temp string, err error) {
	temp = path.Join(path.Dir(name), temporary+path.Base(name)+mark)
	if err := d.step("create " + name); err != nil {
		return "", err
	}
	if err := d.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	if err = d.step("write " + name); err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		err = d.step("fsync " + name)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, d.root.Remove(temp))
	}
	return temp, nil
}

// remove removes what is at a path with all that is in it, links as links.
func (d *dir) remove(name string) error {
	if err := d.step("remove " + name); err != nil {
		return err
	}
	if err := d.root.RemoveAll(name); err != nil {
		return err
	}
	return d.sync(path.Dir(name))
}

const keyBytes = 32

// readKey reads the key that signs permits. With random it makes one where there is
// none; several that make it at once all get the first. A key that others may
// read is none.
func (s *Store) readKey(random func([]byte) error, mark string) ([]byte, error) {
	at, name := filepath.Split(s.at.Key)
	if random != nil {
		if err := os.MkdirAll(at, 0o777); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	d := &dir{root: root, path: filepath.ToSlash(filepath.Clean(at)), step: s.step}
	defer d.close()
	if there, err := d.exists(name); !there && random != nil {
		b := make([]byte, keyBytes)
		if err = errors.Join(err, random(b)); err == nil {
			err = d.create(name, mark, b)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	b, err := d.read(name)
	if err != nil {
		return nil, err
	}
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s/%s: others may read the key; remove it (every session must bind again) or chmod 600 it", d.path, name)
	case len(b) != keyBytes:
		return nil, fmt.Errorf("%s/%s: %d bytes are no key of %d; remove it, and every session must bind again", d.path, name, len(b), keyBytes)
	}
	return b, nil
}

// isDraft reports the name of a file or directory that never became whole.
func isDraft(name string) bool { return strings.HasPrefix(name, temporary) }
