// Package config reads odd.toml, strictly.
package config

import (
	"time"

	"github.com/odd-cli/odd/board/budget"
)

// Config is odd.toml with its defaults filled in.
type Config struct {
	Root          string // [bundle] root, default "knowledge"
	Branch        string // [board] branch; "" means: the branch checked out
	Target        string // [board] target; "" means: Branch
	Remote        string
	AgentName     string // default "odd-agent"
	AgentEmail    string // default "odd@localhost"
	Tenant        string
	Budget        budget.Envelope
	HasBudget     bool // [budget] monthly_usd is set
	Session       Session
	Substrates    map[string]Substrate // [substrate.NAME]
	Floor         Floor
	Lease         string // [governance] lease: "off" or "required" (the default when the key is absent)
	RequireSigned bool
	MaxTasks      int           // [drain] max_tasks, default 1
	TaskLease     time.Duration // [drain] lease, default 30m
	MaxAttempts   int           // [drain] max_attempts, default 3
	ReviewTTL     time.Duration
}

// Session is [session].
type Session struct {
	Substrate string // default "extract"
	Model     string
	MaxTurns  int
	MaxCost   budget.MicroUSD
	Timeout   time.Duration
	Cap       string // "inferred" (default) or "asserted"
	MaxAtoms  int
}

// Substrate is [substrate.NAME].
type Substrate struct {
	Argv     []string
	File     string   // replay
	Env      []string // names passed through
	Free     bool     // costs no money
	MaxBytes int
}

// Floor is [persona.floor].
type Floor struct{ Atoms, Processes, Guides, UnresolvedPct int }

// Default is the configuration of a repository without odd.toml.
func Default() Config { return Config{} }

// Parse reads odd.toml. Every error is located ("odd.toml:12: unknown key "…", did you mean "…"?"). An empty file is an error.
func Parse(file string, b []byte) (Config, error) { return Config{}, nil }
