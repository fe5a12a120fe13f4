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

// Footing is how the repository stands for whoever works in it, read from its files
// in a few milliseconds and without git.
type Footing struct {
	// ground is what makes git run a program, read objects from elsewhere or see
	// files as others than they are: configuration, hooks, info/, alternates.
	ground map[string]string
	// stand is where people stand: HEAD and refs. refs/odd is not among it, nor the
	// index, which every git status writes.
	stand map[string]string
}

// Footing reads it. What time it is bears only on which times of files may be believed.
func (r *Repo) Footing() (Footing, error) { return r.footing(time.Now()) }

// footing is Footing at a moment.
func (r *Repo) footing(now time.Time) (Footing, error) {
	f := Footing{map[string]string{}, map[string]string{}}
	ground := func(dir, name string) error { return f.file(f.ground, dir, name) }
	stand := func(dir, name string) error { return r.stood.file(f, dir, name) }
	r.stood.begin(now)
	defer r.stood.end()
	err := firstOf(
		f.config(r.common, "config"), f.config(r.common, "config.worktree"), f.config(r.gitDir, "config.worktree"),
		below(r.common, "hooks", ground), below(r.common, "info", ground), below(r.common, "objects/info", ground),
		stand(r.gitDir, "HEAD"), f.mark(r.common, "packed-refs"), below(r.common, "refs", stand), below(r.common, "reftable", stand),
	)
	return f, err
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Since lists what is another now than it was in was, by its name in the git
// directory: of the ground that nobody moves by working, and of where people stand.
func (f Footing) Since(was Footing) (ground, stand []string) {
	return movedKeys(was.ground, f.ground), movedKeys(was.stand, f.stand)
}

func movedKeys(a, b map[string]string) []string {
	names := maps.Clone(a)
	maps.Copy(names, b)
	maps.DeleteFunc(names, func(name, _ string) bool { return a[name] == b[name] })
	return slices.Sorted(maps.Keys(names))
}

// file takes in one file by its mode and its bytes; one that is missing is nothing.
func (f Footing) file(into map[string]string, dir, name string) error {
	at := filepath.Join(dir, filepath.FromSlash(name))
	st, err := os.Lstat(at)
	if missing(err) {
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
	if missing(err) { // renamed over in the meantime, as git does
		delete(into, name)
		return nil
	}
	return err
}

// mark takes in one file that may be large by its size and its time.
func (f Footing) mark(dir, name string) error {
	st, err := os.Lstat(filepath.Join(dir, name))
	if missing(err) {
		return nil
	}
	if err == nil {
		f.stand[name] = fmt.Sprint(st.Size(), st.ModTime().UnixNano())
	}
	return err
}

// below hands the files below a folder to take, but for those that nobody heeds:
// samples of hooks, what git keeps beside its objects for speed, a lock that is gone
// in a moment, what odd itself keeps.
func below(dir, name string, take func(dir, name string) error) error {
	return filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(name)), func(p string, e fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(p, filepath.Clean(dir)+string(filepath.Separator)))
		switch {
		case missing(err):
			return nil
		case err != nil:
			return err
		case rel == "refs/odd", rel == "objects/info/commit-graphs":
			return fs.SkipDir
		case e.IsDir(), strings.HasSuffix(rel, ".sample"), strings.HasSuffix(rel, ".lock"), slices.Contains(unheeded, rel), unheededYet(rel):
			return nil
		}
		return take(dir, rel)
	})
}

var unheeded = []string{"objects/info/packs", "objects/info/commit-graph", "info/refs", "info/sparse-checkout"} // the last is of the work tree alone

// unheededYet reports what git writes one of unheeded into before it renames it, as
// the gc does that a drain before this one has left to itself: info/refs_gWjHPk.
func unheededYet(rel string) bool {
	at := strings.LastIndexByte(rel, '_')
	return at > 0 && len(rel)-at == 7 && slices.Contains(unheeded[:3], rel[:at])
}

// config takes in a file of configuration, but for what git and editors note there
// when a person branches or pushes: which branch follows which.
func (f Footing) config(dir, name string) error {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	f.ground[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(withoutTracking(string(b)))))
	return nil
}

// follows is a line of a [branch "…"] section that only says what a branch follows.
// A remote is one by name: what has a colon or a slash could be a program to run.
var follows = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:remote\s*=\s*[\w.-]+|merge\s*=\s*refs/heads/[^"\\#;]+|rebase\s*=\s*\w+|(?:vscode|gk|github)-[\w-]+\s*=\s*[^"\\#;]+)\s*$`)
})

// withoutTracking returns configuration without what its branches follow.
func withoutTracking(text string) string {
	var out []string
	branch, head := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "[") {
			branch, head = strings.HasPrefix(t, "[branch \"") && strings.HasSuffix(t, "\"]"), line
			if branch {
				continue
			}
		} else if branch && (t == "" || follows().MatchString(line)) {
			continue
		} else if branch { // a line of another kind says whose it is
			line = head + line
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
