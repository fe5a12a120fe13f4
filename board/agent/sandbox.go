package agent

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/refusal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/scratch"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
)

// secretFolders are what no program reads that odd starts, below the user's home:
// credentials by the names under which everybody keeps them.
func secretFolders() []string {
	return []string{".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".npmrc", ".pypirc", ".password-store", ".pgpass",
		".config/gh", ".config/hub", ".config/glab-cli", ".config/gcloud", ".config/git/credentials", ".config/op", ".cargo/credentials", ".cargo/credentials.toml",
		".local/share/keyrings", ".mozilla", ".config/google-chrome", ".config/chromium", ".terraform.d/credentials.tfrc.json", ".vault-token"}
}

// Hold is how a configuration holds programs: from is what odd can hold them by,
// common the git directory whose part that is odd's own nothing opens. A place in
// [sandbox] read or write that opens a secret is refused.
func Hold(from cage.Cage, s config.Sandbox, common string) (cage.Cage, error) {
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
				return cage.Cage{}, refusal.New("sandbox-secret", "odd.toml: [sandbox] %s opens %s, which contains secrets (such as %s); name only the paths that the programs need",
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

// The caches, below the git directory's odd folder.
const AgentCache, CheckCache = "agent-cache", "check-cache"

// CacheDir returns where tools of programs that are held keep things from one desk to the
// next: not the user's own caches, in which a program could leave something for the
// user's builds, and others for agents than for checks, which judge what agents make.
// Where nothing holds programs it is "", the user's own.
func CacheDir(r *repo.Repo, c cage.Cage, name string) (string, error) {
	if len(c.Self) == 0 {
		return "", nil
	}
	return r.Room(name)
}

// DeskOf returns a scratch repository as a desk.
func DeskOf(s *scratch.Clone) (session.Desk, error) {
	from, err := s.Borrows()
	return session.Desk{Tree: s.Tree(), Home: s.Home(), Temp: s.Temp(), Read: from}, err
}

// Command returns a command for a desk, with the environment and sandbox of checks.
// The caller sets Argv.
func (h Host) Command(cfg config.Config, held cage.Cage, at session.Desk) exec.Command {
	names := cfg.Pipeline.CheckEnv
	return exec.Command{Tree: at.Tree, Desk: at, Env: exec.Environment(h.Environ, names, at, h.Run), Write: exec.Listed(h.Environ, names),
		Cage: held, Network: cage.Network(cfg.Sandbox.CheckNetwork)}
}

// Run runs a command, and takes the credentials out of what it printed that it was lent.
func Run(ctx context.Context, as exec.Command) exec.Result {
	r := exec.Run(ctx, as)
	r.Output = readCredentials(as.Env).Hide(r.Output)
	return r
}
