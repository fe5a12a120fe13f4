package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/policy/policytest"
)

// TestLadder breaks every rule that refuses, and finds every one that lets through.
func TestLadder(t *testing.T) {
	t.Parallel()
	const noopChange = `{"change":{"schema_version":"2b.1-noop","reason":"none"}}`
	write := []string{"write_file", `{"path":"new.txt","text":"x"}`}
	readOnly := func(o *Options) { builder(&o.Request); o.Request.Contract.Mutates = false }
	seen := map[string]bool{}
	for _, c := range []struct {
		code   string
		change func(*Options)
		calls  []string // tool and arguments, in turn; the last is judged
	}{
		{"degenerate_loop", nil, []string{"list_dir", `{}`, "list_dir", `{ }`, "list_dir", `{}`}},
		{"finished", nil, append([]string{"finish", `{"outcome":"completed"}`}, write...)},
		{"read_only_contract", readOnly, write},
		{"read_only_contract", readOnly, []string{"emit_atom", `{"text":"x"}`}},
		{"ask_not_allowed", func(o *Options) { o.Request.Ask = nil }, []string{"ask_human", `{"question":"when?"}`}},
		{"ask_not_allowed", func(o *Options) { builder(&o.Request) }, []string{"ask_human", `{"question":"when?"}`}},
		{"unknown_tool", nil, []string{"bash", `{"command":"ls"}`}},
		{"unknown_tool", func(o *Options) { o.Extra[0].Name = "read_all" }, []string{"read_all", `{}`}},
		{"unknown_tool", func(o *Options) { o.Request.Step = session.StepPlan }, write},
		{"bad_arguments", nil, []string{"read_file", `{"path":7}`}},
		{"bad_arguments", nil, []string{"read_file", `{"path":"a","path":"b"}`}},
		{"bad_arguments", nil, []string{"mcp_sea_level", `[1]`}},
		{"path_outside_repo", nil, []string{"read_file", `{"path":"../x"}`}},
		{"protected_path", nil, []string{"list_dir", `{"path":".GIT"}`}},
		{"protected_path", nil, []string{"write_file", `{"path":"odd.toml","text":"x"}`}},
		{"protected_path", func(o *Options) {
			o.Request.Allow = grantOf(func(t *policy.Terms) { t.Protect = []string{"deploy/"} }).Allow
		}, []string{"write_file", `{"path":"Deploy/x","text":"x"}`}},
		{"too_large", func(o *Options) { o.Limits.FileBytes = 10 }, []string{"write_file", `{"path":"new.txt","text":"hello, hello"}`}},
		{"must_read_first", nil, []string{"write_file", `{"path":"docs/tide.md","text":"x"}`}},
		{"must_read_first", nil, []string{"delete_file", `{"path":"docs/tide.md"}`}},
		{"noop_with_writes", nil, append(write[:2:2], "emit_change", noopChange)},
		{"exploration_insufficient", func(o *Options) { o.Request.Complexity = "simple" }, []string{"emit_change", tideChange}},
		{"exploration_insufficient", func(o *Options) { o.Request.Complexity = "" }, append(write[:2:2], "finish", `{"outcome":"completed"}`)},
		{"exploration_insufficient", func(o *Options) {
			o.Request.Complexity, o.Request.Explored = "", []session.Call{{Tool: "write_file", Status: session.CallOK}}
		}, []string{"finish", `{"outcome":"completed"}`}},
		{"command_not_allowed", nil, []string{"run", `{"argv":["go","build"]}`}},
		{"command_not_allowed", nil, []string{"run", `{"argv":["make","test","SHELL=./evil.sh"]}`}},
		{"command_not_allowed", func(o *Options) {
			o.Request.Allow = grantOf(func(t *policy.Terms) { t.Commands = [][]string{{"git"}} }).Allow
		}, []string{"run", `{"argv":["git","push"]}`}},
		{"host_not_allowed", nil, []string{"web_fetch", `{"url":"https://docs.example.org/"}`}},
		{"host_not_allowed", nil, []string{"web_fetch", `{"url":"http://docs.example/"}`}},
		{"host_not_allowed", nil, []string{"web_fetch", `{"url":"https://docs.example@evil.example/"}`}},
		{"host_not_allowed", nil, []string{"web_fetch", `{"url":"https://docs.example/?k=AKIA` + `ABCDEFGHIJKLMNOP"}`}},
		{"rate_limited", func(o *Options) { o.Limits.Fetches, o.Limits.Timeout = 1, 1 }, []string{"web_fetch", `{"url":"https://docs.example/1"}`, "web_fetch", `{"url":"https://docs.example/2"}`}},
		{"change_not_asked", func(o *Options) { o.Request.Allow = nil }, write},
		{"server_not_granted", func(o *Options) { o.Request.Allow = nil }, []string{"mcp_sea_level", `{}`}},
		{"no_permit", func(o *Options) {
			o.Request.Allow = grantOf(func(t *policy.Terms) { t.Allow = []string{"docs/**"} }).Allow
		}, write},
		{"harmless", nil, []string{"list_dir", `{}`}},
		{"permitted", nil, write},
		{"not_allowed", func(o *Options) { o.Extra[0].Mutates = true }, nil},
	} {
		b, _ := open(t, c.change)
		seen[c.code] = true
		if c.calls == nil { // no tool has neither a kind nor harmlessness: one is made
			b.tools["odd_one"] = entry{Tool: Tool{Name: "odd_one", Mutates: true}, do: func(context.Context, *call) (string, error) { return "", nil }}
			c.calls = []string{"odd_one", `{}`}
		}
		var a Answer
		for i := 0; i < len(c.calls); i += 2 {
			a = b.Call(t.Context(), 1, c.calls[i], json.RawMessage(c.calls[i+1]))
		}
		lets := c.code == "harmless" || c.code == "permitted"
		if a.Failed == lets || !lets && a.Code != c.code {
			t.Errorf("%s: %q: [%s] %s", c.code, c.calls, a.Code, a.Text)
		}
		if !lets && !strings.Contains(a.Text, "["+c.code+"]") {
			t.Errorf("%s: the answer does not say so: %s", c.code, a.Text)
		}
	}
	for i, r := range Rules() {
		if !seen[r.Code] {
			t.Errorf("rule %d, %s, is broken by nothing here", i, r.Code)
		}
	}
	if last := Rules()[len(Rules())-1]; last.Code != "not_allowed" {
		t.Error("the ladder does not end in deny")
	}
}

// TestSharedActions makes each action of the shared table by a tool.
func TestSharedActions(t *testing.T) {
	t.Parallel()
	for _, r := range policytest.Rows() {
		b, _ := open(t, func(o *Options) { o.Request.Allow = policytest.Grant(policytest.Terms()).Allow })
		name, args := "", map[string]any{}
		switch r.Kind {
		case policy.Read:
			name, args["path"] = "read_file", r.Paths[0]
		case policy.Write:
			name, args["path"], args["text"] = "write_file", r.Paths[0], "x"
		case policy.Run:
			name, args["argv"] = "run", r.Argv
		case policy.Call:
			name = r.Tool
		case policy.Fetch:
			name, args["url"] = "web_fetch", "https://"+r.Host+"/"
		}
		given, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if a := b.Call(t.Context(), 1, name, given); a.Code != r.Code {
			t.Errorf("%s %s: [%s] %s, want %q", name, given, a.Code, a.Text, r.Code)
		}
	}
}

// TestTakenBack lets a session say that there is nothing to do after it has deleted
// again what it wrote.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	b, _ := open(t, nil)
	does(t, b, "write_file", `{"path":"new.txt","text":"x"}`)
	does(t, b, "delete_file", `{"path":"new.txt"}`)
	does(t, b, "emit_change", `{"change":{"schema_version":"2b.1-noop","reason":"none"}}`)
}

func TestDegenerateLoopEndsTheSession(t *testing.T) {
	t.Parallel()
	b, _ := open(t, nil)
	for range hopeless {
		if _, over := b.Emission(session.Usage{}); over {
			t.Fatal("over too soon")
		}
		b.Call(t.Context(), 1, "list_dir", nil)
	}
	if e, over := b.Emission(session.Usage{}); !over || e.Failure != Degenerate || len(e.Calls) != hopeless {
		t.Errorf("%+v, %v", e, over)
	}
}

// TestReadBeforeWrite holds a change to the file as it was read.
func TestReadBeforeWrite(t *testing.T) {
	t.Parallel()
	b, d := open(t, func(o *Options) { o.Request.Given = []string{"tools/tide.py"} })
	edit := json.RawMessage(`{"path":"cmd/tide.go","old":"level(3)","new":"level(4)"}`)
	does(t, b, "read_file", `{"path":"cmd/tide.go"}`)
	put(t, filepath.Join(d.Tree, "cmd/tide.go"), "package cmd\n\nvar x = level(3)\n")
	if a := b.Call(t.Context(), 1, "edit_file", edit); a.Code != "must_read_first" || !strings.Contains(a.Text, "has changed since") {
		t.Errorf("another's change was written over: %s", a.Text)
	}
	does(t, b, "read_file", `{"path":"cmd/tide.go"}`)
	does(t, b, "edit_file", string(edit))
	does(t, b, "write_file", `{"path":"cmd/tide.go","text":"package cmd\n"}`) // it wrote that itself
	does(t, b, "delete_file", `{"path":"tools/tide.py"}`)                     // its text was in the brief
	if a := b.Call(t.Context(), 1, "edit_file", json.RawMessage(`{"path":"cmd/tide.go","old":"a","new":"b"}`)); a.Code != "not_once" {
		t.Errorf("twice or never is not once: %s", a.Text)
	}
}

// TestWrittenFile keeps a file's rights, and never writes through a link.
func TestWrittenFile(t *testing.T) {
	t.Parallel()
	b, d := open(t, nil)
	secret := filepath.Join(d.Home, "secret")
	put(t, secret, "old")
	script := filepath.Join(d.Tree, "run.sh")
	if err := errors.Join(os.Link(secret, filepath.Join(d.Tree, "hard")), os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"hard", "run.sh"} {
		does(t, b, "read_file", `{"path":"`+p+`"}`)
		does(t, b, "write_file", `{"path":"`+p+`","text":"new\n"}`)
	}
	if s, err := os.ReadFile(secret); err != nil || string(s) != "old" {
		t.Errorf("%q, %v: the file outside was written through a hard link", s, err)
	}
	if is, err := os.Stat(script); err != nil || is.Mode().Perm()&0o100 == 0 {
		t.Errorf("%v, %v: it can no longer be run", is.Mode(), err)
	}
	left, err := filepath.Glob(filepath.Join(d.Tree, ".odd-writes-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestPutsBack takes back what could not be read again as it was written.
func TestPutsBack(t *testing.T) {
	t.Parallel()
	b, d := open(t, nil)
	c := &call{b: b, at: "docs/tide.md"}
	if err := c.confirmWritten([]byte("before"), []byte("after"), 0o644); err == nil || !strings.Contains(err.Error(), "again as it was") {
		t.Errorf("%v", err)
	}
	if s, err := os.ReadFile(filepath.Join(d.Tree, "docs/tide.md")); err != nil || string(s) != "before" {
		t.Errorf("%q, %v", s, err)
	}
	if err := c.confirmWritten(nil, []byte("after"), 0o644); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(filepath.Join(d.Tree, "docs/tide.md")); err == nil {
		t.Error("a new file that is not as it was written is still there")
	}
}

// TestContractNarrows offers what the contract lists, and no more.
func TestContractNarrows(t *testing.T) {
	t.Parallel()
	b, _ := open(t, func(o *Options) {
		builder(&o.Request)
		for i := range o.Request.Contract.Tools {
			k := &o.Request.Contract.Tools[i]
			k.In = k.In && k.Name != "exec" && k.Name != "search"
		}
		o.Request.Contract.Engagement = contract.Assistant
	})
	have := strings.Join(b.toolNames(), " ")
	for name, want := range map[string]bool{"run": false, "run_tests": false, "search": false, "edit_file": true, "ask_human": true, "finish": true, "get": true} {
		if strings.Contains(" "+have+" ", " "+name+" ") != want {
			t.Errorf("%s: in is %v; there are %s", name, !want, have)
		}
	}
}
