//go:build bench

package bench

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startRuns is how often each process is started.
const startRuns = 100

// TestBenchStart measures how soon odd answers: its version, the tool gate as a
// harness starts it, one process a call, and the MCP server.
func TestBenchStart(t *testing.T) {
	s := begin()
	k := min(startRuns, 15**runs)
	tree := anchored(t)
	jobs := []job{
		command("true", tree, "", "true"),
		command("git --version", tree, "git", "git", "--version"),
		command("odd --version", tree, "", odd, "--version"),
	}
	for _, c := range []struct{ name, tool, input, want string }{
		{"gate: a read, open", "Read", `{"file_path": "docs/a.md"}`, ""},
		{"gate: a write, allowed by a permit", "Edit", `{"file_path": "docs/a.md"}`, ""},
		{"gate: a write, denied", "Edit", `{"file_path": "main.go"}`, "A_OUTSIDE_PATHS"},
		{"gate: a command line, allowed", "Bash", `{"command": "sed -i s/High/Low/ docs/a.md && git status"}`, ""},
	} {
		call := fmt.Sprintf(`{"tool_name": %q, "tool_input": %s}`, c.tool, c.input)
		jobs = append(jobs, job{c.name, func(t *testing.T) sample {
			said := process(t, tree, call, c.want, odd, "anchor", "gate", "--hook", "claude")
			if (said.out == "") != (c.want == "") {
				t.Fatalf("%s: %s", c.name, said.out)
			}
			return said
		}})
	}
	s.turns(t, 0, k, jobs...)
	n := min(10_000, *atomsMax)
	c := bundleOf(t, n)
	sh(t, c.dir, "", odd, "get", c.atom())
	s.turns(t, n, *runs+2, inChild("list and lstat every file", "stat", c.bundle()),
		c.mcp("mcp: initialize", ""),
		c.mcp("mcp: get, the first question", `get","arguments":{"atom":"`+c.atom()+`"}`),
		c.mcp("mcp: search, the first question", `search","arguments":{"query":"kittiwake"}`))
	s.end(t, "start")
}

// anchored is a work tree with a role and a session that holds a permit for it.
func anchored(t *testing.T) string {
	t.Helper()
	tree := filepath.Join(work, "anchored")
	write(t, filepath.Join(tree, "docs", "a.md"), "High.\n")
	write(t, filepath.Join(tree, "knowledge", "roles", "editor.md"), "---\ntype: role\nid: editor\nmust_never: [\"Guess a number\", \"Change a date\"]\npaths: [\"docs/**\"]\n---\n\n# Editor\n")
	sh(t, tree, "", "git", "init", "-q")
	sh(t, tree, "", "git", "add", ".")
	sh(t, tree, "", "git", "commit", "-qm", "begin")
	first, _, _ := strings.Cut(sh(t, tree, "", odd, "anchor", "identity", "editor", "--mode", "express"), "\n")
	sh(t, tree, "COMMIT:\n  ARTIFACT::docs/a.md\n  GATE::odd check\n", odd, "anchor", "express", strings.TrimPrefix(first, "IDENTITY "), "-")
	return tree
}

const mcpHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"

// mcp is the job of starting odd mcp and waiting for the answer to a tool's call,
// to initialize when there is none.
func (c company) mcp(name, tool string) job {
	call := mcpHello
	if tool != "" {
		call += `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + "}}\n"
	}
	return job{name, func(t *testing.T) sample {
		t.Helper()
		server := exec.Command(odd, "mcp")
		server.Dir, server.Env = c.dir, environ()
		in, err := server.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { server.Process.Kill(); server.Wait() }()
		if _, err := io.WriteString(in, call); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		for range strings.Count(call, "\n") {
			if said, err := lines.ReadString('\n'); err != nil || strings.Contains(said, "isError") {
				t.Fatalf("%s: %s %v", name, said, err)
			}
		}
		return sample{wall: time.Since(begin)}
	}}
}
