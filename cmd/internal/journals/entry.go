package journals

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
)

// Change is one commit of a person: files, and the journal's entry about them.
type Change struct {
	Changes repo.Changes // by repository path
	Subject string
	Entry   journal.Entry
}

// Writer is who writes an entry: their name in files, the time, and their journal file of today.
type Writer struct{ By, At, Day string }

// CommitEntry commits what build makes together with its journal entry, or stages both with
// --no-commit. It returns the commit, and the line of the entry in its file.
func CommitEntry(c *cli.Context, env console.Env, act string, person bool, build func(*workspace.Board, Writer) (Change, error)) (oid repo.OID, line int, err error) {
	w, err := workspace.Open(c.Context, env)
	if err != nil {
		return "", 0, err
	}
	name, by, err := land.CheckActor(c.Context, w, act, person)
	if err != nil {
		return "", 0, err
	}
	who := Writer{by, env.Now().UTC().Format(time.RFC3339), JournalDay(w.Env, cmp.Or(c.String("slug"), name))}
	oid, err = land.WriteOrStage(c, w, land.AsPerson, func(v *workspace.Board) (repo.Changes, string, error) {
		act, err := build(v, who)
		if err != nil {
			return nil, "", err
		}
		name, e := v.RepoPath(who.Day), act.Entry
		types, _ := typesOf(v.Graph, v.Config.Root)
		e.Mark(types.Score(e))
		b, err := fs.ReadFile(v.Bundle, who.Day)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
		if b, err = types.Append(b, e); err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		ch := repo.Changes{name: b}
		maps.Copy(ch, act.Changes)
		line = bytes.Count(b, []byte("\n"))
		return ch, land.Message(act.Subject, ""), nil
	})
	return oid, line, err
}
