package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/knowledge"
)

func initVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "init",
		Usage:     "create odd.toml, a knowledge folder and CI workflows here",
		ArgsUsage: "[DIR]",
		Description: "odd init\n" +
			"git add odd.toml knowledge .gitattributes .github\ngit commit -m \"odd: begin\"\n\n" +
			"If the folder is not a git repository, odd runs git init. Files that exist\n" +
			"stay as they are.\n" +
			"DIR is another folder to start in. Where your documents are in a folder\n" +
			"such as docs/, or beside README.md, a first task is ready to read them:\n" +
			"commit, then odd drain. The starter notes are yours to change.",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				_, err := oneArg(c, "a directory, or none")
				return err
			}
			return runInit(c.Context, env, c.Args().First(), c.Bool("json"))
		},
	})
}

func runInit(ctx context.Context, env Env, dir string, asJSON bool) error {
	at := env.path(dir)
	if err := ownTop(at, dir); err != nil {
		return err
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	r, made, err := openOrInit(ctx, at)
	if err != nil {
		return err
	}
	if err := freeNames(r); err != nil {
		return err
	}
	ch := starterFiles(ctx, r)
	wrote, err := lay(r, ch)
	if err != nil {
		return err
	}
	if err := foreignAttributes(ctx, env, r); err != nil {
		return err
	}
	if asJSON {
		return printJSON(env, map[string]any{"root": r.Root(), "wrote": wrote, "git_init": made})
	}
	for _, name := range wrote {
		if _, err := fmt.Fprintln(env.Stdout, name); err != nil {
			return err
		}
	}
	if len(wrote) == 0 {
		talk(env, "every file of odd init is here already; odd status shows what to do next")
		return nil
	}
	sayNext(env, bundleRoot(r), wrote, ch)
	return nil
}

// sayNext tells a person what init wrote and which commands come next, in order.
func sayNext(env Env, root string, wrote []string, ch repo.Changes) {
	talk(env, "wrote the files above: settings in odd.toml, knowledge and tasks as markdown in %s/. No file of yours was changed.", root)
	talk(env, "1. commit them:  git add odd.toml %s .gitattributes .github && git commit -m \"odd: begin\"", root)
	first := path.Join(root, "tasks", "read-our-documents.md")
	if !slices.Contains(wrote, first) {
		talk(env, "2. check them:   odd check")
		talk(env, "3. add a task:   odd task add \"TITLE\"")
		return
	}
	if !bytes.Contains(ch[first], []byte("\nstate: ready\n")) {
		talk(env, "2. in %s, set \"inputs\" to a file or folder of your documents; then commit it", first)
		talk(env, "3. run the task: odd task ready read-our-documents, then odd drain")
	} else {
		talk(env, "2. run the first task, which reads your documents: odd drain")
	}
	talk(env, "then look at what it proposes, and merge it: odd review read-our-documents, then odd approve read-our-documents")
	talk(env, "the notes in %s/ are examples; make them yours", root)
}

// ownTop refuses a directory that a person named and that lies below the top of a
// repository: what odd init lays out would not be in it.
func ownTop(at, dir string) error {
	above := at
	for dir != "" {
		if _, err := os.Stat(above); err == nil || filepath.Dir(above) == above {
			break
		}
		above = filepath.Dir(above)
	}
	r, err := repo.Open(above)
	if dir == "" || err != nil || r.Root() == "" {
		return nil // what is wrong there is told below
	}
	top, err := os.Stat(r.Root())
	if err != nil {
		return err
	}
	if st, err := os.Stat(at); err == nil && os.SameFile(st, top) {
		return nil
	}
	return refuse("inside", "%s: is a folder inside the git repository %s; set odd up there with odd -C %[2]s init, or run git init %[1]s first", dir, r.Root())
}

// openOrInit opens the repository dir is in, or makes one there.
func openOrInit(ctx context.Context, dir string) (r *repo.Repo, made bool, err error) {
	r, err = repo.Open(dir)
	if errors.Is(err, repo.ErrNotRepo) {
		r, err = repo.Init(ctx, dir)
		made = true
	}
	if err == nil {
		err = governable(r)
	}
	if err == nil && r.Root() == "" {
		return nil, false, refuse("bare", "%s: is a bare repository, which has no files to work on; make a clone with git clone %[1]s work, then odd init work", dir)
	}
	return r, made, err
}

// freeNames refuses branches that stand where review branches must: git cannot
// keep odd beside odd/review/x.
func freeNames(r *repo.Repo) error {
	refs, err := r.Refs("refs/heads/odd")
	if err != nil {
		return err
	}
	for _, u := range refs {
		if n := strings.TrimPrefix(u.Name, "refs/heads/"); n == "odd" || n == "odd/review" {
			return refuse("branch", "branch %s: odd keeps proposals on branches named odd/review/…, and git allows none of these beside it; rename it with git branch -m %[1]s %[1]s-old", n)
		}
	}
	return nil
}

// foreignAttributes says which lines a .gitattributes lacks that was there before, and by
// which odd could not write.
func foreignAttributes(ctx context.Context, env Env, r *repo.Repo) error {
	lines, err := missingUnions(ctx, r, "", bundleRoot(r))
	if err != nil {
		return err
	}
	converted, err := unstorable(ctx, r, bundleRoot(r))
	for _, c := range converted {
		talk(env, "%s", c.Error())
	}
	for _, line := range lines {
		talk(env, ".gitattributes: the line %q is missing, and without it a merge of two clones that both added there conflicts; add the line", line)
	}
	return err
}

// missingUnions are the lines that the .gitattributes in a folder lacks, without which two
// clones that add to one file conflict; root is the bundle's, from there.
func missingUnions(ctx context.Context, r *repo.Repo, folder, root string) ([]string, error) {
	var lines, sample []string
	for _, pattern := range []string{"journal/*.tsv", "**/index.md"} {
		pattern = path.Join(root, pattern)
		lines = append(lines, pattern+" merge=union")
		sample = append(sample, path.Join(folder, strings.NewReplacer("**", "terms", "*", "a").Replace(pattern)))
	}
	union, err := r.MergesByUnion(ctx, sample...)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, line := range lines {
		if !union[i] {
			out = append(out, line)
		}
	}
	return out, nil
}

// bundleRoot is where the bundle is, or will be.
func bundleRoot(r *repo.Repo) string {
	if b, err := os.ReadFile(filepath.Join(r.Root(), "odd.toml")); err == nil {
		if cfg, err := config.Parse("odd.toml", b); err == nil {
			return cfg.Root
		}
	}
	return config.Default().Root
}

// starterFiles is what init lays out. Where odd.toml is there already its
// bundle root is taken; a bundle of somebody's is left alone.
func starterFiles(ctx context.Context, r *repo.Repo) repo.Changes {
	ch := repo.Changes{"odd.toml": config.Template()}
	root := bundleRoot(r)
	own := ownBundle(ctx, r, root)
	for _, f := range starter(r) {
		name, ok := strings.CutPrefix(f.Path, "knowledge/")
		switch {
		case !ok && path.Base(f.Path) == prTemplate && hasTemplate(r):
		case f.Path == ".gitattributes":
			ch[f.Path] = bytes.ReplaceAll(f.Data, []byte("\nknowledge/"), []byte("\n"+path.Clean(root)+"/"))
		case !ok:
			ch[f.Path] = f.Data
		case !own:
			ch[path.Join(root, name)] = f.Data
		}
	}
	return ch
}

// starter are the files that init knows, with the first task ready to read what
// documents there are. Where odd.toml is there already, its agent may cost money: then a
// person makes the task ready.
func starter(r *repo.Repo) []knowledge.File {
	files := knowledge.Starter()
	_, err := os.Stat(filepath.Join(r.Root(), "odd.toml"))
	in := documents(os.DirFS(r.Root()))
	for i, f := range files {
		if path.Base(f.Path) != "read-our-documents.md" || in == "" {
			continue
		}
		b := bytes.Replace(f.Data, []byte("inputs: [docs/]"), []byte("inputs: ["+in+"]"), 1)
		if errors.Is(err, fs.ErrNotExist) {
			b = bytes.Replace(b, []byte("state: backlog"), []byte("state: ready"), 1)
		}
		files[i].Data = b
	}
	return files
}

// unready is a task as it is before it is ready.
func unready(b []byte) []byte {
	return bytes.Replace(b, []byte("\nstate: ready\n"), []byte("\nstate: backlog\n"), 1)
}

// documents is where a repository has its documents, as an input of a task: a folder by
// one of the usual names that holds markdown, or else the markdown at the top; "" for none.
func documents(files fs.FS) string {
	for _, dir := range []string{"docs", "doc", "documentation", "handbook", "content", "guides", "wiki"} {
		found := false
		_ = fs.WalkDir(files, dir, func(p string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && path.Ext(p) == ".md" {
				found = true
				return fs.SkipAll
			}
			return err
		})
		if found {
			return dir + "/"
		}
	}
	if top, _ := fs.Glob(files, "*.md"); len(top) > 0 {
		return `"*.md"`
	}
	return ""
}

// ownBundle reports a bundle at root that is more than what an init laid out which
// did not come to its end: it is committed, or has a file of somebody's.
func ownBundle(ctx context.Context, r *repo.Repo, root string) bool {
	if head, err := r.Resolve(ctx, "HEAD"); err == nil {
		if files, err := r.Tree(head); err == nil {
			if _, err := fs.Stat(files, path.Clean(root)); err == nil {
				return true
			}
		}
	}
	ours := map[string][]byte{}
	for _, f := range starter(r) {
		ours[f.Path] = f.Data
	}
	dir := os.DirFS(filepath.Join(r.Root(), filepath.FromSlash(root)))
	err := fs.WalkDir(dir, ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || e.IsDir():
			return err
		case strings.HasPrefix(e.Name(), "."): // no atom; a kill leaves such drafts
			return nil
		case !e.Type().IsRegular():
			return fs.ErrExist
		}
		b, err := fs.ReadFile(dir, p)
		if err != nil || !bytes.Equal(unready(b), unready(ours["knowledge/"+p])) {
			return fs.ErrExist
		}
		return nil
	})
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// prTemplate is the file a forge opens a pull request with.
const prTemplate = "pull_request_template.md"

// hasTemplate reports whether the repository has one already, in any of the
// places and spellings that a forge looks for: two would hide each other.
func hasTemplate(r *repo.Repo) bool {
	for _, dir := range []string{"", ".github", "docs"} {
		entries, err := os.ReadDir(filepath.Join(r.Root(), dir))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasPrefix(strings.ToLower(e.Name()), "pull_request_template") {
				return true
			}
		}
	}
	return false
}

// lay writes the files that are not there yet and returns their names, sorted.
func lay(r *repo.Repo, ch repo.Changes) ([]string, error) {
	wrote := []string{}
	for name := range ch {
		_, err := os.Lstat(filepath.Join(r.Root(), filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			wrote = append(wrote, name)
		case err != nil:
			return nil, err
		default:
			delete(ch, name)
		}
	}
	slices.Sort(wrote)
	return wrote, r.Write(ch)
}
