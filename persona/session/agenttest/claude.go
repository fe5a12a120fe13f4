// Package agenttest plays agent programs from recordings, for tests.
package agenttest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/persona/session/cage"
)

// Claude plays the Claude Code command line: args are its words behind its own name,
// the first of them the folder of its recordings. The nth invocation of a home plays
// n.jsonl there, line by line. A line is written as it stands, with $SESSION for the
// conversation's id, but for these:
//
//	{"do": "use", "id": "t1", "tool": "Write", "input": {"file_path": "$TREE/a", "content": "…"}}
//	{"do": "exit", "code": 1, "say": "on standard error"}
//	{"do": "hang"}   until it is killed
//
// environ is what it sees of the environment.
//
// A use of a tool goes to the hook of the settings first, as the program's own does,
// and is done where that says nothing: Write and Edit change a file. Where the folder
// has a folder heard, what it was given is written there: argv, stdin, env, and the
// files of settings and servers, with its own places told as $TREE, $ODD and so on.
func Claude(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c, err := newClaude(args, environ, stdin, stdout, stderr)
	if err == nil {
		var code int
		if code, err = c.play(); err == nil {
			return code
		}
	}
	fmt.Fprintln(stderr, "claude:", err)
	return 9
}

type claude struct {
	dir, tree, home string
	args, environ   []string
	turn            int
	out, talk       io.Writer
}

func newClaude(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) (*claude, error) {
	tree, err := os.Getwd()
	if err != nil || len(args) == 0 {
		return nil, fmt.Errorf("no folder of recordings: %v", err)
	}
	c := &claude{dir: args[0], args: args[1:], tree: tree, environ: environ, out: stdout, talk: stderr}
	c.home = c.variable("HOME")
	count := filepath.Join(c.home, ".turns")
	b, _ := os.ReadFile(count)
	c.turn = len(b) + 1
	if err := os.WriteFile(count, append(b, '.'), 0o600); err != nil {
		return nil, err
	}
	brief, err := io.ReadAll(stdin)
	if err != nil {
		return nil, err
	}
	return c, c.record(brief)
}

func (c *claude) variable(name string) string {
	for _, kv := range c.environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// flag is the value behind a flag, or after its "=".
func (c *claude) flag(name string) string {
	for i, a := range c.args {
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return v
		}
		if a == name && i+1 < len(c.args) {
			return c.args[i+1]
		}
	}
	return ""
}

func (c *claude) record(brief []byte) error {
	to := filepath.Join(c.dir, "heard")
	if st, err := os.Stat(to); err != nil || !st.IsDir() {
		return nil
	}
	env := slices.Sorted(slices.Values(c.environ))
	settings, servers := c.flag("--settings"), c.flag("--mcp-config")
	for name, text := range map[string]string{"argv": strings.Join(c.args, "\n") + "\n", "stdin": string(brief), "env": strings.Join(env, "\n") + "\n",
		"settings": readString(settings), "servers": readString(servers)} {
		text = strings.NewReplacer(filepath.Dir(settings), "$ODD", c.tree, "$TREE", c.home, "$HOME", c.variable("TMPDIR"), "$TEMP", filepath.Dir(c.tree), "$DESK").Replace(text)
		if err := os.WriteFile(filepath.Join(to, name+"."+strconv.Itoa(c.turn)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func readString(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (c *claude) session() string {
	if id := c.flag("--resume"); id != "" {
		return id
	}
	return c.flag("--session-id")
}

// step is a line that is not written as it stands.
type step struct {
	Do, ID, Tool, Say string
	Code              int
	Input             map[string]string
}

func (c *claude) play() (int, error) {
	b, err := os.ReadFile(filepath.Join(c.dir, strconv.Itoa(c.turn)+".jsonl"))
	if err != nil {
		return 0, err
	}
	lines := bufio.NewReader(bytes.NewReader(b))
	for {
		line, err := lines.ReadString('\n')
		if line = strings.NewReplacer("$SESSION", c.session(), "$TREE", c.tree).Replace(line); line != "" {
			var s step
			if json.Unmarshal([]byte(line), &s) != nil || s.Do == "" {
				fmt.Fprint(c.out, line)
			} else if code, over, err := c.do(s); over || err != nil {
				return code, err
			}
		}
		if err != nil {
			return 0, nil
		}
	}
}

func (c *claude) do(s step) (code int, over bool, err error) {
	switch s.Do {
	case "hang":
		blockForever()
	case "exit":
		fmt.Fprintln(c.talk, s.Say)
		return s.Code, true, nil
	case "use":
		return 0, false, c.use(s)
	}
	return 0, false, fmt.Errorf("the recording says %q", s.Do)
}

// use asks the hook, and does what it may.
func (c *claude) use(s step) error {
	type object = map[string]any
	c.say(object{"type": "assistant", "message": object{"content": []any{object{"type": "tool_use", "id": s.ID, "name": s.Tool, "input": s.Input}}}})
	no, err := c.hook(s)
	if err != nil {
		return err
	}
	text := "done"
	if no != "" {
		text = no
	} else if err := runTool(s); err != nil {
		text, no = err.Error(), "failed"
	}
	c.say(object{"type": "user", "message": object{"content": []any{object{"type": "tool_result", "tool_use_id": s.ID, "is_error": no != "", "content": text}}}})
	return nil
}

func (c *claude) say(v any) {
	b, err := json.Marshal(v)
	if err == nil {
		_, _ = c.out.Write(append(b, '\n'))
	}
}

// hook runs the first hook of the settings by a shell, as the program does. no is why
// the tool may not be used.
func (c *claude) hook(s step) (no string, err error) {
	var set struct {
		Hooks struct {
			PreToolUse []struct {
				Hooks []struct{ Command string }
			}
		}
	}
	if err := json.Unmarshal([]byte(readString(c.flag("--settings"))), &set); err != nil || len(set.Hooks.PreToolUse) == 0 {
		return "", fmt.Errorf("settings without a hook: %v", err)
	}
	in, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": c.session(), "cwd": c.tree, "tool_name": s.Tool, "tool_use_id": s.ID, "tool_input": s.Input})
	if err != nil {
		return "", err
	}
	var out, errs bytes.Buffer
	_, err = cage.Cage{}.Run(context.Background(), cage.Program{Argv: []string{"sh", "-c", set.Hooks.PreToolUse[0].Hooks[0].Command}, Dir: c.tree,
		Env: c.environ, Stdin: bytes.NewReader(in), Stdout: &out, Stderr: &errs})
	if err != nil {
		return "the hook: " + err.Error() + ": " + errs.String(), nil
	}
	return out.String(), nil
}

func runTool(s step) error {
	name := s.Input["file_path"]
	switch s.Tool {
	case "Write":
		return os.WriteFile(name, []byte(s.Input["content"]), 0o644)
	case "Edit":
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(name, bytes.Replace(b, []byte(s.Input["old_string"]), []byte(s.Input["new_string"]), 1), 0o644)
	}
	return nil
}

// blockForever reads what nobody ever writes. An empty select would not do: a program in
// which nothing can happen any more is ended as a deadlock.
func blockForever() {
	r, w, err := os.Pipe()
	if err == nil {
		_, _ = r.Read(make([]byte, 1))
	}
	runtime.KeepAlive(w)
}
