package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

func journalAdd(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "add",
		Usage:       "add an entry to your journal of the day",
		ArgsUsage:   "TYPE TITLE CONTENT|-",
		Description: "odd journal add D \"Keep JSON lines\" \"A line is written once, so it diffs well.\" --quality 4/5\ngit log -1 --format=%b | odd journal add O-open \"Who owns the glossary?\" -",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "quality", Usage: "`N/MAX`, by your own judgement"},
			&cli.StringFlag{Name: "slug", Usage: "end the file's name in `NAME` (default: your own)"},
			&cli.BoolFlag{Name: "no-commit", Usage: "write and stage only"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 3 {
				return usage("journal add: want a type, a title and a content (or -); see odd help journal add")
			}
			e, err := journalEntry(env, c.Args().Slice(), c.String("quality"))
			if err != nil {
				return err
			}
			return runJournalAdd(c.Context, env, e, c.String("slug"), c.Bool("no-commit"), c.Bool("json"))
		},
	})
}

// journalEntry makes an entry of the three arguments.
func journalEntry(env Env, args []string, quality string) (journal.Entry, error) {
	e := journal.Entry{Title: strings.Join(strings.Fields(okf.Visible(args[1])), " "), Content: args[2]}
	e.Type, e.Facet, _ = strings.Cut(args[0], "-")
	if e.ID() != args[0] || journal.TypeName(e.Type, e.Facet) == "" {
		return e, usage("journal add: unknown type %q; known are %s", args[0], journal.Standard().Letters())
	}
	if e.Content == "-" {
		b, err := io.ReadAll(env.Stdin)
		if err != nil {
			return e, err
		}
		e.Content = strings.TrimSpace(string(b))
	}
	if e.Title == "" || strings.TrimSpace(e.Content) == "" {
		return e, usage("journal add: the title or the content is empty")
	}
	if quality == "" {
		return e, nil
	}
	n, most, ok := strings.Cut(quality, "/")
	score, err := strconv.ParseUint(n, 10, 8)
	high, errHigh := strconv.ParseUint(most, 10, 8)
	if !ok || err != nil || errHigh != nil || high == 0 || score > high {
		return e, usage("journal add: --quality %s: want N/MAX, like 4/5", quality)
	}
	e.Score, e.Max, e.Level = fmt.Sprint(score), fmt.Sprint(high), journal.Level(int(score), int(high))
	return e, nil
}

func runJournalAdd(ctx context.Context, env Env, e journal.Entry, slug string, noCommit, asJSON bool) error {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return err
	}
	who, err := w.repo.Identity(ctx)
	if err != nil {
		return err
	}
	day := journal.Path(env.Now(), strings.ToLower(or(slug, or(who.Name, who.Email))))
	name := ""
	build := func(v *view) (repo.Changes, string, error) {
		name = v.file(day)
		b, err := fs.ReadFile(v.bundle, day)
		if noCommit {
			b, err = os.ReadFile(filepath.Join(w.repo.Root(), filepath.FromSlash(name)))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
		b, err = journal.Append(b, e)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		return repo.Changes{name: b}, trailers("journal: "+e.Title, ""), nil
	}
	var oid repo.OID
	if noCommit {
		err = w.stage(ctx, build)
	} else {
		oid, err = w.write(ctx, build)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env, map[string]string{"file": name, "type": e.ID(), "title": e.Title, "commit": string(oid)})
	}
	return printRows(env, [][]string{{name, e.ID(), e.Title}})
}
