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
// The configuration names one recording, which every session replays, or a
// folder of them. In a folder a session takes the first of these that is there:
//
//	TASK.md                  the last part of its task's id: slack-water.md
//	ROLE-after-MODE.md       the contract's role, and where its handoff came from:
//	                         validator-after-resolution.md looks again
//	ROLE.md                  explorer.md, planner.md …; general.md without a contract
//
// A session that is asked to plan a change, or what to read for it, has that word
// behind a dot: slack-water.plan.md, slack-water.expand.md.
//
// A member of a fan-out has its number after a dot, from the second on, and a
// further call of one session, sent back or answered, after a dash:
// explorer.2.md is the second explorer, validator-2.md what a validator said
// when it was sent back. No recording stands in for one that is not there.
//
// Every recorded turn asks leave again, so a budget or a turn limit stops a
// replay where it would have stopped the session.
package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/odd-cli/odd/persona/session"
)

// Substrate replays recordings.
type Substrate struct {
	Files fs.FS  // where the configuration lives: the repository's root
	File  string // slash-separated, below Files: a recording or a folder of them
}

// Run replays the recording. A recording that is not there is an error, because
// the configuration names it; one that does not parse is a failed session.
func (s Substrate) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	if !fs.ValidPath(s.File) || s.File == "." {
		return session.Emission{}, fmt.Errorf("substrate replay: file %q is not a path inside the repository", s.File)
	}
	text, err := s.readRecording(r)
	if err != nil {
		return session.Emission{}, fmt.Errorf("substrate replay: %w; name a recording in [substrate.replay] file", err)
	}
	e := session.Read(text)
	for n := range int64(e.Usage.Turns) { // the cost is told as if every turn had had its share
		spent := session.Usage{Turns: int(n), Cost: e.Usage.Cost / int64(e.Usage.Turns) * n, CostKnown: e.Usage.CostKnown}
		if stop, ok := r.BeginTurn(ctx, spent); !ok {
			return stop, nil
		}
	}
	return e, nil
}

// readRecording reads the file, or the one of the folder that is for this request.
func (s Substrate) readRecording(r session.Request) ([]byte, error) {
	info, err := fs.Stat(s.Files, s.File)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return fs.ReadFile(s.Files, s.File)
	}
	tried := recordingNames(r)
	for _, name := range tried {
		if text, err := fs.ReadFile(s.Files, path.Join(s.File, name)); err == nil {
			return text, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s holds none of %s", s.File, strings.Join(tried, ", "))
}

// recordingNames are the recordings a request may have in a folder, the closest first.
func recordingNames(r session.Request) []string {
	role := r.Role
	if role == "" {
		role = "general"
	}
	stems := []string{role}
	if r.After != "" {
		stems = append([]string{role + "-after-" + r.After}, stems...)
	}
	if task := path.Base(r.Task); r.Task != "" && fs.ValidPath(task) && task != "." {
		stems = append([]string{task}, stems...)
	}
	for i := range stems {
		if r.Step != "" {
			stems[i] += "." + r.Step
		}
		if r.Member > 1 {
			stems[i] += fmt.Sprintf(".%d", r.Member)
		}
		if r.Try > 1 {
			stems[i] += fmt.Sprintf("-%d", r.Try)
		}
		stems[i] += ".md"
	}
	return stems
}
