package land

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
)

// EditText returns b as the person's editor leaves it, in a file of that name. The editor is the one
// that git takes, as words and never a shell's text, and it has the terminal itself.
func EditText(ctx context.Context, v *workspace.Board, name string, b []byte) ([]byte, error) {
	at := repo.Terminal{Dir: v.Env.Dir, Env: v.Env.Environ, In: v.Env.Stdin, Out: v.Env.Stdout, Err: v.Env.Stderr}
	if tty, err := v.Env.TTY(); err == nil {
		defer tty.Close()
		if f, ok := tty.(*os.File); ok {
			at.In, at.Out, at.Err = f, f, f
		}
	} else { // git names no editor that needs a terminal
		at.Env = slices.DeleteFunc(slices.Clone(at.Env), func(s string) bool { return strings.HasPrefix(s, "TERM=") })
	}
	words, err := v.Repo.Editor(ctx, at.Env)
	if err != nil {
		return nil, err
	}
	editor := strings.Fields(words)
	if len(editor) == 0 {
		return nil, ErrNoEditor
	}
	dir, err := os.MkdirTemp("", "odd-edit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, b, 0o600); err != nil {
		return nil, err
	}
	if err = repo.Edit(ctx, append(editor, name), at); err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// ErrNoEditor is EditText's where git has no editor for the terminal.
var ErrNoEditor = errors.New("git has no editor here; set EDITOR, or run this at a terminal")
