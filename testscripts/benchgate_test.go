//go:build bench

package testscripts

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// gateRuns is how often each call is judged.
const gateRuns = 200

// TestBenchGate measures the tool gate as a harness starts it, one process a
// call, in turns with a process that does nothing, and writes its section of
// BENCHMARKS.md. It sets no limit.
func TestBenchGate(t *testing.T) {
	dir := t.TempDir()
	odd, tree := built(t, dir), filepath.Join(dir, "tree")
	env := append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(dir, "gitconfig"),
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org")
	run := func(stdin, name string, args ...string) string {
		c := exec.Command(name, args...)
		c.Dir, c.Env, c.Stdin = tree, env, strings.NewReader(stdin)
		b, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, b)
		}
		return string(b)
	}
	write(t, filepath.Join(tree, "docs", "a.md"), "High.\n")
	write(t, filepath.Join(tree, "knowledge", "roles", "editor.md"), "---\ntype: role\nid: editor\nmust_never: [\"Guess a number\", \"Change a date\"]\npaths: [\"docs/**\"]\n---\n\n# Editor\n")
	run("", "git", "init", "-q")
	run("", "git", "add", ".")
	run("", "git", "commit", "-qm", "begin")
	first, _, _ := strings.Cut(run("", odd, "anchor", "identity", "editor", "--mode", "express"), "\n")
	run("COMMIT:\n  ARTIFACT::docs/a.md\n  GATE::odd check\n", odd, "anchor", "express", strings.TrimPrefix(first, "IDENTITY "), "-")

	call := func(tool, input string) string {
		return fmt.Sprintf(`{"tool_name": %q, "tool_input": %s}`, tool, input)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n## The tool gate\n\nWall time of one process from start to answer, %d runs of each, in turns with `true`.\n\n", gateRuns)
	fmt.Fprintf(&b, "| odd anchor gate --hook claude | median ms | slowest ms | `true`: median ms | slowest ms |\n| --- | ---: | ---: | ---: | ---: |\n")
	for _, c := range []struct{ name, in, out string }{
		{"a read, open", call("Read", `{"file_path": "docs/a.md"}`), ""},
		{"a write, allowed by a permit", call("Edit", `{"file_path": "docs/a.md"}`), ""},
		{"a write, denied", call("Edit", `{"file_path": "main.go"}`), "A_OUTSIDE_PATHS"},
		{"a command line, allowed", call("Bash", `{"command": "sed -i s/High/Low/ docs/a.md && git status"}`), ""},
	} {
		var ours, yard []time.Duration
		for range gateRuns {
			begin := time.Now()
			said := run(c.in, odd, "anchor", "gate", "--hook", "claude")
			ours = append(ours, time.Since(begin))
			if (said == "") != (c.out == "") || !strings.Contains(said, c.out) {
				t.Fatalf("%s: %s", c.name, said)
			}
			begin = time.Now()
			run(c.in, "true")
			yard = append(yard, time.Since(begin))
		}
		slices.Sort(ours)
		slices.Sort(yard)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.name, ms(ours[gateRuns/2]), ms(ours[gateRuns-1]), ms(yard[gateRuns/2]), ms(yard[gateRuns-1]))
	}
	t.Log(b.String())
	old, err := os.ReadFile(*report)
	if err != nil {
		t.Fatal(err)
	}
	page, rest, _ := strings.Cut(string(old), "\n## The tool gate\n")
	if _, after, ok := strings.Cut(rest, "\n## "); ok {
		b.WriteString("\n## " + after)
	}
	if err := os.WriteFile(*report, []byte(strings.TrimRight(page, "\n")+"\n"+b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
