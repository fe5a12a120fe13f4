package cmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/urfave/cli/v2"
)

// change is what differs between a commit and the work tree, of the paths a
// person named; or the files that a task's paths allow to differ.
type change struct {
	*view
	base      repo.OID
	reader    *repo.Reader
	task      *board.Task
	edits     []pipeline.Edit
	names     []string // the paths that a person named
	since     string   // the commit that they named
	substrate string
	foreseen  bool
}

func openChange(at *cli.Context, env Env) (*change, error) {
	v, err := openBoard(at.Context, env, false)
	if err != nil {
		return nil, err
	}
	c := &change{view: v, reader: v.repo.Reader(), names: at.Args().Slice(), since: at.String("base"), substrate: at.String("substrate")}
	if c.base, err = v.repo.Resolve(at.Context, c.since); err != nil {
		return nil, err
	}
	if v.repo.Root() == "" {
		return nil, refuse("no-work-tree", "%s is a bare repository; run odd op classify in a clone with a work tree", env.Dir)
	}
	if name := at.String("task"); name != "" {
		t, err := v.task(name)
		if err != nil {
			return nil, err
		}
		c.task = &t
	}
	if c.foreseen = c.task != nil && len(c.names) == 0; c.foreseen {
		return c, nil
	}
	return c, c.look(at.Context)
}

func (c *change) paths() []string { return pipeline.Candidate{Files: c.edits}.Paths() }

// look reads what differs. A path that a person named and that does not differ is
// judged as if it did.
func (c *change) look(ctx context.Context) error {
	named, err := c.named()
	if err != nil {
		return err
	}
	paths, err := c.repo.Dirty(ctx, slices.DeleteFunc(slices.Clone(named), func(p string) bool { return p == "." })...)
	if err != nil {
		return err
	}
	head, err := c.repo.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	between, err := c.repo.Diff(ctx, c.base, head)
	if err != nil {
		return err
	}
	for _, d := range between {
		if len(named) == 0 || slices.ContainsFunc(named, func(n string) bool { return n == "." || n == d.Path || strings.HasPrefix(d.Path, n+"/") }) {
			paths = append(paths, d.Path)
		}
	}
	for _, n := range named {
		if st, err := os.Lstat(filepath.Join(c.repo.Root(), filepath.FromSlash(n))); err != nil || !st.IsDir() {
			paths = append(paths, n)
		}
	}
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		if err := c.add(p, slices.Contains(named, p)); err != nil {
			return err
		}
	}
	return nil
}

// named are the paths that a person named, below the repository's root.
func (c *change) named() (paths []string, err error) {
	for _, p := range c.names {
		rel, err := filepath.Rel(c.repo.Root(), c.env.path(p))
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return nil, usage("op classify: %s is outside the repository %s; name a path inside it", p, c.repo.Root())
		}
		paths = append(paths, filepath.ToSlash(rel))
	}
	return paths, nil
}

// add reads one path on both sides.
func (c *change) add(p string, named bool) error {
	e := pipeline.Edit{Path: p}
	oid, mode, err := c.reader.Find(c.base, p)
	if err != nil {
		return err
	}
	switch mode {
	case "", "040000", "40000":
	case "160000":
		e.OldMode, e.Before = mode, []byte(oid)
	default:
		if e.Before, err = c.repo.Blob(oid); err != nil {
			return err
		}
		e.OldMode = mode
		if e.Before == nil {
			e.Before = []byte{}
		}
	}
	if e.After, e.NewMode, err = c.present(p); err != nil {
		return err
	}
	same := e.OldMode == e.NewMode && string(e.Before) == string(e.After)
	switch {
	case same && !named:
		return nil
	case same && e.OldMode == "":
		talk(c.env, "%s does not exist; assessed as a new file", p)
		e.After, e.NewMode = []byte{}, "100644"
	case same:
		talk(c.env, "%s is unchanged since %s; assessed as if it were changed", p, c.since)
	}
	c.edits = append(c.edits, e)
	return nil
}

// present is what lies at a path of the work tree.
func (c *change) present(p string) (b []byte, mode string, err error) {
	at := filepath.Join(c.repo.Root(), filepath.FromSlash(p))
	st, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil
	case err != nil:
		return nil, "", err
	case st.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(at)
		return []byte(to), "120000", err
	case st.IsDir():
		head, err := repo.Open(at, c.env.Environ)
		if err != nil || head.Root() == c.repo.Root() {
			return nil, "", nil // a folder is no file
		}
		oid, err := head.Ref("HEAD")
		return []byte(oid), "160000", err
	case !st.Mode().IsRegular():
		return []byte{}, "120000", nil // a device or a socket is no file either
	}
	b, err = os.ReadFile(at)
	if b == nil {
		b = []byte{}
	}
	if mode = "100644"; st.Mode()&0o111 != 0 {
		mode = "100755"
	}
	return b, mode, err
}
