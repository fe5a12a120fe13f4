package anchor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/octave"
)

// Agent files are governance: whoever writes them says what agents may do. odd
// reads them and writes none, so all it can do is to refuse what is not what its
// people put there.
//
// A directory may hold a record of all that is below it, as HestAI leaves it: a
// file named .integrity with the SHA-256, in hex, over each file's path and bytes,
// one after the other in the order of the paths. odd checks it wherever it stands
// on the way to an agent file; a directory without one is taken as it is. The
// record does not cover .integrity and .version. A symbolic link is refused
// wherever it stands in such a directory.
const recordName = ".integrity"

// governanceFiles is how many files a recorded directory may have.
const governanceFiles = 10_000

// checkDirectory looks at a directory of the work tree that is to hold agent files, each
// part of its path in turn. It is not there: no error, found false. An error is a
// reason not to read on.
func checkDirectory(files fs.FS, dir string) (found bool, err error) {
	at := ""
	for part := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, part)
		st, err := fs.Lstat(files, at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, checkInterrupted(files, at)
		case err != nil:
			return false, brokenConstitution(at, "it cannot be read: %v", err)
		case st.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
			return false, brokenConstitution(at, "it is a link; agent files are read from the work tree itself, so put the directory there")
		case !st.IsDir():
			return false, brokenConstitution(at, "it is no directory; [anchor] constitutions names directories that hold ROLE.oct.md")
		}
		if err := verifyRecord(files, at); err != nil {
			return false, err
		}
	}
	return true, nil
}

func brokenConstitution(at, format string, args ...any) error {
	return Refusal{{Code: ConstBroken, At: at, Text: fmt.Sprintf(format, args...)}}
}

// checkInterrupted reports an injection that stopped between its two renames: the
// directory is gone, and the old or the new one stands beside its place.
func checkInterrupted(files fs.FS, dir string) error {
	for _, beside := range []string{dir + ".__tmp__", dir + ".__old__"} {
		if _, err := fs.Lstat(files, beside); err == nil {
			return brokenConstitution(dir, "it is missing and %s is there: an update was interrupted; run the update again, or mv %s %s", beside, beside, dir)
		}
	}
	return nil
}

// verifyRecord compares a directory with its record, if it has one.
func verifyRecord(files fs.FS, dir string) error {
	name := path.Join(dir, recordName)
	b, err := readSmall(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return brokenConstitution(name, "the record cannot be read: %v", err)
	}
	sum, err := hashFiles(files, dir)
	if err == nil && sum != strings.ToLower(strings.TrimSpace(string(b))) {
		err = brokenConstitution(dir, "its files are not those that %s was made of; restore them, or have it made again by whoever answers for them", name)
	}
	return err
}

// hashFiles returns the hash over the paths and bytes of every file below dir that
// a record covers.
func hashFiles(files fs.FS, dir string) (sum string, err error) {
	var names []string
	err = fs.WalkDir(files, dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return brokenConstitution(p, "it cannot be read: %v", err)
		case d.IsDir(), d.Name() == recordName, d.Name() == ".version":
		case len(names) == governanceFiles:
			return brokenConstitution(dir, "it holds over %d files", governanceFiles)
		default:
			names = append(names, strings.TrimPrefix(p, dir+"/"))
		}
		return nil
	})
	slices.Sort(names)
	h := sha256.New()
	for _, name := range names {
		b, bad := readSmall(files, path.Join(dir, name))
		if bad != nil {
			return "", brokenConstitution(path.Join(dir, name), "%v", bad)
		}
		h.Write([]byte(name))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// readSmall reads a regular file that has no reason to be over the limit of an agent file.
func readSmall(files fs.FS, name string) ([]byte, error) {
	if st, err := fs.Lstat(files, name); err == nil && !st.Mode().IsRegular() {
		return nil, errors.New("it is no regular file, and odd follows no link here; put the file itself there")
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, octave.MaxBytes+1))
	if err == nil && len(b) > octave.MaxBytes {
		err = errors.New("it is over 1 MiB; split it")
	}
	return b, err
}
