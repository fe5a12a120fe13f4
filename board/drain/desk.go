package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/scratch"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/exec"
)

// desk is the scratch repository of one session, made when its substrate asks
// for it and kept over all its tries and turns.
type desk struct {
	d     *drain
	base  repo.OID
	begin []repo.FileEdit // what its tree has that the base has not
	s     *scratch.Clone
}

// makeTree implements session.Request.Desk: it checks out the base into a scratch repository.
func (k *desk) makeTree(ctx context.Context) (session.Desk, error) {
	if k.s == nil {
		base := k.base
		var err error
		if len(k.begin) > 0 {
			if base, err = k.d.repo.MakeEdits(ctx, []repo.OID{base}, k.begin, k.d.agentSignature(), "what the session before made\n"); err != nil {
				return session.Desk{}, err
			}
		}
		s, err := scratch.New(ctx, k.d.repo, k.d.Temp, base, k.d.agentSignature())
		if err != nil {
			return session.Desk{}, err
		}
		k.s = s
	}
	return k.withCache()
}

// withCache returns the desk with what an agent's tools keep from one session to the next.
func (k *desk) withCache() (session.Desk, error) {
	at, err := agent.DeskOf(k.s)
	if err == nil {
		at.Cache, err = agent.CacheDir(k.d.repo, k.d.Cage, agent.AgentCache)
	}
	if at.Cache != "" {
		at.Read = append(at.Read, exec.Modules(k.d.Environ))
	}
	return at, err
}

// diff is what was changed on the desk so far, as a patch of its base. It runs no git
// on the desk.
func (k *desk) diff(ctx context.Context, path string) (string, error) {
	if k.s == nil {
		return "", nil
	}
	is, err := k.s.Edits(ctx, scratch.DefaultLimits())
	if err != nil || len(is.Files) == 0 {
		return "", err
	}
	out, err := k.d.patchOf(ctx, is.Base, is.Files, slices.DeleteFunc([]string{path}, func(p string) bool { return p == "" })...)
	return string(out), err
}

// patchOf returns what a session changed on base, as a patch.
func (bw *boardWriter) patchOf(ctx context.Context, base repo.OID, files []repo.FileEdit, paths ...string) ([]byte, error) {
	commit, err := bw.repo.MakeEdits(ctx, []repo.OID{base}, files, bw.agentSignature(), "what a session changed\n")
	if err != nil {
		return nil, err
	}
	return bw.repo.Patch(ctx, base, commit, paths...)
}

// resetTree takes what was done on the desk away, so that whoever takes over begins
// at the base.
func (k *desk) resetTree() error {
	if k.s == nil {
		return nil
	}
	err := k.s.Close()
	k.s = nil
	return err
}

// left is what a session left on its desk: a change of the base, or why it is
// none. The zero value is a session without a desk, or with a tidy one.
type left struct {
	edits   scratch.Edits
	refused scratch.Unfits // everything that cannot be part of a change; edits has no files then
	fault   string         // why the desk could not be read at all
}

// readTime is how long a desk is read at most.
const readTime = 2 * time.Minute

// takeLeft reads what was left on the desk and removes it. A session that was
// interrupted left nothing that counts.
func (k *desk) takeLeft(ctx context.Context) (l left) {
	if k.s == nil {
		return l
	}
	if ctx.Err() == nil {
		in, cancel := context.WithTimeout(ctx, readTime)
		defer cancel()
		var err error
		if l.edits, err = k.s.Edits(in, scratch.DefaultLimits()); err != nil && !errors.As(err, &l.refused) {
			l.fault = err.Error()
		}
	}
	if err := k.s.Close(); err != nil {
		k.d.addNote(err.Error())
	}
	k.s = nil
	return l
}

func (l left) scratchRecord() *event.Scratch {
	n := event.Scratch{Changed: int64(len(l.edits.Files)), Ignored: int64(l.edits.Ignored), Refused: l.listCodes()}
	if n.Changed == 0 && n.Ignored == 0 && len(n.Refused) == 0 {
		return nil
	}
	return &n
}

// listCodes returns the reasons why what was left is no change, each once and in order.
func (l left) listCodes() []string {
	var out []string
	for _, u := range l.refused {
		if !slices.Contains(out, u.Code) {
			out = append(out, u.Code)
		}
	}
	if l.fault != "" {
		out = append(out, "unreadable")
	}
	return out
}

// maxProducts is how many products of builds a note names.
const maxProducts = 5

// describeProducts says what was left out as the product of a build, "" where nothing was.
func (l left) describeProducts() string {
	all := l.edits.Products
	if len(all) == 0 {
		return ""
	}
	more := ""
	if n := len(all) - maxProducts; n > 0 {
		all, more = all[:maxProducts], fmt.Sprintf(" and %d more", n)
	}
	return "left out build products: " + cleanText(strings.Join(all, ", ")) + more + "; name them in .gitignore"
}

func (l left) report(say func(string), task string) {
	switch n := len(l.edits.Files); {
	case l.fault != "":
		say(fmt.Sprintf("%s: the agent's scratch clone could not be read, so its changes are dropped: %s", task, l.fault))
	case len(l.refused) > 0:
		say(fmt.Sprintf("%s: the agent's changes in its scratch clone are dropped: %s", task, strings.ReplaceAll(l.refused.Error(), "\n", "; ")))
	case n > 0:
		say(fmt.Sprintf("%s: dropped %d files that the agent changed in its scratch clone, because the task has no paths; odd task edit --path GLOB allows file changes", task, n))
	}
}

// clearDesks removes the scratch repositories of runs that were killed. What cannot be removed is
// told, and is no reason not to work.
func (pc computer) clearDesks() {
	if _, err := scratch.Sweep(pc.Temp); err != nil {
		pc.addNote(err.Error())
	}
}

// checkDesks refuses where an agent's program would have no scratch repository to work in, or no
// sandbox that odd.toml demands.
func (pc computer) checkDesks(ctx context.Context) error {
	if !slices.ContainsFunc(pc.at.cfg.Usable(), func(name string) bool { return agent.KindOf(name).Program }) || pc.given {
		return nil
	}
	if _, err := scratch.Home(pc.repo, pc.Temp); err != nil {
		return refuse("no-scratch", "%v", err)
	}
	sandbox, err := pc.makeCage(pc.at.cfg.Sandbox)
	if err != nil {
		return err
	}
	return agent.Demand(ctx, sandbox, pc.Temp, pc.at.cfg.Sandbox)
}
