package repo

import (
	"context"
	"time"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// SetIdentity sets user.name and user.email of this repository alone.
func (r *Repo) SetIdentity(ctx context.Context, name, email string) error {
	if err := (Signature{Name: name, Email: email, When: time.Unix(0, 0)}).Check(); err != nil {
		return err
	}
	r.settings.mu.Lock()
	defer r.settings.mu.Unlock()
	r.settings.last = nil
	for _, kv := range [][2]string{{"user.name", name}, {"user.email", email}} {
		if _, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"config", "--local", kv[0], kv[1]}}); err != nil {
			return err
		}
	}
	return nil
}
