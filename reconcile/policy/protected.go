package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/secrets"
)

// surface is one kind of file that no machine writes: the globs that name it,
// matched against a path's [FoldPath], and why.
type surface struct {
	code, why string
	globs     []string
}

// surfaces are what stands between a change and the machine that proposes it:
// what git runs, what governs, what records, what configures the agents
// themselves, what builds and publishes, what holds secrets, and what other
// people wrote. Every glob is in lower case and names whole words: a source
// file about tokens is none of these.
var surfaces = []surface{
	{"protected_git", "git may run what it says", []string{
		"**/.git/**", "**/.gitmodules", "**/.gitattributes", "**/.gitconfig", "**/.githooks/**", "**/.husky/**",
		"**/.pre-commit-config.y*ml", "**/lefthook*.y*ml", "**/.lefthook*.y*ml", "**/.overcommit.yml"}},
	{"protected_governance", "it sets what odd and agents may do, so only a person changes it", []string{
		"**/governance/**", "**/odd.toml", "**/pause.toml", "**/allowed_signers", "**/codeowners"}},
	{"protected_record", "it is one of odd's records, and only odd appends to it", []string{
		"**/ledger", "**/ledger/**/*.jsonl", "**/proposals", "**/ledger/[0-9][0-9][0-9][0-9]-[0-9][0-9]/**", "**/proposals/*.jsonl", "**/journal/*.tsv"}},
	{"protected_anchor", "it holds the write permits of sessions", []string{
		"**/.hestai/**", "**/.hestai-state/**"}},
	{"protected_agent", "it configures the agents and their hooks", agentFolders},
	{"protected_workflow", "CI runs it with access to secrets", []string{
		"**/.github/**", "**/.gitlab-ci.yml", "**/.gitlab/**", "**/.gitea/**", "**/.forgejo/**", "**/.circleci/**", "**/.buildkite/**",
		"**/.woodpecker/**", "**/.woodpecker.y*ml", "**/.drone.yml", "**/.travis.yml", "**/jenkinsfile", "**/jenkinsfile.*",
		"**/azure-pipelines*.yml", "**/bitbucket-pipelines.yml", "**/appveyor.yml", "**/.appveyor.yml", "**/cloudbuild.y*ml"}},
	{"protected_credential", "it is a place for passwords, keys or tokens", []string{
		"**/.env", "**/.env.*", "**/.env-*", "**/.env_*", "**/.envrc", "**/.ssh/**", "**/.aws/**", "**/.gcp/**", "**/.azure/**", "**/.kube/**", "**/.gnupg/**",
		"**/.docker/config.json", "**/.netrc", "**/_netrc", "**/.npmrc", "**/.yarnrc*", "**/.pypirc", "**/.git-credentials", "**/.pgpass", "**/.my.cnf", "**/.htpasswd",
		"**/*.pem", "**/*.key", "**/*.p12", "**/*.pfx", "**/*.jks", "**/*.keystore", "**/*.kdbx", "**/*.ppk", "**/*.tfstate", "**/*.tfvars",
		"**/id_rsa", "**/id_rsa.*", "**/id_ed25519", "**/id_ed25519.*", "**/id_ecdsa", "**/id_ecdsa.*", "**/id_dsa", "**/id_dsa.*",
		"**/credentials", "**/credentials.json", "**/credentials.y*ml", "**/credentials.toml", "**/credentials.ini", "**/credentials.csv",
		"**/secrets.json", "**/secrets.y*ml", "**/secrets.toml", "**/secrets.env", "**/service-account*.json"}},
	{"protected_dependency", "it is vendored code, which a package manager writes", []string{
		"vendor/**", "**/vendor/modules.txt", "third_party/**", "**/node_modules/**", "**/bower_components/**", "**/.venv/**", "**/venv/**", "**/site-packages/**", "**/.yarn/**"}},
}

// What agents' programs read in a repository before any task: the folders and files
// that configure them or run something, which no machine writes, and the plain
// instructions, which only a person lets in ([InstructsAgents]).
//
// Sources: the memory, rules and settings pages of Claude Code, Codex, Gemini CLI,
// Cursor, Windsurf, Kiro, Trae, Cline, Roo Code, Kilo Code, GitHub Copilot, opencode,
// Amazon Q, Augment, Junie, Zed, Goose, Crush, Qwen Code, Warp, Factory, OpenHands and
// Replit; agents.md and agentskills.io for what many of them share.
var (
	agentFolders = []string{
		"**/.claude/**", "**/.claude.json", "**/.claude-plugin/**", "**/.mcp.json", "**/.agents/**", "**/.agent/**", "**/.codex/**", "**/.cursor/**", "**/.gemini/**",
		"**/.kiro/**", "**/.trae/**", "**/.clinerules/**", "**/.windsurf/**", "**/.continue/**", "**/.roo/**", "**/.kilocode/**", "**/.opencode/**", "**/opencode.json*",
		"**/.github/copilot-instructions.md", "**/.github/instructions/**", "**/.github/agents/**", "**/.github/prompts/**",
		"**/.amazonq/**", "**/.augment/**", "**/.junie/**", "**/.factory/**", "**/.openhands/**", "**/.qwen/**", "**/.crush/**", "**/crush.json", "**/.crush.json",
		"**/.aider.conf.yml", "**/.zed/**", "**/.idea/**", "**/.vscode/**", "**/.devcontainer/**", "**/.devcontainer.json"}
	agentInstructions = []string{
		"**/claude.md", "**/claude.local.md", "**/agents.md", "**/agents.override.md", "**/agent.md", "**/gemini.md", "**/qwen.md", "**/crush.md", "**/warp.md",
		"**/replit.md", "**/skill.md", "**/.cursorrules", "**/.windsurfrules", "**/.clinerules", "**/.roorules*", "**/.kilocoderules*", "**/.goosehints", "**/.rules",
		"**/.augment-guidelines"}
)

// InstructsAgents reports a file that agents at work in the repository read as instructions,
// in whatever case its name is: what is in it, the next agent does.
func InstructsAgents(p string) bool {
	return MatchAnyGlob(agentInstructions, strings.TrimPrefix(FoldPath(p), "/"))
}

// gatePackages is what judges changes in odd's own repository, and what
// measures it, named by package so that a new file is in by being there.
var gatePackages = []string{
	"reconcile/**", "board/gate/**", "board/review/**", "board/pipeline/**", "board/budget/**", "board/rules/**", "board/verify/**", "journal/event/**",
	"persona/anchor/**", "persona/contract/**", "testscripts/*_test.go", "action.yml",
}

var ownModule = lazyRegexp(`(?m)^module[ \t]+"?github\.com/odd-cli/odd"?[ \t]*(//.*)?\r?$`)

// GatePackages returns globs to hand to [CheckProtected] for a repository with this
// go.mod: odd's own gate packages if it is odd's own, else none. A gate that a
// machine may edit is none.
func GatePackages(goMod []byte) []string {
	if !ownModule().Match(goMod) {
		return nil
	}
	return slices.Clone(gatePackages)
}

// CheckProtected lists every reason why no machine may write a path, or remove it,
// none if it may. extra are globs the configuration adds; nothing takes away.
// The path is read as the most forgiving file system would, so that .GIT/config,
// "git~1" and names with unseen letters in them are what they stand for.
// A path that is not from the repository's top is [CheckPath]'s to refuse.
func CheckProtected(p string, extra []string) []Finding {
	folded := strings.TrimPrefix(FoldPath(p), "/")
	var out []Finding
	for _, s := range surfaces {
		if MatchAnyGlob(s.globs, folded) {
			out = append(out, protectedFinding(s.code, p, s.why))
		}
	}
	if anyName(strings.Split(folded, "/"), short().MatchString) {
		out = append(out, protectedFinding("protected_short_name", p, "its short (8.3) name can mean a protected file"))
	}
	for _, g := range extra {
		if MatchGlob(foldGlob(g), folded) {
			it := g
			if foldGlob(g) == folded {
				it = "it"
			}
			why := it + " is listed in [pipeline] protected in odd.toml, or a check runs it"
			if slices.Contains(gatePackages, g) {
				why = fmt.Sprintf("%s is part of odd's own checks", g)
			}
			out = append(out, protectedFinding("protected_config", p, why))
		}
	}
	return out
}

func protectedFinding(code, p, why string) Finding {
	return Finding{Code: code, Severity: Hard, How: ByBytes, Path: p, Text: fmt.Sprintf("%q is protected: %s", p, why), Fix: "leave it out of the change and ask a person to make it"}
}

// foldGlob folds the letters of a glob and leaves what a glob means by its
// dots and colons alone. "docs/" means all below it.
func foldGlob(g string) string {
	if dir, ok := strings.CutSuffix(g, "/"); ok {
		g = dir + "/**"
	}
	return strings.ToLower(g)
}

// secretPlaces are the globs of files that may hold credentials, which a
// command may not even read.
func secretPlaces() []string {
	for _, s := range surfaces {
		if s.code == "protected_credential" {
			return s.globs
		}
	}
	panic("unreachable: no surface holds credentials")
}

// ConfiguresAgents reports a file that configures agents' programs or their hooks, which
// no machine writes.
func ConfiguresAgents(p string) bool {
	return MatchAnyGlob(agentFolders, strings.TrimPrefix(FoldPath(p), "/"))
}

// RedactFile is [secrets.RedactLines] of a file by its path in the repository. In a place for
// credentials, such as .env, the value behind each name goes, whatever it looks like;
// a sample of one is a document.
func RedactFile(name string, b []byte) []byte {
	b = secrets.RedactLines(b)
	if !MatchAnyGlob(secretPlaces(), FoldPath(name)) || sampleFile().MatchString(name) {
		return b
	}
	return settingLine().ReplaceAll(b, []byte("${1}"+secrets.Mark+"secret]"))
}

var (
	settingLine = lazyRegexp(`(?m)^([^=:#\[\n]{1,128}[=:][ \t]*)\S.*$`)
	sampleFile  = lazyRegexp(`(?i)\.(?:example|sample|template|dist)$`)
)
