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
	{"odd.format", set(func(c *Config) *int { return &c.Format }, whole(1, Format))},
	{"odd.least_version", func(c *Config, _ string, n node) (err error) {
		c.LeastLine = n.line
		c.LeastVersion, err = str(n, isVersion)
		return err
	}},
	{"bundle.root", set(func(c *Config) *string { return &c.Root }, folder(bundleRoot))},
	{"canon.external", set(func(c *Config) *[]string { return &c.External }, list(slug))},
	{"board.branch", set(func(c *Config) *string { return &c.Branch }, text(branchName))},
	{"board.target", set(func(c *Config) *string { return &c.Target }, text(branchName))},
	{"board.remote", set(func(c *Config) *string { return &c.Remote }, text(remoteName))},
	{"board.remote_timeout", set(func(c *Config) *time.Duration { return &c.RemoteTime }, duration(time.Second, day))},
	{"agent.name", set(func(c *Config) *string { return &c.AgentName }, text(identity))},
	{"agent.email", set(func(c *Config) *string { return &c.AgentEmail }, text(identity))},
	{"tenant.id", set(func(c *Config) *string { return &c.Tenant }, text(slug))},
	{"budget.monthly_usd", set(func(c *Config) *budget.MicroUSD { c.HasBudget = true; return &c.Budget.Monthly }, amount)},
	{"budget.hard_stop_usd", set(func(c *Config) *budget.MicroUSD { return &c.Budget.HardStop }, amount)},
	{"budget.alert_at_pct", set(func(c *Config) *int { return &c.Budget.AlertPct }, whole(0, 100))},
	{"budget.teams.*", entry(func(c *Config) *map[string]budget.MicroUSD { return &c.Budget.Teams }, word, func(m *budget.MicroUSD, n node) (err error) { *m, err = amount(n); return })},
	{"session.substrate", set(func(c *Config) *string { return &c.Session.Substrate }, text(slug))},
	{"session.model", set(func(c *Config) *string { return &c.Session.Model }, text(word))},
	{"session.fallback", set(func(c *Config) *[]string { return &c.Session.Fallback }, list(slug))},
	{"session.max_turns", set(func(c *Config) *int { return &c.Session.MaxTurns }, whole(1, 1000))},
	{"session.max_usd", set(func(c *Config) *budget.MicroUSD { return &c.Session.MaxCost }, amount)},
	{"session.timeout", set(func(c *Config) *time.Duration { return &c.Session.Timeout }, duration(time.Second, day))},
	{"session.cap", set(func(c *Config) *string { return &c.Session.Cap }, text(oneOf("inferred", "asserted")))},
	{"session.max_atoms", set(func(c *Config) *int { return &c.Session.MaxAtoms }, whole(1, 10_000))},
	{"route.*.substrate", route(func(r *Route, n node) (err error) { r.Substrate, err = str(n, slug); return })},
	{"route.*.model", route(func(r *Route, n node) (err error) { r.Model, err = str(n, word); return })},
	{"route.*.timeout", route(func(r *Route, n node) (err error) { r.Timeout, err = spanOf(n, time.Second, day); return })},
	{"route.*.max_usd", route(func(r *Route, n node) (err error) { r.MaxCost, err = amount(n); return })},
	{"substrate.*.argv", substrate(func(s *Substrate, n node) (err error) { s.Argv, err = argv(n); return })},
	{"substrate.*.file", substrate(func(s *Substrate, n node) (err error) { s.File, err = str(n, word); return })},
	{"substrate.*.env", substrate(func(s *Substrate, n node) (err error) { s.Env, err = words(n, envName); return })},
	{"substrate.*.free", substrate(func(s *Substrate, n node) (err error) { s.Free, err = boolean(n); return })},
	{"substrate.*.max_bytes", substrate(func(s *Substrate, n node) (err error) { s.MaxBytes, err = integer(n, 1, 1<<30); return })},
	{"substrate.*.model", substrate(func(s *Substrate, n node) (err error) { s.Model, err = str(n, word); return })},
	{"substrate.*.base_url", substrate(func(s *Substrate, n node) (err error) { s.BaseURL, err = address(n); return })},
	{"substrate.*.key_env", substrate(func(s *Substrate, n node) (err error) { s.KeyEnv, err = str(n, keyEnv); return })},
	{"substrate.*.max_tokens", substrate(func(s *Substrate, n node) (err error) { s.MaxTokens, err = integer(n, 256, 1_000_000); return })},
	{"substrate.*.max_tokens_key", substrate(func(s *Substrate, n node) (err error) {
		s.MaxTokensKey, err = str(n, oneOf("max_tokens", "max_completion_tokens"))
		return
	})},
	{"substrate.*.thinking", substrate(func(s *Substrate, n node) (err error) {
		s.Thinking, err = str(n, oneOf("adaptive", "disabled"))
		return
	})},
	{"substrate.*.context_bytes", substrate(func(s *Substrate, n node) (err error) { s.ContextBytes, err = integer(n, 16_384, 1<<26); return })},
	{"substrate.*.answer_timeout", substrate(func(s *Substrate, n node) (err error) { s.AnswerTimeout, err = spanOf(n, time.Second, day); return })},
	{"prices.*.input_usd", price(func(p *Price) *budget.MicroUSD { return &p.Input })},
	{"prices.*.output_usd", price(func(p *Price) *budget.MicroUSD { return &p.Output })},
	{"prices.*.cache_read_usd", price(func(p *Price) *budget.MicroUSD { return &p.CacheRead })},
	{"prices.*.cache_write_usd", price(func(p *Price) *budget.MicroUSD { p.CacheWrites = true; return &p.CacheWrite })},
	{"contract.profile", set(func(c *Config) *string { return &c.Contract.Profile }, text(word))},
	{"contract.surface", set(func(c *Config) *contract.Surface { return &c.Contract.Surface }, named(contract.SurfaceNames))},
	{"contract.voice", set(func(c *Config) *contract.Voice { return &c.Contract.Voice }, named(contract.VoiceNames))},
	{"contract.engagement", set(func(c *Config) *contract.Engagement { return &c.Contract.Engagement }, named(contract.EngagementNames))},
	{"contract.roles.*", entry(func(c *Config) *map[string]contract.Role { return &c.Contract.Roles }, kindName, func(r *contract.Role, n node) (err error) {
		*r, err = nameOf(n, contract.RoleNames())
		return
	})},
	{"persona.floor.atoms", set(func(c *Config) *int { return &c.Floor.Atoms }, whole(0, 10_000))},
	{"persona.floor.processes", set(func(c *Config) *int { return &c.Floor.Processes }, whole(0, 10_000))},
	{"persona.floor.guides", set(func(c *Config) *int { return &c.Floor.Guides }, whole(0, 10_000))},
	{"persona.floor.unresolved_pct", set(func(c *Config) *int { return &c.Floor.UnresolvedPct }, whole(0, 100))},
	{"governance.lease", set(func(c *Config) *string { return &c.Lease }, text(oneOf("off", "required")))},
	{"governance.require_signed", set(func(c *Config) *bool { return &c.RequireSigned }, boolean)},
	{"governance.allowed_signers", set(func(c *Config) *string { return &c.AllowedSigners }, text(repoFile))},
	{"governance.approvals", set(func(c *Config) *int { return &c.Approvals }, whole(1, 9))},
	{"governance.approvers.*", entry(func(c *Config) *map[string][]string { return &c.Approvers }, repoGlob, func(people *[]string, n node) (err error) { // as a type is a glob too
		*people, err = words(n, email)
		return
	})},
	{"anchor.mode", set(func(c *Config) *string { return &c.Anchor.Mode }, listed("full", "express", "lite", "untracked"))},
	{"anchor.strictness", set(func(c *Config) *string { return &c.Anchor.Strictness }, listed("quick", "default", "deep"))},
	{"anchor.state", set(func(c *Config) *string { return &c.Anchor.State }, folder(bundleRoot))},
	{"anchor.constitutions", set(func(c *Config) *[]string { return &c.Anchor.Constitutions }, places)},
	{"anchor.ttl", set(func(c *Config) *time.Duration { return &c.Anchor.TTL }, duration(time.Minute, day))},
	{"pipeline.auto_apply", set(func(c *Config) *bool { return &c.Pipeline.AutoApply }, boolean)},
	{"pipeline.auto_kinds", set(func(c *Config) *[]string { return &c.Pipeline.AutoKinds }, list(kindName))},
	{"pipeline.review_ttl", set(func(c *Config) *time.Duration { return &c.ReviewTTL }, duration(time.Hour, 366*day))},
	{"pipeline.min_tier", set(func(c *Config) *string { return &c.Pipeline.MinTier }, listed("SAFE_AUTO", "NOTIFY_APPLY", "APPROVAL_REQUIRED"))},
	{"pipeline.quiet_hours", set(func(c *Config) **Quiet { return &c.Pipeline.Quiet }, quietHours)},
	{"pipeline.zone", set(func(c *Config) **time.Location { return &c.Pipeline.Zone }, zone)},
	{"pipeline.autonomy", set(func(c *Config) *string { return &c.Pipeline.Autonomy }, listed("act", "observe"))},
	{"pipeline.core", set(func(c *Config) *[]string { return &c.Pipeline.Core }, list(repoGlob))},
	{"pipeline.protected", set(func(c *Config) *[]string { return &c.Pipeline.Protected }, list(repoGlob))},
	{"pipeline.security", set(func(c *Config) *[]string { return &c.Pipeline.Security }, list(repoGlob))},
	{"pipeline.max_files", set(func(c *Config) *int { return &c.Pipeline.MaxFiles }, whole(1, 1000))},
	{"pipeline.blast", set(func(c *Config) *int { return &c.Pipeline.Blast }, whole(0, 100_000))},
	{"pipeline.machine_blast", set(func(c *Config) *int { return &c.Pipeline.MachineBlast }, whole(0, 100_000))},
	{"pipeline.test_confidence_pct", set(func(c *Config) *int { return &c.Pipeline.TestConfidence }, whole(0, 100))},
	{"pipeline.validate", set(func(c *Config) *[][]string { return &c.Pipeline.Validate }, argvs)},
	{"pipeline.verify", set(func(c *Config) *[][]string { return &c.Pipeline.Verify }, argvs)},
	{"pipeline.expand", set(func(c *Config) *string { return &c.Pipeline.Expand }, listed("off", "auto"))},
	{"pipeline.plan", set(func(c *Config) *string { return &c.Pipeline.Plan }, listed("off", "auto", "always"))},
	{"pipeline.check_timeout", set(func(c *Config) *time.Duration { return &c.Pipeline.CheckTimeout }, duration(time.Second, time.Hour))},
	{"pipeline.repair_timebox", set(func(c *Config) *time.Duration { return &c.Pipeline.RepairTimebox }, duration(time.Second, time.Hour))},
	{"pipeline.check_env", set(func(c *Config) *[]string { return &c.Pipeline.CheckEnv }, list(envName))},
	{"toolbox.run", set(func(c *Config) *[][]string { return &c.Toolbox.Run }, argvs)},
	{"toolbox.web_hosts", set(func(c *Config) *[]string { return &c.Toolbox.Hosts }, list(host))},
	{"toolbox.command_timeout", set(func(c *Config) *time.Duration { return &c.Toolbox.Command }, duration(time.Second, time.Hour))},
	{"toolbox.tool_timeout", set(func(c *Config) *time.Duration { return &c.Toolbox.Timeout }, duration(time.Second, time.Hour))},
	{"drain.max_tasks", set(func(c *Config) *int { return &c.MaxTasks }, whole(1, 1000))},
	{"drain.lease", set(func(c *Config) *time.Duration { return &c.TaskLease }, duration(time.Second, day))},
	{"drain.max_attempts", set(func(c *Config) *int { return &c.MaxAttempts }, whole(1, 100))},
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
	{"sense.ready", set(func(c *Config) *[]string { return &c.Sense.Ready }, list(sensorName))},
	{"sense.paths", set(func(c *Config) *[]string { return &c.Sense.Paths }, list(taskPath))},
	{"sense.role", set(func(c *Config) *string { return &c.Sense.Role }, text(slug))},
	{"sense.run", set(func(c *Config) *int { return &c.Sense.Run }, whole(1, 1000))},
	{"sense.day", set(func(c *Config) *int { return &c.Sense.Day }, whole(1, 10_000))},
	{"sense.open", set(func(c *Config) *int { return &c.Sense.Open }, whole(1, 10_000))},
	{"drain.notify", set(func(c *Config) *[]string { return &c.Notify }, argv)},
	{"sandbox.enforce", set(func(c *Config) *string { return &c.Sandbox.Enforce }, listed("require", "best-effort", "off"))},
	{"sandbox.network", set(func(c *Config) *string { return &c.Sandbox.Network }, listed(networks()...))},
	{"sandbox.check_network", set(func(c *Config) *string { return &c.Sandbox.CheckNetwork }, listed(networks()...))},
	{"sandbox.unix_sockets", set(func(c *Config) *bool { return &c.Sandbox.UnixSockets }, boolean)},
	{"sandbox.read", set(func(c *Config) *[]string { return &c.Sandbox.Read }, list(place))},
	{"sandbox.write", set(func(c *Config) *[]string { return &c.Sandbox.Write }, list(place))},
	{"sandbox.file_mb", set(func(c *Config) *int { return &c.Sandbox.FileMB }, whole(0, 1<<20))},
	{"sandbox.disk_mb", set(func(c *Config) *int { return &c.Sandbox.DiskMB }, whole(0, 1<<20))},
	{"sandbox.memory_mb", set(func(c *Config) *int { return &c.Sandbox.MemoryMB }, whole(0, 1<<20))},
	{"sandbox.cpu", set(func(c *Config) *time.Duration { return &c.Sandbox.CPU }, duration(0, day))},
	{"sandbox.open_files", set(func(c *Config) *int { return &c.Sandbox.OpenFiles }, whole(0, 1<<20))},
	{"sandbox.processes", set(func(c *Config) *int { return &c.Sandbox.Processes }, whole(0, 1<<20))},
}

// allKeys are keys and those of the [[mcp]] tables.
var allKeys = sync.OnceValue(func() []key { return slices.Concat(keys, serverKeys()) })

// known are the substrates odd is made for: they need no section of their own.
var known = []string{"extract", "replay", "exec", "claude", "acp", "anthropic", "openai"}

// matches says whether path is the pattern ("all") or a table on the way to it.
func matches(pattern string, path []string) (all, prefix bool) {
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

// find returns the key path names and whether it names a table above keys.
func find(path []string) (k key, isKey, isTable bool) {
	for _, k := range allKeys() {
		all, prefix := matches(k.name, path)
		if all {
			return k, true, false
		}
		isTable = isTable || prefix
	}
	return key{}, false, isTable
}

// suggest is the known name nearest to path, or "": first a key that only sits
// in another table, then one within three typing errors.
func suggest(path []string) string {
	last, full := path[len(path)-1], strings.Join(path, ".")
	best, least := "", 4
	for _, name := range names() {
		parts := strings.Split(name, ".")
		if parts[len(parts)-1] == "*" {
			continue
		}
		d := levenshtein.ComputeDistance(full, fill(parts, path))
		if len(parts) > 1 && parts[len(parts)-1] == last {
			d = min(d, 1)
		}
		if strings.HasPrefix(fill(parts, path), full+"_") {
			d = min(d, 3)
		}
		if d < least && d < len(full)/2+1 {
			best, least = fill(parts, path), d
		}
	}
	return best
}

// names are the keys and the tables above them.
func names() []string {
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

// fill puts path's own parts where the pattern has a "*".
func fill(parts, path []string) string {
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

// substrate returns a setter of one member of [substrate.NAME].
func substrate(set func(*Substrate, node) error) setter {
	return entry(func(c *Config) *map[string]Substrate { return &c.Substrates }, func(name string) error {
		if err := slug(name); err != nil {
			return fmt.Errorf("the name of a substrate: %w", err)
		}
		return nil
	}, set)
}
