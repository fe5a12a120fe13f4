// Package replay is the substrate that says again what a recorded session said.
// It serves tests and demos: no agent, no network, the same emission each time.
//
// A recording is a text emission as package session reads it, kept in a file of
// the repository. Its odd.usage.1 block is the recorded usage; without one the
// session took one turn at an unknown cost, exactly as it would have live.
//
//	The handbook names one term.
//
//	```atom
//	---
//	type: term
//	id: embargo
//	title: Embargo
//	---
//
//	News that may not be printed before its hour.
//	```
//
//	```json
//	{"schema": "odd.usage.1", "turns": 2, "cost_micro_usd": 0}
//	```
//
//	```json
//	{"schema": "odd.finish.1", "outcome": "completed"}
//	```
//
// Every recorded turn asks leave again, so a budget or a turn limit stops a
// replay where it would have stopped the session.
package replay

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/odd-cli/odd/persona/session"
)

// Substrate replays one recording.
type Substrate struct {
	Files fs.FS  // where the configuration lives: the repository's root
	File  string // slash-separated, below Files
}

// Run replays the recording. A recording that is not there is an error, because
// the configuration names it; one that does not parse is a failed session.
func (s Substrate) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	if !fs.ValidPath(s.File) || s.File == "." {
		return session.Emission{}, fmt.Errorf("substrate replay: file %q is not a path inside the repository", s.File)
	}
	text, err := fs.ReadFile(s.Files, s.File)
	if err != nil {
		return session.Emission{}, fmt.Errorf("substrate replay: %w; name a recording in [substrate.replay] file", err)
	}
	e := session.Read(text)
	for range e.Usage.Turns {
		if stop, ok := r.BeginTurn(ctx); !ok {
			return stop, nil
		}
	}
	return e, nil
}
