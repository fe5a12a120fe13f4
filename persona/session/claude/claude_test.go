//go:build unix

package claude

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/agenttest"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/persona/session/servers"
	"github.com/odd-cli/odd/persona/session/sessiontest"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/policy/policytest"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

// TestMain lets the test binary play the program, and odd as its hook.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "play":
		os.Exit(agenttest.Claude(os.Args[2:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	case len(os.Args) > 1 && os.Args[1] == "anchor":
		os.Exit(hook())
	}
	os.Exit(m.Run())
}

// hook is what odd anchor gate does with --ask.
func hook() int {
	call, _ := io.ReadAll(os.Stdin)
	a, err := Ask(context.Background(), os.Args[len(os.Args)-1], call)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if !a.Allow {
		fmt.Printf("deny %s: %s", a.Code, a.Text)
	}
	return 0
}

const (
	done   = "```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n"
	answer = `{"type": "result", "subtype": "success", "is_error": false, "num_turns": 2, "session_id": "$SESSION", "total_cost_usd": 0.0123454, "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 3}, "result": %s}` + "\n"
)

// says is a result line with a text.
func says(text string) string {
	b, _ := json.Marshal(text)
	return fmt.Sprintf(answer, b)
}

// recorded is a program that plays these turns, its folder, and a desk of its own.
func recorded(t *testing.T, turns ...string) (s Substrate, r session.Request, dir string) {
	t.Helper()
	dir = t.TempDir()
	for i, text := range turns {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i+1)+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	top, err := os.MkdirTemp("", "desk") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	desk := session.Desk{Tree: filepath.Join(top, "tree"), Home: filepath.Join(top, "home"), Temp: filepath.Join(top, "temp")}
	for _, d := range []string{desk.Tree, desk.Home, desk.Temp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r = session.Request{Run: "run-1", Task: "t1", Brief: []byte("do it\n"), Desk: func(context.Context) (session.Desk, error) { return desk, nil }}
	return Substrate{Argv: []string{os.Args[0], "play", dir}, Odd: os.Args[0], Environ: []string{"PATH=" + os.Getenv("PATH"), "KEY=k", "SECRET=s"}, Env: []string{"KEY"}}, r, dir
}

func run(t *testing.T, s Substrate, r session.Request) session.Emission {
	t.Helper()
	e, err := session.Run(t.Context(), s, r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestTable: the rules that every substrate keeps.
func TestTable(t *testing.T) {
	t.Parallel()
	sessiontest.Table(t, func(t *testing.T, c sessiontest.Script) session.Substrate {
		line := strings.Replace(says(c.Says), `"num_turns": 2`, `"num_turns": 1`, 1)
		if c.Cost < 0 {
			line = strings.Replace(line, `"total_cost_usd": 0.0123454, `, "", 1)
		} else {
			line = strings.Replace(line, "0.0123454", fmt.Sprintf("%d.%06d", c.Cost/1e6, c.Cost%1e6), 1)
		}
		if c.Hangs {
			line = `{"do": "hang"}` + "\n"
		}
		s, _, _ := recorded(t, line, line, line)
		return s
	})
}

// TestGiven holds what the program is given to the files of testdata.
func TestGiven(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		role     contract.Contract
		commands [][]string
		servers  []servers.Spec
		turns    []string
	}{
		{name: "reader", role: contract.Contract{Role: contract.Validator}, turns: []string{says(done)}},
		{name: "builder", role: contract.Contract{Role: contract.Builder, Mutates: true, Servers: []string{"files", "web", "pinned"}}, commands: [][]string{{"go", "test"}},
			servers: []servers.Spec{{Name: "files", Argv: []string{"npx", "files"}, Env: []string{"KEY"}, Network: cage.Allow, Tools: []string{"read", "Dump.all"}},
				{Name: "web", URL: "http://127.0.0.1:1/mcp", TokenEnv: "KEY", Tools: []string{servers.Every}}, {Name: "pinned", URL: "http://127.0.0.1:1/mcp", Pin: "00"},
				{Name: "not-granted", URL: "http://127.0.0.1:1/mcp"}},
			turns: []string{says("I edited all of it."), says(done)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, r, dir := recorded(t, tt.turns...)
			s.Commands, s.Servers, s.Model = tt.commands, tt.servers, "sonnet"
			r.Contract, r.MaxTurns, r.MaxCost = tt.role, 7, 500_000
			heard := filepath.Join(dir, "heard")
			if err := os.Mkdir(heard, 0o700); err != nil {
				t.Fatal(err)
			}
			if e := run(t, s, r); e.Outcome != session.Completed {
				t.Fatalf("%+v", e)
			}
			golden(t, tt.name, heard)
		})
	}
}

func golden(t *testing.T, name, heard string) {
	t.Helper()
	var got txtar.Archive
	files, _ := os.ReadDir(heard)
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(heard, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(os.Args[0], "/bin/odd", os.Getenv("PATH"), "$PATH").Replace(string(b))
		got.Files = append(got.Files, txtar.File{Name: f.Name(), Data: []byte(text)})
	}
	file := filepath.Join("testdata", name+".txtar")
	if *update {
		if err := os.WriteFile(file, txtar.Format(&got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(txtar.Format(&got))); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

// TestUse: what the program does goes to the gate, and what it may not do is not done.
func TestUse(t *testing.T) {
	t.Parallel()
	use := func(id, tool, input string) string {
		return fmt.Sprintf(`{"do": "use", "id": %q, "tool": %q, "input": %s}`+"\n", id, tool, input)
	}
	s, r, _ := recorded(t, use("1", "Write", `{"file_path": "$TREE/a.txt", "content": "hello"}`)+
		use("2", "Edit", `{"file_path": "$TREE/a.txt", "old_string": "hello", "new_string": "grüß"}`)+
		use("3", "Write", `{"file_path": "$TREE/../b.txt", "content": "x"}`)+
		use("4", "Write", `{"file_path": "$TREE/.git/config", "content": "x"}`)+
		use("5", "Write", `{"file_path": "$TREE/no.txt", "content": "x"}`)+
		use("6", "Bash", `{"command": "rm -rf / && true"}`)+
		use("7", "Read", `{"file_path": "/etc/passwd"}`)+says(done))
	terms := policytest.Terms()
	terms.Paths, terms.Allow = []string{"a.txt"}, nil
	r.Allow = policytest.Grant(terms).Allow
	e := run(t, s, r)
	var got []string
	for _, c := range e.Calls {
		got = append(got, strings.Join([]string{c.Tool, c.Path, c.Status, c.Code}, " "))
	}
	want := []string{"Write a.txt success ", "Edit a.txt success ", "Write ../b.txt policy_denied path_outside_repo", "Write .git/config policy_denied protected_path",
		"Write no.txt policy_denied outside_scope", "Bash  policy_denied command_not_allowed", "Read /etc/passwd policy_denied path_outside_repo"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	desk, _ := r.Desk(t.Context())
	b, _ := os.ReadFile(filepath.Join(desk.Tree, "a.txt"))
	left, _ := filepath.Glob(filepath.Join(desk.Tree, "*"))
	if string(b) != "grüß" || len(left) != 1 || e.Seen {
		t.Errorf("%q, %q, seen %v", b, left, e.Seen)
	}
	if beside, _ := filepath.Glob(filepath.Join(filepath.Dir(desk.Tree), "odd-*")); len(beside) > 0 {
		t.Errorf("left beside the desk: %q", beside)
	}
}

// TestSharedActions makes each action of the shared table by a tool of the program's.
func TestSharedActions(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	j := judge{Hands: session.Hands{Desk: session.Desk{Tree: tree}, Permits: policytest.Grant(policytest.Terms()).Allow}, servers: []servers.Spec{{Name: "sea", Tools: []string{"level"}}}}
	for _, row := range append(policytest.Rows(), policytest.Row{Action: policy.Action{Kind: policy.Run, Argv: []string{"make", "check", "-s"}}}) {
		tool, input := "", map[string]string{}
		switch row.Kind {
		case policy.Read, policy.Write:
			tool, input["file_path"] = map[policy.Kind]string{policy.Read: "Read", policy.Write: "Write"}[row.Kind], row.Paths[0]
		case policy.Run:
			tool, input["command"] = "Bash", strings.Join(row.Argv, " ")
		case policy.Call:
			tool = "mcp__sea__level"
		case policy.Fetch:
			tool, input["url"] = "WebFetch", "https://"+row.Host+"/"
		}
		b, _ := json.Marshal(map[string]any{"tool_name": tool, "cwd": tree, "tool_input": input})
		c, _ := readCall(b)
		if err := j.allowCall(c); policy.CodeOf(err) != row.Code {
			t.Errorf("%s %q %q: %v, want %q", c.tool, row.Paths, row.Argv, err, row.Code)
		}
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	fails := func(subtype, more string) string {
		return fmt.Sprintf(`{"type": "result", "subtype": %q, %s, "session_id": "$SESSION", "num_turns": 1}`+"\n", subtype, more)
	}
	for _, tt := range []struct {
		name, says string
		failure    string
		class      session.Class
		cost       int64 // -1: not told
	}{
		{"done", says(done), "", "", 12346},
		{"floating", strings.Replace(says(done), "0.0123454", "0.055000000000000004", 1), "", "", 55000},
		{"unknown lines", "no json\n{\"type\": \"news\"}\n\n" + says(done), "", "", 12346},
		{"no end of line", strings.TrimSpace(says(done)), "", "", 12346},
		{"malformed", says("```atom\n```\n" + done), session.Malformed, "", 12346},
		{"turns", fails("error_max_turns", `"is_error": true, "total_cost_usd": 0`), session.TurnLimit, "", 0},
		{"money", fails("error_max_budget_usd", `"is_error": true, "total_cost_usd": 1e-7`), session.OverBudget, "", 1},
		{"an error that is a success", fails("success", `"is_error": true, "result": "Not logged in · Please run /login"`), session.Transport, session.Permanent, -1},
		{"overloaded", fails("success", `"is_error": true, "api_error_status": 529, "result": "API Error: 529"`), session.Transport, session.ServerError, -1},
		{"too many", fails("success", `"is_error": true, "api_error_status": 429, "total_cost_usd": "1"`), session.Transport, session.RateLimited, -1},
		{"a limit", `{"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "rateLimitType": "five_hour"}}` + "\n" + fails("success", `"is_error": true`), session.Transport, session.RateLimited, -1},
		{"too long", fails("success", `"is_error": true, "api_error_status": 400, "result": "Prompt is too long"`), session.Transport, session.ContextOverflow, -1},
		{"no line", fails("success", `"is_error": true, "result": "API Error: Connection error."`), session.Transport, session.ConnectionError, -1},
		{"broke", fails("error_during_execution", `"is_error": false, "errors": ["x"]`), session.Transport, session.TransientTransport, -1},
		{"crash", `{"type": "system", "subtype": "init"}` + "\n" + `{"do": "exit", "code": 3, "say": "boom"}` + "\n", session.Transport, session.TransientTransport, -1},
		{"too large", `{"type": "` + strings.Repeat("x", maxLine) + "\n" + says(done), session.TooLarge, "", -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, r, _ := recorded(t, tt.says, tt.says)
			e := run(t, s, r)
			if e.Failure != tt.failure || e.Class != tt.class || (tt.failure == "") != (e.Outcome == session.Completed) {
				t.Errorf("%s %q class %q: %s", e.Outcome, e.Failure, e.Class, e.Detail)
			}
			if e.Usage.CostKnown != (tt.cost >= 0) || e.Usage.Cost != max(tt.cost, 0) {
				t.Errorf("%+v", e.Usage)
			}
		})
	}
}

// TestNeverStarts: a program that is not there is the transport's failure, for good.
func TestNeverStarts(t *testing.T) {
	t.Parallel()
	s, r, _ := recorded(t)
	s.Argv = []string{"no-such-program"}
	if e := run(t, s, r); e.Failure != session.Transport || e.Class != session.Permanent || !e.Usage.CostKnown || e.Usage.Cost != 0 {
		t.Errorf("%+v", e)
	}
}

// TestResume: a thread is gone on with, and named again.
func TestResume(t *testing.T) {
	t.Parallel()
	s, r, dir := recorded(t, says("hm"), says("hm"))
	heard := filepath.Join(dir, "heard")
	if err := os.Mkdir(heard, 0o700); err != nil {
		t.Fatal(err)
	}
	r.Thread, r.MaxTurns, r.MaxCost = "0f0f0f0f-0000-4000-8000-000000000000", 9, 1_000_000
	var spent []session.Usage
	r.Turn = func(u session.Usage) error { spent = append(spent, u); return nil }
	e := run(t, s, r)
	if e.Failure != session.Silent || e.Thread != r.Thread || e.Usage.Cost != 2*12346 || e.Usage.Turns != 4 || len(spent) != 2 || spent[1].Cost != 12346 {
		t.Errorf("%+v, asked with %+v", e, spent)
	}
	argv, _ := os.ReadFile(filepath.Join(heard, "argv.2"))
	for _, want := range []string{"--resume=" + r.Thread, "--max-turns\n7\n", "--max-budget-usd\n0.987654\n"} {
		if !strings.Contains(string(argv), want) {
			t.Errorf("%s is not in %s", want, argv)
		}
	}
	if c := NotTwice(r); c != conversationID(r) {
		t.Error(c)
	}
}

// NotTwice is the same session's conversation, and no other's.
func NotTwice(r session.Request) string {
	other := r
	other.Try++
	if conversationID(other) == conversationID(r) || !uuidForm().MatchString(conversationID(r)) {
		return "not a name"
	}
	return conversationID(r)
}

// TestGateClosed: nobody answers, and that is no yes.
func TestGateClosed(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "gate")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	g, err := openGate(filepath.Join(dir, "s"), judge{Hands: session.Hands{Desk: session.Desk{Tree: dir}, Permits: func(policy.Action) error { return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "[]", "{}", `{"tool_name": 1}`, `{"tool_name": "Write"}`, `{"tool_name": "Write", "tool_input": {}}`, `{"tool_name": "Frob", "tool_input": {}}`,
		`{"tool_name": "Write", "tool_input": {"File_Path": "a"}}`, `{"tool_name": "Write", "tool_input": {"file_path": "a"}, "hook_event_name": "Stop"}`,
		`{"tool_name": "Bash", "tool_input": {"command": "ls", "run_in_background": true}}`, `{"tool_name": "WebFetch", "tool_input": {"url": "http://x"}}`} {
		if a, err := Ask(t.Context(), g.socket, []byte(bad)); err != nil || a.Allow || a.Text == "" {
			t.Errorf("%s: %+v, %v", bad, a, err)
		}
	}
	if a, err := Ask(t.Context(), g.socket, []byte(`{"tool_name": "Write", "tool_input": {"file_path": "a/b.md"}}`)); err != nil || !a.Allow {
		t.Errorf("%+v, %v", a, err)
	}
	g.close()
	if a, err := Ask(t.Context(), g.socket, []byte(`{"tool_name": "Read", "tool_input": {}}`)); err == nil || a.Allow {
		t.Errorf("%+v, %v", a, err)
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(says(done)))
	f.Add([]byte(`{"type": "assistant", "message": {"content": [{"type": "tool_use", "input": [1]}]}}` + "\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &stream{t: &talk{}, full: func() {}}
		_, _ = s.Write(b)
		s.readLastLine()
		if u := s.sumUsage(Substrate{}); u.Turns < 1 || u.Cost < 0 || !u.CostKnown && u.Cost != 0 {
			t.Errorf("%+v", u)
		}
		_, _ = readCall(b)
		_, _ = exec.MicroUSD(b)
	})
}
