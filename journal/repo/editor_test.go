package repo

import (
	"context"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// The editor is git's: GIT_EDITOR, core.editor, VISUAL, EDITOR, and git's own where the terminal can show one.
func TestEditor(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t)
	editor := func(environ ...string) string {
		return repotest.Must[string](t)(r.Editor(context.Background(), environ))
	}
	repotest.Eq(t, "none", editor("TERM=dumb"), "")
	repotest.Eq(t, "EDITOR", editor("EDITOR=joe -w"), "joe -w")
	repotest.Eq(t, "VISUAL", editor("TERM=xterm", "EDITOR=joe", "VISUAL=jed"), "jed")
	if got := editor("TERM=xterm"); strings.TrimSpace(got) == "" {
		t.Error("no editor of git's own")
	}
	repotest.Git(t, r.Root(), "config", "core.editor", "ed")
	repotest.Eq(t, "core.editor", editor("TERM=xterm", "VISUAL=jed"), "ed")
	repotest.Eq(t, "GIT_EDITOR", editor("GIT_EDITOR=vim", "VISUAL=jed"), "vim")
}
