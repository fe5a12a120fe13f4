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
	s := cfg.Substrates[cfg.Session.Substrate]
	switch cfg.Session.Substrate {
	case "extract":
		return extract.Substrate{}, nil
	case "replay":
		return replay.Substrate{Files: files, File: s.File}, nil
	case "exec":
		return exec.Substrate{Argv: s.Argv, Dir: d.repo.Root(), Env: s.Env, Environ: d.Environ, Free: s.Free, MaxBytes: s.MaxBytes}, nil
	}
	return nil, refuse("substrate", "odd.toml: [session] substrate %q is not one of %s", cfg.Session.Substrate, strings.Join([]string{"extract", "replay", "exec"}, ", "))
}
