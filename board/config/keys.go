package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agnivade/levenshtein"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/persona/contract"
)

// key is one key odd.toml may have. Its name is dotted; "*" stands for any one
// part. set stores the value and says what is wrong with it, the key itself
// unnamed ("want an integer from 1 to 9").
type key struct {
	name string
	set  setter
}

// keys is every key of odd.toml but those of [[mcp]], in the order of the reference.
var keys = []key{
	{"odd.format", valueSetter(func(c *Config) *int { return &c.Format }, intOf(1, Format))},
	{"odd.least_version", func(c *Config, _ string, n node) (err error) {
		c.LeastLine = n.line
		c.LeastVersion, err = readString(n, isVersion)
		return err
	}},
	{"bundle.root", valueSetter(func(c *Config) *string { return &c.Root }, folderOf(bundleRoot))},
	{"canon.external", valueSetter(func(c *Config) *[]string { return &c.External }, listOf(checkSlug))},
	{"board.branch", valueSetter(func(c *Config) *string { return &c.Branch }, textOf(branchName))},
	{"board.target", valueSetter(func(c *Config) *string { return &c.Target }, textOf(branchName))},
	{"board.remote", valueSetter(func(c *Config) *string { return &c.Remote }, textOf(remoteName))},
	{"board.remote_timeout", valueSetter(func(c *Config) *time.Duration { return &c.RemoteTime }, durationOf(time.Second, day))},
	{"agent.name", valueSetter(func(c *Config) *string { return &c.AgentName }, textOf(checkIdentity))},
	{"agent.email", valueSetter(func(c *Config) *string { return &c.AgentEmail }, textOf(checkIdentity))},
	{"tenant.id", valueSetter(func(c *Config) *string { return &c.Tenant }, textOf(checkSlug))},
	{"budget.monthly_usd", valueSetter(func(c *Config) *budget.MicroUSD { c.HasBudget = true; return &c.Budget.Monthly }, readAmount)},
	{"budget.hard_stop_usd", valueSetter(func(c *Config) *budget.MicroUSD { return &c.Budget.HardStop }, readAmount)},
	{"budget.alert_at_pct", valueSetter(func(c *Config) *int { return &c.Budget.AlertPct }, intOf(0, 100))},
	{"budget.teams.*", entrySetter(func(c *Config) *map[string]budget.MicroUSD { return &c.Budget.Teams }, checkWord, func(m *budget.MicroUSD, n node) (err error) { *m, err = readAmount(n); return })},
	{"session.substrate", valueSetter(func(c *Config) *string { return &c.Session.Substrate }, textOf(checkSlug))},
	{"session.model", valueSetter(func(c *Config) *string { return &c.Session.Model }, textOf(checkWord))},
	{"session.fallback", valueSetter(func(c *Config) *[]string { return &c.Session.Fallback }, listOf(checkSlug))},
	{"session.max_turns", valueSetter(func(c *Config) *int { return &c.Session.MaxTurns }, intOf(1, 1000))},
	{"session.max_usd", valueSetter(func(c *Config) *budget.MicroUSD { return &c.Session.MaxCost }, readAmount)},
	{"session.timeout", valueSetter(func(c *Config) *time.Duration { return &c.Session.Timeout }, durationOf(time.Second, day))},
	{"session.cap", valueSetter(func(c *Config) *string { return &c.Session.Cap }, textOf(oneOf("inferred", "asserted")))},
	{"session.max_atoms", valueSetter(func(c *Config) *int { return &c.Session.MaxAtoms }, intOf(1, 10_000))},
	{"route.*.substrate", routeSetter(func(r *Route, n node) (err error) { r.Substrate, err = readString(n, checkSlug); return })},
	{"route.*.model", routeSetter(func(r *Route, n node) (err error) { r.Model, err = readString(n, checkWord); return })},
	{"route.*.timeout", routeSetter(func(r *Route, n node) (err error) { r.Timeout, err = spanOf(n, time.Second, day); return })},
	{"route.*.max_usd", routeSetter(func(r *Route, n node) (err error) { r.MaxCost, err = readAmount(n); return })},
	{"substrate.*.argv", substrateSetter(func(s *Substrate, n node) (err error) { s.Argv, err = readArgv(n); return })},
	{"substrate.*.file", substrateSetter(func(s *Substrate, n node) (err error) { s.File, err = readString(n, checkWord); return })},
	{"substrate.*.env", substrateSetter(func(s *Substrate, n node) (err error) { s.Env, err = readStrings(n, envName); return })},
	{"substrate.*.free", substrateSetter(func(s *Substrate, n node) (err error) { s.Free, err = readBool(n); return })},
	{"substrate.*.max_bytes", substrateSetter(func(s *Substrate, n node) (err error) { s.MaxBytes, err = readInt(n, 1, 1<<30); return })},
	{"substrate.*.model", substrateSetter(func(s *Substrate, n node) (err error) { s.Model, err = readString(n, checkWord); return })},
	{"substrate.*.base_url", substrateSetter(func(s *Substrate, n node) (err error) { s.BaseURL, err = readAddress(n); return })},
	{"substrate.*.key_env", substrateSetter(func(s *Substrate, n node) (err error) { s.KeyEnv, err = readString(n, keyEnv); return })},
	{"substrate.*.max_tokens", substrateSetter(func(s *Substrate, n node) (err error) { s.MaxTokens, err = readInt(n, 256, 1_000_000); return })},
	{"substrate.*.max_tokens_key", substrateSetter(func(s *Substrate, n node) (err error) {
		s.MaxTokensKey, err = readString(n, oneOf("max_tokens", "max_completion_tokens"))
		return
	})},
	{"substrate.*.thinking", substrateSetter(func(s *Substrate, n node) (err error) {
		s.Thinking, err = readString(n, oneOf("adaptive", "disabled"))
		return
	})},
	{"substrate.*.context_bytes", substrateSetter(func(s *Substrate, n node) (err error) { s.ContextBytes, err = readInt(n, 16_384, 1<<26); return })},
	{"substrate.*.answer_timeout", substrateSetter(func(s *Substrate, n node) (err error) { s.AnswerTimeout, err = spanOf(n, time.Second, day); return })},
	{"prices.*.input_usd", priceSetter(func(p *Price) *budget.MicroUSD { return &p.Input })},
	{"prices.*.output_usd", priceSetter(func(p *Price) *budget.MicroUSD { return &p.Output })},
	{"prices.*.cache_read_usd", priceSetter(func(p *Price) *budget.MicroUSD { return &p.CacheRead })},
	{"prices.*.cache_write_usd", priceSetter(func(p *Price) *budget.MicroUSD { p.CacheWrites = true; return &p.CacheWrite })},
	{"contract.profile", valueSetter(func(c *Config) *string { return &c.Contract.Profile }, textOf(checkWord))},
	{"contract.surface", valueSetter(func(c *Config) *contract.Surface { return &c.Contract.Surface }, nameFrom(contract.SurfaceNames))},
	{"contract.voice", valueSetter(func(c *Config) *contract.Voice { return &c.Contract.Voice }, nameFrom(contract.VoiceNames))},
	{"contract.engagement", valueSetter(func(c *Config) *contract.Engagement { return &c.Contract.Engagement }, nameFrom(contract.EngagementNames))},
	{"contract.roles.*", entrySetter(func(c *Config) *map[string]contract.Role { return &c.Contract.Roles }, kindName, func(r *contract.Role, n node) (err error) {
		*r, err = nameOf(n, contract.RoleNames())
		return
	})},
	{"persona.floor.atoms", valueSetter(func(c *Config) *int { return &c.Floor.Atoms }, intOf(0, 10_000))},
	{"persona.floor.processes", valueSetter(func(c *Config) *int { return &c.Floor.Processes }, intOf(0, 10_000))},
	{"persona.floor.guides", valueSetter(func(c *Config) *int { return &c.Floor.Guides }, intOf(0, 10_000))},
	{"persona.floor.unresolved_pct", valueSetter(func(c *Config) *int { return &c.Floor.UnresolvedPct }, intOf(0, 100))},
	{"governance.lease", valueSetter(func(c *Config) *string { return &c.Lease }, textOf(oneOf("off", "required")))},
	{"governance.require_signed", valueSetter(func(c *Config) *bool { return &c.RequireSigned }, readBool)},
	{"governance.allowed_signers", valueSetter(func(c *Config) *string { return &c.AllowedSigners }, textOf(repoFile))},
	{"governance.approvals", valueSetter(func(c *Config) *int { return &c.Approvals }, intOf(1, 9))},
	{"governance.approvers.*", entrySetter(func(c *Config) *map[string][]string { return &c.Approvers }, repoGlob, func(people *[]string, n node) (err error) { // as a type is a glob too
		*people, err = readStrings(n, checkEmail)
		return
	})},
	{"anchor.mode", valueSetter(func(c *Config) *string { return &c.Anchor.Mode }, choiceOf("full", "express", "lite", "untracked"))},
	{"anchor.strictness", valueSetter(func(c *Config) *string { return &c.Anchor.Strictness }, choiceOf("quick", "default", "deep"))},
	{"anchor.state", valueSetter(func(c *Config) *string { return &c.Anchor.State }, folderOf(bundleRoot))},
	{"anchor.constitutions", valueSetter(func(c *Config) *[]string { return &c.Anchor.Constitutions }, readFolders)},
	{"anchor.ttl", valueSetter(func(c *Config) *time.Duration { return &c.Anchor.TTL }, durationOf(time.Minute, day))},
	{"pipeline.auto_apply", valueSetter(func(c *Config) *bool { return &c.Pipeline.AutoApply }, readBool)},
	{"pipeline.auto_kinds", valueSetter(func(c *Config) *[]string { return &c.Pipeline.AutoKinds }, listOf(kindName))},
	{"pipeline.review_ttl", valueSetter(func(c *Config) *time.Duration { return &c.ReviewTTL }, durationOf(time.Hour, 366*day))},
	{"pipeline.min_tier", valueSetter(func(c *Config) *string { return &c.Pipeline.MinTier }, choiceOf("SAFE_AUTO", "NOTIFY_APPLY", "APPROVAL_REQUIRED"))},
	{"pipeline.quiet_hours", valueSetter(func(c *Config) **Quiet { return &c.Pipeline.Quiet }, quietHours)},
	{"pipeline.zone", valueSetter(func(c *Config) **time.Location { return &c.Pipeline.Zone }, readZone)},
	{"pipeline.autonomy", valueSetter(func(c *Config) *string { return &c.Pipeline.Autonomy }, choiceOf("act", "observe"))},
	{"pipeline.core", valueSetter(func(c *Config) *[]string { return &c.Pipeline.Core }, listOf(repoGlob))},
	{"pipeline.protected", valueSetter(func(c *Config) *[]string { return &c.Pipeline.Protected }, listOf(repoGlob))},
	{"pipeline.security", valueSetter(func(c *Config) *[]string { return &c.Pipeline.Security }, listOf(repoGlob))},
	{"pipeline.max_files", valueSetter(func(c *Config) *int { return &c.Pipeline.MaxFiles }, intOf(1, 1000))},
	{"pipeline.blast", valueSetter(func(c *Config) *int { return &c.Pipeline.Blast }, intOf(0, 100_000))},
	{"pipeline.machine_blast", valueSetter(func(c *Config) *int { return &c.Pipeline.MachineBlast }, intOf(0, 100_000))},
	{"pipeline.test_confidence_pct", valueSetter(func(c *Config) *int { return &c.Pipeline.TestConfidence }, intOf(0, 100))},
	{"pipeline.validate", valueSetter(func(c *Config) *[][]string { return &c.Pipeline.Validate }, readArgvs)},
	{"pipeline.verify", valueSetter(func(c *Config) *[][]string { return &c.Pipeline.Verify }, readArgvs)},
	{"pipeline.expand", valueSetter(func(c *Config) *string { return &c.Pipeline.Expand }, choiceOf("off", "auto"))},
	{"pipeline.plan", valueSetter(func(c *Config) *string { return &c.Pipeline.Plan }, choiceOf("off", "auto", "always"))},
	{"pipeline.check_timeout", valueSetter(func(c *Config) *time.Duration { return &c.Pipeline.CheckTimeout }, durationOf(time.Second, time.Hour))},
	{"pipeline.repair_timebox", valueSetter(func(c *Config) *time.Duration { return &c.Pipeline.RepairTimebox }, durationOf(time.Second, time.Hour))},
	{"pipeline.check_env", valueSetter(func(c *Config) *[]string { return &c.Pipeline.CheckEnv }, listOf(envName))},
	{"toolbox.run", valueSetter(func(c *Config) *[][]string { return &c.Toolbox.Run }, readArgvs)},
	{"toolbox.web_hosts", valueSetter(func(c *Config) *[]string { return &c.Toolbox.Hosts }, listOf(checkHost))},
	{"toolbox.command_timeout", valueSetter(func(c *Config) *time.Duration { return &c.Toolbox.Command }, durationOf(time.Second, time.Hour))},
	{"toolbox.tool_timeout", valueSetter(func(c *Config) *time.Duration { return &c.Toolbox.Timeout }, durationOf(time.Second, time.Hour))},
	{"drain.max_tasks", valueSetter(func(c *Config) *int { return &c.MaxTasks }, intOf(1, 1000))},
	{"drain.lease", valueSetter(func(c *Config) *time.Duration { return &c.TaskLease }, durationOf(time.Second, day))},
	{"drain.max_attempts", valueSetter(func(c *Config) *int { return &c.MaxAttempts }, intOf(1, 100))},
	{"sense.sensors.*", func(c *Config, part string, n node) error {
		list, err := sensorList(part, n)
		if err == nil && c.Sense.Sensors == nil {
			c.Sense.Sensors = map[string][]string{}
		}
		if err == nil {
			c.Sense.Sensors[part] = list
		}
		return err
	}},
	{"sense.ready", valueSetter(func(c *Config) *[]string { return &c.Sense.Ready }, listOf(sensorName))},
	{"sense.paths", valueSetter(func(c *Config) *[]string { return &c.Sense.Paths }, listOf(taskPath))},
	{"sense.role", valueSetter(func(c *Config) *string { return &c.Sense.Role }, textOf(checkSlug))},
	{"sense.run", valueSetter(func(c *Config) *int { return &c.Sense.Run }, intOf(1, 1000))},
	{"sense.day", valueSetter(func(c *Config) *int { return &c.Sense.Day }, intOf(1, 10_000))},
	{"sense.open", valueSetter(func(c *Config) *int { return &c.Sense.Open }, intOf(1, 10_000))},
	{"drain.notify", valueSetter(func(c *Config) *[]string { return &c.Notify }, readArgv)},
	{"sandbox.enforce", valueSetter(func(c *Config) *string { return &c.Sandbox.Enforce }, choiceOf("require", "best-effort", "off"))},
	{"sandbox.network", valueSetter(func(c *Config) *string { return &c.Sandbox.Network }, choiceOf(networkNames()...))},
	{"sandbox.check_network", valueSetter(func(c *Config) *string { return &c.Sandbox.CheckNetwork }, choiceOf(networkNames()...))},
	{"sandbox.unix_sockets", valueSetter(func(c *Config) *bool { return &c.Sandbox.UnixSockets }, readBool)},
	{"sandbox.read", valueSetter(func(c *Config) *[]string { return &c.Sandbox.Read }, listOf(checkPlace))},
	{"sandbox.write", valueSetter(func(c *Config) *[]string { return &c.Sandbox.Write }, listOf(checkPlace))},
	{"sandbox.file_mb", valueSetter(func(c *Config) *int { return &c.Sandbox.FileMB }, intOf(0, 1<<20))},
	{"sandbox.disk_mb", valueSetter(func(c *Config) *int { return &c.Sandbox.DiskMB }, intOf(0, 1<<20))},
	{"sandbox.memory_mb", valueSetter(func(c *Config) *int { return &c.Sandbox.MemoryMB }, intOf(0, 1<<20))},
	{"sandbox.cpu", valueSetter(func(c *Config) *time.Duration { return &c.Sandbox.CPU }, durationOf(0, day))},
	{"sandbox.open_files", valueSetter(func(c *Config) *int { return &c.Sandbox.OpenFiles }, intOf(0, 1<<20))},
	{"sandbox.processes", valueSetter(func(c *Config) *int { return &c.Sandbox.Processes }, intOf(0, 1<<20))},
}

// allKeys are keys and those of the [[mcp]] tables.
var allKeys = sync.OnceValue(func() []key { return slices.Concat(keys, serverKeys()) })

// known are the substrates odd is made for: they need no section of their own.
var known = []string{"extract", "replay", "exec", "claude", "acp", "anthropic", "openai"}

// matchPattern says whether path is the pattern ("all") or a table on the way to it.
func matchPattern(pattern string, path []string) (all, prefix bool) {
	below := true // some of pattern is left
	for _, p := range path {
		var part string
		if !below {
			return false, false
		}
		if part, pattern, below = strings.Cut(pattern, "."); part != "*" && part != p {
			return false, false
		}
	}
	return !below, below
}

// findKey returns the key path names and whether it names a table above keys.
func findKey(path []string) (k key, isKey, isTable bool) {
	for _, k := range allKeys() {
		all, prefix := matchPattern(k.name, path)
		if all {
			return k, true, false
		}
		isTable = isTable || prefix
	}
	return key{}, false, isTable
}

// nearestKey is the known name nearest to path, or "": first a key that only sits
// in another table, then one within three typing errors.
func nearestKey(path []string) string {
	last, full := path[len(path)-1], strings.Join(path, ".")
	best, least := "", 4
	for _, name := range keyNames() {
		parts := strings.Split(name, ".")
		if parts[len(parts)-1] == "*" {
			continue
		}
		d := levenshtein.ComputeDistance(full, fillPattern(parts, path))
		if len(parts) > 1 && parts[len(parts)-1] == last {
			d = min(d, 1)
		}
		if strings.HasPrefix(fillPattern(parts, path), full+"_") {
			d = min(d, 3)
		}
		if d < least && d < len(full)/2+1 {
			best, least = fillPattern(parts, path), d
		}
	}
	return best
}

// keyNames are the keys and the tables above them.
func keyNames() []string {
	var out []string
	for _, k := range allKeys() {
		for i, r := range k.name + "." {
			if r == '.' && !slices.Contains(out, k.name[:i]) {
				out = append(out, k.name[:i])
			}
		}
	}
	return out
}

// fillPattern puts path's own parts where the pattern has a "*".
func fillPattern(parts, path []string) string {
	out := slices.Clone(parts)
	for i, p := range out {
		if p != "*" {
			continue
		}
		out[i] = "NAME"
		if i < len(path) {
			out[i] = path[i]
		}
	}
	return strings.Join(out, ".")
}

// substrateSetter returns a setter of one member of [substrate.NAME].
func substrateSetter(set func(*Substrate, node) error) setter {
	return entrySetter(func(c *Config) *map[string]Substrate { return &c.Substrates }, func(name string) error {
		if err := checkSlug(name); err != nil {
			return fmt.Errorf("the name of a substrate: %w", err)
		}
		return nil
	}, set)
}
