package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
)

// readFlags returns the flags of every verb that only reads the bundle.
func readFlags(more ...cli.Flag) []cli.Flag {
	return append(more,
		atFlag(),
		bundleFlag(), jsonFlag())
}

// source says where a verb reads the bundle: dir and rev may both be "".
type source struct{ dir, rev string }

func sourceFor(c *cli.Context) source { return source{dir: c.String("bundle"), rev: c.String("at")} }

// loadBundle loads the bundle from the files, or from a commit.
func (s source) loadBundle(ctx context.Context, env Env) (bundle, error) {
	if s.rev == "" {
		return openBundle(ctx, env, s.dir)
	}
	r, _, files, b, err := s.openCommitted(ctx, env)
	if err != nil {
		return bundle{}, err
	}
	sub, err := fs.Sub(files, or(b.prefix, "."))
	if err != nil {
		return bundle{}, err
	}
	b.graph, b.problems, err = loadTree(env, r, sub)
	if err != nil {
		return bundle{}, fmt.Errorf("%s:%s: %w", s.rev, b.prefix, err)
	}
	b.graph.Elsewhere(externalAt(files, s.rev))
	return b, nil
}

// openCommitted returns the bundle of the revision that is read, without its atoms; its tree, and
// the files of the commit.
func (s source) openCommitted(ctx context.Context, env Env) (r *repo.Repo, tree repo.OID, files fs.FS, b bundle, err error) {
	r, commit, files, err := s.openCommit(ctx, env)
	if err != nil {
		return nil, "", nil, b, err
	}
	root, err := s.committedRoot(env, r, files)
	if err != nil {
		return nil, "", nil, b, err
	}
	if tree, err = r.TreeOID(commit, root); err == nil && tree == "" {
		err = refuse("no-bundle", "%s: no such folder in commit %s; name another commit with --at, or another folder with --bundle", root, s.rev)
	}
	return r, tree, files, bundle{root: filepath.Join(r.Root(), filepath.FromSlash(root)), prefix: root, rev: s.rev}, err
}

func (s source) openCommit(ctx context.Context, env Env) (*repo.Repo, repo.OID, fs.FS, error) {
	r, err := repo.Open(env.Dir, env.Environ)
	if err != nil {
		return nil, "", nil, err
	}
	commit, err := r.Resolve(ctx, s.rev)
	if err != nil {
		return nil, "", nil, err
	}
	files, err := r.Tree(commit)
	return r, commit, files, err
}

// committedRoot returns the bundle's folder in a commit, "" for its top.
func (s source) committedRoot(env Env, r *repo.Repo, files fs.FS) (string, error) {
	if s.dir != "" {
		rel, err := filepath.Rel(r.Root(), env.absPath(s.dir))
		if err != nil || !filepath.IsLocal(rel) {
			return "", usage("%s: not in the repository at %s", s.dir, r.Root())
		}
		if rel == "." {
			return "", nil
		}
		return filepath.ToSlash(rel), nil
	}
	cfg, err := committedConfig(files, s.rev)
	return cfg.Root, err
}

func committedConfig(files fs.FS, rev string) (config.Config, error) {
	b, err := fs.ReadFile(files, "odd.toml")
	if errors.Is(err, fs.ErrNotExist) {
		return config.Config{}, refuse("no-config", "odd.toml: not in commit %s; name a later commit with --at, or the folder of the atoms with --bundle", rev)
	}
	if err != nil {
		return config.Config{}, err
	}
	return config.Parse("odd.toml", b)
}

// externalAt returns the authorities that the odd.toml of a commit declares to be other
// repositories'; a folder that --bundle names needs none.
func externalAt(files fs.FS, rev string) []string {
	cfg, _ := committedConfig(files, rev)
	return cfg.External
}

func edgeFlag(usage string) cli.Flag {
	return &cli.StringSliceFlag{Name: "edge", Usage: usage + " links of `KIND`: owner, uses, governed_by, … or link (markdown); repeatable"}
}

func edgeKinds(c *cli.Context) ([]okf.EdgeKind, error) {
	kinds, err := served.Kinds(c.StringSlice("edge"))
	if err != nil {
		return nil, usage("%s: --edge: %v", verbOf(c), err)
	}
	return kinds, nil
}

func readAtom(c *cli.Context, env Env, name string) (bundle, *okf.Atom, error) {
	b, err := sourceFor(c).loadBundle(c.Context, env)
	if err != nil {
		return b, nil, err
	}
	a, err := b.findAtom(name)
	b.tellTwin(env, a)
	return b, a, err
}

// tellTwin says that another file has the id of a, if a is an atom that one has.
func (b bundle) tellTwin(env Env, a *okf.Atom) {
	if a == nil {
		return
	}
	if twin := board.Twin(b.problems, a.Path); twin != nil {
		talk(env, "%s: %s; %s", b.shownPath(env, a.Path), twin.Message, twin.Hint)
	}
}

// findAtom names the unreadable files beside what it does not find: the atom may be in one.
func (b bundle) findAtom(name string) (*okf.Atom, error) {
	a, err := b.graph.Find(name)
	if err == nil {
		return a, nil
	}
	if n := b.countUnread(); n > 0 {
		return nil, fmt.Errorf("%w; it may be in %s that odd cannot read: odd check says why", err, countNoun(n, "file"))
	}
	if errors.Is(err, okf.ErrNotFound) && !strings.HasSuffix(err.Error(), "?") { // it names no near one
		return nil, fmt.Errorf("%w; odd search WORDS finds an atom by its text", err)
	}
	return nil, err
}

// countUnread counts the files that an error keeps from being atoms. One that a merge left
// its marks in is an atom all the same.
func (b bundle) countUnread() int {
	files := map[string]bool{}
	for _, p := range b.problems {
		if p.Severity == okf.Error && b.graph.ByPath(p.Path) == nil {
			files[p.Path] = true
		}
	}
	return len(files)
}

func countNoun(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// shownPlace returns where a line of the bundle is, as the person's shell sees it.
// odd.toml lies beside the bundle. A committed file is REV:path, as git has it.
func (b bundle) shownPlace(env Env, file string, line int) string {
	at := b.shownPath(env, file)
	if line < 1 {
		return at
	}
	return fmt.Sprintf("%s:%d", at, line)
}

// trackedPath says where a file of the bundle is from the top of the repository;
// outside of one, from the person's directory where it lies below that.
func (b bundle) trackedPath(env Env) func(file string) string {
	below := b.prefix
	if r, err := repo.Open(b.root, env.Environ); b.rev != "" {
		// as the revision has it
	} else if err == nil && r.Root() != "" {
		if rel, in := pathBelow(r, b.root); in {
			below = rel
		}
	} else if rel, err := filepath.Rel(env.Dir, b.root); err == nil && filepath.IsLocal(rel) {
		below = filepath.ToSlash(rel)
	}
	return func(file string) string {
		if atTop(file) {
			return path.Join(strings.TrimSuffix(below, b.prefix), file)
		}
		return path.Join(below, file)
	}
}

// atTop reports what is found in a bundle and lies beside it.
func atTop(file string) bool { return file == "odd.toml" || file == attributesFile }

func (b bundle) shownPath(env Env, file string) string {
	if b.rev != "" {
		return b.rev + ":" + path.Join(b.prefix, file)
	}
	full := filepath.Join(b.root, filepath.FromSlash(file))
	if atTop(file) && b.prefix != "" {
		full = filepath.Join(strings.TrimSuffix(b.root, filepath.FromSlash(b.prefix)), file)
	}
	if rel, err := filepath.Rel(env.Dir, full); err == nil {
		return rel
	}
	return full
}

// factCells returns the id, type and title of an atom, as far as they can be seen.
func factCells(f served.Fact) []string {
	return []string{okf.Visible(string(f.ID)), okf.Visible(f.Type), titleCell(f.Title)}
}

// describePath returns a path on one line: editor <-owner- publish -uses-> cms.
func describePath(start okf.ID, path []okf.Hop) string {
	line, at := string(start), start
	for _, h := range path {
		if h.From == at {
			line, at = fmt.Sprintf("%s -%s-> %s", line, h.Kind, h.To), h.To
		} else {
			line, at = fmt.Sprintf("%s <-%s- %s", line, h.Kind, h.From), h.From
		}
	}
	return line
}

// showNone prints what a reading verb found, nothing: empty data, and why on stderr.
func showNone(env Env, asJSON bool, empty any, format string, args ...any) error {
	talk(env, format, args...)
	if asJSON {
		return printJSON(env, empty)
	}
	return nil
}
