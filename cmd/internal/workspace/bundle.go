package workspace

import (
	"cmp"
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
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
)

// Bundle is a loaded bundle and where it lies.
type Bundle struct {
	Graph    *okf.Graph
	Problems []okf.Problem
	Root     string // absolute directory
	Prefix   string // root relative to odd.toml, slash-separated, "" where none names it
	below    string // root from the top of the repository, or from the person's directory
	Named    bool   // by --bundle
	Top      string // the folder of odd.toml, "" for none and for a commit
	Config   config.Config

	Repo   *repo.Repo // nil outside of one
	Rev    string     // the revision it was read from, as typed; "" for files
	Commit repo.OID   // of rev
	Files  fs.FS      // of commit
}

// ReadFlags returns the flags of every verb that only reads the bundle.
func ReadFlags(more ...cli.Flag) []cli.Flag {
	return append(more,
		verb.AtFlag(),
		verb.BundleFlag())
}

// Source says where a verb reads the bundle: dir and rev may both be "".
type Source struct{ Dir, Rev string }

// SourceOf returns the source that the flags --bundle and --at name.
func SourceOf(c *cli.Context) Source { return Source{Dir: c.String("bundle"), Rev: c.String("at")} }

// Locate returns the bundle without its atoms: where it lies, and the odd.toml beside it.
func (s Source) Locate(ctx context.Context, env console.Env) (b Bundle, err error) {
	if s.Rev != "" {
		return s.locateCommitted(ctx, env)
	}
	b.Root, b.Named = env.Dir, s.Dir != ""
	if b.Named {
		b.Root = env.AbsPath(s.Dir)
		if st, err := os.Stat(b.Root); err != nil || !st.IsDir() {
			return b, verb.Usage("%s: no such directory", s.Dir)
		}
	} else if r, err := repo.Open(env.Dir, env.Environ); err == nil && r.Root() == "" { // git's own files are no bundle
		return b, bareError(r)
	}
	if b.Top, b.Config, err = FindConfig(b.Root); err != nil {
		return b, err
	}
	if !b.Named && b.Top != "" {
		b.Prefix = b.Config.Root
		if b.Root, err = b.Config.OnDisk(b.Top); err != nil {
			return b, err
		}
	}
	b.below = b.Prefix
	if b.Repo, err = repo.Open(b.Root, env.Environ); err != nil {
		b.Repo = nil // no repository, no cache
	}
	if b.InWorkTree() {
		if rel, in := PathBelow(b.Repo, b.Root); in {
			b.below = rel
		}
	} else if rel, err := filepath.Rel(env.Dir, b.Root); err == nil && filepath.IsLocal(rel) {
		b.below = filepath.ToSlash(rel)
	}
	return b, nil
}

// locateCommitted is Locate for a revision; a folder that --bundle names needs no odd.toml.
func (s Source) locateCommitted(ctx context.Context, env console.Env) (b Bundle, err error) {
	b.Rev, b.Named = s.Rev, s.Dir != ""
	if b.Repo, err = repo.Open(env.Dir, env.Environ); err != nil {
		return b, err
	}
	if b.Commit, err = b.Repo.Resolve(ctx, s.Rev); err != nil {
		return b, err
	}
	if b.Files, err = b.Repo.Tree(b.Commit); err != nil {
		return b, err
	}
	text, err := fs.ReadFile(b.Files, "odd.toml")
	if errors.Is(err, fs.ErrNotExist) {
		err = verb.Refuse("no-config", "odd.toml: not in commit %s; name a later commit with --at, or the folder of the atoms with --bundle", s.Rev)
	}
	if err == nil {
		b.Config, err = config.Parse("odd.toml", text)
	}
	b.Prefix = b.Config.Root
	if b.Named {
		rel, bad := filepath.Rel(b.Repo.Root(), env.AbsPath(s.Dir))
		if bad != nil || !filepath.IsLocal(rel) {
			return b, verb.Usage("%s: not in the repository at %s", s.Dir, b.Repo.Root())
		}
		if b.Prefix, err = filepath.ToSlash(rel), nil; rel == "." {
			b.Prefix = ""
		}
	}
	if err != nil {
		return b, err
	}
	tree, err := b.Repo.TreeOID(b.Commit, b.Prefix)
	if err == nil && tree == "" {
		err = verb.Refuse("no-bundle", "%s: no such folder in commit %s; name another commit with --at, or another folder with --bundle", b.Prefix, s.Rev)
	}
	b.Root, b.below = filepath.Join(b.Repo.Root(), filepath.FromSlash(b.Prefix)), b.Prefix
	return b, err
}

// Load loads the bundle from the files, or from a commit. Without git and without
// odd.toml the directory itself is the bundle.
func (s Source) Load(ctx context.Context, env console.Env) (Bundle, error) {
	b, err := s.Locate(ctx, env)
	if err != nil {
		return Bundle{}, err
	}
	if b.Rev == "" {
		b.Graph, b.Problems, err = LoadDir(env, b.Repo, b.Root)
	} else if files, bad := fs.Sub(b.Files, cmp.Or(b.Prefix, ".")); bad == nil {
		loaded := env.AnnounceSlow("loading the board")
		b.Graph, b.Problems, err = state.Of(files, b.Repo).Atoms()
		loaded()
	} else {
		err = bad
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && b.Rev == "" && b.Prefix != "":
		return Bundle{}, b.Config.Missing(b.Top)
	case err != nil && b.Rev == "":
		return Bundle{}, WhyNotLoaded(b.Root, err)
	case err != nil:
		return Bundle{}, fmt.Errorf("%s:%s: %w", b.Rev, b.Prefix, err)
	}
	b.Graph.Elsewhere(b.Config.External)
	return b, nil
}

// OnBundle is verb.Do for a verb that works on the bundle which its flags name.
func OnBundle(env console.Env, run func(*cli.Context, console.Env, Bundle) error) cli.ActionFunc {
	return verb.Do(env, func(c *cli.Context, env console.Env) error {
		b, err := SourceOf(c).Load(c.Context, env)
		if err != nil {
			return err
		}
		return run(c, env, b)
	})
}

// OnAtom is OnBundle for a verb whose first argument is an atom.
func OnAtom(env console.Env, run func(*cli.Context, console.Env, Bundle, *okf.Atom) error) cli.ActionFunc {
	return verb.Do(env, func(c *cli.Context, env console.Env) error {
		b, a, err := ReadAtom(c, env, c.Args().First())
		if err != nil {
			return err
		}
		return run(c, env, b, a)
	})
}

// ReadAtom loads the bundle that the flags name, and the atom of that name in it.
func ReadAtom(c *cli.Context, env console.Env, name string) (Bundle, *okf.Atom, error) {
	b, err := SourceOf(c).Load(c.Context, env)
	if err != nil {
		return b, nil, err
	}
	a, err := b.FindAtom(env, name)
	b.TellTwin(env, a)
	return b, a, err
}

// TellTwin says that another file has the id of a, if a is an atom that one has.
func (b Bundle) TellTwin(env console.Env, a *okf.Atom) {
	if a == nil {
		return
	}
	if twin := board.Twin(b.Problems, a.Path); twin != nil {
		console.Talk(env, "%s: %s; %s", b.ShownPath(env, a.Path), twin.Message, twin.Hint)
	}
}

// FindAtom finds an atom by a name of okf's, or else by its file as odd search prints it, also
// with a line behind it. It names the unreadable files beside what it does not find: the
// atom may be in one.
func (b Bundle) FindAtom(env console.Env, name string) (*okf.Atom, error) {
	a, err := b.Graph.Find(name)
	if err == nil {
		return a, nil
	}
	file, _, _ := strings.Cut(name, ".md:")
	file = strings.TrimSuffix(file, ".md") + ".md"
	if b.Rev != "" {
		file = filepath.Join(b.Repo.Root(), strings.TrimPrefix(file, b.Rev+":"))
	}
	if rel, bad := filepath.Rel(b.Root, env.AbsPath(file)); bad == nil {
		if a := b.Graph.ByPath(filepath.ToSlash(rel)); a != nil {
			return a, nil
		}
	}
	if n := b.CountUnread(); n > 0 {
		return nil, fmt.Errorf("%w; it may be in %s that odd cannot read: odd check says why", err, console.CountNoun(n, "file"))
	}
	if errors.Is(err, okf.ErrNotFound) && !strings.HasSuffix(err.Error(), "?") { // it names no near one
		return nil, fmt.Errorf("%w; odd search WORDS finds an atom by its text", err)
	}
	return nil, err
}

// CountUnread counts the files that an error keeps from being atoms. One that a merge left
// its marks in is an atom all the same.
func (b Bundle) CountUnread() int {
	files := map[string]bool{}
	for _, p := range b.Problems {
		if p.Severity == okf.Error && b.Graph.ByPath(p.Path) == nil {
			files[p.Path] = true
		}
	}
	return len(files)
}

// ShownPlace returns where a line of the bundle is, as the person's shell sees it.
// odd.toml lies beside the bundle. A committed file is REV:path, as git has it.
func (b Bundle) ShownPlace(env console.Env, file string, line int) string {
	at := b.ShownPath(env, file)
	if line < 1 {
		return at
	}
	return fmt.Sprintf("%s:%d", at, line)
}

// TrackedPath says where a file of the bundle is from the top of the repository;
// outside of one, from the person's directory where it lies below that.
func (b Bundle) TrackedPath(file string) string {
	if atTop(file) {
		return path.Join(strings.TrimSuffix(b.below, b.Prefix), file)
	}
	return path.Join(b.below, file)
}

// atTop reports what is found in a bundle and lies beside it.
func atTop(file string) bool { return file == "odd.toml" || file == AttributesFile }

// ShownPath returns the path of a file of the bundle as the person's shell takes it.
func (b Bundle) ShownPath(env console.Env, file string) string {
	if b.Rev != "" {
		return b.Rev + ":" + path.Join(b.Prefix, file)
	}
	full := filepath.Join(b.Root, filepath.FromSlash(file))
	if atTop(file) && b.Prefix != "" {
		full = filepath.Join(strings.TrimSuffix(b.Root, filepath.FromSlash(b.Prefix)), file)
	}
	if rel, err := filepath.Rel(env.Dir, full); err == nil {
		return rel
	}
	return full
}

// InWorkTree reports a bundle of a repository that has a work tree.
func (b Bundle) InWorkTree() bool { return b.Repo != nil && b.Repo.Root() != "" }

// DescribeUntyped says, to a person who found nothing, that there are files which are no
// atoms for want of a type; "" when there are none.
func (b Bundle) DescribeUntyped() string {
	n := 0
	for _, p := range b.Problems {
		if p.Code == "okf-type" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %s without a \"type:\" line, so odd does not read them as atoms: odd check lists them", console.CountNoun(n, "file"))
}

// UntypedPersonas returns warnings of the files with a persona that odd does not read,
// because they have no type.
func (b Bundle) UntypedPersonas() []okf.Problem {
	var out []okf.Problem
	for _, p := range b.Problems {
		if p.Hint == okf.AddPersona {
			p.Code, p.Severity, p.Message = "odd-persona", okf.Warn, "the file has a persona and no type"
			out = append(out, p)
		}
	}
	return out
}

// RepoFiles are the files that the sources of a bundle name; files is nil outside a repository.
type RepoFiles struct {
	Files fs.FS
	List  func() []string // lists those of the work tree; nil for a commit
	Err   error           // of list
}

// OpenRepoFiles opens the work tree of the bundle's repository, or the commit that the bundle
// was read from.
func (b Bundle) OpenRepoFiles(ctx context.Context) *RepoFiles {
	f := new(RepoFiles)
	switch {
	case !b.InWorkTree():
	case b.Rev != "":
		f.Files = b.Files
	default:
		f.Files = disk.Dir(b.Repo.Root())
		f.List = func() (names []string) {
			names, f.Err = b.Repo.WorkFiles(ctx)
			return names
		}
	}
	return f
}

// PathBelow returns the path of a folder from the top of r's work tree, "." for the top itself;
// in is false where it lies outside.
func PathBelow(r *repo.Repo, dir string) (rel string, in bool) {
	real, err := filepath.EvalSymlinks(dir) // as the top is
	if err != nil {
		real = dir // the folder is not there yet
	}
	rel, err = filepath.Rel(r.Root(), real)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}
