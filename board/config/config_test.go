package config

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/persona/contract"
)

func TestParseReadsEveryKey(t *testing.T) {
	t.Parallel()
	got, err := Parse("odd.toml", []byte(`
bundle.root = "docs/knowledge/"
[board]
branch = "odd/board"
target = "main"
remote = "origin"
remote_timeout = "45s"
[agent]
name = "Robo"
email = "robo@example.org"
[tenant]
id = "press"
[budget]
monthly_usd = 20.10
hard_stop_usd = "25"
alert_at_pct = 90
[budget.teams]
docs = 0.1
"capabilities/ops" = 1_0
[session]
substrate = "mine"
model = "m-1"
max_turns = 7
max_usd = 0.000001
timeout = "90s"
cap = "asserted"
max_atoms = 9
[substrate.mine]
argv = ["agent", "--x", ""]
env = ["AGENT_KEY"]
free = true
max_bytes = 4096
model = "m-2"
base_url = "http://127.0.0.1:8080/v1/"
key_env = "MINE_KEY"
max_tokens = 4096
max_tokens_key = "max_completion_tokens"
thinking = "adaptive"
context_bytes = 65536
answer_timeout = "2m"
[prices."m-2.5"]
input_usd = 0.075
output_usd = "15"
[prices.m-3]
input_usd = 3
output_usd = 15
cache_read_usd = 0.30
cache_write_usd = 3.75
[substrate.replay]
file = "session.json"
[contract]
profile = "oddie@2"
surface = "Code_Output"
voice = "strict"
engagement = "agent"
[contract.roles]
fix = "resolver"
audit = "observer"
[persona.floor]
atoms = 2
processes = 0
guides = 3
unresolved_pct = 50
[governance]
lease = "off"
require_signed = true
allowed_signers = ".github/allowed_signers"
approvals = 2
[governance.approvers]
"knowledge/policies/**" = ["ann@example.org", "bob@example.org"]
[anchor]
mode = "full"
state = ".sessions/"
constitutions = ["agents/", "lib/agents"]
ttl = "8h"
[pipeline]
auto_apply = false
review_ttl = "3d"
validate = [["make", "test"]]
verify = [["make", "all"], ["./x"]]
check_timeout = "5m"
repair_timebox = "10m"
check_env = ["GOFLAGS"]
expand = "auto"
plan = "always"
min_tier = "NOTIFY_APPLY"
quiet_hours = "22-7"
zone = "Europe/Berlin"
autonomy = "observe"
core = ["cmd/**", "go/"]
protected = ["deploy/**"]
security = ["billing/*.go"]
max_files = 9
blast = 0
machine_blast = 1
test_confidence_pct = 100
[toolbox]
run = [["go", "vet"]]
web_hosts = ["docs.example"]
tool_timeout = "5s"
command_timeout = "6m"
[drain]
max_tasks = 4
lease = "1h30m"
max_attempts = 5
[sense]
sensors = {test = ["build/*.json"], due = ["weekly: Sweep"], custom = ["./tools/find", "--all"]}
ready = ["test"]
paths = ["**/*.go"]
role = "mender"
run = 1
day = 2
open = 3
[sandbox]
enforce = "require"
network = "none"
check_network = "allow"
read = ["/srv/tools", "~/.cache/x"]
write = ["/srv/cache"]
file_mb = 1
disk_mb = 2
memory_mb = 3
cpu = "4s"
open_files = 5
processes = 6
[[mcp]]
name = "files"
argv = ["node", "x.js"]
tools = ["*"]
[[mcp]]
name = "sea"
url = "http://127.0.0.1:9/mcp"
token_env = "SEA_KEY"
when = "task-relevant"
kinds = ["fix"]
tags = ["tides"]
roles = ["Builder"]
tools = ["level"]
reads = ["level"]
trust_hints = true
required = true
start_timeout = "2s"
timeout = "3s"
max_bytes = 4096
pin_sha256 = "`+strings.Repeat("a1", 32)+`"
`))
	want := Config{
		Format: 1, Root: "docs/knowledge", Branch: "odd/board", Target: "main", Remote: "origin",
		AgentName: "Robo", AgentEmail: "robo@example.org", Tenant: "press",
		Budget: budget.Envelope{Monthly: 20_100_000, HardStop: 25_000_000, AlertPct: 90,
			Teams: map[string]budget.MicroUSD{"docs": 100_000, "capabilities/ops": 10_000_000}},
		HasBudget: true,
		Session:   Session{Substrate: "mine", Model: "m-1", MaxTurns: 7, MaxCost: 1, Timeout: 90 * time.Second, Cap: "asserted", MaxAtoms: 9},
		Prices: map[string]Price{
			"m-2.5": {Input: 75_000, Output: 15_000_000, CacheRead: 75_000},
			"m-3":   {Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000, CacheWrites: true},
		},
		Substrates: map[string]Substrate{
			"mine": {Argv: []string{"agent", "--x", ""}, Env: []string{"AGENT_KEY"}, Free: true, MaxBytes: 4096, API: API{Model: "m-2", BaseURL: "http://127.0.0.1:8080/v1", KeyEnv: "MINE_KEY",
				MaxTokens: 4096, MaxTokensKey: "max_completion_tokens", Thinking: "adaptive", ContextBytes: 65536, AnswerTimeout: 2 * time.Minute}},
			"replay": {File: "session.json"},
		},
		Contract: Contract{Profile: "oddie@2", Surface: contract.CodeOutput, Voice: contract.VoiceStrict, Engagement: contract.Agent,
			Roles: map[string]contract.Role{"fix": contract.Resolver, "audit": contract.Observer}},
		Servers: []Server{
			{Name: "files", Argv: []string{"node", "x.js"}, When: Operational, Tools: []string{"*"}, Network: "none", Start: 15 * time.Second, Timeout: 30 * time.Second, MaxBytes: 1 << 20},
			{Name: "sea", URL: "http://127.0.0.1:9/mcp", TokenEnv: "SEA_KEY", When: TaskRelevant, Kinds: []string{"fix"}, Tags: []string{"tides"}, Roles: []contract.Role{contract.Builder}, Tools: []string{"level"},
				Reads: []string{"level"}, TrustHints: true, Required: true, Start: 2 * time.Second, Timeout: 3 * time.Second, MaxBytes: 4096, Network: "none", Pin: strings.Repeat("a1", 32)},
		},
		Floor: Floor{Atoms: 2, Processes: 0, Guides: 3, UnresolvedPct: 50},
		Lease: "off", RequireSigned: true, AllowedSigners: ".github/allowed_signers",
		Approvals: 2, Approvers: map[string][]string{"knowledge/policies/**": {"ann@example.org", "bob@example.org"}}, Toolbox: Toolbox{Run: [][]string{{"go", "vet"}}, Hosts: []string{"docs.example"}, Timeout: 5 * time.Second, Command: 6 * time.Minute},
		MaxTasks: 4, RemoteTime: 45 * time.Second, TaskLease: 90 * time.Minute, MaxAttempts: 5, ReviewTTL: 3 * day, Sense: Sense{map[string][]string{"test": {"build/*.json"}, "due": {"weekly: Sweep"}, "custom": {"./tools/find", "--all"}}, []string{"test"}, "mender", []string{"**/*.go"}, 1, 2, 3},
		Anchor: Anchor{Mode: "full", Strictness: "default", State: ".sessions", Constitutions: []string{"agents", "lib/agents"}, TTL: 8 * time.Hour},
		Pipeline: Pipeline{MinTier: "NOTIFY_APPLY", Quiet: &Quiet{22, 7}, Zone: got.Pipeline.Zone, Autonomy: "observe",
			Core: []string{"cmd/**", "go/"}, Protected: []string{"deploy/**"}, Security: []string{"billing/*.go"}, MaxFiles: 9, Blast: 0, MachineBlast: 1, TestConfidence: 100,
			Validate: [][]string{{"make", "test"}}, Verify: [][]string{{"make", "all"}, {"./x"}}, CheckTimeout: 5 * time.Minute, RepairTimebox: 10 * time.Minute, CheckEnv: []string{"GOFLAGS"}, Expand: "auto", Plan: "always"},
		Sandbox: Sandbox{Enforce: "require", Network: "none", CheckNetwork: "allow", Read: []string{"/srv/tools", "~/.cache/x"}, Write: []string{"/srv/cache"},
			FileMB: 1, DiskMB: 2, MemoryMB: 3, CPU: 4 * time.Second, OpenFiles: 5, Processes: 6},
	}
	if d := cmp.Diff(want, got, zones); err != nil || d != "" {
		t.Error(err, d)
	}
	if z := got.Pipeline.Zone.String(); z != "Europe/Berlin" {
		t.Errorf("zone %s", z)
	}
}

// zones compares time zones by their names.
var zones = cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })

func TestParseFillsInDefaults(t *testing.T) {
	t.Parallel()
	got, err := Parse("odd.toml", []byte("[drain]\nmax_tasks = 2\n"))
	want := Default()
	want.MaxTasks = 2
	if d := cmp.Diff(want, got, zones); err != nil || d != "" {
		t.Error(err, d)
	}
	if got.Lease != "required" {
		t.Errorf("without [governance] lease it is %q, want required", got.Lease)
	}
	if got.HasBudget {
		t.Error("a budget out of nothing")
	}
}

// Every rule of the file, and the line and words that tell it.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, want string }{
		{"nothing", "", `odd.toml:1: empty; an empty odd.toml is never "no rules"`},
		{"only comments", "# soon\n\n", "odd.toml:1: empty"},
		{"only a table", "[bundle]\n", "odd.toml:1: empty"},
		{"no TOML", "a = 1\nb = = 2\n", "odd.toml:2: "},
		{"a table that is not closed", "[bundle\nroot = \"k\"\n", "odd.toml:1: expected '.' or ']'"},
		{"Latin-1", "a = \"\xe9\"\n", "odd.toml:1: "},
		{"a key twice", "[drain]\nmax_tasks = 1\nmax_tasks = 2\n", "odd.toml:3: "},
		{"a typing error", "[drain]\n\nmax_task = 1\n", `odd.toml:3: unknown key "drain.max_task"; did you mean "drain.max_tasks"?`},
		{"a typing error in a table", "[bugdet]\nmonthly_usd = 1\n", `odd.toml:1: unknown key "bugdet"; did you mean "budget"?`},
		{"the right key in the wrong table", "[session]\nmax_tasks = 1\n", `odd.toml:2: unknown key "session.max_tasks"; did you mean "drain.max_tasks"?`},
		{"a key of a substrate", "[substrate.mine]\nargs = [\"x\"]\n", `unknown key "substrate.mine.args"; did you mean "substrate.mine.argv"?`},
		{"a key from nowhere", "[bundle]\nzzzzzzzz = 1\n", `odd.toml:2: unknown key "bundle.zzzzzzzz"; odd config explain lists the keys`},
		{"a quoted key with a dot", "[\"drain.max_tasks\"]\nx = 1\n", `odd.toml:1: unknown key`},
		{"a value for a table", "drain = 3\n", "odd.toml:1: drain: want a table; write [drain]"},
		{"a table for a value", "[bundle.root]\nx = 1\n", "odd.toml:1: bundle.root: want a string"},
		{"hours that are none", "[pipeline]\nquiet_hours = \"22\"\n", `odd.toml:2: pipeline.quiet_hours: want two hours of the day, like "22-7"`},
		{"an hour that is none", "[pipeline]\nquiet_hours = \"22-24\"\n", `pipeline.quiet_hours: "22-24": want hours from 0 to 23`},
		{"hours as a number", "[pipeline]\nquiet_hours = 22\n", "pipeline.quiet_hours: want two hours"},
		{"a zone that is none", "[pipeline]\nzone = \"Mars\"\n", `odd.toml:2: pipeline.zone: "Mars": want the name of a time zone`},
		{"the machine's zone", "[pipeline]\nzone = \"Local\"\n", "pipeline.zone: \"Local\": want the name"},
		{"a floor nobody gets over", "[pipeline]\nmin_tier = \"BLOCKED\"\n", "odd.toml:2: pipeline.min_tier: "},
		{"a word for a floor", "[pipeline]\nautonomy = \"free\"\n", "odd.toml:2: pipeline.autonomy: "},
		{"a glob that climbs", "[pipeline]\ncore = [\"../x\"]\n", `odd.toml:2: pipeline.core: "../x": want paths or globs`},
		{"a glob of stars", "[pipeline]\nprotected = [\"a**/b\"]\n", "pipeline.protected: \"a**/b\": want paths"},
		{"a glob with an open bracket", "[pipeline]\nsecurity = [\"a/[b\"]\n", "pipeline.security: \"a/[b\": want paths"},
		{"a check for a shell", "[pipeline]\nvalidate = [\"make test\"]\n", "odd.toml:2: pipeline.validate: command 1: is a string; write the command as a list"},
		{"a check of no words", "[pipeline]\nverify = [[]]\n", "pipeline.verify: command 1: names no command"},
		{"checks as a word", "[pipeline]\nverify = \"make\"\n", "pipeline.verify: want a list of commands"},
		{"no file at all", "[pipeline]\nmax_files = 0\n", "pipeline.max_files: want an integer from 1"},
		{"more than all", "[pipeline]\ntest_confidence_pct = 101\n", "pipeline.test_confidence_pct: want an integer from 0 to 100"},
		{"a root that climbs", "[bundle]\nroot = \"../x\"\n", `odd.toml:2: bundle.root: "../x": want a folder`},
		{"a root that climbs inside", "[bundle]\nroot = \"a/../../x\"\n", "want a folder"},
		{"an absolute root", "[bundle]\nroot = \"/etc\"\n", "want a folder"},
		{"no root", "[bundle]\nroot = \"\"\n", "want a folder"},
		{"only a slash", "[bundle]\nroot = \"/\"\n", "want a folder"},
		{"the top as root", "[bundle]\nroot = \".\"\n", "want a folder"},
		{"a Windows root", "[bundle]\nroot = 'C:\\x'\n", "want a folder"},
		{"a root of two lines", "[bundle]\nroot = \"a\\nb\"\n", "want a folder"},
		{"git's folder", "[bundle]\nroot = \".Git/x\"\n", "git's own folder"},
		{"odd's own branch", "[board]\nbranch = \"odd\"\n", "odd keeps its review branches there"},
		{"odd's own branch on another file system", "[board]\nbranch = \"Odd\"\n", "odd keeps its review branches there"},
		{"a review branch", "[board]\ntarget = \"odd/review/x.1\"\n", "board.target: \"odd/review/x.1\": odd keeps"},
		{"a branch git refuses", "[board]\nbranch = \"a..b\"\n", "is no name git takes"},
		{"a full ref", "[board]\nbranch = \"refs/heads/main\"\n", `want the branch's short name, like "main"`},
		{"an address for a remote", "[board]\nremote = \"git@example.org:x\"\n", "want the name of a git remote"},
		{"a broken identity", "[agent]\nemail = \"a>b\"\n", "agent.email: want a text of one line"},
		{"a tenant that is no slug", "[tenant]\nid = \"A B\"\n", `"A B": want lower-case`},
		{"a tenant with a slash", "[tenant]\nid = \"a/b\"\n", `"a/b": want lower-case`},
		{"a tenant that is a flag", "[tenant]\nid = \"-a\"\n", `"-a": want lower-case`},
		{"negative money", "[budget]\nmonthly_usd = -1\n", `budget.monthly_usd: "-1" is negative`},
		{"money too fine", "[budget]\nmonthly_usd = 0.0000001\n", "finer than a millionth"},
		{"money with an exponent", "[budget]\nmonthly_usd = 1e3\n", "is not an amount of dollars"},
		{"money that is true", "[budget]\nmonthly_usd = true\n", "want an amount of dollars"},
		{"infinite money", "[budget]\nmonthly_usd = inf\n", "want an amount of dollars"},
		{"teams past the month", "[budget]\nmonthly_usd = 5\n[budget.teams]\nnews = 3\ndocs = 2.000001\n", "odd.toml:3: budget.teams: together they have more than monthly_usd 5.00"},
		{"a hard stop inside the month", "[budget]\nmonthly_usd = 5\nhard_stop_usd = 4\n", "odd.toml:3: budget.hard_stop_usd: 4.00 is below monthly_usd 5.00"},
		{"a budget without a month", "[budget]\nalert_at_pct = 50\n", "odd.toml:1: budget: has no monthly_usd"},
		{"a percentage past 100", "[budget]\nmonthly_usd = 1\nalert_at_pct = 101\n", "want an integer from 0 to 100"},
		{"a number as a string", "[drain]\nmax_tasks = \"1\"\n", "drain.max_tasks: want an integer from 1 to 1000"},
		{"none at all", "[drain]\nmax_tasks = 0\n", "want an integer from 1 to 1000"},
		{"a duration without a unit", "[session]\ntimeout = \"10\"\n", `want a duration, like "30m"`},
		{"a number for a duration", "[session]\ntimeout = 10\n", `want a duration, like "30m"`},
		{"a duration out of range", "[session]\ntimeout = \"2d\"\n", "want a duration from 1s to 1d"},
		{"a negative duration", "[drain]\nlease = \"-1h\"\n", "want a duration from 1s to 1d"},
		{"a cap a person alone gives", "[session]\ncap = \"verified\"\n", `"verified": want "inferred" or "asserted"`},
		{"a lease word", "[governance]\nlease = \"on\"\n", `"on": want "off" or "required"`},
		{"an approver that is no address", "[governance.approvers]\nrole = [\"Ann\"]\n", `"Ann": want the address of a person`},
		{"approvers of no path", "[governance.approvers]\n\"../x\" = [\"ann@example.org\"]\n", "want paths or globs"},
		{"fewer people than must approve", "[governance]\napprovals = 2\n[governance.approvers]\nrole = [\"ann@example.org\"]\n", "odd.toml:4: governance.approvers.\"role\": names 1, and governance.approvals wants 2; name more people"},
		{"a sensor that none is", "[sense.sensors]\ntests = [\"a.json\"]\n", `odd.toml:2: sense.sensors.tests: "tests" is not a sensor; the sensors are test, lint,`},
		{"a sensor that reads nothing", "[sense.sensors]\nmark = []\n", `sense.sensors.mark: lists nothing; name files, like ["**"]`},
		{"a sensor's command as a string", "[sense.sensors]\ncustom = \"./find\"\n", "write the command as a list of words"},
		{"a report outside", "[sense.sensors]\ntest = [\"../a.json\"]\n", "want paths or globs from the top"},
		{"a report by a glob of a shell", "[sense.sensors]\ntest = [\"build/{a,b}.tap\"]\n", `odd.toml:2: sense.sensors.test: "build/{a,b}.tap": odd reads no braces; write a glob for each`},
		{"a chore without its time", "[sense.sensors]\ndue = [\"Sweep\"]\n", `"Sweep": want daily, weekly or monthly, a colon`},
		{"ready for no sensor", "[sense]\nready = [\"all\"]\n", `odd.toml:2: sense.ready: "all" is not a sensor`},
		{"a folder for paths of tasks", "[sense]\npaths = [\"docs/\"]\n", "sense.paths: glob"},
		{"a kind that none is", "[pipeline]\nauto_kinds = [\"paint\"]\n", "odd.toml:2: pipeline.auto_kinds: "},
		{"approvers of what lands by itself", "[governance.approvers]\nrole = [\"ann@example.org\"]\n[pipeline]\nauto_apply = true\n", "odd.toml:4: pipeline.auto_apply: lands changes that nobody approves"},
		{"signers outside", "[governance]\nallowed_signers = \"../keys\"\n", "want a file below the top of the repository"},
		{"the top for signers", "[governance]\nallowed_signers = \".\"\n", "want a file below the top"},
		{"signers of two lines", "[governance]\nallowed_signers = \"a\\nb\"\n", "want a file below the top"},
		{"signers on a drive", "[governance]\nallowed_signers = \"c:k\"\n", "want a file below the top"},
		{"signers of git's own", "[governance]\nallowed_signers = \".git/keys\"\n", "git's own folder"},
		{"a flag as text", "[governance]\nrequire_signed = \"yes\"\n", "want true or false"},
		{"a shell line", "[substrate.x]\nargv = \"agent | tee\"\n", "odd.toml:2: substrate.x.argv: is a string; write the command as a list"},
		{"no command", "[substrate.x]\nargv = []\n", "names no command"},
		{"a number in a command", "[substrate.x]\nargv = [\"a\", 1]\n", "not 1 in it"},
		{"a value for a variable's name", "[substrate.x]\nenv = [\"A=b\"]\n", "want names of environment variables"},
		{"a substrate's name", "[substrate.\"A b\"]\nfree = true\n", "the name of a substrate"},
		{"a substrate from nowhere", "[session]\nsubstrate = \"extrakt\"\n", "odd.toml:2: session.substrate: there is no [substrate.extrakt]; known without a section are extract, replay, exec, claude, acp, anthropic, openai; did you mean \"extract\"?"},
		{"an address that is open on the way", "[substrate.openai]\nbase_url = \"http://example.org/v1\"\n", "odd.toml:2: substrate.openai.base_url: want https, or http on this machine alone"},
		{"an address that only looks near", "[substrate.openai]\nbase_url = \"http://127.0.0.1.example.org/v1\"\n", "want https"},
		{"an address on the local network", "[substrate.openai]\nbase_url = \"http://192.168.1.2:11434/v1\"\n", "want https"},
		{"an address with a name in it", "[substrate.openai]\nbase_url = \"https://me@example.org/v1\"\n", "holds a name or a password"},
		{"an address with a question", "[substrate.openai]\nbase_url = \"https://example.org/v1?key=x\"\n", "without ? and #"},
		{"no address", "[substrate.openai]\nbase_url = \"localhost:8080\"\n", "want the address of an API"},
		{"another scheme", "[substrate.openai]\nbase_url = \"file://localhost/x\"\n", "want https"},
		{"a key for its name", "[substrate.anthropic]\nkey_env = \"my key\"\n", "never the key"},
		{"too few tokens", "[substrate.anthropic]\nmax_tokens = 1\n", "want an integer from 256"},
		{"a way of thinking", "[substrate.anthropic]\nthinking = \"hard\"\n", `want "adaptive" or "disabled"`},
		{"half a price", "[prices.m]\ninput_usd = 1\n", "odd.toml:1: prices.\"m\": has no output_usd"},
		{"a price for a thousand", "[prices.m]\ninput_usd = 1\noutput_usd = 2001\n", "odd.toml:3: prices.m.output_usd: want what a million tokens cost"},
		{"a price below nothing", "[prices.m]\ninput_usd = -1\noutput_usd = 1\n", "odd.toml:2: prices.m.input_usd:"},
		{"a price finer than it is counted", "[prices.m]\ninput_usd = 0.0000001\noutput_usd = 1\n", "odd.toml:2: prices.m.input_usd:"},
		{"a price with a typing error", "[prices.m]\ninput = 1\noutput_usd = 1\n", `odd.toml:2: unknown key "prices.m.input"; did you mean "prices.m.input_usd"?`},
		{"a surface with a typing error", "[contract]\nsurface = \"code_outputs\"\n", `odd.toml:2: contract.surface: "code_outputs" is not known; did you mean "code-output"?`},
		{"a voice from nowhere", "[contract]\nvoice = \"booming\"\n", "want one of persona, neutral, strict"},
		{"an engagement with a typing error", "[contract]\nengagement = \"agnet\"\n", `did you mean "agent"?`},
		{"a role with a typing error", "[contract.roles]\nfix = \"resolvr\"\n", `odd.toml:2: contract.roles.fix: "resolvr" is not known; did you mean "resolver"?`},
		{"a kind in capitals", "[contract.roles]\nDocument = \"builder\"\n", `the kind of task: write "Document" in lower case`},
		{"a kind with a typing error", "[contract.roles]\nfixx = \"resolver\"\n", `the kind of task: "fixx" is not known; did you mean "fix"?`},
		{"a profile that is empty", "[contract]\nprofile = \"\"\n", "want a text of one line"},
		{"an anchor's mode with a typing error", "[anchor]\nmode = \"expres\"\n", `odd.toml:2: anchor.mode: "expres" is not known; did you mean "express"?`},
		{"an anchor's mode in capitals", "[anchor]\nmode = \"FULL\"\n", `"FULL": want one of full, express, lite, untracked`},
		{"a strictness from nowhere", "[anchor]\nstrictness = \"micro\"\n", "anchor.strictness: \"micro\" is not known; want one of quick, default, deep"},
		{"an anchor's state that climbs", "[anchor]\nstate = \"../s\"\n", "odd.toml:2: anchor.state: \"../s\": want a folder"},
		{"an anchor's state of git's own", "[anchor]\nstate = \".git/s\"\n", "git's own folder"},
		{"an anchor's state in the bundle", "[anchor]\nstate = \"knowledge/s\"\n", "odd.toml:2: anchor.state: \"knowledge/s\" and the bundle \"knowledge\" lie in one another"},
		{"a bundle in the anchor's state", "[bundle]\nroot = \".hestai/sessions/k\"\n", "odd.toml:2: anchor.state: \".hestai/sessions\" and the bundle"},
		{"an absolute constitution", "[anchor]\nconstitutions = [\"/etc\"]\n", "want folders below the top of the repository"},
		{"a constitution that is no glob", "[anchor]\nconstitutions = [\"a[\"]\n", "want folders below the top of the repository"},
		{"no constitutions", "[anchor]\nconstitutions = []\n", "names no folder"},
		{"constitutions as text", "[anchor]\nconstitutions = \"a\"\n", "want a list of strings"},
		{"a sandbox with a typing error", "[sandbox]\nenforce = \"requir\"\n", `odd.toml:2: sandbox.enforce: "requir" is not known; did you mean "require"?`},
		{"a network from nowhere", "[sandbox]\nnetwork = \"internet\"\n", "sandbox.network: \"internet\" is not known; want one of allow, loopback, none"},
		{"a place that is relative", "[sandbox]\nread = [\"x\"]\n", `odd.toml:2: sandbox.read: "x": want files or folders of this machine`},
		{"a place that climbs", "[sandbox]\nread = [\"~/../x\"]\n", "sandbox.read: \"~/../x\": want files"},
		{"all there is", "[sandbox]\nwrite = [\"/\"]\n", "sandbox.write: \"/\": want files"},
		{"all of a home", "[sandbox]\nread = [\"~/\"]\n", "sandbox.read: \"~/\": want files"},
		{"a permit of a second", "[anchor]\nttl = \"1s\"\n", "want a duration from 1m to 1d"},
		{"an mcp server without a name", "[[mcp]]\ncommand = \"x\"\n", "a server without a name"},
		{"an mcp server twice", "[[mcp]]\nname = \"x\"\n[[mcp]]\nname = \"x\"\n", `server "x" stands twice`},
		{"one mcp server as a table", "[mcp]\nname = \"x\"\n", "mcp: want tables"},
	} {
		_, err := Parse("odd.toml", []byte(c.file))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
			continue
		}
		if !regexp.MustCompile(`^odd\.toml:[1-9]\d*: `).MatchString(err.Error()) {
			t.Errorf("%s: %q has no place", c.name, err)
		}
	}
}

func TestParseReportsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Parse("odd.toml", []byte("[session]\ncap = \"best\"\nturns = 3\n[drain]\nmax_tasks = 0\n[bundle]\nroot = 4\n"))
	var all Errors
	if !errors.As(err, &all) {
		t.Fatalf("%T is not Errors", err)
	}
	var lines []int
	for _, e := range all {
		lines = append(lines, e.Line)
	}
	if d := cmp.Diff([]int{2, 3, 5, 7}, lines); d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	if n := strings.Count(err.Error(), "\n"); n != 3 {
		t.Errorf("%d lines, want one an error:\n%v", n+1, err)
	}
}

func TestParseRefusesSecretsWithoutRepeatingThem(t *testing.T) {
	t.Parallel()
	// Joined here so that no scanner takes this file for a leak.
	for _, s := range []string{
		"sk-" + "ant-api03-0123456789abcdefghij", "ghp" + "_0123456789abcdefghijABCDEFGHIJ", "github" + "_pat_0123456789abcdefghij",
		"AKIA" + "0123456789ABCDEF", "--key=" + "sk-" + "0123456789abcdefghij", "Authorization: Bearer " + "0123456789abcdef",
		"https://me:" + "hunter22@example.org/x", "--api-key=" + "0123456789", "-----BEGIN " + "RSA PRIVATE KEY-----",
	} {
		for _, file := range []string{"[session]\nmodel = '" + s + "'\n", "[substrate.x]\nargv = ['agent', '" + s + "']\n", "[[mcp]]\nenv = {KEY = '" + s + "'}\n"} {
			_, err := Parse("odd.toml", []byte(file))
			if err == nil || !strings.Contains(err.Error(), "looks like a credential") {
				t.Errorf("%s: got %v", file, err)
			} else if strings.Contains(err.Error(), s) {
				t.Errorf("%q repeats it", err)
			}
		}
	}
	for _, s := range []string{"claude-sonnet-4-5-20250929", "--api-key=$MY_KEY", "sk-short", "https://example.org:8080/x", "task-0123456789abcdefghijkl"} {
		if _, err := Parse("odd.toml", []byte("[session]\nmodel = '"+s+"'\n")); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// Money keeps every digit it is written with, in each way TOML can write it.
func TestParseReadsMoneyExactly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]budget.MicroUSD{
		"0.1": 100_000, "0.30": 300_000, `"0.1"`: 100_000, "7": 7_000_000, "1_000.5": 1_000_500_000, "+2.5": 2_500_000,
		"9007199254.740993": 9_007_199_254_740_993, "9007199253.740993": 9_007_199_253_740_993, // both past 2⁵³ micro-dollars
	} {
		for _, file := range []string{"[budget]\nmonthly_usd = " + text, "\xef\xbb\xbfbudget = { monthly_usd = " + text + " }\n", "# é\r\nbudget.monthly_usd = " + text + " # x\r\n"} {
			if c, err := Parse("odd.toml", []byte(file)); err != nil || c.Budget.Monthly != want {
				t.Errorf("%q: got %d, %v, want %d", file, c.Budget.Monthly, err, want)
			}
		}
	}
}

// TestShort prints a duration as odd.toml has it, whatever its last digit.
func TestShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		10 * time.Minute: "10m", time.Hour: "1h", 90 * time.Minute: "1h30m", 10 * time.Hour: "10h", 25 * time.Hour: "25h", 48 * time.Hour: "2d",
		30 * time.Second: "30s", 70 * time.Second: "1m10s", time.Hour + 10*time.Second: "1h0m10s",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestEnvName(t *testing.T) {
	t.Parallel()
	for s, good := range map[string]bool{"A": true, "az_AZ09": true, "_": true, "": false, "0A": false, "9A": false, "A=b": false, "A-B": false, "É": false, "A ": false} {
		if err := envName(s); (err == nil) != good {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestBranchName(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"main", "odd/board", "odd/reviews", "feature/a-b_c.d", "ümlaut", "a@b", "a.lock.b"} {
		if err := branchName(s); err != nil {
			t.Error(err)
		}
	}
	for _, s := range []string{"", "@", "-x", "a b", "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", `a\b`, "a..b", "a@{b", "a.", "/a", "a/", "a//b",
		".a", "a/.b", "a.lock", "a.lock/b", "a\x7fb", "a\tb", "HEAD", "odd", "odd/review", "odd/review/x"} {
		if err := branchName(s); err == nil {
			t.Errorf("%q was taken", s)
		}
	}
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	got, err := Parse("odd.toml", Template())
	want := Default()
	want.Lease = "off"
	if d := cmp.Diff(want, got, zones); err != nil || d != "" {
		t.Error(err, d)
	}
}

// A repository of a format that this odd does not know is refused as that, whatever
// else its odd.toml says.
func TestFormat(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[odd]\nformat = 2\nleast_version = \"0.2.0\"\nshape = 1\n[moon]\nfull = true\n": "odd.toml:2: odd.format: the repository has format 2, and this odd knows formats up to 1; update odd to 0.2.0 or newer, here and in CI",
		"\n[odd]\nformat = 7\nleast_version = \"a\\nb\"\n":                               "odd.toml:3: odd.format: the repository has format 7, and this odd knows formats up to 1; update odd to a newer version, here and in CI",
		"[odd]\nleast_version = \"new\"\n":                                               "odd.toml:2: odd.least_version: want a version, like \"0.1.0\"",
		"[odd]\nformat = 0\n":                                                            "odd.toml:2: odd.format: want an integer from 1 to 1",
		"[odd]\nformat = \"2\"\n":                                                        "odd.toml:2: odd.format: want an integer from 1 to 1",
		"odd = 2\n":                                                                      "odd.toml:1: odd: want a table; write [odd] above its keys",
	} {
		_, err := Parse("odd.toml", []byte(text))
		var newer *Newer
		if err == nil || err.Error() != want || errors.As(err, &newer) != strings.Contains(want, "update odd") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if c, err := Parse("odd.toml", []byte("odd.format = 1\nodd.least_version = \"0.1.0\"\n")); c.Format != 1 || err != nil {
		t.Errorf("of this format: %d, %v", c.Format, err)
	}
}

// A release below the least version may not write, a newer one may, and what is no release
// has no version to compare.
func TestLeastVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		least, version string
		may            bool
	}{
		{"0.2.0", "v0.1.9", false}, {"v0.2.0", "v0.2.0-rc.1", false}, {"0.10.0", "v0.9.0", false}, {"0.2", "v0.1.0+dirty", false},
		{"0.2.0", "v0.2.0", true}, {"0.2.0", "v1.0.0", true}, {"0.2.0", "devel", true}, {"0.2.0", "v0.0.0-20261126195708-a16ea8915c4b", true},
	} {
		cfg, err := Parse("odd.toml", []byte("\n[odd]\nleast_version = \""+c.least+"\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		want := &Older{3, c.version, c.least}
		if err := cfg.CheckVersion(c.version); (err == nil) != c.may || err != nil && err.Error() != want.Error() {
			t.Errorf("least %s, odd %s: %v", c.least, c.version, err)
		}
	}
	if cfg := Default(); cfg.CheckVersion("v0.0.1") != nil {
		t.Error("odd.toml says nothing, and a release is refused")
	}
}

// What the reference shows as a default is one, and every commented key is real.
func TestReferenceUncommented(t *testing.T) {
	t.Parallel()
	var live []string
	for _, line := range strings.Split(Reference(), "\n") {
		if commented := regexp.MustCompile(`^# (\[|[a-z_0-9]+ = )`); commented.MatchString(line) {
			line = strings.TrimPrefix(line, "# ")
		}
		live = append(live, line)
	}
	got, err := Parse("odd.toml", []byte(strings.Join(live, "\n")))
	want := Default()
	want.LeastVersion, want.LeastLine = "0.1.0", got.LeastLine
	want.Lease, want.HasBudget, want.Branch, want.Target, want.Remote, want.Session.Model = "off", true, "main", "main", "origin", "name-of-a-model"
	want.Budget = budget.Envelope{Monthly: 20_000_000, HardStop: 25_000_000, AlertPct: 80, Teams: map[string]budget.MicroUSD{"docs": 5_000_000}}
	want.Substrates = map[string]Substrate{"exec": {Argv: []string{"my-agent", "--quiet"}, Env: []string{"MY_AGENT_KEY"}, MaxBytes: 1 << 20}}
	want.Substrates["claude"] = Substrate{Argv: []string{"claude"}, Env: []string{"ANTHROPIC_API_KEY"}}
	want.Substrates["acp"] = Substrate{Argv: []string{"gemini", "--acp"}, Env: []string{"GEMINI_API_KEY"}}
	want.Substrates["anthropic"] = Substrate{API: API{KeyEnv: "ANTHROPIC_API_KEY", MaxTokens: 8192, ContextBytes: 131_072, AnswerTimeout: 5 * time.Minute}}
	want.Substrates["openai"] = Substrate{API: API{BaseURL: "http://127.0.0.1:11434/v1", KeyEnv: "OPENAI_API_KEY", MaxTokensKey: "max_tokens"}, Free: true}
	anthropic, openai := want.Substrates["anthropic"], want.Substrates["openai"]
	anthropic.Thinking, openai.Model = "adaptive", "name-of-a-model"
	want.Substrates["anthropic"], want.Substrates["openai"] = anthropic, openai
	want.Substrates["replay"] = Substrate{File: "testdata/session.md"}
	want.Session.Fallback = []string{"claude", "openai"}
	want.Routes = map[string]Route{"background": {Substrate: "openai", Model: "name-of-a-model", Timeout: 20 * time.Minute, MaxCost: 500_000}}
	want.Prices = map[string]Price{"name-of-a-model": {CacheWrites: true}}
	want.Contract = Contract{Profile: "oddie@1", Surface: contract.CodeOutput, Voice: contract.VoiceNeutral, Engagement: contract.Agent,
		Roles: map[string]contract.Role{"document": contract.Builder}}
	want.Toolbox.Run, want.Toolbox.Hosts = [][]string{{"go", "test"}, {"gofmt", "-l"}}, []string{"pkg.go.dev"}
	want.Session.Timeout = 20 * time.Minute
	want.External = []string{"oddkit"}
	want.Notify = []string{"./tools/notify"}
	want.Sense.Role, want.Sense.Ready, want.Sense.Paths = "mender", []string{"test"}, []string{"**/*.go"}
	want.Sense.Sensors = map[string][]string{"test": {"build/tests.json"}, "lint": {"build/*.sarif"}, "audit": {"build/audit.json"}, "coverage": {"cover/*.out"}, "benchmark": {"bench/*.txt"}, "issue": {"build/issues.json"},
		"mark": {"**"}, "export": {"**/*.go"}, "document": {"**/*.md"}, "due": {"weekly: Update the dependencies"}, "custom": {"./tools/findings"}}
	want.AllowedSigners = ".github/allowed_signers"
	want.Approvers = map[string][]string{"role": {"ann@example.org"}}
	want.Pipeline.Validate, want.Pipeline.Verify, want.Pipeline.CheckEnv = [][]string{{"make", "test"}}, [][]string{{"make", "all"}}, []string{"GOFLAGS"}
	want.Pipeline.AutoKinds = []string{"document"}
	want.Pipeline.MinTier, want.Pipeline.Quiet = "NOTIFY_APPLY", &Quiet{22, 7}
	want.Pipeline.Core, want.Pipeline.Protected, want.Pipeline.Security = []string{"cmd/**"}, []string{"deploy/**"}, []string{"billing/**"}
	want.Sandbox.Read, want.Sandbox.Write = []string{"~/.local/share/tool"}, []string{"/srv/cache"}
	want.Servers = []Server{{Name: "files", Argv: []string{"node", "/srv/mcp/files.js", "."}, Env: []string{"FILES_KEY"}, When: Operational, Roles: []contract.Role{contract.Builder, contract.Explorer},
		Tools: []string{"read_file", "list"}, Reads: []string{"read_file"}, Network: "none", Read: []string{"/srv/mcp"}, Start: 15 * time.Second, Timeout: 30 * time.Second, MaxBytes: 1 << 20},
		{Name: "tracker", URL: "https://mcp.example.org/v1", TokenEnv: "TRACKER_TOKEN", Tools: []string{"*"}, When: TaskRelevant, Kinds: []string{"document"}, Tags: []string{"tracker"},
			Pin: strings.Repeat("0", 64), Network: "none", Start: 15 * time.Second, Timeout: 30 * time.Second, MaxBytes: 1 << 20}}
	if d := cmp.Diff(want, got, zones); err != nil || d != "" {
		t.Error(err, d)
	}
}

// Whatever odd.toml may say, the reference says how, and nothing else.
func TestReferenceShowsEveryKey(t *testing.T) {
	t.Parallel()
	docs := Docs()
	for _, k := range allKeys() {
		if !slices.ContainsFunc(docs, func(d Doc) bool { all, _ := matchPattern(k.name, d.Path); return all }) {
			t.Errorf("the reference does not show %s", k.name)
		}
	}
	for _, d := range docs {
		if _, known, _ := findKey(d.Path); !known {
			t.Errorf("the reference shows %v, which is no key", d.Path)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Template())
	f.Add([]byte("a.b.\"c.d\" = [{x=1}, {y=[0.1, inf]}]\n[[mcp]]\n[mcp.x]\n"))
	f.Add([]byte("\xef\xbb\xbf[budget]\nmonthly_usd = 1_0.5e2\n[budget.teams]\n\"\" = 1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Parse("odd.toml", b)
		var all Errors
		switch {
		case err == nil && c.Root == "":
			t.Fatal("no error and no configuration")
		case err != nil && !errors.As(err, &all):
			t.Fatalf("%T is not Errors", err)
		case err != nil && len(all) == 0:
			t.Fatal("an error that says nothing")
		}
		for _, e := range all {
			if e.Line < 1 || e.Message == "" {
				t.Fatalf("not located: %+v", e)
			}
		}
	})
}

// What is no TOML is told in one line, in odd's own words where they are known.
func TestSyntaxIsPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[session]\nsubstrate = \"exec\"\nsubstrate = \"claude\"\n": "odd.toml:3: session.substrate is set twice; keep one of them",
		"[bundle]\nroot = \n": "odd.toml:2: ",
	} {
		_, err := Parse("odd.toml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.HasSuffix(err.Error(), ".") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
