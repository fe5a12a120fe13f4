package object

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// Commit reads one commit.
func (db *DB) Commit(oid OID) (Commit, error) {
	if c, ok := db.commits.get(oid); ok {
		return c, nil
	}
	kind, b, err := db.objs.get(oid)
	if err != nil {
		return Commit{}, err
	}
	if kind != "commit" {
		return Commit{}, fmt.Errorf("%s: is a %s, want a commit", oid, kind)
	}
	return db.rememberCommit(oid, b)
}

// FindCommit reads a commit that may not be there, or be no commit. An object that is there and cannot be read is an
// error.
func (db *DB) FindCommit(ctx context.Context, oid OID) (c Commit, ok bool, err error) {
	if !oid.IsValid() {
		return c, false, nil
	}
	if c, ok = db.commits.get(oid); ok {
		return c, true, nil
	}
	kind, b, err := db.objs.get(oid)
	if errors.Is(err, errNoObject) {
		return c, false, db.checkMissing(ctx, oid)
	}
	if err != nil || kind != "commit" {
		return c, false, err
	}
	c, err = db.rememberCommit(oid, b)
	return c, err == nil, err
}

// checkMissing returns what git says of an object that is there and damaged, nil if it is not there. git cat-file
// --batch calls both missing.
func (db *DB) checkMissing(ctx context.Context, oid OID) error {
	_, err := db.git.Run(ctx, gitcmd.Call{Args: []string{"cat-file", "-t", string(oid)}, Read: true, Env: []string{"GIT_NO_LAZY_FETCH=1"}})
	if e := (*gitcmd.Error)(nil); errors.As(err, &e) && !strings.Contains("\n"+e.Stderr, "\nerror: ") {
		return nil
	}
	if err == nil {
		err = errors.New("it appeared meanwhile; run it again")
	}
	return fmt.Errorf("%s: %w", oid, err)
}

// Log yields the commits reachable from to and not from from ("" is all), children before parents, in topological
// order. An error is yielded once, last. The log of a shallow clone ends at its boundary without an error.
func (db *DB) Log(ctx context.Context, from, to OID) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		args := []string{"rev-list", "--topo-order", string(to)}
		err := to.Check()
		if from != "" {
			args = append(args, "^"+string(from))
			err = errors.Join(err, from.Check())
		}
		if err != nil {
			yield(Commit{}, err)
			return
		}
		line, straight := db.straightLine(from, to)
		for _, c := range line {
			if !yield(c, nil) {
				return
			}
		}
		if !straight {
			db.yieldCommits(ctx, args, yield)
		}
	}
}

// mostStraight is up to how many commits straightLine follows.
const mostStraight = 256

// straightLine returns the commits of Log where they are few, and each is the only parent of the next: the range of
// most landings and pushes. git lists it in the time of the whole history, if that has a commit graph that is not new.
func (db *DB) straightLine(from, to OID) (line []Commit, ok bool) {
	for from != "" && to != from {
		c, err := db.Commit(to)
		if err != nil || len(c.Parents) != 1 || len(line) == mostStraight {
			return nil, false
		}
		line, to = append(line, c), c.Parents[0]
	}
	return line, from != ""
}

func (db *DB) yieldCommits(ctx context.Context, args []string, yield func(Commit, error) bool) {
	for oid, err := range db.git.Lines(ctx, args) {
		var c Commit
		if err == nil {
			c, err = db.Commit(OID(oid))
		}
		if !yield(c, err) || err != nil {
			return
		}
	}
}

// PathLog yields the commits up to to that changed one path compared with at least one parent, including those on
// merged branches.
func (db *DB) PathLog(ctx context.Context, to OID, path string) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		if err := to.Check(); err != nil {
			yield(Commit{}, err)
			return
		}
		db.yieldCommits(ctx, []string{"rev-list", "--topo-order", "--full-history", string(to), "--", ":(top,literal)" + path}, yield)
	}
}

// LastChanges returns for each path the newest commit up to to that changed it and is no merge. A path that
// none changed has none.
func (db *DB) LastChanges(ctx context.Context, to OID, paths []string) (map[string]OID, error) {
	out := map[string]OID{}
	if _, err := db.Commit(to); err != nil || len(paths) == 0 {
		return out, err
	}
	args := []string{"-c", "log.showRoot=true", "log", "--no-show-signature", "--topo-order", "--no-merges", "--no-renames", "--name-only", "--format=%x00%H", string(to), "--"}
	for _, p := range paths {
		args = append(args, ":(top,literal)"+p)
	}
	at := OID("")
	for line, err := range db.git.Lines(ctx, args) {
		if err != nil {
			return nil, err
		}
		if oid, is := strings.CutPrefix(line, "\x00"); is {
			at = OID(oid)
			continue
		}
		name := line
		if s, bad := strconv.Unquote(line); bad == nil && line[0] == '"' { // git quotes a name with a quote or a control character
			name = s
		}
		if _, known := out[name]; name != "" && !known {
			if out[name] = at; len(out) == len(paths) {
				break
			}
		}
	}
	return out, nil
}

// Deletion is a file that a commit deletes.
type Deletion struct {
	Commit OID
	Path   string
}

// Deletions returns the files below the folder under, but not below the folders but, that the commits of Log
// delete, newest first. A rename is not a deletion. Merges are left out: what they lack, a commit before them
// deleted.
func (db *DB) Deletions(ctx context.Context, from, to OID, under string, but ...string) (out []Deletion, err error) {
	args := []string{"log", "--no-show-signature", "--no-merges", "--topo-order", "-M", "--diff-filter=D", "--name-only", "-z", "--format=%H", string(to)}
	if err := to.Check(); err != nil {
		return nil, err
	}
	if from != "" {
		if err := from.Check(); err != nil {
			return nil, err
		}
		args = append(args, "^"+string(from))
	}
	args = append(args, "--", ":(top,literal)"+under)
	for _, b := range but {
		args = append(args, ":(top,exclude,literal)"+b)
	}
	if line, straight := db.straightLine(from, to); straight && !db.mayDelete(ctx, line, under, but) {
		return nil, nil
	}
	b, err := db.git.Read(ctx, args...)
	var commit OID
	for _, f := range gitcmd.SplitNUL(b) {
		if name := strings.TrimPrefix(f, "\n"); strings.HasPrefix(name, under+"/") {
			out = append(out, Deletion{commit, name})
		} else {
			commit = OID(f)
		}
	}
	return out, err
}

// mayDelete reports whether one of these commits, of one parent each, may delete a file of Deletions.
func (db *DB) mayDelete(ctx context.Context, line []Commit, under string, but []string) bool {
	return slices.ContainsFunc(line, func(c Commit) bool {
		changes, err := db.Diff(ctx, c.Parents[0], c.OID)
		return err != nil || slices.ContainsFunc(changes, func(ch Change) bool {
			isBelow := func(dir string) bool { return strings.HasPrefix(ch.Path, dir+"/") }
			return ch.NewMode == "" && isBelow(under) && !slices.ContainsFunc(but, isBelow)
		})
	})
}

// MergeBase returns the best common ancestor, "" if there is none.
func (db *DB) MergeBase(ctx context.Context, a, b OID) (OID, error) {
	if err := CheckIDs(a, b); err != nil {
		return "", err
	}
	out, err := db.git.ReadLine(ctx, "merge-base", string(a), string(b))
	if gitcmd.ExitCode(err) == 1 {
		return "", nil
	}
	return OID(out), err
}

// Ancestor reports whether a is b or an ancestor of it.
func (db *DB) Ancestor(ctx context.Context, a, b OID) (bool, error) {
	if err := CheckIDs(a, b); err != nil {
		return false, err
	}
	if is, told := db.searchNear(a, b); told {
		return is, nil
	}
	_, err := db.git.Read(ctx, "merge-base", "--is-ancestor", string(a), string(b))
	if gitcmd.ExitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// maxNearby is how many commits are read before git is asked; reading them costs less than a process.
const maxNearby = 64

// searchNear looks for a among the nearest ancestors of b; told is false if it takes git to know.
func (db *DB) searchNear(a, b OID) (is, told bool) {
	if _, err := db.Commit(a); err != nil {
		return false, false // git reports a missing commit
	}
	seen, next := map[OID]bool{b: true}, []OID{b}
	for i := 0; i < len(next); i++ {
		if next[i] == a {
			return true, true
		}
		c, err := db.Commit(next[i])
		if err != nil || i == maxNearby {
			return false, false
		}
		for _, p := range c.Parents {
			if !seen[p] {
				seen[p], next = true, append(next, p)
			}
		}
	}
	return false, true
}

// CheckIDs checks object ids before they become arguments of git.
func CheckIDs(oids ...OID) error {
	for _, o := range oids {
		if err := o.Check(); err != nil {
			return err
		}
	}
	return nil
}
