package repo

import (
	"context"
	"strings"
	"testing"
)

// The editor is git's: GIT_EDITOR, core.editor, VISUAL, EDITOR, and git's own where the terminal can show one.
func TestEditor(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t)
	editor := func(environ ...string) string { return must[string](t)(r.Editor(context.Background(), environ)) }
	eq(t, "none", editor("TERM=dumb"), "")
	eq(t, "EDITOR", editor("EDITOR=joe -w"), "joe -w")
	eq(t, "VISUAL", editor("TERM=xterm", "EDITOR=joe", "VISUAL=jed"), "jed")
	if got := editor("TERM=xterm"); strings.TrimSpace(got) == "" {
		t.Error("no editor of git's own")
	}
	git(t, r.Root(), "config", "core.editor", "ed")
	eq(t, "core.editor", editor("TERM=xterm", "VISUAL=jed"), "ed")
	eq(t, "GIT_EDITOR", editor("GIT_EDITOR=vim", "VISUAL=jed"), "vim")
}
