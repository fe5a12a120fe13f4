package repo

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// runRefs are the refs to the trees that runs kept; the last part of a run's id is a ULID.
const runRefs = "refs/odd/run/"

// PruneRuns deletes refs/odd/run/* that are older than before, by the ULID in the name, and returns how many. Other
// names are left alone.
func (r *Repo) PruneRuns(ctx context.Context, before time.Time) (int, error) {
	refs, err := r.Refs(runRefs)
	if err != nil {
		return 0, err
	}
	var us []RefUpdate
	for _, u := range refs {
		id, err := ulid.ParseStrict(u.Name[strings.LastIndexAny(u.Name, "-/")+1:])
		if err == nil && ulid.Time(id.Time()).Before(before) {
			us = append(us, RefUpdate{Name: u.Name, Old: u.New})
		}
	}
	if err := r.Update(ctx, us...); err != nil {
		return 0, err
	}
	return len(us), nil
}

// KilledRuns returns the runs of this clone that were killed: a ref keeps the base of their session, and no process
// works on it. While a drain is alive it returns none, since that one frees what they held.
func (r *Repo) KilledRuns() ([]string, error) {
	runs, _, err := r.Orphans()
	if len(runs) == 0 || r.Draining() {
		return nil, err
	}
	still, _, err := r.Orphans() // a drain may just have ended
	return slices.DeleteFunc(runs, func(run string) bool { return !slices.Contains(still, run) }), err
}

// Orphans returns the runs that keep a base and hold no lock of their own, and the updates that delete those
// bases. That of a drain is drain.lock: one that lives looks like an orphan to who does not hold it.
func (r *Repo) Orphans() (runs []string, bases []RefUpdate, err error) {
	refs, err := r.Refs(basePrefix)
	for _, ref := range refs {
		if run := strings.TrimPrefix(ref.Name, basePrefix); !r.RunLives(run) {
			runs, bases = append(runs, run), append(bases, RefUpdate{Name: ref.Name, Old: ref.New})
		}
	}
	return runs, bases, err
}

// Maintain runs git's auto maintenance, which does nothing most of the time, unless maintenance.auto is off. Git
// itself checks that setting only where it starts maintenance on its own.
func (r *Repo) Maintain(ctx context.Context) error {
	s, err := r.loadSettings(ctx)
	if err != nil || s.isSet("maintenance.auto") && s.isOff("maintenance.auto") {
		return err
	}
	_, err = r.git.Run(ctx, gitcmd.Call{Args: []string{"maintenance", "run", "--auto", "--quiet"}})
	return err
}
