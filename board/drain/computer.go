package drain

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
)

// computer is this computer, as far as the programs of sessions and checks run on it.
type computer struct {
	Options
	notes
	repo  *repo.Repo
	at    *snapshot
	given bool // the session works on what it is given, and in no tree
}

func (d *drain) computer() computer {
	return computer{d.Options, d.notes, d.repo, d.at, d.given != nil}
}

// newSubstrate returns the substrate that cfg names. files are the board's; replay reads its
// recording from them.
func (pc computer) newSubstrate(cfg config.Config, files fs.FS) (session.Substrate, error) {
	sandbox, err := pc.makeCage(cfg.Sandbox)
	if err != nil {
		return nil, err
	}
	return pc.Host.Substrate(cfg, files, pc.repo.Root(), sandbox)
}

func (pc computer) makeCage(s config.Sandbox) (cage.Cage, error) {
	return agent.Hold(pc.Cage, s, pc.repo.CommonDir())
}

// The bounds of each cache. A Go build cache of a large project is about 1 GB and a
// node_modules cache as much, so that 4 GB are a few projects' and still no surprise
// on a developer's disk. A cache that nobody wrote to for 30 days costs one slow build.
const (
	cacheMost   = 4 << 30
	cacheUnused = 30 * 24 * time.Hour
)

// clearCaches removes the caches that are too large or that nobody uses, where no other
// run lives that may be using one.
func (pc computer) clearCaches() {
	pins, err := pc.repo.Refs(pinned)
	if err != nil || slices.ContainsFunc(pins, func(p repo.RefUpdate) bool { return pc.repo.RunLives(strings.TrimPrefix(p.Name, pinned)) }) {
		return
	}
	for _, name := range []string{agent.AgentCache, agent.CheckCache} {
		why, err := pc.repo.ClearRoom(name, cacheMost, pc.Now().Add(-cacheUnused))
		switch {
		case err != nil:
			pc.addNote(fmt.Sprintf("%s: odd could not remove this cache: %v", name, err))
		case why != "":
			pc.say(fmt.Sprintf("%s: odd removed this cache: %s", name, why))
		}
	}
}

// checkFingerprint says what changed in the repository during a session, "" if nothing that counts. A session works in
// a scratch repository and has no reason to write to this one, but its program has the rights of the user who runs odd.
//
// Ordinary work does not change what makes git run a program or read objects from elsewhere (configuration, hooks,
// info/). A change there voids the session: odd cannot tell who made it, and the next git command would obey it. People
// commit, branch and push in the meantime, so moved refs are reported and no work is dropped for them.
func (pc computer) checkFingerprint(task string, was repo.Fingerprint) string {
	now, err := pc.repo.Fingerprint()
	if err != nil {
		return fmt.Sprintf("tampered-repository: the git directory can no longer be read: %v", err)
	}
	setup, refs := now.Since(was)
	refs = slices.DeleteFunc(refs, func(name string) bool { return strings.HasPrefix(name, "refs/remotes/") || name == "packed-refs" })
	if len(refs) > 0 { // which odd itself had no cause to move
		pc.say(fmt.Sprintf("%s: these refs changed while its session ran: %s", task, strings.Join(refs, ", ")))
	}
	if len(setup) == 0 {
		return ""
	}
	again := "odd task ready " + task
	if strings.HasPrefix(task, "run-") { // a session that no task asked for
		again = "the command again"
	}
	return fmt.Sprintf("tampered-repository: %s in the git directory changed while the session ran, and not by odd; look at it before you run git again, undo what you did not do, then run %s",
		strings.Join(setup, ", "), again)
}

// leftPatch returns what a session left on its desk where it is dropped for no fault
// of its own that is proven: the run's tree has it as left.patch.
func (a attempt) leftPatch(ctx context.Context, l left) []byte {
	if len(l.edits.Files) == 0 {
		return nil
	}
	patch, err := a.d.patchOf(ctx, a.c.base, l.edits.Files)
	if err != nil {
		a.d.addNote(fmt.Sprintf("%s: the agent's files could not be kept: %v", a.c.task.ID, err))
	}
	return patch
}
