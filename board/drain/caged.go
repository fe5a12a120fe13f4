package drain

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
)

// place is this computer, as far as the programs of sessions and checks run on it.
type place struct {
	Options
	notes
	repo  *repo.Repo
	at    *snapshot
	given bool // the session works on what it is given, and in no tree
}

func (d *drain) place() place { return place{d.Options, d.notes, d.repo, d.at, d.given != nil} }

// secretFolders are what no program reads that odd starts, below the user's home:
// credentials by the names under which everybody keeps them.
func secretFolders() []string {
	return []string{".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".npmrc", ".pypirc", ".password-store", ".pgpass",
		".config/gh", ".config/hub", ".config/glab-cli", ".config/gcloud", ".config/git/credentials", ".config/op", ".cargo/credentials", ".cargo/credentials.toml",
		".local/share/keyrings", ".mozilla", ".config/google-chrome", ".config/chromium", ".terraform.d/credentials.tfrc.json", ".vault-token"}
}

// Caged is how a configuration holds programs: from is what odd can hold them by,
// common the git directory whose part that is odd's own nothing opens. A place in
// [sandbox] read or write that opens a secret is refused.
func Caged(from cage.Cage, s config.Sandbox, common string) (cage.Cage, error) {
	c := from
	c.AnySockets = s.UnixSockets
	c.Enforce = cage.Enforce(s.Enforce)
	c.Limits = cage.Limits{File: int64(s.FileMB) << 20, Desk: int64(s.DiskMB) << 20, Memory: int64(s.MemoryMB) << 20, CPU: s.CPU, Files: s.OpenFiles, Processes: s.Processes}
	c.Hidden = []string{filepath.Join(common, "odd")}
	if c.Home != "" {
		for _, at := range secretFolders() {
			c.Hidden = append(c.Hidden, filepath.Join(c.Home, at))
		}
	}
	for _, list := range []struct {
		key  string
		from []string
		to   *[]string
	}{{"read", s.Read, &c.Read}, {"write", s.Write, &c.Write}} {
		for _, at := range expandHome(c.Home, list.from) {
			if c.Opens(at) {
				return cage.Cage{}, refuse("sandbox-secret", "odd.toml: [sandbox] %s opens %s, which contains secrets (such as %s); name only the paths that the programs need",
					list.key, at, strings.Join([]string{"~/.ssh", "~/.aws", filepath.Join(common, "odd")}, ", "))
			}
			*list.to = append(*list.to, at)
		}
	}
	return c, nil
}

// expandHome returns paths with home, the user's, in the place of "~". Paths below a home that is not known,
// "", are left out.
func expandHome(home string, paths []string) (out []string) {
	for _, at := range paths {
		rest, below := strings.CutPrefix(at, "~/")
		switch {
		case !below:
			out = append(out, at)
		case home != "":
			out = append(out, filepath.Join(home, rest))
		}
	}
	return out
}

// Demand is the refusal of a configuration that demands more than this machine
// gives: of what agents run on, and of what their checks run on. It starts a
// program on each to see.
func Demand(ctx context.Context, held cage.Cage, temp string, s config.Sandbox) error {
	for _, n := range slices.Compact([]string{s.Network, s.CheckNetwork}) {
		if err := held.Demand(ctx, temp, cage.Network(n)); err != nil {
			return err
		}
	}
	return nil
}

func (pl place) makeCage(s config.Sandbox) (cage.Cage, error) {
	return Caged(pl.Cage, s, pl.repo.CommonDir())
}

// The caches, below the git directory's odd folder.
const agentCache, checkCache = "agent-cache", "check-cache"

// cacheDir returns where tools of programs that are held keep things from one desk to the
// next: not the user's own caches, in which a program could leave something for the
// user's builds, and others for agents than for checks, which judge what agents make.
// Where nothing holds programs it is "", the user's own.
func cacheDir(r *repo.Repo, c cage.Cage, name string) (string, error) {
	if len(c.Self) == 0 {
		return "", nil
	}
	return r.Room(name)
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
func (pl place) clearCaches() {
	pins, err := pl.repo.Refs(pinned)
	if pl.Temp == "" || err != nil || slices.ContainsFunc(pins, func(p repo.RefUpdate) bool { return pl.repo.RunLives(strings.TrimPrefix(p.Name, pinned)) }) {
		return
	}
	for _, name := range []string{agentCache, checkCache} {
		why, err := pl.repo.ClearRoom(name, cacheMost, pl.Now().Add(-cacheUnused))
		switch {
		case err != nil:
			pl.addNote(fmt.Sprintf("%s: odd could not remove this cache: %v", name, err))
		case why != "":
			pl.say(fmt.Sprintf("%s: odd removed this cache: %s", name, why))
		}
	}
}

// sessionCommand returns a command for a desk, with the environment and sandbox of checks.
// The caller sets Argv.
func sessionCommand(environ []string, cfg config.Config, held cage.Cage, at session.Desk, run string) exec.Command {
	names := cfg.Pipeline.CheckEnv
	return exec.Command{Tree: at.Tree, Desk: at, Env: exec.Environment(environ, names, at, run), Write: exec.Listed(environ, names),
		Cage: held, Network: cage.Network(cfg.Sandbox.CheckNetwork)}
}

// checkFingerprint says what changed in the repository during a session, "" if nothing that counts. A session works in
// a scratch repository and has no reason to write to this one, but its program has the rights of the user who runs odd.
//
// Ordinary work does not change what makes git run a program or read objects from elsewhere (configuration, hooks,
// info/). A change there voids the session: odd cannot tell who made it, and the next git command would obey it. People
// commit, branch and push in the meantime, so moved refs are reported and no work is dropped for them.
func (pl place) checkFingerprint(task string, was repo.Fingerprint) string {
	now, err := pl.repo.Fingerprint()
	if err != nil {
		return fmt.Sprintf("tampered-repository: the git directory can no longer be read: %v", err)
	}
	setup, refs := now.Since(was)
	refs = otherChanges(refs)
	if len(refs) > 0 {
		pl.say(fmt.Sprintf("%s: these refs changed while its session ran: %s", task, strings.Join(refs, ", ")))
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

// otherChanges returns the refs that odd itself has no cause to move during a session.
func otherChanges(refs []string) (out []string) {
	for _, name := range refs {
		if !strings.HasPrefix(name, "refs/remotes/") && name != "packed-refs" {
			out = append(out, name)
		}
	}
	return out
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
