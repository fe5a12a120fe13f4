package config

import (
	"fmt"
	"slices"
	"strings"
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
	set  func(c *Config, part string, n node) error
}

// keys is every key of odd.toml but those of [[mcp]], in the order of the reference.
var keys = []key{
	{"odd.format", whole(func(c *Config) *int { return &c.Format }, 1, Format)},
	{"odd.least_version", func(c *Config, _ string, n node) (err error) {
		c.LeastLine = n.line
		c.LeastVersion, err = str(n, isVersion)
		return err
	}},
	{"bundle.root", folder(func(c *Config) *string { return &c.Root }, bundleRoot)},
	{"canon.external", list(func(c *Config) *[]string { return &c.External }, slug)},
	{"board.branch", text(func(c *Config) *string { return &c.Branch }, branchName)},
	{"board.target", text(func(c *Config) *string { return &c.Target }, branchName)},
	{"board.remote", text(func(c *Config) *string { return &c.Remote }, remoteName)},
	{"board.remote_timeout", duration(func(c *Config) *time.Duration { return &c.RemoteTime }, time.Second, day)},
	{"agent.name", text(func(c *Config) *string { return &c.AgentName }, identity)},
	{"agent.email", text(func(c *Config) *string { return &c.AgentEmail }, identity)},
	{"tenant.id", text(func(c *Config) *string { return &c.Tenant }, slug)},
	{"budget.monthly_usd", money(func(c *Config) *budget.MicroUSD { c.HasBudget = true; return &c.Budget.Monthly })},
	{"budget.hard_stop_usd", money(func(c *Config) *budget.MicroUSD { return &c.Budget.HardStop })},
	{"budget.alert_at_pct", whole(func(c *Config) *int { return &c.Budget.AlertPct }, 0, 100)},
	{"budget.teams.*", teamMoney},
	{"session.substrate", text(func(c *Config) *string { return &c.Session.Substrate }, slug)},
	{"session.model", text(func(c *Config) *string { return &c.Session.Model }, word)},
	{"session.fallback", list(func(c *Config) *[]string { return &c.Session.Fallback }, slug)},
	{"session.max_turns", whole(func(c *Config) *int { return &c.Session.MaxTurns }, 1, 1000)},
	{"session.max_usd", money(func(c *Config) *budget.MicroUSD { return &c.Session.MaxCost })},
	{"session.timeout", duration(func(c *Config) *time.Duration { return &c.Session.Timeout }, time.Second, day)},
	{"session.cap", text(func(c *Config) *string { return &c.Session.Cap }, oneOf("inferred", "asserted"))},
	{"session.max_atoms", whole(func(c *Config) *int { return &c.Session.MaxAtoms }, 1, 10_000)},
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
	{"contract.profile", text(func(c *Config) *string { return &c.Contract.Profile }, word)},
	{"contract.surface", setNamed(func(c *Config) *contract.Surface { return &c.Contract.Surface }, contract.SurfaceNames)},
	{"contract.voice", setNamed(func(c *Config) *contract.Voice { return &c.Contract.Voice }, contract.VoiceNames)},
	{"contract.engagement", setNamed(func(c *Config) *contract.Engagement { return &c.Contract.Engagement }, contract.EngagementNames)},
	{"contract.roles.*", roleOfKind},
	{"persona.floor.atoms", whole(func(c *Config) *int { return &c.Floor.Atoms }, 0, 10_000)},
	{"persona.floor.processes", whole(func(c *Config) *int { return &c.Floor.Processes }, 0, 10_000)},
	{"persona.floor.guides", whole(func(c *Config) *int { return &c.Floor.Guides }, 0, 10_000)},
	{"persona.floor.unresolved_pct", whole(func(c *Config) *int { return &c.Floor.UnresolvedPct }, 0, 100)},
	{"governance.lease", text(func(c *Config) *string { return &c.Lease }, oneOf("off", "required"))},
	{"governance.require_signed", flag(func(c *Config) *bool { return &c.RequireSigned })},
	{"governance.allowed_signers", text(func(c *Config) *string { return &c.AllowedSigners }, repoFile)},
	{"governance.approvals", whole(func(c *Config) *int { return &c.Approvals }, 1, 9)},
	{"governance.approvers.*", approversOf},
	{"anchor.mode", setListed(func(c *Config) *string { return &c.Anchor.Mode }, anchorModes)},
	{"anchor.strictness", setListed(func(c *Config) *string { return &c.Anchor.Strictness }, strictnesses)},
	{"anchor.state", folder(func(c *Config) *string { return &c.Anchor.State }, bundleRoot)},
	{"anchor.constitutions", places(func(c *Config) *[]string { return &c.Anchor.Constitutions })},
	{"anchor.ttl", duration(func(c *Config) *time.Duration { return &c.Anchor.TTL }, time.Minute, day)},
	{"pipeline.auto_apply", flag(func(c *Config) *bool { return &c.Pipeline.AutoApply })},
	{"pipeline.review_ttl", duration(func(c *Config) *time.Duration { return &c.ReviewTTL }, time.Hour, 366*day)},
	{"pipeline.min_tier", setListed(func(c *Config) *string { return &c.Pipeline.MinTier }, minTiers)},
	{"pipeline.quiet_hours", quietHours},
	{"pipeline.zone", zone},
	{"pipeline.autonomy", setListed(func(c *Config) *string { return &c.Pipeline.Autonomy }, autonomies)},
	{"pipeline.core", globs(func(c *Config) *[]string { return &c.Pipeline.Core })},
	{"pipeline.protected", globs(func(c *Config) *[]string { return &c.Pipeline.Protected })},
	{"pipeline.security", globs(func(c *Config) *[]string { return &c.Pipeline.Security })},
	{"pipeline.max_files", whole(func(c *Config) *int { return &c.Pipeline.MaxFiles }, 1, 1000)},
	{"pipeline.blast", whole(func(c *Config) *int { return &c.Pipeline.Blast }, 0, 100_000)},
	{"pipeline.machine_blast", whole(func(c *Config) *int { return &c.Pipeline.MachineBlast }, 0, 100_000)},
	{"pipeline.test_confidence_pct", whole(func(c *Config) *int { return &c.Pipeline.TestConfidence }, 0, 100)},
	{"pipeline.validate", argvs(func(c *Config) *[][]string { return &c.Pipeline.Validate })},
	{"pipeline.verify", argvs(func(c *Config) *[][]string { return &c.Pipeline.Verify })},
	{"pipeline.expand", setListed(func(c *Config) *string { return &c.Pipeline.Expand }, asks)},
	{"pipeline.plan", setListed(func(c *Config) *string { return &c.Pipeline.Plan }, plans)},
	{"pipeline.check_timeout", duration(func(c *Config) *time.Duration { return &c.Pipeline.CheckTimeout }, time.Second, time.Hour)},
	{"pipeline.repair_timebox", duration(func(c *Config) *time.Duration { return &c.Pipeline.RepairTimebox }, time.Second, time.Hour)},
	{"pipeline.check_env", list(func(c *Config) *[]string { return &c.Pipeline.CheckEnv }, envName)},
	{"toolbox.run", argvs(func(c *Config) *[][]string { return &c.Toolbox.Run })},
	{"toolbox.web_hosts", list(func(c *Config) *[]string { return &c.Toolbox.Hosts }, host)},
	{"toolbox.command_timeout", duration(func(c *Config) *time.Duration { return &c.Toolbox.Command }, time.Second, time.Hour)},
	{"toolbox.tool_timeout", duration(func(c *Config) *time.Duration { return &c.Toolbox.Timeout }, time.Second, time.Hour)},
	{"drain.max_tasks", whole(func(c *Config) *int { return &c.MaxTasks }, 1, 1000)},
	{"drain.lease", duration(func(c *Config) *time.Duration { return &c.TaskLease }, time.Second, day)},
	{"drain.max_attempts", whole(func(c *Config) *int { return &c.MaxAttempts }, 1, 100)},
	{"sense.role", text(func(c *Config) *string { return &c.Sense.Role }, slug)},
	{"sense.run", whole(func(c *Config) *int { return &c.Sense.Run }, 1, 1000)},
	{"sense.day", whole(func(c *Config) *int { return &c.Sense.Day }, 1, 10_000)},
	{"sense.open", whole(func(c *Config) *int { return &c.Sense.Open }, 1, 10_000)},
	{"drain.notify", func(c *Config, _ string, n node) (err error) { c.Notify, err = argv(n); return }},
	{"sandbox.enforce", setListed(func(c *Config) *string { return &c.Sandbox.Enforce }, enforcements)},
	{"sandbox.network", setListed(func(c *Config) *string { return &c.Sandbox.Network }, networks)},
	{"sandbox.check_network", setListed(func(c *Config) *string { return &c.Sandbox.CheckNetwork }, networks)},
	{"sandbox.unix_sockets", flag(func(c *Config) *bool { return &c.Sandbox.UnixSockets })},
	{"sandbox.read", list(func(c *Config) *[]string { return &c.Sandbox.Read }, place)},
	{"sandbox.write", list(func(c *Config) *[]string { return &c.Sandbox.Write }, place)},
	{"sandbox.file_mb", whole(func(c *Config) *int { return &c.Sandbox.FileMB }, 0, 1<<20)},
	{"sandbox.disk_mb", whole(func(c *Config) *int { return &c.Sandbox.DiskMB }, 0, 1<<20)},
	{"sandbox.memory_mb", whole(func(c *Config) *int { return &c.Sandbox.MemoryMB }, 0, 1<<20)},
	{"sandbox.cpu", duration(func(c *Config) *time.Duration { return &c.Sandbox.CPU }, 0, day)},
	{"sandbox.open_files", whole(func(c *Config) *int { return &c.Sandbox.OpenFiles }, 0, 1<<20)},
	{"sandbox.processes", whole(func(c *Config) *int { return &c.Sandbox.Processes }, 0, 1<<20)},
}

// allKeys are keys and those of the [[mcp]] tables.
func allKeys() []key { return append(slices.Clone(keys), serverKeys()...) }

// known are the substrates odd is made for: they need no section of their own.
var known = []string{"extract", "replay", "exec", "claude", "acp", "anthropic", "openai"}

// matches says whether path is the pattern ("all") or a table on the way to it.
func matches(pattern string, path []string) (all, prefix bool) {
	parts := strings.Split(pattern, ".")
	if len(path) > len(parts) {
		return false, false
	}
	for i, p := range path {
		if parts[i] != "*" && parts[i] != p {
			return false, false
		}
	}
	return len(path) == len(parts), len(path) < len(parts)
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

func teamMoney(c *Config, part string, n node) error {
	m, err := amount(n)
	if err != nil {
		return err
	}
	if c.Budget.Teams == nil {
		c.Budget.Teams = map[string]budget.MicroUSD{}
	}
	c.Budget.Teams[part] = m
	return nil
}

func approversOf(c *Config, part string, n node) error {
	if err := repoGlob(part); err != nil { // as a type is one too
		return err
	}
	people, err := words(n, email)
	if err != nil {
		return err
	}
	if c.Approvers == nil {
		c.Approvers = map[string][]string{}
	}
	c.Approvers[part] = people
	return nil
}

// substrate makes a setter of [substrate.NAME] from one of its members.
func substrate(set func(*Substrate, node) error) func(*Config, string, node) error {
	return func(c *Config, part string, n node) error {
		if err := slug(part); err != nil {
			return fmt.Errorf("the name of a substrate: %w", err)
		}
		s := c.Substrates[part]
		if err := set(&s, n); err != nil {
			return err
		}
		if c.Substrates == nil {
			c.Substrates = map[string]Substrate{}
		}
		c.Substrates[part] = s
		return nil
	}
}
