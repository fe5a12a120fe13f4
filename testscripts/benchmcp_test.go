//go:build bench

package testscripts

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/okf/okftest"
)

const mcpHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"

// TestBenchMCP times odd mcp from its start to its first answers, on 10,000 atoms
// with a warm cache, and writes its section of BENCHMARKS.md. It sets no limit.
func TestBenchMCP(t *testing.T) {
	dir := t.TempDir()
	odd, bundle := built(t, dir), filepath.Join(dir, "company", "knowledge")
	old := time.Now().Add(-time.Hour)
	for name, text := range okftest.Bundle(10_000) {
		file := filepath.Join(bundle, filepath.FromSlash(name))
		write(t, file, string(text))
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "company", "odd.toml"), "bundle.root = \"knowledge\"\n")
	if b, err := exec.Command("git", "init", "-q", filepath.Join(dir, "company")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	var b strings.Builder
	b.WriteString("\n## The MCP server\n\nWall time of odd mcp from its start to an answer, 10,000 atoms, cache warm, best of 9.\n\n| answered | ms | beside: list and lstat of the files, ms |\n| --- | ---: | ---: |\n")
	yard := best(9, func() { statAll(t, bundle) })
	for _, c := range [][2]string{{"initialize", ""}, {"get, the first question", `get","arguments":{"atom":"dept-0007/role-0"}`}, {"search, the first question", `search","arguments":{"query":"policy number 77"}`}} {
		one := func() {
			cmd := exec.Command(odd, "mcp")
			cmd.Dir = filepath.Join(dir, "company")
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			call := mcpHello
			if c[1] != "" {
				call += `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + c[1] + "}}\n"
			}
			_, _ = io.WriteString(in, call)
			for lines := bufio.NewReader(out); call != ""; _, call, _ = strings.Cut(call, "\n") {
				if s, err := lines.ReadString('\n'); err != nil || strings.Contains(s, "isError") {
					t.Fatalf("%s: %s %v", c[0], s, err)
				}
			}
		}
		one() // fills the cache
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c[0], ms(best(9, one)), ms(yard))
	}
	t.Log(b.String())
	page, err := os.ReadFile(*report)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(page), "\n## The MCP server\n")
	if _, after, ok := strings.Cut(rest, "\n## "); ok {
		b.WriteString("\n## " + after)
	}
	if err := os.WriteFile(*report, []byte(strings.TrimRight(head, "\n")+"\n"+b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
