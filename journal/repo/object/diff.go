package object

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// Diff lists the paths that differ between two commits or trees ("" is the empty tree), sorted by path. It does not
// detect renames. It skips directories with equal ids, so its cost is that of the difference.
func (db *DB) Diff(ctx context.Context, a, b OID) ([]Change, error) {
	ta, _, err := db.RootTree(a)
	if err != nil {
		return nil, err
	}
	tb, _, err := db.RootTree(b)
	if err != nil {
		return nil, err
	}
	d := differ{ctx: ctx, db: db}
	if err := d.diffDir("", ta, tb); err != nil {
		return nil, err
	}
	slices.SortFunc(d.out, func(x, y Change) int { return cmp.Compare(x.Path, y.Path) })
	return d.out, nil
}

// differ collects the changes between two trees.
type differ struct {
	ctx context.Context
	db  *DB
	out []Change
}

// diffDir compares two directories; "" is a missing one.
func (d *differ) diffDir(at string, a, b OID) error {
	if a == b {
		return nil
	}
	if err := d.ctx.Err(); err != nil {
		return err
	}
	la, err := d.db.readTree(a)
	if err != nil {
		return err
	}
	lb, err := d.db.readTree(b)
	if err != nil {
		return err
	}
	ea, eb := dropShared(la, lb)
	old := make(map[string]Entry, len(ea))
	for _, e := range ea {
		old[e.Name] = e
	}
	for _, e := range eb {
		was := old[e.Name]
		delete(old, e.Name)
		if err := d.diffEntry(at+e.Name, was, e); err != nil {
			return err
		}
	}
	for _, e := range ea {
		if _, left := old[e.Name]; left {
			if err := d.diffEntry(at+e.Name, e, Entry{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropShared returns the entries of two directories without those that both share.
func dropShared(a, b listing) (ea, eb []Entry) {
	i := a.countWithin(sharedPrefix(a.raw, b.raw))
	j, endA, endB := i, a.len(), b.len()
	if n := a.countShared(b, i); n > 0 {
		endA, endB = endA-n, endB-n
	}
	for i < endA && j < endB {
		if a.entryBytes(i) == b.entryBytes(j) {
			i, j = i+1, j+1
			continue
		}
		c := sortKeyOf(a.entryWithoutID(i)).compare(sortKeyOf(b.entryWithoutID(j)))
		if c <= 0 {
			ea = append(ea, a.entryAt(i))
			i++
		}
		if c >= 0 {
			eb = append(eb, b.entryAt(j))
			j++
		}
	}
	return append(ea, a.entryRange(i, endA)...), append(eb, b.entryRange(j, endB)...)
}

// countWithin returns how many entries lie whole in the first n bytes.
func (l listing) countWithin(n int) int {
	if n == len(l.raw) {
		return l.len()
	}
	i, _ := slices.BinarySearch(l.starts, uint32(n)+1)
	return i - 1
}

// countShared returns how many entries two directories share at their ends, after the first i entries of both.
func (l listing) countShared(o listing, i int) int {
	from := 0
	if i < min(l.len(), o.len()) {
		from = int(l.starts[i])
	} else {
		return 0
	}
	n := sharedSuffix(l.raw[from:], o.raw[from:])
	for x, _ := slices.BinarySearch(l.starts, uint32(len(l.raw)-n)); x < l.len(); x++ { // the bytes of an entry may end another's
		if y := o.len() - (l.len() - x); y >= i && len(o.raw)-int(o.starts[y]) == len(l.raw)-int(l.starts[x]) {
			return l.len() - x
		}
	}
	return 0
}

// sharedPrefix returns how many bytes two texts share at the beginning.
func sharedPrefix(a, b string) (n int) {
	most := min(len(a), len(b))
	for step := most; step > 0; {
		if a[n:n+step] == b[n:n+step] {
			n += step
			step = min(step, most-n)
		} else {
			step /= 2
		}
	}
	return n
}

// sharedSuffix returns how many bytes two texts share at the end.
func sharedSuffix(a, b string) (n int) {
	most := min(len(a), len(b))
	for step := most; step > 0; {
		if a[len(a)-n-step:len(a)-n] == b[len(b)-n-step:len(b)-n] {
			n += step
			step = min(step, most-n)
		} else {
			step /= 2
		}
	}
	return n
}

// diffEntry compares the entries of one name; a zero entry is a missing one.
func (d *differ) diffEntry(path string, a, b Entry) error {
	if a.Mode == b.Mode && a.OID == b.OID {
		return nil
	}
	c := Change{Path: path}
	var ta, tb OID
	if a.IsDir() {
		ta = a.OID
	} else {
		c.Old, c.OldMode = a.OID, a.Mode
	}
	if b.IsDir() {
		tb = b.OID
	} else {
		c.New, c.NewMode = b.OID, b.Mode
	}
	if c.OldMode != "" || c.NewMode != "" {
		d.out = append(d.out, c)
	}
	return d.diffDir(path+"/", ta, tb)
}

// Patch returns the diff between two commits or trees ("" is the empty tree) as text, limited to paths if any are
// given. It runs no external diff or text conversion of the user's. It ignores .gitattributes of a checkout or an
// index, because the change itself could use them to hide files.
func (db *DB) Patch(ctx context.Context, a, b OID, paths ...string) ([]byte, error) {
	var specs []string
	for _, p := range paths {
		specs = append(specs, ":(top,literal)"+strings.TrimSuffix(p, "/"))
	}
	return db.diffTree(ctx, a, b, specs, "-p", "--full-index")
}

// PatchWithout is Patch for all files but those at paths.
func (db *DB) PatchWithout(ctx context.Context, a, b OID, paths []string) ([]byte, error) {
	specs := []string{":(top)"}
	for _, p := range paths {
		specs = append(specs, ":(top,exclude,literal)"+p)
	}
	return db.diffTree(ctx, a, b, specs, "-p", "--full-index")
}

// Lines counts the lines that a file gains and loses; both are -1 for a binary file.
type Lines struct {
	Path           string
	Added, Removed int
}

// ChangedLines counts the changed lines of each file, in the order of the paths.
func (db *DB) ChangedLines(ctx context.Context, a, b OID) ([]Lines, error) {
	out, err := db.diffTree(ctx, a, b, nil, "--numstat", "-z")
	var all []Lines
	for _, line := range gitcmd.SplitNUL(out) {
		l := Lines{Added: -1, Removed: -1}
		counts := strings.SplitN(line, "\t", 3)
		if len(counts) != 3 {
			return nil, fmt.Errorf("git diff-tree: unknown answer %q", line)
		}
		if n, err := strconv.Atoi(counts[0]); err == nil {
			l.Added = n
		}
		if n, err := strconv.Atoi(counts[1]); err == nil {
			l.Removed = n
		}
		l.Path = counts[2]
		all = append(all, l)
	}
	return all, err
}

func (db *DB) diffTree(ctx context.Context, a, b OID, specs []string, as ...string) ([]byte, error) {
	ta, err := db.TreeOrEmpty(a)
	if err != nil {
		return nil, err
	}
	tb, err := db.TreeOrEmpty(b)
	if err != nil {
		return nil, err
	}
	args := append([]string{"diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--no-renames", "--color=never"}, as...)
	args = append(append(args, string(ta), string(tb), "--"), specs...)
	return db.git.Run(ctx, gitcmd.Call{Args: args, Read: true, Dir: db.gitDir,
		Env: []string{"GIT_DIR=" + db.gitDir, "GIT_WORK_TREE=" + db.gitDir, "GIT_INDEX_FILE=" + filepath.Join(db.gitDir, "odd.no-index")}})
}

// TreeOrEmpty is rootTree, but returns the id of the empty tree instead of "", as git needs it.
func (db *DB) TreeOrEmpty(oid OID) (OID, error) {
	t, _, err := db.RootTree(oid)
	if err == nil && t == "" {
		return db.objs.put("tree", nil)
	}
	return t, err
}
