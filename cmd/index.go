package cmd

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

func indexVerb(env Env) *cli.Command {
	return verb("index", "write or update the index.md of every folder",
		"odd knowledge index\n"+
			"odd knowledge index --check   # in CI\n\n"+
			"An index.md that is there keeps its order, its words and its other text. odd\n"+
			"adds entries for new atoms, removes those of atoms that are gone, and leads\n"+
			"those of renamed atoms to the new name. What an entry says follows the atom\n"+
			"as long as nobody changed the entry. To start anew, delete the file first.",
		do(env, runIndex),
		&cli.BoolFlag{Name: "check", Usage: "write nothing, and exit 1 if a file would change"},
		bundleFlag())
}

type indexJSON struct {
	Path  string         `json:"path"`
	State okf.IndexState `json:"state"`
}

func runIndex(c *cli.Context, env Env) error {
	b, err := sourceFor(c).loadBundle(c.Context, env)
	if err != nil {
		return err
	}
	if err := b.checkListable(env); err != nil {
		return err
	}
	var was okf.IndexedAs // nil without a commit
	if b.repo != nil && b.prefix != "" {
		if head, err := b.repo.Ref("HEAD"); err == nil {
			was = indexedAs(c.Context, b.repo, head, b.prefix)
		}
	}
	var todo []okf.IndexFile
	for _, i := range okf.Index(os.DirFS(b.root), b.graph, was) {
		switch i.State {
		case okf.IndexFresh:
		case okf.IndexWritten:
			talk(env, "%s: kept, because it lists no atoms; delete it to have it written anew", b.shownPlace(env, i.Path, 0))
		default:
			todo = append(todo, i)
		}
	}
	if !c.Bool("check") {
		for _, i := range todo {
			file := filepath.Join(b.root, filepath.FromSlash(i.Path))
			if err := renameio.WriteFile(file, i.Want, 0o644, renameio.WithExistingPermissions()); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	did := map[okf.IndexState]string{okf.IndexStale: "updated", okf.IndexMissing: "added"}
	list := make([]indexJSON, len(todo))
	for i, of := range todo {
		list[i] = indexJSON{of.Path, of.State}
	}
	if err := showList(env, c.Bool("json"), list, "", func(i indexJSON) []string {
		said := string(i.State)
		if !c.Bool("check") {
			said = did[i.State]
		}
		return []string{said, b.shownPlace(env, i.Path, 0)}
	}); err != nil {
		return err
	}
	if c.Bool("check") && len(todo) > 0 {
		talk(env, "%s out of date; run odd knowledge index", countNoun(len(todo), "index file"))
		return exitCode(exitFault)
	}
	return nil
}

// indexedAs reads atoms of the bundle at root as they were in the last commit up to tip
// that changed an index. Each index is looked up once.
func indexedAs(ctx context.Context, r *repo.Repo, tip repo.OID, root string) okf.IndexedAs {
	trees := map[string]fs.FS{}
	return func(index, atom string) *okf.Atom {
		tree, known := trees[index]
		if !known {
			for c, err := range r.PathLog(ctx, tip, path.Join(root, index)) {
				if err == nil {
					tree, _ = r.Tree(c.OID)
				}
				break
			}
			trees[index] = tree
		}
		if tree == nil {
			return nil
		}
		b, err := fs.ReadFile(tree, path.Join(root, atom))
		if err != nil {
			return nil
		}
		a, err := okf.Parse(atom, b)
		if err != nil {
			return nil
		}
		return &a
	}
}

// checkListable refuses to list a bundle of which a file or folder cannot be read: what is in
// it would be gone from the listing. An atom that is torn is left out, and told.
func (b bundle) checkListable(env Env) error {
	for _, p := range b.problems {
		if p.Code == "odd-unreadable" || p.Code == "odd-file-name" {
			return fmt.Errorf("%s: %s; %s", b.shownPlace(env, p.Path, p.Line), p.Message, p.Hint)
		}
	}
	if n := b.countUnread(); n > 0 {
		talk(env, "%s not listed, because odd cannot read it as an atom; odd check says why", countNoun(n, "file"))
	}
	return nil
}

// updateIndexes brings the index.md of the folders of atoms up to date, and of those around
// them, and makes one in a folder that is new where others have one. merged is the tree that has
// the atoms. Proposals never carry indexes, since two proposals of one folder would conflict.
func (v *view) updateIndexes(ctx context.Context, ch repo.Changes, atoms []string, merged fs.FS) error {
	root, err := fs.Sub(merged, v.cfg.Root)
	if err != nil {
		return err
	}
	g, _, err := okf.Load(root)
	if err != nil {
		return err
	}
	touched := map[string]bool{}
	for _, name := range atoms {
		for dir := strings.TrimPrefix(name, v.cfg.Root+"/"); dir != "."; {
			dir = path.Dir(dir)
			touched[dir] = true
		}
	}
	was := indexedAs(ctx, v.repo, v.tip, v.cfg.Root)
	now := func(index, atom string) *okf.Atom {
		if !touched[path.Dir(index)] {
			return nil
		}
		return was(index, atom)
	}
	for _, i := range okf.StaleIndex(root, g, now) {
		dir := path.Dir(i.Path)
		if _, err := fs.Stat(v.bundle, dir); touched[dir] && (i.State == okf.IndexStale || err != nil) {
			ch[v.repoPath(i.Path)] = i.Want
		}
	}
	return nil
}
