package repo

import (
	"context"
	"path/filepath"
	"strings"
)

// Diff lists the paths that differ between two commits or trees ("" = the empty tree), sorted by path, renames not
// detected. Directories with one id are not entered, so the cost is that of the difference.
func (r *Repo) Diff(ctx context.Context, a, b OID) ([]Change, error) {
	return r.Reader().Diff(ctx, a, b)
}

// differ collects the changes below two trees.
type differ struct {
	ctx  context.Context
	read func(OID) ([]entry, error)
	out  []Change
}

// dir compares two directories; "" is one that does not exist.
func (d *differ) dir(at string, a, b OID) error {
	if a == b {
		return nil
	}
	if err := d.ctx.Err(); err != nil {
		return err
	}
	ea, err := d.read(a)
	if err != nil {
		return err
	}
	eb, err := d.read(b)
	if err != nil {
		return err
	}
	ea, eb = trim(ea, eb)
	old := make(map[string]entry, len(ea))
	for _, e := range ea {
		old[e.name] = e
	}
	for _, e := range eb {
		was := old[e.name]
		delete(old, e.name)
		if err := d.pair(at+e.name, was, e); err != nil {
			return err
		}
	}
	for _, e := range ea {
		if _, left := old[e.name]; left {
			if err := d.pair(at+e.name, e, entry{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// trim drops what two directories share at their beginning and at their end.
func trim(a, b []entry) (_, _ []entry) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// pair compares one name on both sides; a zero entry is none.
func (d *differ) pair(path string, a, b entry) error {
	if a.mode == b.mode && a.oid == b.oid {
		return nil
	}
	c := Change{Path: path}
	var ta, tb OID
	if a.isDir() {
		ta = a.oid
	} else {
		c.Old, c.OldMode = a.oid, a.mode
	}
	if b.isDir() {
		tb = b.oid
	} else {
		c.New, c.NewMode = b.oid, b.mode
	}
	if c.OldMode != "" || c.NewMode != "" {
		d.out = append(d.out, c)
	}
	return d.dir(path+"/", ta, tb)
}

// Patch is the human diff between two commits or trees ("" = the empty tree), limited to paths when given, coloured
// when asked. No external diff or text conversion of the user's config runs, and no .gitattributes of a checkout or an
// index is heeded: it may be the change's own, and would say which of its files are not to be shown.
func (r *Repo) Patch(ctx context.Context, a, b OID, color bool, paths ...string) ([]byte, error) {
	var specs []string
	for _, p := range paths {
		specs = append(specs, ":(top,literal)"+strings.TrimSuffix(p, "/"))
	}
	return r.patch(ctx, a, b, color, specs)
}

// PatchWithout is Patch without the files at paths.
func (r *Repo) PatchWithout(ctx context.Context, a, b OID, paths []string) ([]byte, error) {
	specs := []string{":(top)"}
	for _, p := range paths {
		specs = append(specs, ":(top,exclude,literal)"+p)
	}
	return r.patch(ctx, a, b, false, specs)
}

func (r *Repo) patch(ctx context.Context, a, b OID, color bool, specs []string) ([]byte, error) {
	ta, err := r.treeOrEmpty(a)
	if err != nil {
		return nil, err
	}
	tb, err := r.treeOrEmpty(b)
	if err != nil {
		return nil, err
	}
	args := []string{"diff-tree", "-p", "-r", "--no-ext-diff", "--no-textconv", "--no-renames", "--full-index",
		"--color=" + map[bool]string{true: "always", false: "never"}[color], string(ta), string(tb), "--"}
	args = append(args, specs...)
	return r.git.run(ctx, call{args: args, read: true, dir: r.gitDir,
		env: []string{"GIT_DIR=" + r.gitDir, "GIT_WORK_TREE=" + r.gitDir, "GIT_INDEX_FILE=" + filepath.Join(r.gitDir, "odd.no-index")}})
}

// treeOrEmpty is rootTree for git's own use, which needs the empty tree by its id.
func (r *Repo) treeOrEmpty(oid OID) (OID, error) {
	t, _, err := r.rootTree(oid)
	if err == nil && t == "" {
		return r.objs.put("tree", nil)
	}
	return t, err
}
