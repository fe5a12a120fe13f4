package object

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zlib"
	"golang.org/x/sys/unix"
)

// writeLoose writes a loose object as git does: compressed at a fast level, because a later gc compresses it again,
// to a temporary file that git recognises, then renamed. It calls sync, if given, before the rename. Without it, a
// power failure can lose the object, which is git's default too.
func writeLoose(objects string, oid OID, kind string, data []byte, sync func(*os.File) error) error {
	dir := filepath.Join(objects, string(oid[:2]))
	name := filepath.Join(dir, string(oid[2:]))
	if err := unix.Utimes(name, nil); err == nil { // the object exists; a new time protects it from gc
		return nil
	}
	temp := filepath.Join(dir, "tmp_obj_"+rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		f, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	}
	if err != nil {
		return err
	}
	err = deflate(f, kind, data)
	if err == nil && sync != nil {
		err = sync(f)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// deflaters are idle compressors: creating one costs more than most objects do.
var deflaters = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // the level is valid
	return z
}}

// looseWriters are idle buffers for loose objects.
var looseWriters = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 1<<15) }}

// deflate writes an object's header and bytes in git's loose format.
func deflate(f io.Writer, kind string, data []byte) error {
	w := looseWriters.Get().(*bufio.Writer)
	defer looseWriters.Put(w)
	w.Reset(f)
	z := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(z)
	z.Reset(w)
	_, err := fmt.Fprintf(z, "%s %d\x00", kind, len(data))
	if err == nil {
		_, err = z.Write(data)
	}
	return errors.Join(err, z.Close(), w.Flush())
}

// largeLoose is the size in bytes from which git reads a loose object.
const largeLoose = 1 << 26

// errNotLoose means that an object must be looked for elsewhere.
var errNotLoose = errors.New("not a loose object that can be read here")

func readLoose(objects string, oid OID) (object, error) {
	f, err := os.Open(filepath.Join(objects, string(oid[:2]), string(oid[2:])))
	if err != nil {
		return object{}, err
	}
	defer f.Close()
	return inflate(f)
}

// inflate reads an object in git's loose format, unless it is large.
func inflate(f io.Reader) (object, error) {
	z, err := newInflater(f)
	if err != nil {
		return object{}, err
	}
	defer inflaters.Put(z)
	r := buffered.Get().(*bufio.Reader)
	defer buffered.Put(r)
	r.Reset(z)
	head, err := r.ReadSlice(0)
	if err != nil {
		return object{}, err
	}
	kind, digits, _ := strings.Cut(strings.TrimSuffix(string(head), "\x00"), " ")
	size, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || size >= largeLoose {
		return object{}, errNotLoose
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return object{}, err
	}
	if _, err := r.ReadByte(); err != io.EOF { // io.EOF: the checksum is right and nothing is left
		return object{}, errNotLoose
	}
	return object{kind, data}, nil
}

// inflaters are idle zlib readers; buffered are idle readers of their output.
var (
	inflaters = sync.Pool{}
	buffered  = sync.Pool{New: func() any { return bufio.NewReader(nil) }}
)

func newInflater(r io.Reader) (io.ReadCloser, error) {
	z, ok := inflaters.Get().(io.ReadCloser)
	if !ok {
		return zlib.NewReader(r)
	}
	return z, z.(zlib.Resetter).Reset(r, nil)
}
