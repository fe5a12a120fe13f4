package toolbox

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/policy/policytest"
)

// files are what stands on the desk of these tests.
var files = map[string]string{
	"cmd/tide.go":   "package cmd\n\n// Tide tells.\nfunc Tide() int { return level(3) }\n\nfunc level(n int) int { return n }\n",
	"docs/tide.md":  "# Tide\n\nThe tide is high.\n",
	"tools/tide.py": "def tide():\n    return level(3)\n",
	".tides/ebb.md": "The tide ebbs.\n",
	"odd.toml":      "[governance]\nlease = \"off\"\n",
	".git/config":   "[core]\n",
}

// desk lays files out in a folder of the test.
func desk(t *testing.T) session.Desk {
	t.Helper()
	dir := t.TempDir()
	d := session.Desk{Tree: filepath.Join(dir, "tree"), Home: filepath.Join(dir, "home"), Temp: filepath.Join(dir, "tmp")}
	for _, p := range []string{d.Tree, d.Home, d.Temp} {
		if err := os.Mkdir(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		put(t, filepath.Join(d.Tree, name), text)
	}
	return d
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// options are those of a session that may do everything.
func options(t *testing.T) (Options, session.Desk) {
	t.Helper()
	d := desk(t)
	base := fstest.MapFS{}
	for name, text := range files {
		base[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	atom, err := okf.Parse("terms/tide.md", []byte("---\ntype: term\nid: tide\ntitle: Tide\n---\n\nThe sea, rising.\n"))
	if err != nil {
		t.Fatal(err)
	}
	asked := func(what string) func(context.Context, string) (string, error) {
		return func(context.Context, string) (string, error) { return what, nil }
	}
	return Options{
		Request: session.Request{
			Files: base, Graph: okf.NewGraph([]okf.Atom{atom}), Complexity: "trivial",
			Desk:  func(context.Context) (session.Desk, error) { return d, nil },
			Allow: grantOf(nil).Allow, Ask: asked("at six"),
			History: &session.History{
				Log:   func(context.Context, string, int) (string, error) { return "a log", nil },
				Diff:  func(context.Context, string, string, string) (string, error) { return "a diff", nil },
				Blame: func(context.Context, string, int, int) (string, error) { return "a blame", nil },
				Work:  func(context.Context, string) (string, error) { return "the work", nil },
			},
		},
		Commands: [][]string{{"go", "test"}}, Checks: []Check{{"all", []string{"make", "test"}}}, Hosts: []string{"docs.example"},
		Extra: []Tool{{Name: "mcp_sea_level", Schema: json.RawMessage(`{"type":"object"}`), Run: func(context.Context, json.RawMessage) (string, error) { return "high", nil }}},
		Runner: func(_ context.Context, argv []string, _ session.Desk) exec.Result {
			return exec.Result{Done: true, Output: []byte("ran " + strings.Join(argv, " "))}
		},
		Now: func() time.Time { return time.Unix(1_700_000_000, 0) },
	}, d
}

// grantOf is the grant of these tests, changed by the case.
func grantOf(change func(*policy.Terms)) policy.Grant {
	t := policytest.Terms()
	t.Paths, t.Allow, t.Deny = nil, nil, nil
	t.Commands, t.Checks = [][]string{{"go", "test"}}, [][]string{{"make", "test"}}
	t.Servers = []policy.Server{{Prefix: "mcp_sea_", Every: true}}
	if change != nil {
		change(&t)
	}
	return policytest.Grant(t)
}

// open makes a box of options, changed by the case.
func open(t *testing.T, change func(*Options)) (*Box, session.Desk) {
	t.Helper()
	o, d := options(t)
	if change != nil {
		change(&o)
	}
	b, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b, d
}

// does calls a tool, and fails the test where it was not done.
func does(t *testing.T, b *Box, name, args string) string {
	t.Helper()
	a := b.Call(t.Context(), 1, name, json.RawMessage(args))
	if a.Failed {
		t.Fatalf("%s %s: %s", name, args, a.Text)
	}
	return a.Text
}

func builder(c *session.Request) {
	c.Contract = contract.Contract{Role: contract.Builder, Mutates: true, Engagement: contract.Agent}
	for _, t := range contract.ToolRows() {
		c.Contract.Tools = append(c.Contract.Tools, contract.Tool{Name: t.Name, Class: t.Class, In: !t.Person})
	}
}

const tideChange = `{"change":{"schema_version":"2b.1","candidates":[]}}`

// TestEveryTool calls each tool once, the way a session does.
func TestEveryTool(t *testing.T) {
	t.Parallel()
	b, d := open(t, nil)
	done := map[string]bool{}
	for _, c := range []struct{ name, args, want string }{
		{"read_file", `{"path":"cmd/tide.go"}`, "4\tfunc Tide() int"},
		{"read_file", `{"path":"cmd/tide.go","first":3,"last":3}`, "lines 3 to 3 of 6"},
		{"read_file", `{"path":"docs/tide.md"}`, "The tide is high."},
		{"list_dir", `{}`, "cmd/\ndocs/\nodd.toml  27 bytes\ntools/"},
		{"glob_files", `{"glob":"**/*.go"}`, "cmd/tide.go"},
		{"search_code", `{"query":"level("}`, "cmd/tide.go:4: func Tide() int { return level(3) }"},
		{"search_code", `{"query":"T[a-z]+e\\b","how":"regexp","path":"docs"}`, "docs/tide.md:1: # Tide"},
		{"search_code", `{"query":"ebbs","path":".tides"}`, "\n.tides/ebb.md:1: The tide ebbs."},
		{"list_symbols", `{"path":"cmd/tide.go"}`, "parsed as Go, package cmd\n4-4\tfunc Tide\n6-6\tfunc level"},
		{"list_symbols", `{"path":"tools/tide.py"}`, "not by a parser"},
		{"get_callers", `{"symbol":"cmd.level"}`, "cmd/tide.go:4: called in Tide"},
		{"get_callers", `{"symbol":"level","path":"tools"}`, "tools/tide.py:2: return level(3)"},
		{"list_dir", `{"path":"."}`, "cmd/\ndocs/\nodd.toml  27 bytes\ntools/"},
		{"list_dir", `{"path":"./"}`, "cmd/\ndocs/\nodd.toml  27 bytes\ntools/"},
		{"list_dir", `{"path":"TREE"}`, "cmd/\ndocs/\nodd.toml  27 bytes\ntools/"},
		{"git_diff", `{}`, "the work"},
		{"git_log", `{}`, "a log"},
		{"git_diff", `{"from":"0123456","path":"cmd"}`, "a diff"},
		{"git_blame", `{"path":"cmd/tide.go"}`, "a blame"},
		{"edit_file", `{"path":"cmd/tide.go","old":"level(3)","new":"level(4)"}`, "sha256"},
		{"edit_file", `{"path":"cmd/tide.go","old":"level(4)","new":"level(5"}`, "warning: "},
		{"write_file", `{"path":"a/b/new.txt","text":"new\n"}`, "0 bytes before, 4 after"},
		{"write_file", `{"path":"a/b/new.txt","text":"newer\n"}`, "4 bytes before, 6 after"},
		{"delete_file", `{"path":"docs/tide.md"}`, "deleted"},
		{"run", `{"argv":["go","test","./cmd"]}`, "ran go test ./cmd"},
		{"run_tests", `{"name":"all"}`, "ran make test"},
		{"ask_human", `{"question":"when?"}`, "at six"},
		{"search", `{"query":"sea"}`, `"id": "tide"`},
		{"get", `{"atom":"tide"}`, "The sea, rising."},
		{"related", `{"atom":"tide"}`, "[]"},
		{"expand", `{"atom":"tide","depth":1}`, "[]"},
		{"mcp_sea_level", `{}`, "high"},
		{"emit_atom", `{"text":"---\ntype: term\nid: ebb\ntitle: Ebb\n---\n\nThe sea, falling.\n","path":"terms/ebb.md"}`, "taken"},
		{"emit_change", tideChange, "taken"},
		{"emit_json", `{"object":{"schema":"odd.notes.1","notes":[{"type":"O","title":"seen","content":"it ebbs"}]}}`, "taken"},
		{"emit_text", `{"word":"octave","text":"===X===\n===END==="}`, "taken"},
		{"finish", `{"outcome":"completed"}`, "taken"},
	} {
		if got := does(t, b, c.name, strings.ReplaceAll(c.args, "TREE", d.Tree)); !strings.Contains(got, c.want) {
			t.Errorf("%s %s:\n%s\nwant %q in it", c.name, c.args, got, c.want)
		}
		done[c.name] = true
	}
	for _, tool := range b.Tools() {
		var schema map[string]any
		if err := json.Unmarshal(tool.Schema, &schema); err != nil || schema["type"] != "object" {
			t.Errorf("%s: schema %s: %v", tool.Name, tool.Schema, err)
		}
		if !done[tool.Name] && tool.Name != "web_fetch" {
			t.Errorf("%s was not tried", tool.Name)
		}
	}
	if _, err := os.Stat(filepath.Join(d.Tree, "docs/tide.md")); err == nil {
		t.Error("the deleted file is there")
	}
	e, finished := b.Emission(session.Usage{Turns: 1})
	if !finished || e.Outcome != session.Completed || len(e.Atoms) != 1 || e.Change == nil || len(e.Notes) != 1 || len(e.Payloads) != 1 || !e.Seen {
		t.Errorf("emission %+v, %v", e, finished)
	}
	if n := len(e.Calls); n != 37 || e.Calls[0].Path != "cmd/tide.go" || e.Calls[0].Bytes == 0 {
		t.Errorf("%d calls, the first %+v", n, e.Calls[0])
	}
	if want := []string{"call_graph", "comprehension", "discovery", "history", "structure"}; !slices.Equal(e.Exploration.Categories, want) {
		t.Errorf("explored %q", e.Exploration.Categories)
	}
}
