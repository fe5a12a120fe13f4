package anchor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/octave"
)

// Agent files are governance: whoever writes them says what agents may do. odd
// reads them and writes none, so all it can do for them is to refuse what is not
// what its people put there.
//
// A directory may hold a record of all that is below it, in a file named
// .integrity. It is checked wherever it stands on the way to an agent file, and
// a directory without one is taken as it is. Two forms are read:
//
//   - what sha256sum prints, "HEX  relative/path" a line: it names every file,
//     and so what was changed, added or lost is named too. In the directory,
//     find . -type f ! -name .integrity -exec sha256sum {} + >.integrity
//     writes it.
//   - a bare HEX, as HestAI leaves it: SHA-256 over each file's path and bytes,
//     one after the other in the order of the paths. Where one ends and the next
//     begins is not in it, so it is the weaker one.
//
// Neither covers .integrity and .version. A symbolic link is refused wherever it
// stands in such a directory.
const recordName = ".integrity"

// governanceFiles is how many files a recorded directory may have.
const governanceFiles = 10_000

// govern looks at a directory of the work tree that is to hold agent files, each
// part of its path in turn. It is not there: no error, found false. Problems are
// reasons not to read on.
func govern(files fs.FS, dir string) (found bool, problems []Problem) {
	at := ""
	for part := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, part)
		st, err := fs.Lstat(files, at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, checkInterrupted(files, at)
		case err != nil:
			return false, broken(at, "it cannot be read: %v", err)
		case st.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
			return false, broken(at, "it is a link; agent files are read from the work tree itself, so put the directory there")
		case !st.IsDir():
			return false, broken(at, "it is no directory; [anchor] constitutions names directories that hold ROLE.oct.md")
		}
		if ps := verifyRecord(files, at); len(ps) > 0 {
			return false, ps
		}
	}
	return true, nil
}

func broken(at, format string, args ...any) []Problem {
	return []Problem{{Code: ConstBroken, At: at, Text: fmt.Sprintf(format, args...)}}
}

// checkInterrupted reports an injection that stopped between its two renames: the
// directory is gone, and the old or the new one stands beside its place.
func checkInterrupted(files fs.FS, dir string) []Problem {
	for _, beside := range []string{dir + ".__tmp__", dir + ".__old__"} {
		if _, err := fs.Lstat(files, beside); err == nil {
			return broken(dir, "it is missing and %s is there: an update was interrupted; run the update again, or mv %s %s", beside, beside, dir)
		}
	}
	return nil
}

// verifyRecord compares a directory with its record, if it has one.
func verifyRecord(files fs.FS, dir string) []Problem {
	name := path.Join(dir, recordName)
	st, err := fs.Lstat(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !st.Mode().IsRegular() {
		return broken(name, "the record is no regular file; replace it with one")
	}
	b, err := readSmall(files, name)
	if err != nil {
		return broken(name, "the record cannot be read: %v", err)
	}
	found, problems := hashFiles(files, dir)
	if len(problems) > 0 {
		return problems
	}
	text := strings.TrimSpace(string(b))
	if isHash(text) {
		if whole(found) != strings.ToLower(text) {
			return broken(dir, "its files are not those that %s was made of; restore them, or have it made again by whoever answers for them", name)
		}
		return nil
	}
	return compareRecord(dir, name, text, found)
}

// hashedFile is one file below a governed directory.
type hashedFile struct {
	path string // relative to the directory
	sum  string
	b    []byte
}

// hashFiles reads every file below dir that a record covers, in the order of the paths.
func hashFiles(files fs.FS, dir string) (out []hashedFile, problems []Problem) {
	err := fs.WalkDir(files, dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			problems = append(problems, broken(p, "it cannot be read: %v", err)...)
			return fs.SkipDir
		case d.IsDir(), d.Name() == recordName, d.Name() == ".version":
			return nil
		case !d.Type().IsRegular():
			problems = append(problems, broken(p, "it is no regular file; a recorded directory holds nothing else")...)
			return nil
		}
		b, err := readSmall(files, p)
		if err != nil {
			problems = append(problems, broken(p, "it cannot be read: %v", err)...)
			return nil
		}
		if len(out) == governanceFiles {
			problems = append(problems, broken(dir, "it holds over %d files", governanceFiles)...)
			return fs.SkipAll
		}
		out = append(out, hashedFile{strings.TrimPrefix(p, dir+"/"), hexSum(b), b})
		return nil
	})
	if err != nil {
		problems = append(problems, broken(dir, "it cannot be read: %v", err)...)
	}
	slices.SortFunc(out, func(a, b hashedFile) int { return strings.Compare(a.path, b.path) })
	return out, problems
}

// whole is the hash over all paths and bytes, as HestAI makes it.
func whole(found []hashedFile) string {
	h := sha256.New()
	for _, f := range found {
		h.Write([]byte(f.path))
		h.Write(f.b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// compareRecord reads a record by file and names what differs, in both directions.
func compareRecord(dir, name, record string, found []hashedFile) (problems []Problem) {
	want := map[string]string{}
	for n, line := range strings.Split(record, "\n") {
		sum, file, ok := strings.Cut(strings.TrimRight(line, "\r"), " ")
		file = strings.TrimPrefix(strings.TrimLeft(file, " *"), "./")
		if _, twice := want[file]; !ok || !isHash(sum) || file == "" || twice {
			return broken(fmt.Sprintf("%s:%d", name, n+1), "the line is not \"SHA-256  path\" as sha256sum prints it; have the record made again")
		}
		want[file] = strings.ToLower(sum)
	}
	for _, f := range found {
		sum, listed := want[f.path]
		delete(want, f.path)
		switch at := path.Join(dir, f.path); {
		case !listed:
			problems = append(problems, broken(at, "it is not in the record %s; take it away, or have the record made again", name)...)
		case sum != f.sum:
			problems = append(problems, broken(at, "it is not what the record %s was made of; restore it, or have the record made again", name)...)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(want)) {
		if base := path.Base(file); base == recordName || base == ".version" {
			continue
		}
		problems = append(problems, broken(path.Join(dir, file), "the record %s names it and it is missing; restore it", name)...)
	}
	return problems
}

func isHash(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 2*sha256.Size
}

// readSmall reads a file that has no reason to be over the limit of an agent file.
func readSmall(files fs.FS, name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, octave.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > octave.MaxBytes {
		return nil, errors.New("it is over 1 MiB; split it")
	}
	return b, nil
}
