package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
)

func index(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "index",
		Usage: "write or update the index.md of every folder",
		Description: "odd knowledge index\n" +
			"odd knowledge index --check   # in CI\n\n" +
			"An index.md with more than headings and entries counts as hand-written, and\n" +
			"odd keeps it unless you give --force. It also keeps the text that an index has\n" +
			"about a subfolder.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "write nothing, and exit 1 if a file would change"},
			&cli.BoolFlag{Name: "force", Usage: "also replace hand-written index files, and remove index files that are not needed"},
			bundleFlag(),
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			return runIndex(c.Context, env, indexOptions{dir: c.String("bundle"), check: c.Bool("check"), force: c.Bool("force"), json: c.Bool("json")})
		},
	})
}

type indexOptions struct {
	dir                string
	check, force, json bool
}

// indexJSON is one index file that is not as it should be.
type indexJSON struct {
	Path  string         `json:"path"`
	State okf.IndexState `json:"state"`
}

func runIndex(ctx context.Context, env Env, o indexOptions) error {
	b, err := openBundle(ctx, env, o.dir)
	if err != nil {
		return err
	}
	if err := b.listable(env); err != nil {
		return err
	}
	var todo []okf.IndexFile
	for _, i := range okf.Index(os.DirFS(b.root), b.graph) {
		switch {
		case i.State == okf.IndexFresh:
		case i.State == okf.IndexWritten && !o.force:
			talk(env, "%s: kept, because somebody wrote it by hand; --force replaces it", b.place(env, i.Path, 0))
		case i.State == okf.IndexLeftover && !o.force:
			talk(env, "%s: lists a folder that has no atoms; delete it, or run the command with --force", b.place(env, i.Path, 0))
		default:
			todo = append(todo, i)
		}
	}
	if !o.check {
		if err := b.writeIndex(todo); err != nil {
			return err
		}
	}
	if err := b.printIndex(env, todo, o.json); err != nil {
		return err
	}
	if o.check && len(todo) > 0 {
		talk(env, "%s out of date; run odd knowledge index", count(len(todo), "index file"))
		return exitCode(exitFault)
	}
	return nil
}

// listable refuses to list a bundle of which a file or folder cannot be read: what is in
// it would be gone from the listing. An atom that is torn is left out, and told.
func (b bundle) listable(env Env) error {
	for _, p := range b.problems {
		if p.Code == "odd-unreadable" || p.Code == "odd-file-name" {
			return fmt.Errorf("%s: %s; %s", b.place(env, p.Path, p.Line), p.Message, p.Hint)
		}
	}
	if n := b.unread(); n > 0 {
		talk(env, "%s not listed, because odd cannot read it as an atom; odd check says why", count(n, "file"))
	}
	return nil
}

func (b bundle) printIndex(env Env, todo []okf.IndexFile, asJSON bool) error {
	list := []indexJSON{}
	var rows [][]string
	for _, i := range todo {
		list = append(list, indexJSON{i.Path, i.State})
		rows = append(rows, []string{string(i.State), b.place(env, i.Path, 0)})
	}
	if asJSON {
		return printJSON(env, list)
	}
	return printRows(env, rows)
}

func (b bundle) writeIndex(files []okf.IndexFile) error {
	for _, i := range files {
		file := filepath.Join(b.root, filepath.FromSlash(i.Path))
		if i.State == okf.IndexLeftover {
			if err := os.Remove(file); err != nil {
				return err
			}
			continue
		}
		if err := renameio.WriteFile(file, i.Want, 0o644, renameio.WithExistingPermissions()); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}
