package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/persona/session/servers"
	"github.com/odd-cli/odd/reconcile/policy"
)

// call is what a hook tells of one use of a tool, before it happens.
type call struct {
	tool, id, cwd string
	input         map[string]json.RawMessage // names count letter by letter
}

// readCall reads a PreToolUse hook's standard input. What was read of a bad one is
// returned too.
func readCall(b []byte) (c call, err error) {
	var top map[string]json.RawMessage
	if len(b) > maxCall {
		return c, fmt.Errorf("the call is longer than %d MiB", maxCall>>20)
	}
	if err := json.Unmarshal(b, &top); err != nil {
		return c, fmt.Errorf("the call does not read: %w", err)
	}
	var event string
	for name, to := range map[string]*string{"tool_name": &c.tool, "tool_use_id": &c.id, "cwd": &c.cwd, "hook_event_name": &event} {
		if raw, ok := top[name]; ok && json.Unmarshal(raw, to) != nil {
			err = errors.Join(err, fmt.Errorf("%s is no string", name))
		}
	}
	switch {
	case err != nil:
		return c, err
	case c.tool == "":
		return c, errors.New("the call names no tool")
	case event != "" && event != "PreToolUse":
		return c, fmt.Errorf("it is about the event %q; the gate judges PreToolUse", event)
	}
	if err := json.Unmarshal(top["tool_input"], &c.input); err != nil || c.input == nil {
		return c, errors.New("tool_input is missing or no object")
	}
	return c, nil
}

// inputText is a member of the input that is a string, "" where there is none.
func (c call) inputText(name string) (s string, err error) {
	if raw, ok := c.input[name]; ok && json.Unmarshal(raw, &s) != nil {
		err = fmt.Errorf("tool_input: %s is no string", name)
	}
	return s, err
}

// judge decides about calls.
type judge struct {
	desk    session.Desk
	permits func(policy.Action) error
	own     []string // names of tools of odd's own that change nothing
	servers []servers.Spec
}

// allowCall is nil where a call may happen. A tool that nobody knows may not.
func (j judge) allowCall(c call) error {
	switch {
	case slices.Contains([]string{"Read", "Grep", "Glob", "LS", "NotebookRead"}, c.tool):
		return j.allowRead(c)
	case slices.Contains([]string{"Edit", "Write", "MultiEdit", "NotebookEdit"}, c.tool):
		return j.allowWrite(c)
	case slices.Contains([]string{"TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "ToolSearch"}, c.tool), slices.Contains(j.own, c.tool):
		return nil
	case c.tool == "Bash":
		return j.allowCommand(c)
	case c.tool == "WebFetch":
		return policy.Refuse("host_not_allowed", "the web is asked by no tool of this program")
	}
	if tool, ok := servers.Called(j.servers, c.tool); ok {
		return j.permits(policy.Action{Kind: policy.Call, Tool: tool, Changes: true})
	}
	if strings.HasPrefix(c.tool, "mcp__") {
		return policy.Refuse("server_not_granted", "%q is no tool that a person listed, of a server that the session is granted", c.tool)
	}
	return policy.Refuse("unknown_tool", "nobody has said what the tool %q does", c.tool)
}

// allowWrite asks for the one file that the call names.
func (j judge) allowWrite(c call) error {
	var names []string
	for _, name := range []string{"file_path", "notebook_path"} {
		s, err := c.inputText(name)
		if err != nil {
			return err
		}
		if s != "" {
			names = append(names, s)
		}
	}
	if len(names) != 1 {
		return policy.Refuse("bad_arguments", "the call does not name one file")
	}
	rel, err := exec.Within(j.desk.Tree, j.startDir(c), names[0])
	if err != nil {
		return err
	}
	return j.permits(policy.Action{Kind: policy.Write, Paths: []string{rel}})
}

// startDir is the folder relative names start in.
func (j judge) startDir(c call) string {
	if filepath.IsAbs(c.cwd) {
		return c.cwd
	}
	return j.desk.Tree
}

// allowCommand takes a command that is one of plain words, the same in every shell, and
// runs where the desk is.
func (j judge) allowCommand(c call) error {
	line, err := c.inputText("command")
	if err != nil {
		return err
	}
	argv, err := policy.ParseSimple(line)
	if err != nil {
		return policy.Refuse("command_not_allowed", "%v; write one command of plain words", err)
	}
	if raw, ok := c.input["run_in_background"]; ok && string(raw) != "false" {
		return policy.Refuse("command_not_allowed", "a command runs in the foreground")
	}
	if raw, ok := c.input["dangerouslyDisableSandbox"]; ok && string(raw) != "false" {
		return policy.Refuse("command_not_allowed", "the sandbox stays")
	}
	return j.permits(policy.Action{Kind: policy.Run, Argv: argv, Longer: true, In: j.desk.Place()})
}

// allowRead lets the program look at its desk, wherever the links lead, and at nothing else.
func (j judge) allowRead(c call) error {
	for _, name := range []string{"file_path", "notebook_path", "path", "pattern"} {
		if name == "pattern" && c.tool != "Glob" {
			continue
		}
		s, err := c.inputText(name)
		if err != nil {
			return err
		}
		if name == "pattern" {
			if s, _, _ = strings.Cut(s, "*"); !filepath.IsAbs(s) && !strings.Contains(s, "..") {
				continue
			}
		}
		if s == "" {
			continue
		}
		rel, ok := j.onDesk(j.startDir(c), s)
		if !ok {
			return policy.Refuse("path_outside_repo", "%q lies outside of the desk, and only what is on it is read", s)
		}
		if rel != "" {
			if err := j.permits(policy.Action{Kind: policy.Read, Paths: []string{rel}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// onDesk reports a path that ends on the desk when its links are followed, and returns
// where below the tree that is; "" is its top, or another folder of the desk. One that
// leads nowhere shows nothing.
func (j judge) onDesk(from, name string) (rel string, ok bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(from, name)
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		real = filepath.Clean(name)
	}
	for _, top := range []string{j.desk.Tree, j.desk.Home, j.desk.Temp} {
		for _, at := range []string{top, exec.FollowLinks(top)} {
			if rel, err := filepath.Rel(at, real); at != "" && err == nil && filepath.IsLocal(rel) {
				if top != j.desk.Tree || rel == "." {
					rel = ""
				}
				return filepath.ToSlash(rel), true
			}
		}
	}
	return "", false
}
