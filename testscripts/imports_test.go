package testscripts

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// below says which packages of odd a package may import. A row that is missing
// is an error: a new package is a decision. "*" is everything but odd's
// command line, and a row "x/*" is for the sub-packages of x. A group of verbs may
// import the kit below it, and only those other packages of the command line that
// its row names.
//
// Arrows point down only: okf, journal, reconcile/secrets and board/gate know
// nobody, and nobody below cmd knows cmd. Drain may not import review, because
// only review can say done.
var below = map[string][]string{
	"cmd/odd":                          {"cmd"},
	"cmd":                              verbs("start", "pages", "agents", "anchors", "changes", "governance", "tasks", "approval", "history", "journals", "atoms"),
	"cmd/internal/start":               verbs("ops", "history", "approval", "tasks", "governance"),
	"cmd/internal/pages":               verbs("history", "approval"),
	"cmd/internal/agents":              verbs("report", "runs", "atoms", "journals", "tasks", "governance", "anchors"),
	"cmd/internal/anchors":             verbs(),
	"cmd/internal/changes":             verbs("ops", "runs", "approval"),
	"cmd/internal/governance":          verbs("atoms", "journals"),
	"cmd/internal/tasks":               verbs("runs", "approval"),
	"cmd/internal/approval":            verbs("ops", "runs", "atoms"),
	"cmd/internal/history":             verbs("report", "ops", "atoms", "explain"),
	"cmd/internal/journals":            verbs(),
	"cmd/internal/atoms":               verbs("report"),
	"cmd/internal/runs":                {"board/agent", "board/drain", "board/review", "cmd/internal/land", "cmd/internal/workspace", "cmd/internal/verb", "cmd/internal/console", "okf"},
	"cmd/internal/ops":                 {"board", "board/pipeline", "board/state", "cmd/internal/workspace", "cmd/internal/verb", "journal/repo"},
	"cmd/internal/report":              {"cmd/internal/verb", "cmd/internal/console", "okf"},
	"cmd/internal/land":                {"board/review", "cmd/internal/workspace", "cmd/internal/verb", "cmd/internal/console", "journal/repo", "okf", "reconcile/secrets"},
	"cmd/internal/workspace":           {"board", "board/config", "board/review", "board/state", "board/verify", "cmd/internal/verb", "cmd/internal/console", "journal/event", "journal/repo", "okf", "okf/disk"},
	"cmd/internal/verb":                {"cmd/internal/console", "journal/refusal", "journal/repo", "okf", "reconcile/secrets"},
	"cmd/internal/console":             {"board/budget", "cmd/internal/layout", "journal/repo", "okf", "persona/session", "persona/session/cage", "reconcile/secrets"},
	"cmd/internal/console/consoletest": {"cmd/internal/console"},
	"cmd/internal/explain":             {"*"},
	"cmd/internal/layout":              {},

	"okf":                         {},
	"okf/okftest":                 {"okf"},
	"okf/disk":                    {"okf"},
	"okf/canon":                   {"okf"},
	"okf/served":                  {"okf"},
	"journal":                     {},
	"journal/event":               {},
	"journal/event/eventtest":     {"journal/event"},
	"journal/memory":              {},
	"journal/refusal":             {},
	"journal/repo":                {"journal/refusal", "journal/repo/*"},
	"journal/repo/gitcmd":         {},
	"journal/repo/local":          {"journal/repo/mmap"},
	"journal/repo/mmap":           {},
	"journal/repo/object":         {"journal/repo/gitcmd", "journal/repo/mmap"},
	"journal/repo/ref":            {"journal/repo/gitcmd", "journal/repo/local", "journal/repo/object"},
	"journal/repo/repotest":       {},
	"journal/repo/scratch":        {"journal/repo", "journal/repo/gitcmd", "journal/repo/local", "journal/repo/object"},
	"reconcile":                   {"okf"},
	"reconcile/secrets":           {},
	"reconcile/policy":            {"reconcile/secrets"},
	"reconcile/policy/policytest": {"reconcile/policy"},
	"reconcile/lint":              {"reconcile/policy", "reconcile/secrets", "persona/jsontree"},
	"persona":                     {"okf"},
	"persona/jsontree":            {},
	"persona/deliver":             {"persona/jsontree"},
	"persona/contract":            {"persona", "persona/deliver", "okf"},
	"persona/handoff":             {"persona/contract", "persona/deliver", "okf", "reconcile/policy"},
	"persona/stream":              {},
	"persona/surface":             {"persona/contract", "persona/deliver"},
	"persona/octave":              {},
	"persona/anchor":              {"persona/octave", "persona/jsontree", "okf", "reconcile/policy"},
	"persona/session":             {"persona/contract", "persona/deliver", "persona/jsontree", "okf", "reconcile/policy", "reconcile/secrets"},
	"persona/session/*":           {"persona/session", "persona/session/cage", "persona/contract", "persona/deliver", "okf", "reconcile/policy", "reconcile/secrets"},
	"persona/session/toolbox":     {"persona/jsontree", "persona/session", "persona/session/exec", "persona/session/cage", "persona", "persona/contract", "okf", "okf/served", "reconcile/policy", "reconcile/lint", "reconcile/secrets"},
	"persona/session/loop":        {"persona/session", "persona/session/toolbox", "persona/contract", "okf", "reconcile/secrets"},
	"persona/session/endpoint":    {"persona/session", "persona/session/loop", "okf"},
	"persona/session/anthropic":   {"persona/session", "persona/session/toolbox", "persona/session/loop", "persona/session/endpoint"},
	"persona/session/openai":      {"persona/session", "persona/session/toolbox", "persona/session/loop", "persona/session/endpoint"},
	"persona/session/claude":      {"persona/jsontree", "persona/session", "okf", "persona/session/exec", "persona/session/cage", "persona/session/servers", "reconcile/policy", "reconcile/secrets"},
	"persona/session/acp":         {"persona/session", "okf", "persona/session/exec", "persona/session/cage", "persona/session/servers", "persona/session/toolbox", "reconcile/policy", "reconcile/secrets"},
	"persona/session/servers":     {"persona/session", "persona/session/exec", "persona/session/cage", "persona/session/toolbox", "persona/session/endpoint", "persona/contract", "okf", "reconcile/lint", "reconcile/policy", "reconcile/secrets"},
	"persona/session/agenttest":   {"persona/session/cage"},
	"persona/session/sessiontest": {"persona/session"},
	"persona/invoke":              {"persona", "persona/*", "okf", "journal", "journal/event", "reconcile/lint", "reconcile/secrets"},
	"persona/audit":               {"persona/contract", "persona/deliver", "persona/handoff", "persona/invoke", "okf"},
	"persona/mcp":                 {"okf", "okf/served", "persona", "persona/anchor", "board", "reconcile/lint", "reconcile/secrets"},
	"board":                       {"okf", "board/budget", "persona/contract"},
	"board/config":                {"board", "board/budget", "board/sense", "persona/contract", "reconcile/policy"},
	"board/gate":                  {},
	"board/budget":                {},
	"board/failover":              {"persona/session"},
	"board/agent":                 {"board", "board/config", "journal/refusal", "journal/repo", "journal/repo/scratch", "persona/contract", "persona/session", "persona/session/*"},
	"board/bench":                 {"board", "board/agent", "board/config", "board/pipeline", "board/risk", "journal/repo", "journal/repo/scratch", "okf", "persona/session/cage", "persona/session/exec", "reconcile/policy"},
	"board/pipeline":              {"okf", "reconcile/policy", "reconcile/lint", "reconcile/secrets", "journal/event", "journal/memory", "persona/jsontree"},
	"board/risk":                  {"board", "board/config", "board/pipeline", "journal/memory", "journal/repo", "okf", "reconcile/policy", "reconcile/lint"},
	"board/state":                 {"board", "board/failover", "board/gate", "board/pipeline", "journal/event", "journal/memory", "journal/repo", "journal/repo/object", "okf", "persona/session"},
	"board/sense":                 {"board", "okf", "journal/repo", "reconcile/policy", "reconcile/secrets"},
	"board/overview":              {"board", "board/gate", "board/budget", "board/state", "okf"},
	"board/review":                {"board", "okf", "reconcile", "journal", "journal/event", "journal/refusal"},
	"board/site":                  {"board", "board/budget", "okf"},
	"board/rules":                 {"*", "!board/agent", "!board/bench", "!board/drain", "!board/review", "!board/verify", "!persona/invoke"},
	"board/verify":                {"*", "!board/agent", "!board/bench", "!board/drain", "!persona/invoke"},
	"board/drain":                 {"*", "!board/review", "!board/rules", "!board/verify"},
	"knowledge":                   {},
}

// verbs is the row of a group of verbs.
func verbs(others ...string) []string {
	row := []string{"*"}
	for _, name := range append(others, "land", "workspace", "verb", "console", "layout") {
		row = append(row, "cmd/internal/"+name)
	}
	return row
}

// only says who alone may import a package from elsewhere.
var only = map[string][]string{
	"github.com/go-git/go-git/v5":                {"journal/repo", "journal/repo/object"},
	"os/exec":                                    {"journal/repo", "journal/repo/gitcmd", "journal/repo/object", "journal/repo/ref", "journal/repo/repotest", "persona/session/cage"},
	"github.com/urfave/cli/v2":                   {"cmd", "cmd/internal/*"},
	"github.com/google/go-cmp":                   {"journal/repo/repotest"},
	"github.com/rogpeppe/go-internal/testscript": {},
	"pgregory.net/rapid":                         {},
	"testing":                                    {"journal/repo/repotest", "okf/okftest", "persona/session/sessiontest"},
	"net/http":                                   {"persona/session/endpoint", "persona/session/modeltest", "persona/session/servers", "persona/session/toolbox", "persona/mcp", "board/site"},
	"github.com/anthropics/anthropic-sdk-go":     {"persona/session/anthropic"},
	"github.com/coder/acp-go-sdk":                {"persona/session/acp", "persona/session/agenttest"},
	"github.com/sashabaranov/go-openai":          {"persona/session/openai"},
}

// row finds the table's row for a package.
func row(dir string) ([]string, bool) {
	if r, ok := below[dir]; ok {
		return r, true
	}
	r, ok := below[path.Dir(dir)+"/*"]
	return r, ok
}

// allows reports whether a row lets its package import dir.
func allows(row []string, dir string) bool {
	ok := false
	for _, r := range row {
		switch {
		case r == "!"+dir:
			return false
		case r == dir, r == path.Dir(dir)+"/*":
			ok = true
		case r == "*" && dir != "cmd" && !strings.HasPrefix(dir, "cmd/") && dir != "testscripts":
			ok = true
		}
	}
	return ok
}

func TestImportTable(t *testing.T) {
	t.Parallel()
	there := packages(t)
	for dir, may := range below {
		for _, dir := range append(may, dir) {
			if dir = strings.TrimLeft(dir, "!*"); dir != "" && !there[strings.TrimSuffix(dir, "/*")] {
				t.Errorf("the import table speaks of %s, which is no package", dir)
			}
		}
	}
	for _, s := range goFiles(t, func(s source) bool { return !s.test && s.dir != "testscripts" }) {
		r, ok := row(s.dir)
		if !ok {
			t.Errorf("%s: package %s has no row in the import table", s.path, s.dir)
			continue
		}
		own, other := s.imports()
		for _, im := range own {
			if !allows(r, im) || im == "okf/okftest" {
				t.Errorf("%s: %s may not import %s", s.path, s.dir, im)
			}
		}
		for _, im := range other {
			if who, ok := restricted(im); ok && !slices.Contains(who, s.dir) && !slices.Contains(who, path.Dir(s.dir)+"/*") {
				t.Errorf("%s: %s may not import %s, only %q may", s.path, s.dir, im, who)
			}
		}
	}
}

// packages are odd's own, by the folder each is in.
func packages(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, s := range goFiles(t, func(source) bool { return true }) {
		all[s.dir] = true
	}
	return all
}

// restricted finds who may import a foreign package, sub-packages included.
func restricted(im string) (who []string, ok bool) {
	for p := im; p != "." && p != "/"; p = path.Dir(p) {
		if who, ok := only[p]; ok {
			return who, true
		}
	}
	return nil, false
}

// TestDrainCannotApprove follows the imports all the way: whatever drain
// reaches, in its tests too, none of it may be the package that can say done.
func TestDrainCannotApprove(t *testing.T) {
	t.Parallel()
	edges := map[string]map[string]bool{}
	for _, s := range goFiles(t, func(s source) bool { return !s.test || s.dir == "board/drain" }) {
		own, _ := s.imports()
		for _, im := range own {
			if edges[s.dir] == nil {
				edges[s.dir] = map[string]bool{}
			}
			edges[s.dir][im] = true
		}
	}
	seen := map[string]bool{}
	var walk func(dir string, trail []string)
	walk = func(dir string, trail []string) {
		trail = append(trail, dir)
		if dir == "board/review" {
			t.Errorf("drain reaches the human step: %s", strings.Join(trail, " → "))
		}
		if seen[dir] {
			return
		}
		seen[dir] = true
		for _, next := range slices.Sorted(maps.Keys(edges[dir])) {
			walk(next, trail)
		}
	}
	walk("board/drain", nil)
}

// TestImportTableBites shows the matcher says no: a table that allows
// everything would pass every other test here.
func TestImportTableBites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"okf", "journal", false},
		{"board/drain", "board/review", false},
		{"board/drain", "journal/repo", true},
		{"board/verify", "board/drain", false},
		{"board/rules", "board/verify", false},
		{"persona/session/exec", "persona/session", true},
		{"persona/session/exec", "journal/repo", false},
		{"persona/invoke", "persona/session/exec", false},
		{"cmd", "board/drain", true},
		{"cmd", "cmd/internal/tasks", true},
		{"cmd/internal/tasks", "board/drain", true},
		{"cmd/internal/tasks", "cmd/internal/verb", true},
		{"cmd/internal/tasks", "cmd/internal/start", false},
		{"cmd/internal/verb", "cmd/internal/workspace", false},
		{"board/drain", "cmd/internal/console", false},
		{"board", "cmd", false},
	} {
		r, ok := row(c.from)
		if !ok {
			t.Errorf("no row for %s", c.from)
		}
		if got := allows(r, c.to); got != c.want {
			t.Errorf("allows(%s → %s) = %v, want %v", c.from, c.to, got, c.want)
		}
	}
	if _, ok := row("util"); ok {
		t.Error(`row("util") is there; an unknown package must have none`)
	}
	if who, ok := restricted("github.com/go-git/go-git/v5/plumbing"); !ok || !slices.Equal(who, []string{"journal/repo", "journal/repo/object"}) {
		t.Errorf("restricted(go-git sub-package) = %q, %v", who, ok)
	}
}
