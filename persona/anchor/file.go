package anchor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// file opens a plain file of the directory. The one that is opened is the one
// that was looked at, and a pipe in its place does not keep anybody waiting.
func (d *dir) file(name string, flags int) (*os.File, error) {
	info, err := d.root.Lstat(name)
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
	f, err := d.file(name, os.O_RDONLY)
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

// write replaces a file as a whole. At any moment the name holds the old bytes
// or the new ones.
func (d *dir) write(name string, b []byte) error {
	temp, err := d.draft(name, "", b)
	if err != nil {
		return err
	}
	if err = d.step("rename " + name); err == nil {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, d.root.Remove(temp))
	}
	return d.sync()
}

// create is write of a file that must not be there; fs.ErrExist where it is. Two
// that create one at a time need different marks.
func (d *dir) create(name, mark string, b []byte) error {
	temp, err := d.draft(name, mark, b)
	if err != nil {
		return err
	}
	if err = d.step("link " + name); err == nil {
		err = d.root.Link(temp, name)
	}
	if err = errors.Join(err, d.root.Remove(temp)); err != nil {
		return err
	}
	return d.sync()
}

// draft writes and syncs a file under a name that nobody reads.
func (d *dir) draft(name, mark string, b []byte) (temp string, err error) {
	temp = temporary + name + mark
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
		if err = d.step("fsync " + name); err == nil {
			err = f.Sync()
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, d.root.Remove(temp))
	}
	return temp, nil
}

// remove removes a directory's entry with all that is in it, links as links.
func (d *dir) remove(name string) error {
	if err := d.step("remove " + name); err != nil {
		return err
	}
	if err := d.root.RemoveAll(name); err != nil {
		return err
	}
	return d.sync()
}
