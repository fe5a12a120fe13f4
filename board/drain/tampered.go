package drain

import (
	"context"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/journal/repo"
)

// checkFooting says what of the repository is another than before the session, "" for
// nothing that counts. A session works on a desk of its own and has nothing to write
// here; its program has the rights of the user who runs odd all the same.
//
// What makes git run a program or read objects from elsewhere (configuration, hooks,
// info/) nobody changes by working, so that whatever changes there while a session
// runs voids it: odd cannot tell who it was, and the next git command would obey.
// People commit, branch and push meanwhile: HEAD and refs that move are told, and
// are no reason to drop work.
func (d *drain) checkFooting(task string, was repo.Fingerprint) string {
	now, err := d.repo.Fingerprint()
	if err != nil {
		return fmt.Sprintf("tampered-repository: the git directory can no longer be read: %v", err)
	}
	ground, stand := now.Since(was)
	stand = d.otherChanges(stand)
	if len(stand) > 0 {
		d.Progress(fmt.Sprintf("%s: these refs changed while its session ran: %s", task, strings.Join(stand, ", ")))
	}
	if len(ground) == 0 {
		return ""
	}
	return fmt.Sprintf("tampered-repository: %s in the git directory changed while the session ran, and not by odd; look at it before you run git again, undo what you did not do, then run odd task ready %s",
		strings.Join(ground, ", "), task)
}

// otherChanges returns the refs that odd itself has no cause to move during a session.
func (d *drain) otherChanges(stand []string) (out []string) {
	for _, name := range stand {
		if !strings.HasPrefix(name, "refs/remotes/") && name != "packed-refs" {
			out = append(out, name)
		}
	}
	return out
}

// keepLeft keeps what a session left on its desk where it is dropped for no fault
// of its own that is proven: the run's tree has it as left.patch.
func (d *drain) keepLeft(ctx context.Context, c *claim, w *work) {
	if len(w.left.edits.Files) == 0 {
		return
	}
	commit, err := d.repo.MakeEdits(ctx, []repo.OID{c.base}, w.left.edits.Files, d.agentSignature(), "what a session left\n")
	if err == nil {
		w.patch, err = d.repo.Patch(ctx, c.base, commit)
	}
	if err != nil {
		d.addNote(fmt.Sprintf("%s: the agent's files could not be kept: %v", c.task.ID, err))
	}
}
