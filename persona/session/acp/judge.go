package acp

import (
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/servers"
	"github.com/odd-cli/odd/reconcile/policy"
)

// judgeCall says whether a call may be done: each act that it stands for must be allowed,
// and it must say which those are.
func (c *client) judgeCall(u sdk.ToolCallUpdate) error {
	var kind sdk.ToolKind
	if u.Kind != nil {
		kind = *u.Kind
	}
	in, _ := u.RawInput.(map[string]any)
	hands := c.hands()
	switch kind {
	case sdk.ToolKindThink:
		return nil
	case sdk.ToolKindRead, sdk.ToolKindSearch:
		return hands.Read(c.desk.Tree, callPaths(u, in)...)
	case sdk.ToolKindEdit, sdk.ToolKindDelete, sdk.ToolKindMove:
		names := callPaths(u, in)
		if kind == sdk.ToolKindMove && len(names) == 1 {
			return policy.Refuse("bad_arguments", "the call does not name both files that it changes")
		}
		_, err := hands.Write(c.desk.Tree, names...)
		return err
	case sdk.ToolKindExecute:
		if _, is := in["tool"].(string); is && in["command"] == nil {
			return c.judgeServerTool(u) // some agents count a server's tool as a command
		}
		return c.judgeCommand(u, in)
	case sdk.ToolKindFetch:
		return hands.Fetch(strings.Join(textsOf(in, "url"), " "))
	case sdk.ToolKindOther, "":
		return c.judgeServerTool(u)
	}
	return policy.Refuse("unknown_tool", "nobody has said what a call of the kind %q does", kind)
}

func (c *client) hands() session.Hands { return session.Hands{Desk: c.desk, Permits: c.r.Permits} }

// judgeServerTool judges a call whose title names the tool of a server. Those of odd's own change
// nothing.
func (c *client) judgeServerTool(u sdk.ToolCallUpdate) error {
	var title string
	if u.Title != nil {
		title = *u.Title
	}
	if _, own := servers.Called([]servers.Spec{c.own}, title); own {
		return nil
	}
	if tool, ok := servers.Called(c.servers, title); ok {
		return c.r.Permits(policy.Action{Kind: policy.Call, Tool: tool, Changes: true})
	}
	return policy.Refuse("unknown_tool", "%q is no tool of a server that the session is granted", session.Shown(title))
}

// callPaths are all that a call names, wherever it names them.
func callPaths(u sdk.ToolCallUpdate, in map[string]any) []string {
	out := textsOf(in, "file_path", "filePath", "absolute_path", "notebook_path", "path", "abs_path", "file", "filename", "target_file", "old_path", "new_path", "source", "destination", "paths", "files")
	for _, l := range u.Locations {
		out = append(out, l.Path)
	}
	for _, part := range u.Content {
		if part.Diff != nil {
			out = append(out, part.Diff.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// textsOf are the texts that an input has under these names, alone or in lists.
func textsOf(in map[string]any, names ...string) (out []string) {
	for _, name := range names {
		list, many := in[name].([]any)
		if !many {
			list = []any{in[name]}
		}
		for _, v := range list {
			if s, ok := v.(string); ok && s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// judgeCommand reads the command of a call: a line of plain words, or a list of them. A call
// that shows no arguments has its command as its title.
func (c *client) judgeCommand(u sdk.ToolCallUpdate, in map[string]any) error {
	if in == nil && u.RawInput == nil && u.Title != nil {
		in = map[string]any{"command": *u.Title}
	}
	argv, err := argvOf(in["command"], in["args"])
	if err != nil {
		return err
	}
	return c.hands().Run(argv, textsOf(in, "cwd", "workdir", "directory", "dir_path")...)
}

// argvOf are the words of a command. One that is a line must be plain.
func argvOf(command, args any) ([]string, error) {
	more, isList := args.([]any)
	var list []any
	switch first := command.(type) {
	case string:
		if len(more) == 0 && (args == nil || isList) {
			return session.Words(first)
		} else if isList {
			list = append([]any{first}, more...)
		}
	case []any:
		if args == nil {
			list = first
		}
	}
	var argv []string
	for _, w := range list {
		word, _ := w.(string)
		argv = append(argv, word)
	}
	if len(argv) == 0 || argv[0] == "" || slices.ContainsFunc(list, func(w any) bool { _, is := w.(string); return !is }) {
		return nil, policy.Refuse("bad_arguments", "the call does not name a command as words")
	}
	return argv, nil
}

// asJSONValue returns any value as JSON has it, for values that another made.
func asJSONValue(v any) (out any) {
	b, err := json.Marshal(v)
	if err == nil {
		_ = json.Unmarshal(b, &out)
	}
	return out
}
