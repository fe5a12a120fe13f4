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
	"time"
)

// Fingerprint is how the repository stands for whoever works in it, read from its files
// in a few milliseconds and without git.
type Fingerprint struct {
	// ground is what makes git run a program, read objects from elsewhere or see
	// files as others than they are: configuration, hooks, info/, alternates.
	setup map[string]string
	// stand is where people stand: HEAD and refs. refs/odd is not among it, nor the
	// index, which every git status writes.
	refs map[string]string
}

// Fingerprint reads it. What time it is bears only on which times of files may be believed.
func (r *Repo) Fingerprint() (Fingerprint, error) { return r.readFingerprint(time.Now()) }

// readFingerprint is Footing at a moment.
func (r *Repo) readFingerprint(now time.Time) (Fingerprint, error) {
	f := Fingerprint{map[string]string{}, map[string]string{}}
	ground := func(dir, name string) error { return f.addFile(f.setup, dir, name) }
	stand := func(dir, name string) error { return r.refFiles.addFile(f, dir, name) }
	r.refFiles.beginWalk(now)
	defer r.refFiles.endWalk()
	err := firstError(
		f.addConfig(r.common, "config"), f.addConfig(r.common, "config.worktree"), f.addConfig(r.gitDir, "config.worktree"),
		walkBelow(r.common, "hooks", ground), walkBelow(r.common, "info", ground), walkBelow(r.common, "objects/info", ground),
		stand(r.gitDir, "HEAD"), f.addStat(r.common, "packed-refs"), walkBelow(r.common, "refs", stand), walkBelow(r.common, "reftable", stand),
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

// Since lists what is another now than it was in was, by its name in the git
// directory: of the ground that nobody moves by working, and of where people stand.
func (f Fingerprint) Since(was Fingerprint) (ground, stand []string) {
	return changedKeys(was.setup, f.setup), changedKeys(was.refs, f.refs)
}

func changedKeys(a, b map[string]string) []string {
	names := maps.Clone(a)
	maps.Copy(names, b)
	maps.DeleteFunc(names, func(name, _ string) bool { return a[name] == b[name] })
	return slices.Sorted(maps.Keys(names))
}

// addFile takes in one file by its mode and its bytes; one that is missing is nothing.
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

// addStat takes in one file that may be large by its size and its time.
func (f Fingerprint) addStat(dir, name string) error {
	st, err := os.Lstat(filepath.Join(dir, name))
	if isMissing(err) {
		return nil
	}
	if err == nil {
		f.refs[name] = fmt.Sprint(st.Size(), st.ModTime().UnixNano())
	}
	return err
}

// walkBelow hands the files below a folder to take, but for those that nobody heeds:
// samples of hooks, what git keeps beside its objects for speed, a lock that is gone
// in a moment, what odd itself keeps.
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

// isIgnoredTemp reports what git writes one of unheeded into before it renames it, as
// the gc does that a drain before this one has left to itself: info/refs_gWjHPk.
func isIgnoredTemp(rel string) bool {
	at := strings.LastIndexByte(rel, '_')
	return at > 0 && len(rel)-at == 7 && slices.Contains(ignoredFiles[:3], rel[:at])
}

// addConfig takes in a file of configuration, but for what git and editors note there
// when a person branches or pushes: which branch follows which.
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

// trackingLine is a line of a [branch "…"] section that only says what a branch follows.
// A remote is one by name: what has a colon or a slash could be a program to run.
var trackingLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:remote\s*=\s*[\w.-]+|merge\s*=\s*refs/heads/[^"\\#;]+|rebase\s*=\s*\w+|(?:vscode|gk|github)-[\w-]+\s*=\s*[^"\\#;]+)\s*$`)
})

// dropTracking returns configuration without what its branches follow.
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
		} else if branch { // a line of another kind says whose it is
			line = head + line
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
