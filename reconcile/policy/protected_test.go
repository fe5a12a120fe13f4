package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestProtected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, want string }{
		{".git", "protected_git"},
		{".git/config", "protected_git"},
		{".GIT/config", "protected_git"},
		{".Git/hooks/pre-commit", "protected_git"},
		{"sub/.git/config", "protected_git"},
		{".git /config", "protected_git"},
		{".git./config", "protected_git"},
		{".g\u200cit/config", "protected_git"},
		{".git::$INDEX_ALLOCATION/config", "protected_git"},
		{".g\u0131t/../.git/x", "protected_git"},
		{`.git\config`, "protected_git"},
		{"/.git/config", "protected_git"},
		{"a/../.git/config", "protected_git"},
		{".\uff47it/config", "protected_git"},
		{"git~1/config", "protected_short_name"},
		{"GITMOD~1", "protected_short_name"},
		{".gitmodules", "protected_git"},
		{".gitattributes", "protected_git"},
		{".husky/pre-commit", "protected_git"},
		{".pre-commit-config.yaml", "protected_git"},
		{"knowledge/governance/lease.toml", "protected_governance"},
		{"odd.toml", "protected_governance"},
		{"ODD.TOML", "protected_governance"},
		{"knowledge/pause.toml", "protected_governance"},
		{"allowed_signers", "protected_governance"},
		{"knowledge/ledger/2026-11/run-X.jsonl", "protected_record"},
		{"knowledge/ledger/2026-11", "protected_record"},
		{"knowledge/journal/2026-11-22-x.tsv", "protected_record"},
		{"knowledge/proposals/run-X.jsonl", "protected_record"},
		{".hestai/sessions/active/x/anchor.json", "protected_anchor"},
		{".claude/settings.json", "protected_agent"},
		{".claude/settings.local.json", "protected_agent"},
		{".mcp.json", "protected_agent"},
		{".codex/config.toml", "protected_agent"},
		{".cursor/rules/x.mdc", "protected_agent"},
		{".vscode/tasks.json", "protected_agent"},
		{".github/workflows/ci.yml", "protected_workflow"},
		{".github/actions/x/action.yml", "protected_workflow"},
		{".gitlab-ci.yml", "protected_workflow"},
		{".circleci/config.yml", "protected_workflow"},
		{"Jenkinsfile", "protected_workflow"},
		{".env", "protected_credential"},
		{"web/.env.local", "protected_credential"},
		{"certs/server.PEM", "protected_credential"},
		{"keys/id_rsa", "protected_credential"},
		{"id_ed25519.pub", "protected_credential"},
		{".ssh/config", "protected_credential"},
		{".aws/credentials", "protected_credential"},
		{".netrc", "protected_credential"},
		{".npmrc", "protected_credential"},
		{".pypirc", "protected_credential"},
		{"config/credentials.json", "protected_credential"},
		{"vendor/x/y.go", "protected_dependency"},
		{"web/node_modules/x/index.js", "protected_dependency"},
		{".venv/lib/x.py", "protected_dependency"},

		{"cancellation_token.go", ""},
		{"authoring.md", ""},
		{"token_bucket.go", ""},
		{"secret.go", ""},
		{"internal/secrets/store.go", ""},
		{"credentials.go", ""},
		{"environment.go", ""},
		{".envoy.yaml", ""},
		{"gitignore.go", ""},
		{".gitignore", ""},
		{"docs/git/hooks.md", ""},
		{"governance.md", ""},
		{"knowledge/ledger", "protected_record"},
		{"journal/event/event.go", ""},
		{"journal/story.md", ""},
		{"odd.toml.md", ""},
		{"hestai/x", ""},
		{"claude.md", ""},
		{"cursor/x.go", ""},
		{"github/client.go", ""},
		{"jenkins.md", ""},
		{"pem.go", ""},
		{"id_rsa_test.go", ""},
		{"keyboard.go", ""},
		{"internal/vendor/model.go", ""},
		{"venv.md", ""},
		{"longername~1/x", ""},
	} {
		if got := codes(CheckProtected(c.path, nil)); got != c.want {
			t.Errorf("Protected(%q) = %q, want %q", c.path, got, c.want)
		}
	}
}

func TestInstructs(t *testing.T) {
	t.Parallel()
	for _, r := range pieces(t, "testdata/instructions.tsv") {
		if got, want := InstructsAgents(r[1]), r[0] == "yes"; got != want {
			t.Errorf("Instructs(%q) = %v", r[1], got)
		}
		for _, g := range agentInstructions {
			if err := CheckGlob(g); err != nil {
				t.Error(err)
			}
		}
	}
	for _, g := range agentInstructions {
		if !slices.ContainsFunc(pieces(t, "testdata/instructions.tsv"), func(r []string) bool { return r[0] == "yes" && MatchGlob(g, FoldPath(r[1])) }) {
			t.Errorf("testdata/instructions.tsv has no path that %q means", g)
		}
	}
}

// TestEverySurfaceBites holds the table to a list of its own, in which each glob has a
// path: one that is taken out of the table leaves its path without protection.
func TestEverySurfaceBites(t *testing.T) {
	t.Parallel()
	rows := pieces(t, "testdata/protected.tsv")
	for _, r := range rows {
		if got := codes(CheckProtected(r[1], nil)); !slices.Contains(strings.Fields(got), r[0]) {
			t.Errorf("Protected(%q) = %q, want %q", r[1], got, r[0])
		}
	}
	for _, s := range surfaces {
		for _, g := range s.globs {
			if err := CheckGlob(g); err != nil {
				t.Error(err)
			}
			if !slices.ContainsFunc(rows, func(r []string) bool { return r[0] == s.code && MatchGlob(g, FoldPath(r[1])) }) {
				t.Errorf("%s: testdata/protected.tsv has no path that %q protects", s.code, g)
			}
		}
	}
}

// A person reads the path once.
func TestProtectedNamesThePathOnce(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"check.sh": `check.sh: is protected: it is listed in [pipeline] protected`,
		"**/*.sh":  `check.sh: is protected: **/*.sh is listed in [pipeline] protected`,
	} {
		if got := CheckProtected("check.sh", []string{list})[0].Sentence(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestProtectedOnlyGrows(t *testing.T) {
	t.Parallel()
	extra := []string{"policy/", "**/Makefile", "!.git/**"}
	for _, c := range []struct{ path, want string }{
		{"policy/a/b.md", "protected_config"},
		{"Policy/A", "protected_config"},
		{"sub/makefile", "protected_config"},
		{".git/config", "protected_git"},
		{"policy.md", ""},
	} {
		if got := codes(CheckProtected(c.path, extra)); got != c.want {
			t.Errorf("Protected(%q) = %q, want %q", c.path, got, c.want)
		}
	}
}

func TestGatePackages(t *testing.T) {
	t.Parallel()
	own, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	extra := GatePackages(own)
	for _, p := range []string{"reconcile/policy/path.go", "reconcile/policy/new.go", "board/gate/lease.go", "board/rules/cap.go", "testscripts/rules_test.go"} {
		if got := codes(CheckProtected(p, extra)); got != "protected_config" {
			t.Errorf("Protected(%q) = %q with odd's own go.mod", p, got)
		}
	}
	if got := codes(CheckProtected("cmd/help.go", extra)); got != "" {
		t.Errorf("cmd/help.go: %q", got)
	}
	if got := GatePackages([]byte("module github.com/odd-cli/oddity\n")); got != nil {
		t.Errorf("another module has odd's gate packages: %q", got)
	}
}

// TestGatePackagesAreThere: a list of names rots when packages move. Each is in
// the table of who may import whom, which must name every package.
func TestGatePackagesAreThere(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("../../testscripts/imports_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gatePackages {
		dir, isPackage := strings.CutSuffix(g, "/**")
		if isPackage && !strings.Contains(string(table), "\""+dir+"\":") {
			t.Errorf("%s: no package is named so", g)
		}
		names, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(g)))
		if !isPackage && (err != nil || len(names) == 0) {
			t.Errorf("%s: nothing in this repository is named so", g)
		}
	}
}

func TestRedactFile(t *testing.T) {
	t.Parallel()
	const text = "# db\nexport DB_PASSWORD=hunter2\nPORT: 80\n\nEMPTY=\n"
	for name, want := range map[string]string{
		".env":            "# db\nexport DB_PASSWORD=[redacted:secret]\nPORT: [redacted:secret]\n\nEMPTY=\n",
		"web/.ENV.local":  "# db\nexport DB_PASSWORD=[redacted:secret]\nPORT: [redacted:secret]\n\nEMPTY=\n",
		"web/.env.sample": text,
		"docs/env.md":     text,
	} {
		got := string(RedactFile(name, []byte(text)))
		if got != want || string(RedactFile(name, []byte(got))) != got {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// pieces reads a table of testdata: rows of tab-separated pieces.
func pieces(t testing.TB, name string) [][]string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			out = append(out, strings.Split(line, "\t"))
		}
	}
	return out
}
