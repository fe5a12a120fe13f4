package atoms

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

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

func indexVerb(env console.Env) *cli.Command {
	return verb.New("index", "write or update the index.md of every folder",
		"odd knowledge index\n"+
			"odd knowledge index --check   # in CI\n\n"+
			"An index.md that is there keeps its order, its words and its other text. odd\n"+
			"adds entries for new atoms, removes those of atoms that are gone, and leads\n"+
			"those of renamed atoms to the new name. What an entry says follows the atom\n"+
			"as long as nobody changed the entry. To start anew, delete the file first.",
		workspace.OnBundle(env, runIndex),
		&cli.BoolFlag{Name: "check", Usage: "write nothing, and exit 1 if a file would change"},
		verb.BundleFlag())
}

type indexJSON struct {
	Path  string         `json:"path"`
	State okf.IndexState `json:"state"`
}

func runIndex(c *cli.Context, env console.Env, b workspace.Bundle) error {
	if err := checkListable(b, env); err != nil {
		return err
	}
	var was okf.IndexedAs // nil without a commit
	if b.Repo != nil && b.Prefix != "" {
		if head, err := b.Repo.Ref("HEAD"); err == nil {
			was = indexedAs(c.Context, b.Repo, head, b.Prefix)
		}
	}
	var todo []okf.IndexFile
	for _, i := range okf.Index(os.DirFS(b.Root), b.Graph, was) {
		switch i.State {
		case okf.IndexFresh:
		case okf.IndexWritten:
			console.Talk(env, "%s: kept, because it lists no atoms; delete it to have it written anew", b.ShownPlace(env, i.Path, 0))
		default:
			todo = append(todo, i)
		}
	}
	if !c.Bool("check") {
		for _, i := range todo {
			file := filepath.Join(b.Root, filepath.FromSlash(i.Path))
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
	if err := console.ShowList(env, c.Bool("json"), list, "", func(i indexJSON) []string {
		said := string(i.State)
		if !c.Bool("check") {
			said = did[i.State]
		}
		return []string{said, b.ShownPlace(env, i.Path, 0)}
	}); err != nil {
		return err
	}
	if c.Bool("check") && len(todo) > 0 {
		console.Talk(env, "%s out of date; run odd knowledge index", console.CountNoun(len(todo), "index file"))
		return verb.ExitCode(verb.ExitFault)
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
func checkListable(b workspace.Bundle, env console.Env) error {
	for _, p := range b.Problems {
		if p.Code == "odd-unreadable" || p.Code == "odd-file-name" {
			return fmt.Errorf("%s: %s; %s", b.ShownPlace(env, p.Path, p.Line), p.Message, p.Hint)
		}
	}
	if n := b.CountUnread(); n > 0 {
		console.Talk(env, "%s not listed, because odd cannot read it as an atom; odd check says why", console.CountNoun(n, "file"))
	}
	return nil
}

// UpdateIndexes brings the index.md of the folders of atoms up to date, and of those around
// them, and makes one in a folder that is new where others have one. merged is the tree that has
// the atoms. Proposals never carry indexes, since two proposals of one folder would conflict.
func UpdateIndexes(ctx context.Context, v *workspace.Board, ch repo.Changes, atoms []string, merged fs.FS) error {
	root, err := fs.Sub(merged, v.Config.Root)
	if err != nil {
		return err
	}
	g, _, err := okf.Load(root)
	if err != nil {
		return err
	}
	touched := map[string]bool{}
	for _, name := range atoms {
		for dir := strings.TrimPrefix(name, v.Config.Root+"/"); dir != "."; {
			dir = path.Dir(dir)
			touched[dir] = true
		}
	}
	was := indexedAs(ctx, v.Repo, v.Tip, v.Config.Root)
	now := func(index, atom string) *okf.Atom {
		if !touched[path.Dir(index)] {
			return nil
		}
		return was(index, atom)
	}
	for _, i := range okf.StaleIndex(root, g, now) {
		dir := path.Dir(i.Path)
		if _, err := fs.Stat(v.Bundle, dir); touched[dir] && (i.State == okf.IndexStale || err != nil) {
			ch[v.RepoPath(i.Path)] = i.Want
		}
	}
	return nil
}
