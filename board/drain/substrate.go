package drain

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/acp"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/claude"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/persona/session/extract"
	"github.com/odd-cli/odd/persona/session/replay"
	"github.com/odd-cli/odd/persona/session/toolbox"
)

// newSubstrate returns the substrate that cfg names. files are the board's; replay reads its
// recording from them.
func (pl place) newSubstrate(cfg config.Config, files fs.FS) (session.Substrate, error) {
	held, err := pl.makeCage(cfg.Sandbox)
	if err != nil {
		return nil, err
	}
	return makeSubstrate(cfg, files, pl.repo.Root(), pl.Environ, held, Toolbox(cfg, pl.Options, held))
}

// Substrate is the one that a configuration names. A recording lies in files; a
// command runs in dir, with what the configuration passes on of environ, and is
// held as Caged says.
func Substrate(cfg config.Config, files fs.FS, dir string, environ []string, held cage.Cage) (session.Substrate, error) {
	return makeSubstrate(cfg, files, dir, environ, held, Toolbox(cfg, Options{Environ: environ}, held))
}

// makeSubstrate is Substrate with what the tools may do that odd gives to models. An agent
// that starts its servers itself is handed none that reads more than the agent does,
// so that whose home "~/" means is no matter.
func makeSubstrate(cfg config.Config, files fs.FS, dir string, environ []string, held cage.Cage, tools toolbox.Options) (session.Substrate, error) {
	if err := Equipped(cfg, environ); err != nil {
		return nil, err
	}
	s := cfg.Agent(cfg.Session.Substrate)
	switch cfg.Session.Substrate {
	case "extract":
		return extract.Substrate{}, nil
	case "replay":
		return replay.Substrate{Files: files, File: s.File}, nil
	case "exec":
		return exec.Substrate{Argv: s.Argv, Dir: dir, Env: s.Env, Environ: environ, Free: s.Free, MaxBytes: s.MaxBytes, Cage: held, Network: cage.Network(cfg.Sandbox.Network)}, nil
	case "claude":
		return claude.Substrate{Argv: s.Argv, Dir: dir, Model: cmp.Or(s.Model, cfg.Session.Model), Env: s.Env, Environ: environ, Free: s.Free, Commands: cfg.Toolbox.Run, Servers: Specs(cfg, "/"), Cage: held, Network: cage.Network(cfg.Sandbox.Network)}, nil
	case "acp":
		return acp.Substrate{Argv: s.Argv, Dir: dir, Env: s.Env, Environ: environ, Free: s.Free, MaxBytes: s.MaxBytes, Servers: Specs(cfg, "/"), Cage: held, Network: cage.Network(cfg.Sandbox.Network), Commands: cage.Network(cfg.Sandbox.CheckNetwork)}, nil
	}
	if s := newAPISubstrate(cfg, environ, tools); s != nil {
		return s, nil
	}
	return nil, refuse("substrate", "odd.toml: [session] substrate %q is unknown; use one of %s", cfg.Session.Substrate, strings.Join([]string{"extract", "replay", "exec", "claude", "acp", "anthropic", "openai"}, ", "))
}

// Speechless refuses a session of role on a configuration whose substrate only
// reads documents into atoms: it could hand over nothing of what the role owes.
// nil where it can, and for the role general, which owes nothing.
func Speechless(cfg config.Config, role contract.Role) contract.Refusals {
	if cfg.Session.Substrate != "extract" || role == contract.General || role == "" {
		return nil
	}
	return contract.Refusals{{Code: "substrate-reads-only", Message: fmt.Sprintf("the built-in offline reader (extract) only turns documents into atoms and cannot work as %s", role),
		Way: otherAgent}}
}

// isProgram reports a substrate that is a program of its own, and no part of odd.
func isProgram(substrate string) bool {
	return slices.Contains([]string{"exec", "claude", "acp"}, substrate)
}
