package drain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/failover"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// snapshot is the board branch at one commit: what drain decides from. It never
// looks at a work tree. Its methods answer from that commit alone: they read no clock, no
// ref and nothing of the run.
type snapshot struct {
	tip      repo.OID
	cfg      config.Config
	files    fs.FS // the whole commit
	bundle   fs.FS // of them
	graph    *okf.Graph
	problems []okf.Problem
	board    func() boardTasks
	toml     []byte // odd.toml, of which cfg was read
	state    *state.State
	spend    event.Spend
	slow     *overview.SlowLoop // nil until somebody asks
	tries    []failover.Try     // the same
	overlaps []*Overlap         // the same
}

// boardTasks are the tasks of a snapshot. To read those of a large board takes most of the time,
// and a question about one task needs no other.
type boardTasks struct {
	tasks  []board.Task
	unread []okf.Problem // of files on the board that cannot be read, or whose id another has
	rows   []*board.Row  // of the tasks
	index  board.Index
}

func (s *snapshot) readTasks() boardTasks {
	tasks, unread, err := s.state.Tasks()
	if err != nil {
		panic("unreachable: " + err.Error()) // the atoms were read
	}
	rows := board.RowsOf(tasks)
	return boardTasks{tasks, slices.Concat(unread, board.Unread(s.problems)), rows, board.IndexOf(rows)}
}

func (s *snapshot) tasks() []board.Task   { return s.board().tasks }
func (s *snapshot) unread() []okf.Problem { return s.board().unread }
func (s *snapshot) rows() []*board.Row    { return s.board().rows }
func (s *snapshot) index() board.Index    { return s.board().index }

// readSnapshot reads the board at tip. When before is the snapshot of an earlier tip,
// only what changed since is read again.
func readSnapshot(r *repo.Repo, tip repo.OID, before *snapshot) (*snapshot, error) {
	if before != nil && before.tip == tip {
		return before, nil
	}
	files, err := r.Tree(tip)
	if err != nil {
		return nil, err
	}
	return snapshotOf(tip, files, r, before)
}

// snapshotOf is readSnapshot of files that are already at hand. Without a cache nothing is
// kept between processes.
func snapshotOf(tip repo.OID, files fs.FS, cache state.Cache, before *snapshot) (*snapshot, error) {
	s := &snapshot{tip: tip, files: files}
	b, err := fs.ReadFile(files, "odd.toml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse("no-config", "odd.toml is not committed on the board branch; run odd init if there is none, then git add odd.toml && git commit")
	}
	if err != nil {
		return nil, fmt.Errorf("odd.toml: %w", err)
	}
	if s.toml = b; before != nil && bytes.Equal(b, before.toml) {
		s.cfg = before.cfg
	} else if s.cfg, err = config.Parse("odd.toml", b); err != nil {
		return nil, err
	}
	s.bundle, err = s.cfg.Folder(s.files)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse("no-bundle", "%v", err)
	}
	if err != nil {
		return nil, err
	}
	if before == nil || before.cfg.Root != s.cfg.Root {
		s.state = state.Of(s.bundle, cache)
	} else {
		s.state = before.state.Next(s.bundle)
	}
	if s.graph, s.problems, err = s.state.Atoms(); err != nil {
		return nil, err
	}
	s.board = sync.OnceValue(s.readTasks)
	if s.spend, err = s.state.Spend(); err != nil { // money fails closed
		return nil, refuse("ledger", "%s/%v; restore the file from git history", s.cfg.Root, err)
	}
	return s, nil
}

// findTask finds a task by any of its names. That it is not there, or is none, is no rule's
// refusal.
func (s *snapshot) findTask(name string) (board.Task, error) {
	a, err := s.graph.Find(name)
	if err != nil {
		return board.Task{}, fmt.Errorf("%s; odd task list shows the tasks", board.NoTask(err))
	}
	t, ok := board.Find(s.tasks(), a.ID)
	if !ok {
		for _, p := range s.unread() {
			if p.Path == a.Path {
				return board.Task{}, p
			}
		}
		return board.Task{}, fmt.Errorf("%s is a %s, not a task; odd task list shows the tasks", name, a.Type)
	}
	return t, nil
}

// pathOf is a repository path of a path below the bundle root.
func (s *snapshot) pathOf(name string) string { return path.Join(s.cfg.Root, name) }

// pathBelow is the path below the bundle root of a repository path; another path is as it is.
func (s *snapshot) pathBelow(name string) string { return strings.TrimPrefix(name, s.cfg.Root+"/") }

// keepState keeps what was read of the ledger for the next process.
func (bw *boardWriter) keepState() {
	if bw.at != nil { // nil where the board could not be looked at again
		bw.at.state.Keep()
	}
}

// checkClock refuses a clock that ran backwards past the ledger: the times of claims and the months would lie.
// Where it was the ledger's that ran ahead, a person's odd drain resume says so.
func (bw *boardWriter) checkClock(ctx context.Context) error {
	const skew = 5 * time.Minute
	now, last := bw.log.now(), bw.at.spend.Last
	if !now.Before(last.Add(-skew)) {
		return nil
	}
	from, err := bw.resumedAt(ctx)
	if err != nil || !from.IsZero() && !now.Before(from.Add(-skew)) {
		return err
	}
	return refuse("clock", "this computer's clock says %s, but the ledger was last written at %s; correct the clock, or if an earlier run had a clock that was ahead: odd drain pause \"a clock was ahead\", then odd drain resume",
		now.UTC().Format(time.RFC3339), last.UTC().Format(time.RFC3339))
}

// resumedAt returns when a person let drains run again on top of the last record of the
// ledgers, the zero time if nobody did.
func (bw *boardWriter) resumedAt(ctx context.Context) (time.Time, error) {
	for c, err := range bw.repo.PathLog(ctx, bw.at.tip, bw.at.pathOf("pause.toml")) {
		if err != nil {
			return time.Time{}, err
		}
		if len(c.Trailer("Odd-Resumed-By")) != 1 || strings.EqualFold(c.Author.Email, bw.at.cfg.AgentEmail) {
			continue
		}
		files, err := bw.repo.Tree(c.OID)
		if err != nil {
			return time.Time{}, err
		}
		bundle, err := bw.at.cfg.Folder(files)
		if err != nil {
			return time.Time{}, err
		}
		then, err := state.Of(bundle, nil).Spend()
		if err != nil || then.Last.Before(bw.at.spend.Last) {
			return time.Time{}, err
		}
		return c.Author.When, nil
	}
	return time.Time{}, nil
}
