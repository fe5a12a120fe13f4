package repo

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Fingerprint hashes the configuration and hooks of a repository, and has the size and time of each ref's file, so that
// a change during a session shows. A ref that was written again with the same value counts as changed.
// Reading it takes a few milliseconds and no git process.
type Fingerprint struct {
	// setup is what makes git run a program, read objects from elsewhere or convert
	// files: configuration, hooks, info/, alternates.
	setup map[string]string
	// refs are HEAD and the refs, without refs/odd. The index is left out, because
	// every git status writes it.
	refs map[string]string
}

// Fingerprint reads the repository's fingerprint.
func (r *Repo) Fingerprint() (Fingerprint, error) {
	f := Fingerprint{map[string]string{}, map[string]string{}}
	setup := func(dir, name string) error { return f.addFile(f.setup, dir, name) }
	err := firstError(
		f.addConfig(r.common, "config"), f.addConfig(r.common, "config.worktree"), f.addConfig(r.gitDir, "config.worktree"),
		walkBelow(r.common, "hooks", setup), walkBelow(r.common, "info", setup), walkBelow(r.common, "objects/info", setup),
		f.addFile(f.refs, r.gitDir, "HEAD"), f.addStat(r.common, "packed-refs"), walkBelow(r.common, "refs", f.addStat), walkBelow(r.common, "reftable", f.addStat),
	)
	return f, err
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Since lists what differs from was, by name in the git directory: the setup, which ordinary work does not change,
// and the refs.
func (f Fingerprint) Since(was Fingerprint) (setup, refs []string) {
	return changedKeys(was.setup, f.setup), changedKeys(was.refs, f.refs)
}

func changedKeys(a, b map[string]string) []string {
	names := maps.Clone(a)
	maps.Copy(names, b)
	maps.DeleteFunc(names, func(name, _ string) bool { return a[name] == b[name] })
	return slices.Sorted(maps.Keys(names))
}

// addFile adds one file by its mode and bytes; a missing file adds nothing.
func (f Fingerprint) addFile(into map[string]string, dir, name string) error {
	at := filepath.Join(dir, filepath.FromSlash(name))
	st, err := os.Lstat(at)
	if isMissing(err) {
		return nil
	}
	if err == nil && st.Mode()&fs.ModeSymlink != 0 {
		var to string
		to, err = os.Readlink(at)
		into[name] = "link " + to
	}
	if err != nil || !st.Mode().IsRegular() {
		return err
	}
	b, err := os.ReadFile(at)
	into[name] = fmt.Sprintf("%v %x", st.Mode().Perm()&0o111 != 0, sha256.Sum256(b))
	if isMissing(err) { // renamed over in the meantime, as git does
		delete(into, name)
		return nil
	}
	return err
}

// addStat adds a ref's file by its stat data, because a board has a ref for every waiting task. A write changes
// them: ctime shows even one whose author resets the other times.
func (f Fingerprint) addStat(dir, name string) error {
	var st unix.Stat_t
	err := unix.Lstat(filepath.Join(dir, filepath.FromSlash(name)), &st)
	if isMissing(err) {
		return nil
	}
	f.refs[name] = fmt.Sprint(st.Ino, st.Mode, st.Size, st.Mtim, st.Ctim)
	return err
}

// walkBelow calls take for each file below a folder, except those that do not matter: sample hooks, git's caches
// beside its objects, lock files, and what odd itself keeps.
func walkBelow(dir, name string, take func(dir, name string) error) error {
	return filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(name)), func(p string, e fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(p, filepath.Clean(dir)+string(filepath.Separator)))
		switch {
		case isMissing(err):
			return nil
		case err != nil:
			return err
		case rel == "refs/odd", rel == "objects/info/commit-graphs":
			return fs.SkipDir
		case e.IsDir(), strings.HasSuffix(rel, ".sample"), strings.HasSuffix(rel, ".lock"), slices.Contains(ignoredFiles, rel), isIgnoredTemp(rel):
			return nil
		}
		return take(dir, rel)
	})
}

var ignoredFiles = []string{"objects/info/packs", "objects/info/commit-graph", "info/refs", "info/sparse-checkout"} // the last is of the work tree alone

// isIgnoredTemp reports whether rel is the temporary file that git renames to one of ignoredFiles, such as
// info/refs_gWjHPk. A background gc may still write one.
func isIgnoredTemp(rel string) bool {
	at := strings.LastIndexByte(rel, '_')
	return at > 0 && len(rel)-at == 7 && slices.Contains(ignoredFiles[:3], rel[:at])
}

// addConfig adds a configuration file without the lines that git and editors write when a person branches or
// pushes: which branch follows which.
func (f Fingerprint) addConfig(dir, name string) error {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	f.setup[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(dropTracking(string(b)))))
	return nil
}

// trackingLine matches a line of a [branch "…"] section that only says what the branch follows. The remote must be
// a plain name: a value with a colon or a slash could be a program to run.
var trackingLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:remote\s*=\s*[\w.-]+|merge\s*=\s*refs/heads/[^"\\#;]+|rebase\s*=\s*\w+|(?:vscode|gk|github)-[\w-]+\s*=\s*[^"\\#;]+)\s*$`)
})

// dropTracking returns a configuration without its tracking lines.
func dropTracking(text string) string {
	var out []string
	branch, head := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "[") {
			branch, head = strings.HasPrefix(t, "[branch \"") && strings.HasSuffix(t, "\"]"), line
			if branch {
				continue
			}
		} else if branch && (t == "" || trackingLine().MatchString(line)) {
			continue
		} else if branch { // any other line keeps its section's name
			line = head + line
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
