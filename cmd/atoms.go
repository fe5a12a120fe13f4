package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
		bundleFlag())
}

// source says where a verb reads the bundle: dir and rev may both be "".
type source struct{ dir, rev string }

func sourceFor(c *cli.Context) source { return source{dir: c.String("bundle"), rev: c.String("at")} }

// locateBundle returns the bundle without its atoms: where it lies, and the odd.toml beside it.
func (s source) locateBundle(ctx context.Context, env Env) (b bundle, err error) {
	if s.rev != "" {
		return s.locateCommitted(ctx, env)
	}
	b.root, b.named = env.Dir, s.dir != ""
	if b.named {
		b.root = env.absPath(s.dir)
		if st, err := os.Stat(b.root); err != nil || !st.IsDir() {
			return b, usage("%s: no such directory", s.dir)
		}
	} else if r, err := repo.Open(env.Dir, env.Environ); err == nil && r.Root() == "" { // git's own files are no bundle
		return b, bareError(r)
	}
	if b.top, b.cfg, err = findConfig(b.root); err != nil {
		return b, err
	}
	if !b.named && b.top != "" {
		b.prefix = b.cfg.Root
		if b.root, err = b.cfg.OnDisk(b.top); err != nil {
			return b, err
		}
	}
	b.below = b.prefix
	if b.repo, err = repo.Open(b.root, env.Environ); err != nil {
		b.repo = nil // no repository, no cache
	}
	if b.inWorkTree() {
		if rel, in := pathBelow(b.repo, b.root); in {
			b.below = rel
		}
	} else if rel, err := filepath.Rel(env.Dir, b.root); err == nil && filepath.IsLocal(rel) {
		b.below = filepath.ToSlash(rel)
	}
	return b, nil
}

// locateCommitted is locateBundle for a revision; a folder that --bundle names needs no odd.toml.
func (s source) locateCommitted(ctx context.Context, env Env) (b bundle, err error) {
	b.rev, b.named = s.rev, s.dir != ""
	if b.repo, err = repo.Open(env.Dir, env.Environ); err != nil {
		return b, err
	}
	if b.commit, err = b.repo.Resolve(ctx, s.rev); err != nil {
		return b, err
	}
	if b.files, err = b.repo.Tree(b.commit); err != nil {
		return b, err
	}
	text, err := fs.ReadFile(b.files, "odd.toml")
	if errors.Is(err, fs.ErrNotExist) {
		err = refuse("no-config", "odd.toml: not in commit %s; name a later commit with --at, or the folder of the atoms with --bundle", s.rev)
	}
	if err == nil {
		b.cfg, err = config.Parse("odd.toml", text)
	}
	b.prefix = b.cfg.Root
	if b.named {
		rel, bad := filepath.Rel(b.repo.Root(), env.absPath(s.dir))
		if bad != nil || !filepath.IsLocal(rel) {
			return b, usage("%s: not in the repository at %s", s.dir, b.repo.Root())
		}
		if b.prefix, err = filepath.ToSlash(rel), nil; rel == "." {
			b.prefix = ""
		}
	}
	if err != nil {
		return b, err
	}
	tree, err := b.repo.TreeOID(b.commit, b.prefix)
	if err == nil && tree == "" {
		err = refuse("no-bundle", "%s: no such folder in commit %s; name another commit with --at, or another folder with --bundle", b.prefix, s.rev)
	}
	b.root, b.below = filepath.Join(b.repo.Root(), filepath.FromSlash(b.prefix)), b.prefix
	return b, err
}

// loadBundle loads the bundle from the files, or from a commit. Without git and without
// odd.toml the directory itself is the bundle.
func (s source) loadBundle(ctx context.Context, env Env) (bundle, error) {
	b, err := s.locateBundle(ctx, env)
	if err != nil {
		return bundle{}, err
	}
	if b.rev == "" {
		b.graph, b.problems, err = loadDir(env, b.repo, b.root)
	} else if files, bad := fs.Sub(b.files, or(b.prefix, ".")); bad == nil {
		b.graph, b.problems, err = loadTree(env, b.repo, files)
	} else {
		err = bad
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && b.rev == "" && b.prefix != "":
		return bundle{}, b.cfg.Missing(b.top)
	case err != nil && b.rev == "":
		return bundle{}, whyNotLoaded(b.root, err)
	case err != nil:
		return bundle{}, fmt.Errorf("%s:%s: %w", b.rev, b.prefix, err)
	}
	b.graph.Elsewhere(b.cfg.External)
	return b, nil
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
	a, err := b.findAtom(env, name)
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

// findAtom finds an atom by a name of okf's, or else by its file as odd search prints it, also
// with a line behind it. It names the unreadable files beside what it does not find: the
// atom may be in one.
func (b bundle) findAtom(env Env, name string) (*okf.Atom, error) {
	a, err := b.graph.Find(name)
	if err == nil {
		return a, nil
	}
	file, _, _ := strings.Cut(name, ".md:")
	file = strings.TrimSuffix(file, ".md") + ".md"
	if b.rev != "" {
		file = filepath.Join(b.repo.Root(), strings.TrimPrefix(file, b.rev+":"))
	}
	if rel, bad := filepath.Rel(b.root, env.absPath(file)); bad == nil {
		if a := b.graph.ByPath(filepath.ToSlash(rel)); a != nil {
			return a, nil
		}
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
func (b bundle) trackedPath(file string) string {
	if atTop(file) {
		return path.Join(strings.TrimSuffix(b.below, b.prefix), file)
	}
	return path.Join(b.below, file)
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
