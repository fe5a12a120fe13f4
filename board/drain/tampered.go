package drain

import (
	"context"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/journal/repo"
)

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
	return fmt.Sprintf("tampered-repository: %s in the git directory changed while the session ran, and not by odd; look at it before you run git again, undo what you did not do, then run odd task ready %s",
		strings.Join(setup, ", "), task)
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

// keepLeft keeps what a session left on its desk where it is dropped for no fault
// of its own that is proven: the run's tree has it as left.patch.
func (a *attempt) keepLeft(ctx context.Context) {
	if len(a.w.left.edits.Files) == 0 {
		return
	}
	commit, err := a.d.repo.MakeEdits(ctx, []repo.OID{a.c.base}, a.w.left.edits.Files, a.d.agentSignature(), "what a session left\n")
	if err == nil {
		a.w.patch, err = a.d.repo.Patch(ctx, a.c.base, commit)
	}
	if err != nil {
		a.d.addNote(fmt.Sprintf("%s: the agent's files could not be kept: %v", a.c.task.ID, err))
	}
}
