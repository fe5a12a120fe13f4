package claude

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/jsontree"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/servers"
	"github.com/odd-cli/odd/reconcile/policy"
)

// call is what a hook tells of one use of a tool, before it happens.
type call struct {
	tool, id, cwd string
	input         jsontree.Node // names count letter by letter
	b             []byte
}

// readCall reads a PreToolUse hook's standard input. What was read of a bad one is
// returned too.
func readCall(b []byte) (call, error) {
	c := call{b: b}
	if len(b) > maxCall {
		return c, fmt.Errorf("the call is longer than %d MiB", maxCall>>20)
	}
	top, bad := jsontree.ParseUnique(b)
	if bad != nil {
		return c, fmt.Errorf("the call does not read: %w", bad)
	}
	var event string
	err := errors.Join(top.ReadText("tool_name", &c.tool), top.ReadText("tool_use_id", &c.id), top.ReadText("cwd", &c.cwd), top.ReadText("hook_event_name", &event))
	c.input, _ = top.Get("tool_input")
	switch {
	case err != nil:
	case c.tool == "":
		err = errors.New("the call names no tool")
	case event != "" && event != "PreToolUse":
		err = fmt.Errorf("it is about the event %q; the gate judges PreToolUse", event)
	case c.input.Kind != '{':
		err = errors.New("tool_input is missing or no object")
	}
	return c, err
}

// raw is a member of the input as it stands, "" where there is none.
func (c call) raw(name string) string {
	v, _ := c.input.Get(name)
	return string(c.b[v.From:v.To])
}

// texts are the members of the input that are strings and not empty, of these names. A null is none.
func (c call) texts(names ...string) (out []string, err error) {
	for _, name := range names {
		var s string
		if c.raw(name) == "null" {
			continue
		}
		if err := c.input.ReadText(name, &s); err != nil {
			return nil, policy.Refuse("bad_arguments", "tool_input: %v", err)
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out, nil
}

// judge decides about calls.
type judge struct {
	session.Hands
	own     []string // names of tools of odd's own that change nothing
	servers []servers.Spec
}

// allowCall is nil where a call may happen. A tool that nobody knows may not.
func (j judge) allowCall(c call) error {
	from := c.cwd
	if !filepath.IsAbs(from) {
		from = j.Desk.Tree
	}
	switch c.tool {
	case "Read", "Grep", "Glob", "LS", "NotebookRead":
		members := []string{"file_path", "notebook_path", "path"}
		if c.tool == "Glob" {
			members = append(members, "pattern") // read as a path: its stars are names
		}
		names, err := c.texts(members...)
		switch {
		case err != nil:
			return err
		case c.tool == "Glob" && strings.Contains(strings.Join(names, ""), "{.."):
			return policy.Refuse("path_outside_repo", "the pattern may lead up; name each folder")
		}
		return j.Read(from, names...)
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		names, err := c.texts("file_path", "notebook_path")
		if err == nil && len(names) != 1 {
			err = policy.Refuse("bad_arguments", "the call does not name one file")
		}
		if err == nil {
			_, err = j.Write(from, names...)
		}
		return err
	case "Bash":
		return j.allowCommand(c)
	case "TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "ToolSearch":
		return nil
	case "WebFetch":
		return policy.Refuse("host_not_allowed", "the web is asked by no tool of this program")
	}
	if slices.Contains(j.own, c.tool) {
		return nil
	}
	if tool, ok := servers.Called(j.servers, c.tool); ok {
		return j.Permits(policy.Action{Kind: policy.Call, Tool: tool, Changes: true})
	}
	if strings.HasPrefix(c.tool, "mcp__") {
		return policy.Refuse("server_not_granted", "%q is no tool that a person listed, of a server that the session is granted", c.tool)
	}
	return policy.Refuse("unknown_tool", "nobody has said what the tool %q does", c.tool)
}

// allowCommand takes a command that is one of plain words, the same in every shell, and
// runs where the desk is.
func (j judge) allowCommand(c call) error {
	for name, why := range map[string]string{"run_in_background": "a command runs in the foreground", "dangerouslyDisableSandbox": "the sandbox stays"} {
		if raw := c.raw(name); raw != "" && raw != "false" {
			return policy.Refuse("command_not_allowed", "%s; leave %s out", why, name)
		}
	}
	line, err := c.texts("command")
	if err != nil {
		return err
	}
	argv, err := session.Words(strings.Join(line, ""))
	if err != nil {
		return err
	}
	return j.Run(argv)
}
