package cmd

import (
	"cmp"
	"context"
	"runtime"
	"strings"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/persona/session/cage"
)

// sandboxStatus is what odd status --sandbox --json prints: what the configuration
// asks for, and what this machine was seen to do.
type sandboxStatus struct {
	System       string       `json:"system"`
	Enforce      string       `json:"enforce"`
	Network      string       `json:"network"`
	CheckNetwork string       `json:"check_network"`
	Read         []string     `json:"read,omitempty"`
	Write        []string     `json:"write,omitempty"`
	Held         cage.Held    `json:"held"`
	Trials       []cage.Trial `json:"trials"`
	Loopback     string       `json:"loopback"`        // "own", or why a program gets none
	Fault        string       `json:"fault,omitempty"` // why nothing could be tried
	Sessions     string       `json:"sessions"`        // "start" or "refused"
}

// runSandbox tells what the kernel holds of a program, by starting one that tries.
func runSandbox(ctx context.Context, env Env, asJSON bool) error {
	v, err := openCurrent(ctx, env)
	if err != nil {
		return err
	}
	held, err := drain.Caged(env.Cage, v.cfg.Sandbox, v.repo.CommonDir())
	if err != nil {
		return err
	}
	s := sandboxStatus{System: runtime.GOOS + "/" + runtime.GOARCH, Enforce: v.cfg.Sandbox.Enforce, Network: v.cfg.Sandbox.Network, CheckNetwork: v.cfg.Sandbox.CheckNetwork, Read: v.cfg.Sandbox.Read, Write: v.cfg.Sandbox.Write, Sessions: "start"}
	tried, err := held.Try(ctx, env.Temp)
	if err != nil {
		s.Fault = err.Error()
	}
	s.Held, s.Trials, s.Loopback = tried.Held, tried.Trials, cmp.Or(s.Fault, tried.Loopback, "own")
	if drain.Demand(ctx, held, env.Temp, v.cfg.Sandbox) != nil {
		s.Sessions = "refused"
	}
	return show(env, asJSON, s, s.sandboxRows()...)
}

const onLoopback = "with network loopback: servers"

// sandboxRows returns what, whether it is held, and what the kernel said.
func (s sandboxStatus) sandboxRows() [][]string {
	on := "on"
	if s.Held.String() == "none" {
		on = "off"
	}
	rows := [][]string{
		{"sandbox", on, s.System + ": " + s.Held.String()},
		{"enforce", s.Enforce, map[string]string{"start": "agents may start", "refused": "agents are refused: this machine cannot do what [sandbox] enforce asks"}[s.Sessions]},
		{"network", "agents: " + s.Network + ", checks: " + s.CheckNetwork, "as odd.toml sets it; the rows that begin with a network tell what this machine does for that setting"},
	}
	if s.Fault != "" {
		rows = append(rows, []string{"tried", "nothing could be tried", s.Fault})
	} else {
		row := []string{onLoopback, "own", "a program can connect to its own servers on 127.0.0.1, not to those of other programs"}
		if s.Loopback != "own" {
			row = []string{onLoopback, "shared", s.Loopback}
		}
		rows = append(rows, row)
	}
	for _, t := range s.Trials {
		word := "ALLOWED"
		if t.Held {
			word = "blocked"
		}
		rows = append(rows, []string{t.What, word, t.Detail})
	}
	if len(s.Held.Missing) > 0 {
		rows = append(rows, []string{"missing", strings.Join(s.Held.Missing, "; "), ""})
	}
	return rows
}
