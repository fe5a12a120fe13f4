package cmd

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/anchor"
)

func anchorHookCheck(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "check",
		Usage: "check whether Claude Code asks odd before each tool call",
		Description: "odd anchor hook check\n\n" +
			"odd reads the settings of the project, of this clone and of your home folder.\n" +
			"The result is installed, missing, altered, or shadowed by a key that turns\n" +
			"hooks off. Exit 1: no file has the hook, or one of them weakens it.",
		Flags:  hookFlags(),
		Action: do(env, runAnchorHookCheck),
	})
}

// harnessFiles are the settings that a session in this work tree reads.
func harnessFiles(env Env) ([]settingsFile, error) {
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

// hookRow is one settings file as check tells it.
type hookRow struct {
	File  string           `json:"file"`
	State anchor.HookState `json:"state"`
	Why   string           `json:"why,omitempty"`
}

func runAnchorHookCheck(c *cli.Context, env Env) error {
	f, err := hookFile(env, c)
	if err != nil {
		return err
	}
	all := []settingsFile{f}
	if !c.Bool("local") && c.String("file") == "" {
		if all, err = harnessFiles(env); err != nil {
			return err
		}
	}
	var rows []hookRow
	installed, bad := false, false
	for _, f := range all {
		b, err := f.read()
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
	if installed && !onPath(env, "odd") {
		bad = true
		rows = append(rows, hookRow{"odd", anchor.HookMissing, "the hook runs odd, and PATH does not lead to it: every tool is blocked"})
	}
	err = showList(env, c.Bool("json"), rows, "", func(r hookRow) []string { return []string{r.File, string(r.State), r.Why} })
	return orFault(err, bad || !installed)
}
