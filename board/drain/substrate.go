package drain

import (
	"io/fs"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/persona/session/extract"
	"github.com/odd-cli/odd/persona/session/replay"
)

// substrate is the one odd.toml names; files is the board's commit, where a
// recording lies.
func (d *drain) substrate(cfg config.Config, files fs.FS) (session.Substrate, error) {
	return Substrate(cfg, files, d.repo.Root(), d.Environ)
}

// Substrate is the one that a configuration names. A recording lies in files; a
// command runs in dir, with what the configuration passes on of environ.
func Substrate(cfg config.Config, files fs.FS, dir string, environ []string) (session.Substrate, error) {
	s := cfg.Substrates[cfg.Session.Substrate]
	switch cfg.Session.Substrate {
	case "extract":
		return extract.Substrate{}, nil
	case "replay":
		return replay.Substrate{Files: files, File: s.File}, nil
	case "exec":
		return exec.Substrate{Argv: s.Argv, Dir: dir, Env: s.Env, Environ: environ, Free: s.Free, MaxBytes: s.MaxBytes}, nil
	}
	return nil, refuse("substrate", "odd.toml: [session] substrate %q is not one of %s", cfg.Session.Substrate, strings.Join([]string{"extract", "replay", "exec"}, ", "))
}

// Free reports a configuration whose sessions cost no money.
func Free(cfg config.Config) bool { return free(cfg) }
