//go:build unix

package acp

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
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

const done = "```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n"

// with is a substrate with an agent in this process.
func with(a *agenttest.Agent) Substrate {
	return Substrate{Environ: []string{"PATH=" + os.Getenv("PATH"), "KEY=secret"}, dial: func(context.Context) (*line, error) {
		toAgent, in := io.Pipe()
		out, fromAgent := io.Pipe()
		hang := func() { toAgent.Close(); in.Close(); out.Close(); fromAgent.Close() }
		gone := make(chan struct{})
		go func() { a.Serve(toAgent, fromAgent, hang); close(gone) }()
		return &line{in: in, out: out, said: exec.NewTalk(), end: func() (string, error) { hang(); <-gone; return "", nil }}, nil
	}}
}

// desk is a desk with a file on it, and a request that works there.
func desk(t *testing.T, allow func(policy.Action) error) (session.Desk, session.Request) {
	t.Helper()
	top := t.TempDir()
	d := session.Desk{Tree: filepath.Join(top, "tree"), Home: filepath.Join(top, "home"), Temp: filepath.Join(top, "temp")}
	for _, dir := range []string{d.Tree, d.Home, d.Temp, filepath.Join(d.Tree, ".git"), filepath.Join(d.Tree, "grüße")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"a.txt": "one\ntwo\nthree\n", ".git/config": "[core]\n", "grüße/ö.txt": "hallo\n", "../secret": "s"} {
		if err := os.WriteFile(filepath.Join(d.Tree, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("../secret", filepath.Join(d.Tree, "out")), os.Symlink("a.txt", filepath.Join(d.Tree, "no.txt"))); err != nil {
		t.Fatal(err)
	}
	return d, session.Request{Run: "run-1", Task: "t1", Brief: []byte("do it\n"), Allow: allow, Desk: func(context.Context) (session.Desk, error) { return d, nil }}
}

func run(t *testing.T, s Substrate, r session.Request) session.Emission {
	t.Helper()
	e, err := session.Run(t.Context(), s, r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func yes(policy.Action) error { return nil }

// TestTable: the rules that every substrate keeps.
func TestTable(t *testing.T) {
	t.Parallel()
	sessiontest.Table(t, func(_ *testing.T, c sessiontest.Script) session.Substrate {
		turn := []agenttest.Step{{Say: c.Says}}
		if c.Cost > 0 {
			turn = append(turn, agenttest.Step{Cost: float64(c.Cost) / 1e6})
		}
		if c.Hangs {
			turn = []agenttest.Step{{Deaf: true}}
		}
		return with(&agenttest.Agent{Turns: [][]agenttest.Step{turn, turn, turn, turn}})
	})
}

// TestAsked: what the agent asks for is judged, done and recorded.
func TestAsked(t *testing.T) {
	t.Parallel()
	terms := policytest.Terms()
	terms.Paths, terms.Allow = nil, nil
	d, r := desk(t, func(a policy.Action) error {
		switch {
		case slices.Contains(a.Paths, "no.txt") || a.Kind == policy.Run && a.Argv[0] == "rm" || a.Kind == policy.Fetch && a.Host != "pkg.go.dev":
			return policy.Refuse("outside_scope", "nobody asked for it")
		case a.Kind == policy.Read || a.Kind == policy.Write:
			return policytest.Grant(terms).Allow(a)
		}
		return nil
	})
	steps := []struct {
		step agenttest.Step
		want string
	}{
		{agenttest.Step{Write: "$TREE/neu/ü.txt", Content: "ü"}, `write: done`},
		{agenttest.Step{Write: "$TREE/no.txt", Content: "x"}, `write: {`},
		{agenttest.Step{Write: "$TREE/out", Content: "x"}, `write: {`},
		{agenttest.Step{Write: "$TREE/../secret", Content: "x"}, `write: {`},
		{agenttest.Step{Write: "$TREE/.git/config", Content: "x"}, `write: {`},
		{agenttest.Step{Write: "$TREE/.git/hooks/pre-commit", Content: "x"}, `write: {`},
		{agenttest.Step{Run: []string{"sh", "-c", "echo out; echo ${KEY-none}; exit 3"}}, `run: 3  "out\nnone\n" cut false done done done`},
		{agenttest.Step{Run: []string{"cat a.txt"}}, `run: 0  "one\ntwo\nthree\n" cut false done done done`},
		{agenttest.Step{Run: []string{"cat a.txt && rm a.txt"}}, `run: {`},
		{agenttest.Step{Run: []string{"rm", "a.txt"}}, `run: {`},
		{agenttest.Step{Start: []string{"sh", "-c", "echo begun; read x < /dev/zero"}}, `run: -1 killed`},
		{agenttest.Step{Run: []string{"no-such-program"}}, `run: 127`},
		{agenttest.Step{Ask: "edit", Path: "$TREE/a.txt"}, `ask edit a.txt: once done`},
		{agenttest.Step{Ask: "edit", Path: "$TREE/a.txt", Always: true}, `ask edit a.txt: never done`},
		{agenttest.Step{Ask: "edit"}, `ask edit .: no done`},
		{agenttest.Step{Ask: "edit", Path: "$TREE/a.txt", Input: map[string]any{"file_path": "$TREE/no.txt"}}, `ask edit a.txt: no done`},
		{agenttest.Step{Ask: "delete", Path: "$TREE/out"}, `ask delete out: no done`}, {agenttest.Step{Ask: "delete", Path: "$TREE/no.txt"}, `ask delete no.txt: no done`},
		{agenttest.Step{Ask: "move", Path: "$TREE/a.txt"}, `ask move a.txt: no done`},
		{agenttest.Step{Ask: "move", Path: "$TREE/a.txt", Input: map[string]any{"new_path": "b.txt"}}, `ask move a.txt: once done`},
		{agenttest.Step{Ask: "read", Path: "/etc/passwd"}, `ask read passwd: no done`},
		{agenttest.Step{Ask: "search", Path: "$TREE"}, `ask search tree: once done`},
		{agenttest.Step{Ask: "execute", Input: map[string]any{"command": "go test ./..."}}, `ask execute .: once done`},
		{agenttest.Step{Ask: "execute", Input: map[string]any{"command": []string{"rm", "-r", "x"}}}, `ask execute .: no done`},
		{agenttest.Step{Ask: "execute", Input: map[string]any{"command": "ls", "cwd": "/"}}, `ask execute .: no done`},
		{agenttest.Step{Ask: "execute", Title: "go test ./..."}, `ask execute .: once done`},
		{agenttest.Step{Ask: "execute", Title: "rm -r x"}, `ask execute .: no done`},
		{agenttest.Step{Ask: "execute", Title: "go test ./... && rm -r x"}, `ask execute .: no done`},
		{agenttest.Step{Ask: "execute", Title: "go test ./...", Input: map[string]any{"script": "rm -r x"}}, `ask execute .: no done`},
		{agenttest.Step{Ask: "fetch", Input: map[string]any{"url": "https://pkg.go.dev/x"}}, `ask fetch .: once done`},
		{agenttest.Step{Ask: "fetch", Input: map[string]any{"url": "http://10.0.0.1/"}}, `ask fetch .: no done`},
		{agenttest.Step{Ask: "fetch", Input: map[string]any{"url": "file:///etc/passwd"}}, `ask fetch .: no done`},
		{agenttest.Step{Ask: "switch_mode"}, `ask switch_mode .: no done`},
		{agenttest.Step{Ask: "other", Input: map[string]any{"x": 1}}, `ask other .: no done`},
		{agenttest.Step{Ask: "execute", Title: "mcp.sea.level", Input: map[string]any{"server": "sea", "tool": "level"}}, `ask execute .: no done`},
	}
	var turn []agenttest.Step
	want := []string{"hello read false write true terminal true", "new with 0 servers", "prompt do it"}
	for _, s := range steps {
		turn, want = append(turn, s.step), append(want, s.want)
	}
	a := &agenttest.Agent{Turns: [][]agenttest.Step{append(turn, agenttest.Step{Say: "Done.\n" + done})}}
	e, got := run(t, with(a), r), a.Heard()
	for i, w := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], w) {
			t.Errorf("%d: %q, want %q", i, got[min(i, len(got)-1)], w)
		}
	}
	if e.Outcome != session.Completed || e.Seen || len(e.Calls) != len(steps) || e.Usage.CostKnown || e.Usage.Tokens.Input != 7 {
		t.Errorf("%s %s, %d calls, %+v", e.Outcome, e.Detail, len(e.Calls), e.Usage)
	}
	for name, text := range map[string]string{"a.txt": "one\ntwo\nthree\n", "neu/ü.txt": "ü", ".git/config": "[core]\n", "../secret": "s"} {
		if b, err := os.ReadFile(filepath.Join(d.Tree, name)); string(b) != text {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if len(e.Calls) > 5 && (e.Calls[3].Code != "path_outside_repo" || e.Calls[4].Code != "protected_path" || e.Calls[0].Path != "neu/ü.txt") {
		t.Errorf("%+v", e.Calls[:5])
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	say := func(s string) agenttest.Step { return agenttest.Step{Say: s} }
	for _, tt := range []struct {
		name    string
		steps   []agenttest.Step
		outcome session.Outcome
		failure string
		class   session.Class
		cost    int64
	}{
		{"in pieces", []agenttest.Step{say("```js"), say("on\n{\"schema\": \"odd.finish.1\", \"outcome\""), say(": \"completed\"}\n```")}, session.Completed, "", "", -1},
		{"another message begins a line", []agenttest.Step{say("I look."), {Ask: "think"}, say(done)}, session.Completed, "", "", -1},
		{"a cost", []agenttest.Step{{Cost: 0.01}, say(done), {Cost: 0.0123451}}, session.Completed, "", "", 12346},
		{"over the cost", []agenttest.Step{{Cost: 2}, {Hang: true}}, session.Failed, session.OverBudget, "", 2_000_000},
		{"too much", []agenttest.Step{say(strings.Repeat("x", 5000)), {Hang: true}}, session.Failed, session.TooLarge, "", -1},
		{"lines that are no message", []agenttest.Step{{Raw: "hello\n{\"jsonrpc\"\n{}\n[1]\n"}, say(done)}, session.Completed, "", "", -1},
		{"an unknown update", []agenttest.Step{{Raw: `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"news"}}}` + "\n"}, say(done)}, session.Completed, "", "", -1},
		{"a line without end", []agenttest.Step{{Raw: strings.Repeat("x", 11<<20)}, {Hang: true}}, session.Failed, session.Transport, session.TransientTransport, -1},
		{"refusal", []agenttest.Step{{Stop: "refusal"}}, session.Refused, "", "", -1},
		{"cut off", []agenttest.Step{say("so"), {Stop: "max_tokens"}}, session.Failed, session.Transport, session.ContextOverflow, -1},
		{"requests", []agenttest.Step{{Stop: "max_turn_requests"}}, session.Failed, session.TurnLimit, "", -1},
		{"cancelled by itself", []agenttest.Step{{Stop: "cancelled"}}, session.Failed, session.Transport, session.TransientTransport, -1},
		{"cancelled at a denial", []agenttest.Step{{Ask: "edit"}, {Stop: "cancelled"}}, session.Failed, session.Silent, "", -1},
		{"goes away", []agenttest.Step{say(done), {Leave: true}, {Hang: true}}, session.Failed, session.Transport, session.TransientTransport, -1},
		{"rate limited", []agenttest.Step{{Fail: -32603, Content: "API Error: 429 rate limit"}}, session.Failed, session.Transport, session.RateLimited, -1},
		{"logged out", []agenttest.Step{{Fail: -32000, Content: "Authentication required"}}, session.Failed, session.Transport, session.Permanent, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := with(&agenttest.Agent{Turns: [][]agenttest.Step{tt.steps}})
			s.MaxBytes = 4000
			_, r := desk(t, yes)
			r.MaxCost = 1_000_000
			e := run(t, s, r)
			if e.Outcome != tt.outcome || e.Failure != tt.failure || e.Class != tt.class {
				t.Errorf("%s %q class %q: %s", e.Outcome, e.Failure, e.Class, e.Detail)
			}
			if e.Usage.CostKnown != (tt.cost >= 0) || e.Usage.Cost != max(tt.cost, 0) {
				t.Errorf("%+v", e.Usage)
			}
		})
	}
}

// TestHello: an agent that never says hello, one that wants a login, and one that is not there.
func TestHello(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	_, r := desk(t, yes)
	r.Turn = func(session.Usage) error { stop(); return nil }
	if e, err := session.Run(ctx, with(&agenttest.Agent{Mute: true}), r); err != nil || e.Failure != session.Cancelled {
		t.Errorf("%+v, %v", e, err)
	}
	r.Turn = nil
	if e := run(t, with(&agenttest.Agent{Login: true, NoKey: true}), r); e.Failure != session.Transport || e.Class != session.Permanent || !strings.Contains(e.Detail, "[substrate.acp] env") {
		t.Errorf("%+v", e)
	}
	a := &agenttest.Agent{Login: true, Turns: [][]agenttest.Step{{{Say: done}}}}
	if e := run(t, with(a), r); e.Outcome != session.Completed || a.Heard()[1] != "login by some-api-key" {
		t.Errorf("%+v, it heard %q", e, a.Heard())
	}
	if e := run(t, Substrate{Argv: []string{"no-such-program"}}, r); e.Failure != session.Transport || e.Class != session.Permanent || !e.Usage.CostKnown || e.Usage.Cost != 0 {
		t.Errorf("%+v", e)
	}
	if e := run(t, Substrate{Argv: []string{"true"}}, r); e.Failure != session.Transport || !strings.Contains(e.Detail, "ended before it answered") {
		t.Errorf("%+v", e)
	}
	if _, err := (Substrate{}).Run(t.Context(), r); err == nil {
		t.Error("an agent without a command is no fault")
	}
}

// TestSharedActions makes each action of the shared table by a request for permission, and
// where the protocol has one by a call of its own.
func TestSharedActions(t *testing.T) {
	t.Parallel()
	kinds := map[policy.Kind]sdk.ToolKind{policy.Read: sdk.ToolKindRead, policy.Write: sdk.ToolKindEdit, policy.Run: sdk.ToolKindExecute, policy.Call: sdk.ToolKindOther, policy.Fetch: sdk.ToolKindFetch}
	d, r := desk(t, policytest.Grant(policytest.Terms()).Allow)
	r.Contract = contract.Contract{Role: contract.Builder, Servers: []string{"sea"}}
	c := newClient(Substrate{Servers: []servers.Spec{{Name: "sea", Argv: []string{"sea"}, Network: cage.Allow, Tools: []string{"level"}}}}, r, d)
	for _, row := range append(policytest.Rows(), policytest.Row{Action: policy.Action{Kind: policy.Run, Argv: []string{"make", "check", "-s"}}}) {
		kind, title, in := kinds[row.Kind], "mcp__sea__level", map[string]any{}
		for _, p := range row.Paths {
			in["path"] = d.Tree + "/" + p
		}
		if row.Kind == policy.Run {
			in["command"], in["args"] = row.Argv[0], asJSONValue(row.Argv[1:])
		}
		if row.Host != "" {
			in["url"] = "https://" + row.Host + "/"
		}
		err := c.judgeCall(sdk.ToolCallUpdate{Kind: &kind, Title: &title, RawInput: in})
		if policy.CodeOf(err) != row.Code {
			t.Errorf("%s %v: %v, want %q", kind, in, err, row.Code)
		}
		if row.Kind == policy.Write {
			_, err = c.WriteTextFile(t.Context(), sdk.WriteTextFileRequest{Path: d.Tree + "/" + row.Paths[0], Content: "x"})
		}
		if (err == nil) != (row.Code == "") || err != nil && !strings.Contains(err.Error(), "["+row.Code+"]") {
			t.Errorf("%s %v by a call of its own: %v, want %q", kind, in, err, row.Code)
		}
	}
}

// TestAgain: a silent turn is asked for once more; a conversation goes on where the agent
// can, and what it repeats is not heard again.
func TestAgain(t *testing.T) {
	t.Parallel()
	for _, loads := range []bool{true, false} {
		a := &agenttest.Agent{Loads: loads, Turns: [][]agenttest.Step{{{Say: "hm"}}, {{Say: done}}}}
		_, r := desk(t, yes)
		r.Thread = "s-1"
		asked := 0
		r.Turn = func(session.Usage) error { asked++; return nil }
		s := with(a)
		r.Contract = contract.Contract{Role: contract.Builder, Servers: []string{"files", "web"}}
		s.Servers = []servers.Spec{{Name: "files", Argv: []string{"npx", "files"}, Network: cage.Allow}, {Name: "web", URL: "http://127.0.0.1:1/"}, {Name: "more", Argv: []string{"npx", "more"}, Network: cage.Allow}}
		e := run(t, s, r)
		opened, thread := "new with 1 servers", ""
		if loads {
			opened, thread = "load s-1", "s-1"
		}
		want := []string{"hello read false write true terminal true", opened, "prompt do it", "prompt Your answer held no block that odd reads, so nothing of it counts yet. If the work is done, answer now with your emission: its blocks as the brief describes them, and at the end"}
		if d := cmp.Diff(want, a.Heard()); d != "" || e.Outcome != session.Completed || e.Usage.Turns != 2 || asked != 2 || e.Thread != thread {
			t.Errorf("loads %v: %s\n%+v", loads, d, e)
		}
	}
}

// TestDenied: an agent that ends its turn at a denial is told why in its next one.
func TestDenied(t *testing.T) {
	t.Parallel()
	for _, stop := range []string{"end_turn", "cancelled"} {
		a := &agenttest.Agent{Turns: [][]agenttest.Step{{{Ask: "edit", Path: "$TREE/a.txt"}, {Stop: stop}}, {{Say: done}}}}
		_, r := desk(t, func(policy.Action) error {
			return policy.Refuse("outside_scope", "the task names docs/ alone")
		})
		if e := run(t, with(a), r); e.Outcome != session.Completed {
			t.Errorf("%s: %s %s", stop, e.Outcome, e.Detail)
		}
		want := "prompt These calls were denied, each for the reason given; go on without them:  - edit a.txt: the task names docs/ alone [outside_scope]"
		if got := a.Heard(); len(got) < 5 || !strings.HasPrefix(got[4], want) {
			t.Errorf("%s: it heard %q", stop, got)
		}
	}
}

// TestDeniedAgain: it is asked again after each denial, and not for ever.
func TestDeniedAgain(t *testing.T) {
	t.Parallel()
	stop := []agenttest.Step{{Ask: "edit", Path: "$TREE/a.txt"}, {Stop: "cancelled"}}
	for _, tt := range []struct {
		turns   [][]agenttest.Step
		outcome session.Outcome
		taken   int
	}{
		{[][]agenttest.Step{stop, stop, stop, {{Say: done}}}, session.Completed, 4},
		{[][]agenttest.Step{stop, {{Say: "hm"}}, {{Say: done}}}, session.Failed, 2},
		{[][]agenttest.Step{stop, stop, stop, stop, stop, stop, {{Say: done}}}, session.Failed, 6},
	} {
		_, r := desk(t, func(policy.Action) error { return policy.Refuse("outside_scope", "no") })
		if e := run(t, with(&agenttest.Agent{Turns: tt.turns}), r); e.Outcome != tt.outcome || e.Usage.Turns != tt.taken {
			t.Errorf("%s after %d turns; want %s after %d", e.Outcome, e.Usage.Turns, tt.outcome, tt.taken)
		}
	}
}

// TestOwnServer: a session with a bundle has odd's server over its tree. Its tools are
// allowed by each name that agents give them, and nothing else is by its name.
func TestOwnServer(t *testing.T) {
	t.Parallel()
	good := []agenttest.Step{{Ask: "other", Title: "mcp__odd__search"}, {Ask: "other", Title: "odd_related"}, {Ask: "other", Title: "expand (odd MCP Server)"},
		{Ask: "execute", Title: "mcp.odd.context", Input: map[string]any{"server": "odd", "tool": "context"}}}
	bad := []agenttest.Step{{Ask: "other", Title: "odd_task_propose"}, {Ask: "other", Title: "mcp__odd__anchor"}, {Ask: "edit", Title: "odd_search", Path: "$TREE/a.txt"},
		{Ask: "execute", Title: "odd_search", Input: map[string]any{"tool": "search", "command": "rm -r x"}}}
	a := &agenttest.Agent{Turns: [][]agenttest.Step{append(append(good, bad...), agenttest.Step{Say: done})}}
	d, r := desk(t, func(policy.Action) error { return policy.Refuse("outside_scope", "no") })
	r.Graph = &okf.Graph{}
	s := with(a)
	s.Odd = "/bin/odd"
	run(t, s, r)
	said := strings.Join(a.Heard(), "\n")
	if !strings.Contains(said, "odd is served by /bin/odd -C "+d.Tree+" mcp") || strings.Count(said, ": once done") != len(good) || strings.Count(said, ": no done") != len(bad) {
		t.Error(said)
	}
}

// TestCancel: an agent is told before it is ended.
func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	a := &agenttest.Agent{Turns: [][]agenttest.Step{{{Say: "I begin.\n"}, {Hang: true}}}}
	_, r := desk(t, yes)
	r.Progress = func(string) { stop() }
	e, err := session.Run(ctx, with(a), r)
	if err != nil || e.Failure != session.Cancelled || e.Usage.CostKnown {
		t.Errorf("%+v, %v", e, err)
	}
	if got := strings.Join(a.Heard(), "\n"); !strings.HasSuffix(got, "\ncancel") {
		t.Errorf("it heard %s", got)
	}
}

// FuzzClient: whatever stands on the line, the session ends.
func FuzzClient(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"s\"}}\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"options":[],"toolCall":{"rawInput":[1]}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := Substrate{dial: func(context.Context) (*line, error) {
			return &line{in: io.Discard, out: strings.NewReader(string(b)), said: exec.NewTalk(), end: func() (string, error) { return "", nil }}, nil
		}}
		e, err := session.Run(t.Context(), s, session.Request{})
		if err != nil || e.Outcome == session.Completed {
			t.Errorf("%+v, %v", e, err)
		}
		_, _ = argvOf(string(b), nil)
	})
}

// TestServers: a call of a server's tool is asked about by odd's name of it, if its
// title names it and a person listed it, and is denied otherwise.
func TestServers(t *testing.T) {
	t.Parallel()
	var steps []agenttest.Step
	titles := []string{"mcp__sea__level", "mcp__sea__drain", "mcp__sea__dump", "mcp__air__level", "mcp__land__level", "read the sea", "mcp__sea__level and more"}
	for _, title := range titles {
		steps = append(steps, agenttest.Step{Ask: "other", Title: title})
	}
	a := &agenttest.Agent{Turns: [][]agenttest.Step{append(steps, agenttest.Step{Say: done})}}
	var asked []policy.Action
	_, r := desk(t, func(act policy.Action) error {
		if asked = append(asked, act); act.Tool == "mcp_sea_drain" {
			return policy.Refuse("read_only_contract", "no")
		}
		return nil
	})
	r.Contract = contract.Contract{Role: contract.Builder, Servers: []string{"sea", "air"}}
	s := with(a)
	s.Servers = []servers.Spec{{Name: "sea", Argv: []string{"sea"}, Network: cage.Allow, Tools: []string{"level", "drain"}},
		{Name: "air", URL: "http://127.0.0.1:1/", Pin: "00", Tools: []string{servers.Every}}, {Name: "land", Argv: []string{"land"}, Network: cage.Allow, Tools: []string{servers.Every}}}
	run(t, s, r)
	want := []policy.Action{{Kind: policy.Call, Tool: "mcp_sea_level", Changes: true}, {Kind: policy.Call, Tool: "mcp_sea_drain", Changes: true}}
	if d := cmp.Diff(want, asked); d != "" {
		t.Error(d)
	}
	said := strings.Join(a.Heard(), "\n")
	if strings.Count(said, ": once done") != 1 || strings.Count(said, ": no done") != len(titles)-1 {
		t.Error(said)
	}
}
