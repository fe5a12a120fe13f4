package anchors

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/anchor"
)

func anchorHook(env console.Env) *cli.Command {
	return verb.Group("hook", "install odd anchor gate in the settings of Claude Code, or remove it",
		"odd anchor hook install\nodd anchor hook check\nodd anchor hook uninstall --local",
		verb.New("install", "let Claude Code ask odd before each tool call",
			"odd anchor hook install\n"+
				"odd anchor hook install --local\n\n"+
				"odd adds one group to hooks.PreToolUse in .claude/settings.json and changes\n"+
				"nothing else in it; it replaces a group of its own that was altered. Only a\n"+
				"person can run this: inside an agent's session it is refused (exit 3).",
			verb.Do(env, func(c *cli.Context, env console.Env) error { return editHook(c, env, anchor.InstallHook) }), hookFlags()...),
		verb.New("uninstall", "remove the hook from the settings of Claude Code",
			"odd anchor hook uninstall\n"+
				"odd anchor hook uninstall --local\n\n"+
				"The file is then, byte for byte, what it was before install; if there was\n"+
				"none, it is deleted. Only a person can run this: inside an agent's session it\n"+
				"is refused (exit 3).",
			verb.Do(env, func(c *cli.Context, env console.Env) error { return editHook(c, env, anchor.RemoveHook) }), hookFlags()...),
		verb.New("check", "check whether Claude Code asks odd before each tool call",
			"odd anchor hook check\n\n"+
				"odd reads the settings of the project, of this clone and of your home folder.\n"+
				"The result is installed, missing, altered, or shadowed by a key that turns\n"+
				"hooks off. Exit 1: no file has the hook, or one of them weakens it.",
			verb.Do(env, runAnchorHookCheck), hookFlags()...))
}

func hookFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "local", Usage: "use .claude/settings.local.json, for this clone only"},
		&cli.StringFlag{Name: "file", Usage: "use the settings in `FILE`"},
	}
}

// settingsFile is one settings file of a harness: where it is, and its name for a person.
type settingsFile struct{ path, name string }

// hookFile returns the settings file that the flags name: without one, the project's.
func hookFile(env console.Env, c *cli.Context) (settingsFile, error) {
	which, err := verb.OneFlag(c, "local", "file")
	if err != nil {
		return settingsFile{}, err
	}
	if file := c.String("file"); file != "" {
		return settingsFile{env.AbsPath(file), file}, nil
	}
	all, err := harnessFiles(env)
	if err != nil {
		return settingsFile{}, err
	}
	return all[map[string]int{"local": 1}[which]], nil
}

// readSettings returns what the file holds, nil if it is not there. It follows no link:
// a link would have the edit land in a file that nobody named.
func (f settingsFile) readSettings() ([]byte, error) {
	for _, p := range []string{filepath.Dir(f.path), f.path} {
		st, err := os.Lstat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, err
		case st.Mode()&fs.ModeSymlink != 0:
			return nil, verb.Refuse("settings-link", "%s: %s is a symbolic link; name the file it leads to with --file", f.name, filepath.Base(p))
		case p == f.path && !st.Mode().IsRegular():
			return nil, verb.Refuse("settings-link", "%s: not a regular file; name another with --file", f.name)
		}
	}
	b, err := os.ReadFile(f.path)
	if b == nil && err == nil {
		b = []byte{}
	}
	return b, err
}

// writeSettings replaces the file whole or not at all; nil removes it, and its folder if
// that is then empty.
func (f settingsFile) writeSettings(b []byte) error {
	dir := filepath.Dir(f.path)
	if b == nil {
		err := os.Remove(f.path)
		if filepath.Base(dir) == ".claude" {
			_ = os.Remove(dir) // not empty: it stays
		}
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return renameio.WriteFile(f.path, b, 0o644, renameio.WithExistingPermissions())
}

func editHook(c *cli.Context, env console.Env, edit func(string, []byte) ([]byte, error)) error {
	f, err := hookFile(env, c)
	if err == nil {
		err = land.RefuseAgent(env, verb.Name(c))
	}
	if err != nil {
		return err
	}
	was, err := f.readSettings()
	if err != nil {
		return err
	}
	now, err := edit(f.name, was)
	if err != nil {
		return err
	}
	changed := !bytes.Equal(was, now) || (was == nil) != (now == nil)
	if changed {
		if err := f.writeSettings(now); err != nil {
			return err
		}
	}
	state, _, _, err := anchor.CheckHook(f.name, now)
	if err != nil {
		return err
	}
	if !changed && !c.Bool("json") {
		console.Talk(env, "%s: %s already", f.name, state)
		return nil
	}
	return console.Show(env, c.Bool("json"), map[string]any{"file": f.name, "state": state, "changed": changed}, []string{f.name, string(state)})
}

// harnessFiles returns the settings that a session in this work tree reads.
func harnessFiles(env console.Env) ([]settingsFile, error) {
	r, err := repo.Open(env.Dir, env.Environ)
	if err != nil {
		return nil, err
	}
	var all []settingsFile
	for _, name := range []string{".claude/settings.json", ".claude/settings.local.json"} {
		all = append(all, settingsFile{filepath.Join(r.Root(), filepath.FromSlash(name)), name})
	}
	if home := env.Getenv("HOME"); home != "" {
		all = append(all, settingsFile{filepath.Join(home, ".claude", "settings.json"), "~/.claude/settings.json"})
	}
	return all, nil
}

type hookRow struct {
	File  string           `json:"file"`
	State anchor.HookState `json:"state"`
	Why   string           `json:"why,omitempty"`
}

func runAnchorHookCheck(c *cli.Context, env console.Env) error {
	f, err := hookFile(env, c)
	all := []settingsFile{f}
	if err == nil && !c.Bool("local") && c.String("file") == "" {
		all, err = harnessFiles(env)
	}
	if err != nil {
		return err
	}
	var rows []hookRow
	installed, bad := false, false
	for _, f := range all {
		b, err := f.readSettings()
		if err != nil {
			return err
		}
		state, line, why, err := anchor.CheckHook(f.name, b)
		if err != nil {
			return err
		}
		row := hookRow{f.name, state, why}
		if line > 0 {
			row.File = fmt.Sprintf("%s:%d", f.name, line)
		}
		rows = append(rows, row)
		installed = installed || state == anchor.HookInstalled
		bad = bad || state == anchor.HookAltered || state == anchor.HookShadowed
	}
	if installed && env.FindProgram("odd") == "" {
		bad = true
		rows = append(rows, hookRow{"odd", anchor.HookMissing, "the hook runs odd, and PATH does not lead to it: every tool is blocked"})
	}
	err = console.ShowList(env, c.Bool("json"), rows, "", func(r hookRow) []string { return []string{r.File, string(r.State), r.Why} })
	return verb.OrFault(err, bad || !installed)
}
